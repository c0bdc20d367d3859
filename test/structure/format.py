#!/usr/bin/env python3
"""format.py SOURCE_ROOT: the C++ is as clang-format 16 leaves it (.clang-format says how), and no line of C++, nor of a
page but in a table, a link to a picture or quoted code, is longer than 120 columns."""
import pathlib
import re
import shutil
import subprocess
import sys

FOLDERS = ("include", "test", "examples", "bench", "tools")
MOST = 120


def long_lines(file):
    fenced = False
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if file.suffix == ".md":
            fenced ^= line.lstrip().startswith("```")
            if fenced or re.match(r" *(\||!\[|\[[^\]]*\]: |<)", line):
                continue
        if len(line) > MOST:
            yield f"{number}: {len(line)} columns, and {MOST} is the limit"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    code = sorted(f for folder in FOLDERS for f in (root / folder).rglob("*") if f.suffix in (".hpp", ".ipp", ".cpp", ".inc"))
    pages = sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.md")])
    if not code or not pages:
        sys.exit(f"{root}: no code or no pages")
    failures = [f"{f.relative_to(root)}:{what}" for f in code + pages for what in long_lines(f)]
    formatter = shutil.which("clang-format-16")
    if formatter is None:
        failures.append("there is no clang-format-16; apt-get install clang-format-16 (test/run does)")
    else:
        formatted = [str(f) for f in code if f.suffix != ".inc"]  # what it takes for the language of .inc is not C++
        done = subprocess.run([formatter, "--dry-run", "-Werror", *formatted], capture_output=True, text=True)
        failures += sorted(set(re.findall(r"^(?:.*/)?((?:include|test|examples|bench|tools)/\S+?):\d+:\d+: error", done.stderr, re.M)))
        if done.returncode != 0:
            failures.append("clang-format-16 would change these files; `git ls-files '*.hpp' '*.ipp' '*.cpp' | xargs clang-format-16 -i`")
    for failure in failures:
        print(failure)
    print(f"{len(code)} files of code, {len(pages)} pages")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
