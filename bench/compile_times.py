#!/usr/bin/env python3
"""compile_times.py [--update] [--rounds N] [--compilers NAME...] SOURCE_ROOT BUILD_DIR BEFORE: the cost of compiling
first uses of the library: user seconds, peak memory and bytes of the object. It compares the headers of the commit
BEFORE (with the core if that commit had one), the present headers alone, and the compiled core; the figures are medians
over rounds in which all of these take turns. With --update the tables of docs/compile-cost.md, between their markers,
are made again. This is not a test, because seconds do not repeat. No other program should run at the same time."""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "structure"))
from compile_cost import WAYS, flags

MARKERS = ("<!-- made by bench/compile_times.py -->\n\n", "\n<!-- so far bench/compile_times.py -->\n")
SIDES = ("before", *WAYS)
FRONT = "#include <partita/partita.hpp>\n"
# the headers of other libraries that every program of partita includes
ELSEWHERE = """#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <xtensor/{0}xtensor.hpp>
#include <xtensor/{1}xview.hpp>
"""
BROADCAST = """
auto spread(const partita::world& w, const xt::xtensor<{0}, {1}>& x) {{
  const partita::broadcast b(w.partition<{2}1>(), w.partition<{2}4>());
  return b.adjoint(b(x));
}}
"""
REPARTITION = """
auto move(const partita::world& w, const xt::xtensor<{0}, {1}>& x) {{
  const partita::repartition r(w.partition<{2}1, 4>(), w.partition<{2}4, 1>());
  return r.adjoint(r(x));
}}
"""
PLANE, DOUBLES, CUBE = ("float", 2, ""), ("double", 2, ""), ("float", 3, "1, ")
CHECK, OPTIMISED = ["-fsyntax-only"], ["-O2", "-c", "-o", "FOLDER/a.o"]


def programs_of(root):
    """The rows of the table: the name of a program, its text, and the options with which it is compiled."""
    sharded = (root / "test/structure/programs/5_sharded_network.cpp").read_text()
    return {
        "the front door, `-fsyntax-only`": (FRONT, CHECK),
        "the front door": (FRONT, OPTIMISED),
        "a first broadcast with its adjoint": (FRONT + BROADCAST.format("float", 2, "1, "), OPTIMISED),
        "a first repartition with its adjoint": (FRONT + REPARTITION.format(*PLANE), OPTIMISED),
        "the same, and another element type": (FRONT + REPARTITION.format(*PLANE) + REPARTITION.format(*DOUBLES), OPTIMISED),
        "the same, and another rank": (FRONT + REPARTITION.format(*PLANE) + REPARTITION.format(*CUBE), OPTIMISED),
        "a sharded network of two layers with its gradient": (sharded, OPTIMISED),
        "LeNet (`examples/18_lenet.cpp`)": ('#define DIGITS_DATA ""\n' + (root / "examples/18_lenet.cpp").read_text(), OPTIMISED),
    }


def own_flags(build, root, include):
    """The flags of the build, with another include folder in place of the include folder of the library."""
    kept = [f for f in flags(build) if not (f.startswith("-I") and (build / f[2:]).resolve().is_relative_to(root))]
    return [f"-I{include}", *kept]


def taken(compiler, given, text, how, folder, build):
    """User seconds, peak megabytes and kilobytes of the object of one compilation; None if it does not compile."""
    program, made = folder / "a.cpp", folder / "a.o"
    program.write_text(text)
    made.unlink(missing_ok=True)
    with open(folder / "messages", "w") as messages:
        child = subprocess.Popen([compiler, *given, *(h.replace("FOLDER", str(folder)) for h in how), str(program)],
                                 cwd=build, stdout=messages, stderr=messages)
        _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        return None
    return used.ru_utime, used.ru_maxrss / 1024, made.stat().st_size / 1000 if made.exists() else None


def measured(compiler, programs, given, folder, options):
    """The medians of each program with each set of headers; None if the program does not compile with BEFORE."""
    samples = {}
    for _ in range(options.rounds):
        for name, (text, how) in programs.items():
            for side in SIDES:
                found = taken(compiler, given[side], text, how, folder, options.build)
                if found is None and side != "before":
                    raise SystemExit(f"{name} does not compile, {side}:\n{(folder / 'messages').read_text()}")
                samples.setdefault((name, side), []).append(found)
    return {key: None if None in of else tuple(None if None in s else statistics.median(s) for s in zip(*of))
            for key, of in samples.items()}


def lines(compiler, programs, found, unit, options):
    """The table of one compiler."""
    version = subprocess.run([compiler, "-dumpfullversion" if "clang" not in compiler else "-dumpversion"],
                             capture_output=True, text=True).stdout.strip()
    runs = "one run" if options.rounds == 1 else f"medians of {options.rounds} runs"
    yield from textwrap.wrap(f"{compiler} {version}, {runs} of each in turn, `-O2` unless said: user seconds, in parentheses "
                             f"as multiples of {unit:.2f} s, which including xtensor and Boost.MPI alone takes; peak memory; "
                             f"size of the object. Before: {options.before}.", 120)
    yield ""
    what = [f"{head}, {side}" for head in ("s", "MB", "kB") for side in SIDES]
    yield f"| a whole program | {' | '.join(what)} |"
    yield "|---" * (len(what) + 1) + "|"
    for name in programs:
        cells = []
        for k in range(3):
            for side in SIDES:
                value = found[name, side]
                value = value and value[k]
                cells.append("–" if value is None else f"{value:.1f} ({value / unit:.1f})" if k == 0 else f"{value:.0f}")
        yield f"| {name} | {' | '.join(cells)} |"


def tables(options):
    programs = programs_of(options.root)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        archive = subprocess.run(["git", "-C", options.root, "archive", options.before, "include"], check=True,
                                 stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        had_core = (folder / "include/partita/src.hpp").exists()
        before = own_flags(options.build, options.root, folder / "include")
        now = own_flags(options.build, options.root, options.root / "include")
        given = {"before": before + WAYS["the core" if had_core else "headers alone"]} | {w: now + f for w, f in WAYS.items()}
        for compiler in options.compilers:
            nested = subprocess.run([compiler, *now, "-fsyntax-only", "-x", "c++", "-"], cwd=options.build, text=True,
                                    input="#include <xtensor/xview.hpp>\n", capture_output=True).returncode != 0
            elsewhere = ELSEWHERE.format(*(("containers/", "views/") if nested else ("", "")))
            unit = statistics.median(taken(compiler, now, elsewhere, OPTIMISED, folder, options.build)[0]
                                     for _ in range(options.rounds))
            yield "\n".join(lines(compiler, programs, measured(compiler, programs, given, folder, options), unit, options)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compilers", nargs="+", default=["g++", "clang++"])
    for name in ("root", "build"):
        parser.add_argument(name, type=lambda a: pathlib.Path(a).resolve())
    parser.add_argument("before")
    options = parser.parse_args()
    made = "\n".join(tables(options))
    print(made, end="")
    if options.update:
        page = options.root / "docs/compile-cost.md"
        text = page.read_text()
        begin, end = text.index(MARKERS[0]) + len(MARKERS[0]), text.index(MARKERS[1])
        page.write_text(text[:begin] + made + text[end:])


if __name__ == "__main__":
    main()
