#!/usr/bin/env python3
"""spelling.py SOURCE_ROOT: codespell finds no misspelt word in what people read: pages, comments, sentences,
scripts."""
import pathlib
import shutil
import subprocess
import sys

FOLDERS = ["README.md", "CHANGELOG.md", "docs", "examples", "include", "test", "bench", "tools", "cmake"]
# words that are meant: names in other systems' records, short names in formulas
MEANT = "hart,indx,ser,nd,ro,ue,te,fo,som,inout,parm,unparseable,ois"
SKIPPED = "*.svg,*.json,*/records/*,*/corpus/*,*/data/*,*.npy,*.pyc"


def main():
    root = pathlib.Path(sys.argv[1])
    if shutil.which("codespell") is None:
        print("apt-get install codespell")
        sys.exit(77)
    done = subprocess.run(["codespell", "--ignore-words-list", MEANT, "--skip", SKIPPED, "--quiet-level", "2",
                           *[str(root / f) for f in FOLDERS]], capture_output=True, text=True)
    print(done.stdout + done.stderr)
    sys.exit(done.returncode != 0)


if __name__ == "__main__":
    main()
