#!/usr/bin/env python3
"""explain.py [--update] PROGRAM GOLDEN MAN_PAGE: what partita-explain prints is what GOLDEN says, line for line; its
pictures are XML; every option that it understands is in the man page and in --help, and no other. With --update GOLDEN
is written anew: read it before it is kept."""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# What each picture must say, and what it must not: the operation that was named, from where to where, and its layouts.
DRAWN = {
    "broadcast 1x3 2x3": (["p_x, 1 × 3", "p_y, 2 × 3", "broadcast copies", "x₁ goes to workers 1, 4"], ["sum_reduce"]),
    "broadcast 3 3x2 --transpose-dest --transpose-src": (["p_x, 3, transposed", "p_y, 3 × 2, transposed"], ["sum_reduce"]),
    "sum_reduce 4x3 3": (["p_x, 4 × 3", "p_y, 3", "sum_reduce sums", "y₀ = x₀ + x₃ + x₆ + x₉"], ["broadcast"]),
    "sum_reduce 4x3 3x4 --transpose-src": (["p_x, 4 × 3, transposed", "p_y, 3 × 4", "y₅ = x₅"], ["broadcast"]),
    "sum_reduce 4x3 3x4 --transpose-dest": (["p_x, 4 × 3", "p_y, 3 × 4, transposed"], ["broadcast"]),
    "repartition 3x3 4x4 --tensor 12x12": (["x, 12 × 12, on 3 × 3", "y, 12 × 12, on 4 × 4", "repartition"], []),
    "repartition 3x3 4x4 --tensor 12x12 --worker 5": (["worker 5, tensor 12 x 12"], ["worker 0, tensor"]),
    "repartition 2x1x2 1x3x1": (["on 2 × 1 × 2", "on 1 × 3 × 1"], []),
    "linear 1x4 1x3@4 3x4": (["x on p_x, 1 × 4", "y on p_y, 1 × 3", "W on p_w, 3 × 4"], []),
    'sharding "bmk,kn->bmn" 8x128x64@data,,model 64x256@,model':
        (["operand 0 [8, 128, 64]", "(data, , model)", "all_gather model of operand 0", "result 0 of bmk,kn->bmn"], []),
    'sharding "bmk,kn->bmn" 8x128x64 64x256 --result 8x128x256@data,,model --backward':
        (["(data, , )", "(, model)", "(data, , model)"], ["all_gather"]),
    'sharding "bmk,kn->bmn" 8x128x64@,,model 64x256@model, --result 8x128x256@,,':
        (["(, , ) partial sum over model", "then slice data, all_reduce model, all_gather data of result 0"], []),
    'sharding "abc,ab,b->c" 8x8x8@data,, 8x8 8': (["operand 2 [8]", "(data, )", "partial sum over data"], ["then"]),
}

REFUSED = {
    "broadcast 1x3 4x3 --transpose-dest": (["p_y, 4 × 3, transposed", "broadcast", "neither 1 nor equal"], ["sum_reduce"]),
    "broadcast 2x2 2": (["p_x, 2 × 2", "p_y, 2", "use sum_reduce"], []),
    "sum_reduce 2x3 4x2x2": (["p_x, 2 × 3", "p_y, 4 × 2 × 2", "sum_reduce", "use broadcast"], []),
    "sum_reduce 4x3 2": (["p_x, 4 × 3", "p_y, 2", "3 against 2, neither 1 nor equal"], ["broadcast"]),
}


def run(program, words):
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return f"{done.stdout}[exit code {done.returncode}]\n"


def differences(program, golden, update):
    commands = [line[2:] for line in golden.read_text().splitlines() if line.startswith("$ ")]
    fresh = "\n".join(f"$ {command}\n{run(program, shlex.split(command)[1:])}" for command in commands)
    if update:
        golden.write_text(fresh)
    for number, (now, kept) in enumerate(zip(fresh.splitlines() + [""], golden.read_text().splitlines() + [""]), 1):
        if now != kept:
            yield f"{golden.name}:{number}: says '{kept}', the program prints '{now}'"
            return
    if len(fresh) != len(golden.read_text()):
        yield f"{golden.name}: the program prints more, or less"


def wrong_pictures(program):
    with tempfile.TemporaryDirectory() as folder:
        for command, (there, absent) in {**DRAWN, **REFUSED}.items():
            file = pathlib.Path(folder) / "picture.svg"
            file.unlink(missing_ok=True)
            done = subprocess.run([program, *shlex.split(command), "--svg", file], stdout=subprocess.DEVNULL, timeout=60)
            if done.returncode != (command in REFUSED) or not file.exists():
                yield f"{command} --svg draws nothing"
                continue
            root = xml.etree.ElementTree.parse(file).getroot()
            words = "\n".join(e.text or "" for e in root.iter() if e.tag.endswith("}text"))
            for one in there:
                if one not in words:
                    yield f"{command} --svg does not say '{one}'"
            for one in absent:
                if one in words:
                    yield f"{command} --svg says '{one}', which it does not do"


def undocumented(program, man_page):
    options = set(re.findall(r'"(--[a-z-]+)"', "".join(
        f.read_text() for f in [*man_page.parent.glob("explain/*.hpp"), man_page.with_suffix(".cpp")])))
    for name, text in (("the man page", man_page.read_text().replace("\\-", "-")),
                       ("--help", subprocess.run([program, "--help"], capture_output=True, text=True).stdout)):
        told = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", text))
        if told != options:
            yield f"{name} and the program differ in {sorted(told ^ options)}"


def main():
    update = "--update" in sys.argv
    program, golden, man_page = (pathlib.Path(a).resolve() for a in sys.argv[1:] if a != "--update")
    failures = [*differences(program, golden, update), *wrong_pictures(program), *undocumented(program, man_page)]
    print("\n".join(failures) or "as it was read")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
