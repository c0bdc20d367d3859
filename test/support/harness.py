#!/usr/bin/env python3
"""harness.py MPIRUN PROGRAM: the main function of the MPI tests reports failures, and ends jobs that hang.

PROGRAM is wrong_cases.cpp; each row runs some of its cases on three workers."""
import os
import re
import subprocess
import sys
import time

# cases: (the exit statuses that they may have, the lines that the output must contain)
ROWS = {
    "passes": ([0], [r"^1 passed, 0 failed, 0 skipped$"]),
    "fails_on_one_worker": ([1, 201], [r"^\[worker 1 of 3\] .*has failed", r"^0 passed, 1 failed, 0 skipped$"]),
    "fails_and_leaves_a_message,receives_its_own_message": ([1, 201], [r"^1 passed, 1 failed, 0 skipped$"]),
    "throws_on_one_worker_while_the_others_wait": (
        [86], ["left the others alone", "throws_on_one_worker_while_the_others_wait: this worker has failed"]),
    "waits_for_ever_on_all_workers": ([86], ["waits_for_ever_on_all_workers: not done after 1 s"]),
    "dies_on_one_worker": (None, []),
    "needs_more_workers_than_there_are": (
        [77], ["skipped, .*needs at least 100 workers", r"^0 passed, 0 failed, 1 skipped$"]),
}


def main():
    mpirun, program = sys.argv[1:]
    environment = dict(os.environ, PARTITA_TEST_GRACE="0.5", PARTITA_TEST_LIMIT="1", MPIEXEC_TIMEOUT="60")
    failed = 0
    for case, (statuses, sentences) in ROWS.items():
        start = time.monotonic()
        run = subprocess.run([mpirun, "-n", "3", program, f"--run_test={case}"], env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        right = run.returncode in statuses if statuses else run.returncode != 0
        right = right and all(re.search(sentence, run.stdout, re.M) for sentence in sentences)
        print(f"{'ok    ' if right else 'failed'} {case}: status {run.returncode} after {time.monotonic() - start:.1f} s")
        if not right:
            failed += 1
            print(run.stdout)
    print(f"{len(ROWS) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
