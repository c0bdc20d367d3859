#!/usr/bin/env python3
"""compile_times.py [--update] [--rounds N] SOURCE_ROOT BUILD_DIR BEFORE_INCLUDE: what g++ takes for first uses, with the
headers of a state before (its include folder) and with these: user seconds and peak memory, medians over rounds in which
both take turns. With --update the table of docs/compile-cost.md, between its markers, is made anew. No test: seconds do not
repeat. Nothing else should run meanwhile."""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "structure"))
from compile_cost import flags

MARKERS = ("<!-- made by bench/compile_times.py -->\n\n", "\n<!-- so far bench/compile_times.py -->\n")
FRONT = "#include <partita/partita.hpp>\n"
BROADCAST = """
auto spread(const partita::world& w, const xt::xtensor<{0}, {1}>& x) {{
  const partita::broadcast b(w.partition<{2}1>(), w.partition<{2}4>());
  return b(x);
}}
"""
REPARTITION = """
auto move(const partita::world& w, const xt::xtensor<{0}, {1}>& x) {{
  const partita::repartition r(w.partition<{2}1, 4>(), w.partition<{2}4, 1>());
  return r(x);
}}
"""
PLANE, DOUBLES, CUBE = ("float", 2, ""), ("double", 2, ""), ("float", 3, "1, ")
USES = {
    "broadcast": BROADCAST.format("float", 2, "1, "),
    "repartition": REPARTITION.format(*PLANE),
    "two element types": REPARTITION.format(*PLANE) + REPARTITION.format(*DOUBLES),
    "two ranks": REPARTITION.format(*PLANE) + REPARTITION.format(*CUBE),
}


def own_flags(build, root, include):
    """The flags of the build with another include folder first in the place of the library's."""
    kept = [f for f in flags(build) if not (f.startswith("-I") and (build / f[2:]).resolve().is_relative_to(root))]
    return [f"-I{include}", *kept]


def foreign(given, include, build):
    """What the front door includes from elsewhere, as a program of its own."""
    listed = subprocess.run(["g++", *given, "-M", "-x", "c++", "-"], input=FRONT, capture_output=True, text=True, check=True,
                            cwd=build).stdout.replace("\\\n", " ").split()
    ours = [pathlib.Path(f) for f in listed if f.startswith(str(include))]
    others = [f for f in listed if not f.startswith(str(include))]
    named = sorted({n for f in ours for n in re.findall(r"^\s*#\s*include <([^>]+)>", f.read_text(), re.M)})
    return "".join(f"#include <{n}>\n" for n in named
                   if not n.startswith("partita/") and any(f.endswith("/" + n) for f in others))


def taken(given, text, how, folder, build):
    """User seconds and peak megabytes of one compilation."""
    program = pathlib.Path(folder) / "a.cpp"
    program.write_text(text)
    child = subprocess.Popen(["g++", *given, *how, str(program)], cwd=build)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"not compiled with {given[0]}:\n{text}")
    return used.ru_utime, used.ru_maxrss / 1024


def measured(programs, options):
    """The medians of each program of each side."""
    samples = {key: [] for key in programs}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for key, (given, text, how) in programs.items():
                samples[key].append(taken(given, text, [h.replace("FOLDER", folder) for h in how], folder, options.build))
    return {key: tuple(statistics.median(s[k] for s in found) for k in (0, 1)) for key, found in samples.items()}


def lines(found, options, version, commit):
    runs = "one run" if options.rounds == 1 else f"medians of {options.rounds} runs"
    yield f"g++ {version}, {runs} of each in turn, user seconds and peak memory, `-O2` unless said. Before: {commit}."
    yield ""
    yield "| what is compiled | s before | s now | MB before | MB now |"
    yield "|---|---|---|---|---|"

    def row(name, program, less=None):
        cells = []
        for k, form in ((0, "{:.2f}"), (1, "{:.0f}")):
            for side in ("before", "now"):
                value = found[side, program][k] - (found[side, less][k] if less else 0)
                cells.append(form.format(value))
        return f"| {name} | {' | '.join(cells)} |"

    yield row("what the front door includes from elsewhere, `-fsyntax-only`", "foreign")
    yield row("the front door, `-fsyntax-only`", "checked")
    yield row("the front door", "front")
    yield row("a first broadcast, more than the front door", "broadcast", "front")
    yield row("a first repartition, more than the front door", "repartition", "front")
    yield row("the same with another element type, more", "two element types", "repartition")
    yield row("the same with another rank, more", "two ranks", "repartition")
    yield row("front door, broadcast", "broadcast")
    yield row("front door, repartition of two ranks", "two ranks")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    for name in ("root", "build", "before"):
        parser.add_argument(name, type=lambda a: pathlib.Path(a).resolve())
    options = parser.parse_args()
    programs = {}
    for side, include in (("before", options.before), ("now", options.root / "include")):
        given = own_flags(options.build, options.root, include)
        check, optimised = ["-fsyntax-only"], ["-O2", "-c", "-o", "FOLDER/a.o"]
        programs[side, "foreign"] = given, foreign(given, include, options.build), check
        programs[side, "checked"] = given, FRONT, check
        programs[side, "front"] = given, FRONT, optimised
        for name, text in USES.items():
            programs[side, name] = given, FRONT + text, optimised
    programs = dict(sorted(programs.items(), key=lambda p: p[0][1]))  # the two sides of a program one after the other
    found = measured(programs, options)
    version = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    commit = subprocess.run(["git", "-C", options.before, "rev-parse", "--short", "HEAD"], capture_output=True,
                            text=True).stdout.strip() or "unknown"
    made = "\n".join(lines(found, options, version, commit)) + "\n"
    print(made, end="")
    if options.update:
        page = options.root / "docs/compile-cost.md"
        text = page.read_text()
        begin, end = text.index(MARKERS[0]) + len(MARKERS[0]), text.index(MARKERS[1])
        page.write_text(text[:begin] + made + text[end:])


if __name__ == "__main__":
    main()
