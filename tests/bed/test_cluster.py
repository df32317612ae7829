# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes that see each other, and what befalls them: with real daemons, brokers, certificates and networks."""

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.node import CLUSTER, STATE, told_states
from bedlib.topology import Topology
from fault_tools import publishing, set_link, wait_broker, wait_link

pytestmark = needs_namespaces
IDENTITY = ("org.alidade.Identity1", "/org/alidade/Identity1", "org.alidade.Identity1")
OFFLINE = 60.0
DAEMONS = ("identityd", "telemetryd", "stated", "clusterd")


@pytest.fixture
def trio(make_cluster):
    """Three nodes that are online for each other, with two brokers; values that hold still."""
    cluster = make_cluster(3, brokers=(1, 2), sysroot=True)
    cluster.wait_online()
    return cluster


def rename(node, name):
    """Changes a record of the node, as its administrator would."""
    node.call(*IDENTITY, "SetFriendlyName", "s", (name,))


def name_at(observer, node):
    rows = observer.state("GetIdentities")
    return rows.get(node.id, {}).get("FriendlyName")


def test_a_dead_node_does_not_count(trio):
    """Its memory leaves the totals, its links the topology, and of all that was wrong with it one thing is said."""
    one, _, three = trio.nodes
    three.sysroot.write("proc/pressure/memory", "some avg10=90.00 avg60=0 avg300=0 total=0\n"
                                                "full avg10=80.00 avg60=0 avg300=0 total=0\n")
    for source, sink in ((one, three), (three, one), (one, trio.nodes[1])):
        set_link(source, sink)
        wait_link(trio, source, sink, observers=[one])

    def totals():
        return {name: one.get(*STATE, name) for name in ("NodesLeftOut", "MemoryTotalBytes", "MemoryAvailableBytes")}

    def about():
        return [row["Id"] for row in one.state("GetFindings") if three.id in row["Nodes"]]

    def ends():
        return [end for edge in Topology(one.state).find(Presence="live") for end in (edge["Source"], edge["Sink"])]

    def memory_of(*nodes):
        return sum(one.state("GetMemories")[node.id]["TotalBytes"] for node in nodes)

    trio.wait_until(lambda: totals()["MemoryTotalBytes"] == memory_of(*trio.nodes) and three.id in ends() and
                    "memory-pressure" in about(), "all three nodes in all that is summed up")
    assert totals()["NodesLeftOut"] == 0
    before = totals()["MemoryAvailableBytes"]
    three.crash()
    one.wait_presence(three, "offline")
    trio.wait_until(lambda: totals()["NodesLeftOut"] == 1, "the totals without it")
    assert totals()["MemoryTotalBytes"] == memory_of(*trio.nodes[:2]) and totals()["MemoryAvailableBytes"] < before
    assert three.id not in ends() and one.id in ends()
    assert about() == ["node-offline"]
    assert three.id in one.state("GetMemories")  # what it left stays to be looked at
    links = one.alidadectl("links").stdout
    assert links.count("node offline") == 2
    assert "(1 not counted)" in one.alidadectl("status").stdout


@pytest.mark.parametrize("which", [0, 1], ids=["first", "standby"])
def test_one_broker_lost_and_nobody_goes_offline(trio, which):
    one, two, three = trio.nodes
    broker = trio.brokers[which].broker

    def wait_renamed(name):
        rename(three, name)
        trio.wait_until(lambda: name_at(one, three) == name_at(two, three) == name, name)

    for how in ("kill", "stop", "pause"):
        # As at first: all are connected, and publish to the first.
        for node in trio.nodes:
            wait_broker(trio, node, trio.brokers[which], "connected")
            trio.wait_until(lambda: publishing(node) == trio.brokers[0].address, "the first broker", OFFLINE)
        with one.log_presences() as log:
            getattr(broker, how)()
            wait_renamed(f"Ada after {how}")
            trio.wait_online(deadline=OFFLINE)
            if how == "pause":
                broker.resume()
            else:
                broker.start()
            wait_renamed(f"Grace after {how}")
            assert "offline" not in {state for _, state in told_states(log)}, how
        trio.wait_digest_equal()


def test_restart_and_crash_of_each_daemon(trio):
    one, two, three = trio.nodes
    trio.wait_digest_equal()
    for program in DAEMONS:
        three.restart(program)
        trio.wait_online(deadline=OFFLINE)
        two.kill(program)
        two.restart(program)
        trio.wait_online(deadline=OFFLINE)
        name = f"Ada after {program}"
        rename(three, name)
        trio.wait_until(lambda: name_at(one, three) == name_at(two, three) == name, name)
        trio.wait_digest_equal()


def test_a_node_without_configuration_is_idle(make_cluster):
    cluster = make_cluster(1, brokers=(), enrolled=False)
    node, = cluster.nodes
    assert node.get(*CLUSTER, "State") == "idle"
