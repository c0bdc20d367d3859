#!/usr/bin/env python3
"""compiles.py [--reject] BUILD_DIR FILE: FILE compiles, and each case that it names does not.

FILE is compiled (only checked, nothing is written) by the command line that Meson recorded for it, or with --reject, since
there it is compiled many times, by that of the tests on several workers, which have all headers precompiled; but that a file of a
room that includes only the standard library is read sooner without them. Each of its lines

    // expect CASE: regex

is one case: with -DCASE the compiler must fail, and its message must match the regex. A file given with --reject must
name a case, any other file must hold a static_assert: what can only succeed is not a test."""
import json
import pathlib
import re
import shlex
import subprocess
import sys


def syntax_only(command, file):
    """The recorded command line without what names its outputs."""
    kept, skip = [], False
    for argument in shlex.split(command):
        if skip:
            skip = False
        elif argument in ("-o", "-MF", "-MQ", "-MT"):
            skip = True
        elif argument not in ("-c", "-MD", "-MMD") and not argument.endswith(file.name):
            kept.append(argument)
    return kept + ["-fsyntax-only", "-fdiagnostics-color=never"]


def recorded_command(build, file, precompiled=False):
    database = json.loads((build / "compile_commands.json").read_text())
    for entry in database:
        source = (build / entry["file"]).resolve()
        uses_precompiled = "mpi_tests.p" in entry["output"] and source.suffix == ".cpp"
        if uses_precompiled if precompiled else source == file.resolve():
            return syntax_only(entry["command"], source)
    sys.exit(f"{file}: no target of {build} has this file")


def main():
    arguments = sys.argv[1:]
    reject = "--reject" in arguments
    build, file = (pathlib.Path(a) for a in arguments if a != "--reject")
    command = recorded_command(build, file, precompiled=reject and file.parent.name not in ("core", "rule", "plan"))
    source = file.read_text()
    cases = re.findall(r"^// expect (\w+): (.*\S)\s*$", source, re.M)
    if reject and not cases:
        sys.exit(f"{file}: no line '// expect CASE: regex'")
    if not reject and not re.search(r"\bstatic_assert\b", source):
        sys.exit(f"{file}: no static_assert")

    def compile(*extra):
        done = subprocess.run([*command, *extra, str(file)], cwd=build, capture_output=True, text=True)
        return done.returncode == 0, done.stderr

    passed = failed = 0

    def verdict(holds, complaint):
        nonlocal passed, failed
        passed, failed = passed + holds, failed + (not holds)
        if not holds:
            print(f"{file.name}: {complaint}")

    compiled, message = compile()
    verdict(compiled, f"does not compile:\n{message}")
    for case in {name for name, _ in cases}:
        if not re.search(rf"\b(ifdef|defined|elifdef)\b.*\b{case}\b", source):
            verdict(False, f"{case} is expected and nowhere tested for")
    for case, sentence in cases:
        compiled, message = compile(f"-D{case}")
        if compiled:
            verdict(False, f"{case} compiles, and must not")
        else:
            lines = len(message.splitlines())
            verdict(re.search(sentence, message) is not None, f"{case} is refused without saying '{sentence}':\n{message}")
            print(f"{file.name}: {case}: {lines} lines of diagnostics")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
