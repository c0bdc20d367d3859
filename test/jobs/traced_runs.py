#!/usr/bin/env python3
"""traced_runs.py MPIRUN FAULTY READ_TRACE EXPLAIN: what PARTITA_TRACE writes is JSON and has every call with its bytes;
partita-explain prints the sums and draws a row for each worker with an axis of time, whose texts can be read; nothing is
written where it is not asked for, and what is not a trace is refused."""
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "structure"))
import pictures  # noqa: E402


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
                     and lines["bound_program"] == f"{workers} {in_program}"
                     and told.returncode == 0 and sums["repartition"] == sums["all_sum_reduce"] == str(made)
                     and rows == [f"worker {k}" for k in range(workers)] and len(axis) > 3 and not hidden)
            passed, failed = passed + right, failed + (not right)
            if not right:
                print(f"{workers} workers, {calls} calls: {run.stderr}{read.stdout}{read.stderr}{rows} {made} {moved} {hidden} {axis}{told.stdout}{told.stderr}")
        (folder / "no.json").write_text("{}\n")
        refused = subprocess.run([explain, "trace", "no.json"], cwd=folder, capture_output=True, text=True)
        right = refused.returncode == 2 and "'no.json' is not a trace" in refused.stderr
        passed, failed = passed + right, failed + (not right)
        (folder / "no.json").unlink()
        (folder / "t.json").unlink(), (folder / "t.svg").unlink()
        subprocess.run([mpirun, "-n", "2", faulty, "ends", "2"], cwd=folder, check=True)
        nothing = not list(folder.iterdir())
        passed, failed = passed + nothing, failed + (not nothing)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
