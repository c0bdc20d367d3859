#!/usr/bin/env python3
"""cluster.py [--rate RATE] [--delay SECONDS] HOSTSxWORKERS... -- PROGRAM ARGUMENT...: runs an MPI program on hosts made
of network namespaces, once for each arrangement (2x4: two hosts with four workers each). Exit status 77, with the
reason, where hosts cannot be made: that takes root, namespaces of the kernel, `ip` and Open MPI.

A host is a process that sleeps in namespaces of its own: a network card with a virtual cable to a switch, a host name,
a /dev/shm and System V memory. mpirun runs on host 0 and starts its daemons on the others through plm_rsh_agent, which
is this script again: it enters the namespaces instead of logging in. So MPI sees other machines, takes TCP between them
and shared memory on each, and a program can read in /proc/net/dev what its host has sent."""
import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
NET = "10.214.0."  # host K is NET(K + 1); nothing outside of the namespaces sees it
MTU = "1500"


class Unavailable(Exception):
    pass


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


class Cluster:
    """Hosts and the switch between them, until `down`."""

    def __init__(self, hosts, rate=None, delay=None):
        if os.geteuid() != 0:
            raise Unavailable("network namespaces take root")
        for tool in ("unshare", "nsenter", "ip", "mpirun"):
            if shutil.which(tool) is None:
                raise Unavailable(f"there is no {tool}")
        if "Open MPI" not in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout:
            raise Unavailable("hosts are started as Open MPI starts them")
        self.sleepers, self.state = {}, tempfile.mkdtemp(prefix="partita-cluster-")
        atexit.register(self.down)
        try:
            for name in ["switch", *map(str, range(hosts))]:
                self.sleepers[name] = self.sleeper(name)
            self.enter("switch", "ip", "link", "add", "br0", "type", "bridge")
            self.enter("switch", "ip", "link", "set", "br0", "up")
            for k in range(hosts):
                self.plug(k, rate, delay is None)
            if delay is not None:
                self.delay(delay, hosts)
        except Unavailable:
            self.down()
            raise
        self.hosts = hosts

    def sleeper(self, name):
        """A process in new namespaces; it is all that has to end to make them go."""
        ready = os.path.join(self.state, name)
        script = 'ip link set lo up && { [ "$1" = switch ] || { hostname "host$1" && ' \
                 'mount -t tmpfs -o size=25% tmpfs /dev/shm; }; } && : >"$2" && exec sleep infinity'
        started = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "--ipc", "--propagation", "private",
                                    "sh", "-c", script, "-", name, ready], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        for _ in range(200):
            if os.path.exists(ready):
                with open(os.path.join(self.state, name + ".pid"), "w") as file:
                    file.write(str(started.pid))
                return started
            if started.poll() is not None:
                raise Unavailable(f"namespaces are not to be had: {started.stderr.read().decode().strip()}")
            time.sleep(0.02)
        started.kill()
        raise Unavailable("namespaces are not to be had in time")

    def enter(self, name, *command):
        return run(*nsenter(self.sleepers[name].pid), *command)

    def delay(self, seconds, hosts):
        """Instead of the kernel's switch one that hands frames on later."""
        switch = os.path.join(os.path.dirname(os.path.realpath(__file__)), "delaying_switch.py")
        for k in range(hosts):
            self.enter(str(k), sys.executable, switch, "--whole-frames", "eth0")
        ports = [f"port{k}" for k in range(hosts)]
        self.sleepers["delay"] = subprocess.Popen(
            [*nsenter(self.sleepers["switch"].pid), sys.executable, switch, str(seconds), *ports],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)

    def plug(self, k, rate, bridged):
        card = str(self.sleepers[str(k)].pid)
        self.enter("switch", "ip", "link", "add", f"port{k}", "mtu", MTU, "type", "veth", "peer", "name", "eth0", "mtu",
                   MTU, "netns", card)
        self.enter("switch", "ip", "link", "set", f"port{k}", *(["master", "br0"] if bridged else []), "up")
        self.enter(str(k), "ip", "addr", "add", f"{NET}{k + 1}/24", "dev", "eth0")
        self.enter(str(k), "ip", "link", "set", "eth0", "up")
        if rate:
            self.enter(str(k), "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "256kb",
                       "latency", "50ms")

    def mpirun(self, workers, *command):
        """The exit status of the program on so many workers of each host."""
        hosts = ",".join(f"{NET}{k + 1}:{workers}" for k in range(self.hosts))
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           PARTITA_CLUSTER=self.state)
        for kept in ("PARTITA_NODES", "PARTITA_SHARED", "PARTITA_SHARED_FREE"):
            environment.pop(kept, None)
        return subprocess.run([
            *nsenter(self.sleepers["0"].pid), "mpirun", "--host", hosts, "-n", str(workers * self.hosts), "--map-by",
            "slot", "--bind-to", "none", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", os.path.realpath(__file__),
            "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "orte_keep_fqdn_hostnames", "1", "--mca",
            "oob_tcp_if_include", "eth0", "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp", "--mca",
            "btl_tcp_if_include", "eth0", "--mca", "mpi_yield_when_idle", "1", *command], env=environment).returncode

    def down(self):
        for sleeper in self.sleepers.values():
            if sleeper.poll() is None:
                os.killpg(sleeper.pid, signal.SIGKILL)
            sleeper.wait()
            sleeper.stderr.close()
        self.sleepers = {}
        shutil.rmtree(self.state, ignore_errors=True)


def nsenter(pid):
    return ["nsenter", "-t", str(pid), "-n", "-u", "-m", "-i", "--"]


def main():
    if "PARTITA_CLUSTER" in os.environ and len(sys.argv) > 2 and sys.argv[1].startswith(NET):  # as plm_rsh_agent
        host = int(sys.argv[1][len(NET):]) - 1
        with open(os.path.join(os.environ["PARTITA_CLUSTER"], f"{host}.pid")) as file:
            command = [*nsenter(int(file.read())), "sh", "-c", " ".join(sys.argv[2:])]
        os.execvp(command[0], command)
    arguments, rate, delay = sys.argv[1:], None, None
    while arguments[:1] in (["--rate"], ["--delay"]):
        if arguments[0] == "--rate":
            rate = arguments[1]
        else:
            delay = float(arguments[1])
        arguments = arguments[2:]
    if "--" not in arguments:
        sys.exit(__doc__)
    split = arguments.index("--")
    status = 0
    for arrangement in arguments[:split]:
        hosts, workers = map(int, arrangement.split("x"))
        try:
            cluster = Cluster(hosts, rate, delay)
        except Unavailable as why:
            print(f"no hosts can be made of network namespaces: {why}")
            sys.exit(SKIPPED)
        print(f"---- {hosts} hosts, {workers} workers on each", flush=True)
        # entering a host changes the working directory
        program = [os.path.abspath(a) if os.path.exists(a) else a for a in arguments[split + 1:]]
        ended = cluster.mpirun(workers, *program)
        if ended:
            print(f"{arrangement}: exit status {ended}", flush=True)
        status |= ended
        cluster.down()
    sys.exit(1 if status else 0)


if __name__ == "__main__":
    main()
