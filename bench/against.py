#!/usr/bin/env python3
"""Runs the benchmarks of two builds in turn, and says how the second compares with the first.

against.py run OLD_BUILD NEW_BUILD ROWS [--workers 2,4] [--rounds N] [--seconds N] [--only BENCH,...]
against.py table ROWS...                    the table for docs/performance-history.md

A run adds its rows to the file ROWS, so that several runs stand in one table. Old and new take turns, the order changes
with the round. Calls that are the same program code in both (memcpy, plain MPI, products alone) are measured as well:
how far those are apart is the noise of the comparison.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

REPARTITIONS = ("256^2", "1024^2", "2048^2", "uneven 1021 x 2039", "scatter 2048^2", "gather 2048^2",
                "batch 64 then 96", "transpose 4096^2", "pencils 256^3", "64^4")
BENCHES = {
    "plan": [[]] * 3,
    "collectives": [["1048576"]],
    "linear": [["--features", "256", "--rounds", "5"], ["--features", "1024", "--batch", "64", "--rounds", "5"]],
    "repartition": [["--quick", case] for case in REPARTITIONS],
}


def measured(build, bench, workers, arguments):
    """The rows of one run of a benchmark."""
    launcher = [] if bench == "plan" else ["mpirun", "-n", str(workers)]
    done = subprocess.run([*launcher, os.path.join(build, "bench", bench), "--json", *arguments], check=True,
                          capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def run(options):
    end = time.monotonic() + options.seconds
    sides = (("old", options.old), ("new", options.new))
    chosen = options.only.split(",") if options.only else list(BENCHES)
    with open(options.rows, "a") as kept:
        for number in range(options.rounds):
            for bench in chosen:
                for workers in [1] if bench == "plan" else [int(n) for n in options.workers.split(",")]:
                    for arguments in BENCHES[bench]:
                        if time.monotonic() > end:
                            return
                        pairs = sides if number % 2 == 0 else tuple(reversed(sides))
                        rows = [(side, measured(build, bench, workers, arguments)) for side, build in pairs]
                        for side, found in rows:
                            for row in found:
                                kept.write(json.dumps({"side": side} | row) + "\n")
                        kept.flush()


def is_ours(row):
    return row["peer"].startswith("partita")


def ratios(rows):
    """new / old of each case and way, by the medians over the runs of each side, of one regime of the machine."""
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


def table(options):
    rows = [json.loads(line) for name in options.rows for line in open(name)]
    groups, slower = {}, []
    for key, ratio, of_minima, apart, old in ratios(rows):
        ours = is_ours({"peer": key[4]})
        groups.setdefault(key[:2], {True: [], False: []})[ours].append(ratio)
        if ours and ratio > 1.05:
            slower.append((ratio, of_minima, apart, old, key))
    print("| benchmark | workers | cases | median | worst | the same code, worst | beyond noise |")
    print("|---|---|---|---|---|---|---|")
    for (bench, workers), group in sorted(groups.items()):
        ours, peers = group[True], group[False]
        noise = f"{min(peers):.2f} to {max(peers):.2f}" if peers else "-"
        beyond = sum(apart for _, _, apart, _, key in slower if key[:2] == (bench, workers))
        print(f"| `{bench}` | {workers} | {len(ours)} | {statistics.median(ours):.2f} | {max(ours):.2f} | {noise} | {beyond} |")
    print()
    for ratio, of_minima, apart, old, (bench, workers, case, size, peer, regime) in sorted(slower, reverse=True):
        mark = "in every run" if apart else "not in every run"
        print(f"* {bench}, {workers} workers, {case}, {size}, {peer} {regime}: {ratio:.2f} of {old * 1e6:.2f} us, "
              f"minima {of_minima:.2f}, {mark}")


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
command.set_defaults(do=table)
chosen = parser.parse_args()
chosen.do(chosen)
