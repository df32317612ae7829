# SPDX-License-Identifier: LGPL-2.1-or-later
"""How nodes are heard of: who may say so, what is taken, what goes with it, and that none of it travels."""

import random
import time

import pytest
from gi.repository import GLib

from bedlib.fixtures import needs_namespaces
from contract import assert_follows
from state_service import (ACCESS_DENIED, CLUSTER, CLUSTER_POLICY, PATH, STATE, Cluster, call, fails_with, full_record,
                           get, interface, local_id, managed, memory, node_id, node_path, pages, record, start,
                           topology)

SOURCE, SINK = node_id(1), node_id(2)
UNKNOWN = -2 ** 63
KIND = "Node1.Presence"


@pytest.fixture
def host(make_host):
    return start(make_host)


@pytest.fixture
def cluster(host):
    return Cluster(host)


def presence(node, state="online", since=1, offset=UNKNOWN, announced=0, epoch=0):
    return (node, state, since, offset, announced, epoch)


def shown(host):
    """State by node."""
    return {node: fields["State"] for node, fields in call(host, "GetPresences").items()}


def findings(host):
    return {row["Id"]: row for row in call(host, "GetFindings")}


# Who may


@needs_namespaces
@pytest.mark.parametrize("strict_bus", [True, False], ids=["by policy", "by the service"])
def test_nobody_else_may_put(make_host, strict_bus):
    host = start(make_host, strict_bus=strict_bus, bus_policy=CLUSTER_POLICY if strict_bus else "")
    callers = [host.connection(user) for user in (None, "nobody", "alidade-telemetry", "alidade-cluster")]
    owners = [None, Cluster(host)]
    for owner in owners:
        for caller in callers:
            with fails_with(ACCESS_DENIED):
                caller.call(STATE, PATH, STATE, "PutPresences", "a(sstxtt)", ([presence(SOURCE)],))
        assert shown(host) == {}
    assert get(host, "RefusedRecords") == 0
    assert owners[1].presences(presence(SOURCE)) == (1, 0)


# What is taken


def test_shown_as_any_record(host, cluster):
    assert cluster.presences(presence(SOURCE, "online", 5, -7), presence(SINK, "stale", 6)) == (2, 0)
    fields = {node: {name: value for name, value in found.items() if name != "UpdatedUSec"}
              for node, found in call(host, "GetPresences").items()}
    assert fields == {SOURCE: {"State": "online", "SinceUSec": 5, "ClockOffsetUSec": -7},
                      SINK: {"State": "stale", "SinceUSec": 6}}
    properties = managed(host)[node_path(SINK)][interface(KIND)]
    assert properties["State"] == "stale" and "ClockOffsetUSec" not in properties
    assert host.connection().get_all(STATE, node_path(SINK), interface(KIND))["ClockOffsetUSec"] == UNKNOWN
    assert_follows(host.connection(), STATE, node_path(SOURCE), [interface(KIND)])
    assert call(host, "GetProfile", "s", (SOURCE,))[KIND]["State"] == "online"
    assert [found[:3] for found in pages(host, KIND)[0]] == [(SOURCE, KIND, ""), (SINK, KIND, "")]


def test_changes_are_signalled(host, cluster):
    with host.log_signals(STATE) as log:
        cluster.presences(presence(SOURCE))
        log.wait(lambda signal: signal.member == "InterfacesAdded" and interface(KIND) in signal.args[1])
        cluster.presences(presence(SOURCE, "offline"))
        log.wait(lambda signal: signal.member == "PropertiesChanged" and signal.args[1].get("State") == "offline")


def test_of_this_node_too(host, cluster):
    own = local_id(host)
    assert cluster.presences(presence(own)) == (1, 0)
    assert shown(host) == {own: "online"}
    # Whatever is said to be announced of it, nobody but its own services removes its records.
    before = pages(host, method="GetLocalRecords")
    assert cluster.presences(presence(own, announced=int(time.time() * 1e6))) == (1, 0)
    assert pages(host, method="GetLocalRecords") == before


