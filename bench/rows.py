#!/usr/bin/env python3
"""Turns the JSON lines of all benchmarks into tables.

rows.py FILE [REGIME]                 for gnuplot: a row for each case, ratios to memcpy, a column for each way
rows.py FILE... [REGIME] --markdown   for a page: ours beside the others; files of several runs stand in one table

Only samples of one regime of the machine are put side by side where a REGIME (near, far, oversubscribed) is named.
"""
import json
import statistics
import sys

regimes = ("near", "far", "oversubscribed")
words = [w for w in sys.argv[1:] if w != "--markdown"]
wanted = next((w for w in words if w in regimes), None)
rows = [json.loads(line) for name in words if name not in regimes for line in open(name) if line.startswith("{")]
rows = [r for r in rows if not wanted or r.get("regime") == wanted]


def unique(values):
    return list(dict.fromkeys(values))


def short(seconds):
    us = seconds * 1e6
    return f"{us:.1f}" if us < 100 else f"{us:.0f}"


def size(n):
    return f"{n} B" if n < 1024 else f"{n >> 10} KiB" if n < 1 << 20 else f"{n >> 20} MiB"


class table:
    """The times of each implementation for each case, in the order of the file."""

    def __init__(self, chosen, case_of):
        self.cases = unique(case_of(r) for r in chosen)
        self.ways = unique(r["peer"] for r in chosen)
        self.seconds = {(case_of(r), r["peer"]): r["seconds_median"] for r in chosen}

    def best(self, case, chosen):
        """The fastest of these implementations, and its name; None if the case has none of them."""
        return min(((self.seconds[case, w], w) for w in self.ways if (case, w) in self.seconds and chosen(w)), default=None)


def repartition():
    t = table([r for r in rows if r["bench"] == "repartition"], lambda r: f'{r["case"]}, {r["workers"]} workers')
    print("| case | memcpy, us | partita | into the heap | best peer | faster than it | messages alone / best of plain MPI |")
    print("|---|---|---|---|---|---|---|")
    for case in t.cases:
        copy, ours = t.seconds[case, "memcpy"], t.seconds[case, "partita"]
        best = t.best(case, lambda w: not w.startswith("partita") and w not in ("memcpy", "MPI contiguous"))
        plain = [w for w in ("MPI types", "MPI packed", "MPI_Alltoallw") if (case, w) in t.seconds]
        messages = "-"
        if plain:
            messages = f'{t.seconds[case, "partita, messages alone"] / t.best(case, plain.__contains__)[0]:.2f}'
        print(f'| {case} | {f"{copy * 1e6:.4g}" if copy < 0.01 else f"{copy * 1e6:.0f}"} | {ours / copy:.2f} | {t.seconds[case, "partita, into the heap"] / copy:.2f} '
              + (f"| {best[1]} {best[0] / copy:.2f} | {best[0] / ours:.1f} " if best else "| - | - ") + f"| {messages} |")


def collectives():
    chosen = [r for r in rows if r["bench"] == "collectives"]
    counts = sorted({r["workers"] for r in chosen})
    t = table(chosen, lambda r: (r["case"], r["bytes"], r["workers"]))
    mpi = {case: best for case in t.cases if (best := t.best(case, lambda w: w.startswith("MPI")))}
    ratio = {case: best[0] / t.seconds[case, "partita"] for case, best in mpi.items()}
    print("| kernel, its peer | bytes |" + "".join(f" {n} workers | MPI | ratio |" for n in counts))
    print("|---|---|" + "---|---|---|" * len(counts))
    for kernel in unique(case[0] for case in t.cases):
        first = True
        for n_bytes in unique(case[1] for case in t.cases if case[0] == kernel):
            cells = []
            for n in counts:
                case = (kernel, n_bytes, n)
                cells.append(f' {short(t.seconds[case, "partita"])} | {short(mpi[case][0])} | {ratio[case]:.2f} |' if case in mpi else " - | - | - |")
            name = f"`{kernel}`, {mpi[kernel, n_bytes, counts[0]][1]}" if first else ""
            print(f"| {name} | {size(n_bytes)} |" + "".join(cells))
            first = False
    print()
    for n in counts:  # the policies have their own rows, and no goals
        plain = {case: r for case, r in ratio.items() if case[2] == n and "," not in case[0]}
        large = [r for case, r in plain.items() if case[1] > 256]
        small = [r for case, r in plain.items() if case[1] <= 256]
        print(f"{n} workers: {min(large):.2f} to {max(large):.2f} times, median {statistics.median(large):.2f}, "
              f"below 2 in {sum(r < 2 for r in large)} of {len(large)}; at 256 B {min(small):.2f} to {max(small):.2f}")


