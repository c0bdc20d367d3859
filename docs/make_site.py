#!/usr/bin/env python3
"""make_site.py SOURCE_ROOT FOLDER: the pages and the reference of the public names as a web site,
FOLDER/html/index.html.

The pages stay plain Markdown that a code host shows as well; what Doxygen needs beside that (names of pages and
headings, a tree of sections, paths of figures) is added here, on copies. Fails if Doxygen warns, if a link leads
nowhere, if a figure of a page is not shown, or if a private name has a page."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree

SECTIONS = {
    "Begin": ["start-here", "tutorial", "cheat-sheet", "notation"],
    "Guides": ["mpi", "coming-from-distdl", "coming-from-xla", "coming-from-dtensor", "coming-from-paddle",
               "coming-from-onnx", "coming-from-petsc",
               "coming-from-scalapack", "coming-from-fftw", "cluster", "pitfalls",
               "reliability", "packages"],
    "Kernels": ["arguments", "broadcast", "sum-reduce", "reduce", "all-gather", "repartition", "halo-exchange", "fourier",
                "index-exchange", "sort", "sparse",
                "linear", "convolution", "layers", "array-broadcasting", "compose", "nodes", "simulated", "files"],
    "Sharding": ["sharding", "sharded", "schedules", "search"],
    "Performance": ["performance", "performance-collectives", "performance-linear", "compile-cost"],
    "How it is built": ["architecture", "extending", "departures-distdl", "departures-sharding", "reference-figures", "changelog"],
}
DECISIONS = "Decisions"
# what a program calls first: each has an entry in the reference
FRONT_DOOR = """world partition workers zero_volume broadcast sum_reduce all_sum_reduce repartition reduce all_reduce all_gather
all_to_all reduce_scatter compose halo_exchange halo_exchanges linear convolution sequential to_svg add subtract
multiply divide maximum minimum power elementwise broadcast_in_dim as_rank block_from mesh sharding propagate
plan_reshard shard shard_from shard_blocks reshard matmul einsum relu gelu tanh softmax sum mean transpose reshape
slice concatenate lookup where cast clip value_and_gradient trace search save_npy load_npy save_checkpoint
load_checkpoint save_tensors load_tensors sum_over maximum_over all_of exclusive_scan balanced_extents stop_signal
sgd adam sharded_adam index_exchange send_to segments token_dispatcher csr_matrix load_matrix_market
save_matrix_market sort argsort quantile unique searchsorted top_k permutation fourier_transform spectral_resize
spectral_derivative poisson_solver helmholtz_solver fft ifft rfft irfft dct idct dst idst fftshift fftfreq
resize_spectrum resize_half_spectrum bind_indices take_along_axis gather_nd select_if take scatter scatter_add
one_hot argmax argmin cumsum cumprod cummax cummin flip roll tile expand strided_slice tril triu squeeze unsqueeze
stack pad split convolve convolve_transposed max_pool average_pool upsample attention cross_entropy normalise
normalise_batch normalise_groups normalise_rms apply_dropout variance product_of any_of log_sum_exp log_softmax
reduce_along apply_op apply_to_elements recompute stop_gradient constrain scan scan_cost tape_holds pipeline simulate
search_pipeline measured_times to_complex real imag conj abs angle movements_of record_movements partition_of
placed_mesh named_parameters clip_by_global_norm global_norm sharded_sgd sharded_adamw bound_program save_optimiser
load_optimiser checkpoint_saver checkpoint_steps save_hdf5 load_hdf5 halo_cells for_interior for_border adjoint_test
relabelled partitioned_elementwise cartesian_partition reduce_over minimum_over inclusive_scan union_of cut
decomposition balanced_part block_on max_pooling average_pooling upsampling batch_norm layer_norm group_norm rms_norm
embedding dropout flatten initialise kaiming_uniform mse_loss cross_entropy_loss softmax_cross_entropy adamw
transposed_convolution rule_from_shardy as_shardy plan_step complete registry gradient reshape_rule mesh_block
cotangent""".split()


# the modules of the reference: one for each folder of headers
MODULES = {
    "core": "Extents, boxes, errors", "rule": "Rules of shapes, sharding", "plan": "Plans and costs",
    "explain": "Texts and pictures", "array": "Arrays", "comm": "Workers and partitions", "kernel": "Kernels",
    "nn": "Layers, losses and optimisers", "sharded": "Sharded tensors", "io": "Files",
}
# what the namespaces hold, on the page that lists their functions and classes
NAMESPACES = {
    "partita": "All public names of the library. Its kernels and layers are classes; operations on tensors are functions.",
    "partita::rules": "Sharding rules of the operations, for `propagate` and for graphs.",
    "partita::losses": "The formulas of the losses that compare each element with a target.",
    "partita::reductions": "The losses of all elements as one number, or as they are.",
    "partita::schedules": "Learning rates as functions of the step.",
    "partita::numpy": "Element functions with the broadcasting rule of NumPy.",
    "partita::function": "The functions of two elements that named operations apply.",
    "partita::sequentially": "Kernels that do the same as those of the library, with one message for each block: for comparisons.",
}
CALLS = """/// @par Calls
/// `y = k(x)`, `k.into(x, view)`, `dx = k.adjoint(dy)`, `k.adjoint_into(dy, view)`, `later = k.start(x)` and
/// `later.finish()`, `k.start_adjoint(dy)`, `k.plan(...)`, `k.counts()`; see partita::linear_operator.
"""
IMAGE = re.compile(r"!\[([^\]]*)\]\(\s*([^)\s]+)\s*\)")
LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\(\s*([^)\s]+)\s*\)")


def slug(heading):
    return re.sub(r"[^\w -]", "", re.sub(r"`|\*|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).strip().replace(" ", "-")


def marked(text):
    """Code and bold words as Doxygen reads them: it takes `a('b')` for a quotation, and no bold words begin with
    code."""
    def one(found):
        if found[1]:
            return f"``{found[1][1:-1]}``" if "'" in found[1] else found[1]
        return f"<b>{found[2]}</b>"
    return re.sub(r"(`[^`]+`)|\*\*(?=\S)((?:`[^`]*`|[^*`])+?)\*\*", one, text)


def shown_as(figure):
    """A figure's name on the site, where all figures lie in one folder."""
    return figure.name if figure.parent.name == "docs" else f"{figure.parent.name}-{figure.name}"


