#!/usr/bin/env python3
"""Turns the JSON lines of the benchmarks into a table for gnuplot: one row per case, one column per peer.

rows.py FILE [REGIME]: ratios to memcpy; only samples of one regime of the machine are put side by side.
"""
import json
import sys

wanted = sys.argv[2] if len(sys.argv) > 2 else None
cases, peers, ratio = [], [], {}
for line in open(sys.argv[1]):
    row = json.loads(line)
    if row["bench"] != "repartition" or (wanted and row["regime"] != wanted):
        continue
    case, peer = f'{row["case"]}, {row["workers"]} workers', row["peer"]
    if case not in cases:
        cases.append(case)
    if peer not in peers:
        peers.append(peer)
    ratio[case, peer] = row["ratio_to_memcpy"]
print("case", *(f'"{p}"' for p in peers), sep="\t")
for case in cases:
    print(f'"{case}"', *(ratio.get((case, p), "?") for p in peers), sep="\t")
