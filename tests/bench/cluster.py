# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cluster service among many nodes: what a node takes that mirrors all of them, and how current it is."""

import json
import os
import resource
import statistics
import sys
import time
from pathlib import Path

import footprint
from requirement import need_programs, need_root

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bed"))

SHORTEST = {"nodes": 10, "seconds": 1}
PORT = 8883
PROGRAMS = ("stated", "clusterd")
LATE_SECONDS = 120
COUNT_SECONDS = 0.01  # for 1000 nodes
BARE_JOINS = 5


def add_arguments(parser):
    parser.add_argument("--nodes", type=int, default=1000, help="how many nodes are simulated (1000)")
    parser.add_argument("--rate-divisor", type=int, default=1, choices=(1, 2, 3, 5, 6, 10, 15, 30),
                        help="of the rates of memory and system (1)")
    parser.add_argument("--seconds", type=int, default=30, help="how long is measured (30)")


def check_requirements():
    need_root("for network namespaces")
    need_programs("mosquitto")


class Swarm:
    """The simulated nodes; hear() gives their next word."""

    def __init__(self, cluster, build, nodes, divisor, seconds):
        first = cluster.nodes[0]
        self._words, theirs = os.pipe()
        stdin, self._stop = os.pipe()
        argv = [build / "tests/bench/bench-cluster", first.address, PORT, cluster.name, *cluster.ca_files(),
                nodes, divisor, seconds]
        self.process = first.spawn(argv, "bench-cluster", stdin=stdin, stdout=theirs)
        os.close(theirs)
        os.close(stdin)
        self._lines = os.fdopen(self._words)

    def hear(self, word=None):
        line = self._lines.readline().strip()
        if not line or word not in (None, line):
            sys.exit(f"bench-cluster: {line}\n{self.process.log_text()}")
        return line

    def stop(self):
        os.write(self._stop, b"\n")


def measure(pids, swarm):
    """{name: figures} over the seconds between two of its words."""
    swarm.hear("begin")
    before = footprint.Sample(pids)
    swarm.hear("end")
    after = footprint.Sample(pids)
    return footprint.compare(pids, before, after)


def bare_join(cluster, build, nodes):
    """How long a client of the broker needs for every record and status of all nodes, and the processor time that it
    takes for that; medians, in ms."""
    first, second = cluster.nodes
    argv = [build / "tests/bench/bench-join", first.address, PORT, cluster.name, *cluster.ca_files(), nodes]

    def join():
        words, theirs = os.pipe()
        process = second.spawn(argv, "bench-join", stdout=theirs)
        os.close(theirs)
        with os.fdopen(words) as line:
            told = line.readline()
        if not told:
            sys.exit(f"bench-join: {process.log_text()}")
        return [float(figure) for figure in told.split()]

    return [statistics.median(figures) for figures in zip(*(join() for _ in range(BARE_JOINS)))]


def late_join(node, nodes, records):
    """How long from the start of its cluster service until another node knows as much as the first one, and the
    processor time that its services take until then; in ms."""
    from bedlib.waiting import wait_steadily

    def count(kind):
        return node.state("GetDigest", "s", (kind,))[0]

    def all_there():
        # To count one kind takes the service 0.2 ms for each 1000 nodes, and all kinds 3 ms. What it tells
        # without being asked, as its number of nodes, it tells once a second.
        return count("Node1.System") >= nodes and count("") >= records

    node.start_daemon("stated", wait=False)
    begun = time.monotonic()
    node.start_daemon("clusterd", wait=False)
    node.wait_ready()
    wait_steadily(all_there, "all values at the node that came late", LATE_SECONDS,
                  interval=max(nodes / 1000, 1) * COUNT_SECONDS)
    passed = time.monotonic() - begun
    cpu = {name: footprint.cpu_seconds(node.process(name).outer_pid) for name in PROGRAMS}
    return {"late_join_ms": passed * 1e3, **{f"late_join_{name}_cpu_ms": cpu[name] * 1e3 for name in cpu}}


def pids_of(node):
    processes = {name: node.process(name) for name in PROGRAMS}
    processes |= {"broker": node.broker.process, "dbus_daemon": node.bus.process}
    return {name: process.outer_pid for name, process in processes.items()}


def run(build, nodes, divisor, seconds):
    os.environ["ALIDADE_BUILD"] = str(build)
    from bedlib import Cluster

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with Cluster(2, brokers=(0,), name="bench", programs=()) as cluster:
        first, second = cluster.nodes
        first.start_daemons(PROGRAMS)
        first.wait_ready()
        begun = time.monotonic()
        swarm = Swarm(cluster, build, nodes, divisor, seconds)
        swarm.hear("filled")
        fill = time.monotonic() - begun
        pids = pids_of(first)
        pids["swarm"] = swarm.process.outer_pid
        figures = measure(pids, swarm)
        bare = bare_join(cluster, build, nodes)
        late = late_join(second, nodes, first.state("GetDigest", "s", ("",))[0])
        swarm.stop()
        told = json.loads(swarm.hear())
        if told["final_values_missing"]:
            print(swarm.process.log_text(), first.process("clusterd").log_text(),
                  first.process("stated").log_text(), file=sys.stderr)
        joins = {**late, "bare_join_ms": bare[0], "bare_join_cpu_ms": bare[1]}
        return figures, {**told, "fill_s": round(fill, 2), **{name: round(ms, 1) for name, ms in joins.items()}}


def main(build, json_only, nodes, rate_divisor, seconds):
    figures, told = run(build, nodes, rate_divisor, seconds)
    result = {"nodes": nodes, "rate_divisor": rate_divisor, **told,
              **{f"{name}_cpu_percent": round(figures[name]["cpu_percent"], 2) for name in figures},
              "pss_kib": sum(figures[name]["pss_kib"] for name in PROGRAMS),
              "broker_pss_kib": figures["broker"]["pss_kib"], "cores": os.cpu_count()}
    if not json_only:
        for name, figure in result.items():
            print(f"{name:24} {figure}")
    return result
