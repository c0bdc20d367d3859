#!/usr/bin/env python3
"""counts.py SOURCE_ROOT: at least 100 different programs on sharded tensors have their result, gradients and movements
asserted by compiling."""
import pathlib
import re
import sys

fewest = 100
asserted = pathlib.Path(sys.argv[1]) / "test/static/plan/layouts_of_programs.cpp"
programs = re.findall(r'static_assert\(\s*followed\(\s*("[^"]*",\s*"[^"]*")', asserted.read_text())
different = set(re.sub(r"\s+", " ", one) for one in programs)
print(f"{len(different)} programs asserted by compiling, {len(programs) - len(different)} of them twice")
sys.exit(len(different) < fewest or len(different) < len(programs))
