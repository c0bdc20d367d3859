#!/usr/bin/env python3
"""pictures.py SOURCE_ROOT [EXPLAIN] | --self-test: all text of every SVG of the repository can be read.

No text reaches out of the view, no two texts overlap, and no text is wider than the box it is centred in. The contrast
of a text with the box that it stands on, or with white, is 4.5 or more, and every picture has a background, so that it
can be read on a dark page. With EXPLAIN, the program partita-explain, the pictures that it draws of typical and of
large calls are checked as well. Widths are those of DejaVu Sans, one of the widest fonts that a reader may have."""
import itertools
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# widths of the characters from ' ' to '~' in thousandths of the font size
NORMAL = [int(w) for w in """318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636 636 636 636 636 636
    636 636 337 337 838 838 838 531 1000 684 686 698 770 632 575 775 752 295 295 656 557 863 748 787 603 787 695 635 611 732 684
    989 685 611 685 390 337 390 838 500 500 613 635 550 635 615 352 635 634 278 278 579 278 974 634 612 635 635 411 521 392 634
    592 818 592 592 525 636 337 636 838""".split()]
BOLD = [int(w) for w in """348 456 521 838 696 1002 872 306 457 457 523 838 380 415 380 365 696 696 696 696 696 696 696 696 696
    696 400 400 838 838 838 580 1000 774 762 734 830 683 683 821 837 372 372 775 637 995 837 850 733 850 770 720 682 812 774 1103
    771 724 725 457 365 457 838 500 500 675 716 593 716 678 435 716 712 343 343 665 343 1042 712 687 716 716 493 595 478 712 652
    924 645 652 582 712 365 712 838""".split()]
SUBSCRIPT, MONOSPACED, OTHER = 438, 602, 838
CALLS = ["broadcast 1x3 2x3", "broadcast 1x1x3 4x4x3", "broadcast 1 2x3x4", "broadcast 3x1 3x4@12", "broadcast 2x3 3x4", "broadcast 1x3 3x1",
         "sum_reduce 2x3 1x3", "sum_reduce 4x4x3 1x1x3", "sum_reduce 3x4 1", "sum_reduce 3x4 2x4",
         "repartition 3x4 4x2 --tensor 12x12", "repartition 5 3 --tensor 17", "repartition 2x2x2 1x2x3@8 --tensor 6x7x8",
         "repartition 1x1x1x4 2x2x1x1 --tensor 2x2x4x8", "repartition 8x8 16x4 --tensor 4096x4096", "linear 1x4 1x3 3x4",
         "linear 1x4 1x3 3x4 --batch 128 --in 100000 --out 100000", "linear 2x4 2x3 3x4 --batch 64",
         "sharding bmk,kn->bmn 8x128x64@data,, 64x256@,model --mesh data=2,model=4",
         "sharding bmk,kn->bmn 8x128x64@data,,model 64x256@model, --mesh data=2,model=4 "
         "--result 8x128x256@data,,model --backward",
         "pipeline 4 8", "pipeline 4 8 --groups 2 --order interleaved", "pipeline 16 64 --order zero_bubble",
         "sharding bshd,bthd->bhst 16x1024x32x64@data,,, 16x1024x32x64@data,,model, --mesh data=4,model=8"]


# words of the axes, units and legends of pictures that need them
LABELS = {
    "docs/measured/simulated-fast.svg": ["microseconds", "workers", "partita"],
    "docs/measured/simulated-slow.svg": ["microseconds", "workers", "partita"],
    "docs/measured/repartition.svg": ["time / memcpy"], "docs/measured/chart.svg": ["Time of a repartition over a memcpy"],
    "docs/figures/step.svg": ["computes", "communicates", "updates", "time, bytes", "memory", " us"],
    "partita-explain repartition 2x2x2": ["down: dimensions 0 and 1", "across: dimension 2", "colour of the worker"],
    **{f"docs/figures/{name}": ["colour of the worker", "its label names the worker"] for name in
       ("repartition", "gather", "middle", "index-exchange", "reference/repartition", "reference/scatter", "reference/gather")},
}


