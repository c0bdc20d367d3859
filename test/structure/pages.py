#!/usr/bin/env python3
"""pages.py SOURCE_ROOT | --self-test: the pages are whole and say what is there.

- Code and output stand between fences with a language, which no formatter of paragraphs fills: none is indented, no
  fence stands inside a line, each is closed.
- docs/architecture.md names every room of include/partita; headers, environment variables and, on pages of decisions,
  MPI functions that pages name exist in the code.
- docs/cheat-sheet.md has every header of the front door that programs call, by its name or one of its functions.
- Every column of a table has a head. docs/cheat-sheet.md lists the headers that partita.hpp leaves out.
- A qualified name is one of the code; so is what a page calls.
- A limit that a page gives is the one of the code. No page gives MPI windows to a library that makes none."""
import pathlib
import re
import sys

# room/header: the name on the cheat sheet, where it is not that of the header
CALLED = {
    "io/sharded_checkpoint": "save_tensors", "sharded/sharded_tensor": "shard<float>(", "sharded/element_operations": "apply_to_elements", "sharded/tuple_sums": "one.gradients + two.gradients",
    "kernel/halo_cells": "for_interior", "sharded/sharded_partition": "partition_of<",
    "nn/activation": "relu<float>()", "nn/cross_entropy": "cross_entropy_loss", "nn/loss": "mse_loss",
    "nn/optimiser": "optimiser.step()", "nn/pooling": "max_pooling", "nn/initialise_convolution": "kaiming_uniform",
    "nn/convolution_sequentially": "sequentially::convolution",
    "sharded/label_losses": "{.ignore_index", "sharded/cumulative": "cumsum(x", "sharded/cut_further": "optimiser_state_axes", "sharded/arithmetic": "add(x, b", "sharded/compare": "greater(", "sharded/convolve": "convolve<",
    "sharded/drop": "apply_dropout(x", "sharded/operate": "apply_op", "sharded/indexed": "take(", "sharded/losses": "cross_entropy(scores", "sharded/movements": "movements_of", "sharded/named_parameters": "named_parameters<",
    "sharded/norms": "normalise_batch", "sharded/parts": "concatenate", "sharded/pool": "max_pool`", "sharded/rearrange": "flip(x", "sharded/scatter": "scatter_add",
    "sharded/sort_along": "argsort(x, dim", "sharded/sharded_optimiser": "sharded_adamw", "sharded/tensor_functions": "softmax(x)", "sharded/traced_function": "trace(",
    "sharded/printed": "std::cout << x", "io/npy": "save_npy", "io/sharded_npy": 'save_npy("w.npy", x)', "io/optimiser_state": "save_optimiser",
}
NOT_CALLED = {"nn/layer": "a concept", "sharded/fallback_overloads": "the errors of wrong calls"}
BUILD_CALLS = {"dependency", "find_package", "target_link_libraries"}      # of Meson and CMake
NOT_LISTED = {"partita/comm/mpi_info_null.hpp", "partita/kernel/index_list.hpp", "partita/rule/broadcast_factors.hpp"}
OTHERS = {"scale::symmetric", "repartition::adjoint"}      # of other libraries, or of a base class
PAPERS = {"MPI_Reduce"}      # decisions say why these are not called


def broken_blocks(text):
    """Lines where code or output may be filled as a paragraph, or has been."""
    open_at, in_list, blank = None, False, True
    for number, line in enumerate(text.splitlines(), 1):
        if fence := re.match(r" *```(\S*)", line):
            if open_at is None and not fence[1]:
                yield number, "a block without a language: ```text is one"
            elif open_at is not None and fence[1]:
                yield number, f"the block from line {open_at} on is not closed"
            open_at = None if open_at is not None else number
        elif open_at is None:
            if "```" in line:
                yield number, "a fence inside a line: a block that was filled as a paragraph"
            in_list = bool(re.match(r" *([-*]|\d+\.) ", line)) or (in_list and (not line or line.startswith(" ")))
            if line.startswith("    ") and blank and not in_list:
                yield number, "an indented block, which a formatter fills as a paragraph: put it between ```text and ```"
        blank = not line.strip()
    if open_at is not None:
        yield open_at, "a block that is not closed"


