#!/usr/bin/env python3
"""compiles.py [--reject] BUILD_DIR FILE: FILE compiles, and each case that it names does not.

FILE is compiled (only checked, nothing is written) by the command line that Meson recorded for it, or with --reject, since
there it is compiled many times, by that of the tests on several workers, which have all headers precompiled; but that a file of a
room that includes only the standard library is read sooner without them. Each of its lines

    // expect CASE: regex
    //   and more of it, if it is long

is one case: with -DCASE the compiler must fail, and its message must match the regex. With `first` for `expect` the
first error of the message must match it, with the source line that the compiler shows below it: the reader finds the
sentence without looking for it. A case may be named by several such lines: it is compiled once. `// lines CASE: 12`
demands at most so many lines of message, from g++ (clang says more of each). A file given with --reject must name a
case, any other file must hold a static_assert: what can only succeed is not a test."""
import functools
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


def first_error(message):
    """The first error of a compiler's message, with the source line that it shows below it."""
    lines = message.splitlines()
    at = next((k for k, line in enumerate(lines) if re.search(r"\berror: ", line)), len(lines))
    return "\n".join(lines[at:at + 2])


def main():
    arguments = sys.argv[1:]
    reject = "--reject" in arguments
    build, file = (pathlib.Path(a) for a in arguments if a != "--reject")
    command = recorded_command(build, file, precompiled=reject and file.parent.name not in ("core", "rule", "plan"))
    source = file.read_text()
    cases = [(name, kind == "first", re.sub(r"\s*\n//   ", " ", sentence))
             for kind, name, sentence in re.findall(r"^// (expect|first) (\w+): (.*\S(?:\n//   .*\S)*)\s*$", source, re.M)]
    limits = {name: int(most) for name, most in re.findall(r"^// lines (\w+): (\d+)$", source, re.M)}
    if reject and not cases:
        sys.exit(f"{file}: no line '// expect CASE: regex'")
    if set(limits) - {name for name, _, _ in cases}:
        sys.exit(f"{file}: a limit of lines for no case")
    if not reject and not re.search(r"\bstatic_assert\b", source):
        sys.exit(f"{file}: no static_assert")

    @functools.cache
    def compile(*extra):
        done = subprocess.run([*command, *extra, str(file)], cwd=build, capture_output=True, text=True)
        return done.returncode == 0, done.stderr

    passed = failed = 0

    def verdict(holds, failure):
        nonlocal passed, failed
        passed, failed = passed + holds, failed + (not holds)
        if not holds:
            print(f"{file.name}: {failure}")

    compiled, message = compile()
    verdict(compiled, f"does not compile:\n{message}")
    for case in {name for name, _, _ in cases}:
        if not re.search(rf"\b(ifdef|defined|elifdef)\b.*\b{case}\b", source):
            verdict(False, f"{case} is expected and nowhere tested for")
    for case, comes_first, sentence in cases:
        compiled, message = compile(f"-D{case}")
        if compiled:
            verdict(False, f"{case} compiles, and must not")
        else:
            lines = len(message.splitlines())
            said = first_error(message) if comes_first else message
            where = " in the first error" if comes_first else ""
            verdict(re.search(sentence, said) is not None, f"{case} is refused without saying '{sentence}'{where}:\n{message}")
            if case in limits and "clang" not in pathlib.Path(command[0] if command[0] != "ccache" else command[1]).name:
                verdict(lines <= limits[case], f"{case} takes {lines} lines, and may take {limits[case]}:\n{message}")
            print(f"{file.name}: {case}: {lines} lines of diagnostics")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
