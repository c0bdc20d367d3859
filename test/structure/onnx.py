#!/usr/bin/env python3
"""onnx.py SOURCE_ROOT: the page for those who come from ONNX has a row for each operator, and says what is there.

- No operator has two rows, and the page gives the numbers of operators and of those that have a counterpart.
- Each function of the table's second column is declared in include/ or quoted below the table.
- A composition that test/mpi/sharded/onnx_operators.cpp compares with its definition is what its row says."""
import pathlib
import re
import sys

MOST, FEWEST = 164, 120    # the operators counted when the library began to have them, and of these the counterparts


def rows_of(page):
    """The operators of each row, its second column, and the functions that are called there."""
    table = page[page.index("| ONNX |"):].split("\n\n")[0].splitlines()[2:]
    for line in table:
        operators, code = (cell.strip() for cell in line.strip("| ").split(" | ", 2)[:2])
        # a template argument may be text, and an option has a name of its own
        bare = re.sub(r'"[^"]*"|\.\w+ =', "", code)
        yield operators.split(", "), code, set(re.findall(r"([a-z_]\w*)(?:<[^()]*?>)?\(", bare))


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "docs/coming-from-onnx.md").read_text()
    test = (root / "test/mpi/sharded/onnx_operators.cpp").read_text()
    declared = "\n".join(f.read_text() for f in (root / "include").rglob("*.hpp"))
    below = "\n".join(re.findall(r"const auto (\w+) = \[\]", page))
    failures, code_of, calls = [], {}, 0
    for operators, code, functions in rows_of(page):
        for one in operators:
            if one in code_of:
                failures.append(f"{one} has two rows")
            code_of[one] = code
        for name in sorted(functions):
            calls += 1
            if not re.search(rf"\b{name}\b", declared) and not re.search(rf"\b{name}\b", below):
                failures.append(f"the row of {', '.join(operators)} calls {name}, which include/ does not declare")
    counterparts = sum(code != "none" for code in code_of.values())
    if f"Of {len(code_of)} operators {counterparts} have a counterpart" not in page:
        failures.append(f"the page does not say that of {len(code_of)} operators {counterparts} have a counterpart")
    if len(code_of) < MOST or counterparts < FEWEST:
        failures.append(f"fewer than {MOST} operators, or fewer than {FEWEST} counterparts")
    # ROW(name, definition, composition), of which the page writes the composition
    text = re.sub(r"\s*\\?\n\s*", " ", test)
    compared = set(re.findall(r"\bROW\(([A-Z]\w*),", text))
    for name in sorted(compared):
        row = re.search(rf"\bROW\({name},(.*?)(?=\bROW\(|#)", text)[1]
        if name not in code_of or not any(code in re.sub(r"\s+", " ", row) for code in re.findall(r"`([^`]*)`", code_of[name])):
            failures.append(f"the row of {name} does not have the composition that onnx_operators.cpp compares")
    if len(compared) < 20 or calls < 150:
        failures.append(f"only {len(compared)} compositions and {calls} calls were found")
    for line in failures:
        print(line)
    print(f"{len(code_of)} operators, {counterparts} counterparts, {len(compared)} of them composed and compared")
    return 1 if failures else 0


sys.exit(main())
