# SPDX-License-Identifier: LGPL-2.1-or-later
"""The connection graph of the state service: paths before they are measured, changes, pages, and its signals."""

import itertools
import time

import pytest

from bedlib.topology import Topology
from bedlib.waiting import wait_steadily
from state_service import PATH, STATE, Cluster, call, get, local_id, memory, node_id, record, start, topology

SOURCE, SINK, THIRD = node_id(1), node_id(2), node_id(3)
UNKNOWN = -2 ** 63


@pytest.fixture
def host(make_host):
    return start(make_host)


@pytest.fixture
def cluster(host):
    return Cluster(host)


def network(node, address, seq=1, **more):
    return record(node, "Node1.Network", seq=seq, Interfaces=[{
        "Id": "eth0", "Type": "ethernet", "Addresses": [f"{address}/24"], "SpeedBitsPerSecond": 10 ** 10,
        "Carrier": True, **more}])


def link(source, sink, address="192.0.2.7", seq=1, **fields):
    return record(source, "Link1.Socket", key=f"{sink},{address}", seq=seq, Source=source, Sink=sink,
                  SinkAddress=address, **fields)


def figures(rate, **more):
    return {"UploadBitsPerSecond": rate, "DownloadBitsPerSecond": rate, "MeasuredUSec": 1_700_000_000_000_000, **more}


def presence(node, state):
    return (node, state, 5, UNKNOWN, 0, 0)


def test_what_is_known_is_an_edge(host, cluster):
    cluster.online(SOURCE, SINK)
    cluster.take(network(SOURCE, "192.0.2.1"), network(SINK, "192.0.2.2"),
                 record(SINK, "Node1.Identity", FriendlyName="sink"))
    graph = topology(host)
    assert graph.whole and graph.nodes[SINK] == {"Node": SINK, "Presence": "online", "Name": "sink", "SinceUSec": 1}
    there, = graph.find(SOURCE, SINK)
    back, = graph.find(SINK, SOURCE)
    assert there == {"Id": there["Id"], "Kind": "socket", "Source": SOURCE, "SourcePort": "eth0", "Sink": SINK,
                     "SinkPort": "eth0", "Presence": "unmeasured", "SinkAddress": "192.0.2.2",
                     "SourceType": "ethernet", "SinkType": "ethernet", "NegotiatedBitsPerSecond": 10 ** 10,
                     "Prober": SOURCE, "DueReason": "never"}
    assert back == {**{name: value for name, value in there.items() if name != "SinkAddress"},
                    "Id": back["Id"], "Source": SINK, "Sink": SOURCE, "SourceAddress": "192.0.2.2"}
    assert graph.pairs == {(SOURCE, SINK): {"Node": SOURCE, "Peer": SINK, "Presence": "unmeasured",
                                            "Kinds": ["socket"], "Type": "ethernet"}}


def test_only_what_has_changed(host, cluster):
    cluster.online(SOURCE, SINK, THIRD)
    cluster.take(link(SOURCE, SINK, **figures(100)), link(SOURCE, THIRD, **figures(100)))
    before = topology(host)
    assert topology(host, before.revision).edges == [] and not topology(host, before.revision).whole
    cluster.take(link(SOURCE, THIRD, seq=2, **figures(100, UploadBitsPerSecond=50)))
    changed = topology(host, before.revision)
    assert not changed.whole and changed.nodes == {}
    assert [(edge["Source"], edge["Sink"], edge["BitsPerSecond"]) for edge in changed.edges] == [(SOURCE, THIRD, 50)]
    assert changed.pairs.keys() == {(SOURCE, THIRD)}
    assert [edge["Id"] for edge in changed.edges] == [edge["Id"] for edge in before.find(SOURCE, THIRD)]
    cluster.take(link(SOURCE, THIRD, seq=3, **figures(1))[:6] + (True, {}))
    gone = topology(host, changed.revision)
    assert sorted(gone.gone_edges) == sorted(edge["Id"] for edge in before.edges if THIRD in edge.values())
    assert gone.gone_pairs == [(SOURCE, THIRD)] and gone.gone_nodes == []