# what the functions do that these macros define, of the operation that a macro is given
MACROS = {
    "PARTITA_DEFINE_BINARY_OPERATION": "The operation `{}` on the elements of x and y: plain arrays, or an array and a "
                                       "number, with XLA's broadcasting. `dims` maps the dimensions of the smaller "
                                       "array; see array-broadcasting.",
    "PARTITA_NUMPY_OPERATION": "The operation `{}` on the elements of two arrays, with the broadcasting of NumPy: "
                               "shapes are aligned at the last dimension.",
    "PARTITA_ELEMENT_FUNCTION_OF_TWO": "The operation `{}` on the elements of two sharded tensors, or of a tensor and a number, with XLA's "
                      "broadcasting; also of values of traced programs.",
    "PARTITA_COMPARISON": "The comparison `{}` of the elements of two sharded tensors, or of a tensor and a number: "
                          "1 where it is true, 0 elsewhere. No gradient passes.",
    "PARTITA_REDUCTION": "The reduction `{}` of a sharded tensor, an array or a traced value along dimensions.",
    "PARTITA_ELEMENT_FUNCTION": "The function `{}` of each element of a sharded tensor or of a value of a traced program; for plain "
                     "arrays xtensor has it.",
}
# members that many classes have, and what they are there
MEMBERS = {name: [f"/// {words}"] for name, words in {
    "options": "The options that this object was made with.", "counts": "What the calls so far have sent and copied.",
    "memory": "The memory pool that results are allocated from.", "size": "The number of elements.",
    "empty": "Whether there is no element.", "begin": "The first element.", "end": "One past the last element.",
    "c_str": "The characters, with a 0 behind the last one.", "zero_gradients": "Sets all gradients to 0.",
    "parameters": "The parameters and their gradients, for an optimiser.",
    "adjoint": "The adjoint, applied to a block of the result.",
    "forward": "The result of the layer, as a call returns it.",
    "plan": "The plan of a call: what this worker sends, keeps and receives.",
    "adjoint_into": "The adjoint, into memory that the caller passes.",
    "start_adjoint": "Starts the adjoint; see start().",
}.items()}
OPENS, CLOSES = re.compile(r"[({]"), re.compile(r"[)}]")
CONSTRUCTOR = "/// Constructor: the description of the class says what the arguments are and what they require."


def rows_written_out(text):
    """The element functions of a header, each made by a macro from a row of several lines, as functions of one
    argument."""
    out, at = "", 0
    for row in re.finditer(r"^PARTITA_ELEMENT_FUNCTION\w*\(\s*(\w+),", text, flags=re.M):
        end, depth = row.start() + row[0].index("("), 0
        for end in range(end, len(text)):
            depth += (text[end] == "(") - (text[end] == ")")
            if depth == 0:
                break
        has_comment = text[:row.start()].rstrip("\n").rsplit("\n", 1)[-1].startswith("///")
        words = "" if has_comment else f"/// {MACROS['PARTITA_ELEMENT_FUNCTION'].format(row[1])}\n"
        out += text[at:row.start()] + f"{words}template <class X>\nauto {row[1]}(X&& x) {{\n  return x;\n}}"
        at = end + 1
    return out + text[at:]


