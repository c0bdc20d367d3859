#!/usr/bin/env python3
"""reliability.py [--update [BUILD_DIR]] SOURCE_ROOT: the table of docs/reliability.md is made from
docs/measured/reliability.json, the counts of `test/run --reliability`. With --update those of BUILD_DIR, if one is given,
take the place of what is kept there, and the table is made anew. Counts of a run that did not end are refused."""
import json
import pathlib
import sys
import textwrap

BEGIN, END = "<!-- made by test/structure/reliability.py -->\n", "<!-- end -->\n"
NAMES = ("misuse", "faults", "killed while training", "killed while saving", "two jobs", "two threads", "fuzzed",
         "short of memory")
SINCE_THEN = ("short of memory",)  # counted by runs that are later than the one that is kept


def row(tried, how_often, faults, hangs, lost, wrong):
    return f"| {tried} | {how_often} | {faults} | {hangs} | {lost} | {wrong} |"


def thousands(n):
    return f"{n:,}".replace(",", " ")


def table(lines):
    """The rows of the page, and a sentence of what else was counted."""
    of = {name: [one for one in lines if one["name"] == name] for name in NAMES}
    misuse, threads = (sorted(of[name], key=lambda one: one["workers"]) for name in ("misuse", "two threads"))
    (faults,), (training,), (saving,), (jobs,), (fuzzed,) = (
        of[n] for n in NAMES if n not in ("misuse", "two threads", *SINCE_THEN))
    workers = ", ".join(str(one["workers"]) for one in misuse)
    trials = sum(one["trials"] for one in misuse)
    refused = sum(one["refused"] for one in misuse)
    rounds = ", ".join(f"{thousands(one['rounds'])} on {one['workers']} workers" for one in threads)
    yield "| tried | how often | faults | hangs | losses | silent errors |"
    yield "|---|---|---|---|---|---|"
    yield row("random programs of all kernels, layers, sharded tensors and files in which a worker errs (`misuse`)", f"{trials} programs, on {workers} workers",
              thousands(refused) + " with a refused call", 0, "-", sum(one["failed"] for one in misuse))
    yield row("a worker throws, is killed, crashes, exits, loops; `/dev/shm` is of no use; odd environments (`faults`)",
              f"{faults['jobs']} jobs", f"{faults['faults']} kinds", faults["hangs"], "-", faults["wrong"])
    yield row("`kill -9` of a worker while the job trains (`killed while training`)", f"{training['jobs']} jobs",
              f"{training['kills']} kills", training["hangs"], training["lost"], training["wrong"])
    yield row("`kill -9` of a worker while the job saves (`killed while saving`)", f"{saving['jobs']} jobs",
              f"{saving['kills']} kills", saving["hangs"], saving["lost"], saving["wrong"])
    yield row("jobs that replace and load one file, save into one folder and one HDF5 file, one of them killed (`two jobs`)",
              f"{jobs['jobs']} jobs, {thousands(jobs['loads'])} loads, {thousands(jobs['steps'])} steps, {thousands(jobs['datasets'])} datasets",
              f"{jobs['kills']} kills", jobs["hangs"], jobs["lost"], jobs["wrong"])
    yield row("two threads of each worker with a world each (`two threads`)", rounds, "-", 0, "-",
              sum(one["wrong"] for one in threads))
    yield row("any bytes as rules, layouts, cuts, `.npy` headers, manifests, environments (libFuzzer, sanitized)",
              f"{thousands(fuzzed['inputs'])} inputs to {fuzzed['targets']} targets", "-", 0, "-", fuzzed["failed"])
    for memory in of["short of memory"]:
        yield row("the n-th allocation of a worker fails, in every kind of call (`short of memory`)",
                  f"{thousands(memory['trials'])} allocations", f"{thousands(memory['ended'])} jobs ended with an error",
                  memory["hangs"], "-", memory["wrong"])
    yield ""
    yield textwrap.fill(
        f"A killed job ended {max(training['longest end'], saving['longest end'])} s after the kill at the latest. Of the "
        f"kills while saving {saving['half-saved']} left something half-saved, of those while training "
        f"{training['amid saving']} came amid a call that saves; {thousands(training['steps'])} steps were trained in all.", 120)


def complaint(lines):
    """What keeps these counts from being the table of a page."""
    missing = [name for name in NAMES if name not in SINCE_THEN and not any(one["name"] == name for one in lines)]
    if missing:
        return f"there are no counts of {', '.join(missing)}: a run that hangs leaves none"
    failed = [one["name"] for one in lines if one["failed"] != 0]
    return f"these failed: {', '.join(failed)}" if failed else None


def read(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []


def main():
    given = [pathlib.Path(a).resolve() for a in sys.argv[1:] if a != "--update"]
    root, build = given[-1], given[0] if len(given) > 1 else None
    kept, page = root / "docs/measured/reliability.json", root / "docs/reliability.md"
    lines = read(kept)
    if "--update" in sys.argv and build is not None:
        lines = sorted(read(build / "test/reliability.json"), key=lambda one: (NAMES.index(one["name"]), one.get("workers", 0)))
    wrong = complaint(lines)
    if wrong:
        sys.exit(wrong)
    text = page.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    made = text[:begin] + "\n" + "\n".join(table(lines)) + "\n\n" + text[end:]
    if "--update" in sys.argv:
        kept.write_text("".join(json.dumps(one) + "\n" for one in lines))
        page.write_text(made)
    elif text != made:
        sys.exit("the table of docs/reliability.md is not what docs/measured/reliability.json says; "
                 "'test/structure/reliability.py --update .' makes it anew")


if __name__ == "__main__":
    main()
