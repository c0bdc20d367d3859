#!/usr/bin/env python3
"""report.py SOURCE_ROOT: the page of the benchmarks is made from what they print, with a table for each, plots where
gnuplot is, and a line for each release that names what has become slower."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SLOWER = 1.5


def write(folder, slower):
    """Rows as the benchmarks print them."""
    def row(bench, case, workers, peer, seconds, **more):
        return json.dumps({"bench": bench, "case": case, "workers": workers, "bytes": 65536, "peer": peer,
                           "seconds_median": seconds, **more}) + "\n"
    for n in (2, 4):
        ways = {"memcpy": 1e-3, "partita": slower * 1.2e-3, "partita, into the heap": 2e-3, "partita, messages alone": 2e-3,
                "MPI types": 4e-3, "psgemr2d": 5e-3}
        (folder / f"repartition-{n}.json").write_text("".join(row("repartition", "2048^2", n, p, s, regime="far")
                                                              for p, s in ways.items()) +
                                                      "".join(row("repartition", "no peers", n, p, s, regime="far")
                                                              for p, s in list(ways.items())[:4]))
        (folder / f"collectives-{n}.json").write_text("".join(row("collectives", "broadcast", n, p, s, regime="far")
                                                              for p, s in (("partita", 1e-4), ("MPI_Bcast", 3e-4))))
    (folder / "partitioned_elementwise-2.json").write_text(row("partitioned_elementwise", "the row is in place", 2, "partita", 1e-5))
    (folder / "plan.json").write_text("".join(row("plan", "rows to columns", n, "partita", 1e-6, overlaps=3)
                                              for n in (1024, 65536)))


def main():
    program = pathlib.Path(sys.argv[1]) / "bench" / "report.py"
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = folder / "releases"
        for slower, version in ((1, "0.0.1"), (SLOWER, None)):
            write(folder, slower)
            done = subprocess.run([sys.executable, program, folder, "--release", lines], capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(done.stdout + done.stderr)
            if version:      # as if an older release had written it
                lines.write_text(re.sub(r'"version": "[^"]*"', f'"version": "{version}"', lines.read_text()))
        page = (folder / "report.md").read_text()
        failures += [f"the page has no {what}" for what in ("## Repartition", "## Collectives", "## Plans", "## partitioned_elementwise", "| the row is in place, 2 |", "| 2048^2, 4 workers |", "| no peers, 4 workers |",
                                                              "processor", "MPI over collectives") if what not in page]
        failures += [f"the page shows {plot}, and there is none" for plot in re.findall(r"\]\(([^)]*\.svg)\)", page)
                       if not (folder / plot).is_file()]
        if len(lines.read_text().splitlines()) != 2:
            failures.append("a release has no line of its own")
        if "repartition over memcpy, 2 workers: 1.8, was 1.2 in 0.0.1" not in done.stdout:
            failures.append(f"what is slower than in the release before is not named: {done.stdout}")
    for failure in failures:
        print(failure)
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