RUBBISH = [presence(""), presence("two"), presence("0" * 32), presence("F" * 32), presence(SOURCE + "0"),
           presence(SOURCE, ""), presence(SOURCE, "Online"), presence(SOURCE, "x" * 100_000),
           presence(SOURCE, since=2 ** 53 + 1), presence(SOURCE, since=2 ** 64 - 1),
           presence(SOURCE, offset=2 ** 63 - 1), presence(SOURCE, offset=-2 ** 63 + 1),
           presence(SOURCE, announced=2 ** 53 + 1), presence(SOURCE, "forgotten", announced=2 ** 64 - 1),
           presence(SOURCE, epoch=2 ** 53 + 1), presence(SOURCE, "unknown")]


def test_rubbish_is_refused_one_by_one(host, cluster):
    assert cluster.presences(presence(SOURCE), *RUBBISH, presence(SINK)) == (2, len(RUBBISH))
    assert cluster.presences(presence(local_id(host), "forgotten")) == (0, 1)
    assert cluster.presences() == (0, 0)
    assert get(host, "RefusedRecords") == len(RUBBISH) + 1
    assert shown(host) == {SOURCE: "online", SINK: "online"}


# What never travels


def test_it_never_travels(host, cluster):
    own = local_id(host)
    with cluster.connection.log_signals(STATE, member="RecordsChanged") as log:
        cluster.presences(presence(own), presence(SOURCE))
        offline = GLib.Variant("s", "offline")
        cluster.refused(record(SOURCE, KIND, seq=99, State=offline), record(own, KIND, epoch=2 ** 52, State=offline))
        assert shown(host) == {own: "online", SOURCE: "online"}
        # The signal of a call comes before the reply to the next one.
        cluster.connection.call(STATE, PATH, STATE, "GetFindings")
    assert log.received == []
    assert [found for page in pages(host, method="GetLocalRecords") for found in page if found[1] == KIND] == []
    assert [found[0] for found in pages(host)[0] if found[1] == KIND] == sorted([own, SOURCE])


def test_others_are_unknown_without_the_cluster_service(host, cluster):
    cluster.take(memory(SOURCE), memory(SINK), full_record("Link1.Socket", SOURCE, SINK))
    cluster.presences(presence(local_id(host)), presence(SOURCE, offset=5, announced=1), presence(SINK))
    assert topology(host).presences() == {"live"}
    host.wait_for_property(STATE, PATH, STATE, "MemoryTotalBytes", lambda value: value == 2000)
    assert get(host, "NodesLeftOut") == 0
    before = time.time_ns() // 1000
    with host.log_signals(STATE, member="InterfacesRemoved") as log:
        cluster.connection.call_bus("ReleaseName", "s", (CLUSTER,))
        log.wait(lambda signal: signal.args[0] == node_path(local_id(host)) and interface(KIND) in signal.args[1])
    assert shown(host) == {SOURCE: "unknown", SINK: "unknown"}
    since = call(host, "GetPresences")[SOURCE]["SinceUSec"]
    assert before <= since <= time.time_ns() // 1000 and "ClockOffsetUSec" not in call(host, "GetPresences")[SOURCE]
    assert call(host, "GetMemories").keys() == {SOURCE, SINK}
    assert topology(host).presences() == {"unknown"}
    assert [name for name, row in findings(host).items() if SOURCE in row["Nodes"]] == ["nodes-unknown"]
    host.wait_for_property(STATE, PATH, STATE, "NodesLeftOut", lambda value: value == 2)
    assert get(host, "MemoryTotalBytes") == 2 ** 64 - 1
    second = Cluster(host)
    assert shown(host) == {SOURCE: "unknown", SINK: "unknown"}
    assert second.presences(presence(SINK, "stale")) == (1, 0)
    assert shown(host) == {SOURCE: "unknown", SINK: "stale"}
    assert call(host, "GetPresences")[SOURCE]["SinceUSec"] == since
    host.wait_for_property(STATE, PATH, STATE, "NodesLeftOut", lambda value: value == 1)


