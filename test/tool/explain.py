#!/usr/bin/env python3
"""explain.py [--update] PROGRAM GOLDEN MAN_PAGE: what partita-explain prints is what GOLDEN says, line for line; its
pictures are XML; it adds up what a trace says; every option that it understands is in the man page and in --help, and
no other. With --update GOLDEN is written anew: read it before it is kept."""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# What each picture must say, and what it must not: the operation that was named, from where to where, and its layouts.
DRAWN = {
    "broadcast 1x3 2x3": (["p_x, 1 × 3", "p_y, 2 × 3", "broadcast copies", "x₁ goes to workers 1, 4"], ["sum_reduce"]),
    "broadcast 3 3x2 --transpose-dest --transpose-src": (["p_x, 3, transposed", "p_y, 3 × 2, transposed"], ["sum_reduce"]),
    "sum_reduce 4x3 3": (["p_x, 4 × 3", "p_y, 3", "sum_reduce sums", "y₀ = x₀ + x₃ + x₆ + x₉"], ["broadcast"]),
    "sum_reduce 4x3 3x4 --transpose-src": (["p_x, 4 × 3, transposed", "p_y, 3 × 4", "y₅ = x₅"], ["broadcast"]),
    "sum_reduce 4x3 3x4 --transpose-dest": (["p_x, 4 × 3", "p_y, 3 × 4, transposed"], ["broadcast"]),
    "repartition 3x3 4x4 --tensor 12x12": (["x, 12 × 12, on 3 × 3", "y, 12 × 12, on 4 × 4", "repartition"], []),
    "repartition 3x3 4x4 --tensor 12x12 --worker 5": (["worker 5, tensor 12 x 12"], ["worker 0, tensor"]),
    "repartition 2x1x2 1x3x1": (["on 2 × 1 × 2", "on 1 × 3 × 1"], []),
    "linear 1x4 1x3@4 3x4": (["x on p_x, 1 × 4", "y on p_y, 1 × 3", "W on p_w, 3 × 4"], []),
    'sharding "bmk,kn->bmn" 8x128x64@data,,model 64x256@,model':
        (["operand 0 [8, 128, 64]", "(data, , model)", "all_gather model of operand 0", "result 0 of bmk,kn->bmn"], []),
    'sharding "bmk,kn->bmn" 8x128x64 64x256 --result 8x128x256@data,,model --backward':
        (["(data, , )", "(, model)", "(data, , model)"], ["all_gather"]),
    'sharding "bmk,kn->bmn" 8x128x64@,,model 64x256@model, --result 8x128x256@,,':
        (["(, , ) partial sum over model", "then slice data, all_reduce model, all_gather data of result 0"], []),
    'sharding "abc,ab,b->c" 8x8x8@data,, 8x8 8': (["operand 2 [8]", "(data, )", "partial sum over data"], ["then"]),
}

REFUSED = {
    "broadcast 1x3 4x3 --transpose-dest": (["p_y, 4 × 3, transposed", "broadcast", "neither 1 nor equal"], ["sum_reduce"]),
    "broadcast 2x2 2": (["p_x, 2 × 2", "p_y, 2", "use sum_reduce"], []),
    "sum_reduce 2x3 4x2x2": (["p_x, 2 × 3", "p_y, 4 × 2 × 2", "sum_reduce", "use broadcast"], []),
    "sum_reduce 4x3 2": (["p_x, 4 × 3", "p_y, 2", "3 against 2, neither 1 nor equal"], ["broadcast"]),
}


def run(program, words):
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return f"{done.stdout}[exit code {done.returncode}]\n"


def differences(program, golden, update):
    commands = [line[2:] for line in golden.read_text().splitlines() if line.startswith("$ ")]
    fresh = "\n".join(f"$ {command}\n{run(program, shlex.split(command)[1:])}" for command in commands)
    if update:
        golden.write_text(fresh)
    for number, (now, kept) in enumerate(zip(fresh.splitlines() + [""], golden.read_text().splitlines() + [""]), 1):
        if now != kept:
            yield f"{golden.name}:{number}: says '{kept}', the program prints '{now}'"
            return
    if len(fresh) != len(golden.read_text()):
        yield f"{golden.name}: the program prints more, or less"