def missing_names(root, pages):
    code = "\n".join(f.read_text(errors="replace") for folder in ("include", "cmake", "test/support", "test/jobs", "tools", "bench")
                     for f in (root / folder).rglob("*") if f.is_file())
    code += "".join((root / f).read_text() for f in ("meson.build", "meson_options.txt", "CMakeLists.txt"))
    windows = "MPI_Win_create" in code or re.search(r"check\(MPI_Win_", code)
    for page, text in pages.items():
        for path in re.findall(r"`(?:partita/)?((?:core|rule|plan|explain|array|comm|kernel|nn|sharded|io)/[a-z_/]+\.hpp)`", text):
            if not (root / "include/partita" / path).is_file():
                yield page, f"names {path}, and there is no such header"
        for name in sorted(set(re.findall(r"PARTITA_[A-Z_]+", text))):
            if not re.search(rf"\b{name}\b", code):
                yield page, f"names {name}, which nothing reads"
        if "decisions" not in page and not page.endswith("architecture.md"):
            continue
        for name in sorted(set(re.findall(r"MPI_[A-Z][A-Za-z_]+", text)) - PAPERS):
            if not re.search(rf"\b{name}\b", code):
                yield page, f"names {name}, which the library does not name"
        for line in text.splitlines():
            if not windows and "windows-in-programs" not in page and re.search(r"\bwindow\b", line) and "MPI_Win" not in line and "Open MPI 4.1 hangs" not in line:
                yield page, f"gives an MPI window to a library that makes none: {line.strip()[:80]}"


def unnamed(root, pages):
    architecture = pages["docs/architecture.md"]
    for room in sorted(p.name for p in (root / "include/partita").iterdir() if p.is_dir()):
        if f"`{room}/`" not in architecture:
            yield "docs/architecture.md", f"does not name the room {room}/"
    front = (root / "include/partita/partita.hpp").read_text()
    sheet = pages["docs/cheat-sheet.md"]
    headers = re.findall(r"#include <partita/((?:kernel|nn|sharded|io)/\w+)\.hpp>", front)
    for header in headers:
        if header not in NOT_CALLED and CALLED.get(header, header.split("/")[1]) not in sheet:
            yield "docs/cheat-sheet.md", f"does not have {header}.hpp (as '{CALLED.get(header, header.split('/')[1])}')"
    for header in sorted((CALLED.keys() | NOT_CALLED.keys()) - set(headers)):
        yield "test/structure/pages.py", f"lists {header}, which the front door does not include"


def unmentioned(_, pages):
    """A newcomer's page leads to the four things that newcomers did not find."""
    for name in ("start-here", "tutorial", "cheat-sheet", "mpi", "coming-from-distdl", "coming-from-xla", "coming-from-paddle",
                 "coming-from-scalapack", "coming-from-petsc", "coming-from-dtensor", "coming-from-fftw", "coming-from-onnx"):
        for thing in ("sharded.md", "value_and_gradient", "trace", "halo_exchange"):
            if thing not in pages[f"docs/{name}.md"]:
                yield f"docs/{name}.md", f"does not mention {thing}"


