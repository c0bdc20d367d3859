#!/usr/bin/env python3
"""Turns the JSON lines of bench/repartition into a table; only samples of one regime of the machine are put side by side.

rows.py FILE [REGIME]               for gnuplot: a row for each case, ratios to memcpy, a column for each way
rows.py FILE [REGIME] --markdown    for a page: ours beside memcpy, the best peer and the best scheme of plain MPI
"""
import json
import sys

words = [w for w in sys.argv[1:] if w != "--markdown"]
wanted = words[1] if len(words) > 1 else None
cases, ways, seconds = [], [], {}
for line in open(words[0]):
    row = json.loads(line)
    if row["bench"] != "repartition" or (wanted and row["regime"] != wanted):
        continue
    case, way = f'{row["case"]}, {row["workers"]} workers', row["peer"]
    if case not in cases:
        cases.append(case)
    if way not in ways:
        ways.append(way)
    seconds[case, way] = row["seconds_median"]


def best(case, chosen):
    """The fastest of the ways that move blocks, and its name."""
    return min((seconds[case, w], w) for w in ways if (case, w) in seconds and chosen(w))


def markdown():
    print("| case | memcpy, us | partita | into the heap | best peer | faster than it | messages alone / best of plain MPI |")
    print("|---|---|---|---|---|---|---|")
    for case in cases:
        copy = seconds[case, "memcpy"]
        ours = seconds[case, "partita"]
        peer, name = best(case, lambda w: not w.startswith("partita") and w not in ("memcpy", "MPI contiguous"))
        plain = [w for w in ("MPI types", "MPI packed", "MPI_Alltoallw") if (case, w) in seconds]
        messages = "-"
        if plain:
            messages = f'{seconds[case, "partita, messages alone"] / best(case, plain.__contains__)[0]:.2f}'
        print(f'| {case} | {copy * 1e6:.4g} | {ours / copy:.2f} | {seconds[case, "partita, into the heap"] / copy:.2f} '
              f"| {name} {peer / copy:.2f} | {peer / ours:.1f} | {messages} |")


def gnuplot():
    print("case", *(f'"{w}"' for w in ways), sep="\t")
    for case in cases:
        copy = seconds[case, "memcpy"]
        print(f'"{case}"', *(f"{seconds[case, w] / copy:.3f}" if (case, w) in seconds else "?" for w in ways), sep="\t")


markdown() if "--markdown" in sys.argv else gnuplot()
