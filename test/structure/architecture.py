#!/usr/bin/env python3
"""architecture.py [--update] SOURCE_ROOT: the picture of the rooms in docs/architecture.md is what the includes of the
library make today: who includes whom, how often. With --update the picture is drawn anew."""
import pathlib
import re
import sys
from xml.sax.saxutils import escape

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from rooms import KNOWS, includes

QUESTIONS = {
    "core": "what is a shape, an index, a box, an error?",
    "rule": "is it legal, and what shape comes out?",
    "plan": "who sends which box to whom, at what cost?",
    "explain": "how do I show a verdict or a plan to a person?",
    "array": "what do we ask of an array?",
    "comm": "how do bytes get from worker to worker?",
    "kernel": "which linear operator is it?",
    "nn": "what does it take to train a network?",
    "sharded": "a global tensor as one typed value",
    "io": "how does a tensor become a file?",
}
ROW, LEFT, CELL, TOP = 44, 430, 62, 96


def graph(root):
    """The number of headers in each room, and of includes from room to room."""
    library = root / "include" / "partita"
    sizes, arrows = {}, {}
    for file in sorted([*library.rglob("*.hpp"), *library.rglob("*.ipp")]):
        path = file.relative_to(library)
        if len(path.parts) == 1:
            continue
        room = path.parts[0]
        sizes[room] = sizes.get(room, 0) + (file.suffix == ".hpp")
        for _, system, _ in includes(file):
            found = re.match(r"partita/(\w+)/", system or "")
            if found and found[1] != room:
                arrows[room, found[1]] = arrows.get((room, found[1]), 0) + 1
    return sizes, arrows


def picture(root):
    sizes, arrows = graph(root)
    rooms = [room for room in KNOWS if room in sizes]
    width, height = LEFT + CELL * len(rooms) + 24, TOP + ROW * len(rooms) + 56
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="13">',
           f'<rect x="0" y="0" width="{width}" height="{height}" fill="#ffffff"/>',
           '<text x="16" y="28" font-size="16" fill="#1a1a1a">The rooms of partita, and what each includes of the others'
           '</text>']
    for k, room in enumerate(rooms):
        x, y = LEFT + CELL * k + CELL / 2, TOP - 14
        out.append(f'<text x="{x:g}" y="{y}" text-anchor="middle" fill="#444444">{room}</text>')
    for k, room in enumerate(rooms):
        y = TOP + ROW * k
        pure = "plan" in KNOWS[room] and room == "explain" or room in ("core", "rule", "plan")
        out.append(f'<rect x="16" y="{y}" width="{LEFT - 32}" height="{ROW - 6}" rx="4" '
                   f'fill="{"#e8f1fa" if pure else "#fdf0e3"}" stroke="#b8b8b8"/>')
        out.append(f'<text x="28" y="{y + 17}" font-weight="bold" fill="#1a1a1a">{room}/</text>')
        out.append(f'<text x="{LEFT - 28}" y="{y + 17}" text-anchor="end" fill="#555555">{sizes[room]} '
                   'headers</text>')
        out.append(f'<text x="28" y="{y + 33}" font-size="12" fill="#333333">{escape(QUESTIONS[room])}</text>')
        for other, below in enumerate(rooms):
            x, middle = LEFT + CELL * other, y + (ROW - 6) / 2
            if below == room:
                out.append(f'<rect x="{x + 6}" y="{y}" width="{CELL - 12}" height="{ROW - 6}" fill="#d9d9d9"/>')
            elif (room, below) in arrows:
                out.append(f'<circle cx="{x + CELL / 2:g}" cy="{middle:g}" r="15" fill="#4477aa"/>')
                out.append(f'<text x="{x + CELL / 2:g}" y="{middle + 5:g}" text-anchor="middle" fill="#ffffff">'
                           f'{arrows[room, below]}</text>')
            elif below in KNOWS[room]:
                out.append(f'<circle cx="{x + CELL / 2:g}" cy="{middle:g}" r="4" fill="#b8b8b8"/>')
    has_dots = any(below in rooms and (room, below) not in arrows for room in rooms for below in KNOWS[room])
    dots = "A small dot: allowed, and not used. " if has_dots else ""
    out.append(f'<text x="16" y="{TOP + ROW * len(rooms) + 24}" fill="#333333">A number: so many includes of that room. '
               f'{dots}Nothing: refused by a test.</text>')
    out.append(f'<text x="16" y="{TOP + ROW * len(rooms) + 42}" fill="#333333">Blue rooms are pure: no MPI, no array, '
               'no communication.</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    root = pathlib.Path([a for a in sys.argv[1:] if a != "--update"][0]).resolve()
    file = root / "docs" / "architecture.svg"
    drawn = picture(root)
    if "--update" in sys.argv:
        file.write_text(drawn)
    elif not file.is_file() or file.read_text() != drawn:
        sys.exit(f"{file.name} is not what the includes make; 'test/structure/architecture.py --update .' draws it anew")
    print(f"{len(graph(root)[1])} arrows")


if __name__ == "__main__":
    main()
