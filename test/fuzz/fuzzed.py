#!/usr/bin/env python3
"""fuzzed.py SOURCE_ROOT RUNS [--report FILE]: each target of test/fuzz, compiled by clang with libFuzzer and the
sanitizers whatever compiler the rest is built by, takes RUNS inputs that grow from the kept ones; none may end it."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-O1", "-g1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("root", type=pathlib.Path)
    arguments.add_argument("runs", type=int)
    arguments.add_argument("--report")
    given = arguments.parse_args()
    compiler = shutil.which("clang++")
    given.root = given.root.resolve()
    targets = sorted((given.root / "test/fuzz").glob("*.cpp"))
    if compiler is None:
        print(f"there is no clang++\n0 passed, 0 failed, {len(targets)} skipped")
        sys.exit(77)
    inputs, failed = 0, 0
    with tempfile.TemporaryDirectory() as name:
        for target in targets:
            program, grown = pathlib.Path(name) / target.stem, pathlib.Path(name) / f"{target.stem}.inputs"
            subprocess.run([compiler, *FLAGS, f"-I{given.root / 'include'}", target, "-o", program], check=True)
            grown.mkdir()  # what is new goes to the first folder, and the kept ones stay as they are
            run = subprocess.run([program, f"-runs={given.runs}", "-seed=17", "-max_len=2000", "-timeout=20", grown,
                                  given.root / "test/fuzz/corpus" / target.stem], cwd=name, capture_output=True, text=True,
                                 errors="replace")
            done = re.search(r"^Done (\d+) runs", run.stderr, re.M)
            inputs += int(done[1]) if done else 0
            if run.returncode != 0 or not done:
                failed += 1
                print(f"{target.stem}: status {run.returncode}\n{run.stderr[-4000:]}")
    print(f"{inputs} inputs")
    if given.report:
        with open(given.report, "a") as report:
            print(json.dumps({"name": "fuzzed", "targets": len(targets), "inputs": inputs, "failed": failed}), file=report)
    print(f"{len(targets) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
