#!/usr/bin/env python3
"""short_of_memory.py MPIRUN PROGRAM [TRIALS, 12] [--report FILE]: memory is missing on one worker, and no worker hangs,
crashes or computes with wrong values: all workers throw, or the job ends with an error message.

PROGRAM is one of short_of_memory*.cpp, which tries one allocation after another in one job, until one ends the job; the
next job goes on from there. For every kind of call: of the first call, of one that was made before, and of one after
whose error the program goes on. Up to 12 trials of each; beyond that, on one worker of two and on one of three, as many
allocations, drawn from the first and the last one that is made from each place, which is a call stack. The report is a
line of JSON: trials, jobs, ended, hangs, wrong. KINDS=a,b in the environment chooses kinds, JOBS=n runs n jobs at once
(2), SEED=n draws others."""
import concurrent.futures
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

from faults import run
from trials import parsed_arguments

MOST_SECONDS = 20  # of a job, from its last trial that ended: 10 in which a worker waits for others that wait for it
ENDED = re.compile(r"^ENDED (\d+) ", re.M)
TRIED = re.compile(r"^TRY (\d+)$", re.M)
REASON = re.compile(r"^partita: worker \d+ (\(process \d+\) )?(has no memory|ends by an exception)", re.M)


class counts:
    def __init__(self):
        self.trials = self.jobs = self.ended = self.hangs = self.wrong = self.repeated = 0
        self.said = []

    def __iadd__(self, more):
        for name in ("trials", "jobs", "ended", "hangs", "wrong", "repeated"):
            setattr(self, name, getattr(self, name) + getattr(more, name))
        self.said += more.said
        return self


def from_each_place(given, kind, phase, workers, fails):
    """The allocations to try: of those that are made first and last from each place, as many as are wanted."""
    folder = tempfile.mkdtemp(prefix="partita_memory_")
    status, said, _ = run([given.mpirun, "-n", workers, given.program, folder + "/x", fails, kind, phase, "places"],
                          seconds=MOST_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)
    listed = re.search(r"^PLACES \d+:(.*)$", said, re.M)
    if status != 0 or not listed:
        raise SystemExit(f"{kind}, {phase} call: no list of its allocations\n{said[:1500]}")
    numbers = [int(n) for n in listed.group(1).split()]
    drawn = random.Random(f"{os.environ.get('SEED', 1)} {kind} {phase} {workers}")
    return sorted(drawn.sample(numbers, min(given.trials, len(numbers))))


def enumerate_failures(given, kind, phase, workers, fails, numbers):
    """All trials of one kind of call; a job for all those that follow each other without ending one."""
    all_of_it = counts()
    folder = tempfile.mkdtemp(prefix="partita_memory_")
    title = f"{kind}, {phase} call, worker {fails} of {workers}"
    left = list(numbers or from_each_place(given, kind, phase, workers, fails))
    while left:
        n = left[0]
        command = [given.mpirun, "-n", workers, given.program, f"{folder}/{all_of_it.jobs}", fails, kind, phase]
        status, said, _ = run(command + [",".join(map(str, left[:40]))], seconds=MOST_SECONDS + len(left[:40]))
        all_of_it.jobs += 1
        came = [int(k) for k in TRIED.findall(said)]
        finished = len(ENDED.findall(said))
        all_of_it.trials += len(came)
        left = left[len(came):]
        wrong = re.search(r"^WRONG .*$", said, re.M)
        if wrong:
            all_of_it.wrong += 1
            all_of_it.said.append(f"{title}, allocation {came[-1] if came else n}: {wrong.group(0)}")
        if status is None:
            all_of_it.hangs += 1
            all_of_it.said.append(f"{title}, allocation {came[-1] if came else n}: it hangs\n{said[-600:]}")
        elif status != 0 and finished < len(came):
            all_of_it.ended += 1
            for _ in range(4):  # mpirun sometimes drops the last lines of a job that a worker ends
                if status == 1 and not REASON.search(said):
                    all_of_it.repeated += 1
                    said = run(command + [came[-1]], seconds=MOST_SECONDS)[1]
            if not REASON.search(said):
                all_of_it.wrong += 1
                all_of_it.said.append(f"{title}, allocation {came[-1]}: the job ends without a reason\n{said[:1500]}")
        elif status != 0:
            all_of_it.wrong += 1
            all_of_it.said.append(f"{title}: status {status} after allocation {came[-1] if came else n}\n{said[:1500]}")
        if not came or re.search(r"^DONE$", said, re.M):
            break
    shutil.rmtree(folder, ignore_errors=True)
    return all_of_it


def main():
    given = parsed_arguments()
    kinds = [k for k in subprocess.run([given.program], capture_output=True, text=True).stdout.splitlines()
             if k in os.environ.get("KINDS", k).split(",")]
    if not kinds:
        sys.exit(f"{given.program} has no such kind of call")
    jobs = []
    at_length = given.trials > 12
    for number, (kind, phase) in enumerate(itertools.product(kinds, ("first", "goes on", "steady"))):
        for workers in (2, 3) if at_length else (2 + number % 2,):
            numbers = None if at_length else range(1 + number % 5, 1 + number % 5 + 7 * given.trials, 7)
            jobs.append((given, kind, phase, workers, number // 3 % workers, numbers))
    all_of_it = counts()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", 2))) as pool:
        for one, job in zip(pool.map(lambda job: enumerate_failures(*job), jobs), jobs):
            all_of_it += one
            for line in one.said:
                print(line)
            if os.environ.get("VERBOSE"):
                print(*job[1:5], "trials", one.trials, "ended", one.ended, flush=True)
    if given.report:
        with open(given.report, "a") as report:
            print(json.dumps({"name": "short of memory", "trials": all_of_it.trials, "jobs": all_of_it.jobs,
                              "ended": all_of_it.ended, "hangs": all_of_it.hangs, "wrong": all_of_it.wrong,
                              "failed": all_of_it.hangs + all_of_it.wrong}), file=report)
    print(f"{all_of_it.trials} allocations failed in {all_of_it.jobs} jobs, of which {all_of_it.ended} ended")
    if all_of_it.repeated:
        print(f"{all_of_it.repeated} more: mpirun had dropped the line that says why a job ended")
    failed = all_of_it.hangs + all_of_it.wrong
    print(f"{max(0, all_of_it.trials - failed)} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
