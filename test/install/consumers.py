#!/usr/bin/env python3
"""consumers.py WAY SOURCE_ROOT MPIRUN CXX...: a program outside the repository is built against partita, and run.

WAY is how it finds partita: pkg-config or cmake in a prefix that it was installed to, or meson as a subproject."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def install(source, folder):
    """Installs into a prefix of its own and answers what it is."""
    prefix = folder / "prefix"
    run("meson", "setup", folder / "build", source, f"--prefix={prefix}", "-Dtests=disabled", "-Dexamples=disabled",
        "-Dbenchmarks=disabled")
    run("meson", "install", "-C", folder / "build")
    installed = {f.relative_to(prefix / "include") for f in (prefix / "include").rglob("*.hpp")}
    headers = {f.relative_to(source / "include") for f in (source / "include").rglob("*.hpp")}
    if installed != headers:
        sys.exit(f"installed and should not, or should and is not: {sorted(map(str, installed ^ headers))}")
    return prefix


def by_pkg_config(source, folder, here, compiler):
    where = {"PKG_CONFIG_PATH": str(install(source, folder) / "share" / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "partita", env=os.environ | where).split()
    run(*compiler, here / "consumer.cpp", "-o", folder / "consumer", *flags)
    return folder / "consumer"


def by_cmake(source, folder, here, compiler):
    prefix = install(source, folder)
    run("cmake", "-G", "Ninja", "-S", here, "-B", folder / "consumer", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder / "consumer")
    found = re.search(r"^partita_DIR:PATH=(.*)$", (folder / "consumer" / "CMakeCache.txt").read_text(), re.M)
    if not found or not found[1].startswith(str(prefix)):
        sys.exit(f"CMake found another partita: {found and found[1]}")
    for version, accepted in (("", True), ("0.1", True), ("0.0", False), ("99.0", False)):
        other = folder / f"version-{version}"
        other.mkdir()
        (other / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.18)\nproject(other LANGUAGES CXX)\n"
                                              f"find_package(partita {version} REQUIRED)\n")
        done = subprocess.run(["cmake", "-G", "Ninja", "-S", other, "-B", other / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if (done.returncode == 0) != accepted:
            sys.exit(f"find_package(partita {version}): {'refused' if accepted else 'accepted'}\n{done.stdout}")
    return folder / "consumer" / "consumer"


def by_meson(source, folder, here, compiler):
    consumer = folder / "source"
    (consumer / "subprojects").mkdir(parents=True)
    (consumer / "subprojects" / "partita").symlink_to(source)
    shutil.copy(here / "consumer.cpp", consumer)
    shutil.copy(here / "subproject.build", consumer / "meson.build")
    said = run("meson", "setup", folder / "build", consumer)
    if "unit_test_framework" in said:
        sys.exit(f"as a subproject it asks for what only its tests need\n{said}")
    run("ninja", "-C", folder / "build")
    return folder / "build" / "consumer"


def main():
    way, source, mpirun, *compiler = sys.argv[1:]
    os.environ["CXX"] = " ".join(compiler)
    ways = {"pkg-config": by_pkg_config, "cmake": by_cmake, "meson": by_meson}
    with tempfile.TemporaryDirectory() as folder:
        program = ways[way](pathlib.Path(source), pathlib.Path(folder), pathlib.Path(__file__).resolve().parent, compiler)
        said = run(mpirun, "-n", "2", program)
    print(said)
    sys.exit("the consumer ran" not in said)


if __name__ == "__main__":
    main()
