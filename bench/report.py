#!/usr/bin/env python3
"""report.py FOLDER [--quick] [--release FILE]: writes the page report.md for the results of `bench/run --all` in
FOLDER, with tables, and plots that gnuplot draws (SVG). With --release, the script adds a line for this version to
FILE, or replaces it (runs with --quick have lines of their own), and names each result that is more than a tenth slower
than in the line before of the same kind."""
import collections
import datetime
import json
import math
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def said(*command):
    """The first line that a command prints, or nothing if the program is not installed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    except OSError:
        return ""
    return (done.stdout.strip().splitlines() or [""])[0] if done.returncode == 0 else ""


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*: (.*)", info)
    memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text()) if info else None
    yield "processor", f"{model[1] if model else platform.processor()}, {os.cpu_count()} cores"
    if memory:
        yield "memory", f"{int(memory[1]) / 2**20:.0f} GiB"
    yield "system", f"{platform.system()} {platform.release()}"
    yield "compiler", said(os.environ.get("CXX", "g++"), "--version")
    yield "MPI", said("mpirun", "--version")
    yield "Boost, xtensor, BLAS", ", ".join(said("dpkg-query", "-W", "-f=${Package} ${Version}", p) or f"{p}: not a package here"
                                            for p in ("libboost-mpi-dev", "libxtensor-dev", "libopenblas-dev"))
    yield "partita", f"{version()}, commit {said('git', 'rev-parse', '--short', 'HEAD') or 'unknown'}"
    yield "date", datetime.date.today().isoformat()


def version():
    return re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())[1]


def rows_of(folder):
    """The results in each file, in the regime of the machine in which most of its samples were taken."""
    found = collections.defaultdict(list)
    for file in sorted(folder.glob("*.json")):
        rows = [json.loads(line) for line in file.read_text().splitlines() if line.startswith("{")]
        met = collections.Counter(r["regime"] for r in rows if "regime" in r)
        regime = met.most_common(1)[0][0] if met else None
        for row in rows:
            if row.get("regime", regime) == regime:
                found[row["bench"]].append(row)
    return found


def geometric(values):
    values = [v for v in values if v > 0]
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def by_case(rows, *names):
    cases = collections.defaultdict(dict)
    for row in rows:
        cases[tuple(row[n] for n in names)][row["peer"]] = row["seconds_median"]
    return cases


def figures(found):
    """The few numbers that are recorded for a release: (name, value, whether more is better)."""
    for workers in sorted({r["workers"] for r in found["repartition"]}):
        cases = by_case([r for r in found["repartition"] if r["workers"] == workers], "case").values()
        cases = [c for c in cases if "partita" in c and "memcpy" in c]
        yield f"repartition over memcpy, {workers} workers", geometric(c["partita"] / c["memcpy"] for c in cases), False
        peers = [[s for p, s in c.items() if not p.startswith("partita") and p not in ("memcpy", "MPI contiguous")]
                 for c in cases]
        ours = [min(of_case) / c["partita"] for c, of_case in zip(cases, peers) if of_case]
        yield f"best peer over repartition, {workers} workers", geometric(ours), True
    for workers in sorted({r["workers"] for r in found["collectives"]}):
        cases = by_case([r for r in found["collectives"] if r["workers"] == workers], "case", "bytes").values()
        ratios = [min(s for p, s in c.items() if p.startswith("MPI")) / c["partita"]
                  for c in cases if "partita" in c and any(p.startswith("MPI") for p in c)]
        yield f"MPI over collectives, {workers} workers", geometric(ratios), True
    ratios = [r["ratio"] for r in found["linear"] if r["peer"] == "partita"]
    yield "linear over its products", geometric(ratios), False
    yield "plan of one worker, us", geometric(r["seconds_median"] * 1e6 for r in found["plan"]), False


def plotted(folder, name, title, axes, columns, rows, log=""):
    """A plot of lines with points, or nothing if gnuplot is not installed. Each line has one of the columns; a missing
    value is None."""
    if not rows or shutil.which("gnuplot") is None:
        return ""
    data = "\n".join("\t".join("?" if v is None else f"{v:g}" for v in row) for row in rows)
    ticks = "" if len(rows) > 8 or axes[0] == "bytes" else "(" + ", ".join(f'"{row[0]:.0f}" {row[0]}' for row in rows) + ")"
    lines = ", ".join(f"'{name}.tsv' using 1:{k + 2} with linespoints lw 2 pt {k + 4} title '{column}'"
                      for k, column in enumerate(columns))
    (folder / f"{name}.tsv").write_text(data + "\n")
    subprocess.run(["gnuplot"], check=True, text=True, cwd=folder, input=f"""
        set terminal svg size 760, 420 font "sans-serif,14" background "white"
        set output "{name}.svg"
        set datafile separator tab
        set datafile missing "?"
        set title "{title}"
        set xlabel "{axes[0]}"
        set ylabel "{axes[1]}"
        set grid lc rgb "#dddddd"
        set key outside top center horizontal noenhanced
        set xtics {ticks}
        {f'set logscale {log}' if log else ''}
        {"set format x '%.0b %BB'" if axes[0] == "bytes" else ""}
        plot {lines}
        """)
    return f"![{title}]({name}.svg)\n"


def plots(folder, found):
    for workers in sorted({r["workers"] for r in found["repartition"]}):
        file = folder / f"repartition-{workers}.json"
        if shutil.which("gnuplot") and file.exists():
            regime = next(r["regime"] for r in found["repartition"] if r["workers"] == workers)
            name = f"repartition-{workers}.svg"
            values = f"data='{file}'; regime='{regime}'; figure='{folder / name}'; workers='{workers}'"
            subprocess.run(["gnuplot", "-e", values, "bench/repartition.gp"], check=True, cwd=ROOT, stderr=subprocess.DEVNULL)
            yield "Repartition", f"![Repartitions on {workers} workers over a memcpy, beside every peer]({name})\n"
    for workers in sorted({r["workers"] for r in found["collectives"]}):
        cases = by_case([r for r in found["collectives"] if r["workers"] == workers and "," not in r["case"]], "case", "bytes")
        kernels, sizes = sorted({c[0] for c in cases}), sorted({c[1] for c in cases})

        def ratio(kernel, size):
            c = cases.get((kernel, size), {})
            mpi = [s for p, s in c.items() if p.startswith("MPI")]
            return min(mpi) / c["partita"] if mpi and "partita" in c else None
        yield "Collectives", plotted(folder, f"collectives-{workers}", f"How many times faster than MPI, {workers} workers",
                                     ("bytes", "MPI / partita"), kernels,
                                     [[size, *(ratio(k, size) for k in kernels)] for size in sizes], "x 2")
    counts = sorted({r["workers"] for r in found["repartition"]})
    if len(counts) > 1:      # what more workers bring: the same tensor on each number of them
        cases = collections.defaultdict(dict)
        for r in found["repartition"]:
            if r["peer"] == "partita":
                cases[r["case"]][r["workers"]] = r["seconds_median"] * 1e3
        shared = [name for name, c in cases.items() if len(c) == len(counts)][:6]
        cores = os.cpu_count() or 1
        title = "The same tensor on more workers" + (f"; more than {cores} share {cores} cores" if counts[-1] > cores else "")
        yield "Scaling", plotted(folder, "scaling", title, ("workers", "milliseconds"), shared,
                                 [[n, *(cases[name][n] for name in shared)] for n in counts], "y")
    if found["plan"]:
        cases = sorted({r["case"] for r in found["plan"]})
        at = {(r["case"], r["workers"]): r["seconds_median"] * 1e6 for r in found["plan"]}
        yield "Plans", plotted(folder, "plan", "One worker plans a repartition", ("workers", "microseconds"), cases,
                               [[n, *(at.get((c, n)) for c in cases)] for n in sorted({n for _, n in at})], "xy")


def release(file, numbers):
    """Writes this version's line into the file. Returns the results that are worse by more than a tenth than in the
    line before of the same kind (with or without --quick)."""
    quick = "--quick" in sys.argv
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    lines = [line for line in lines if (line["version"], line["quick"]) != (version(), quick)]
    before = next((line for line in reversed(lines) if line["quick"] == quick), None)
    lines.append({"version": version(), "date": datetime.date.today().isoformat(), "quick": quick,
                  **{name: round(value, 3) for name, value, _ in numbers}})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name, value, more_is_better in numbers if before else ():
        old = before.get(name)
        if old and (old / value if more_is_better else value / old) > 1.1:
            yield f"{name}: {value:.3g}, was {old:.3g} in {before['version']}"


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    found = rows_of(folder)
    numbers = [n for n in figures(found) if n[1]]
    shown = collections.defaultdict(list)
    for section, plot in plots(folder, found):
        shown[section].append(plot)
    out = ["# Performance, as measured by `bench/run --all --report`\n", "| | |\n|---|---|"]
    out += [f"| {what} | {value} |" for what, value in machine()]
    out += ["\nMedians of runs in turn within one program; a ratio compares with a peer of the same run. A case of which "
            "another program disturbed every sample is left out.\n",
            "| in short (geometric means) | | better is |\n|---|---|---|"]
    out += [f"| {name} | {value:.3g} | {'more' if more else 'less'} |" for name, value, more in numbers]
    tables = {"Repartition": "repartition", "Collectives": "collectives", "Linear layer": "linear", "Plans": "plan"}
    first = ["Repartition", "Scaling", "Collectives", "Linear layer", "Plans"]
    others = {re.sub(r"(-\d+)?\.json$", "", file.name) for file in folder.glob("*.json")} - set(tables.values())
    for section in [*first, *sorted(others)]:
        name = re.escape(tables.get(section, section))
        files = sorted(file for file in folder.glob("*.json") if re.fullmatch(rf"{name}(-\d+)?\.json", file.name))
        if not files and not shown[section]:
            continue
        out += [f"\n## {section}\n", *shown[section]]
        if files:
            done = subprocess.run([sys.executable, HERE / "rows.py", *files, "--markdown"], capture_output=True, text=True)
            out.append(done.stdout if done.returncode == 0 else f"No table: {done.stderr.strip().splitlines()[-1]}\n")
    worse = []
    if "--release" in sys.argv:
        worse = list(release(pathlib.Path(sys.argv[sys.argv.index("--release") + 1]), numbers))
        out += ["\n## Against the release before\n", *(worse or ["Nothing is more than a tenth slower."])]
    (folder / "report.md").write_text("\n".join(out) + "\n")
    for sentence in worse:
        print(sentence)
    print(f"{len(numbers)} figures, {sum(1 for s in shown.values() for p in s if p)} plots: {folder}/report.md")


if __name__ == "__main__":
    main()
