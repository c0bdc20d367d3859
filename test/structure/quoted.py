#!/usr/bin/env python3
"""quoted.py [--update] SOURCE_ROOT: the C++ in README.md, docs/ and the other pages is what the examples compile.

An example names a region of itself with the lines `// [region]` and `// [/region]`; a page quotes it as

    <!-- examples/NAME.cpp: region -->
    ```cpp
    ...
    ```

No other fenced C++ may appear. With --update the pages are rewritten from the examples."""
import pathlib
import re
import sys
import textwrap

QUOTE = re.compile(r"(?:<!-- *(?P<file>[\w./-]+): *(?P<region>[\w-]+) *-->\n)?^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^ *```$",
                   re.M | re.S)
CPP = {"cpp", "c++", "cxx", "cc", "hpp"}
LOOKS_LIKE_CPP = re.compile(r"^\s*#include\s*[<\"]|^\s*(auto|constexpr|template|static_assert)\b", re.M)


def region_of(root, file, region):
    """The named region's text, or an error message."""
    path = root / file
    if not path.is_file():
        return None, f"there is no {file}"
    found = re.findall(rf"^ *// \[{re.escape(region)}\]\n(.*?)^ *// \[/{re.escape(region)}\]$", path.read_text(), re.M | re.S)
    if len(found) != 1:
        return None, f"{file} has {len(found)} regions named {region}"
    inner = re.sub(r"^ *// \[/?[\w-]+\]\n", "", found[0], flags=re.M)
    return textwrap.dedent(inner), None


def main():
    update = "--update" in sys.argv
    root = pathlib.Path([a for a in sys.argv[1:] if a != "--update"][0]).resolve()
    pages = [p for p in sorted(root.rglob("*.md")) if not any(part.startswith(("build", ".")) for part in p.relative_to(root).parts)]
    failures, quotes = [], 0
    for page in pages:
        text = page.read_text()

        def check(quote):
            nonlocal quotes
            line = text.count("\n", 0, quote.start()) + 1
            where = f"{page.relative_to(root)}:{line}"
            is_cpp = quote["language"] in CPP or (not quote["language"] and LOOKS_LIKE_CPP.search(quote["text"]))
            if quote["file"] is None:
                if is_cpp:
                    failures.append(f"{where}: C++ that no example compiles")
                return quote[0]
            compiled, failure = region_of(root, quote["file"], quote["region"])
            if failure:
                failures.append(f"{where}: {failure}")
                return quote[0]
            quotes += 1
            right = textwrap.indent(compiled, quote["indent"])
            if quote["text"] == right:
                return quote[0]
            if not update:
                failures.append(f"{where}: differs from region {quote['region']} of {quote['file']}; "
                                  f"'test/structure/quoted.py --update .' rewrites it")
            start = quote.start("text") - quote.start()
            return quote[0][:start] + right + quote[0][start + len(quote["text"]):]

        rewritten = QUOTE.sub(check, text)
        if update and rewritten != text:
            page.write_text(rewritten)
            print(f"rewrote {page.relative_to(root)}")
    for failure in failures:
        print(failure)
    print(f"{len(pages)} pages, {quotes} quotations")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
