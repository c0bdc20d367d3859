#!/usr/bin/env python3
"""cost.py INCLUDE_DIR BUILD_DIR: what the pure rooms cost a translation unit that includes all of them.

Judged by what repeats exactly: preprocessed lines, blank ones left out. What a pair of rooms brings in from outside may
be no more than the standard headers that it is allowed, which are preprocessed by the same compiler in the same run;
what it brings of its own has a limit. Seconds are reported beside those of <string>, and not judged: they do not
repeat."""
import itertools
import pathlib
import re
import resource
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from compiles import recorded_command

# rooms: (standard headers allowed, limits of lines of our own: with the compiled core, and from headers alone, which
# include impl/; goal in seconds on the machine where it was set)
ROOMS = {
    ("core", "rule"): (["array", "compare", "cstddef", "cstdint", "exception", "limits", "span", "type_traits", "utility"], (5600, 5600), 0.15),
    ("plan", "explain"): (["array", "compare", "cstddef", "cstdint", "exception", "limits", "span", "type_traits", "utility", "vector"], (8640, 10720), 0.30),
}


def main():
    root, build = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    probe = pathlib.Path(__file__).resolve().parent.parent / "support" / "every_header.cpp"
    command = recorded_command(build, probe)
    # only the language and our folder: what other libraries add to the command line has no place in these rooms
    command = [a for a in command if a == command[0] or a == "ccache" or a.startswith("-std=")] + [f"-I{root}", ""]

    def lines(source):
        """Preprocessed lines that are not blank: from our folder, and from elsewhere."""
        text = subprocess.run([*command, "-E", "-x", "c++", "-"], input=source, capture_output=True, text=True, check=True).stdout
        ours = others = 0
        inside = False
        for line in text.splitlines():
            marker = re.match(r'# \d+ "(.*?)"', line)
            if marker:
                inside = marker[1].startswith(str(root))
            elif line.strip() and not line.startswith("#"):
                ours, others = ours + inside, others + (not inside)
        return ours, others

    def seconds(source):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], input=source, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    passed = failed = 0
    for (rooms, (allowed, limits, goal)), way in itertools.product(ROOMS.items(), ("-DPARTITA_CORE", "-UPARTITA_CORE")):
        alone = way == "-UPARTITA_CORE"
        limit = limits[alone]
        command[-1] = way
        name = " and ".join(f"{room}/" for room in rooms) + (" alone" if alone else " with the core")
        headers = [h.relative_to(root).as_posix() for room in rooms for h in sorted((root / "partita" / room).rglob("*.hpp"))
                   if h.name != "src.hpp"]
        if not headers:
            sys.exit(f"{name}: no header")
        source = "".join(f"#include <{h}>\n" for h in headers)
        ours, others = lines(source)
        _, others_allowed = lines("".join(f"#include <{h}>\n" for h in allowed))
        pairs = [(seconds(source), seconds("#include <string>\n")) for _ in range(5)]
        cost, string = (statistics.median(p[k] for p in pairs) for k in (0, 1))
        print(f"{name}: {len(headers)} headers, {ours} lines of ours (limit {limit}), {others} from the standard library "
              f"(limit {others_allowed}); {cost:.2f} s where <string> takes {string:.2f} s (goal {goal:.2f} s, not judged)")
        for what, n, most in (("lines of our own", ours, limit), ("lines from the standard library", others, others_allowed)):
            if n > most:
                print(f"failed: {name}: {n} {what}, and {most} are allowed")
            passed, failed = passed + (n <= most), failed + (n > most)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
