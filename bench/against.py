#!/usr/bin/env python3
"""Runs the benchmarks of two builds in turn, and says how the second compares with the first.

against.py run OLD_BUILD NEW_BUILD ROWS [--workers 2,4] [--rounds N] [--seconds N] [--only BENCH,...]
against.py table ROWS... [--update]         the table; with --update also into docs/performance.md, between its markers

A run adds its rows to the file ROWS, so that one table can contain several runs; each row names the commit of its
build. The two builds take turns, in an order that changes with the round. Calls that are the same code in both builds
(memcpy, plain MPI, products alone) are also measured: their differences are the noise of the comparison.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import time

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "performance.md"
MARKERS = ("<!-- made by bench/against.py -->\n\n", "\n<!-- so far bench/against.py -->\n")

PENCILS = "pencils 256^3"
REPARTITIONS = ("256^2", "1024^2", "2048^2", "uneven 1021 x 2039", "scatter 2048^2", "gather 2048^2",
                "batch 64 then 96", "transpose 4096^2", PENCILS, "64^4")
BENCHES = {
    "plan": [[]] * 3,
    "collectives": [["--most-bytes", "1048576"]],
    "linear": [["--features", "256", "--rounds", "5"], ["--features", "1024", "--batch", "64", "--rounds", "5"]],
    "repartition": [["--quick", "--case", case] for case in REPARTITIONS],
}


def measured(build, bench, workers, arguments):
    """The rows of one run of a benchmark. A build in which options had no names takes only these two values."""
    program = os.path.join(build, "bench", bench)
    if "--json" not in subprocess.run([program, "--help"], capture_output=True, text=True).stdout:
        arguments = [word for word in arguments if word not in ("--most-bytes", "--case")]
    launcher = [] if bench == "plan" else ["mpirun", "-n", str(workers)]
    done = subprocess.run([*launcher, program, "--json", *arguments], check=True,
                          capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def commit(build):
    """The commit of a build, from the source folder that its Meson names; with + if the sources were changed since."""
    try:
        source = json.loads((pathlib.Path(build) / "meson-info/meson-info.json").read_text())["directories"]["source"]
        said = subprocess.run(["git", "-C", source, "describe", "--always", "--exclude=*", "--dirty=+"], check=True,
                              capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return said.stdout.strip()


def run(options):
    end = time.monotonic() + options.seconds
    origin = {side: {"commit": commit(build), "date": datetime.date.today().isoformat()}
              for side, build in (("old", options.old), ("new", options.new))}
    sides = (("old", options.old), ("new", options.new))
    chosen = options.only.split(",") if options.only else list(BENCHES)
    with open(options.rows, "a") as kept:
        for number in range(options.rounds):
            for bench in chosen:
                for workers in [1] if bench == "plan" else [int(n) for n in options.workers.split(",")]:
                    for arguments in BENCHES[bench]:
                        if PENCILS in arguments and workers != 4:
                            continue  # the benchmark has this case for four workers
                        if time.monotonic() > end:
                            return
                        pairs = sides if number % 2 == 0 else tuple(reversed(sides))
                        rows = [(side, measured(build, bench, workers, arguments)) for side, build in pairs]
                        for side, found in rows:
                            for row in found:
                                kept.write(json.dumps({"side": side} | origin[side] | row) + "\n")
                        kept.flush()


def is_ours(row):
    return row["peer"].startswith("partita")


def ratios(rows):
    """The ratio new / old of each case and implementation: medians over the runs of each build, in one regime of the
    machine."""
    seconds = {}
    for row in rows:
        regime = "" if row["bench"] == "linear" else row.get("regime", "")
        simulated = row["bench"] == "plan"
        key = (row["bench"], 1 if simulated else row["workers"], row["case"], row["workers"] if simulated else row["bytes"],
               row["peer"], regime)
        seconds.setdefault(key, {"old": [], "new": []})[row["side"]].append((row["seconds_median"], row["seconds_min"]))
    for key, sides in seconds.items():
        if min(len(sides["old"]), len(sides["new"])) < 3:
            continue  # too few runs of this regime
        old, new = ([statistics.median(run[k] for run in sides[side]) for k in (0, 1)] for side in ("old", "new"))
        apart = min(m for m, _ in sides["new"]) > max(m for m, _ in sides["old"])
        yield key, new[0] / old[0], new[1] / old[1], apart, old[0]


def origins(rows):
    """The sentence that names the compared commits and the date."""
    def of(side):
        return ", ".join(sorted({row["commit"] for row in rows if row["side"] == side and "commit" in row})) or "unknown"

    dates = sorted({row["date"] for row in rows if "date" in row})
    when = (" to ".join(sorted({dates[0], dates[-1]})) + ", " if dates else "")
    return f"Commit {of('new')} over {of('old')}, {when}{os.cpu_count()} cores."


def table_lines(rows):
    groups, slower = {}, []
    for key, ratio, of_minima, apart, old in ratios(rows):
        ours = is_ours({"peer": key[4]})
        groups.setdefault(key[:2], {True: [], False: []})[ours].append(ratio)
        if ours and ratio > 1.05:
            slower.append((ratio, of_minima, apart, old, key))
    yield origins(rows)
    yield ""
    yield "| benchmark | workers | cases | median | worst | the same code | slower beyond noise |"
    yield "|---|---|---|---|---|---|---|"
    for (bench, workers), group in sorted(groups.items()):
        ours, peers = group[True], group[False]
        noise = f"{min(peers):.2f} to {max(peers):.2f}" if peers else "-"
        beyond = sum(apart for _, _, apart, _, key in slower if key[:2] == (bench, workers))
        yield f"| `{bench}` | {workers} | {len(ours)} | {statistics.median(ours):.2f} | {max(ours):.2f} | {noise} | {beyond} |"
    yield ""
    in_every_run = sorted((one for one in slower if one[2]), reverse=True)
    slow = "more than 5 % slower with the new headers, and slower in each run than in any run with the old"
    yield f"Cases that were {slow}:" if in_every_run else f"No case was {slow}."
    if in_every_run:
        yield ""
        yield "| benchmark | workers | case | bytes | way, regime of the machine | over the old | minima | old, us |"
        yield "|---|---|---|---|---|---|---|---|"
    for ratio, of_minima, _, old, (bench, workers, case, size, peer, regime) in in_every_run:
        way = f"{peer}, {regime}" if regime else peer
        yield f"| `{bench}` | {workers} | {case} | {size} | {way} | {ratio:.2f} | {of_minima:.2f} | {old * 1e6:.2f} |"


def table(options):
    rows = [json.loads(line) for name in options.rows for line in open(name)]
    made = "\n".join(table_lines(rows)) + "\n"
    print(made, end="")
    if options.update:
        page = PAGE.read_text()
        begin, end = page.index(MARKERS[0]) + len(MARKERS[0]), page.index(MARKERS[1])
        PAGE.write_text(page[:begin] + made + page[end:])


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
commands = parser.add_subparsers(required=True)
command = commands.add_parser("run")
command.add_argument("old")
command.add_argument("new")
command.add_argument("rows")
command.add_argument("--workers", default="2,4")
command.add_argument("--rounds", type=int, default=5)
command.add_argument("--seconds", type=int, default=230, help="no run begins after that many seconds")
command.add_argument("--only", default="")
command.set_defaults(do=run)
command = commands.add_parser("table")
command.add_argument("rows", nargs="+")
command.add_argument("--update", action="store_true", help="write it into docs/performance.md as well")
command.set_defaults(do=table)
chosen = parser.parse_args()
chosen.do(chosen)
