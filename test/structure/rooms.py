#!/usr/bin/env python3
"""rooms.py INCLUDE_DIR: every include of the library goes down the rooms or stays in its own, only comm/ writes `MPI_`
or `boost::mpi`, no two headers have one name, and the compiled core (src.hpp) has every file of impl/.

With --self-test the check is held against planted includes, right and wrong ones, instead."""
import pathlib
import re
import sys
import tempfile

# What each room knows besides itself; nothing else may be included by it.
KNOWS = {
    "core": [],
    "rule": ["core"],
    "plan": ["core", "rule"],
    "explain": ["core", "rule", "plan"],
    "array": ["core", "rule"],
    "comm": ["core", "rule", "plan", "array"],
    "kernel": ["core", "rule", "plan", "array", "comm"],
    "nn": ["core", "rule", "plan", "array", "comm", "kernel"],
    "sharded": ["core", "rule", "plan", "array", "comm", "kernel", "nn"],
    "io": ["core", "rule", "plan", "array", "comm", "kernel", "sharded"],
}
PURE = ["core", "rule", "plan", "explain"]
FRONT_DOOR = "partita.hpp"
CORE = "src.hpp"  # one for the library and one in each room that has functions in impl/

# Where each library enters: (its headers, the one file or room's one file that may name them, how it is called).
XTENSOR = re.compile(r"xtensor/|xtl/|xsimd/")
BLAS = re.compile(r"xtensor-blas/|xflens/|cblas")
MPI = re.compile(r"boost/mpi|mpi\.h$|mpi\.hpp$")
MPI_WRITTEN = re.compile(r"\b(MPI_[A-Za-z]|boost::mpi\b)")
ONEDNN_DOOR = "nn/detail/onednn_convolver.hpp"  # what nn/local_convolution.hpp includes if it is asked to
HDF5_DOOR = "io/hdf5.hpp"  # of its own, not the front door's: hdf5.h is not everywhere
FFTW_DOOR = "array/local_transform.hpp"  # and its users, none of which partita.hpp includes: fftw3.h is not everywhere
FFTW_ROOM = ("kernel/fourier_transform.hpp", "kernel/detail/fourier_engine.hpp", "kernel/detail/fourier_run.hpp",
             "sharded/fourier.hpp", "sharded/detail/fourier_steps.hpp")
NAMED_AFTER_OPERATIONS = "rules"  # its headers have the names of what they are the rules of
OTHER = re.compile(r"[/.]")  # a header of the standard library has neither a folder nor a suffix
# C and system headers the impure rooms may use.
SYSTEM = re.compile(r"(boost/(serialization|mpl)/.*|immintrin\.h|sys/.*\.h|(unistd|fcntl|pthread|dirent|ftw)\.h)$")