def expanded(text):
    """Functions that a macro of the header defines, written out."""
    if "#define PARTITA_ELEMENT_FUNCTION(" in text:
        text = rows_written_out(text)

    def written_out(call):
        name, arguments = call[1], [a.strip() for a in call[2].split(",")]
        made = re.search(rf"^#define {name}\((.*?)\)([^\\\n]*(?:\\\n[^\\\n]*)*)", text, flags=re.M)
        if name not in MACROS or not made:
            return call[0]
        body = re.sub(r" *\\$", "", made[2], flags=re.M).strip("\n")
        for parameter, argument in zip(made[1].split(","), arguments):
            body = re.sub(rf"\b{parameter.strip()}\b", argument, body)
        has_comment = text[:call.start()].rstrip("\n").rsplit("\n", 1)[-1].startswith("///")
        return ("" if has_comment else f"/// {MACROS[name].format(arguments[0])}\n") + re.sub("^  ", "", body, flags=re.M)
    return re.sub(r"^(PARTITA_\w+)\(([\w, ]+)\)$", written_out, text, flags=re.M)


def definitions(lines, indent):
    """The definitions that begin in this column, as (first line, one past the last), without their comments."""
    start, depth = None, 0
    for number, line in enumerate(lines):
        code = re.sub(r'"(\\.|[^"\\])*"|\'.\'|//.*', '""', line).rstrip()
        own = re.match(rf" {{{indent}}}[^ /#}}]", line) and not re.match(r" *(namespace|public:|private:|protected:)", line)
        if start is None and own:
            start, depth = number, 0
        if start is not None:
            depth += len(OPENS.findall(code)) - len(CLOSES.findall(code))
            if depth <= 0 and re.search(r"[;}]$", code):
                yield start, number + 1
                start = None


def declared(lines):
    """The name that a definition declares, and whether it is a function."""
    text = re.sub(r"^ *(template <.*?>\n|requires.*\n(?= *\w))", "", "\n".join(lines) + "\n", flags=re.M)
    found = re.search(r"(operator *[^\w\s(]+|~?\w+)\(", text)
    return found[1] if found else None


def is_error_message(definition):
    """Whether a definition is there to print an error message, or to help the compiler deduce: neither is a call."""
    is_type = re.search(r"^ *(struct|class|enum)\b", definition, flags=re.M)
    rejects = re.search("dependent_false|undefined_object|detail::any_argument", definition)
    return bool(re.match(r" */// Fallback|PARTITA_FALLBACK_OVERLOAD", definition) or rejects and not is_type or
                "(*)(detail::reduction_name)" in definition and not is_type or
                re.search(r"^ *(?:explicit )?\w+\([^{;]*\) *(?:\n *)?-> ", definition, flags=re.M))


def variable(lines):
    found = re.search(r"(\w+) *(?:=|\{|\[|;|,)", lines[0])
    return found[1] if found else None


def is_about(name, comment):
    """Whether a comment has a part of the name, as `source` of `source_extent`; of an operator, always."""
    words = re.findall(r"[a-z]+", " ".join(comment).lower())
    return not name or name.startswith(("operator", "~")) or any(
        one == word or len(word) > 4 and one.startswith(word[:5]) or one in (word + "s", word.removesuffix("s"))
        for word in name.lower().split("_") for one in words)


def with_family(lines, indent):
    """Definitions without a comment of their own that directly follow another one are described together with it: each
    gets that comment, a member only if the comment names it. So do overloads of a name that has a comment.
    Calls that only print an error message get none."""
    out, commented, inserts, family, last = list(lines), {}, {}, None, -1
    for first, end in definitions(lines, indent):
        begin = first
        while begin and re.match(r" *///", lines[begin - 1]):
            begin -= 1
        own = [line.strip() for line in lines[begin:first]]
        name = declared(lines[first:end])
        is_type = re.search(r"^ *(struct|class|enum|concept)\b", "\n".join(lines[first:end]), flags=re.M)
        rejects = is_error_message("\n".join(lines[begin:end]))
        if own and rejects:
            out[begin:first] = ["" for _ in own]
        elif own:
            family = own
            if name:
                commented.setdefault(name, own)
        elif first != last or is_type:
            family = None
        type_name = re.search(r"^ *(?:struct|class) (\w+)", "\n".join(lines[first:end]), flags=re.M)
        if type_name and own:
            commented["type " + type_name[1]] = own
        elif type_name and not rejects and f"type {type_name[1]}" in commented and "rejected_call" not in lines[first + 1]:
            inserts[first] = [" " * indent + line for line in commented["type " + type_name[1]]]
        if not own and not rejects and re.search(r"^ *concept ", "\n".join(lines[first:end]), flags=re.M):
            inserts[first] = ["/// A requirement on types."]
        elif not own and not rejects and not is_type and "///<" not in "".join(lines[first:end]):
            close = family and (indent == 0 or is_about(name or variable(lines[first:end]), family))
            doc = family if close else commented.get(name)
            doc = doc or (MEMBERS.get(name) if indent else None)
            if doc:
                inserts[first] = [" " * indent + line for line in doc]
        last = end
    return [line for k, kept in enumerate(out) for line in [*inserts.get(k, []), kept]]