def width(text, size, bold, code):
    table = BOLD if bold else NORMAL
    one = (lambda c: MONOSPACED) if code else (
        lambda c: table[ord(c) - 32] if 32 <= ord(c) < 127 else SUBSCRIPT if c in "₀₁₂₃₄₅₆₇₈₉·" else OTHER)
    return sum(map(one, text)) * size / 1000


def elements(node, at=(1, 0, 0, 1, 0, 0), style=None):
    """The elements of a drawing with their transformations and their inherited styles."""
    own = {k: v for k, v in node.attrib.items() if k.startswith(("font-", "text-")) or k in ("x", "y", "fill")}
    style = {**(style or {}), **own}
    for kind, numbers in re.findall(r"(\w+)\(([^)]*)\)", node.get("transform", "")):
        n = [float(v) for v in re.split(r"[ ,]+", numbers.strip())]
        a, b, c, d, e, f = at
        if kind == "translate":
            x, y = n[0], n[1] if len(n) > 1 else 0
            at = (a, b, c, d, a * x + c * y + e, b * x + d * y + f)
        elif kind == "rotate":
            cos, sin = math.cos(math.radians(n[0])), math.sin(math.radians(n[0]))
            at = (a * cos + c * sin, b * cos + d * sin, c * cos - a * sin, d * cos - b * sin, e, f)
    yield node, at, style
    for child in node:
        yield from elements(child, at, style)


def box_of(at, x0, y0, x1, y1):
    a, b, c, d, e, f = at
    xs, ys = [a * x + c * y + e for x in (x0, x1) for y in (y0, y1)], [b * x + d * y + f for x in (x0, x1) for y in (y0, y1)]
    return min(xs), min(ys), max(xs), max(ys)