def includes(file):
    for number, line in enumerate(file.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', line)
        if found:
            yield number, found[1], found[2]


def wrong_core(library, path):
    """One sentence for each definition that the compiled core lacks or has twice."""
    included = [pathlib.PurePosixPath(n).relative_to("partita").as_posix() for _, n, _ in includes(library / path)]
    if len(path.parts) == 1:
        wanted = [f.relative_to(library).as_posix() for f in library.glob(f"*/{CORE}")]
    else:
        wanted = [f.relative_to(library).as_posix() for f in (library / path.parts[0]).rglob("*.ipp")]
    for name in sorted({*included, *wanted}):
        if included.count(name) != wanted.count(name):
            yield f"{path.as_posix()}: includes {name} {included.count(name)} times, and not {wanted.count(name)}"


def wrong_arrows(root):
    """One sentence for each include that may not be."""
    library = root / "partita"
    headers = sorted([*library.rglob("*.hpp"), *library.rglob("*.ipp")])
    blas_doors, mpi_doors = set(), set()
    for file in headers:
        path = file.relative_to(library)
        here = path.as_posix()
        room = path.parts[0] if len(path.parts) > 1 else None
        if room is None and here not in (FRONT_DOOR, CORE):
            yield f"{here}: only {FRONT_DOOR} and {CORE} are outside the rooms"
            continue
        if path.name == CORE:
            yield from wrong_core(library, path)
            continue
        if room is not None and room not in KNOWS:
            yield f"{here}: {room} is no room of the house"
            continue
        for line, system, quoted in includes(file):
            where = f"{here}:{line}"
            name = system or quoted
            if quoted is not None:
                yield f'{where}: "{quoted}" is written <partita/room/file.hpp> here'
            elif name.startswith("partita/"):
                target = pathlib.PurePosixPath(name).relative_to("partita")
                if not (library / target).is_file():
                    yield f"{where}: there is no {name}"
                elif len(target.parts) == 1:
                    yield f"{where}: {FRONT_DOOR} is for programs"
                elif target.as_posix() == HDF5_DOOR:
                    yield f"{where}: {HDF5_DOOR} is for programs, as {FRONT_DOOR} is"
                elif target.as_posix() == FFTW_DOOR and here not in FFTW_ROOM:
                    yield f"{where}: {FFTW_DOOR} is for transforms: not every program has FFTW"
                else:
                    there = target.parts[0]
                    if room is not None and there != room and there not in KNOWS[room]:
                        yield f"{where}: {room} does not know {there} ({name})"
                    if "detail" in target.parts and there != room:
                        yield f"{where}: {name} is private to {there}"
            elif room is None:
                yield f"{where}: the front door only opens rooms, not {name}"
            elif BLAS.match(name):
                if room != "array":
                    yield f"{where}: BLAS enters through array, not {room}"
                blas_doors.add(here)
            elif XTENSOR.match(name):
                if here != "array/xtensor.hpp":
                    yield f"{where}: xtensor enters through array/xtensor.hpp ({name})"
            elif name == "hdf5.h":
                if here != HDF5_DOOR:
                    yield f"{where}: HDF5 enters through {HDF5_DOOR}"
            elif name == "fftw3.h":
                if here != FFTW_DOOR:
                    yield f"{where}: FFTW enters through {FFTW_DOOR}"
            elif name.startswith("oneapi/"):
                if here != ONEDNN_DOOR:
                    yield f"{where}: oneDNN enters through {ONEDNN_DOOR}"
            elif MPI.match(name):
                if room != "comm":
                    yield f"{where}: MPI enters through comm, not {room} ({name})"
                mpi_doors.add(here)
            elif OTHER.search(name) and (room in PURE or not SYSTEM.match(name)):
                yield f"{where}: {room} may not include {name}"
    for library_name, doors in (("BLAS", blas_doors), ("MPI", mpi_doors)):
        if len(doors) > 1:
            yield f"{library_name} enters through one file, not through {', '.join(sorted(doors))}"


PLANTED = {  # file: (an include, what the error must say; None if there must be none)
    "core/a.hpp": ("<partita/core/b.hpp>", None),
    "core/b.hpp": ("<partita/rule/a.hpp>", "core does not know rule"),
    "core/c.hpp": ("<xtensor/xtensor.hpp>", "xtensor enters through array/xtensor.hpp"),
    "core/d.hpp": ("<boost/mpl/bool.hpp>", "core may not include"),
    "core/e.hpp": ("<array>", None),
    "rule/a.hpp": ("<partita/core/a.hpp>", None),
    "rule/b.hpp": ("<partita/plan/a.hpp>", "rule does not know plan"),
    "plan/a.hpp": ("<partita/rule/a.hpp>", None),
    "plan/b.hpp": ("<mpi.h>", "MPI enters through comm"),
    "plan/c.hpp": ("<partita/rule/detail/a.hpp>", "private to rule"),
    "rule/detail/a.hpp": ("<partita/rule/a.hpp>", None),
    "rule/c.hpp": ("<partita/rule/detail/a.hpp>", None),
    "explain/a.hpp": ("<partita/array/xtensor.hpp>", "explain does not know array"),
    "array/xtensor.hpp": ("<xtensor/xtensor.hpp>", None),
    "array/a.hpp": ("<xtensor/xview.hpp>", "xtensor enters through array/xtensor.hpp"),
    "array/b.hpp": ("<partita/plan/a.hpp>", "array does not know plan"),
    "array/blas.hpp": ("<xtensor-blas/xblas.hpp>", None),
    "comm/mpi.hpp": ("<boost/mpi/communicator.hpp>", None),
    "comm/a.hpp": ("<partita/kernel/a.hpp>", "comm does not know kernel"),
    "kernel/a.hpp": ("<partita/explain/a.hpp>", "kernel does not know explain"),
    "kernel/b.hpp": ("<partita/comm/mpi.hpp>", None),
    "kernel/c.hpp": ("<xtensor-blas/xblas.hpp>", "BLAS enters through array"),
    "nn/a.hpp": ("<partita/kernel/a.hpp>", None),
    "nn/b.hpp": ('"a.hpp"', "is written <partita/room/file.hpp>"),
    "nn/c.hpp": ("<partita/partita.hpp>", "is for programs"),
    "nn/e.hpp": ("<oneapi/dnnl/dnnl.hpp>", "oneDNN enters through nn/detail/onednn_convolver.hpp"),
    "nn/detail/onednn_convolver.hpp": ("<oneapi/dnnl/dnnl.hpp>", None),
    "io/hdf5.hpp": ("<hdf5.h>", None),
    "io/a.hpp": ("<hdf5.h>", "HDF5 enters through io/hdf5.hpp"),
    "io/b.hpp": ("<partita/io/hdf5.hpp>", "is for programs"),
    "array/local_transform.hpp": ("<fftw3.h>", None),
    "kernel/d.hpp": ("<fftw3.h>", "FFTW enters through array/local_transform.hpp"),
    "kernel/e.hpp": ("<partita/array/local_transform.hpp>", "is for transforms"),
    "kernel/fourier_transform.hpp": ("<partita/array/local_transform.hpp>", None),
    "nn/d.hpp": ("<partita/nn/missing.hpp>", "there is no"),
    "partita.hpp": ("<partita/nn/a.hpp>", None),
    "attic/a.hpp": ("<partita/core/a.hpp>", "is no room"),
    "other.hpp": ("<partita/core/a.hpp>", "are outside"),
}


def wrong_words(root):
    """One sentence for each line outside of comm/ that names MPI."""
    for file in sorted((root / "partita").rglob("*.hpp")):
        here = file.relative_to(root / "partita")
        if here.parts[0] == "comm":
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if MPI_WRITTEN.search(line.split("//")[0]):
                yield f"{here.as_posix()}:{number}: MPI is named in comm/ only, not here"


def names_used_twice(root):
    seen = {}
    for file in sorted((root / "partita").rglob("*.hpp")):
        here = file.relative_to(root / "partita")
        if NAMED_AFTER_OPERATIONS not in here.parts[:-1] and here.name != CORE:
            if here.name in seen:
                yield f"{here.as_posix()}: {seen[here.name]} has the same name"
            seen.setdefault(here.name, here.as_posix())


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, (include, _) in PLANTED.items():
            file = root / "partita" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"#pragma once\n#include {include}\n")
        found = list(wrong_arrows(root))
        for name, (include, failure) in PLANTED.items():
            mine = [f for f in found if f.split(":")[0] == name]
            if failure is None and mine:
                yield f"{name} may include {include} and is refused: {mine}"
            if failure is not None and not any(failure in m for m in mine):
                yield f"{name} may not include {include} and is let through"
        for room, twice in (("comm", "<mpi.h>"), ("array", "<cblas.h>")):
            (root / "partita" / room / "second_door.hpp").write_text(f"#include {twice}\n")
            if not any("enters through one file, not" in f for f in wrong_arrows(root)):
                yield f"{twice} enters {room} through two files and is let through"
            (root / "partita" / room / "second_door.hpp").unlink()
        for line, refused in (("int n = MPI_Comm_size;", True), ("boost::mpi::communicator c;", True),
                              ("// MPI_Comm_size counts", False), ("BOOST_IS_MPI_DATATYPE(t)", False)):
            (root / "partita" / "kernel" / "a.hpp").write_text(line)
            if any(wrong_words(root)) != refused:
                yield f"'{line}' in kernel/ is {'let through' if refused else 'refused'}"
        (root / "partita" / "comm" / "e.hpp").write_text("")
        if not any("comm/e.hpp" in name or "core/e.hpp" in name for name in names_used_twice(root)):
            yield "two headers of one name are let through"


def main():
    root = pathlib.Path(sys.argv[1])
    checks = [self_test()] if sys.argv[1] == "--self-test" else [check(root) for check in (wrong_arrows, wrong_words, names_used_twice)]
    failures = [failure for check in checks for failure in check]
    for failure in failures:
        print(failure)
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
