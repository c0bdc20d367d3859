#!/usr/bin/env python3
"""newest_xtensor.py SOURCE_ROOT MPIRUN CXX...: a program that includes all of partita, from headers alone and with a
core of its own, is compiled with a newer xtensor than the system's, and run. Debian's packages of VERSIONS are unpacked
beside the build and not installed; exit status 77, with the reason, where those cannot be had. To be set anew when
partita is known to work with later ones."""
import os
import pathlib
import subprocess
import sys
import tempfile

VERSIONS = {"libxtensor-dev": "0.27.1-2", "xtl-dev": "0.8.2-1~0.1", "libxtensor-blas-dev": "0.23.0-1"}
SKIPPED = 77


def run(*command, **more):
    return subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **more)


def headers(source, folder):
    """Where they are, or None and why they are not."""
    wanted = " ".join(f"{name}={version}" for name, version in VERSIONS.items())
    fetch = f"""set -e; . '{source}/tools/prepare.sh'; . '{source}/tools/elsewhere.sh'; from_suite . deb sid
apt-get "${{apt_options[@]}}" -o Acquire::Retries=1 -o Acquire::http::Timeout=20 download {wanted}
for package in *.deb; do dpkg -x "$package" root; done"""
    try:
        done = run("bash", "-c", fetch, cwd=folder, timeout=90)
    except subprocess.TimeoutExpired:
        return None, "Debian's archive does not answer"
    except OSError as why:
        return None, why
    found = folder / "root" / "usr" / "include"
    return (found, "") if done.returncode == 0 and found.exists() else (None, done.stdout.strip())


def main():
    source, mpirun, compiler = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        newer, why = headers(source, folder)
        if newer is None:
            print(f"there is no xtensor {VERSIONS['libxtensor-dev']} to be had: {why}")
            sys.exit(SKIPPED)
        libraries = run("pkg-config", "--cflags", "--libs", "ompi-cxx", "openblas").stdout.split()
        core = folder / "core.cpp"
        core.write_text("#include <partita/src.hpp>\n")
        for files in ([], ["-DPARTITA_CORE", core]):
            done = run(*compiler, "-std=c++20", "-O0", "-isystem", newer, f"-I{source / 'include'}", *files,
                       source / "test" / "install" / "layers.cpp", "-o", folder / "program", *libraries, "-lboost_mpi",
                       "-lboost_serialization", env=os.environ)
            if done.returncode == 0:
                done = run(mpirun, "-n", 3, folder / "program", cwd=folder)
            if done.returncode != 0 or "the layers ran" not in done.stdout:
                sys.exit(f"with xtensor {VERSIONS['libxtensor-dev']} {files}: {done.stdout}")
        print(f"xtensor {VERSIONS['libxtensor-dev']}: compiled from headers alone and with the core, and run on 3 workers")


if __name__ == "__main__":
    main()
