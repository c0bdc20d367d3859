#!/usr/bin/env python3
"""mixtures.py SOURCE_ROOT CXX...: programs of two files that were compiled in different ways (from headers alone or
with the compiled core, with the headers of another version, with another setting), or that do not link the libpartita
of their headers. None of them reaches main: the linker rejects it, or it ends at its start with one message. Programs
of one way run. libpartita has three of its rooms here."""
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FILES = {
    "first": '''#include <cstdio>
#include <partita/explain/quantities.hpp>
int second();
int main() {
  std::puts("main began");
  return partita::detail::bytes_text(5).size() > 0 ? second() : 1;
}
''',
    "second": '''#include <partita/explain/quantities.hpp>
int second() { return partita::detail::seconds_text(2).size() > 0 ? 0 : 1; }
''',
    "convolver": '''#include <partita/nn/local_convolution.hpp>
int second() { return 0; }
''',
    "another convolver": "#include <partita/nn/local_convolution.hpp>\n",
    "core": "#include <partita/core/src.hpp>\n#include <partita/explain/src.hpp>\n#include <partita/plan/src.hpp>\n",
}
HEADERS, CORE, ANOTHER, DEBUG = "from headers alone", "with the compiled core", "another version", "_GLIBCXX_DEBUG"


class builder:
    def __init__(self, source, folder, compiler):
        self.folder, self.compiler = folder, compiler
        self.version = re.search(r"version: '([\d.]+)'", (source / "meson.build").read_text())[1]
        self.include = [f"-I{source / 'include'}"]
        self.flags = {HEADERS: [], CORE: ["-DPARTITA_CORE"], DEBUG: ["-D_GLIBCXX_DEBUG"],
                      ANOTHER: [f"-I{source / 'test/jobs/another_version'}"], "-O2": ["-O2"],
                      "hidden": ["-fvisibility=hidden", "-fvisibility-inlines-hidden"],
                      "oneDNN": ["-DPARTITA_ONEDNN"]}
        for name, text in FILES.items():
            (folder / f"{name}.cpp").write_text(text)
        self.made = {}

    def run(self, *command):
        return subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=os.environ | {"LD_LIBRARY_PATH": str(self.folder)})

    def object(self, name, *how):
        """The object file of one of the files, compiled in this way."""
        if (name, how) not in self.made:
            target = self.folder / f"{len(self.made)}.o"
            flags = [f for h in how for f in self.flags[h]]
            done = self.run(*self.compiler, "-std=c++20", "-fPIC", *flags, *self.include, *self.foreign, "-c",
                            self.folder / f"{name}.cpp", "-o", target)
            if done.returncode != 0:
                sys.exit(f"{name} {how}:\n{done.stdout}")
            self.made[name, how] = target
        return self.made[name, how]

    foreign = []

    def result(self, objects, library):
        """What happens: "linker: MESSAGE", or the text that the program prints."""
        program = self.folder / "program"
        done = self.run(*self.compiler, *objects, *([self.folder / library] if library else []), "-o", program)
        if done.returncode != 0:
            return f"linker: {done.stdout}"
        done = self.run(program)
        if (done.returncode == 0) != ("main began" in done.stdout):
            return f"exit status {done.returncode}: {done.stdout}"
        return done.stdout


def main():
    source, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    failed = passed = 0

    def expect(name, expected, result):
        nonlocal failed, passed
        if re.search(expected, result):
            passed += 1
        else:
            failed += 1
            print(f"{name}: expected '{expected}', got\n{result}")

    with tempfile.TemporaryDirectory() as name:
        b = builder(source, pathlib.Path(name), compiler)
        core = b.object("core", CORE)
        b.run("ar", "rcs", b.folder / "libpartita.a", core)
        b.run(*compiler, "-shared", core, "-o", b.folder / "libpartita.so", "-Wl,-soname,libpartita.so")
        libraries = ("libpartita.a", "libpartita.so")
        runs, no_core = "^main began$", "linker: (.|\n)*undefined reference to .partita_expect_one_setting"

        def mixed(one, other):
            return rf"^partita: this program mixes files that were compiled in two ways: ({one}, and {other}|{other}, and {one});"

        by_headers = rf"version {re.escape(b.version)} {HEADERS}"
        by_core = rf"version {re.escape(b.version)} {CORE}"
        another = r"version 99\.0\.1"

        expect("headers alone", runs, b.result([b.object("first", HEADERS), b.object("second", HEADERS)], None))
        for library in libraries:
            expect(f"the core, {library}", runs, b.result([b.object("first", CORE), b.object("second", CORE)], library))
        expect("the core and no library", no_core, b.result([b.object("first", CORE), b.object("second", CORE)], None))
        for how, library, swapped in itertools.product(((), ("-O2",)), libraries, (False, True)):
            objects = [b.object("first", CORE, *how), b.object("second", HEADERS, *how)]
            expect(f"both ways, {how} {library}", mixed(by_core, by_headers),
                   b.result(objects[::-1] if swapped else objects, library))
        expect("both ways and no library", "linker: (.|\n)*undefined reference to",
               b.result([b.object("first", CORE), b.object("second", HEADERS)], None))
        for library, how in itertools.product(libraries, ((), ("hidden",))):
            objects = [b.object("first", CORE, ANOTHER, *how), b.object("second", CORE, ANOTHER, *how)]
            expect(f"the core of another version, {library} {how}", mixed(f"{another} {CORE}", by_core), b.result(objects, library))
        expect("two versions", mixed(f"{another} {HEADERS}", by_headers),
               b.result([b.object("first", HEADERS, ANOTHER), b.object("second", HEADERS)], None))
        expect("debugging containers", mixed(f"{by_headers} and _GLIBCXX_DEBUG", by_headers),
               b.result([b.object("first", HEADERS), b.object("second", HEADERS, DEBUG)], None))

        # a file with oneDNN and one without it
        b.foreign = b.run("pkg-config", "--cflags", "ompi-c", "xtensor", "openblas").stdout.split()
        probe = subprocess.run([*compiler, "-fsyntax-only", "-x", "c++", "-"], input="#include <oneapi/dnnl/dnnl.hpp>\n",
                               text=True, capture_output=True)
        if probe.returncode == 0:
            objects = [b.object("first", HEADERS), b.object("convolver", HEADERS, "oneDNN"), b.object("another convolver", HEADERS)]
            expect("oneDNN in one file", mixed("with PARTITA_ONEDNN", "without PARTITA_ONEDNN"), b.result(objects, None))
        else:
            print("skipped: oneDNN in one file of a program, because there is no oneDNN here (libdnnl-dev)")
    print(f"{passed} passed, {failed} failed, {0 if probe.returncode == 0 else 1} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