def linear():
    chosen = [r for r in rows if r["bench"] == "linear"]
    ratio, products, cases = {}, {}, []
    for r in chosen:
        what, _, case = r["case"].rpartition(" on ")[0].rpartition(" ")
        case += " on " + r["case"].rpartition(" on ")[2]
        cases.append(case)
        ratio[what, case, r["peer"]] = r["ratio"]
        if (what, r["peer"]) == ("forward", "products"):
            products[case] = r["seconds_median"]
    peers = ("by hand", "partita", "psgemm")
    print("| batch x features, grid | products, us | by hand | partita | psgemm | and adjoint: by hand | partita | psgemm |")
    print("|---|---|---|---|---|---|---|---|")

    def order(case):
        batch, rest = case.split("x", 1)
        return int(rest.split(" ")[0]), int(batch), case

    for case in sorted(unique(cases), key=order):
        cells = [f"{ratio[what, case, p]:.2f}" if (what, case, p) in ratio else "-"
                 for what in ("forward", "forward and adjoint") for p in peers]
        print(f'| {case.replace("x", " x ")} | {short(products[case])} | ' + " | ".join(cells) + " |")


def plan():
    print("| from, to | workers | overlaps | microseconds | bytes allocated |")
    print("|---|---|---|---|---|")
    for r in rows:
        if r["bench"] == "plan":
            print(f'| {r["case"]} | {r["workers"]} | {r["overlaps"]} | {r["seconds_median"] * 1e6:.2f} | {r["bytes"]} |')


def transpose():
    print("| order, workers | PRK's loop, ms | `b += turn(a)` | `into` | PRK over natural | over `into` |")
    print("|---|---|---|---|---|---|")
    for case, workers in unique((r["case"], r["workers"]) for r in rows if r["bench"] == "transpose"):
        runs = [r for r in rows if (r["bench"], r["case"], r["workers"]) == ("transpose", case, workers)]
        ms = [", ".join(f'{r["seconds_" + way] * 1e3:.1f}' for r in runs) for way in ("prk", "natural", "into")]
        ratios = [", ".join(f'{r["prk_to_" + way]:.1f}' for r in runs) for way in ("natural", "into")]
        print("|", " | ".join([f'{case.removeprefix("order ")}, {workers}', *ms, *ratios]), "|")


def hosts():
    """Times of partita and, in brackets, of MPI's own call, in ms; below them their ratio at each size, and the ratio
    of the model."""
    def ms(t):
        return f"{t:.0f}" if t >= 100 else f"{t:.1f}" if t >= 10 else f"{t:.2f}"

    chosen = [r for r in rows if r["bench"] == "hosts"]
    arrangements = unique((r["link"], r["hosts"], r["workers"]) for r in chosen)
    for link, number, workers in arrangements:
        of = [r for r in chosen if (r["link"], r["hosts"], r["workers"]) == (link, number, workers)]
        sizes = sorted(unique(r["bytes"] for r in of))
        at = {(r["kernel"], r["bytes"]): f'{ms(r["ms"])} ({ms(r["mpi"])})' for r in of}
        if (link, number, workers) != arrangements[0]:
            print()
        name = {"1ms": "frames delayed by 1 ms", "1gbit": "1 Gbit/s"}.get(link, link)
        print(f"| ms, {name}, {number} × {workers} |", " | ".join(map(size, sizes)), "|")
        print("|---" * (1 + len(sizes)) + "|")
        for kernel in unique(r["kernel"] for r in of):
            print(f"| `{kernel}` |", " | ".join(at.get((kernel, n), "-") for n in sizes), "|")
        ratios = {n: [r["ms"] / r["mpi"] for r in of if r["bytes"] == n] for n in sizes}
        print("| *ours over MPI's* |", " | ".join(f"{min(ratios[n]):.2f} – {max(ratios[n]):.2f}" for n in sizes), "|")
        model = {r["bytes"]: f'{r["model"] / r["ms"]:.2f}' for r in of if "model" in r}
        print("| *model over ours, `repartition`* |", " | ".join(model.get(n, "-") for n in sizes), "|")


