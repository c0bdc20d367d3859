#!/usr/bin/env python3
"""traced_runs.py MPIRUN FAULTY READ_TRACE EXPLAIN: what PARTITA_TRACE writes is JSON and has every call with its bytes;
partita-explain prints the sums and draws a row for each worker with an axis of time, whose texts can be read; it shows
the estimated and the measured times of all steps of a bound program, whose sums fit; nothing is written where it is not
asked for, and what is not a trace is refused."""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "structure"))
import pictures  # noqa: E402


def cells(line):
    return re.split(r" {2,}", line.strip())


def number(cell):
    """A time in seconds, or a ratio."""
    value, _, unit = cell.partition(" ")
    return float(value) * {"": 1, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def step_errors(explain, folder, workers, described, measured):
    """What is wrong with the steps that partita-explain shows of the program of two movements and of its backward
    pass."""
    told = subprocess.run([explain, "trace", "t.json", "--steps", "--worker", str(workers - 1), "--svg", "s.svg"], cwd=folder,
                          capture_output=True, text=True)
    if told.returncode != 0:
        return [told.stderr]
    found = []
    parts = told.stdout.split("\n\n")
    steps = [cells(line) for line in parts[1].splitlines()[2:]]
    totals = {row[0]: row[1:] for row in map(cells, parts[2].splitlines())}
    moves = 4 if workers > 1 else 0
    if "call 1 of 1" not in parts[1] or "traced_function::bind<float>" not in parts[0]:
        found.append("another call")
    if sum(row[0].startswith("moves for") for row in steps) != moves or not any("backward" in row[0] for row in steps):
        found.append("not all movements")
    if int(described) != int(measured) or int(described) != len(steps) * workers:
        found.append(f"{described} steps are described, {measured} measured, and {len(steps)} shown")
    for column in (1, 2):
        computing = sum(number(row[column]) for row in steps if not row[0].startswith("moves for"))
        here = {name: number(totals[f"worker {workers - 1}{name}"][column - 1]) for name in
                (" computes", " has movements pending", " waits for movements", ", from begin to end")}
        begin = [number(row[column + 3]) for row in steps]
        if not math.isclose(computing, here[" computes"], rel_tol=0.01):
            found.append(f"steps compute for {computing}, of {here}")
        if not max(here[" computes"], here[" has movements pending"], begin[-1]) <= here[", from begin to end"] * 1.01:
            found.append(f"the whole is less than its parts: {here}")
        if begin != sorted(begin) or (here[" has movements pending"] > 0) != (workers > 1):
            found.append(f"steps begin at {begin}")
    for row in steps + [[name, *row] for name, row in totals.items() if name != "all steps"]:
        estimated, spent = number(row[1]), number(row[2])
        ratio = number(row[3]) if row[3] != "-" else None
        if (ratio is None) != (estimated == 0) or (ratio and not math.isclose(ratio, spent / estimated, rel_tol=0.02)):
            found.append(f"the ratio of {row}")
    picture = xml.etree.ElementTree.parse(folder / "s.svg").getroot()
    rows = [e.text for e in picture if (e.text or "").startswith("worker ")]
    if rows != [f"worker {k}, {kind}" for k in range(workers) for kind in ("estimated", "measured")]:
        found.append(f"rows: {rows}")
    found += pictures.errors_of((folder / "s.svg").read_text())
    return [*found, told.stdout] if found else []


def main():
    mpirun = sys.argv[1]
    faulty, read_trace, explain = (pathlib.Path(a).resolve() for a in sys.argv[2:])
    failed = passed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for workers, calls, shared in ((1, 3, "1"), (2, 40, "1"), (3, 7, "1"), (3, 7, "0")):
            environment = dict(os.environ, PARTITA_TRACE=str(folder / "t.json"), PARTITA_SHARED=shared)
            # the same file again: what an earlier job wrote is gone
            run = subprocess.run([mpirun, "-n", str(workers), faulty, "ends", str(calls)], env=environment, cwd=folder,
                                 capture_output=True, text=True)
            read = subprocess.run([read_trace, folder / "t.json"], capture_output=True, text=True)
            lines = dict(line.split(" ", 1) for line in read.stdout.splitlines())
            wrong_steps = step_errors(explain, folder, workers, lines["steps"], lines["measured"])
            made = (calls + 1) * workers
            # a sum says what it hands over as it does; a repartition of 2 x 3n floats moves all but its own 2 x 3
            moved = made * (workers - 1) * 2 * 3 * 4
            # a program of two movements of n x n floats, once on each worker
            in_program = 2 * workers * (workers - 1) * 4
            told = subprocess.run([explain, "trace", "t.json", "--svg", "t.svg"], cwd=folder, capture_output=True, text=True)
            sums = {line.split()[0]: line.split()[1] for line in told.stdout.splitlines() if line.strip()}
            picture = xml.etree.ElementTree.parse(folder / "t.svg").getroot() if (folder / "t.svg").exists() else []
            rows = [e.text for e in picture if (e.text or "").startswith("worker ")]
            hidden = list(pictures.errors_of((folder / "t.svg").read_text())) if rows else []
            axis = [e.text for e in picture if (e.text or "").endswith(" ms")]
            right = (run.returncode == 0 and read.returncode == 0 and lines["workers"] == str(workers)
                     and lines["all_sum_reduce"].split()[0] == str(made) and lines["repartition"] == f"{made} {moved}"
                     and lines["bound_program"] == lines["bound_program::backward"] == f"{workers} {in_program}"
                     and not wrong_steps
                     and told.returncode == 0 and sums["repartition"] == sums["all_sum_reduce"] == str(made)
                     and rows == [f"worker {k}" for k in range(workers)] and len(axis) > 3 and not hidden)
            passed, failed = passed + right, failed + (not right)
            if not right:
                print(f"{workers} workers, {calls} calls: {run.stderr}{read.stdout}{read.stderr}{rows} {made} {moved} {hidden} {axis}{told.stdout}{told.stderr}{wrong_steps}")
        # the last worker makes its second sum 0.2 s late: the waits of the others in that call add up
        environment = dict(os.environ, PARTITA_TRACE=str(folder / "t.json"))
        subprocess.run([mpirun, "-n", "3", faulty, "ends late", "3"], env=environment, cwd=folder, check=True)
        waits = {}
        for event in json.loads((folder / "t.json").read_text())["traceEvents"]:
            if event["name"] == "all_sum_reduce":
                waits.setdefault(event["pid"], []).append(event["args"]["waiting"])
        right = sorted(waits) == [0, 1, 2] and all(len(waits[k]) == 4 and waits[k][1] > 0.19e6 for k in (0, 1))
        passed, failed = passed + right, failed + (not right)
        if not right:
            print(f"a late worker: waits {waits}")
        (folder / "no.json").write_text("{}\n")
        refused = subprocess.run([explain, "trace", "no.json"], cwd=folder, capture_output=True, text=True)
        right = refused.returncode == 2 and "'no.json' is not a trace" in refused.stderr
        passed, failed = passed + right, failed + (not right)
        for option, error in (("--worker", "worker 9 has no steps"), ("--program", "--program takes a number below 1")):
            refused = subprocess.run([explain, "trace", "t.json", "--steps", option, "9"], cwd=folder, capture_output=True, text=True)
            right = refused.returncode == 2 and error in refused.stderr
            passed, failed = passed + right, failed + (not right)
        (folder / "no.json").unlink()
        [(folder / one).unlink() for one in ("t.json", "t.svg", "s.svg")]
        subprocess.run([mpirun, "-n", "2", faulty, "ends", "2"], cwd=folder, check=True)
        nothing = not list(folder.iterdir())
        passed, failed = passed + nothing, failed + (not nothing)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