def test_a_machine_alone_knows_no_unknown(host):
    Cluster(host).close()
    host.wait_for_name(CLUSTER, present=False)
    assert shown(host) == {} and get(host, "NodesLeftOut") == 0
    assert "nodes-unknown" not in findings(host)


def test_another_cluster_service_begins_anew(host, cluster):
    cluster.presences(presence(SOURCE))
    cluster.close()
    host.wait_for_name(CLUSTER, present=False)
    second = Cluster(host)
    second.presences(presence(SINK))
    assert shown(host) == {SOURCE: "unknown", SINK: "online"}


def test_only_nodes_that_are_heard_count(host, cluster):
    cluster.take(memory(SOURCE), memory(SINK), full_record("Link1.Socket", SOURCE, SINK),
                 record(SOURCE, "Node1.Disk", Paths=[{"Id": "/mnt", "TotalBytes": 100, "AvailableBytes": 0}]))
    for state, counts in (("online", True), ("stale", True), ("offline", False), ("duplicate", False)):
        cluster.presences(presence(SOURCE), presence(SINK))
        host.wait_for_property(STATE, PATH, STATE, "MemoryTotalBytes", lambda value: value == 2000)
        assert "disk-nearly-full" in findings(host), f"before {state}"
        cluster.presences(presence(SOURCE, state))
        total = 2000 if counts else 1000
        host.wait_for_property(STATE, PATH, STATE, "MemoryTotalBytes", lambda value: value == total)
        assert get(host, "NodesLeftOut") == (0 if counts else 1), state
        assert topology(host).presences() == {{"online": "live", "duplicate": "offline"}.get(state, state)}
        about = [row["Id"] for row in call(host, "GetFindings") if SOURCE in row["Nodes"]]
        if counts:
            assert "disk-nearly-full" in about, state
        else:
            assert about == [{"offline": "node-offline", "duplicate": "duplicate-node-id"}[state]]


def test_online_with_records_older_than_known(host, cluster):
    """Its state service came back with an older epoch, so that it cannot change what is known of it."""
    cluster.take(memory(SOURCE, epoch=9))
    cluster.presences(presence(SOURCE, epoch=9))
    assert "node-records-old" not in findings(host)
    cluster.presences(presence(SOURCE, epoch=5))
    cluster.take(memory(SOURCE, 7, epoch=5))
    found = findings(host)["node-records-old"]
    assert (found["Severity"], found["Nodes"]) == ("warning", [SOURCE])
    assert "is online, but its records are older than those already known" in found["Text"] and "Remedy" in found
    cluster.presences(presence(SOURCE, "offline", epoch=5))
    assert findings(host).keys() & {"node-offline", "node-records-old"} == {"node-offline"}
    cluster.presences(presence(SOURCE, epoch=10))
    cluster.take(memory(SOURCE, 7, epoch=10))
    assert "node-records-old" not in findings(host)


# What goes


def test_older_epochs_go_once_one_is_announced(host, cluster):
    cluster.take(memory(SOURCE, 1, epoch=5), full_record("Node1.Disk", SOURCE, epoch=4),
                 full_record("Link1.Socket", SOURCE, SINK, epoch=4), memory(SINK, 1, epoch=1))
    cluster.presences(presence(SOURCE, announced=5))
    assert call(host, "GetDisks") == call(host, "GetLinks") == {}
    assert call(host, "GetMemories").keys() == {SOURCE, SINK}
    # They are known to be old; that is no refusal.
    cluster.take(full_record("Node1.Disk", SOURCE, epoch=4, seq=99))
    assert call(host, "GetDisks") == {}
    cluster.take(full_record("Node1.Disk", SOURCE, epoch=5))
    cluster.presences(presence(SOURCE, announced=5))
    assert call(host, "GetDisks").keys() == {SOURCE}


