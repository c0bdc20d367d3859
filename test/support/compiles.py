#!/usr/bin/env python3
"""compiles.py [--reject] BUILD_DIR FILE: FILE compiles, and each case that it names does not.

FILE is compiled (only checked, nothing is written) by the command line that Meson recorded for it. With --reject the
file is compiled many times, and so by the command line of the tests on several workers, which have all headers
precompiled, except for files of a room that includes only the standard library, which compile faster without them. Each
of its lines

    // expect CASE: regex
    //   and more of it, if it is long

is one case: with -DCASE the compiler must fail, and its message must match the regex. With `first` in place of `expect`
the first error of the message must match the regex, with the source line that the compiler shows below it, so that a
reader finds our error message at once. Several lines may name one case, which is compiled once. `// lines CASE: 12`
demands at most 12 lines of message from g++ (clang prints more lines for each error). A file given with --reject must
name a case, and any other file must contain a static_assert: a file that can only succeed is not a test.

g++ first compiles all cases of a function at once, each case in a block of its own; the errors in the lines of a case
are the message of the case. A case that does not pass in this way is compiled by itself, and this result counts."""
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

CONDITION = re.compile(r"#(?:ifdef|(?:el)?if defined\() ?(\w+)\)?$")


def syntax_only(command, file):
    """The recorded command line without the options that name output files."""
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


def all_at_once(source, file):
    """The source with the branches of its conditions inside functions as blocks that follow each other, and the lines
    of each case; none for other conditions."""
    text, lines_of, case, depth = [], {}, None, 0
    for number, line in enumerate(source.splitlines(), 1):
        condition = CONDITION.match(line)
        if condition or line == "#endif":
            if (line == "#endif" or line.startswith("#el")) != (case is not None):
                return None, {}
            text.append("}" if case else "")
            case = condition and condition[1]
            if case and (depth == 0 or case in lines_of):
                return None, {}
            text.append("{" if case else "")
            text.append(f'#line {number + 1} "{file}"')
        elif line.startswith("#") and not line.startswith("#include"):
            return None, {}
        else:
            text.append(line)
            depth += line.count("{") - line.count("}")
            if case:
                lines_of.setdefault(case, set()).add(number)
    return "\n".join(text) + "\n", lines_of


def messages_of_cases(printed, lines_of, file):
    """The messages of g++ for the lines of each case."""
    messages, part, has_error = {}, [], False

    def end_of_part():
        own = [int(line) for said in part if re.search(r"\berror: |required from here", said)
               for line in re.findall(rf"^{re.escape(str(file))}:(\d+):", said)]
        for case, lines in lines_of.items():
            if own and own[-1] in lines:
                messages.setdefault(case, []).extend(part)

    for line in printed.splitlines():
        begins = re.match(r"In file included from |\S+: (In|At) ", line)
        error = re.search(r"\berror: ", line)
        if (begins or error) and has_error:
            end_of_part()
            part, has_error = [], False
        part.append(line)
        has_error = has_error or error is not None
    end_of_part()
    return {case: "\n".join(lines) for case, lines in messages.items()}


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
        done = subprocess.run([*command, *extra], cwd=build, capture_output=True, text=True)
        return done.returncode == 0, done.stderr

    by_clang = "clang" in pathlib.Path(command[0] if command[0] != "ccache" else command[1]).name
    messages = {}
    together, lines_of = all_at_once(source, file) if reject and not by_clang else (None, {})
    if together:
        with tempfile.NamedTemporaryFile("w", suffix=file.suffix) as all_cases:
            all_cases.write(together)
            all_cases.flush()
            messages = messages_of_cases(compile(f"-I{file.parent}", all_cases.name)[1], lines_of, file)

    def is_said(message, sentence, comes_first):
        return re.search(sentence, first_error(message) if comes_first else message) is not None

    passed = failed = 0

    def verdict(holds, failure):
        nonlocal passed, failed
        passed, failed = passed + holds, failed + (not holds)
        if not holds:
            print(f"{file.name}: {failure}")

    compiled, message = compile(str(file))
    verdict(compiled, f"does not compile:\n{message}")
    for case in {name for name, _, _ in cases}:
        if not re.search(rf"\b(ifdef|defined|elifdef)\b.*\b{case}\b", source):
            verdict(False, f"{case} is expected and nowhere tested for")
    for case, comes_first, sentence in cases:
        most = limits.get(case, sys.maxsize) if not by_clang else sys.maxsize
        message = messages.get(case, "")
        if not is_said(message, sentence, comes_first) or len(message.splitlines()) > most:
            compiled, message = compile(f"-D{case}", str(file))
            if compiled:
                verdict(False, f"{case} compiles, and must not")
                continue
        lines = len(message.splitlines())
        where = " in the first error" if comes_first else ""
        verdict(is_said(message, sentence, comes_first), f"{case} is refused without saying '{sentence}'{where}:\n{message}")
        if case in limits:
            verdict(lines <= most, f"{case} takes {lines} lines, and may take {most}:\n{message}")
        print(f"{file.name}: {case}: {lines} lines of diagnostics")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
