#!/usr/bin/env python3
"""one_setting.py MPIRUN CORE HEADERS ANOTHER: workers of one job run programs that were compiled in different ways:
with the compiled core, from headers alone, from the headers of another version. All workers get one error when they
make a world; programs of one way make a world."""
import subprocess
import sys

MOST_SECONDS = 60


def lines(mpirun, *programs):
    """What the workers print, sorted; each program is one worker, and may have an argument."""
    command = [mpirun]
    for k, program in enumerate(programs):
        command += [":"] * (k > 0) + ["-n", "1", *program]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=MOST_SECONDS)
    return sorted(line for line in done.stdout.splitlines() if line.strip())


def differ(one, at_one, other, at_other):
    return (f"partita::world: requires programs that were compiled in one way on all workers, got {one} on worker {at_one} "
            f"and {other} on worker {at_other}; compile the programs of all workers with the same headers and the same "
            "options")


def main():
    mpirun, core, headers, another, version = sys.argv[1:]
    core, headers, another = [core], [headers], [another]
    by_core, by_headers = f"version {version} with the compiled core", f"version {version} from headers alone"
    next_one = "version 99.0.1 from headers alone"
    with_it, without = "with PARTITA_ONEDNN", "without PARTITA_ONEDNN"
    cases = {
        "one way": ([core, core], "made a world of 2"),
        "two ways": ([core, headers], differ(by_core, 0, by_headers, 1)),
        "two versions": ([headers, another], differ(by_headers, 0, next_one, 1)),
        "the second worker of three": ([another, headers, another], differ(next_one, 0, by_headers, 1)),
        "a setting of some workers only": ([core, [*core, with_it], [*core, with_it]], "made a world of 3"),
        "two values of a setting": ([core, [*core, without], [*core, with_it]], differ(without, 1, with_it, 2)),
    }
    failed = 0
    for name, (programs, expected) in cases.items():
        printed = lines(mpirun, *programs)
        if printed != [expected] * len(programs):
            failed += 1
            print(f"{name}: expected {len(programs)} times\n  {expected}\nand got\n  " + "\n  ".join(printed))
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
