# SPDX-License-Identifier: LGPL-2.1-or-later
"""The hosts of a made-up cluster: network namespaces, each joined to each other one by a wire, with a processor that
runs for a share of the time."""

import contextlib
import itertools
import os
import re
import subprocess
import tempfile
from pathlib import Path

import llama

BENCH = Path(__file__).resolve().parents[1]
# Whatever else the machine does has a lower priority. Within a host, threads take turns.
THROTTLE_PRIORITY, WIRE_PRIORITY, HOST_PRIORITY = 70, 60, 50


def groups():
    """Where control groups of version 2 are made."""
    mounts = Path("/proc/self/mounts").read_text(encoding="ascii")
    return Path(re.search(r"^\S+ (\S+) cgroup2 ", mounts, re.M).group(1))


class Mesh:
    """links is {(from, to): llama.Link} with the lower index first; shares of a processor are from 0 to 1.

    Only one host computes at a time when llama.cpp decodes, so they all have the same processor, and the wires have
    the others."""

    def __init__(self, shares, links):
        self.shares, self.links = shares, links
        self.names = [f"ald-place-{os.getpid()}-{index}" for index in range(len(shares))]
        processors = sorted(os.sched_getaffinity(0))
        if len(processors) < 2:
            raise SystemExit("a cluster on one machine takes two processors")
        self.processor, self.others = processors[-1], ",".join(map(str, processors[:-1]))
        self.groups, self.wires, self.throttles = [], {}, []

    def __enter__(self):
        try:
            for name in self.names:
                self._add_host(name)
            for one, other in itertools.combinations(range(len(self.names)), 2):
                self.wires[one, other] = llama.Wire(
                    f"eth{other}", self.names[one], self.address(one, other),
                    f"eth{one}", self.names[other], self.address(other, one), run_by=self._aside(WIRE_PRIORITY))
            for host, peer in itertools.permutations(range(len(self.names)), 2):
                self._add_routes(host, peer)
            for group, share in zip(self.groups, self.shares):
                if share < 1:
                    self.throttles.append(subprocess.Popen(
                        [*self._aside(THROTTLE_PRIORITY), BENCH / "host-throttle.py", group, str(share)],
                        stdin=subprocess.PIPE))
            self.shape()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for throttle in self.throttles:
            throttle.stdin.close()
            throttle.wait()
        for wire in self.wires.values():
            wire.close()
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
        for group in self.groups:
            (group / "cgroup.kill").write_text("1", encoding="ascii")
            with contextlib.suppress(OSError):
                group.rmdir()

    def _add_host(self, name):
        self.groups.append(groups() / name)
        self.groups[-1].mkdir()
        llama.run("ip", "netns", "add", name)
        llama.run("ip", "-n", name, "link", "set", "lo", "up")
        llama.run("ip", "netns", "exec", name, "sysctl", "-q",
                  f"net.ipv4.tcp_congestion_control={llama.congestion()}")

    def _add_routes(self, host, peer):
        """All addresses of the peer are reached over the wire to it."""
        for other in set(range(len(self.names))) - {host, peer}:
            llama.run("ip", "-n", self.names[host], "route", "add", self.address(peer, other),
                      "via", self.address(peer, host))

    def _aside(self, priority):
        return ["taskset", "-c", self.others, "chrt", "-f", str(priority)]

    @staticmethod
    def address(host, peer):
        """Of the host on the wire to the peer."""
        low, high = sorted((host, peer))
        return f"198.18.{low * 16 + high}.{1 if host == low else 2}"

    def command(self, host, *words, inside=False, helped=False, **environment):
        """What runs the command on that host; inside: in the root with llama.cpp; helped: threads that do next to
        nothing, but that it waits for, may use other processors."""
        words = llama.inside(llama.make_root(), *words, **environment) if inside else list(map(str, words))
        processors = f"{self.others},{self.processor}" if helped else str(self.processor)
        return ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(self.groups[host]),
                "taskset", "-c", processors, "chrt", "-r", str(HOST_PRIORITY),
                "ip", "netns", "exec", self.names[host], *words]

    @contextlib.contextmanager
    def server(self, host, ready, *words, inside=False):
        """A server on that host, until it says that it is ready and as long as it is needed."""
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(self.command(host, *words, inside=inside), stdout=output, stderr=output)
            try:
                self._await(process, output, ready)
                yield process
            finally:
                process.kill()
                process.wait()

    @staticmethod
    def _await(process, output, ready):
        while True:
            output.seek(0)
            text = output.read()
            if re.search(ready, text):
                return
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            raise SystemExit(f"a server has not started: {text}")

    def shape(self):
        for pair, wire in self.wires.items():
            wire.set(self.links[pair])

    def unshape(self):
        for wire in self.wires.values():
            wire.set(llama.Link())
