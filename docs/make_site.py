#!/usr/bin/env python3
"""make_site.py SOURCE_ROOT FOLDER: the pages and the reference of the public names as a web site, FOLDER/html/index.html.

The pages stay plain Markdown that a code host shows as well; what Doxygen needs beside that (names of pages and headings,
a tree of sections, paths of figures) is added here, on copies. Fails if Doxygen warns, if a link leads nowhere, if a
figure of a page is not shown, or if a private name has a page."""
import html
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

SECTIONS = {
    "Begin": ["start-here", "tutorial", "cheat-sheet", "notation"],
    "Guides": ["mpi", "coming-from-distdl", "coming-from-xla", "coming-from-paddle", "coming-from-scalapack", "cluster", "pitfalls",
               "reliability", "packages"],
    "Kernels": ["arguments", "broadcast", "sum-reduce", "all-gather", "repartition", "halo-exchange", "linear", "convolution",
                "layers", "array-broadcasting", "nodes", "simulated", "files"],
    "Sharding": ["sharding", "sharded", "search"],
    "Performance": ["performance", "performance-collectives", "performance-linear", "compile-cost"],
    "How it is built": ["architecture", "extending", "departures-distdl", "departures-sharding", "reference-figures", "changelog"],
}
THE_REST, DECISIONS = "More", "Decisions"
# what programs name beside the headers that the front door opens
BEHIND_THE_DOOR = ["core/box.hpp", "core/error.hpp", "core/extents.hpp", "core/index.hpp", "core/short_list.hpp", "comm/world.hpp",
                   "comm/cartesian_partition.hpp",
                   "comm/checks.hpp", "plan/cut.hpp", "plan/decomposition.hpp", "plan/grid.hpp", "plan/workers.hpp",
                   "plan/exchange_plan.hpp", "plan/group_plan.hpp", "plan/graph.hpp", "plan/worker_groups.hpp",
                   "rule/kernel_policy.hpp", "rule/kernel_dimensions.hpp", "rule/reduction.hpp", "rule/sharding/mesh.hpp",
                   "rule/sharding/sharding.hpp", "rule/sharding/spec.hpp", "rule/sharding/factor.hpp",
                   "rule/sharding/tensor_set.hpp", "rule/sharding/rule.hpp", "rule/sharding/policy.hpp",
                   "rule/sharding/propagate.hpp", "nn/linear_options.hpp", "kernel/linear_operator.hpp"]
CALLS = """/// @par Calls
/// `y = k(x)`, `k.into(x, view)`, `dx = k.adjoint(dy)`, `k.adjoint_into(dy, view)`, `later = k.start(x)` and
/// `later.finish()`, `k.start_adjoint(dy)`, `k.plan(...)`, `k.counts()`; see partita::linear_operator.
"""
IMAGE = re.compile(r"!\[([^\]]*)\]\(\s*([^)\s]+)\s*\)")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(\s*([^)\s]+)\s*\)")


