#!/usr/bin/env python3
"""killed_saving.py MPIRUN SAVER [TRIALS, 12] [--report FILE]: whenever a worker is killed while the job saves, the
latest checkpoint and the old file are whole, the job ends, and the next job goes on from there on another number of
workers."""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from trials import parsed_arguments

MOST_SECONDS = 5  # from the kill until the job has ended


def run(mpirun, workers, *command):
    return subprocess.Popen([mpirun, "-n", str(workers), *map(str, command)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def trial(mpirun, program, verb, folder, workers, delay, random_source):
    """Kills one worker of a job some time after it has begun: the seconds until the job ended, or an error message."""
    for old in folder.glob("pid.*"):
        old.unlink()
    job = run(mpirun, workers, program, verb, folder)
    deadline = time.monotonic() + 60
    pids = []
    while len(pids) < workers and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
        pids = [int(text) for text in (p.read_text() for p in folder.glob("pid.*")) if text.endswith("\n")]
    if len(pids) < workers:
        job.kill()
        return None, f"the job did not begin: {job.communicate()[0]}"
    time.sleep(delay)
    if job.poll() is not None:
        return None, f"the job ended by itself: {job.communicate()[0]}"
    killed = time.monotonic()
    os.kill(random_source.choice(pids), signal.SIGKILL)
    try:
        job.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        job.kill()
        return None, "the job did not end 60 s after one of its workers was killed"
    return time.monotonic() - killed, None


def main():
    given = parsed_arguments()
    mpirun, saver, trials = given.mpirun, given.program, given.trials
    random_source = random.Random(16)
    failed, hangs, lost, wrong, longest, latest, in_file, interrupted = 0, 0, 0, 0, 0.0, 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for k in range(trials):
            workers = 1 + k % 3
            seconds, failure = trial(mpirun, saver, "save", folder, workers, random_source.uniform(0, 0.4),
                                       random_source)
            if failure is not None:
                hangs += "did not end" in failure
            else:
                longest = max(longest, seconds)
                if seconds > MOST_SECONDS:
                    failure = f"the job ended {seconds:.1f} s after the kill"
                interrupted += any(".tmp." in p.name for p in [*folder.glob("*"), *folder.glob("run/*")])
                looking = run(mpirun, 1 + (k + 1) % 3, saver, "look", folder)
                said = looking.communicate(timeout=120)[0]
                found = re.search(r"^latest (\d+) file (\d+)$", said, re.M)
                if looking.returncode != 0 or not found:
                    wrong += 1
                    failure = f"what was saved cannot be loaded: {said}"
                else:
                    before, (latest, in_file_before, in_file) = latest, (int(found[1]), in_file, int(found[2]))
                    if latest < before or in_file < in_file_before:
                        lost += 1
                        failure = f"steps {before} and {in_file_before} were there, and now {latest} and {in_file}"
                    elif latest > before + 1 and in_file < latest - 1:  # the file is written after each checkpoint
                        lost += 1
                        failure = f"the checkpoint is of step {latest}, the file of step {in_file}"
            if failure is not None:
                failed += 1
                print(f"trial {k} on {workers} workers: {failure}")
            for rest in folder.glob("w.npy.tmp.*"):
                rest.unlink()
    print(f"{latest} steps were saved, {interrupted} kills left something half-saved, jobs ended in at most {longest:.1f} s")
    if given.report:
        with open(given.report, "a") as report:
            print(json.dumps({"name": "killed while saving", "jobs": 2 * trials, "kills": trials, "half-saved": interrupted,
                              "steps": latest, "hangs": hangs, "lost": lost, "wrong": wrong, "failed": failed,
                              "longest end": round(longest, 1)}), file=report)
    print(f"{trials - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0 or latest == 0)


if __name__ == "__main__":
    main()
