# SPDX-License-Identifier: LGPL-2.1-or-later
"""Twelve nodes at 1 Gb/s, real ones in the bed: what their link probes cost the network and those who work on it."""

import itertools
import json
import math
import os
import statistics
import sys
import time
from pathlib import Path

from requirement import need_programs, need_root

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bed"))

NODES = 12
SHORTEST = {"nodes": 5, "seconds": 1, "turns": 8}
GIGABIT = 1_000_000_000
SHAPED = 200_000_000
LINK_PROBE = ("org.alidade.LinkProbe1", "/org/alidade/LinkProbe1", "org.alidade.LinkProbe1")
WORKERS = 4
FIRST_ROUND_SECONDS = 900
CHANGE_SECONDS = 420
LATENCY = Path(__file__).resolve().parent / "disturbance-peer.py"
# As disturbance-peer.py has it; less than what makes a node stale, which would itself be news to all.
TURN_SECONDS = 2
START_SECONDS = 3


def add_arguments(parser):
    parser.add_argument("--nodes", type=int, default=NODES, metavar="N", help=f"how many nodes ({NODES})")
    parser.add_argument("--seconds", type=int, default=300, metavar="N", help="how long bytes are counted (300)")
    parser.add_argument("--turns", type=int, default=60, metavar="N",
                        help="turns of 2 s of each latency, without Alidade and with it (60)")


def check_requirements():
    need_root("for network namespaces")
    need_programs("mosquitto")


def rows(node):
    """{(source, key): fields} of the socket links that it knows."""
    return {(source, key): fields for (source, _, key), (*_, deleted, fields) in node.records("Link1.Socket").items()
            if not deleted}


def measured(node):
    return {key: fields for key, fields in rows(node).items() if fields.get("UploadBitsPerSecond", 0) > 0}


def wait_first_round(nodes):
    from bedlib.waiting import wait_steadily

    wanted = {frozenset((a.id, b.id)) for a, b in itertools.combinations(nodes, 2)}

    def done():
        return wanted <= {frozenset((source, key.partition(",")[0])) for source, key in measured(nodes[0])}

    wait_steadily(done, "a link between each two nodes", FIRST_ROUND_SECONDS, 1)


def interface_bytes(node):
    """What its interface has sent and received."""
    for line in Path(f"/proc/{node.outer_pid}/net/dev").read_text(encoding="ascii").splitlines():
        name, _, words = line.partition(":")
        if name.strip() == "eth0":
            counts = words.split()
            return int(counts[0]) + int(counts[8])
    raise SystemExit("a node has no eth0")


def count_bytes(nodes, seconds):
    """Gigabytes per hour at the node that had most, by the counters of its interface: all traffic, that of the cluster
    included. Whole measurements, hours apart, may or may not fall into the time that is watched: they are counted where
    they do, and what the plan makes them take is reported separately."""
    before = {node.id: interface_bytes(node) for node in nodes}
    times = {key: fields["MeasuredUSec"] for key, fields in measured(nodes[0]).items()}
    begun = time.monotonic()
    time.sleep(seconds)
    span = time.monotonic() - begun
    taken = {node.id: interface_bytes(node) - before[node.id] for node in nodes}
    repeated, planned = 0, dict.fromkeys(taken, 0.0)
    for (source, key), fields in measured(nodes[0]).items():
        repeated += times.get((source, key)) != fields["MeasuredUSec"]
        if "DownloadBitsPerSecond" not in fields:
            continue
        ends = source, key.partition(",")[0]
        # As the planner counts a whole measurement: 1.5 s in each direction.
        cost = 1.5 * (fields["UploadBitsPerSecond"] + fields["DownloadBitsPerSecond"]) / 8
        for end in ends:
            planned[end] += cost / (fields["TimeToLiveUSec"] / 3.6e9)
    hourly = {end: count / span * 3600 for end, count in taken.items()}
    return {"gb_per_hour": round(max(hourly[end] + planned[end] for end in hourly) / 1e9, 3),
            "watched_gb_per_hour": round(max(hourly.values()) / 1e9, 3),
            "planned_measurements_gb_per_hour": round(max(planned.values()) / 1e9, 3),
            "watched_s": round(span), "whole_measurements_watched": repeated}


