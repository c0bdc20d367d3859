#!/usr/bin/env python3
"""compile_cost.py [--update] SOURCE_ROOT BUILD_DIR: what five small programs cost to compile, from headers alone and
with the compiled core, by clang without optimisation: preprocessed lines, instantiations of templates, bytes of the
object. These repeat exactly, so they are compared with the table of docs/compile-cost.md: the test fails if one of them
is more than a tenth above it, until a developer has looked and made the table again with --update. Seconds are only
reported."""
import itertools
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from compiles import recorded_command

WAYS = {"headers alone": ["-UPARTITA_CORE"], "the core": ["-DPARTITA_CORE"]}
ROW = "| {name} | {way} | {lines} | {instantiations} | {bytes} | {seconds:.1f} |"
ALLOWED = 1.10


def flags(build):
    """What a program is compiled with, in either way: include folders and macros of the build, and no precompiled
    header."""
    probe = pathlib.Path(__file__).resolve().parent.parent / "support" / "every_header.cpp"
    command = recorded_command(build, probe)
    kept, take = [], False    # paths are relative to the build directory
    for word in command[1:]:
        if take or word.startswith(("-I", "-isystem", "-D", "-std=")):
            kept.append(word)
        take = word in ("-isystem", "-I", "-D")
    return [word for word in kept if word != "-DPARTITA_CORE"]


def measured(compiler, given, program, way, folder, build):
    given = [*given, *WAYS[way]]
    text = subprocess.run([compiler, *given, "-E", "-P", program], capture_output=True, text=True, check=True,
                          cwd=build).stdout
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([compiler, *given, "-O0", "-c", "-ftime-trace", "-ftime-trace-granularity=0", program, "-o", folder / "a.o"],
                   check=True, cwd=build)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    events = json.loads((folder / "a.json").read_text())["traceEvents"]
    return {"name": " ".join(program.stem.split("_")[1:]), "way": way, "lines": sum(1 for line in text.splitlines() if line.strip()),
            "instantiations": sum(e["name"] in ("InstantiateClass", "InstantiateFunction") for e in events),
            "bytes": (folder / "a.o").stat().st_size, "seconds": seconds}


def main():
    update = "--update" in sys.argv
    root, build = (pathlib.Path(a).resolve() for a in sys.argv[1:] if a != "--update")
    compiler = shutil.which("clang++")
    page = root / "docs" / "compile-cost.md"
    text = page.read_text()
    version = re.search(r"clang (\d+)", text)[1]
    if compiler is None or f"version {version}." not in subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout:
        print(f"the table was made by clang {version}, which is not here")
        sys.exit(77)
    failures, rows = [], []
    kept = {c[:2]: [int(n) for n in c[2:5]]
            for c in re.findall(r"^\| ([\w ]+) \| ([\w ]+) \| (\d+) \| (\d+) \| (\d+) \|", text, re.M)}
    given = flags(build)
    with tempfile.TemporaryDirectory() as folder:
        programs = sorted((root / "test/structure/programs").glob("*.cpp"))
        for program, way in itertools.product(programs, WAYS):
            now = measured(compiler, given, program, way, pathlib.Path(folder), build)
            rows.append(ROW.format(**now))
            print(rows[-1])
            counted = ("lines", "instantiations", "bytes")
            for what, before in zip(counted, kept.get((now["name"], way), [0, 0, 0])):
                if now[what] > ALLOWED * before:
                    failures.append(f"{now['name']}, {way}: {now[what]} {what}, and {before} when the table was made")
    if update:
        begin = text.index("|---|")
        begin = text.index("\n", begin) + 1
        end = text.index("\n\n", begin)
        page.write_text(text[:begin] + "\n".join(rows) + text[end:])
        failures = []
    for failure in failures:
        print(failure)
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
