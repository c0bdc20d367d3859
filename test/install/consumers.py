#!/usr/bin/env python3
"""consumers.py WAY SOURCE_ROOT MPIRUN CXX...: programs outside the repository are built against partita, and run: one that
uses kernels and asks for no BLAS, and one that uses a linear layer.

WAY is how they find partita: pkg-config or cmake in a prefix that it was installed to and that was then moved, its folder by
CMake's FetchContent, or meson as a subproject."""
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


def install(source, folder, *options):
    """Installs into a prefix of its own and answers what it is."""
    prefix = folder / "prefix"
    run("meson", "setup", folder / "build", source, f"--prefix={prefix}", "-Dtests=disabled", "-Dexamples=disabled",
        "-Dbenchmarks=disabled", "-Doptimization=0", *options)
    run("meson", "install", "-C", folder / "build")
    installed = {f.relative_to(prefix / "include") for f in (prefix / "include").rglob("*.hpp")}
    headers = {f.relative_to(source / "include") for f in (source / "include").rglob("*.hpp")}
    if installed != headers:
        sys.exit(f"installed and should not, or should and is not: {sorted(map(str, installed ^ headers))}")
    said = run(prefix / "bin" / "partita-explain", "broadcast", "1x3", "2x3")
    pages = list((prefix / "share" / "man" / "man1").glob("partita-explain.1*"))
    if "legal" not in said or not pages:
        sys.exit(f"partita-explain or its man page is not installed: {said} {pages}")
    return prefix


def moved(prefix):
    """An installed prefix may be moved as a whole."""
    other = prefix.with_name("another prefix".replace(" ", "_"))
    prefix.rename(other)
    return other


def by_pkg_config(source, folder, here, compiler):
    where = os.environ | {"PKG_CONFIG_PATH": str(moved(install(source, folder)) / "share" / "pkgconfig")}
    programs = []
    for name, package in (("kernels", "partita"), ("layers", "partita-nn")):
        flags = run("pkg-config", "--cflags", "--libs", package, env=where).split()
        unwanted = [f for f in flags if f.startswith("-std=") or f == "-lmpi_cxx" or (name == "kernels" and "blas" in f)]
        if unwanted:
            sys.exit(f"pkg-config {package} gives {unwanted}")
        run(*compiler, "-std=c++20", here / f"{name}.cpp", "-o", folder / name, *flags)
        programs.append(folder / name)
    # with oneDNN its macro and its library come along, without it neither does, whatever is installed here
    if "dnnl" in " ".join(flags).lower():
        sys.exit(f"pkg-config partita-nn gives {flags}, and nobody asked for oneDNN")
    if subprocess.run([*compiler, "-fsyntax-only", "-x", "c++", "-"], input="#include <oneapi/dnnl/dnnl.hpp>\n", text=True,
                      capture_output=True).returncode == 0:
        (folder / "with").mkdir()
        other = os.environ | {"PKG_CONFIG_PATH": str(install(source, folder / "with", "-Donednn=enabled") / "share" / "pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "partita-nn", env=other).split()
        run(*compiler, "-std=c++20", here / "layers.cpp", "-o", folder / "layers_with_onednn", *flags)
        programs.append(folder / "layers_with_onednn")
        if not {"-DPARTITA_ONEDNN", "-ldnnl"} <= set(flags):
            sys.exit(f"pkg-config partita-nn gives {flags} after -Donednn=enabled")
    # the program of the README by the README's own line
    shutil.copy(source / "examples" / "00_first.cpp", folder / "first.cpp")
    line = re.search(r"^g\+\+ (.*first\.cpp.*)$", (source / "README.md").read_text(), re.M)[1]
    run("sh", "-c", " ".join(compiler) + " " + line, env=where, cwd=folder)
    run("mpirun", "-n", "4", folder / "first")
    return programs


def cmake_programs(here, folder, *options):
    build = folder / "consumer"
    run("cmake", "-G", "Ninja", "-S", here, "-B", build, *options)
    run("cmake", "--build", build)
    return [build / "kernels", build / "layers"]


def by_cmake(source, folder, here, compiler):
    prefix = moved(install(source, folder))
    programs = cmake_programs(here, folder, f"-DCMAKE_PREFIX_PATH={prefix}")
    found = re.search(r"^partita_DIR:PATH=(.*)$", (folder / "consumer" / "CMakeCache.txt").read_text(), re.M)
    if not found or not found[1].startswith(str(prefix)):
        sys.exit(f"CMake found another partita: {found and found[1]}")
    without_blas = "COMPONENTS kernels)\nif(BLAS_FOUND OR TARGET partita::nn)\nmessage(FATAL_ERROR blas)\nendif("
    for number, (asked, accepted) in enumerate((("REQUIRED", True), ("0.2 REQUIRED", True), ("0.1 REQUIRED", False),
                                                ("99.0 REQUIRED", False), ("REQUIRED COMPONENTS nn", True),
                                                ("REQUIRED COMPONENTS gpu", False), (f"REQUIRED {without_blas}", True))):
        other = folder / f"asked-{number}"
        other.mkdir()
        (other / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.18)\nproject(other LANGUAGES CXX)\n"
                                              f"find_package(partita {asked})\n")
        done = subprocess.run(["cmake", "-G", "Ninja", "-S", other, "-B", other / "build",
                               f"-DCMAKE_PREFIX_PATH={prefix}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if (done.returncode == 0) != accepted:
            sys.exit(f"find_package(partita {asked}): {'refused' if accepted else 'accepted'}\n{done.stdout}")
    return programs


def by_fetch_content(source, folder, here, compiler):
    return cmake_programs(here, folder, f"-DPARTITA_SOURCE={source}")


def by_meson(source, folder, here, compiler):
    consumer = folder / "source"
    (consumer / "subprojects").mkdir(parents=True)
    (consumer / "subprojects" / "partita").symlink_to(source)
    (consumer / "subprojects" / "partita.wrap").write_text("[wrap-file]\ndirectory = partita\n\n[provide]\n"
                                                           "dependency_names = partita, partita-nn\n")
    for name in ("kernels.cpp", "layers.cpp"):
        shutil.copy(here / name, consumer)
    shutil.copy(here / "subproject.build", consumer / "meson.build")
    said = run("meson", "setup", folder / "build", consumer)
    if "unit_test_framework" in said:
        sys.exit(f"as a subproject it asks for what only its tests need\n{said}")
    run("ninja", "-C", folder / "build")
    return [folder / "build" / "kernels", folder / "build" / "layers"]


def main():
    way, source, mpirun, *compiler = sys.argv[1:]
    os.environ["CXX"] = " ".join(compiler)
    ways = {"pkg-config": by_pkg_config, "cmake": by_cmake, "fetch-content": by_fetch_content, "meson": by_meson}
    with tempfile.TemporaryDirectory() as folder:
        programs = ways[way](pathlib.Path(source), pathlib.Path(folder), pathlib.Path(__file__).resolve().parent, compiler)
        said = "".join(run(mpirun, "-n", "2", program) for program in programs)
    print(said)
    sys.exit("the kernels ran" not in said or "the layers ran" not in said)


if __name__ == "__main__":
    main()
