#!/usr/bin/env python3
"""benchmark.py MPIRUN PROGRAM SOURCE: one benchmark has the command line of all: --help lists every option of its
source, an unknown argument or a wrong value is exit status 2 with one message, --quick --json prints rows that are
JSON, have samples and finite numbers, and nothing is left in the folder where it ran."""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# the one benchmark whose --quick takes minutes: it measures all of its cases, and only what nothing has disturbed
SMALL = {"repartition": ["--case", "256^2", "--rounds", "2", "--keep-disturbed"]}
DERIVED = {"model", "rank correlation"}      # cases that add up rows; the benchmark `model` measures nothing


def launcher(mpirun, help_text):
    """How it is started: alone, or on two workers, or on as many as it is made for."""
    least, more = re.search(r"^workers: (\d+)( or more)?$", help_text, re.M).groups()
    if least == "1" and not more:
        return []
    return [mpirun, "-n", str(max(2, int(least)))]


def finite(value):
    return not isinstance(value, float) or math.isfinite(value)


def wrong_rows(name, output):
    rows = []
    for line in output.splitlines():
        try:
            rows.append(json.loads(line, parse_constant=lambda word: float(word.replace("Infinity", "inf"))))
        except json.JSONDecodeError:
            yield f"--json prints what is not JSON: {line}"
            return
    if not rows:
        yield "--json prints no row"
    for row in rows:
        where = f"the row {row.get('case')}"
        if not str(row.get("bench")).startswith(name) or "workers" not in row:
            yield f"{where} does not name its benchmark and its workers"
        if not all(map(finite, row.values())) or None in row.values():
            yield f"{where} has a number that is none: {row}"
        if row.get("right") is False:
            yield f"{where} is wrong"
        if name != "model" and row["case"] not in DERIVED and not row.get("samples", 0) >= 1:
            yield f"{where} has no samples"


def errors(mpirun, program, source):
    name = pathlib.Path(program).name
    with tempfile.TemporaryDirectory() as folder:
        def run(*words, start=()):
            return subprocess.run([*start, program, *words], capture_output=True, text=True, cwd=folder, timeout=150)

        shown = run("--help")
        if shown.returncode != 0:
            yield f"--help ends with {shown.returncode}: {shown.stderr}"
            return
        start = launcher(mpirun, shown.stdout)
        options = re.findall(r'\{\s*"([a-z-]+)",\s*bench::argument::', source.read_text())
        for option in [*options, "json", "quick", "help"]:
            if f"\n  --{option} " not in shown.stdout:
                yield f"--help does not list --{option}"
        with_value = re.findall(r'"([a-z-]+)",\s*bench::argument::(?!none)', source.read_text())
        wrong = [["--bogus"], ["bogus"], ["--quick", "7"], [f"--{with_value[0]}"]]
        counted = re.findall(r'"([a-z-]+)",\s*bench::argument::count', source.read_text())
        wrong += [[f"--{option}", "0"] for option in counted[:1]]
        with ThreadPoolExecutor() as pool:  # at once: mpirun takes two seconds to end a job that failed
            ended = list(pool.map(lambda words: run(*words, start=start), wrong))
        for words, done in zip(wrong, ended):
            messages = [line for line in done.stderr.splitlines() if line.startswith(f"{name}: ")]
            if done.returncode != 2 or len(messages) != 1 or done.stdout:
                yield f"{' '.join(words)} ends with {done.returncode}, {len(messages)} messages and {len(done.stdout)} characters"
        for words in (["--json"], []):
            done = run("--quick", *words, *SMALL.get(name, []), start=start)
            if done.returncode != 0:
                yield f"--quick {' '.join(words)} ends with {done.returncode}: {done.stderr}"
            elif words:
                yield from wrong_rows(name, done.stdout)
            elif not done.stdout or re.search(r"\bnan\b|\binf\b", done.stdout):
                yield f"--quick prints nothing, or a number that is none: {done.stdout}"
        left = [path.name for path in pathlib.Path(folder).iterdir()]
        if left:
            yield f"it leaves {', '.join(left)} in its folder"


def main():
    mpirun, program, source = sys.argv[1], str(pathlib.Path(sys.argv[2]).resolve()), sys.argv[3]
    found = list(errors(mpirun, program, pathlib.Path(source)))
    print("\n".join(found) or "as all benchmarks are")
    sys.exit(len(found) > 0)


if __name__ == "__main__":
    main()