def wrong_pictures(program):
    with tempfile.TemporaryDirectory() as folder:
        for command, (there, absent) in {**DRAWN, **REFUSED}.items():
            file = pathlib.Path(folder) / "picture.svg"
            file.unlink(missing_ok=True)
            done = subprocess.run([program, *shlex.split(command), "--svg", file], stdout=subprocess.DEVNULL, timeout=60)
            if done.returncode != (command in REFUSED) or not file.exists():
                yield f"{command} --svg draws nothing"
                continue
            root = xml.etree.ElementTree.parse(file).getroot()
            words = "\n".join(e.text or "" for e in root.iter() if e.tag.endswith("}text"))
            for one in there:
                if one not in words:
                    yield f"{command} --svg does not say '{one}'"
            for one in absent:
                if one in words:
                    yield f"{command} --svg says '{one}', which it does not do"


def trace_of(calls, steps):
    """The trace of two workers: calls of kernels, and calls of one bound program of three steps."""
    events = [{"ph": "M", "name": "process_name", "pid": k, "args": {"name": f"worker {k}", "dropped": 3 * k}}
              for k in (0, 1)]
    for name, k, begin, length, waiting, sent, messages in calls:
        args = {"waiting": waiting, "bytes": sent, "by_message": sent, "shared": 0, "messages": messages,
                "way": "messages", "call": 'a "call"'}
        events.append({"ph": "X", "pid": k, "tid": 0, "ts": begin, "dur": length, "args": args, "cat": "partita",
                       "name": name})
    steps_of_program = [("matmul", 0, 0, 0, 10, 0), ("moves for relu", 1, 0, 10, 30, 5),
                        ("gradient", 0, 1, 30, 70.5, 0)]
    for k in (0, 1):
        args = {"program": k, "key": "7.0", "call": 'bind "f"'}
        events.append({"ph": "M", "pid": k, "tid": 0, "name": "program", "args": args})
        for step, (name, moves, backward, begin, end, waiting) in enumerate(steps_of_program):
            args = {"program": k, "step": step, "lane": 0, "moves": moves, "backward": backward, "pass": backward,
                    "from": begin, "until": end, "waiting": waiting, "operation": name}
            events.append({"ph": "M", "pid": k, "tid": 1000000, "name": "step", "args": args})
    for k, call, step, begin, length, waiting in steps:
        args = {"waiting": waiting, "program": k, "step": step, "call": call}
        events.append({"ph": "X", "pid": k, "tid": 1000000, "ts": begin, "dur": length, "args": args, "cat": "step",
                       "name": "x"})
    lines = ",\n".join(json.dumps(e, separators=(",", ":")) for e in events)
    # times have three decimals
    lines = re.sub(r'"(ts|dur|waiting)":([\d.]+)', lambda found: f'"{found[1]}":{float(found[2]):.3f}', lines)
    return '{"traceEvents":[\n' + lines + "\n]}\n"


