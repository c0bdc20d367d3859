#!/usr/bin/env python3
"""one_unit.py OUTPUT FILE...: writes a source file that compiles several test files as one translation unit, so that
the compiler instantiates the templates that they share once. Each file is included in a namespace of its own: their
names do not meet. The headers are included before, for a header within a namespace would declare its names there."""
import pathlib
import re
import sys


def headers_of(file):
    """The preprocessor's lines of a file before its first line of code, with the paths of what stands beside it."""
    open_conditions = 0
    for line in file.read_text().splitlines():
        if line and not line.startswith(("//", "#")):
            break
        if line.startswith("#"):
            open_conditions += line.startswith("#if") - line.startswith("#endif")
            beside = re.match(r'#include "(.+)"', line)
            if beside and (file.parent / beside[1]).exists():
                line = f'#include "{(file.parent / beside[1]).resolve()}"'
            yield line
    yield from ["#endif"] * open_conditions


def main():
    output, files = pathlib.Path(sys.argv[1]), [pathlib.Path(a).resolve() for a in sys.argv[2:]]
    text = []
    for file in files:
        text += headers_of(file)
    for k, file in enumerate(files):
        text += [f"namespace file_{k}_{re.sub(r'[^a-z0-9_]', '_', file.stem)} {{", f'#include "{file}"', "}"]
    written = "\n".join(text) + "\n"
    if not output.exists() or output.read_text() != written:      # else nothing needs to be compiled again
        output.write_text(written)


if __name__ == "__main__":
    main()
