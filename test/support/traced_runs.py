#!/usr/bin/env python3
"""traced_runs.py MPIRUN FAULTY READ_TRACE: what PARTITA_TRACE writes is JSON, has every call with its bytes, and a picture of a
row for each worker; and nothing is written where it is not asked for."""
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def main():
    mpirun = sys.argv[1]
    faulty, read_trace = (pathlib.Path(a).resolve() for a in sys.argv[2:])
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
            made = (calls + 1) * workers
            # a sum says what it hands over as it does; a repartition of 2 x 3n floats moves all but its own 2 x 3
            moved = made * (workers - 1) * 2 * 3 * 4
            picture = xml.etree.ElementTree.parse(folder / "t.svg").getroot() if (folder / "t.svg").exists() else []
            rows = [e.text for e in picture if (e.text or "").startswith("worker ")]
            right = (run.returncode == 0 and read.returncode == 0 and lines["workers"] == str(workers)
                     and lines["all_sum_reduce"].split()[0] == str(made) and lines["repartition"] == f"{made} {moved}"
                     and rows == [f"worker {k}" for k in range(workers)])
            passed, failed = passed + right, failed + (not right)
            if not right:
                print(f"{workers} workers, {calls} calls: {run.stderr}{read.stdout}{read.stderr}{rows} {made} {moved}")
        (folder / "t.json").unlink(), (folder / "t.svg").unlink()
        subprocess.run([mpirun, "-n", "2", faulty, "ends", "2"], cwd=folder, check=True)
        nothing = not list(folder.iterdir())
        passed, failed = passed + nothing, failed + (not nothing)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