@pytest.mark.parametrize("since", [1, 2 ** 64 - 1])
def test_a_revision_of_another_run_brings_everything(host, cluster, since):
    cluster.online(SOURCE, SINK)
    cluster.take(link(SOURCE, SINK, **figures(100)))
    graph = topology(host, since)
    assert graph.whole and len(graph.edges) == 2 and graph.gone_edges == []


def test_a_new_run_begins_beyond(make_host):
    host = start(make_host)
    before = topology(host).revision
    host.daemons[-1].stop()
    host.start_daemon("stated")
    assert topology(host).revision > before


def test_after_the_end_nothing_comes(host, cluster):
    cluster.online(SOURCE, SINK)
    revision = topology(host).revision
    for after in (revision, revision + 1, 2 ** 64 - 1):
        _, following, whole, *rows = call(host, "GetTopology", "tt", (0, after))
        assert (following, whole, rows) == (0, True, [[], [], [], []])
        assert call(host, "GetPairs", "tt", (0, after))[1:] == (0, True, [], [])


def test_pages(host, cluster):
    """More than a reply can hold, and changes between the pages."""
    n, peers = 100, 76
    nodes = [node_id(number) for number in range(1, n + 1)]
    cluster.online(*nodes)
    for number, node in enumerate(nodes):
        cluster.take(*(link(node, nodes[(number + step) % n], **figures(step), Failure="x" * 1000)
                       for step in range(1, peers + 1)))
    # stated spreads the work for many changes over some time.
    known, revision = set(), 0

    def all_are_known():
        nonlocal revision
        found = topology(host, revision)
        known.update(edge["Id"] for edge in found.edges)
        revision = found.revision
        return len(known) == 2 * n * peers

    wait_steadily(all_are_known, "all edges")
    changed = []

    def call_and_change(*words):
        reply = call(host, *words)
        if not changed:
            cluster.take(link(nodes[0], nodes[1], seq=2, **figures(77)))
            changed.append(True)
        return reply

    graph = Topology(call_and_change)
    assert graph.n_pages > 1 and len(graph.edges) == 2 * n * peers and len(graph.nodes) == n + 1

    def arrived():
        """On a later page, or after all of them; what came on a page may come once more."""
        later = topology(host, graph.revision)
        assert not later.whole and len(later.edges) <= 2
        return any(edge["BitsPerSecond"] == 77 for found in (graph, later)
                   for edge in found.find(nodes[0], nodes[1], Prober=nodes[0]))

    wait_steadily(arrived, "the change between the pages")


def test_the_signal_of_a_change(host, cluster):
    cluster.online(SOURCE, SINK)
    topology(host)
    with host.log_signals(STATE, member="TopologyChanged") as log:
        cluster.take(link(SOURCE, SINK, **figures(100)))
        log.wait(lambda signal: signal.args[0] == topology(host).revision)
        received = len(log.received)
        # What is not in the graph is no change of it.
        cluster.take(memory(SOURCE), link(SOURCE, SINK, seq=2, **figures(100, SpotUploadBitsPerSecond=7)))
        cluster.take(link(SOURCE, SINK, seq=3, **figures(200)))
        log.wait(lambda signal: signal.args[0] == topology(host).revision and len(log.received) > received)
        assert len(log.received) <= received + 1


def test_signals_come_once_a_second_at_most(host, cluster):
    cluster.online(SOURCE, SINK)
    with host.log_signals(STATE, member="TopologyChanged") as log:
        begin, seq = time.monotonic(), 0
        while time.monotonic() < begin + 3.5:
            seq += 1
            cluster.take(link(SOURCE, SINK, seq=seq, **figures(100 + seq)))
        last = topology(host).revision
        log.wait(lambda signal: signal.args[0] == last)
        passed = time.monotonic() - begin
    assert 2 <= len(log.received) <= passed + 2