def slug(heading):
    return re.sub(r"[^\w -]", "", re.sub(r"`|\*|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).strip().replace(" ", "-")


def shown_as(figure):
    """A figure's name on the site, where all figures lie in one folder."""
    return figure.name if figure.parent.name == "docs" else f"{figure.parent.name}-{figure.name}"


def filtered(header):
    """A header as Doxygen reads it: the lines of a docstring that name what they say become paragraphs of their own."""
    text = re.sub(r"^( *)/// (Effect|Shapes|Requires|Cost|Adjoint): +", r"\1/// @par \2\n\1/// ", header.read_text(), flags=re.M)
    text = re.sub(r"(^  ///.*\n)*^  detail::\w+\* memory\(\) const .*\n", "", text, flags=re.M)      # for other kernels, not for callers
    if header.parent.name == "kernel":      # what its base classes give it is private by name, not by nature
        text = re.sub(r"^(/// @par Adjoint\n(?:///.*\n)+)(?=(?:template.*\n|  requires.*\n)*class )", r"\1" + CALLS, text, flags=re.M)
    return text


def public_headers(root):
    door = (root / "include/partita/partita.hpp").read_text()
    names = [*re.findall(r"#include <partita/(.*?)>", door), *BEHIND_THE_DOOR]
    return sorted(f for f in {root / "include" / "partita" / name for name in names} if f.is_file())


class pages:
    """The Markdown pages: where each lies, what it is called on the site."""

    def __init__(self, root):
        self.root = root
        files = [root / "README.md", root / "CHANGELOG.md", *sorted((root / "docs").rglob("*.md"))]
        self.names = {f: "index" if f.name == "README.md" else
                      f"decision-{f.stem}" if f.parent.name == "decisions" else f.stem.lower() for f in files}
        self.figures = {}       # page: the figures that it shows
        self.complaints = []

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
            self.complaints.append(f"{page.relative_to(self.root)} links to {target}, and there is no such file")
        return "source.html"    # a file or folder of the repository: said there where it is

    def staged(self, page):
        """The page as Doxygen is given it."""
        name = self.names[page]
        self.figures[name] = []

        def figure(found):
            file = (page.parent / found[2]).resolve()
            if not file.is_file():
                self.complaints.append(f"{page.relative_to(self.root)} shows {found[2]}, and there is no such figure")
            self.figures[name].append(file)
            return f'<img src="{shown_as(file)}" alt="{html.escape(found[1])}"/>'

        seen = {}       # how often a heading was there: the second is labelled -1, as on GitHub

        def heading(found):
            label = f"{name}-{slug(found[2])}"
            seen[label] = seen.get(label, -1) + 1
            return f"{found[1]} {found[2]} {{#{label}{f'-{seen[label]}' if seen[label] else ''}}}"

        out = []
        for part in re.split(r"(^ *```.*?^ *```$)", page.read_text(), flags=re.M | re.S):
            if not part.lstrip().startswith("```"):
                part = IMAGE.sub(figure, part)
                part = LINK.sub(lambda f: f"[{' '.join(f[1].split())}]({self.link(page, f[2])})", part)
                part = part if name == "index" else re.sub(r"^(##+) (.*)$", heading, part, flags=re.M)
            out.append(part)
        text = "".join(out)
        return text if name == "index" else re.sub(r"^# (.*)$", rf"# \1 {{#{name}}}", text, count=1, flags=re.M)


def stage(root, folder):
    all_pages = pages(root)
    staging = folder / "pages"
    shutil.rmtree(folder, ignore_errors=True)
    staging.mkdir(parents=True)
    for page, name in all_pages.names.items():
        (staging / f"{name}.md").write_text(all_pages.staged(page))
    placed = {name for names in SECTIONS.values() for name in names}
    rest = sorted(n for n in all_pages.names.values() if n not in placed | {"index"} and not n.startswith("decision-"))
    sections = {**SECTIONS, THE_REST: rest, DECISIONS: sorted(n for n in all_pages.names.values() if n.startswith("decision-"))}
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
    images = folder / "figures"
    images.mkdir()
    for figure in figures:
        shutil.copy(figure, images / shown_as(figure))
    settings = {
        "OUTPUT_DIRECTORY": folder, "INPUT": " ".join(map(str, [folder / "pages", *public_headers(root)])),
        "USE_MDFILE_AS_MAINPAGE": folder / "pages" / "index.md", "IMAGE_PATH": images,
        "HTML_EXTRA_FILES": " ".join(sorted(str(images / shown_as(f)) for f in set(figures))), "STRIP_FROM_PATH": root / "include",
        "STRIP_FROM_INC_PATH": root / "include", "WARN_LOGFILE": folder / "warnings",
        "FILTER_PATTERNS": f'*.hpp="{sys.executable} {root}/docs/make_site.py --filter"',
        "HTML_EXTRA_STYLESHEET": f"/usr/share/doxygen-awesome-css/doxygen-awesome.css "
                                 f"/usr/share/doxygen-awesome-css/doxygen-awesome-sidebar-only.css {root}/docs/site.css",
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


def main():
    if sys.argv[1] == "--filter":
        print(filtered(pathlib.Path(sys.argv[2])))
        return
    root, folder = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    if shutil.which("doxygen") is None or not pathlib.Path("/usr/share/doxygen-awesome-css").is_dir():
        print("apt-get install doxygen doxygen-awesome-css")
        sys.exit(77)
    all_pages = stage(root, folder)
    figures = [f for shown in all_pages.figures.values() for f in shown]
    complaints = all_pages.complaints + doxygen(root, folder, figures) + list(dead_links(folder / "html", all_pages.figures))
    for complaint in complaints:
        print(complaint)
    print(f"{len(all_pages.names)} pages, {len(figures)} figures, {len(complaints)} complaints: {folder}/html/index.html")
    sys.exit(len(complaints) > 0)


if __name__ == "__main__":
    main()
