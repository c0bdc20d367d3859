#!/usr/bin/env python3
"""glossary.py [--update] SOURCE_ROOT: names, comments, messages and pages use the field's words. glossary.json lists
the private words, what to write instead, and how often each still occurs: it may occur less often, and never more. A
word that still occurs has a reason. With --update the counts become those of today, where they have fallen."""
import json
import pathlib
import re
import subprocess
import sys

FOLDERS = ("include", "test", "examples", "bench", "docs", "tools")
ENDINGS = (".hpp", ".ipp", ".cpp", ".inc", ".md", ".py", ".build", ".sh", ".txt")
LIST = pathlib.Path(__file__).with_suffix(".json")


def read_by_people(root):
    """The text of all files whose words are ours; what was released is history and stays as it was written."""
    files = [root / "README.md", *(f for folder in FOLDERS for f in sorted((root / folder).rglob("*")))]
    for f in files:
        name = f.relative_to(root).as_posix()
        if f.suffix not in ENDINGS or f == LIST or "/records/" in name or "/measured/" in name or "/corpus/" in name:
            continue
        if f.name == "glossary.py" or not f.is_file():
            continue
        yield name, f.name + "\n" + f.read_text()


def count(words, texts):
    """For each word, how often it occurs in each file that has it."""
    found = {}
    texts = [(name, text, text.lower()) for name, text in texts]
    for word in words:
        first = word.split()[0].lower()  # a text without it is not searched: that is most of the time
        # a name is a whole identifier, or a part of one between underscores is another name; a phrase may break its line
        pattern = re.compile(r"(?<![\w])" + r"\s+(?:[/*#]+\s*)?".join(map(re.escape, word.split())) + r"(?![\w])", re.I)
        found[word] = {name: n for name, text, lower in texts if first in lower and (n := len(pattern.findall(text)))}
    return found


def main():
    update = "--update" in sys.argv
    root = pathlib.Path(sys.argv[-1]).resolve()
    glossary = json.loads(LIST.read_text())
    texts = list(read_by_people(root))
    if len(texts) < 100:
        sys.exit(f"{root}: no files to read")
    found = count([entry["word"] for entry in glossary], texts)
    failed = 0
    for entry in glossary:
        where = found[entry["word"]]
        now = sum(where.values())
        if now > entry["left"]:
            failed += 1
            most = ", ".join(f"{name} ({n})" for name, n in sorted(where.items(), key=lambda kv: -kv[1])[:6])
            print(f"failed: '{entry['word']}' occurs {now} times, and {entry['left']} are left; write "
                  f"{entry['write']}: {most}")
        elif now > 0 and not entry.get("reason"):
            failed += 1
            print(f"failed: '{entry['word']}' occurs {now} times, and no reason is given; write {entry['write']}")
        elif update:
            entry["left"] = now
    if update:
        lines = ",\n".join(" " + json.dumps(entry, ensure_ascii=False) for entry in glossary)
        LIST.write_text(f"[\n{lines}\n]\n")
    gone = sum(entry["left"] == 0 for entry in glossary)
    print(f"{gone} of {len(glossary)} private words are gone")
    print(f"{len(glossary) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
