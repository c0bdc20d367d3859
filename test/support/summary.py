#!/usr/bin/env python3
"""summary.py [--left-out MESON_INFO SUITE SHARE | --not-compiled MESON_INFO] [--random-calls N] [--random-operations N]
[--simulated-operations N] TESTLOG_JSON...: adds up the results of Meson's tests, by suite and in one closing line. With
--left-out it first prints which tests a run of one suite, with one in SHARE random cases, has left out; with
--not-compiled, the name of each test file that this build leaves out. With the other options, fewer random cases than N
over all runs are one more failure: calls compared with an oracle, operations on sharded tensors over MPI and on
simulated devices. For several logs (the stages of a whole check) it names the cases of test programs that no stage has
run.

A test that ends with a line 'N passed, N failed, N skipped' counts as that many tests; any other test counts as one. A
test that failed without such a line (a crash, a time limit) counts as one more failure. The last output of a failed
test is repeated beneath its name."""
import json
import pathlib
import re
import sys

closing = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)
# For each option, the line in which programs print the number of random cases, and the words of the report.
counted = {
    "--random-calls": (re.compile(r"^random calls: (\d+)$", re.M), "random calls compared with an oracle"),
    "--random-operations": (re.compile(r"^random operations: (\d+)$", re.M),
                            "random operations on sharded tensors compared with whole arrays"),
    "--simulated-operations": (re.compile(r"^random operations on simulated devices: (\d+)$", re.M),
                               "random operations on simulated devices compared with whole arrays"),
}


def count(test):
    lines = closing.findall(test.get("stdout") or "")
    passed, failed, skipped = map(int, lines[-1]) if lines else (0, 0, 0)
    result = test["result"]
    if result in ("OK", "EXPECTEDFAIL"):
        return (passed, failed, skipped) if lines and failed == 0 else (1, 0, 0)
    if result == "SKIP":
        return (0, 0, max(skipped, 1))
    return (passed, max(failed, 1), skipped)


def last_lines(test):
    """The lines in which a test reports a failure, and its last lines."""
    printed = ((test.get("stdout") or "") + (test.get("stderr") or "")).splitlines()
    wrong = [line for line in printed[:-15] if re.search(r"error|WRONG|FAIL|exit status [1-9]", line)]
    return "".join(f"\n    {line[:200]}" for line in wrong[:15] + printed[-15:])


skipped_case = re.compile(r"^(?:\[worker \d+ of \d+\] )?(\S+): skipped, (.*)$", re.M)


def never_run(runs):
    """The cases that every run of their program left out, each with a reason. `runs` are pairs of a title, "mpi on 4",
    and what that run printed; a run with a title like "front door on 12" selects the cases of one suite."""
    skipped = {}
    for title, printed in runs:
        if closing.search(printed):
            skipped.setdefault(title.partition(" on ")[0], []).append(dict(skipped_case.findall(printed)))
    for program, of_runs in sorted(skipped.items()):
        for case in sorted(set.intersection(*(set(one) for one in of_runs))):
            selected = [one for title, other in skipped.items() for one in other
                        if title != program and case.split("/")[0] == title.replace(" ", "_")]
            if all(case in one for one in selected):
                yield f"  {program}: {case}: {of_runs[0][case]}"


def source_groups(info):
    """The sources of a build that are compiled alike, with their compiler."""
    return [group for target in json.load(open(info / "intro-targets.json")) for group in target["target_sources"]]


def not_compiled(info, most=None):
    """A line for each folder of which test files were not compiled, with the names of at most `most` files."""
    compiled = {source for group in source_groups(info) for source in group.get("sources", [])}
    tests = pathlib.Path(__file__).resolve().parent.parent
    for folder in ("unit", "mpi", "laws"):
        files = [f for f in sorted((tests / folder).rglob("*.cpp")) if str(f) not in compiled]
        if files:
            names = [f.relative_to(tests / folder).as_posix() for f in files[:most]]
            more = f" and {len(files) - len(names)} more files" if len(names) < len(files) else ""
            yield f"  test/{folder}: {', '.join(names)}{more}"


def not_run(info, suite, share):
    """A line for each suite of which something was not run, and for each folder of which something was not compiled."""
    info = pathlib.Path(info)
    compilers = {word for group in source_groups(info) for word in group.get("compiler", [])}
    yield from not_compiled(info, 4)
    missing = {}
    for test in json.load(open(info / "intro-tests.json")):
        names = [name.split(":")[-1] for name in test["suite"]]
        if suite not in names:
            missing.setdefault(names[0] if names else "other", []).append(test["name"])
    for name, tests in sorted(missing.items()):
        some = ", ".join(tests[:4]) + (f" and {len(tests) - 4} more" if len(tests) > 4 else "")
        yield f"  {name}: {some}" + (" (by --wide)" if name == "wide" else "")
    yield f"  random cases: {int(share) - 1} of {share}"
    yield "  compilers: " + ("g++ (--compiler g++)" if "clang" in " ".join(compilers) else "clang (--compiler clang++)")


def main():
    suites, failures, unseen, by_whom = {}, [], [], "--all"
    made, fewest, runs = {}, {}, []
    logs = sys.argv[1:]
    if logs[:1] == ["--left-out"]:
        unseen, logs = list(not_run(*logs[1:4])), logs[4:]
    elif logs[:1] == ["--not-compiled"]:
        unseen, logs, by_whom = list(not_compiled(pathlib.Path(logs[1]))), logs[2:], "without --short"
    while logs and logs[0] in counted:
        fewest[logs[0]], logs = int(logs[1]), logs[2:]
    for log in logs:
        for record in open(log):
            test = json.loads(record)
            name = test["name"]
            suite, _, title = name.rpartition(" / ")
            suite = suite.split(":")[-1].split("+")[0].strip() or "other"
            counts = count(test)
            runs.append((title, test.get("stdout") or ""))
            for option, (line, _) in counted.items():
                made[option] = made.get(option, 0) + sum(map(int, line.findall(test.get("stdout") or "")))
            total = suites.setdefault(suite, [0, 0, 0, 0.0])
            for k in range(3):
                total[k] += counts[k]
            total[3] += test["duration"]
            if counts[1] > 0:
                failures.append(f"{suite}: {title}: {test['result']}" + last_lines(test))
            elif test["result"] == "SKIP":
                reasons = (test.get("stdout") or "").strip().splitlines()
                print(f"skipped: {suite}: {title}: {reasons[0] if reasons else 'no reason given'}")
    width = max((len(s) for s in suites), default=0)
    for suite, (passed, failed, skipped, duration) in sorted(suites.items()):
        print(f"  {suite:{width}}  {passed:6} passed {failed:4} failed {skipped:4} skipped {duration:8.1f} s")
    for option, (_, told) in counted.items():
        number = made.get(option, 0)
        if number > 0 or option in fewest:
            print(f"{told}: {number}")
        if number < fewest.get(option, 0):
            failures.append(f"{told}: {number}, fewer than {fewest[option]}")
            suites[option] = [0, 1, 0, 0.0]
    never = list(never_run(runs)) if len(logs) > 1 else []
    if never:
        print("cases that no stage ran:")
        print("\n".join(never))
    for failure in failures:
        print(f"failed: {failure}")
    if unseen:
        print(f"left out, and run by test/run {by_whom}:")
        print("\n".join(unseen))
    passed, failed, skipped = (sum(total[k] for total in suites.values()) for k in range(3))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