def luminance(colour):
    parts = [int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """The contrast of two colours, #rrggbb or black, as WCAG defines it; 0 of any other colour, which is refused."""
    colours = ["#000000" if colour == "black" else colour for colour in (one, other)]
    if not all(re.fullmatch("#[0-9a-fA-F]{6}", colour) for colour in colours):
        return 0
    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


def errors_of(svg):
    root = xml.etree.ElementTree.fromstring(svg)
    left, top, wide, high = (float(v) for v in root.get("viewBox").split())
    texts, boxes = [], []
    for node, at, style in elements(root):
        tag, fill = node.tag.split("}")[-1], style.get("fill", "#000000")
        if tag == "rect" and "%" not in node.get("width", "%"):
            x, y = float(node.get("x", 0)), float(node.get("y", 0))
            boxes.append((*box_of(at, x, y, x + float(node.get("width")), y + float(node.get("height"))), fill))
        elif tag == "rect" and node.get("width") == "100%":
            boxes.append((left, top, left + wide, top + high, fill))
        if tag == "circle" and node.get("cx"):
            x, y, r = (float(node.get(k)) for k in ("cx", "cy", "r"))
            boxes.append((*box_of(at, x - r, y - r, x + r, y + r), fill))
        words = "".join(node.itertext()).strip() if tag == "text" else ""
        if not words:
            continue
        size = float(style.get("font-size", 16))
        w = width(words, size, style.get("font-weight") == "bold", "Mono" in style.get("font-family", ""))
        x, y = float(node.get("x", 0)), float(node.get("y", 0))
        x -= {"middle": w / 2, "end": w}.get(style.get("text-anchor"), 0)
        own = x, y - 0.72 * size, x + w, y + 0.1 * size
        # oblique texts are compared with each other only, along their own direction
        angle = round(math.degrees(math.atan2(at[1], at[0])))
        along = box_of(at, *own)
        if angle % 90:
            cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            e, f = cos * at[4] + sin * at[5], cos * at[5] - sin * at[4]
            along = (own[0] + e, own[1] + f, own[2] + e, own[3] + f)
        texts.append((words, style.get("text-anchor"), box_of(at, *own), angle if angle % 90 else 0, along))
        x0, y0, x1, y1 = texts[-1][2]
        cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
        under = [b[4] for b in boxes if b[4] != "none" and b[0] <= cx <= b[2] and b[1] <= cy <= b[3]]
        ground = under[-1] if under else "#ffffff"
        if contrast(fill, ground) < 4.5:
            yield f"'{words}' is hardly seen: {fill} on {ground}"
    if not any(b[0] <= left and b[1] <= top and b[2] >= left + wide and b[3] >= top + high for b in boxes):
        yield "has no background"
    for words, anchor, (x0, y0, x1, y1), *_ in texts:
        if x0 < left - 1 or y0 < top - 1 or x1 > left + wide + 1 or y1 > top + high + 1:
            yield f"'{words}' reaches out of the view"
        if anchor == "middle":
            cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
            around = [b for b in boxes if b[0] <= cx <= b[2] and b[1] <= cy <= b[3]]
            own = min(around, key=lambda b: (b[2] - b[0]) * (b[3] - b[1]), default=None)
            if own and (own[2] - own[0] < x1 - x0 - 1 or own[3] - own[1] < y1 - y0 - 2):
                yield f"'{words}' is larger than its box"
    for (a, _, _, m, p), (b, _, _, n, q) in itertools.combinations(texts, 2):
        if m == n and p[0] + 1 < q[2] and q[0] + 1 < p[2] and p[1] + 1 < q[3] and q[1] + 1 < p[3]:
            yield f"'{a}' and '{b}' overlap"


def self_test():
    head = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50" font-size="10">'
            '<rect width="100" height="50" fill="#ffffff"/>')
    planted = {'<text x="5" y="20">fits</text>': 0, '<text x="5" y="20">far too long for this view</text>': 1,
               '<text x="5" y="4">high</text>': 1, '<text x="5" y="20">one</text><text x="12" y="22">two</text>': 1,
               '<text x="5" y="20">one</text><text x="5" y="32">two</text>': 0,
               '<text x="5" y="20" fill="#717c88">pale</text>': 1, '<text x="5" y="20" fill="grey">named</text>': 1,
               '<rect width="50" height="50" fill="#101010"/><text x="5" y="20">dark</text>': 1,
               '<rect x="5" y="10" width="20" height="14" fill="none"/>'
               '<text x="15" y="20" text-anchor="middle">wide</text>': 1,
               '<g transform="translate(20,45) rotate(-90)"><text>upward</text></g>': 0,
               '<g transform="translate(20,20) rotate(-90)"><text>upward</text></g>': 1,
               '<g transform="translate(5,10) rotate(20)"><text>one</text></g><g transform="translate(5,24) rotate(20)">'
               '<text>two</text></g>': 0,
               '<g transform="translate(5,10) rotate(20)"><text>one</text></g><g transform="translate(7,12) rotate(20)">'
               '<text>two</text></g>': 1}
    wrong = [body for body, count in planted.items() if len(list(errors_of(head + body + "</svg>"))) != count]
    for body in wrong:
        print(list(errors_of(head + body + "</svg>")), body)
    sys.exit(len(wrong) > 0)


def main():
    if "--self-test" in sys.argv:
        self_test()
    root = pathlib.Path(sys.argv[1]).resolve()
    svgs = {f.relative_to(root).as_posix(): f.read_text() for f in sorted((root / "docs").rglob("*.svg"))}
    if len(sys.argv) > 2:
        with tempfile.TemporaryDirectory() as folder:
            for call in CALLS:
                picture = pathlib.Path(folder) / "picture.svg"
                picture.unlink(missing_ok=True)
                run = subprocess.run([sys.argv[2], *call.split(), "--svg", picture], capture_output=True, text=True)
                if run.returncode > 1:
                    print(f"partita-explain {call}: {run.stderr.strip()}")
                    sys.exit(1)
                if picture.exists():
                    svgs[f"partita-explain {call} --svg"] = picture.read_text()
    count = 0
    for name, svg in svgs.items():
        found = list(errors_of(svg))
        for start, labels in LABELS.items():
            words = " ".join(xml.etree.ElementTree.fromstring(svg).itertext()) if name.startswith(start) else None
            found += [f"does not say '{label}'" for label in labels if words is not None and label not in words]
        count += len(found)
        for error in found[:8]:
            print(f"{name}: {error}")
        if len(found) > 8:
            print(f"{name}: and {len(found) - 8} more")
    print(f"{len(svgs)} pictures")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
