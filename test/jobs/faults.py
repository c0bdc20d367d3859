#!/usr/bin/env python3
"""faults.py MPIRUN FAULTY [TRIALS, 12] [--report FILE]: whatever happens to one worker of a job, the job ends in
seconds and says first what happened, and with which calls; and where /dev/shm is of no use, the results are right.

FAULTY is faulty.cpp. TRIALS is how many jobs are killed at a random moment; every other fault is tried once, and beyond
12 trials on 2 and on 3 workers. The report is a line of JSON: faults, jobs, hangs, wrong."""
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time

from trials import parsed_arguments

MOST_SECONDS = 5  # until a job has ended, from the moment in which it goes wrong
ENDED = r"partita: worker \d+ \(process \d+\) has ended before its time"
RECORD = r"^partita: the last \d+ calls of worker \d+ \(process \d+\), the newest first:$"
NOISE = r"\*\*\* Process received signal|terminate called|mpirun (noticed|detected)"
# the fault: what must be said, in this order
ROWS = {
    "throws": [r"partita: worker \d+ .* ends by an uncaught exception: there is no more milk", RECORD, NOISE],
    "throws a number": ["that is no std::exception", RECORD, NOISE],
    "is killed": [ENDED, RECORD],
    "crashes": [RECORD],
    "aborts": [RECORD],
    "exits": [RECORD],
    "vanishes": [RECORD],
    "finalizes": [r"partita: worker \d+ has called MPI_Finalize, and worker \d+ waits for it in partita::world",
                  r"noticed that process rank \d+"],
    "loops": [r"partita: worker \d+ has waited for 1 s .* is missing: it computes"],
}
# In some of these runs Open MPI's mpirun notices that the workers have ended, and then waits for ever itself.
LAUNCHER_MAY_HANG = {"finalizes"}
# In one of some thousands of runs Open MPI's mpirun itself crashes while it notices that a worker has ended. Such a run
# shows nothing about the library and is made again, at most twice in a row.
MOST_CRASHES_OF_LAUNCHER = 2
EMPTY_DEV = """mkdir -p "$0" && mount -t tmpfs none "$0"
for f in null zero full random urandom tty; do touch "$0"/$f; mount --bind /dev/$f "$0"/$f; done
ln -s /proc/self/fd "$0"/fd; mkdir "$0"/pts; mount --bind /dev/pts "$0"/pts; mount --rbind "$0" /dev; shift 0
"""
MEMORY = {
    "/dev/shm of 64 KiB": "mount -t tmpfs -o size=64k none /dev/shm\n",
    "/dev/shm read-only": "mount -t tmpfs -o ro none /dev/shm\n",
    "no /dev/shm": EMPTY_DEV,
    "files of at most 20 MB": "ulimit -f 40000\n",  # MPI itself takes 4 MB
}
# what an environment may say by mistake: the default, or what comes nearest, and never a wrong value
HOSTILE = [(name, value) for name in ("PARTITA_PATIENCE", "PARTITA_NODES", "PARTITA_SHARED", "PARTITA_SHARED_FREE",
                                      "PARTITA_TRACE")
           for value in ("", "/nowhere/x", "-1", "nan", "99999999999999999999999", "/nowhere/%s%n")]


def run(command, prelude="", seconds=60, **environment):
    """Status (None: it had to be ended), what was said, and seconds, of a run in which the launcher did not crash."""
    for _ in range(MOST_CRASHES_OF_LAUNCHER + 1):
        process, *outcome = run_once(command, prelude, seconds, **environment)
        if not re.search(rf":0*{process}\] \*\*\* Process received signal", outcome[1]):
            break
        print(f"the launcher, process {process}, has crashed:\n{outcome[1]}")
    return outcome


def run_once(command, prelude, seconds, **environment):
    """The number of the launcher's process, status, what was said, and seconds."""
    script = "set -e\n" + prelude + "exec " + shlex.join(map(str, command))
    shell = ["unshare", "-m", "sh", "-c", script, f"/tmp/partita_dev_{os.getpid()}"] if prelude else ["sh", "-c", script]
    start = time.monotonic()
    job = subprocess.Popen(shell, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           errors="replace", env=dict(os.environ, **environment), start_new_session=True)
    try:
        said = job.communicate(timeout=seconds)[0]
        return job.pid, job.returncode, said, time.monotonic() - start
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        return job.pid, None, job.communicate()[0], time.monotonic() - start


