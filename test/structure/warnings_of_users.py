#!/usr/bin/env python3
"""warnings_of_users.py BUILD_DIR: the front door compiles without the warnings that users ask for and we do not use
elsewhere."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from compiles import recorded_command

WARNINGS = ["shadow", "old-style-cast", "sign-conversion"]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    probe = pathlib.Path(__file__).resolve().parent.parent / "support" / "every_header.cpp"
    command = [*recorded_command(build, probe), *(f"-W{w}" for w in WARNINGS), *(f"-Werror={w}" for w in WARNINGS)]
    done = subprocess.run([*command, "-x", "c++", "-"], cwd=build, input="#include <partita/partita.hpp>\n",
                          capture_output=True, text=True)
    print(done.stderr, end="")
    print(f"{int(done.returncode == 0)} passed, {int(done.returncode != 0)} failed, 0 skipped")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