def wrong_traces(program):
    def rows(words):
        done = subprocess.run([program, "trace", "t.json", *words], cwd=folder, capture_output=True, text=True,
                              timeout=60)
        return [re.split(" {2,}", line.strip()) for line in (done.stdout or done.stderr).splitlines() if line.strip()]

    calls = [("all_sum_reduce", 0, 1000, 250, 100, 64, 1), ("all_sum_reduce", 1, 1100, 150, 0, 32, 2),
             ("repartition", 0, 2000, 500, 0, 1000, 3), ("repartition", 1, 2000, 1500, 1000, 0, 0)]
    # The backward pass begins later; the time between does not count. Of the calls, two are whole on both workers: the
    # faster is shown.
    whole = [(k, call, step, base + call * 100000 + begin, length, waiting)
             for k, base in ((0, 5000), (1, 7000)) for call, more in ((0, 60), (1, 0), (2, 90))
             for step, begin, length, waiting in
             ((0, 0, 20 + more, 0), (1, 20.5 + more, 30, 10), (2, 4000 + k, 40 + k, 0))
             if (k, call, step) != (1, 2, 2)]
    steps = [*whole, (0, 3, 0, 905000, 1, 0)]
    told = {
        (): [["4 calls of 2 workers; times and bytes are sums over all workers, the longest operation is first"],
             ["operation", "calls", "time", "of it waiting", "longest call", "bytes sent", "messages"],
             ["repartition", "2", "2 ms", "1 ms", "1.5 ms", "1 kB", "3"],
             ["all_sum_reduce", "2", "400 us", "100 us", "250 us", "96 B", "3"],
             ["--steps shows the steps of bound programs, estimated and measured"],
             ["3 further calls are not in the file"]],
        ("--steps",): [
            ["1 bound program, the longest is first; of several calls, that of median time is shown"],
            ["program", "calls", "workers", "measured", "bound by"], ["0", "2", "2", "91.5 us", 'bind "f"'],
            ["program 0, call 2 of 2"],
            ["step of worker 0", "estimated", "measured", "ratio", "begins, estimated", "begins, measured"],
            ["matmul", "10 us", "20 us", "2", "0", "0"],
            ["moves for relu", "20 us", "30 us", "1.5", "10 us", "20.5 us"],
            ["gradient, backward", "40.5 us", "40 us", "0.988", "30 us", "50.5 us"],
            ["all steps", "estimated", "measured", "ratio"],
            ["worker 0 computes", "50.5 us", "60 us", "1.19"],
            ["worker 0 has movements pending", "20 us", "30 us", "1.5"],
            ["worker 0 waits for movements", "5 us", "10 us", "2"],
            ["worker 0, from begin to end", "70.5 us", "90.5 us", "1.28"],
            ["worker 1 computes", "50.5 us", "61 us", "1.21"],
            ["worker 1 has movements pending", "20 us", "30 us", "1.5"],
            ["worker 1 waits for movements", "5 us", "10 us", "2"],
            ["worker 1, from begin to end", "70.5 us", "91.5 us", "1.3"]],
        ("--steps", "--worker", "2"): [["partita-explain: worker 2 has no steps of this program; --worker takes one "
                                        "that has; partita-explain --help shows how it is written"]],
        ("--steps", "--program", "1"): [["partita-explain: --program takes a number below 1; partita-explain --help "
                                         "shows how it is written"]]}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "t.json"
        file.write_text(trace_of(calls, steps))
        for words, expected in told.items():
            found = rows(words)
            if found != expected:
                yield f"trace {' '.join(words)} prints {found} and not {expected}"
        other = rows(["--steps", "--worker", "1"])
        if other[5:8] != [["matmul", "10 us", "20 us", "2", "0", "0"],
                          ["moves for relu", "20 us", "30 us", "1.5", "10 us", "20.5 us"],
                          ["gradient, backward", "40.5 us", "41 us", "1.01", "30 us", "50.5 us"]]:
            yield f"trace --steps --worker 1 prints {other}"
        # each call is as wide as it is long, in 1100 pixels for 2.5 ms, and what it waits for is grey
        rows(["--svg", "t.svg"])
        drawn = xml.etree.ElementTree.parse(pathlib.Path(folder) / "t.svg").getroot()
        found = [(e.get("x"), e.get("y"), e.get("width"), e.get("height"))
                 for e in drawn if e.get("x") not in (None, "10") and e.tag.endswith("}rect")]
        if found != [("90.00", "86", "110.00", "24"), ("90.00", "102", "44.00", "8"), ("134.00", "116", "66.00", "24"),
                     ("530.00", "86", "220.00", "24"), ("530.00", "116", "660.00", "24"),
                     ("530.00", "132", "440.00", "8")]:
            yield f"trace --svg draws {found}"
        file.write_text(trace_of(calls[:1], []))
        if rows([])[0] != ["1 calls of 2 workers; times and bytes are sums over all workers, the longest operation is "
                           "first"]:
            yield f"a trace of one call: {rows([])}"
        if rows(["--steps"]) != [["partita-explain: the trace has no bound program that was called; without --steps it "
                                  "shows the calls; partita-explain --help shows how it is written"]]:
            yield f"a trace without bound programs: {rows(['--steps'])}"
        file.write_text(trace_of([], []))
        if rows([]) != [["partita-explain: 't.json' is a trace without calls of partita"]]:
            yield f"a trace without calls: {rows([])}"


def undocumented(program, man_page):
    options = set(re.findall(r'"(--[a-z-]+)"', "".join(
        f.read_text() for f in [*man_page.parent.glob("explain/*.hpp"), man_page.with_suffix(".cpp")])))
    for name, text in (("the man page", man_page.read_text().replace("\\-", "-")),
                       ("--help", subprocess.run([program, "--help"], capture_output=True, text=True).stdout)):
        told = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", text))
        if told != options:
            yield f"{name} and the program differ in {sorted(told ^ options)}"


def main():
    update = "--update" in sys.argv
    program, golden, man_page = (pathlib.Path(a).resolve() for a in sys.argv[1:] if a != "--update")
    failures = [*differences(program, golden, update), *wrong_pictures(program), *wrong_traces(program),
                *undocumented(program, man_page)]
    print("\n".join(failures) or "as it was read")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
