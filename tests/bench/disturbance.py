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
CHANGE_SECONDS = 900
HERE = Path(__file__).resolve().parent
LATENCY = HERE / "disturbance-peer.py"
STEPS = HERE / "disturbance-worker.py"
# As these two have it; less than what makes a node stale, which would itself be news to all.
TURN_SECONDS = 2
START_SECONDS = 3


def add_arguments(parser):
    parser.add_argument("--nodes", type=int, default=NODES, metavar="N", help=f"how many nodes ({NODES})")
    parser.add_argument("--seconds", type=int, default=300, metavar="N", help="how long bytes are counted (300)")
    parser.add_argument("--turns", type=int, default=60, metavar="N",
                        help="turns of 2 s of each latency, without Alidade and with it (60)")


def check_requirements():
    need_root("for network namespaces")
    need_programs("mosquitto", "taskset")


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
    """Seconds from the shaping of all links of one node until a row of one of them says that its rate is another. Only
    a change that was found after the shaping counts: rows may be marked before, too."""
    from bedlib.waiting import wait_steadily

    node, observer = cluster.nodes[-1], cluster.nodes[0]
    since, begun = int(time.time() * 1e6), time.monotonic()
    cluster.shape(node, SHAPED, SHAPED)

    def is_found(fields):
        return ((fields.get("Changed") == "rate" and fields.get("ChangedUSec", 0) >= since)
                or fields.get("RateChangedUSec", 0) >= since)

    def seen():
        return any(is_found(fields) for key, fields in measured(observer).items()
                   if node.id in (key[0], key[1].partition(",")[0]))

    wait_steadily(seen, "a row that says so", CHANGE_SECONDS, 1)
    return round(time.monotonic() - begun, 1)


def split_processors():
    """(those of the nodes, those of the ring): halves, or the same one for both if there is only one."""
    processors = sorted(os.sched_getaffinity(0))
    half = (len(processors) + 1) // 2
    return processors[:half], processors[half:] or processors


def on_processors(processors, *command):
    return ["taskset", "-c", ",".join(map(str, processors)), *command]


def processes_of(node):
    """The pids of all that runs in the pid namespace of a node."""
    namespace = os.readlink(f"/proc/{node.outer_pid}/ns/pid")
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "ns/pid") == namespace:
                yield int(entry.name)
        except OSError:  # It has ended meanwhile.
            continue


def move(node, processors):
    """All threads of a node to these processors; what they start later is there, too."""
    for pid in processes_of(node):
        for task in Path(f"/proc/{pid}/task").glob("*"):
            try:
                os.sched_setaffinity(int(task.name), processors)
            except ProcessLookupError:
                continue


def pause(nodes, stopped):
    for node in nodes:
        for daemon in node.daemons:
            (node.pause if stopped else node.resume)(daemon.name)


def turn_about(nodes, processes, start, turns):
    """Stops the daemons of these nodes in every other turn, from the first on; returns what the first process found."""
    for turn in range(turns):
        time.sleep(max(0, start + turn * TURN_SECONDS - time.monotonic()))
        pause(nodes, turn % 2 == 0)
    pause(nodes, False)
    for process in processes:
        process.wait(60)
    return json.loads(processes[0].log_text().splitlines()[-1])


def compare(found):
    """By how many percent the figures of the turns with Alidade are greater, and half of the 95 % interval of that.
    Each is compared with its neighbour: the machine's other load, which wanders, is in both."""
    quotients = sorted(math.log(with_alidade / without) for without, with_alidade in zip(found[::2], found[1::2]))
    # Single turns are far off where the machine has other work: a quarter of them at either end does not count.
    cut = len(quotients) // 4
    middle = quotients[cut:len(quotients) - cut]
    # Yuen's error of a trimmed mean: the deviation of the quotients with those that were cut moved to the edge.
    edged = [min(max(one, middle[0]), middle[-1]) for one in quotients]
    half = 2 * statistics.stdev(edged) / (len(middle) / len(edged) * math.sqrt(len(edged)))
    return round(100 * math.expm1(statistics.mean(middle)), 2), round(100 * math.expm1(half), 2)


def slowdown(cluster, kind, turns, processors):
    """Of the network: its users have processors that the daemons of the nodes do not use."""
    ring = cluster.nodes[1:1 + (WORKERS if kind == "ring" else 2)]
    start = time.monotonic() + START_SECONDS
    peers = [worker.spawn(on_processors(processors, "/usr/bin/python3", LATENCY, kind, place, start, turns,
                                        *(node.address for node in ring)), f"{kind}.{place}")
             for place, worker in enumerate(ring)]
    found = turn_about(cluster.nodes, peers, start, turns)["p99_us"]
    percent, interval = compare(found)
    return {f"{kind}_slowdown_p99_percent": percent, f"{kind}_slowdown_interval_percent": interval,
            f"{kind}_p99_us": [statistics.median(found[::2]), statistics.median(found[1::2])]}


def slowdown_beside(cluster, turns, processors):
    """Of a worker that shares its processor with all that one node runs, which is moved there from the others."""
    node, processor = cluster.nodes[1], processors[-1:]
    move(node, processor)
    start = time.monotonic() + START_SECONDS
    worker = node.spawn(on_processors(processor, "/usr/bin/python3", STEPS, start, turns), "beside")
    found = turn_about([node], [worker], start, turns)
    figures = {}
    for name in ("mean", "p99"):
        percent, interval = compare(found[f"{name}_us"])
        figures |= {f"beside_slowdown_{name}_percent": percent,
                    f"beside_slowdown_{name}_interval_percent": interval}
    return figures


def main(build, json_only, *, nodes=NODES, seconds=300, turns=60):
    os.environ["ALIDADE_BUILD"] = str(build)
    from bedlib import Cluster
    from bedlib.services import client_binary

    ours, theirs = split_processors()
    # All that the bed starts inherits this.
    os.sched_setaffinity(0, ours)
    with Cluster(nodes, links=True, name="bench", shapes=[(GIGABIT, GIGABIT)] * nodes) as cluster:
        begun = time.monotonic()
        cluster.wait_online(deadline=120)
        wait_first_round(cluster.nodes)
        figures = {"node_processors": ours, "ring_processors": theirs,
                   "first_round_s": round(time.monotonic() - begun, 1), **count_bytes(cluster.nodes, seconds),
                   "change_seen_s": change_seen(cluster)}
        print(json.dumps(figures), file=sys.stderr, flush=True)
        holders = [worker.spawn([client_binary(), "inhibit", "--what=compute", "--why=benchmark", "--", "sleep",
                                 "infinity"], f"work-{worker.name}") for worker in cluster.nodes[1:1 + WORKERS]]
        for worker in cluster.nodes[1:1 + WORKERS]:
            worker.wait_for_property(*LINK_PROBE, "Inhibited", lambda found: found == ["compute"], deadline=60)
        for kind in ("ring", "pingpong"):
            figures |= slowdown(cluster, kind, turns, theirs)
        figures |= slowdown_beside(cluster, turns, theirs)
        for holder in holders:
            holder.kill()
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:32} {figure}")
    return figures
