#!/usr/bin/env python3
"""measured.py [--update] SOURCE_ROOT: a table of figures on a page is what bench/rows.py makes of the lines kept in
docs/measured. Where a page says

    <!-- bench/rows.py docs/measured/NAME.jsonl -->     | ...     <!-- end -->

the lines between are that table. Every .jsonl in docs/measured must be on a page, and no other end may stand alone.
With --update the tables are made anew."""
import pathlib
import re
import subprocess
import sys

TABLE = re.compile(r"^<!-- bench/rows\.py (?P<file>docs/measured/[\w.-]+) -->\n(?P<text>.*?)^<!-- end -->$", re.M | re.S)


def main():
    update = "--update" in sys.argv
    root = pathlib.Path([a for a in sys.argv[1:] if a != "--update"][0]).resolve()
    failures, shown = [], set()
    for page in sorted((root / "docs").rglob("*.md")):
        text = page.read_text()

        def make(found):
            shown.add(found["file"])
            made = subprocess.run([sys.executable, root / "bench/rows.py", root / found["file"], "--markdown"],
                                  capture_output=True, text=True)
            if made.returncode != 0:
                failures.append(f"{page.relative_to(root)}: {found['file']}: {made.stderr.strip()}")
                return found[0]
            right = "\n" + made.stdout + "\n"
            if found["text"] != right and not update:
                failures.append(f"{page.relative_to(root)}: the table is not what {found['file']} says; "
                                  "'test/structure/measured.py --update .' makes it anew")
            start = found.start("text") - found.start()
            return found[0][:start] + right + found[0][start + len(found["text"]):]

        rewritten = TABLE.sub(make, text)
        if update and rewritten != text:
            page.write_text(rewritten)
    for kept in sorted((root / "docs/measured").glob("*.jsonl")):
        if str(kept.relative_to(root)) not in shown:
            failures.append(f"{kept.relative_to(root)} stands on no page")
    for failure in failures:
        print(failure)
    print(f"{len(shown)} tables")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
