#!/usr/bin/env python3
"""consumers.py WAY SOURCE_ROOT BUILD_ROOT MPIRUN CXX...: programs outside the repository are built against partita, and
run: one that uses kernels and asks for no BLAS, and one that uses a linear layer, each from headers alone and with the
compiled core.

WAY is how they find partita: "installed" is pkg-config and CMake's find_package in a prefix that the build BUILD_ROOT
was installed to and that was then moved, "fetch-content" is CMake with the folder of partita, "meson" a subproject,
"headers" an installation without the compiled core, which a program compiles in a file of its own."""
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


def rejected(*command, **more):
    """What a command prints that must fail."""
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode == 0:
        sys.exit(f"must fail: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def checked(source, prefix):
    """The prefix, with all headers of the source in it and nothing else beside them."""
    installed = {f.relative_to(prefix / "include") for f in (prefix / "include").rglob("*") if f.is_file()}
    headers = {f.relative_to(source / "include") for f in (source / "include").rglob("*") if f.is_file()}
    if installed != headers:
        sys.exit(f"installed and should not, or should and is not: {sorted(map(str, installed ^ headers))}")
    return prefix


def install(source, folder, *options):
    """Builds without what needs no installation, installs into a prefix of its own and returns it."""
    prefix = folder / "prefix"
    run("meson", "setup", folder / "build", source, f"--prefix={prefix}", "-Dtests=disabled", "-Dexamples=disabled",
        "-Dbenchmarks=disabled", "-Doptimization=0", *options)
    run("meson", "install", "-C", folder / "build")
    return checked(source, prefix)


def install_build(source, build, folder):
    """Installs what this build has compiled into a folder for a package, and returns the prefix in it."""
    run("meson", "install", "-C", build, "--no-rebuild", "--destdir", folder / "package")
    (prefix,) = {f.parent.parent for f in (folder / "package").rglob("bin/partita-explain")}
    return checked(source, prefix)


def moved(prefix):
    """An installed prefix may be moved as a whole."""
    other = prefix.with_name("another prefix".replace(" ", "_"))
    prefix.rename(other)
    return other


def only(prefix, pattern):
    """The one folder of a prefix that has files of this pattern."""
    folders = {f.parent for f in prefix.rglob(pattern)}
    if len(folders) != 1:
        sys.exit(f"{pattern} is installed in {sorted(map(str, folders))}")
    return folders.pop()


def environment(prefix):
    """What pkg-config needs to find partita in this prefix."""
    paths = {str(f.parent) for f in prefix.rglob("partita*.pc")}
    return os.environ | {"PKG_CONFIG_PATH": ":".join(sorted(paths))}


def needed(file):
    """The shared libraries that a program or a library asks for, and its folders to search."""
    printed = run("readelf", "-d", file)
    return re.findall(r"\((?:NEEDED|RUNPATH)\).*\[(.*)\]", printed)


def flags_of(env, *packages):
    return run("pkg-config", "--cflags", "--libs", *packages, env=env).split()


def check_libraries(source, libraries):
    """libpartita has a name with the whole version, and asks for all libraries that it needs."""
    version = re.search(r"version: '([\d.]+)'", (source / "meson.build").read_text())[1]
    name = f"libpartita.so.{version}"
    if f"[{name}]" not in run("readelf", "-d", libraries / "libpartita.so"):
        sys.exit(f"libpartita.so is not named {name}")
    missing = [line for line in run("ldd", "-r", libraries / "libpartita.so").splitlines()
               if "undefined symbol" in line or "not found" in line]
    if missing:
        sys.exit(f"libpartita.so lacks {missing}")
    return name


def by_pkg_config(source, folder, here, compiler, prefix, mpirun):
    env = environment(prefix)
    libraries = only(prefix, "libpartita.so")
    name = check_libraries(source, libraries)
    programs = []
    for program, package in (("kernels", "partita"), ("layers", "partita-nn")):
        flags = flags_of(env, package)
        unwanted = [f for f in flags if f.startswith("-std=") or f in ("-lmpi_cxx", "-lpartita", "-DPARTITA_CORE") or
                    (program == "kernels" and "blas" in f)]
        if unwanted:
            sys.exit(f"pkg-config {package} gives {unwanted}")
        run(*compiler, "-std=c++20", here / f"{program}.cpp", "-o", folder / program, *flags)
        programs.append(folder / program)
        # with the compiled core: the linker writes the folder of libpartita into the program
        flags = flags_of(env, package, "partita-core")
        run(*compiler, "-std=c++20", here / f"{program}.cpp", "-o", folder / f"{program}_core", *flags,
            f"-Wl,-rpath,{libraries}")
        programs.append(folder / f"{program}_core")
        if name in needed(folder / program) or not {name, str(libraries)} <= set(needed(folder / f"{program}_core")):
            sys.exit(f"{program} needs {needed(folder / program)}, and with the core {needed(folder / f'{program}_core')}")
    # ... or the environment names it
    run(*compiler, "-std=c++20", here / "kernels.cpp", "-o", folder / "kernels_plain", *flags_of(env, "partita-core"))
    if "libpartita" not in rejected(folder / "kernels_plain"):
        sys.exit("a program runs without its libpartita")
    run(mpirun, "-n", "2", folder / "kernels_plain", env=os.environ | {"LD_LIBRARY_PATH": str(libraries)})
    # the static library needs no libpartita when the program runs
    flags = [f"-l:libpartita.a" if f == "-lpartita" else f
             for f in run("pkg-config", "--static", "--cflags", "--libs", "partita-core", env=env).split()]
    run(*compiler, "-std=c++20", here / "kernels.cpp", "-o", folder / "kernels_static", *flags)
    if name in needed(folder / "kernels_static"):
        sys.exit(f"linked with libpartita.a, and needs {needed(folder / 'kernels_static')}")
    programs.append(folder / "kernels_static")
    return programs + by_readme(source, folder, compiler, env, libraries)


def by_readme(source, folder, compiler, env, libraries):
    """The program of the README by the README's own lines."""
    shutil.copy(source / "examples" / "00_first.cpp", folder / "first.cpp")
    lines = re.findall(r"^g\+\+ (.*first\.cpp.*)$", (source / "README.md").read_text(), re.M)
    if [("partita-core" in line) for line in lines] != [False, True]:
        sys.exit(f"the README compiles from headers alone and then with the core, and not {lines}")
    for line in lines:
        run("sh", "-c", " ".join(compiler) + " " + line, env=env, cwd=folder)
        run("mpirun", "-n", "4", folder / "first", env=os.environ | {"LD_LIBRARY_PATH": str(libraries)})
    return []


def cmake_programs(here, folder, *options):
    build = folder / "consumer"
    run("cmake", "-G", "Ninja", "-S", here, "-B", build, *options)
    run("cmake", "--build", build, "--target", "kernels", "layers")
    if list(build.rglob("*partita_core*.a")):
        sys.exit("CMake compiles the core for programs that do not use it")
    run("cmake", "--build", build)
    return [build / name for name in ("kernels", "layers", "kernels_core", "layers_core")]


def found_by_cmake(prefix, folder, number, asked):
    """What CMake prints, and whether it accepts a line of find_package."""
    other = folder / f"asked-{number}"
    other.mkdir()
    (other / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.18)\nproject(other LANGUAGES CXX)\n"
                                          f"find_package(partita {asked})\n")
    done = subprocess.run(["cmake", "-G", "Ninja", "-S", other, "-B", other / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout, done.returncode == 0


def by_cmake(folder, here, prefix):
    programs = cmake_programs(here, folder, f"-DCMAKE_PREFIX_PATH={prefix}")
    cache = (folder / "consumer" / "CMakeCache.txt").read_text()
    found = re.search(r"^partita_DIR:PATH=(.*)$", cache, re.M)
    if not found or not found[1].startswith(str(prefix)):
        sys.exit(f"CMake found another partita: {found and found[1]}")
    if not any(n.startswith("libpartita.so.") for n in needed(folder / "consumer" / "kernels_core")):
        sys.exit("CMake does not link the shared libpartita")
    run("cmake", "-DPARTITA_STATIC=ON", folder / "consumer")
    run("cmake", "--build", folder / "consumer", "--target", "kernels_core")
    if any(n.startswith("libpartita") for n in needed(folder / "consumer" / "kernels_core")):
        sys.exit("CMake does not link the static libpartita with PARTITA_STATIC")
    without_blas = "COMPONENTS kernels core)\nif(BLAS_FOUND OR TARGET partita::nn OR NOT TARGET partita::core)\n" \
                   "message(FATAL_ERROR blas)\nendif("
    for number, (asked, accepted) in enumerate((("REQUIRED", True), ("0.2 REQUIRED", True), ("0.1 REQUIRED", False),
                                                ("99.0 REQUIRED", False), ("REQUIRED COMPONENTS nn core", True),
                                                ("REQUIRED COMPONENTS gpu", False), (f"REQUIRED {without_blas}", True))):
        printed, found = found_by_cmake(prefix, folder, number, asked)
        if found != accepted:
            sys.exit(f"find_package(partita {asked}): {'refused' if accepted else 'accepted'}\n{printed}")
    return programs


def by_installed(source, build, folder, here, compiler, mpirun):
    prefix = moved(install_build(source, build, folder))
    said = run(prefix / "bin" / "partita-explain", "broadcast", "1x3", "2x3")
    pages = list((prefix / "share" / "man" / "man1").glob("partita-explain.1*"))
    if "legal" not in said or not pages:
        sys.exit(f"partita-explain or its man page is not installed: {said} {pages}")
    return by_pkg_config(source, folder, here, compiler, prefix, mpirun) + by_cmake(folder, here, prefix)


def by_headers(source, build, folder, here, compiler, mpirun):
    prefix = install(source, folder, "-Dcore=disabled", "-Dtools=disabled")
    libraries = [str(f) for pattern in ("libpartita*", "partita-core*") for f in prefix.rglob(pattern)]
    if libraries:
        sys.exit(f"-Dcore=disabled installs {libraries}")
    for number, (asked, accepted) in enumerate((("REQUIRED", True), ("REQUIRED COMPONENTS kernels core", False),
                                                ("REQUIRED COMPONENTS kernels OPTIONAL_COMPONENTS core", True))):
        printed, found = found_by_cmake(prefix, folder, number, asked)
        if found != accepted or (not found and "-Dcore=enabled" not in printed):
            sys.exit(f"find_package(partita {asked}) without a core: {'accepted' if found else 'refused'}\n{printed}")
    # one file of the program compiles the core
    flags = flags_of(environment(prefix), "partita")
    core = folder / "core.cpp"
    core.write_text("#include <partita/src.hpp>\n")
    run(*compiler, "-std=c++20", "-DPARTITA_CORE", core, here / "kernels.cpp", "-o", folder / "own_core", *flags)
    programs = [folder / "own_core"]
    message = rejected(*compiler, "-std=c++20", "-fsyntax-only", core, *flags)
    if "define PARTITA_CORE in all files of the program" not in message:
        sys.exit(f"partita/src.hpp without PARTITA_CORE: {message}")
    # with oneDNN its macro and its library come along, without it neither does, whatever is installed here
    flags = flags_of(environment(prefix), "partita-nn")
    if "dnnl" in " ".join(flags).lower():
        sys.exit(f"pkg-config partita-nn gives {flags}, and oneDNN was not asked for")
    if subprocess.run([*compiler, "-fsyntax-only", "-x", "c++", "-"], input="#include <oneapi/dnnl/dnnl.hpp>\n", text=True,
                      capture_output=True).returncode == 0:
        (folder / "with").mkdir()
        other = environment(install(source, folder / "with", "-Donednn=enabled", "-Dcore=disabled", "-Dtools=disabled"))
        flags = flags_of(other, "partita-nn")
        run(*compiler, "-std=c++20", here / "layers.cpp", "-o", folder / "layers_with_onednn", *flags)
        programs.append(folder / "layers_with_onednn")
        if not {"-DPARTITA_ONEDNN", "-ldnnl"} <= set(flags):
            sys.exit(f"pkg-config partita-nn gives {flags} after -Donednn=enabled")
    return programs


def by_fetch_content(source, build, folder, here, compiler, mpirun):
    return cmake_programs(here, folder, f"-DPARTITA_SOURCE={source}")


def by_meson(source, build, folder, here, compiler, mpirun):
    consumer = folder / "source"
    (consumer / "subprojects").mkdir(parents=True)
    (consumer / "subprojects" / "partita").symlink_to(source)
    (consumer / "subprojects" / "partita.wrap").write_text("[wrap-file]\ndirectory = partita\n\n[provide]\n"
                                                           "dependency_names = partita, partita-nn, partita-core\n")
    for name in ("kernels.cpp", "layers.cpp"):
        shutil.copy(here / name, consumer)
    shutil.copy(here / "subproject.build", consumer / "meson.build")
    said = run("meson", "setup", folder / "build", consumer, "-Dpartita:optimization=0")
    if "unit_test_framework" in said:
        sys.exit(f"as a subproject it asks for what only its tests need\n{said}")
    run("ninja", "-C", folder / "build", "kernels", "layers")
    if [f for f in folder.rglob("libpartita.*") if f.is_file()]:
        sys.exit("Meson compiles the core for programs that do not use it")
    run("ninja", "-C", folder / "build")
    return [folder / "build" / name for name in ("kernels", "layers", "kernels_core", "layers_core")]


def main():
    way, source, build, mpirun, *compiler = sys.argv[1:]
    os.environ["CXX"] = " ".join(compiler)
    ways = {"installed": by_installed, "fetch-content": by_fetch_content, "meson": by_meson, "headers": by_headers}
    with tempfile.TemporaryDirectory() as folder:
        programs = ways[way](pathlib.Path(source), pathlib.Path(build), pathlib.Path(folder),
                             pathlib.Path(__file__).resolve().parent, compiler, mpirun)
        said = [run(mpirun, "-n", "2", program) for program in programs]
    print("".join(said))
    failed = [str(p) for p, s in zip(programs, said) if not re.search(r"the (kernels|layers) ran", s)]
    if failed or not programs:
        sys.exit(f"did not run: {failed}")


if __name__ == "__main__":
    main()
