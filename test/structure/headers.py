#!/usr/bin/env python3
"""headers.py INCLUDE_DIR BUILD_DIR: every header compiles alone, and twice; two translation units that include all of
them link into one."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from compiles import recorded_command


# What most headers include, one way or another, and what takes most of their time: it is precompiled for those that do.
COMMON = ("partita/array/xtensor.hpp", "partita/comm/mpi.hpp")


def includes_of(root, header, known):
    """Every header of the library that this one includes, itself and by others."""
    if header not in known:
        known[header] = set()
        file = root / header
        for name in re.findall(r"^#include <(partita/[^>]+)>", file.read_text() if file.exists() else "", re.M):
            known[header] |= {name} | includes_of(root, name, known)
    return known[header]


def main():
    root, build = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    probe = pathlib.Path(__file__).resolve().parent.parent / "support" / "every_header.cpp"
    command = [a for a in recorded_command(build, probe) if a != "-fsyntax-only"]
    headers = [h.relative_to(root).as_posix() for h in sorted((root / "partita").rglob("*.hpp"))]
    if not headers:
        sys.exit(f"{root}: no header")
    # what takes a library that is not on the command line says so by an #error
    for h in list(headers):
        for wanted in re.findall(r"^#if !__has_include\((<[^>]+>)\)\n#error", (root / h).read_text(), re.M):
            probe_of_it = f"#if !__has_include({wanted})\n#error\n#endif\n"
            if subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], cwd=build, input=probe_of_it, text=True,
                              capture_output=True).returncode:
                headers.remove(h)
                print(f"{h}: skipped, there is no {wanted}")

    def compile(source, *extra):
        done = subprocess.run([*command, *extra, "-x", "c++", "-"], cwd=build, input=source, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stderr or "failed without a word"

    failures = {}
    everything = "".join(f"#include <{h}>\n" for h in headers)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = [f"{folder}/{unit}.o" for unit in ("one", "two")]
        jobs = {f"all headers in unit {unit}": pool.submit(compile, f"{everything}int {unit}() {{ return 0; }}\n", "-c", "-O0", "-o", o)
                for unit, o in zip(("one", "two"), objects)}
        common = pathlib.Path(folder) / "common.hpp"
        common.write_text("".join(f"#include <{h}>\n" for h in COMMON))
        made = subprocess.run([*command, "-x", "c++-header", str(common), "-o", f"{common}.gch"], cwd=build)
        known = {}
        for h in headers:
            if made.returncode == 0 and includes_of(root, h, known).issuperset(COMMON):
                jobs[f"{h} alone and twice"] = pool.submit(compile, f"#include <{h}>\n#include <{h}>\n", "-fsyntax-only",
                                                           "-include", str(common))
                continue
            jobs[f"{h} alone and twice"] = pool.submit(compile, f"#include <{h}>\n#include <{h}>\n", "-fsyntax-only")
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
