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
    "test/pytorch": ("test/meson.build", ".cpp"),
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
            if name.endswith(suffix) and "@" not in name and not (base / name).is_file():
                yield f"{list_file} names {name}, and there is no such file"


def of_one_name(root):
    for program in ("unit", "mpi", "laws"):
        known = {}
        for file in sorted((root / "test" / program).rglob("*.cpp")):
            suites = []
            for line in file.read_text().splitlines():
                if begin := re.match(r"BOOST_AUTO_TEST_SUITE\(\s*(\w+)", line):
                    suites.append(begin[1])
                elif line.startswith("BOOST_AUTO_TEST_SUITE_END"):
                    suites.pop()
                elif case := re.match(r"BOOST_(?:AUTO|DATA)_TEST_CASE\(\s*(\w+)", line):
                    name = "/".join([*suites, case[1]])
                    before = known.setdefault((program, name), file)
                    if before != file:
                        yield f"{before.relative_to(root)} and {file.relative_to(root)} both have a case {name}"


def shadowing(root):
    for folder in ("bench", "docs", "test", "tools"):
        for file in sorted((root / folder).rglob("*.py")):
            if file.stem in sys.stdlib_module_names:
                yield f"{file.relative_to(root)} has the name of a module of Python's own library; give it another one"


def main():
    root = pathlib.Path(sys.argv[1])
    failures = [*unregistered(root), *of_one_name(root), *shadowing(root)]
    for failure in failures:
        print(failure)
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
