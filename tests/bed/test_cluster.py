# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes that see each other, and what befalls them: with real daemons, brokers, certificates and networks."""

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.node import CLUSTER, STATE, told_states
from bedlib.topology import Topology
from fault_tools import set_link, wait_link

pytestmark = needs_namespaces
IDENTITY = ("org.alidade.Identity1", "/org/alidade/Identity1", "org.alidade.Identity1")
YEAR = 365 * 86400
OFFLINE = 60.0
RESEND = 40.0
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


def refused(observer, node):
    return next((row["RefusedMessages"] for row in observer.call(*CLUSTER, "GetNodes") if row["Id"] == node.id), 0)


def name_at(observer, node):
    rows = observer.state("GetIdentities")
    return rows.get(node.id, {}).get("FriendlyName")


def test_nodes_hold_the_same_map(trio):
    trio.wait_digest_equal()
    one, _, three = trio.nodes
    assert {node for node, _, _ in one.records("Node1.Memory")} == {node.id for node in trio.nodes}
    rename(three, "Ada")
    trio.wait_until(lambda: name_at(one, three) == "Ada", "the new name at node1")


def test_crash_is_seen_by_all(trio):
    one, two, three = trio.nodes
    three.crash()
    for observer in (one, two):
        observer.wait_presence(three, "offline")
        assert name_at(observer, three) == "bed"
    assert "offline" not in (one.presence(two), two.presence(one))


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


def test_silence_goes_stale_then_offline_then_comes_back(trio):
    gone, here, _ = trio.nodes  # a broker beside it would tell it of the end of the others
    gone.cut()
    here.wait_presence(gone, "stale")
    gone.wait_presence(here, "stale")
    here.wait_presence(gone, "offline", deadline=OFFLINE)
    assert gone.presence(here) == "stale"  # it cannot know
    gone.mend()
    here.wait_presence(gone, "online", deadline=OFFLINE)
    gone.wait_presence(here, "online", deadline=OFFLINE)
    trio.wait_digest_equal()


@pytest.mark.parametrize("which", [0, 1], ids=["first", "standby"])
@pytest.mark.parametrize("how", ["kill", "stop", "pause"])
def test_one_broker_lost_and_nobody_goes_offline(trio, which, how):
    one, two, three = trio.nodes
    broker = trio.brokers[which].broker
    with one.log_presences() as log:
        getattr(broker, how)()
        rename(three, "Ada")
        trio.wait_until(lambda: name_at(one, three) == name_at(two, three) == "Ada", "the new name")
        trio.wait_online(deadline=OFFLINE)
        if how == "pause":
            broker.resume()
        else:
            broker.start()
        rename(three, "Grace")
        trio.wait_until(lambda: name_at(one, three) == name_at(two, three) == "Grace", "the newer name")
        assert "offline" not in {state for _, state in told_states(log)}
    trio.wait_digest_equal()


@pytest.mark.parametrize("program", DAEMONS)
def test_restart_and_crash_of_a_daemon(trio, program):
    one, two, three = trio.nodes
    three.restart(program)
    trio.wait_online(deadline=OFFLINE)
    two.kill(program)
    two.restart(program)
    trio.wait_online(deadline=OFFLINE)
    rename(three, "Ada")
    trio.wait_until(lambda: name_at(one, three) == name_at(two, three) == "Ada", "the new name")
    trio.wait_digest_equal()


@pytest.mark.parametrize("years", [1, -1])
def test_a_clock_that_jumps(make_cluster, years):
    cluster = make_cluster(3, brokers=(0, 1), sysroot=True, own_clock=True)
    cluster.wait_online()
    one, _, three = cluster.nodes
    three.set_clock(years * YEAR)
    rename(three, "Ada")
    if years > 0:
        # Nobody believes what is of next year.
        cluster.wait_until(lambda: refused(one, three) > 0, "the refusal", RESEND)
        assert name_at(one, three) != "Ada"
    else:
        cluster.wait_until(lambda: name_at(one, three) == "Ada", "the new name", RESEND)
    one.wait_presence(three, "online")
    three.set_clock(0)
    rename(three, "Grace")
    cluster.wait_until(lambda: name_at(one, three) == "Grace", "the newer name", RESEND)
    cluster.wait_digest_equal()


def test_a_node_without_configuration_is_idle(make_cluster):
    cluster = make_cluster(1, brokers=(), enrolled=False)
    node, = cluster.nodes
    assert node.get(*CLUSTER, "State") == "idle"
