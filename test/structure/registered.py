#!/usr/bin/env python3
"""registered.py SOURCE_ROOT: every source file of a test, an example or a benchmark is in the list that builds it, and
every name in a list is a file. A test that is not registered does not exist. And no script has the name of a module of
Python's own library, which it would stand before for all scripts of its folder."""
import pathlib
import re
import sys

# folder: (the file with its list, the suffixes of what belongs in it)
LISTS = {
    "test/static": ("test/static/meson.build", ".cpp"),
    "test/reject": ("test/reject/meson.build", ".cpp"),
    "test/unit": ("test/unit/meson.build", ".cpp"),
    "test/mpi": ("test/mpi/meson.build", ".cpp"),
    "test/onednn": ("test/onednn/meson.build", ".cpp"),
    "test/laws": ("test/laws/meson.build", ".cpp"),
    "test/conformance": ("test/meson.build", ".cpp"),
    "test/fuzz": ("test/meson.build", ".cpp"),
    "test/structure": ("test/structure/meson.build", ".py"),
    "test/tool": ("test/tool/meson.build", ".py"),
    "examples": ("examples/meson.build", ".cpp"),
    "bench": ("bench/meson.build", ".cpp"),
}


def unregistered(root):
    for folder, (list_file, suffix) in LISTS.items():
        lines = (root / list_file).read_text().splitlines()
        code = "\n".join(line.split("#")[0] for line in lines)
        names = set(re.findall(r"'([^'\n]+)'", code))
        base = (root / list_file).parent
        prefix = (root / folder).relative_to(base).as_posix()
        for file in sorted((root / folder).rglob(f"*{suffix}")):
            name = file.relative_to(root / folder).as_posix()
            named = {name, name.removesuffix(suffix), f"{prefix}/{name}"}
            if not named & names:
                yield f"{folder}/{name} is not in {list_file}"
        for name in names:
            if name.endswith(suffix) and not (base / name).is_file():
                yield f"{list_file} names {name}, and there is no such file"


def shadowing(root):
    for folder in ("bench", "docs", "test", "tools"):
        for file in sorted((root / folder).rglob("*.py")):
            if file.stem in sys.stdlib_module_names:
                yield f"{file.relative_to(root)} has the name of a module of Python's own library; give it another one"


def main():
    root = pathlib.Path(sys.argv[1])
    complaints = [*unregistered(root), *shadowing(root)]
    for complaint in complaints:
        print(complaint)
    sys.exit(len(complaints) > 0)


if __name__ == "__main__":
    main()
