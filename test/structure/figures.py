#!/usr/bin/env python3
"""figures.py [--update] PROGRAM FIGURES_DIR [NAME.svg COMMAND...]...: the figures of the pages are what the program
draws, and a named one what its command draws into a file that it gets as its last argument; without a command it is
kept as it is. Every page shows figures that there are, and every figure is XML whose shapes and words lie inside its
view. With --update the figures are rewritten."""
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def outside(figure):
    """What of a figure is not in its view."""
    root = xml.etree.ElementTree.parse(figure).getroot()
    left, top, width, height = (float(v) for v in root.get("viewBox").split())
    for element in root:
        if element.tag not in (SVG + "rect", SVG + "text"):
            continue
        x, y = float(element.get("x")), float(element.get("y"))
        w, h = float(element.get("width", 0)), float(element.get("height", 0))
        if x < left or y < top or x + w > left + width or y + h > top + height:
            yield f"{element.tag.removeprefix(SVG)} at {x:g}, {y:g}"


def main():
    update = "--update" in sys.argv
    program, folder, *another = (a for a in sys.argv[1:] if a != "--update")
    program, folder = pathlib.Path(program).resolve(), pathlib.Path(folder).resolve()
    failures = []
    with tempfile.TemporaryDirectory() as fresh:
        subprocess.run([program, fresh], check=True, stdout=subprocess.DEVNULL)
        for start, stop in itertools.pairwise([*(k for k, a in enumerate(another) if a.endswith(".svg")), len(another)]):
            name, *command = another[start:stop]
            if command:
                subprocess.run([*command, pathlib.Path(fresh) / name], check=True, stdout=subprocess.DEVNULL)
            else:
                shutil.copy(folder / name, fresh)
        drawn = {f.name: f.read_bytes() for f in sorted(pathlib.Path(fresh).glob("*.svg"))}
    if update:
        folder.mkdir(exist_ok=True)
        for name, content in drawn.items():
            (folder / name).write_bytes(content)
    kept = {f.name: f.read_bytes() for f in sorted(folder.glob("*.svg"))}
    for name in sorted(drawn.keys() | kept.keys()):
        if name not in drawn:
            failures.append(f"no program draws {name}")
        elif kept.get(name) != drawn[name]:
            failures.append(f"{name} is not what its program draws; 'test/structure/figures.py --update "
                              f"PROGRAM docs/figures [NAME.svg COMMAND...]...' rewrites it")
        else:
            failures += [f"{name}: {what} is outside the view" for what in outside(folder / name)]
    root = next(f for f in folder.parents if (f / "README.md").is_file())
    shown = set()
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for name in re.findall(r"!\[[^\]]*\]\(([^)]+\.svg)\)", page.read_text() if page.is_file() else ""):
            figure = (page.parent / name).resolve()
            shown.add(figure.name)
            if not figure.is_file():
                failures.append(f"{page.relative_to(root)} shows {name}, and there is no such figure")
    failures += [f"{name} is shown on no page" for name in sorted(kept.keys() - shown)]
    for failure in failures:
        print(failure)
    print(f"{len(drawn)} figures")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
