#!/usr/bin/env python3
"""headers.py INCLUDE_DIR BUILD_DIR: every header compiles alone, and twice; two translation units that include all of
them link into one; a header that takes a library that is not installed ends in one error."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from compiles import recorded_command


PRECOMPILED = 16    # headers that are precompiled for those that include them, which are read in a third of the time


def includes_of(root, header, known):
    """Every header of the library that this one includes, itself and by others."""
    if header not in known:
        known[header] = set()
        file = root / header
        for name in re.findall(r"^#include <(partita/[^>]+)>", file.read_text() if file.exists() else "", re.M):
            known[header] |= {name} | includes_of(root, name, known)
    return known[header]


def precompiled_for(root, headers):
    """For each header, the header among its own that is precompiled for it: `PRECOMPILED` of them, chosen one after the
    other, each so that it spares the most lines; None if none of them is among its own."""
    known = {}
    includes = {h: includes_of(root, h, known) - {h} for h in headers}
    # a header of the standard library takes as long as a thousand of our lines, one of other libraries ten times that
    foreign = {h: set(re.findall(r"^#include <((?!partita/)[^>]+)>", (root / h).read_text(), re.M)) for h in headers}
    lines = {h: len((root / h).read_text().splitlines()) for h in headers}

    def length(h):
        all_of_it = (includes[h] | {h}) & lines.keys()
        return sum(lines[one] for one in all_of_it) + sum(
            10000 if "/" in one else 1000 for one in set().union(*(foreign[one] for one in all_of_it)))

    spared = {h: length(h) for h in headers}
    best = dict.fromkeys(headers)
    for _ in range(PRECOMPILED):
        def gain(hub):
            return sum(max(0, spared[hub] - (spared[best[h]] if best[h] else 0)) for h in headers if hub in includes[h])

        hub = max(headers, key=gain)
        for h in headers:
            if hub in includes[h] and (best[h] is None or spared[hub] > spared[best[h]]):
                best[h] = hub
    return best


def one_header_command(command):
    """How a header is checked alone: by clang, which takes a third of the time with a precompiled header, where it is
    installed; the compiler of the build checks all of them together. Returns the command, and the options that name a
    precompiled header and its file."""
    compiler = next(k for k, a in enumerate(command) if a != "ccache")
    if "clang" in pathlib.Path(command[compiler]).name or not shutil.which("clang++"):
        return command, "-include", ".gch" if "clang" not in command[compiler] else ".pch"   # clang finds it, too
    of_gcc = re.compile(r"--param|-falign|-fpch|-Wno-(array|restrict|stringop)")
    kept = [a for a in command[compiler + 1:] if not of_gcc.match(a)]
    return ["clang++", *kept], "-include-pch", ".pch"


def without_library(root, header, command):
    """Where no library is found at all, a header that takes one ends in one error, which names the package."""
    compiler = command[:2] if command[0] == "ccache" else command[:1]
    done = subprocess.run([*compiler, "-std=c++20", "-nostdinc", f"-I{root}", "-fsyntax-only", "-x", "c++", "-"],
                          input=f"#include <{header}>\n", capture_output=True, text=True)
    errors = re.findall(r"\berror: .*", done.stderr)
    return "" if len(errors) == 1 and re.search(r"partita: .* install lib\S+-dev", errors[0]) else done.stderr or "no error"


def main():
    root, build = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    probe = pathlib.Path(__file__).resolve().parent.parent / "support" / "every_header.cpp"
    # from headers alone, which no other program of the suites is compiled from
    command = [a for a in recorded_command(build, probe) if a != "-fsyntax-only"] + ["-UPARTITA_CORE"]
    headers = [h.relative_to(root).as_posix() for h in sorted((root / "partita").rglob("*.hpp")) if h.name != "src.hpp"]
    if not headers:
        sys.exit(f"{root}: no header")
    # what takes a library that is not on the command line says so by one error; others may include it
    known, missing, failures = {}, {}, {}
    for h in headers:
        for wanted in re.findall(r"^#if !__has_include\((<[^>]+>)\).*\n#include <partita: ", (root / h).read_text(), re.M):
            if problem := without_library(root, h, command):
                failures[f"{h} without {wanted}"] = problem
            probe_of_it = f"#if !__has_include({wanted})\n#error\n#endif\n"
            if subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], cwd=build, input=probe_of_it, text=True,
                              capture_output=True).returncode:
                missing[h] = wanted
    for h in list(headers):
        for taken in sorted(missing.keys() & (includes_of(root, h, known) | {h}))[:1]:
            headers.remove(h)
            print(f"{h}: skipped, there is no {missing[taken]}")

    def compile(source, *extra, by=command):
        done = subprocess.run([*by, *extra, "-x", "c++", "-"], cwd=build, input=source, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stderr or "failed without a message"

    everything = "".join(f"#include <{h}>\n" for h in headers)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = [f"{folder}/{unit}.o" for unit in ("one", "two")]
        # in two orders: no header depends on those before it
        jobs = {f"all headers in unit {unit}": pool.submit(compile, f"{text}int {unit}() {{ return 0; }}\n", "-c", "-O0", "-o", o)
                for unit, o, text in zip(("one", "two"), objects, (everything, "".join(reversed(everything.splitlines(True)))))}
        hub_of = precompiled_for(root, headers)
        hubs = sorted({hub for hub in hub_of.values() if hub})
        texts = {hub: pathlib.Path(folder) / f"hub{k}.hpp" for k, hub in enumerate(hubs)}

        alone, takes, ending = one_header_command(command)

        def precompile(hub):
            texts[hub].write_text(f"#include <{hub}>\n")
            # with what its templates make, or clang makes it anew for each header that takes it
            more = ["-fpch-instantiate-templates"] if takes == "-include-pch" else []
            return subprocess.run([*alone, *more, "-x", "c++-header", str(texts[hub]), "-o", f"{texts[hub]}{ending}"],
                                  cwd=build, capture_output=True).returncode == 0

        made = dict(zip(hubs, pool.map(precompile, hubs)))
        for h in headers:
            hub = hub_of[h]
            before = []
            if hub and made[hub]:
                before = [takes, f"{texts[hub]}{ending}" if takes == "-include-pch" else str(texts[hub])]
            jobs[f"{h} alone and twice"] = pool.submit(compile, f"#include <{h}>\n#include <{h}>\n", "-fsyntax-only",
                                                       *before, by=alone)
        for what, job in jobs.items():
            if job.result():
                failures[what] = job.result()
        compiler = [c for c in command if not c.startswith("-")][0:1] if command[0] != "ccache" else command[:2]
        # -r joins the objects without looking for libraries: a definition that both hold is an error all the same
        joined = subprocess.run([*compiler, "-r", "-nostdlib", "-o", f"{folder}/both.o", *objects],
                                capture_output=True, text=True)
        if joined.returncode != 0:
            failures["two units link"] = joined.stderr

    for what, problem in failures.items():
        print(f"failed: {what}\n{problem}")
    print(f"{len(headers) + 1 - len(failures)} passed, {len(failures)} failed, 0 skipped")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
