#!/usr/bin/env python3
"""compile_cost.py [--update] SOURCE_ROOT BUILD_DIR: what five small programs cost to compile, by clang without
optimisation: preprocessed lines, instantiations of templates, bytes of the object. These repeat exactly, so they are
compared with the table of docs/compile-cost.md: more than a tenth above it is refused until somebody has looked and
drawn the table anew with --update. Seconds are reported and not judged."""
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

ROW = "| {name} | {lines} | {instantiations} | {bytes} | {seconds:.1f} |"
ALLOWED = 1.10


def flags(build):
    """What a program is compiled with: include folders and macros of the build, and no precompiled header."""
    probe = pathlib.Path(__file__).resolve().parent.parent / "support" / "every_header.cpp"
    command = recorded_command(build, probe)
    kept, take = [], False    # paths are relative to the build directory
    for word in command[1:]:
        if take or word.startswith(("-I", "-isystem", "-D", "-std=")):
            kept.append(word)
        take = word in ("-isystem", "-I", "-D")
    return kept


def measured(compiler, given, program, folder, build):
    text = subprocess.run([compiler, *given, "-E", "-P", program], capture_output=True, text=True, check=True,
                          cwd=build).stdout
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([compiler, *given, "-O0", "-c", "-ftime-trace", "-ftime-trace-granularity=0", program, "-o", folder / "a.o"],
                   check=True, cwd=build)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    events = json.loads((folder / "a.json").read_text())["traceEvents"]
    return {"name": " ".join(program.stem.split("_")[1:]), "lines": sum(1 for line in text.splitlines() if line.strip()),
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
    complaints, rows = [], []
    kept = {c[0]: [int(n) for n in c[1:4]] for c in re.findall(r"^\| ([\w ]+) \| (\d+) \| (\d+) \| (\d+) \|", text, re.M)}
    given = flags(build)
    with tempfile.TemporaryDirectory() as folder:
        for program in sorted((root / "test/structure/programs").glob("*.cpp")):
            now = measured(compiler, given, program, pathlib.Path(folder), build)
            rows.append(ROW.format(**now))
            print(rows[-1])
            for what, n, before in zip(("lines", "instantiations", "bytes"), (now["lines"], now["instantiations"], now["bytes"]),
                                       kept.get(now["name"], [0, 0, 0])):
                if n > ALLOWED * before:
                    complaints.append(f"{now['name']}: {n} {what}, and {before} when the table was made")
    if update:
        begin = text.index("|---|")
        begin = text.index("\n", begin) + 1
        end = text.index("\n\n", begin)
        page.write_text(text[:begin] + "\n".join(rows) + text[end:])
        complaints = []
    for complaint in complaints:
        print(complaint)
    sys.exit(len(complaints) > 0)


if __name__ == "__main__":
    main()