def model():
    """Repartitions by the model of a cluster, or the moves of Fourier transforms."""
    chosen = [r for r in rows if r["bench"] == "model"]
    moves = [r for r in chosen if "move" in r]
    if moves:
        print("| transform | move | messages a worker | MiB a worker | moved / minimum | messages a node | MiB a node | ms "
              "| NIC bound, ms | ms / bound |")
        print("|---" * 10 + "|")
    for r in moves:
        print(f'| {r["case"]} | {r["move"]} | {r["messages"]} | {r["bytes"] / 2**20:.3f} | '
              f'{r["all_bytes"] / r["least_bytes"]:.3f} | {r["node_messages"]} | {r["node_bytes"] / 2**20:.1f} | {r["ms"]:.2f} | '
              + (f'{r["bound"]:.2f} | {r["ms"] / r["bound"]:.2f} × |' if r["bound"] else "- | within nodes |"))
    if len(moves) == len(chosen):
        return
    print("| pencils to pencils | workers | KiB a worker | messages a node | ms | NIC bound, ms | ms / bound |")
    print("|---|---|---|---|---|---|---|")
    for r in (r for r in chosen if "move" not in r):
        print(f'| {r["case"]} | {r["workers"]} | {r["block"] / 1024:.0f} | {r["messages"]} | {r["ms"]:.2f} | {r["bound"]:.2f} '
              f'| {r["ms"] / r["bound"]:.1f} × |')


def simulated():
    """Times of partita and, in brackets, of MPI's own call and a loop of messages, or the loop (~), or its overheads
    (>)."""
    def us(t):
        return f"{t:.0f}" if t >= 100 else f"{t:.1f}"

    chosen = [r for r in rows if r["bench"] == "simulated"]
    numbers = sorted({(r["workers"], -r["hosts"]) for r in chosen})
    for link in unique(r["link"] for r in chosen):
        of = [r for r in chosen if r["link"] == link]
        if of[0] is not chosen[0]:
            print()
        print(f"| {link} link | bytes |", " | ".join(f"{n} workers, {-hosts} hosts" for n, hosts in numbers), "| MPI's over ours | model over ours |")
        print("|---" * (4 + len(numbers)) + "|")
        for case in unique(r["case"] for r in of):
            by = {(r["workers"], -r["hosts"]): r for r in of if r["case"] == case}
            cells, ratios, models = [], [], []
            for n in numbers:
                r = by.get(n)
                if r is None:
                    cells.append("-"), ratios.append("-"), models.append("-")
                    continue
                peer = r["us_mpi"] or r["us_messages"] or (r["us_overheads"] if r["us_overheads"] > r["us"] else 0)
                models.append(f"{r['us_model'] / r['us']:.2f}" if r["us_model"] else "-")
                if not peer:
                    cells.append(us(r["us"])), ratios.append("-")
                    continue
                sign = "" if r["us_mpi"] else "~ " if r["us_messages"] else "> "
                pair = f", {us(r['us_messages'])}" if r["us_mpi"] and r["us_messages"] else ""
                cells.append(f"{us(r['us'])} ({sign}{us(peer)}{pair})")
                ratios.append(f"{peer / r['us']:.2g}")
            print(f"| {case.replace('-', ' ')} | {next(iter(by.values()))['bytes']} |", " | ".join(cells), "|", ", ".join(ratios), "|",
                  ", ".join(models), "|")


def halo():
    print("| cells, width, workers | partita, us | by hand | `Neighbor_alltoallw` | DMDA in place | DMDA, global to local | best of the others / partita |")
    print("|---|---|---|---|---|---|---|")
    for r in (r for r in rows if r["bench"] == "halo"):
        ways = ("seconds", "seconds_by_hand", "seconds_neighbor_alltoallw", "seconds_petsc_in_place", "seconds_petsc")
        print("|", " | ".join([f'{r["case"].replace(" width ", ", ")}, {r["workers"]}', *(short(r[w]) if r.get(w) else "-" for w in ways),
                               f'{r["best_to_ours"]:.2f}']), "|")


