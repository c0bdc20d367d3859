#!/usr/bin/env python3
"""rule_names.py SOURCE_ROOT: every operation of `rules::` stands in the list that registry::standard() is made of, and
is held against its name in test/unit/rule/registry.cpp."""
import pathlib
import re
import sys


def operations(root):
    """The names that are defined in namespace rules."""
    for header in sorted((root / "include/partita/rule/sharding/rules").glob("*.hpp")):
        text = header.read_text()
        body = text[text.index("namespace rules {"):]
        yield from re.findall(r"^(?:inline )?constexpr operation (\w+)\b", body, re.MULTILINE)


def main():
    root = pathlib.Path(sys.argv[1])
    registry = (root / "include/partita/rule/sharding/registry.hpp").read_text()
    listed = set(re.findall(r"rules::(\w+)", registry[registry.index("standard_operations[] = {"):]))
    held = set(re.findall(r'^\s*\{"(\w+)",', (root / "test/unit/rule/registry.cpp").read_text(), re.MULTILINE))
    names = list(operations(root))
    failures = [f"rules::{name} is not in standard_operations" for name in names if name not in listed]
    failures += [f"rules::{name} is not held against its name" for name in names if name not in held]
    if len(names) < 60:
        failures.append(f"only {len(names)} operations were found in rules/")
    for line in failures:
        print(line)
    print(f"{len(names) - len(failures)} passed, {len(failures)} failed, 0 skipped")
    return 1 if failures else 0


sys.exit(main())