def unmapped(_, pages):
    """The page for those who know MPI has a line for every call that programs use often."""
    for call in """MPI_Init MPI_Comm_rank MPI_Comm_size MPI_Comm_split MPI_Barrier MPI_Send MPI_Recv MPI_Isend MPI_Irecv MPI_Sendrecv MPI_Bcast
            MPI_Reduce MPI_Allreduce MPI_MAXLOC MPI_Op_create MPI_Scan MPI_Exscan MPI_Gather MPI_Gatherv MPI_Scatter MPI_Scatterv MPI_Allgather
            MPI_Allgatherv MPI_Alltoall MPI_Alltoallv MPI_Alltoallw MPI_Reduce_scatter MPI_Dims_create MPI_Cart_create MPI_Cart_coords
            MPI_Cart_shift MPI_Cart_sub MPI_Dist_graph_create_adjacent MPI_Neighbor_alltoall MPI_Neighbor_alltoallw MPI_Neighbor_allgather
            MPI_Intercomm_create MPI_Type_create_subarray MPI_Type_vector MPI_Pack MPI_Wait MPI_Send_init MPI_File_open MPI_File_set_view
            MPI_File_write_all MPI_File_read_all MPI_Win_allocate_shared MPI_Put MPI_Get""".split():
        if not re.search(rf"\b{call}\b", pages["docs/mpi.md"]):
            yield "docs/mpi.md", f"does not say what takes the place of {call}"
    for word in ("-fno-exceptions", "-fno-rtti", "libmpich-dev", "partita/comm/over_workers.hpp"):
        if word not in pages["docs/mpi.md"]:
            yield "docs/mpi.md", f"does not mention {word}"


def wrong_limits(root, pages):
    most = re.search(r"most_dimensions = (\d+);", (root / "include/partita/core/short_list.hpp").read_text())[1]
    if f"| rank | 0 to {most}," not in pages["docs/files.md"]:
        yield "docs/files.md", f"does not say that ranks are 0 to {most}"


def wrong_headlines(root, pages):
    """What examples/run --list prints of an example is its first line: one sentence, with its number of workers."""
    for example in sorted((root / "examples").glob("*.cpp")):
        first = example.read_text().splitlines()[0]
        if "\\" in first or not re.match(r"// [A-Z].* on \d+ workers?\.$", first):
            yield f"examples/{example.name}", f"does not begin with one sentence that ends in 'on N workers.': {first}"


def wrong_lengths(root, pages):
    """The benchmark FT has as many lines as its page says."""
    program = (root / "examples/43_nas_ft.cpp").read_text()
    lines = re.sub(r"^const benchmark_class classes.*?\}\}\};\n", "", program, flags=re.S | re.M).splitlines()
    count = sum(1 for line in lines if line.strip() and not line.strip().startswith("//"))
    if f"It has {count} lines, without" not in pages["docs/fourier.md"] or count > 60:
        yield "docs/fourier.md", f"does not say that examples/43_nas_ft.cpp has {count} lines, or these are more than 60"


def nameless_columns(_, pages):
    """Every column of a table has a head that says what is in it, except the first one if it has the names of the
    rows."""
    for page, text in pages.items():
        for head, first in re.findall(r"^\|(.*)\|\n\|[-:| ]+\|\n\|([^|]*)", text, re.M):
            heads = [h.strip() for h in re.sub(r"`[^`]*`", "code", head).split("|")]
            if not all(heads[1:]):
                yield page, f"has a table with a column without a head, before the row '{first.strip()}'"


def included(root, header, seen):
    """The headers that one includes, directly or not."""
    if header not in seen and (root / "include" / header).is_file():
        seen.add(header)
        for below in re.findall(r"#include <(partita/[\w/]+\.[hi]pp)>", (root / "include" / header).read_text()):
            included(root, below, seen)
    return seen


def unlisted_headers(root, pages):
    """The cheat sheet lists the headers that partita.hpp leaves out, unless another one that it lists includes them."""
    known = included(root, "partita/partita.hpp", set())
    listed = re.findall(r"`<(partita/[\w/]+\.hpp)>`", pages["docs/cheat-sheet.md"])
    for header in listed:
        if header in known and header != "partita/partita.hpp":
            yield "docs/cheat-sheet.md", f"lists {header}, which partita.hpp includes"
    for header in listed:
        included(root, header, known)
    for file in sorted((root / "include/partita").rglob("*.hpp")):
        header = file.relative_to(root / "include").as_posix()
        hidden = {"detail", "impl"} & set(file.parts) or file.name == "src.hpp" or header in NOT_LISTED
        if not hidden and header not in known:
            yield "docs/cheat-sheet.md", f"does not list {header}, which partita.hpp does not include"


