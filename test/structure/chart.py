#!/usr/bin/env python3
"""chart.py [--update] SOURCE_ROOT: the chart of the README is drawn from the table of docs/performance.md: five
repartitions, four ways, lower is better. With --update it is drawn anew. Bars differ by how dark they are, and the
letters are large enough for a phone."""
import pathlib
import re
import sys
from xml.sax.saxutils import escape

TABLE = "2 workers, far:"
CASES = {
    "2048^2, 2 workers": "2048 × 2048, rows to columns",
    "uneven 1021 x 2039 and read, 2 workers": "1021 × 2039, rows to columns, then read",
    "scatter 2048^2, 2 workers": "2048 × 2048, from one worker to both",
    "transpose 4096^2, 2 workers": "4096 × 4096, transposed",
    "8192^2, 2 workers": "8192 × 8192, rows to columns",
}
SERIES = (("#0b3c6f", "partita"), ("#5b8fd6", "partita, result in ordinary memory"), ("#d9d9d9", "memcpy of the same bytes"),
          ("#c55f00", "fastest of MPI, PETSc, ScaLAPACK, FFTW"))
WIDTH, BAR, LEFT = 620, 20, 16


def measured(page):
    text = page.read_text()
    rows = text[text.index(TABLE):].split("\n\n")[1].splitlines()[2:]
    for row in rows:
        case, _, ours, heap, peer, *_ = (cell.strip() for cell in row.strip("|").split("|"))
        if case in CASES:
            name, ratio = re.fullmatch(r"(.*) ([\d.]+)", peer).groups()
            yield CASES[case], (float(ours), float(heap), 1.0, float(ratio)), name


def drawn(page):
    rows = list(measured(page))
    date = re.search(r"^Medians of ([\d-]+) on the machine above with nothing else running", page.read_text(), re.M)[1]
    # the longest bar leaves room for its number and its name, in a font as wide as DejaVu Sans
    beside = max(len(f"{max(values):g}  {peer}") for _, values, peer in rows) * 15 * 0.62
    scale = (WIDTH - LEFT - 16 - beside) / max(max(values) for _, values, _ in rows)
    out, y = [], 26

    def words(x, at, what, size=16, weight="normal"):
        out.append(f'<text x="{x:g}" y="{at:g}" font-size="{size}" font-weight="{weight}">{escape(what)}</text>')

    words(LEFT, y, "Time of a repartition over a memcpy: lower is better", 18, "bold")
    for colour, name in SERIES:
        y += 24
        out.append(f'<rect x="{LEFT}" y="{y - 13}" width="22" height="15" fill="{colour}" stroke="#222222"/>')
        words(LEFT + 32, y, name)
    y += 14
    for title, values, peer in rows:
        y += 30
        words(LEFT, y, title, weight="bold")
        y += 8
        for (colour, name), value in zip(SERIES, values):
            out.append(f'<rect x="{LEFT}" y="{y}" width="{value * scale:.1f}" height="{BAR - 2}" fill="{colour}" '
                       'stroke="#222222"/>')
            words(LEFT + value * scale + 8, y + 14, f"{value:g}" + (f"  {peer}" if name.startswith("fastest") else ""), 15)
            y += BAR
    y += 30
    words(LEFT, y, "2 workers on 2 cores without a common cache, AMD EPYC (Zen 4), Open MPI 4.1,", 14)
    words(LEFT, y + 20, f"float32, medians of {date}, nothing else running", 14)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 36}" width="{WIDTH}" height="{y + 36}" '
            'font-family="sans-serif" fill="#111111">\n<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(out) + "\n</svg>\n")


def main():
    root = pathlib.Path([a for a in sys.argv[1:] if a != "--update"][0]).resolve()
    picture = root / "docs" / "measured" / "chart.svg"
    now = drawn(root / "docs" / "performance.md")
    if "--update" in sys.argv:
        picture.write_text(now)
    if not picture.is_file() or picture.read_text() != now:
        sys.exit("docs/measured/chart.svg is not what docs/performance.md says; "
                 "'test/structure/chart.py --update .' draws it anew")


if __name__ == "__main__":
    main()