def with_header(lines, header):
    """Functions say which header declares them; for classes Doxygen says it."""
    out, last = [], 0
    for first, end in definitions(lines, 0):
        text = "\n".join(lines[first:end])
        if first and lines[first - 1].startswith("///") and not re.search(r"^ *(struct|class|enum|concept)\b", text, flags=re.M):
            out += [*lines[last:first], "/// @par Header", f"/// `{header}`"]
            last = first
    return out + lines[last:]


def with_constructors(lines):
    """Public constructors without a comment, own and inherited ones, get one that leads to the description of the
    class."""
    out, name, public = [], None, False
    for number, line in enumerate(lines):
        if found := re.match(r"(class|struct)(?: alignas\(\w+\))? (\w+)\b(?!.*;$)", line):
            fallback = any(re.match("/// Fallback", before) for before in lines[max(number - 4, 0):number]) or "rejected_call" in line
            name, public = None if fallback else found[2], found[1] == "struct"
        elif line.startswith("}"):
            name = None
        elif found := re.match(r" (public|private|protected):", line):
            public = found[1] == "public"
        if name and (found := re.match(r"  using detail::(\w+)(?:<.*>)?::\1;", line)):
            base = re.search(rf"^  (?:explicit )?{found[1]}(\([^{{;]*?\))(?=\n| :| {{)", "\n".join(lines), flags=re.M)
            line = f"  {CONSTRUCTOR}\n  {name}{base[1] if base else '(...)'};"
        elif name and public and "= delete" not in line and re.match(
                rf"  (explicit(\(.*?\))? |constexpr |inline |consteval )*{name}\((?!.*any_argument)", line):
            k = len(out)
            while re.match(r"  template <|   *requires", out[k - 1]) or re.match(r"   {3}", out[k - 1]) and "requires" in out[k - 2]:
                k -= 1
            if not out[k - 1].startswith("  ///"):
                out.insert(k, "  " + CONSTRUCTOR)
        out.append(line)
    return out


def filtered(header, declared_by=None):
    """A header as Doxygen reads it: the lines of a docstring that name what they say become paragraphs of their own,
    what has no comment gets that of its neighbour, and all is in the module of its folder."""
    text = re.sub(r"^(  ///.*\n)*^  detail::\w+\* memory\(\) const .*\n", "", expanded(header.read_text()), flags=re.M)      # for kernels
    lines = with_family(with_family(with_constructors(text.splitlines()), 2), 0)
    path = header.parts[len(header.parts) - header.parts[::-1].index("partita"):]
    text = "\n".join(with_header(lines, declared_by or "/".join(["partita", *path]))) + "\n"
    text = re.sub(r"^( *)/// (Effect|Shapes|Requires|Cost|Adjoint): +", r"\1/// @par \2\n\1/// ", text, flags=re.M)
    if header.parent.name == "kernel":      # what its base classes give it is private by name, not by nature
        text = re.sub(r"^(/// @par Adjoint\n(?:///.*\n)+)(?=(?:template.*\n|  requires.*\n)*class )", r"\1" + CALLS, text, flags=re.M)
    module = header.relative_to(header.parents[[p.name for p in header.parents].index("partita")]).parts[0]
    if module in MODULES:
        text = re.sub(r"^(namespace partita(?:::(?!detail)\w+)* \{)$", rf"\1\n/// @addtogroup {module}\n/// @{{\n", text, flags=re.M)
        text = re.sub(r"^(\}  // namespace partita(?:::(?!detail)\w+)*)$", r"/// @}\n\1", text, flags=re.M)
    return text


# public names in headers of detail/, and the header that a program includes for them
PUBLISHED = {
    "sharded/detail/tape_blocks.hpp": "sharded/value_and_gradient.hpp", "sharded/detail/custom_op.hpp": "sharded/operate.hpp",
    "sharded/detail/execution.hpp": "sharded/movements.hpp", "sharded/detail/rearrange_operations.hpp": "sharded/rearrange.hpp",
    "io/detail/checkpoint_writer.hpp": "io/save_checkpoint.hpp",
    "kernel/detail/fourier_plan.hpp": "kernel/fourier_transform.hpp",
}


def public_headers(root):
    return sorted(f for f in (root / "include/partita").rglob("*.hpp") if "detail" not in f.parts)


