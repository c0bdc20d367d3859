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

DRAWN = ["broadcast 1x3 2x3", "broadcast 3 3x2 --transpose-dest --transpose-src", "sum_reduce 4x3 3",
         "repartition 3x3 4x4 --tensor 12x12", "repartition 2x1x2 1x3x1", "linear 1x4 1x3@4 3x4",
         'sharding "bmk,kn->bmn" 8x128x64@data,,model 64x256@,model']

REFUSED = ["broadcast 1x3 4x3 --transpose-dest", "broadcast 2x2 2", "sum_reduce 2x3 4x2x2"]


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
        for command in [*DRAWN, *REFUSED]:
            file = pathlib.Path(folder) / "picture.svg"
            file.unlink(missing_ok=True)
            done = subprocess.run([program, *shlex.split(command), "--svg", file], stdout=subprocess.DEVNULL, timeout=60)
            if done.returncode != (command in REFUSED) or not xml.etree.ElementTree.parse(file).getroot().tag.endswith("svg"):
                yield f"{command} --svg draws nothing"


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
    complaints = [*differences(program, golden, update), *wrong_pictures(program), *undocumented(program, man_page)]
    print("\n".join(complaints) or "as it was read")
    sys.exit(len(complaints) > 0)


if __name__ == "__main__":
    main()
