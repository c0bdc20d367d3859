#!/usr/bin/env python3
"""killed_training.py MPIRUN TRAINER [TRIALS, 12] [--report FILE]: whenever a worker is killed while the job trains and
saves beside it, the job ends in seconds, no step that was saved is lost, every checkpoint has the weights of its step
to the bit, and the next job goes on from the latest on another number of workers."""
import json
import pathlib
import random
import re
import struct
import sys
import tempfile

from killed_saving import MOST_SECONDS, run, trial
from trials import parsed_arguments


def stands(folder):
    """Of each worker: its step, the last step that is saved, whether it was saving."""
    return [struct.unpack("=QQQ", p.read_bytes()) for p in folder.glob("stand.*") if p.stat().st_size == 24]


def main():
    given = parsed_arguments()
    random_source = random.Random(17)
    failed, hangs, lost, wrong, saving, again, longest, latest = 0, 0, 0, 0, 0, 0, 0.0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for k in range(given.trials):
            for old in folder.glob("stand.*"):
                old.unlink()
            workers = 1 + (k + 1) % 3
            seconds, failure = trial(given.mpirun, given.program, "train", folder, workers,
                                       random_source.uniform(0, 0.5), random_source)
            if seconds is None:
                hangs += "did not end" in failure
            else:
                longest = max(longest, seconds)
                if seconds > MOST_SECONDS:
                    failure = f"the job ended {seconds:.1f} s after the kill"
                where = stands(folder)
                saved = max((s[1] for s in where), default=latest)
                again += max((s[0] for s in where), default=saved) - saved
                saving += any(s[2] for s in where)
                looking = run(given.mpirun, 1 + k % 3, given.program, "look", folder)
                said = looking.communicate(timeout=120)[0]
                found = re.search(r"^latest (\d+)$", said, re.M)
                if looking.returncode != 0 or not found:
                    wrong += 1
                    failure = f"what was saved is not what was trained: {said}"
                else:
                    before, latest = max(saved, latest), int(found[1])
                    if latest < before:
                        lost += 1
                        failure = f"step {before} was saved, and the latest that is there is {latest}"
            if failure is not None:
                failed += 1
                print(f"trial {k} on {workers} workers: {failure}")
    print(f"{latest} steps were trained, {again} more had to be done again, {saving} kills came amid saving, jobs ended in "
          f"at most {longest:.1f} s")
    if given.report:
        with open(given.report, "a") as report:
            print(json.dumps({"name": "killed while training", "jobs": 2 * given.trials, "kills": given.trials,
                              "amid saving": saving, "steps": latest, "hangs": hangs, "lost": lost,
                              "wrong": wrong, "failed": failed, "longest end": round(longest, 1)}), file=report)
    print(f"{given.trials - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0 or (latest == 0 and given.trials > 2))


if __name__ == "__main__":
    main()