def in_order(said, sentences):
    """The first sentence that does not come after those before it; None if all do."""
    at = 0
    for sentence in sentences:
        found = re.compile(sentence, re.M).search(said, at)
        if not found:
            return sentence
        at = found.end()
    return None


def main():
    given = parsed_arguments()
    passed, failed, skipped, hangs, wrong, jobs, longest = 0, 0, 0, 0, 0, 0, 0.0

    def judge(title, status, said, seconds, failure):
        nonlocal passed, failed, hangs, wrong, jobs
        jobs += 1
        hangs += status is None
        wrong += "WRONG VALUES" in said
        if status is None:
            failure = "it did not end"
        elif "WRONG VALUES" in said:
            failure = "wrong values"
        if failure is None:
            passed += 1
        else:
            failed += 1
            print(f"{title}: {failure}; status {status} after {seconds:.1f} s\n{said}")

    # what is said of the others by the handler of SIGTERM takes a launcher that sends it
    tells_others = "Open MPI" in run([given.mpirun, "--version"])[1] or "Open MPI" in run([given.mpirun, "-V"])[1]
    for k, (fault, sentences) in enumerate(ROWS.items()):
        if not tells_others:
            sentences = sentences[:2] if fault.startswith("throws") else []
        for workers in (2, 3) if given.trials > 12 else (2 + k % 2,):
            status, said, seconds = run([given.mpirun, "-n", workers, given.program, fault, 100],
                                        **({"PARTITA_PATIENCE": "1"} if fault == "loops" else {}))
            missing = in_order(said, sentences)
            if status is None and fault in LAUNCHER_MAY_HANG and not missing:
                status, seconds = 1, 0.0
            most = MOST_SECONDS + (15 if fault == "finalizes" else 3)  # the others ask for a missing worker after 10 s
            failure = (f"'{missing}' is not said, or not in its place" if missing else
                         "its status is 0" if status == 0 else "it took too long" if seconds > most else None)
            judge(f"{fault} on {workers} workers", status, said, seconds, failure)

    source = random.Random(16)
    for k in range(given.trials):  # by itself, at any call
        status, said, seconds = run([given.mpirun, "-n", 1 + k % 3, given.program, "is killed", source.randrange(3000)])
        longest = max(longest, seconds)
        judge(f"killed, trial {k}", status, said, seconds, "its status is 0" if status == 0 else None)

    for name, prelude in MEMORY.items():
        if run(["true"], prelude)[0] != 0:
            skipped += 1
            print(f"{name}: not tried, mounting takes root")
            continue
        for workers in (2, 3) if given.trials > 12 else (3,):
            status, said, seconds = run([given.mpirun, "-n", workers, given.program, "ends", 1000], prelude,
                                        OMPI_MCA_btl_vader_backing_directory="/tmp")
            judge(f"{name} on {workers} workers", status, said, seconds, "it failed" if status else None)
    status, said, seconds = run([given.mpirun, "-n", 3, given.program, "is asked to end", 50])
    saved = sorted(re.findall(r"^worker (\d) saves after call (\d+)$", said, re.M))
    judge("asked to end", status, said, seconds,
          None if status == 0 and saved == [(str(k), "51") for k in range(3)] else f"saved {saved}")

    for name, value in HOSTILE[::1 if given.trials > 12 else 4]:
        status, said, seconds = run([given.mpirun, "-n", 2, given.program, "ends", 50], **{name: value})
        judge(f"{name}={value!r}", status, said, seconds, "it failed" if status else None)
    if given.report:
        with open(given.report, "a") as report:
            print(json.dumps({"name": "faults", "faults": len(ROWS) + len(MEMORY) + len(HOSTILE) + 1, "jobs": jobs, "hangs": hangs,
                              "wrong": wrong, "failed": failed}), file=report)
    print(f"{jobs} jobs; those killed at a random call took at most {longest:.1f} s in all")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