def change_seen(cluster):
    """Seconds from the shaping of all links of one node until a row of one of them says that its rate is another."""
    from bedlib.waiting import wait_steadily

    node, observer = cluster.nodes[-1], cluster.nodes[0]
    before = {key: fields["UploadBitsPerSecond"] for key, fields in measured(observer).items()}
    begun = time.monotonic()
    cluster.shape(node, SHAPED, SHAPED)

    def seen():
        return any(fields.get("Changed") == "rate" or fields["UploadBitsPerSecond"] < before.get(key, 0) / 2
                   for key, fields in measured(observer).items() if node.id in (key[0], key[1].partition(",")[0]))

    wait_steadily(seen, "a row that says so", CHANGE_SECONDS, 1)
    return round(time.monotonic() - begun, 1)


def pause(nodes, stopped):
    for node in nodes:
        for daemon in node.daemons:
            (node.pause if stopped else node.resume)(daemon.name)


def slowdown(cluster, kind, turns):
    """By how many percent the 99th percentile is higher while Alidade runs, and half of the 95 % interval of that.
    Turn and turn about, each compared with its neighbour: the machine's other load, which wanders, is in both."""
    ring = cluster.nodes[1:1 + (WORKERS if kind == "ring" else 2)]
    start = time.monotonic() + START_SECONDS
    peers = [worker.spawn(["/usr/bin/python3", LATENCY, kind, place, start, turns, *(node.address for node in ring)],
                          f"{kind}.{place}") for place, worker in enumerate(ring)]
    for turn in range(turns):
        time.sleep(max(0, start + turn * TURN_SECONDS - time.monotonic()))
        pause(cluster.nodes, turn % 2 == 0)
    pause(cluster.nodes, False)
    for peer in peers:
        peer.wait(60)
    found = json.loads(peers[0].log_text().splitlines()[-1])["p99_us"]
    quotients = sorted(math.log(with_alidade / without) for without, with_alidade in zip(found[::2], found[1::2]))
    # Single turns are far off where the machine has other work: a quarter of them at either end does not count.
    cut = len(quotients) // 4
    middle = quotients[cut:len(quotients) - cut]
    # Yuen's error of a trimmed mean: the deviation of the quotients with those that were cut moved to the edge.
    edged = [min(max(one, middle[0]), middle[-1]) for one in quotients]
    half = 2 * statistics.stdev(edged) / (len(middle) / len(edged) * math.sqrt(len(edged)))
    return {f"{kind}_slowdown_p99_percent": round(100 * math.expm1(statistics.mean(middle)), 2),
            f"{kind}_slowdown_interval_percent": round(100 * math.expm1(half), 2),
            f"{kind}_p99_us": [statistics.median(found[::2]), statistics.median(found[1::2])]}


def main(build, json_only, *, nodes=NODES, seconds=300, turns=60):
    os.environ["ALIDADE_BUILD"] = str(build)
    from bedlib import Cluster
    from bedlib.services import client_binary

    with Cluster(nodes, links=True, name="bench", shapes=[(GIGABIT, GIGABIT)] * nodes) as cluster:
        begun = time.monotonic()
        cluster.wait_online(deadline=120)
        wait_first_round(cluster.nodes)
        figures = {"first_round_s": round(time.monotonic() - begun, 1), **count_bytes(cluster.nodes, seconds),
                   "change_seen_s": change_seen(cluster)}
        print(json.dumps(figures), file=sys.stderr, flush=True)
        holders = [worker.spawn([client_binary(), "inhibit", "--what=compute", "--why=benchmark", "--", "sleep",
                                 "infinity"], f"work-{worker.name}") for worker in cluster.nodes[1:1 + WORKERS]]
        for worker in cluster.nodes[1:1 + WORKERS]:
            worker.wait_for_property(*LINK_PROBE, "Inhibited", lambda found: found == ["compute"], deadline=60)
        for kind in ("ring", "pingpong"):
            figures |= slowdown(cluster, kind, turns)
        for holder in holders:
            holder.kill()
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:32} {figure}")
    return figures