class pages:
    """The Markdown pages: where each lies, what it is called on the site."""

    def __init__(self, root):
        self.root = root
        files = [root / "README.md", root / "CHANGELOG.md", *sorted((root / "docs").rglob("*.md"))]
        self.names = {f: "index" if f.name == "README.md" else
                      f"decision-{f.stem}" if f.parent.name == "decisions" else f.stem.lower() for f in files}
        self.figures = {}       # page: the figures that it shows
        self.failures = []

    def link(self, page, target):
        """What a link of a page is on the site."""
        if re.match(r"[a-z]+:", target):
            return target
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if file in self.names:
            name = self.names[file]
            return (f"{name}.html#{name}-{fragment}" if fragment else f"{name}.html")
        if not file.exists():
            self.failures.append(f"{page.relative_to(self.root)} links to {target}, and there is no such file")
        return "source.html"    # a file or folder of the repository: said there where it is

    def staged(self, page):
        """The page as Doxygen is given it."""
        name = self.names[page]
        self.figures[name] = []

        def figure(found):
            file = (page.parent / found[2]).resolve()
            if not file.is_file():
                self.failures.append(f"{page.relative_to(self.root)} shows {found[2]}, and there is no such figure")
            self.figures[name].append(file)
            wide = re.search(r'<svg[^>]*? width="(\d+)', file.read_text()) if file.is_file() else None
            # so that its words can be read on a phone
            least = f' style="min-width: {int(wide[1]) * 68 // 100}px"' if wide else ""
            return f'<span class="figure"><img src="{shown_as(file)}" alt="{html.escape(found[1])}"{least}/></span>'

        seen = {}       # how often a heading was there: the second is labelled -1, as on GitHub

        def heading(found):
            label = f"{name}-{slug(found[2])}"
            seen[label] = seen.get(label, -1) + 1
            return f"{found[1]} {found[2]} {{#{label}{f'-{seen[label]}' if seen[label] else ''}}}"

        out = []
        for part in re.split(r"(^ *```.*?^ *```$)", page.read_text(), flags=re.M | re.S):
            if not part.lstrip().startswith("```"):
                part = marked(IMAGE.sub(figure, part))
                part = LINK.sub(lambda f: f"[{' '.join(f[1].split())}]({self.link(page, f[2])})", part)
                part = part if name == "index" else re.sub(r"^(##+) (.*)$", heading, part, flags=re.M)
            out.append(part)
        text = "".join(out)
        contents = "\n\n[TOC]" if len(seen) > 2 else ""
        return text if name == "index" else re.sub(r"^# (.*)$", rf"# \1 {{#{name}}}{contents}", text, count=1, flags=re.M)


AWESOME = pathlib.Path("/usr/share/doxygen-awesome-css")
SCRIPTS = ["doxygen-awesome-darkmode-toggle.js", "doxygen-awesome-fragment-copy-button.js", "doxygen-awesome-interactive-toc.js"]


def html_header(folder):
    """Doxygen's own header with the scripts of the site."""
    names = [folder / "header.html", folder / "footer.html", folder / "style.css"]
    subprocess.run(["doxygen", "-w", "html", *names], check=True, stdout=subprocess.DEVNULL)
    scripts = "".join(f'<script type="text/javascript" src="$relpath^{name}"></script>\n' for name in [*SCRIPTS, "site.js"])
    names[0].write_text(names[0].read_text().replace("</head>", scripts + "</head>"))
    return names[0]


def plain(text):
    """The words of a piece of a page."""
    text = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def search_index(site):
    """[url, page, section, text] for each section of a page and each entry of the reference; docs/site.js searches
    it."""
    lists = re.compile(r"(dir_|functions|namespacemembers|namespacepartita\.|annotated|classes|hierarchy|namespaces|concepts\.|modules|pages)"
                       r"|.*-members\.html")
    start = re.compile(r'<h[1-4][^>]*>\s*<a class="anchor" id="([^"]+)"></a>(.*?)</h[1-4]>'
                       r'|<a id="([^"]+)" name="[^"]+"></a>\s*<h2 class="memtitle">(.*?)</h2>', re.S)
    entries = []
    for file in sorted(site.glob("*.html")):
        text = file.read_text(errors="replace")
        if lists.match(file.name) or '<div class="contents">' not in text:
            continue
        title = plain((re.search(r'<div class="title">(.*?)</div>', text, re.S) or re.search("<title>(.*?)</title>", text, re.S))[1])
        title = re.sub(r"^partita::| (Class|Struct|Namespace|Concept)( Template)? Reference.*", "", title)
        contents = text[text.index('<div class="contents">'):].split("<!-- start footer part -->")[0]
        contents = re.sub(r'<div class="toc">.*?</div>|<table class="memberdecls">.*?</table>', "", contents, flags=re.S)
        url, section, at = file.name, title, 0
        for found in [*start.finditer(contents), None]:
            words = plain(contents[at:found.start() if found else len(contents)])
            if words:
                entries.append([url, title, section, words])
            if found:
                url = f"{file.name}#{found[1] or found[3]}"
                section, at = plain(found[2] or found[4]).lstrip("◆ "), found.end()
    (site / "search-text.js").write_text("const searchText = " + json.dumps(entries, ensure_ascii=False) + ";\n")
    return entries


