# SPDX-License-Identifier: LGPL-2.1-or-later
"""Links of a cluster that measure themselves: real nodes, real probes, shaped networks, and what goes wrong there."""

import pytest

from bedlib import network
from bedlib.fixtures import needs_namespaces
from bedlib.waiting import wait_steadily

pytestmark = needs_namespaces
KIND = "Link1.Socket"
MBIT = 1_000_000
# What each of three nodes sends and receives.
SHAPES = ((50 * MBIT, 200 * MBIT), (100 * MBIT, 300 * MBIT), (400 * MBIT, 25 * MBIT))
# The rounds are 15 s apart, pairs wait for each other, and who was busy is left alone for a while.
ROUNDS = 120.0


def rows(observer, *pair):
    """{(source, sink, address): fields} of the links that the observer knows, or of those between two nodes."""
    found = {(source, *key.split(",", 1)): fields
             for (source, _, key), (*_, deleted, fields) in observer.records(KIND).items() if not deleted}
    ids = {node.id for node in pair}
    return {key: fields for key, fields in found.items() if not ids or {key[0], key[1]} == ids}


def addresses(node):
    """Those of its interface, without the length of their prefix."""
    told = network.ip(node, "-o", "address", "show", "dev", "eth0").split()
    return {word.partition("/")[0] for word in told if "/" in word}


def is_measured(row):
    return row.get("UploadBitsPerSecond", 0) > 0 and row.get("DownloadBitsPerSecond", 0) > 0


def wait_measured(observer, one, two, deadline=ROUNDS):
    """Each address of the sink has a row with figures; which of the two is the sink, their ids decide."""
    source, sink = sorted((one, two), key=lambda node: node.id)
    wanted = {(source.id, sink.id, address) for address in addresses(sink)}

    def done():
        found = rows(observer, one, two)
        return found if set(found) == wanted and all(map(is_measured, found.values())) else None

    return wait_steadily(done, lambda: f"{wanted} measured at {observer.name}; now {rows(observer, one, two)}",
                         deadline, 0.2)


def rate(shapes, source, sink, header=52):
    """What the shapes let through from one to the other, as TCP sees it."""
    return network.payload_rate(min(shapes[source.number - 1][0], shapes[sink.number - 1][1]), header)


def test_each_pair_is_measured_in_both_directions_by_itself(make_cluster):
    cluster = make_cluster(3, links=True)
    for node, shape in zip(cluster.nodes, SHAPES, strict=True):
        cluster.shape(node, *shape)
    by_id = {node.id: node for node in cluster.nodes}
    one, two, three = cluster.nodes
    for pair in ((one, two), (one, three), (two, three)):
        for (source, sink, address), row in wait_measured(one, *pair).items():
            ends, header = (by_id[source], by_id[sink]), 72 if ":" in address else 52
            assert row["UploadBitsPerSecond"] == pytest.approx(rate(SHAPES, *ends, header), rel=0.1)
            assert row["DownloadBitsPerSecond"] == pytest.approx(rate(SHAPES, *reversed(ends), header), rel=0.1)
            assert row["SourceInterface"] == "eth0" and row["SourceInterfaceType"] == "veth"
            assert 0 < row["RttMinNSec"] <= row["RttP50NSec"] <= row["RttP99NSec"]
            assert "Failure" not in row or not row["Failure"]
    edges = {(edge["Source"], edge["Sink"]): edge for edge in one.state("GetTopology")}
    assert set(edges) == {(a.id, b.id) for a in cluster.nodes for b in cluster.nodes if a is not b}
    for (source, sink), edge in edges.items():
        expected = rate(SHAPES, by_id[source], by_id[sink])
        assert edge["BitsPerSecond"] == pytest.approx(expected, rel=0.12), edge
        assert edge["Path"] == "socket" and edge["Prober"] == min(source, sink)
    cluster.wait_until(lambda: rows(one) == rows(two) == rows(three), "the same links at all nodes")
