#!/usr/bin/env python3
"""Builds kernels.cpp for SMPI, the MPI simulator of SimGrid, and runs it on clusters that are not there.

simulate.py [--hosts 4,16,64] [--workers 16] [--links fast,slow] [--cases NAME:BYTES,...] [--limit SECONDS]
            [--build FOLDER]          a line of JSON for each case; what takes longer than the limit is left out and
                                      told
simulate.py --smoke                   16 workers of 4 hosts, one small case each: the end says whether results were
                                      right; 77 where SimGrid is missing
simulate.py --columns ROWS LINK CASE  for gnuplot, of hosts of 16 workers: workers, partita, MPI's own call, messages,
                                      their overheads, model
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HEADERS = "/usr/include/smpi"
MESSAGE = 0.8e-6  # seconds of a worker for each message that it sends or receives; of bench/cluster_model.hpp
CASES = ["rows-to-columns:65536", "slabs-to-pencils:65536", "random-uneven:65536", "all_gather:1024",
         "all_sum_reduce:65536", "agreement"]
LINKS = {"fast": (10e-6, 12.5e9), "slow": (1e-3, 125e6)}  # seconds from host to host, bytes a second of a host's link


def built(folder):
    """The program: a library that the simulator loads once for each worker; static things are each copy's own."""
    program = folder / "kernels.so"
    headers = [*ROOT.glob("include/partita/**/*"), *HERE.glob("*.?pp"), *HERE.parent.glob("*.hpp")]
    if not program.exists() or program.stat().st_mtime < max(h.stat().st_mtime for h in headers):
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / f"kernels.{os.getpid()}"
        subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", "-fno-gnu-unique", f"-I{ROOT}/include", "-isystem",
                        HEADERS, HERE / "kernels.cpp", "-Wl,--wrap=memcpy", "-lsimgrid", "-o", made], check=True)
        made.rename(program)
    return program


def platform(hosts, cores, latency, rate):
    """A fat tree of two levels, as many links up as down: four links between hosts of different switches."""
    side = round(hosts ** 0.5)
    if side * side != hosts:
        sys.exit(f"simulate.py: hosts are arranged in a square, and {hosts} is none")
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="tree" prefix="host" suffix="" radical="0-{hosts - 1}" speed="1Gf" core="{cores}" bw="{rate:.0f}Bps"
           lat="{latency / 4 * 1e9:.0f}ns" loopback_bw="4GBps" loopback_lat="250ns" topology="FAT_TREE"
           topo_parameters="2;{side},{side};1,{side};1,1" sharing_policy="SPLITDUPLEX"/>
</platform>
"""


def run(program, hosts, cores, link, cases, limit, all_to_all_w=True, messages=True, collectives=True):
    """What the program prints, and whether it ended well; None if it took too long."""
    latency, rate = LINKS[link]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "platform.xml").write_text(platform(hosts, cores, latency, rate))
        (scratch / "hosts").write_text("".join(f"host{h}\n" * cores for h in range(hosts)))
        overheads = [f"--cfg=smpi/{kind}:0:{MESSAGE}:0" for kind in ("os", "ois", "or")]
        command = ["smpirun", "-np", str(hosts * cores), "-platform", scratch / "platform.xml", "-hostfile", scratch / "hosts",
                   "--cfg=network/model:CM02", "--cfg=smpi/simulate-computation:no", *overheads, "--cfg=smpi/test:0",
                   "--cfg=smpi/iprobe:0", "--cfg=smpi/coll-selector:ompi", "--cfg=contexts/stack-size:1024",
                   "--log=root.thresh:warning", program, link, *cases]
        environment = dict(os.environ, TMPDIR=str(scratch), SIMULATED_LATENCY=str(latency), SIMULATED_BYTE=str(1 / rate),
                           SIMULATED_MESSAGE=str(MESSAGE), SIMULATED_ALLTOALLW=str(int(all_to_all_w)),
                           SIMULATED_MESSAGES=str(int(messages)), SIMULATED_COLLECTIVES=str(int(collectives)))
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True, env=environment,
                                   start_new_session=True)
        try:
            printed, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return None
        return printed, process.returncode == 0


def columns(rows, link, case):
    of = [r for r in map(json.loads, open(rows)) if (r["link"], r["case"], r["workers"]) == (link, case, 16 * r["hosts"])]
    for r in sorted(of, key=lambda r: r["workers"]):
        print(r["workers"], *(r[way] or "?" for way in ("us", "us_mpi", "us_messages", "us_overheads", "us_model")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", default="4,16,64")
    parser.add_argument("--workers", type=int, default=16, help="of each host")
    parser.add_argument("--links", default="fast,slow")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--limit", type=float, default=600, help="seconds for each case")
    parser.add_argument("--all-to-all-w-up-to", type=int, default=64, help="workers, above which it is not simulated")
    parser.add_argument("--messages-up-to", type=int, default=256, help="workers, above which MPI's own are not simulated")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "simulated")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--columns", nargs=3, metavar=("ROWS", "LINK", "CASE"))
    said = parser.parse_args()
    if said.columns:
        return columns(*said.columns)
    if shutil.which("smpirun") is None or not os.path.isdir(HEADERS):
        print("skipped: SimGrid is not installed (libsimgrid-dev); bench/simulated/run installs it")
        return 77
    program = built(said.build)
    if said.smoke:
        result = run(program, 4, 4, "fast", [c.split(":")[0] + ":4096" for c in CASES], said.limit)
        if result is None:
            sys.exit("simulate.py: 16 simulated workers did not end in time")
        print(result[0], end="")
        return 0 if result[1] and result[0].count("\n") >= len(CASES) else 1
    bad = 0
    for link in said.links.split(","):
        for hosts in map(int, said.hosts.split(",")):
            for case in said.cases.split(","):
                start = time.monotonic()
                workers = hosts * said.workers
                result = run(program, hosts, said.workers, link, [case], said.limit, workers <= said.all_to_all_w_up_to,
                             workers <= said.messages_up_to, workers <= said.messages_up_to or not case.startswith("all_gather"))
                if result is None and workers > said.all_to_all_w_up_to and workers <= said.messages_up_to:
                    result = run(program, hosts, said.workers, link, [case], said.limit, False, False, False)
                taken = time.monotonic() - start
                if result is None:
                    print(f"{link}, {workers} workers, {case}: left out, not simulated in {said.limit:.0f} s", file=sys.stderr)
                    continue
                lines = [line for line in result[0].splitlines() if f'"case": "{case.split(":")[0]}"' in line]
                print(*lines, sep="\n", flush=True)
                print(f"{link}, {workers} workers, {case}: simulated in {taken:.0f} s", file=sys.stderr)
                bad += not result[1] or not lines
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