def halo_step():
    print("| 5-point step of, workers | without ghosts, us | exchange overlapped with computing | exchange before computing | overlapped / without ghosts |")
    print("|---|---|---|---|---|")
    for r in (r for r in rows if r["bench"] == "halo step"):
        ways = ("seconds_compute", "seconds_overlapped", "seconds_one_after_another")
        print("|", " | ".join([f'{r["case"]}, {r["workers"]}', *(short(r[w]) for w in ways), f'{r["overlapped_to_compute"]:.2f}']), "|")


def convolution():
    print("| layer, workers | forward, ms | forward / local product | adjoint, ms | adjoint / local product | local product / oneDNN's kernel | local product / layer's product by oneDNN | the same, adjoint |")
    print("|---|---|---|---|---|---|---|---|")
    for r in (r for r in rows if r["bench"] == "convolution"):
        print("|", " | ".join([f'{r["case"]}, {r["workers"]}', f'{r["seconds"] * 1e3:.2f}', f'{r["to_local"]:.2f}',
                               f'{r["seconds_back"] * 1e3:.2f}', f'{r["back_to_local"]:.2f}',
                               *(f"{r[w]:.2f}" if r.get(w) else "-" for w in ("local_to_onednn", "local_to_chosen", "back_to_chosen"))]), "|")


def sharded():
    """Each implementation beside the first of its case; the minimum of all samples is in brackets."""
    print("| case, workers | way | us, median (least) | over the first way |")
    print("|---|---|---|---|")
    of = [r for r in rows if r["bench"] == "sharded"]
    for case, workers in unique((r["case"], r["workers"]) for r in of):
        ways = [r for r in of if (r["case"], r["workers"]) == (case, workers)]
        for k, r in enumerate(ways):
            us, least = (f"{seconds * 1e6:.{2 if seconds < 1e-5 else 0}f}" for seconds in (r["seconds_median"], r["seconds_min"]))
            ratio = f'{r["ratio"]:.2f} ({r["seconds_min"] / ways[0]["seconds_min"]:.2f})' if k > 0 else ""
            print(f'| {f"{case}, {workers}" if k == 0 else ""} | {r["peer"]} | {us} ({least}) | {ratio} |')


def search_order():
    """The rank correlations of each network, and its best layouts in ascending order of their estimates."""
    of = [r for r in rows if r["bench"] == "search_order"]
    print("| network | layouts estimated | parts measured | in | rank correlation over all, of | among the best, of |")
    print("|---|---|---|---|---|---|")
    ranks = {(r["network"], r["which"]): r for r in of if r["case"] == "rank correlation"}
    networks = unique(network for network, _ in ranks)
    for network in networks:
        r, best = ranks[network, "spread"], ranks[network, "best"]
        print(f'| {network} | {r["candidates"]} | {r["parts"]} | {r["seconds_to_measure"]:.2f} s '
              f'| {r["value"]:.2f}, {r["of"]} | {best["value"]:.2f}, {best["of"]} |')
    for network in networks:
        print(f"\n| best layouts of the {network} | estimated, ms | measured, ms |")
        print("|---|---|---|")
        for r in (r for r in of if r.get("peer") == "best" and r["network"] == network):
            print(f'| {r["case"]} | {r["seconds_estimated"] * 1e3:.2f} | {r["seconds_median"] * 1e3:.2f} |')


