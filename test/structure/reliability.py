#!/usr/bin/env python3
"""reliability.py [--update [BUILD_DIR]] SOURCE_ROOT: the table of docs/reliability.md is made from
docs/measured/reliability.json, the counts of `test/run --reliability`. With --update those of BUILD_DIR, if one is
given, take the place of what is kept there, and the table is made anew. Counts of a run that did not end are
refused."""
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
    """The rows of the page, and further counts in words."""
    of = {name: [one for one in lines if one["name"] == name] for name in NAMES}
    misuse, threads = (sorted(of[name], key=lambda one: one["workers"]) for name in ("misuse", "two threads"))
    (faults,), (training,), (saving,), (jobs,), (fuzzed,) = (
        of[n] for n in NAMES if n not in ("misuse", "two threads", *SINCE_THEN))
    workers = ", ".join(str(one["workers"]) for one in misuse)
    trials = sum(one["trials"] for one in misuse)
    refused = sum(one["refused"] for one in misuse)
    rounds = ", ".join(f"{thousands(one['rounds'])} rounds on {one['workers']} workers" for one in threads)
    yield "| test | how often | injected errors | hangs | lost steps | silent errors |"
    yield "|---|---|---|---|---|---|"
    yield row("random programs of kernels, layers, sharded tensors and files, in which one worker makes a wrong call (`misuse`)", f"{trials} programs, on {workers} workers",
              thousands(refused) + " programs with a rejected call", 0, "-", sum(one["failed"] for one in misuse))
    yield row("one worker throws, is killed, crashes, exits or loops for ever; `/dev/shm` is full or missing; unusual environment variables (`faults`)",
              f"{faults['jobs']} jobs", f"{faults['faults']} kinds", faults["hangs"], "-", faults["wrong"])
    yield row("`kill -9` of a worker while the job trains (`killed while training`)", f"{training['jobs']} jobs",
              f"{training['kills']} kills", training["hangs"], training["lost"], training["wrong"])
    yield row("`kill -9` of a worker while the job saves (`killed while saving`)", f"{saving['jobs']} jobs",
              f"{saving['kills']} kills", saving["hangs"], saving["lost"], saving["wrong"])
    yield row("two jobs replace and load the same file, and save into the same folder and HDF5 file; one of them is killed (`two jobs`)",
              f"{jobs['jobs']} jobs, {thousands(jobs['loads'])} loads, {thousands(jobs['steps'])} steps, {thousands(jobs['datasets'])} datasets",
              f"{jobs['kills']} kills", jobs["hangs"], jobs["lost"], jobs["wrong"])
    yield row("each worker runs two threads, each thread has its own world (`two threads`)", rounds, "-", 0, "-",
              sum(one["wrong"] for one in threads))
    yield row("random bytes as rules, layouts, cuts, `.npy` headers, manifests and environment variables (libFuzzer with sanitizers)",
              f"{thousands(fuzzed['inputs'])} inputs to {fuzzed['targets']} functions", "-", 0, "-", fuzzed["failed"])
    if of["short of memory"]:  # a line for each program
        memory = {name: sum(one[name] for one in of["short of memory"])
                  for name in ("trials", "ended", "hangs", "wrong")}
        yield row("the n-th allocation of one worker fails, for every n, in every kind of call (`short of memory`)",
                  f"{thousands(memory['trials'])} allocations", f"{thousands(memory['ended'])} jobs ended with an error",
                  memory["hangs"], "-", memory["wrong"])
    yield ""
    yield textwrap.fill(
        f"After a kill, every job ended within {max(training['longest end'], saving['longest end'])} s. "
        f"{saving['half-saved']} of the {saving['kills']} kills while saving left an incomplete temporary file or folder, and "
        f"{training['amid saving']} of the {training['kills']} kills while training hit a call that saves. All training jobs "
        f"together computed {thousands(training['steps'])} steps.", 120)


def failure(lines):
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
    wrong = failure(lines)
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
