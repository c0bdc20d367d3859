#!/usr/bin/env python3
"""two_jobs.py MPIRUN TWO_JOBS [TRIALS, 12] [--report FILE]: jobs that use the same files at once. What a job loads
while another one replaces the file is of one time. Jobs that save into one folder lose no step that is listed, and get
each their own or one error; jobs that add to one HDF5 file lose no dataset. A third job that is killed meanwhile does
not block the others, and what it leaves is removed."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from trials import parsed_arguments

MOST_SECONDS = 120
REPLACED, STEPS, DATASETS = 400, 60, 20


def start(mpirun, workers, *command):
    return subprocess.Popen([mpirun, "-n", str(workers), *map(str, command)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def counts(job, pattern):
    """The numbers that a job prints last, or an error."""
    try:
        printed = job.communicate(timeout=MOST_SECONDS)[0]
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        job.communicate()
        return None, f"a job did not end in {MOST_SECONDS} s"
    found = re.search("^" + pattern.replace("N", r"(\d+)") + "$", printed, re.M)
    if job.returncode != 0 or not found:
        return None, f"a job failed: {printed}"
    numbers = [int(n) for n in found.groups()]
    return numbers, f"errors were not expected: {printed}" if numbers[-1] != 0 else None


def trial(mpirun, program, folder, k, totals):
    """The errors of one trial."""
    workers = [1 + k % 3, 1 + (k + 1) % 3]
    file = folder / "w.npy"
    numbers, error = counts(start(mpirun, 1, program, "replace", folder, 1), "replaced N")
    if numbers is None:
        return [error]
    jobs = [start(mpirun, workers[0], program, "replace", folder, REPLACED),
            start(mpirun, workers[1], program, "load", folder, REPLACED // 4)]
    results = [counts(jobs[0], "replaced N"), counts(jobs[1], "loaded N mixed N refused N")]
    errors = [results[0][1]] if results[0][0] is None else []
    if results[1][1] is not None:
        errors.append(results[1][1])
    if results[1][0] is not None:
        totals["loads"] += sum(results[1][0])
        totals["mixed"] += results[1][0][1]
    if not file.is_file() or any(".tmp." in p.name for p in folder.glob("*")):
        errors.append(f"there is no file, or a temporary: {[p.name for p in folder.glob('*')]}")

    killed = start(mpirun, 1, program, "save", folder, 3000000, 1000000)
    jobs = [start(mpirun, n, program, "save", folder, base, STEPS) for base, n in enumerate(workers)]
    deadline = time.monotonic() + 60
    while not list(folder.glob("run/step-000003*")) and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05 * (k % 7))
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    results = [counts(job, "saved N late N refused N") for job in jobs]
    errors += [error for _, error in results if error is not None]
    numbers, error = counts(start(mpirun, workers[1], program, "look", folder), "whole N mixed N lost N")
    if error is not None:
        errors.append(error)
    if numbers is not None:
        totals["steps"] += numbers[0]
        totals["mixed"] += numbers[1]
        totals["lost"] += numbers[2]
        if all(result is not None for result, _ in results):
            listed = {int(p.name[5:]) for p in folder.glob("run/step-*") if re.fullmatch(r"step-\d+", p.name)}
            wanted = {2 * n + base for base in (0, 1) for n in range(STEPS) if n % 10 != 9}
            wanted |= {1000000 + n for n in range(9, STEPS, 10)}
            if wanted - listed:
                totals["lost"] += len(wanted - listed)
                errors.append(f"steps that were saved are not listed: {sorted(wanted - listed)}")
    jobs = [start(mpirun, n, program, "add", folder, base, DATASETS) for base, n in enumerate(workers)]
    errors += [error for _, error in (counts(job, "added N refused N") for job in jobs) if error is not None]
    for base in (0, 1):
        numbers, error = counts(start(mpirun, workers[base], program, "find", folder, base, DATASETS),
                                "whole N mixed N lost N")
        if error is not None:
            errors.append(error)
        if numbers is not None:
            totals["datasets"] += numbers[0]
            totals["mixed"] += numbers[1]
            totals["lost"] += numbers[2]
    # the next job removes what the killed one left
    numbers, error = counts(start(mpirun, 1, program, "save", folder, 2000000, 1), "saved N late N refused N")
    left = [p.name for p in folder.glob("run/*.tmp.*")]
    if error is not None or left:
        errors.append(error or f"a killed job left {left}")
    return errors


def main():
    given = parsed_arguments()
    totals = {"loads": 0, "steps": 0, "datasets": 0, "mixed": 0, "lost": 0}
    failed = hangs = 0
    for k in range(given.trials):
        with tempfile.TemporaryDirectory() as name:
            errors = trial(given.mpirun, given.program, pathlib.Path(name), k, totals)
        failed += bool(errors)
        hangs += sum("did not end" in error for error in errors)
        for error in errors:
            print(f"trial {k}: {error}")
    print(f"{totals['loads']} loads of a file that another job replaced, {totals['steps']} steps and "
          f"{totals['datasets']} datasets saved by several jobs: {totals['mixed']} mixed, {totals['lost']} lost")
    if given.report:
        with open(given.report, "a") as report:
            print(json.dumps({"name": "two jobs", "jobs": 12 * given.trials, "kills": given.trials, **totals, "hangs": hangs,
                              "wrong": totals["mixed"], "failed": failed}), file=report)
    print(f"{given.trials - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0 or totals["loads"] == 0 or totals["steps"] == 0)


if __name__ == "__main__":
    main()