def own_names(page, text):
    """A page without its blocks of code, and without the columns that name what other libraries have."""
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S)
    return re.sub(r"^\|(?:`[^`]*`|[^|`])*", "", text, flags=re.M) if "coming-from" in page else text


def unknown_members(root, pages):
    """A qualified name on a page, as pending_reduction::max, is one of the code, or a member of a class of this
    name."""
    files = [re.sub(r'//.*|"(\\.|[^"\\\n])*"', "", f.read_text(errors="replace")) for folder in ("include", "examples", "test", "bench", "tools", "cmake")
             for f in (root / folder).rglob("*") if f.suffix in (".hpp", ".ipp", ".cpp", ".txt", ".in", ".cmake")]
    code = "\n".join([*files, (root / "CMakeLists.txt").read_text()])

    def is_member(scope, name):
        return any(re.search(rf"\b(class|struct) {scope}\b[^;]*\{{", f) and re.search(rf"\b{name}\b", f) for f in files if scope in f)

    for page, text in pages.items():
        text = own_names(page, text)
        for name in sorted({"::".join(found.split("::")[-2:]) for piece in re.findall(r"`([^`]+)`", text)
                            for found in re.findall(r"\b[a-z_]\w*(?:::\w+)+", piece)} - OTHERS):
            scope, member = name.split("::")
            if scope not in ("std", "xt", "Eigen") and not re.search(rf"\b{name}\b", code) and not is_member(scope, member):
                yield page, f"names {name}, which the code does not have"


def unknown_calls(root, pages):
    """What a page calls, as `cumsum(x)`, is in the code; so is every name in the tables of docs/layers.md, as
    `layer_norm`."""
    words = {word for folder in ("include", "examples", "test") for f in (root / folder).rglob("*") if f.suffix in (".hpp", ".ipp", ".cpp")
             for word in re.findall(r"\w+", re.sub(r"//.*", "", f.read_text(errors="replace")))}
    for page, text in pages.items():
        text = own_names(page, text)
        names = {name for piece in re.findall(r"`([^`]+)`", text) for name in re.findall(r"(?<![\w.:])([a-z_]\w{2,})(?:<[^<>`]*>)?\(", piece)}
        if page == "docs/layers.md":
            names |= {name for row in re.findall(r"^\|.*", text, flags=re.M) for name in re.findall(r"`([a-z_]\w+)(?:<\w*>)?`", row)}
        for name in sorted(names - words - BUILD_CALLS):
            yield page, f"calls {name}, which the code does not have"


def self_test():
    planted = {"Text\n\n    a table of\n    two lines\n": 1, "Text\n\n```\nx\n```\n": 1, "Words ```cpp int x; ``` words\n": 1,
               "```text\nnever closed\n": 1, "```text\na\n```text\nb\n": 1, "- item\n\n    more of it\n\n```sh\nls\n```\n": 0,
               "A paragraph\n    that goes on\n": 0}
    wrong = [text for text, count in planted.items() if len(list(broken_blocks(text))) != count]
    for text in wrong:
        print(f"{len(list(broken_blocks(text)))} errors about {text!r}")
    sys.exit(len(wrong) > 0)


def main():
    if "--self-test" in sys.argv:
        self_test()
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {f.relative_to(root).as_posix(): f.read_text()
             for f in sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.md")])
             if f.name != "CHANGELOG.md"}
    errors = [f"{page}:{line}: {what}" for page, text in pages.items() for line, what in broken_blocks(text)]
    errors += [f"{page}: {what}" for check in (missing_names, unnamed, unmentioned, unmapped, wrong_limits, wrong_headlines,
                   wrong_lengths, nameless_columns, unlisted_headers, unknown_members, unknown_calls)
                   for page, what in (check(root, pages))]
    for error in errors:
        print(error)
    print(f"{len(pages)} pages")
    sys.exit(len(errors) > 0)


if __name__ == "__main__":
    main()