# the heads of columns on a page; the head of a time is the name of the implementation and the unit
HEADS = {
    "seconds": "partita, ms", "seconds_median": "median, ms", "seconds_min": "least, ms", "seconds_real": "real numbers, ms",
    "seconds_fftw_mpi": "FFTW-MPI, ms", "seconds_three_calls": "three calls, ms", "seconds_one_field": "one field, ms",
    "seconds_cube": "the cube, ms", "seconds_one_core": "`std::sort` on one core, ms", "seconds_sort": "`sort`, ms",
    "seconds_argsort": "`argsort`, ms", "seconds_quantile": "`quantile`, ms", "to_by_hand": "partita / by hand",
    "real_to_complex": "real / complex", "fftw_mpi_to_ours": "FFTW-MPI / partita", "to_three_calls": "one call / three calls",
    "to_one_field": "one call / one field", "to_cube": "partita / the cube", "mat_mult_to_product": "PETSc / partita",
    "one_core_to_sort": "`std::sort` / `sort`", "ratio": "time / first row", "device_ms": "device, ms a pass", "idle": "idle share",
    "simulated idle": "simulated idle share", "entries": "entries a worker", "steps": "steps computed",
}


def any_other(kind):
    """The table of a benchmark without a form of its own: all fields of each row beside its case, times in
    milliseconds."""
    of = [r for r in rows if r["bench"] == kind]
    columns = unique(key for r in of for key in r if key not in ("bench", "case", "workers", "peer", "samples", "regime"))

    def shown(key, value):
        if isinstance(value, float) and key.startswith("seconds"):
            ms = value * 1e3
            return f"{ms:.{0 if ms >= 100 else 1 if ms >= 10 else 2 if ms >= 1 else 3}f}"
        return "-" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)

    def head(key):
        return "time / predicted" if (kind, key) == ("scan", "ratio") else HEADS.get(key) or key.removeprefix("seconds_").replace("_", " ") + (", ms" if key.startswith("seconds") else "")

    has_peers = any("peer" in r for r in of)
    print("| case, workers |", *(["by |"] if has_peers else []), " | ".join(map(head, columns)), "|")
    print("|---" * (1 + has_peers + len(columns)) + "|")
    before = None
    for r in of:
        case = f'{r["case"]}, {r["workers"]}'
        print(f'| {case if case != before or not has_peers else ""} |', *([f'{r["peer"]} |'] if has_peers else []),
              " | ".join(shown(c, r.get(c)) for c in columns), "|")
        before = case


def index_exchange():
    of = [r for r in rows if r["bench"] == "index_exchange" and "seconds_call" in r]
    ways = ("seconds_call", "seconds_refresh", "seconds_vec_scatter", "seconds_alltoallv", "seconds_shared_gather")
    print("| numbers in a row, workers | call, us | `refresh` | PETSc's VecScatter | MPI_Alltoallv | loop in shared memory "
          "| VecScatter / call | MPI_Alltoallv / call |")
    print("|---" * 8 + "|")
    for r in of:
        seconds = [short(r[w]) if r.get(w) else "-" for w in ways]
        ratios = [f'{r[w] / r["seconds_call"]:.2f}' if r.get(w) else "-" for w in ways[2:4]]
        print("|", " | ".join([f'{r["case"].split()[0]}, {r["workers"]}', *seconds, *ratios]), "|")
    print("\n| indices, workers | construction, ms |\n|---|---|")
    for r in (r for r in rows if r["bench"] == "index_exchange" and "indices" in r):
        print(f'| {r["indices"]}, {r["workers"]} | {r["seconds"] * 1e3:.1f} |')


def gnuplot():
    chosen = [r for r in rows if r["bench"] == "repartition"]
    alike = len({r["workers"] for r in chosen}) == 1
    t = table(chosen, lambda r: r["case"] if alike else f'{r["case"]}, {r["workers"]} workers')
    print("case", *(f'"{w}"' for w in t.ways), sep="\t")
    for case in t.cases:
        copy = t.seconds[case, "memcpy"]
        print(f'"{case}"', *(f"{t.seconds[case, w] / copy:.3f}" if (case, w) in t.seconds else "?" for w in t.ways), sep="\t")


if "--markdown" not in sys.argv:
    gnuplot()
else:
    for number, kind in enumerate(unique(r["bench"] for r in rows)):
        if number:
            print()
        table_of = {"repartition": repartition, "collectives": collectives, "linear": linear, "plan": plan, "hosts": hosts, "model": model,
                    "transpose": transpose, "halo": halo, "halo step": halo_step, "convolution": convolution, "sharded": sharded,
                    "search_order": search_order, "simulated": simulated, "index_exchange": index_exchange}
        table_of.get(kind, lambda name=kind: any_other(name))()