def longest_pause(cluster, seconds):
    """Sends changes for so long, and returns the longest time that may have passed between two of them."""
    times = [time.monotonic()]
    for seq in itertools.count(1):
        cluster.take(link(SOURCE, SINK, seq=seq, **figures(100 + seq)))
        times.append(time.monotonic())
        if times[-1] > times[0] + seconds:
            return max((after - before for before, after in zip(times, times[2:])), default=seconds)


def test_a_burst_is_one_update(host):
    """While the records of a thousand nodes come, the graph of the first of them is of no use."""
    for _ in range(20):
        cluster = Cluster(host)
        with host.log_signals(STATE, member="TopologyChanged") as log:
            pause = longest_pause(cluster, 0.25)
            log.wait(lambda signal: signal.args[0] == topology(host).revision)
        if pause < 0.1:
            break
        # Other programs kept this machine busy, and each pause ends a burst.
        cluster.close()
        host.daemons[-1].stop()
        host.start_daemon("stated")
    assert pause < 0.1 and len(log.received) == 1


def test_subscribers_receive_it_too(host, cluster):
    cluster.online(SOURCE, SINK)
    connection = host.new_connection()
    connection.call(STATE, PATH, STATE, "Subscribe")
    with connection.log_directed(STATE, "TopologyChanged") as log:
        cluster.take(link(SOURCE, SINK, **figures(100)))
        log.wait(lambda signal: signal.args[0] == topology(host).revision)


def test_the_signal_of_findings(host, cluster):
    cluster.online(SOURCE, SINK)
    with host.log_signals(STATE, member="FindingsChanged") as log:
        cluster.presences(presence(SINK, "offline"))
        log.wait(lambda signal: any(row["Id"] == "node-offline" for row in call(host, "GetFindings")))
        first = log.received[-1].args[0]
        cluster.presences(presence(SINK, "online"))
        log.wait(lambda signal: signal.args[0] > first)
    assert [row["Id"] for row in call(host, "GetFindings") if SINK in row["Nodes"]] == []


def test_a_node_that_dies_and_comes_back(host, cluster):
    cluster.online(SOURCE, SINK)
    cluster.take(link(SOURCE, SINK, **figures(100)))
    edges = topology(host).edges
    for state, shown in (("stale", "stale"), ("offline", "offline"), ("online", "live")):
        cluster.presences(presence(SINK, state))
        assert topology(host).presences() == {shown}
        # Figures and times stay.
        assert [edge["MeasuredUSec"] for edge in topology(host).edges] == [edge["MeasuredUSec"] for edge in edges]
    assert [edge["Id"] for edge in topology(host).edges] == [edge["Id"] for edge in edges]


def test_forgotten_nodes_are_gone(host, cluster):
    cluster.online(SOURCE, SINK)
    cluster.take(link(SOURCE, SINK, **figures(100)))
    before = topology(host)
    cluster.presences(presence(SOURCE, "forgotten"))
    gone = topology(host, before.revision)
    assert gone.gone_nodes == [SOURCE] and len(gone.gone_edges) == 2 and gone.gone_pairs == [(SOURCE, SINK)]
    assert topology(host).nodes.keys() == {local_id(host), SINK}


def test_many_interfaces(host, cluster):
    """500 on one node, all of which lead to the other."""
    cluster.online(SOURCE, SINK)
    cluster.take(network(SINK, "192.0.2.2"),
                 record(SOURCE, "Node1.Network", Interfaces=[
                     {"Id": f"eth{number}", "Type": "ethernet", "Addresses": [f"192.0.2.{number % 250 + 3}/24"]}
                     for number in range(500)]))
    assert 2 <= len(topology(host).edges) <= 64
    wait_steadily(lambda: get(host, "Nodes") == 3, "the service to go on")
