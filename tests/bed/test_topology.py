# SPDX-License-Identifier: LGPL-2.1-or-later
"""The connection graph of real nodes: before anything is measured, and when nodes, cables and networks go."""

import json

import pytest

from bedlib import network
from bedlib.fixtures import needs_namespaces
from bedlib.node import LINK
from bedlib.topology import Topology
from fault_tools import measured, quiet, set_link, wait_link

pytestmark = needs_namespaces
GONE = 40.0  # 30 s of silence, and what a busy machine adds


def graph(node):
    return Topology(node.state)


def between(observer, one, two):
    """The edges over sockets between two nodes, in both directions."""
    found = graph(observer)
    return found.find(one.id, two.id, Kind="socket") + found.find(two.id, one.id, Kind="socket")


def wait_edges(cluster, observer, one, two, deadline=20.0, **fields):
    """Until all edges between two nodes have these fields."""
    def there():
        edges = between(observer, one, two)
        return edges and all(fields.items() <= edge.items() for edge in edges)

    cluster.wait_until(there, lambda: f"edges with {fields}: {between(observer, one, two)}", deadline)


@pytest.fixture
def trio(make_cluster):
    cluster = quiet(make_cluster)
    cluster.wait_online()
    return cluster


def test_pairs_that_nobody_has_measured(trio):
    """They are there, and follow a node that falls silent, and a partition."""
    one, two, three = trio.nodes
    for observer in trio.nodes:
        for source, sink in ((one, two), (two, three), (one, three)):
            wait_edges(trio, observer, source, sink, Presence="unmeasured", DueReason="never", SourcePort=LINK,
                       SinkPort=LINK, SourceType="veth", SinkType="veth", Prober=min(source.id, sink.id))
    found = graph(one)
    assert {node: row["Presence"] for node, row in found.nodes.items()} == {node.id: "online" for node in trio.nodes}
    assert len(found.pairs) == 3 and {pair["Presence"] for pair in found.pairs.values()} == {"unmeasured"}
    # A node that falls silent is stale, then offline.
    three.pause("clusterd")
    with measured("edges of a silent node, to stale", 4):
        wait_edges(trio, one, one, three, Presence="stale")
    with measured("and to offline", 35):
        wait_edges(trio, one, one, three, GONE, Presence="offline")
    three.resume("clusterd")
    trio.wait_online()
    wait_edges(trio, one, one, three, Presence="unmeasured")
    # A partition.
    trio.partition([one, two], [three])
    wait_edges(trio, one, one, three, GONE, Presence="offline")
    assert {edge["Presence"] for edge in between(one, one, two)} == {"unmeasured"}
    trio.heal()
    trio.wait_online()
    wait_edges(trio, one, one, three, Presence="unmeasured")


def test_a_node_that_dies_is_offline_and_comes_back_with_its_figures(trio):
    """Clients receive a signal each time."""
    one, _, three = trio.nodes
    set_link(one, three)
    wait_link(trio, one, three)
    trio.wait_online()

    def rates():
        """{presence: rate} of what was measured; the other node may have an unmeasured path of its own."""
        return {edge["Presence"]: edge["BitsPerSecond"] for edge in between(one, one, three) if "BitsPerSecond" in edge}

    trio.wait_until(lambda: rates() == {"live": 10 ** 9}, lambda: f"the link: {rates()}")
    with one.connection().log_signals("org.alidade.State1", member="TopologyChanged") as log:
        began = graph(one).revision
        with measured("edges of a node whose cluster service was killed, to offline", 4):
            three.kill("clusterd")
            wait_edges(trio, one, one, three, Presence="offline")
        log.wait(lambda signal: any(edge["Presence"] == "offline" for edge in Topology(one.state, began).edges))
    assert rates() == {"offline": 10 ** 9}
    text = one.alidadectl("topology").stdout
    assert "×" in text and "?" in text
    three.restart("clusterd")
    trio.wait_online()
    trio.wait_until(lambda: rates() == {"live": 10 ** 9}, lambda: f"the link again: {rates()}")


def test_a_cable_that_is_pulled(trio):
    """Its node itself knows why; a path that nobody ever tried is none without a cable."""
    one, two, three = trio.nodes
    set_link(three, one)
    wait_link(trio, three, one)
    with measured("what the node without a cable says of its own edges", 5):
        three.cut()
        wait_edges(trio, three, one, three, Presence="offline", Problem="no-carrier")
    reasons = {edge["Reason"] for edge in between(three, one, three)}
    assert between(three, two, three) == []
    assert reasons == {f"{LINK} at the source has no carrier", f"{LINK} at the sink has no carrier"}
    for verb in ("links", "show", "status"):
        text = three.alidadectl(verb, *([three.id] if verb == "show" else [])).stdout
        assert f"unusable: {LINK} at the source has no carrier" in text, verb
    # It does not call the other nodes offline only.
    told = json.loads(three.alidadectl("findings", "--json").stdout)
    assert [row["Nodes"] for row in told["Findings"] if row["Id"] == "node-cut-off"] == [[three.id]]
    wait_edges(trio, one, one, three, GONE, Presence="offline")
    three.mend()
    trio.wait_online()
    for observer in (one, three):
        wait_edges(trio, observer, two, three, Presence="unmeasured")


def test_a_bridge_in_the_way(trio):
    """The path goes over the bridge, and its type is that of the port below."""
    one, _, three = trio.nodes
    network.ip(three, "link", "add", "br0", "type", "bridge", "forward_delay", "0")
    network.ip(three, "addr", "flush", "dev", LINK)
    network.ip(three, "link", "set", LINK, "master", "br0")
    network.set_up(three, "br0")
    network.add_address(three, "br0", f"{three.address}/16")
    trio.wait_online()

    def ends():
        """The ports and types of the sink, whichever of the two nodes probes the path."""
        return {(edge["SinkPort"], edge["SinkType"]) for edge in graph(one).find(one.id, three.id, Kind="socket")}

    trio.wait_until(lambda: ends() == {("br0", "veth")}, lambda: f"the bridge in {between(one, one, three)}")