def test_forgotten_until_it_is_put_again(host, cluster):
    cluster.take(memory(SOURCE, 1), memory(SINK, 1), full_record("Link1.Socket", SOURCE, SINK),
                 full_record("Link1.Socket", SINK, SOURCE))
    cluster.presences(presence(SOURCE, "offline", announced=1), presence(SINK))
    assert cluster.presences(presence(SOURCE, "forgotten")) == (1, 0)
    assert call(host, "GetMemories").keys() == shown(host).keys() == {SINK}
    # What others measured of it is kept, but it leads to nobody.
    assert call(host, "GetLinks") == {}
    assert [found[:2] for found in pages(host)[0] if found[1] == "Link1.Socket"] == [(SINK, "Link1.Socket")]
    assert [found[0] for found in pages(host)[0] if found[0] == SOURCE] == []
    with fails_with("org.alidade.Error.NoSuchNode"):
        call(host, "GetProfile", "s", (SOURCE,))
    assert cluster.presences(presence(SOURCE, "forgotten")) == (1, 0)
    cluster.take(memory(SOURCE, 2))
    assert call(host, "GetMemories")[SOURCE]["TotalBytes"] == 2
    assert [name.partition("/")[0] for name in call(host, "GetLinks")] == [SINK]


def test_findings(host, cluster):
    cluster.presences(presence(SOURCE, "offline"), presence(SINK, offset=6_000_000),
                      presence(node_id(3), "duplicate"))
    found = findings(host)
    assert {name: (row["Severity"], row["Nodes"]) for name, row in found.items()} == {
        "node-offline": ("notice", [SOURCE]), "clock-skew": ("warning", [local_id(host), SINK]),
        "duplicate-node-id": ("error", [node_id(3)])}
    assert "/etc/machine-id" in found["duplicate-node-id"]["Remedy"]


# The digest


def test_digest_tells_whether_two_maps_are_equal(make_host):
    """Two machines that hear of the same records, in different orders and some of them twice."""
    hosts = [start(make_host), start(make_host)]
    clusters = [Cluster(host) for host in hosts]
    assert [call(host, "GetDigest", "s", ("",)) for host in hosts] == [(0, "0" * 16)] * 2
    records = [full_record(kind, node_id(number), node_id(number + 1), mark=number)
               for number in range(1, 20) for kind in ("Node1.Network", "Node1.Memory", "Node1.System", "Link1.Socket",
                                                       "Link1.Rdma")]
    stale = [memory(node_id(number), 9, seq=0) for number in range(1, 20)]
    shuffled = random.Random(1).sample(records + stale, len(records + stale))
    clusters[0].take(*stale, *records)
    clusters[1].take(*shuffled, *records[:10])
    clusters[1].presences(presence(node_id(1)), presence(node_id(99), "offline"))
    for kind in ("", "Node1.Network", "Node1.Memory", "Link1.Rdma"):
        digests = [call(host, "GetDigest", "s", (kind,)) for host in hosts]
        assert digests[0] == digests[1]
        assert digests[0][0] == (len(records) if kind == "" else 19)
        assert len(digests[0][1]) == 16 and int(digests[0][1], 16) != 0
    clusters[1].take(memory(node_id(7), 8, seq=2))
    assert call(hosts[0], "GetDigest", "s", ("",)) != call(hosts[1], "GetDigest", "s", ("",))
    clusters[0].take(memory(node_id(7), 8, epoch=3, updated=1))
    assert call(hosts[0], "GetDigest", "s", ("",)) == call(hosts[1], "GetDigest", "s", ("",))
    assert call(hosts[1], "GetDigest", "s", (KIND,))[0] == 2


def test_digest_of_an_unknown_kind(host):
    with fails_with("org.alidade.Error.NoSuchKind"):
        call(host, "GetDigest", "s", ("Node1.Nothing",))