def unfinished(root, site, entries):
    """What readers use on each page, and is not there: scripts, a table of contents, words in the search."""
    for name in ["index.html", "tutorial.html", "classpartita_1_1broadcast.html"]:
        for script in [*SCRIPTS, "site.js"]:
            if not (site / script).is_file() or script not in (site / name).read_text():
                yield f"{name} does not load {script}"
    for file in sorted((root / "docs").rglob("*.md")):
        headings = len(re.findall("^##+ ", re.sub(r"^```.*?^```$", "", file.read_text(), flags=re.M | re.S), flags=re.M))
        page = site / (f"decision-{file.stem}.html" if file.parent.name == "decisions" else f"{file.stem}.html")
        if headings > 2 and '<div class="toc">' not in page.read_text():
            yield f"{page.name} has {headings} sections and no table of contents"
    for words in [("sum_over()", "partita/comm/over_workers.hpp"), ("value_and_gradient", "gradient"), ("MPI_Sendrecv",), ("shared memory",), ("halo_exchange()",)]:
        if not any(all(word in " ".join(entry) for word in words) for entry in entries):
            yield f"the search does not find {' '.join(words)}"


def stage(root, folder):
    all_pages = pages(root)
    staging = folder / "pages"
    if folder.exists() and any(folder.iterdir()) and not staging.is_dir():
        sys.exit(f"{folder} has files and is no site that was made here; give a folder of its own")
    shutil.rmtree(folder, ignore_errors=True)
    staging.mkdir(parents=True)
    for page, name in all_pages.names.items():
        (staging / f"{name}.md").write_text(all_pages.staged(page))
    placed = {name for names in SECTIONS.values() for name in names}
    rest = sorted(n for n in all_pages.names.values() if n not in placed | {"index"} and not n.startswith("decision-"))
    all_pages.failures += [f"docs/{name}.md is in no section: add it to SECTIONS of docs/make_site.py" for name in rest]
    sections = {**SECTIONS, DECISIONS: sorted(n for n in all_pages.names.values() if n.startswith("decision-"))}
    known = set(all_pages.names.values())
    tree = []
    for title, names in sections.items():
        names = [n for n in names if n in known]
        if names:
            key = "section-" + slug(title)
            (staging / f"{key}.md").write_text(f"# {title} {{#{key}}}\n\n" + "\n".join(f"- @subpage {n}" for n in names) + "\n")
            tree.append(f"- @subpage {key}")
    (staging / "source.md").write_text("# The checkout {#source}\n\nExamples, tools and headers are files of the repository: "
                                       "look into the checkout that you built this site from.\n")
    index = staging / "index.md"
    text = index.read_text()
    begin = text.index("## Read on")        # the tree takes the place of the table
    end = text.index("BSD-3-Clause", begin)
    index.write_text(text[:begin] + "## Read on\n\n" + "\n".join([*tree, "- @subpage source"]) + "\n\n" + text[end:])
    return all_pages


def doxygen(root, folder, figures):
    (folder / "pages" / "namespaces.dox").write_text(
        "\n".join(f"/** @namespace {name}\n{text} */" for name, text in NAMESPACES.items()) + "\n" +
        "\n".join(f"/** @defgroup {name} {title} */" for name, title in MODULES.items()))
    images = folder / "figures"
    images.mkdir()
    for figure in figures:
        shutil.copy(figure, images / shown_as(figure))
    for header in public_headers(root):
        copy = folder / "headers" / header.relative_to(root / "include")
        copy.parent.mkdir(parents=True, exist_ok=True)
        name = header.relative_to(root / "include/partita").as_posix()
        copy.write_text(filtered(header) + "".join(filtered(root / "include/partita" / hidden, f"partita/{name}")
                                                   for hidden, by in PUBLISHED.items() if by == name))
    settings = {
        "OUTPUT_DIRECTORY": folder, "INPUT": f'{folder / "pages"} {folder / "headers"}',
        "USE_MDFILE_AS_MAINPAGE": folder / "pages" / "index.md", "IMAGE_PATH": images,
        "HTML_EXTRA_FILES": " ".join([*sorted(str(images / shown_as(f)) for f in set(figures)), f"{root}/docs/site.js",
                                      *(str(AWESOME / script) for script in SCRIPTS)]),
        "HTML_HEADER": html_header(folder), "STRIP_FROM_PATH": folder / "headers",
        "STRIP_FROM_INC_PATH": folder / "headers", "WARN_LOGFILE": folder / "warnings", "GENERATE_TAGFILE": folder / "tags",
        "HTML_EXTRA_STYLESHEET": f"{AWESOME}/doxygen-awesome.css {AWESOME}/doxygen-awesome-sidebar-only.css "
                                 f"{AWESOME}/doxygen-awesome-sidebar-only-darkmode-toggle.css {root}/docs/site.css",
    }
    subprocess.run(["doxygen", "-"], input=(root / "docs/Doxyfile").read_text() + "".join(f"{k} = {v}\n" for k, v in settings.items()),
                   text=True, check=True, stdout=subprocess.DEVNULL, cwd=root)
    return [line for line in (folder / "warnings").read_text().splitlines() if line.strip() and "partita::detail" not in line]


