#!/usr/bin/env python3
"""packages.py recipes|debian SOURCE_ROOT: every recipe names the version and the libraries that meson.build does; the
Debian packages are built from the source, hold what they should, and pass their own test once they are unpacked."""
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NEEDED = {"boost", "xtensor", "mpi", "blas"}      # found in some spelling in each recipe


def recipes(source):
    """A sentence for each recipe that is not about this version, or lacks a library."""
    version = re.search(r"version: '([\d.]+)'", (source / "meson.build").read_text())[1]
    folder = source / "tools" / "packages"
    texts = {f.relative_to(folder).as_posix(): f.read_text() for f in sorted(folder.rglob("*")) if f.is_file()}
    json.loads(texts["vcpkg/vcpkg.json"])
    for name in ("conan/conanfile.py", "spack/package.py"):
        ast.parse(texts[name])
    for name in ("debian/changelog", "vcpkg/vcpkg.json", "conan/conanfile.py", "spack/package.py"):
        named = re.search(r'\(([\d.]+)-\d+\)|"?version"?\s*(?:=|:|\()\s*"([\d.]+)"', texts[name])
        if not named or version not in named.groups():
            yield f"{name} is not about version {version}"
    for name in ("debian/control", "vcpkg/vcpkg.json", "conan/conanfile.py", "spack/package.py"):
        missing = {library for library in NEEDED if library not in texts[name]}
        if missing:
            yield f"{name} does not name {', '.join(sorted(missing))}"
    header = (source / "include" / "partita" / "core" / "version.hpp").read_text()
    if ".".join(re.findall(r"#define PARTITA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)) != version:
        yield f"core/version.hpp is not {version}"


def debian(source):
    if shutil.which("dpkg-buildpackage") is None and os.getuid() != 0:
        print("no dpkg-buildpackage here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([source / "tools" / "package-debian", folder], check=True, stdin=subprocess.DEVNULL)
        root = folder / "root"
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        installed = {f.relative_to(root / "usr" / "include") for f in (root / "usr" / "include").rglob("*.hpp")}
        headers = {f.relative_to(source / "include") for f in (source / "include").rglob("*.hpp")}
        if installed != headers:
            yield f"libpartita-dev has and should not, or lacks: {sorted(map(str, installed ^ headers))}"
        env = os.environ | {"PKG_CONFIG_PATH": str(root / "usr" / "share" / "pkgconfig"),
                            "PATH": f"{root / 'usr' / 'bin'}:{os.environ['PATH']}"}
        for test in re.findall(r"^Tests: (.*)$", (source / "tools/packages/debian/tests/control").read_text(), re.M):
            done = subprocess.run([source / "tools/packages/debian/tests" / test], cwd=source, env=env, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            print(done.stdout)
            if done.returncode != 0:
                yield f"the autopkgtest {test} fails"


def main():
    what, source = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    complaints = list({"recipes": recipes, "debian": debian}[what](source))
    for complaint in complaints:
        print(complaint)
    sys.exit(len(complaints) > 0)


if __name__ == "__main__":
    main()
