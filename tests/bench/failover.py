# SPDX-License-Identifier: LGPL-2.1-or-later
"""Three nodes and two brokers, real ones in the bed: how long until a death is seen, and the standby knows all."""

import os
import sys
import time
from pathlib import Path

from requirement import need_programs, need_root

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bed"))

SHORTEST = {"rounds": 1}
STANDBY_SECONDS = 60
RETURN_SECONDS = 60
PORT = 8883


def seen_after(observer, node, state, act):
    """Milliseconds from the act until the observer's clients are told this of the node."""
    from bedlib.node import PRESENCE, STATE

    begun = time.monotonic()
    act()
    observer.wait_for_property(STATE[0], f"{STATE[1]}/node/{node.id}", PRESENCE, "State",
                               lambda found: found == state, deadline=60)
    return (time.monotonic() - begun) * 1e3


def listen(node, broker, name):
    """mosquitto_sub at a broker; it notes the time and topic of each message."""
    config = node.dir / "config/cluster"
    return node.spawn(["mosquitto_sub", "-h", broker.address, "-p", PORT, "--cafile", config / "ca.crt",
                       "--cert", config / "node.crt", "--key", config / "node.key", "-q", 1,
                       "-t", f"alidade/1/{name}/#", "-F", "%U %r %t"], f"sub.{time.monotonic_ns()}")


def arrivals(process):
    """{topic: when it was first published, CLOCK_REALTIME}; what the broker has kept since the round before is not."""
    found = {}
    for line in process.log_text().splitlines(keepends=True):
        if not line.endswith("\n"):
            continue
        when, retained, topic = line.split()
        if retained == "0":
            found.setdefault(topic, float(when))
    return found


def publishes_to(node, broker):
    from bedlib.node import CLUSTER

    return any(row["Publishing"] and row["Address"] == broker.address for row in node.call(*CLUSTER, "GetBrokers"))


def standby_takes_over(cluster):
    """Milliseconds from the end of the first broker until the other was told every record of every node."""
    from bedlib.waiting import wait_steadily

    first, second = cluster.brokers
    wanted = {f"alidade/1/{cluster.name}/{node}/{kind}"
              for node, kind, key in first.records() if not key and kind != "Node1.Presence"}
    # With the certificate of a node that is in nobody's way.
    process = listen(cluster.listener, second, cluster.name)
    wait_steadily(process.log_text, "what the standby has kept: how each node is")
    begun = time.time()
    first.broker.kill()
    wait_steadily(lambda: wanted <= arrivals(process).keys(), "all records at the standby", STANDBY_SECONDS)
    found = arrivals(process)
    process.stop()
    first.broker.start()
    wait_steadily(lambda: all(publishes_to(node, first) for node in cluster.nodes[:3]), "the first broker to be used",
                  RETURN_SECONDS)
    cluster.wait_online(cluster.nodes[:3])
    return (max(found[topic] for topic in wanted) - begun) * 1e3


def measure(cluster, rounds):
    observer, _, victim = cluster.nodes[:3]
    figures = {"standby_ms": [], "crash_seen_ms": [], "silence_stale_ms": [], "silence_offline_ms": []}
    for _ in range(rounds):
        figures["standby_ms"].append(standby_takes_over(cluster))
        figures["crash_seen_ms"].append(seen_after(observer, victim, "offline", lambda: victim.kill("clusterd")))
        victim.restart("clusterd")
        cluster.wait_online(cluster.nodes[:3])
    for _ in range(min(rounds, 2)):
        figures["silence_stale_ms"].append(seen_after(observer, victim, "stale", victim.cut))
        figures["silence_offline_ms"].append(seen_after(observer, victim, "offline", lambda: None))
        victim.mend()
        cluster.wait_online(cluster.nodes[:3], deadline=60)
    return {name: round(max(values), 1) for name, values in figures.items()}


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=5, help="of deaths; silence takes two at most (5)")


def check_requirements():
    need_root("for network namespaces")
    need_programs("mosquitto", "mosquitto_sub")


def main(build, json_only, rounds):
    os.environ["ALIDADE_BUILD"] = str(build)
    from bedlib import Cluster

    with Cluster(4, brokers=(0, 1), name="bench", options_of={3: {}}, programs=()) as cluster:
        cluster.listener = cluster.nodes[3]
        for node in cluster.nodes[:3]:
            node.start_daemons()
        begun = time.monotonic()
        for node in cluster.nodes[:3]:
            node.wait_ready()
        cluster.wait_online(cluster.nodes[:3])
        figures = {"start_s": round(cluster.start_seconds, 2),
                   "online_s": round(time.monotonic() - begun, 2), **measure(cluster, rounds), "rounds": rounds}
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:24} {figure}")
    return figures