def dead_links(site, figures):
    """Links of the site that lead nowhere, figures that are not shown, names that are private."""
    texts = {f.name: f.read_text(errors="replace") for f in site.glob("*.html")}
    anchors = {name: set(re.findall(r'(?:id|name)="([^"]+)"', text)) for name, text in texts.items()}
    files = {f.relative_to(site).as_posix() for f in site.rglob("*") if f.is_file()}
    for name, text in sorted(texts.items()):
        for target in set(re.findall(r'(?:href|src|data)="([^"]+)"', text)):
            target = urllib.parse.unquote(html.unescape(target))
            if re.match(r"[a-z]+:|//|#$|\$", target):
                continue
            path, _, fragment = target.partition("#")
            path = path or name
            if path not in files:
                yield f"{name} links to {target}, and there is no such page"
            elif fragment and path in anchors and fragment not in anchors[path]:
                yield f"{name} links to {target}, and the page has no such place"
    for page, shown in figures.items():
        for figure in shown:
            if f'src="{shown_as(figure)}"' not in texts.get(f"{page}.html", ""):
                yield f"{page}.html does not show {shown_as(figure)}"
    for name in texts:
        if "detail" in name and "decision" not in name:
            yield f"{name} is the page of a private name"


def missing_entries(root, site):
    """Names of the front door without an entry in the reference, and classes whose constructors have none."""
    entries, constructors = set(), set()
    for compound in xml.etree.ElementTree.parse(site / "tags").getroot().iter("compound"):
        name = (compound.findtext("name") or "").split("<")[0].strip()
        if compound.get("kind") in ("class", "struct"):
            short = name.split("::")[-1]
            entries.add(short)
            if any(m.findtext("name") == short for m in compound.iter("member")):
                constructors.add(short)
        elif compound.get("kind") in ("namespace", "group"):
            entries |= {m.findtext("name") for m in compound.iter("member")}
    for name in FRONT_DOOR:
        if name not in entries:
            yield f"the reference has no entry of {name}"
    for header in public_headers(root):
        written = "\n".join(with_constructors(header.read_text().splitlines()))
        for name in set(re.findall(r"^  " + CONSTRUCTOR + r"\n(?:  template.*\n|   *requires.*\n)*  (?:\w+(?:\(.*?\))? )*(\w+)\(",
                                   written, flags=re.M)):
            if name in entries - constructors:
                yield f"the reference has no constructor of {name}"


def left_over_markup(site):
    """Markdown or a command of Doxygen that a page shows as it was written."""
    for file in sorted(site.glob("*.html")):
        text = file.read_text(errors="replace")
        if "ilinebr" in text:
            yield f"{file.name} shows \\ilinebr: a piece of code in a table that Doxygen does not read as one"
        if "&lt;tt&gt;" in text:
            yield f"{file.name} shows <tt> in its table of contents: no heading has code"
        text = re.sub(r"<code\b.*?</code>", "code", text, flags=re.S)
        text = re.sub(r"<(pre|script|style)\b.*?</\1>|<div class=\"line\">.*?</div>|<td class=\"(?:memname|paramtype)\">.*?</td>|<h2 class=\"memtitle.*?</h2>|"
                      r"<span class=\"tt\">.*?</span>", "", text, flags=re.S)
        text = re.sub(r"<[^>]+>", "", text)
        for found in re.finditer(r".{0,40}(?<!\S)#{2,4} \w.{0,20}", text):
            yield f"{file.name} shows the mark of a heading: {found[0].strip()}"
        for found in re.finditer(r".{0,40}\*\*.{0,40}|(?<!\w)\*[^\s*&;][^*\n]{0,60}[^\s*]\*(?=[\s.,:;)]).{0,20}", text):
            yield f"{file.name} shows asterisks: {found[0].strip()}"


def menu_of_phones(site):
    """Replaces Doxygen's "Related Pages", an empty list because every page is in a section, by the sections and their
    pages: on a phone this menu is the only list of pages. Fails if the menu has no such entry."""
    menu, related = site / "menudata.js", '{text:"Related Pages",url:"pages.html"}'
    sections = []
    for title in [*SECTIONS, DECISIONS]:
        name = f"section-{slug(title)}.html"
        children = re.findall(r'<li><a class="el" href="([^"]+)">(.*?)</a>', (site / name).read_text())
        listed = [{"text": plain(text), "url": url} for url, text in children]
        sections.append({"text": title, "url": name, "children": listed})
        if not children:
            yield f"{name} has no pages"
    if related not in menu.read_text():
        yield "menudata.js has no entry for the pages"
    menu.write_text(menu.read_text().replace(related, ",\n".join(map(json.dumps, sections))))
    (site / "pages.html").unlink()


