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
    """An error message for each recipe that is not about this version, or lacks a library."""
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
    for template in (source / "cmake").glob("*.in"):
        for name in sorted(set(re.findall(r"@(\w+)@", template.read_text()))):
            if not re.search(rf"\b(set\({name} |REPLACE \S+ \S+ {name} )", texts["vcpkg/portfile.cmake"]):
                yield f"vcpkg/portfile.cmake gives no value of {name} to {template.name}"
    control = texts["debian/control"]
    if f"Package: libpartita{version}\n" not in control or f"libpartita.so.{version}" not in texts.get(
            f"debian/libpartita{version}.install", ""):
        yield f"debian/control has no package libpartita{version}, which is the name of the library's soversion"
    patterns = re.findall(r'copy\(self, "([^"]+)", os.path.join\(self.source_folder, "include"\)', texts["conan/conanfile.py"])
    left = [f.name for f in (source / "include").rglob("*") if f.is_file() and not any(f.match(p) for p in patterns)]
    if left:
        yield f"conan/conanfile.py does not package {len(left)} files of include/, such as {left[0]}"
    header = (source / "include" / "partita" / "core" / "version.hpp").read_text()
    if ".".join(re.findall(r"#define PARTITA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)) != version:
        yield f"core/version.hpp is not {version}"


def debian(source):
    if shutil.which("dpkg-buildpackage") is None and os.getuid() != 0:
        print("no dpkg-buildpackage here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # quickly: not optimised, without what debuggers read, and by clang where it is installed
        settings = {"DEB_BUILD_OPTIONS": "noopt noautodbgsym", "DEB_CXXFLAGS_STRIP": "-g"}
        if shutil.which("clang++"):
            settings["CXX"] = "clang++"
        subprocess.run([source / "tools" / "package-debian", folder], check=True, stdin=subprocess.DEVNULL,
                       env=os.environ | settings)
        root = folder / "root"
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        installed = {f.relative_to(root / "usr" / "include") for f in (root / "usr" / "include").rglob("*") if f.is_file()}
        headers = {f.relative_to(source / "include") for f in (source / "include").rglob("*") if f.is_file()}
        if installed != headers:
            yield f"libpartita-dev has and should not, or lacks: {sorted(map(str, installed ^ headers))}"
        for package in folder.glob("libpartita0*_*.deb"):
            fields = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True).stdout
            if "libboost-mpi" not in fields:
                yield f"{package.name} does not depend on the libraries that it needs: {fields}"
        libraries = next((root / "usr" / "lib").rglob("libpartita.so")).parent
        env = os.environ | {"PKG_CONFIG_PATH": f"{root / 'usr' / 'share' / 'pkgconfig'}:{libraries / 'pkgconfig'}",
                            "PATH": f"{root / 'usr' / 'bin'}:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(libraries)}
        for test in re.search(r"^Tests: (.*)$", (source / "tools/packages/debian/tests/control").read_text(),
                              re.M)[1].split(", "):
            done = subprocess.run([source / "tools/packages/debian/tests" / test], cwd=source, env=env, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            print(done.stdout)
            if done.returncode != 0:
                yield f"the autopkgtest {test} fails"


def main():
    what, source = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    failures = list({"recipes": recipes, "debian": debian}[what](source))
    for failure in failures:
        print(failure)
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