def declared_by_code(text):
    """The names of the variables, functions and types that the code on a page declares."""
    code = "\n".join(re.findall(r'<div class="line">(.*?)</div>', text))
    code = re.sub(r'<span class="(?:comment|stringliteral)">.*?</span>', "", code)
    code = html.unescape(re.sub("<[^>]+>", "", code))
    names = {name for found in re.findall(r"\bauto&? *\[([^\]]*)\]", code) for name in re.findall(r"\w+", found)}
    before = re.findall(r"\b([A-Za-z_]\w*)(?:<[^;()]*>)?[&*]* +[&*]?(\w+) *(?=[=({;,)\[:])", code)
    return names | {name for word, name in before if word not in ("return", "else", "case", "new", "throw", "delete")}


def finish(site):
    """Last touches: no link from `p.index()` or from code to a name that Doxygen guesses, places where code in tables
    may break, no partita:: in the list of pages, and the colours of strings: Doxygen 1.9 takes the quotes of a template
    argument within brackets, f(einsum<"ij->ji">(x)), for the ends of strings."""
    def one_piece(word):
        may_break = r"(::|[_(/.,]|(?<=.)&lt;)(?=[^\s)])"
        return word if len(html.unescape(word)) <= 14 else re.sub(may_break, r"\1<wbr/>", word)

    def code(found):
        text = found[1]
        short = ' class="short"' if len(html.unescape(text)) <= 22 else ""
        return f'<code{short}>{" ".join(map(one_piece, text.split(" ")))}</code>'

    def name(found):        # of an operator, such as DynamicQuantizeLinear
        return found[0] if len(found[0]) <= 14 else re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr/>", found[0])

    def breakable(table):
        table = re.sub(r"(?<=\d) x (?=\d)", "&#160;x&#160;", table[0])      # extents stay on one line
        table = re.sub(r"(?<=[>\s])(?:[A-Z][a-z]+){2,}(?=[<,\s])", name, table)
        return re.sub(r"<code>([^<]*)</code>", code, table)

    def linked(found):      # code has no link to a function that is named like its variable, or like std::pow
        kind, target, name = found.groups()
        scope = name.rpartition("::")[0].removeprefix("partita").strip(":")
        foreign = kind == "hl_enumvalue" or name in declared or scope.replace("_", "__") not in target
        return name if foreign else found[0]

    def line(found):
        if '<span class="stringliteral">' not in found[1]:
            return found[0]
        written = re.sub(r'<span class="stringliteral">(.*?)</span>', r"\1", found[1])
        return '<div class="line">' + re.sub(r'<span class="comment">.*|<[^>]*>|&quot;(?:\\.|.)*?&quot;|(?<!:)//.*', string, written) + "</div>"

    def string(found):
        kind = {"&": "stringliteral", "/": "comment"}.get(found[0][0])
        return f'<span class="{kind}">{found[0]}</span>' if kind else found[0]

    for file in site.glob("*.html"):
        text = file.read_text(errors="replace")
        declared = declared_by_code(text)
        new = re.sub(r'<a class="code (\w+)" href="([^"]*)">([^<]*)</a>', linked, text)
        new = re.sub(r'<div class="line">(.*?)</div>', line, new)
        new = re.sub(r'<a class="el"[^>]*>([a-z_]\w*\.\w+\(\))</a>', r"\1", new)
        new = re.sub(r'<table class="markdownTable">.*?</table>', breakable, new, flags=re.S)
        if new != text:
            file.write_text(new)
    for file in site.glob("group__*.js"):
        file.write_text(re.sub(r'^( *\[ ")partita::', r"\1", file.read_text(), flags=re.M))


def main():
    root, folder = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    if shutil.which("doxygen") is None or not AWESOME.is_dir():
        print("apt-get install doxygen doxygen-awesome-css")
        sys.exit(77)
    all_pages = stage(root, folder)
    figures = [f for shown in all_pages.figures.values() for f in shown]
    failures = all_pages.failures + doxygen(root, folder, figures) + list(dead_links(folder / "html", all_pages.figures))
    failures += [*missing_entries(root, folder), *left_over_markup(folder / "html")]
    failures += [*unfinished(root, folder / "html", search_index(folder / "html")), *menu_of_phones(folder / "html")]
    finish(folder / "html")
    for failure in failures:
        print(failure)
    print(f"{len(all_pages.names)} pages, {len(figures)} figures, {len(failures)} failures: {folder}/html/index.html")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
