# SPDX-License-Identifier: LGPL-2.1-or-later
"""Links without IP: which ports are neighbours, what is due over RDMA, and what becomes of the results."""

import time

import pytest

from bedlib.waiting import wait_until
from played_source import LINK_PROBE_POLICY, LinkProbe, Source
from state_service import (AMBIGUOUS_NAME, CLUSTER_POLICY, KINDS, LIMITS_EXCEEDED, NO_SUCH_NODE, STATE, Batches,
                           Cluster, WireCluster, call, fails_with, local_id, node_id, record, start, topology, typed)

HIGH, HIGHER = "f" * 32, "f" * 31 + "e"
UNKNOWN = -2 ** 63
HOUR = 3600 * 1000 * 1000


def realtime():
    return time.time_ns() // 1000


def rdma_port(guid, prefix="fec0::", state="active", name="mlx5_0.1"):
    return {"Id": name, "LinkLayer": "infiniband", "State": state, "PortGuid": f"0:0:0:{guid}",
            "Gids": [f"0 ib {prefix}{guid}"], "RateBitsPerSecond": 10 ** 11}


def fabric(node, *ports, seq=1, **more):
    return record(node, "Node1.Fabric", seq=seq, updated=realtime(), RdmaPorts=list(ports), **more)


def network(node, *addresses, seq=1):
    return record(node, "Node1.Network", seq=seq, updated=realtime(),
                  Interfaces=[{"Id": "eth0", "Type": "ethernet", "Addresses": list(addresses)}])


def rows(kind, name, *values):
    field, = (field for field in KINDS[kind].fields if field.name == name)
    return {name: [typed(field.row_fields, value) for value in values]}


class Own:
    """What telemetry tells of this node."""

    def __init__(self, host, *ports):
        self.host, self.source = host, Source(host)
        interface = {"Id": "eth0", "Type": "ethernet", "Addresses": ["192.0.2.1/24"]}
        self.source.export("Node1.Network", **rows("Node1.Network", "Interfaces", interface))
        self.source.export("Node1.Fabric", **rows("Node1.Fabric", "RdmaPorts", *ports))
        self.source.own()
        self.wait(lambda: local_id(host) in call(host, "GetNetworks") and local_id(host) in call(host, "GetFabrics"))

    def wait(self, condition):
        with self.host.log_signals(STATE):
            wait_until(condition, "what this node is told to be")

    def show(self, *ports):
        self.source.send("Node1.Fabric", **rows("Node1.Fabric", "RdmaPorts", *ports))


def online(cluster, *nodes, state="online"):
    assert cluster.presences(*((node, state, 1, UNKNOWN, 0) for node in nodes)) == (len(nodes), 0)


def due(host, **options):
    return call(host, "GetDueProbes", "ta{sv}", (0, options))


def due_rdma(host):
    return [row for row in due(host) if row["Kind"] == "Link1.Rdma"]


def segments(host, node=""):
    return call(host, "GetFabric", "s", (node,))[1]


def ports(host, node=""):
    return call(host, "GetFabric", "s", (node,))[0]


def rdma_findings(host):
    return [row for row in call(host, "GetFindings") if row["Id"] in ("rdma-unusable", "hardware-claimed-twice")]


@pytest.fixture
def host(make_host):
    return start(make_host, bus_policy=CLUSTER_POLICY + LINK_PROBE_POLICY)


@pytest.fixture
def cluster(host):
    return Cluster(host)


@pytest.fixture
def pair(host, cluster):
    """This node and one with a higher id, in one subnet of InfiniBand, with a way for the control connection."""
    Own(host, rdma_port(1))
    cluster.take(network(HIGH, "192.0.2.2/24"), fabric(HIGH, rdma_port(2)))
    online(cluster, HIGH)
    return host


def test_a_subnet_of_two(pair, cluster):
    own = local_id(pair)
    assert segments(pair) == [{"How": "infiniband", "Identity": "fec0::/64", "Candidate": False,
                               "Members": [f"{own} mlx5_0.1", f"{HIGH} mlx5_0.1"]}]
    assert ports(pair) == [{"Node": node, "Port": "mlx5_0.1", "Kind": "rdma", "LinkLayer": "infiniband",
                            "State": "active", "RateBitsPerSecond": 10 ** 11} for node in (own, HIGH)]
    cluster.take(fabric(HIGH, rdma_port(2, state="down"), seq=2))
    assert segments(pair) == []
    mine, theirs = ports(pair)
    assert "Problem" not in mine and (theirs["Problem"], theirs["Reason"]) == ("down", "it is down")
    cluster.take(fabric(HIGH, rdma_port(2), seq=3))
    assert len(segments(pair)) == 1
    online(cluster, HIGH, state="offline")
    assert segments(pair) == [] and [row["Node"] for row in ports(pair)] == [own]


def test_of_one_node(pair, cluster):
    cluster.take(fabric(HIGHER, rdma_port(3, prefix="fec1::")), fabric(node_id(5), rdma_port(4, prefix="fec1::")),
                 record(HIGHER, "Node1.Identity", FriendlyName="far"),
                 record(node_id(5), "Node1.Identity", FriendlyName="twin"),
                 record(node_id(6), "Node1.Identity", FriendlyName="twin"))
    online(cluster, HIGHER, node_id(5))
    assert len(segments(pair)) == 2 and len(ports(pair)) == 4
    for name in (HIGHER, "far"):
        segment, = segments(pair, name)
        assert segment["Identity"] == "fec1::/64"
        assert [row["Node"] for row in ports(pair, name)] == [HIGHER]
    with fails_with(NO_SUCH_NODE):
        segments(pair, "moon")
    with fails_with(AMBIGUOUS_NAME):
        segments(pair, "twin")


def test_due_until_measured(pair, cluster):
    probe = {"Kind": "Link1.Rdma", "Peer": HIGH, "Address": "192.0.2.2", "SourcePort": "mlx5_0.1",
             "SinkPort": "mlx5_0.1", "Scope": "full", "Reason": "never"}
    # One probe with a peer at a time, and sockets that were never measured first.
    assert [row["Kind"] for row in due(pair)] == ["Link1.Socket"]
    prober, now, own = LinkProbe(pair).own(), realtime(), local_id(pair)
    prober.tell(own, HIGH, "192.0.2.2", MeasuredUSec=now, UploadBitsPerSecond=10 ** 9)
    with pair.log_signals(STATE):
        wait_until(lambda: due(pair) == [probe], "the ports as what is due")
    prober.tell_rdma(own, "mlx5_0.1", HIGH, "mlx5_0.1", MeasuredUSec=now, UploadBitsPerSecond=10 ** 10)
    with pair.log_signals(STATE):
        wait_until(lambda: due(pair) == [], "the result")
    link = call(pair, "GetLinks")[f"{own}/mlx5_0.1,{HIGH},mlx5_0.1"]
    assert (link["UploadBitsPerSecond"], link["MeasuredUSec"]) == (10 ** 10, now)
    assert {edge["Kind"] for edge in topology(pair).find(Presence="live")} == {"socket", "rdma"}
    cluster.take(fabric(HIGH, rdma_port(2, state="down"), seq=2))
    assert {edge["Kind"] for edge in topology(pair).find(Presence="live")} == {"socket"}
    assert {edge["Kind"] for edge in topology(pair).find(Presence="offline", Problem="down")} == {"rdma"}
    cluster.take(fabric(HIGH, rdma_port(2), seq=3))
    old = now - 8 * HOUR
    prober.tell_rdma(own, "mlx5_0.1", HIGH, "mlx5_0.1", MeasuredUSec=old)
    with pair.log_signals(STATE):
        wait_until(lambda: [row["Reason"] for row in due_rdma(pair)] == ["expired"], "that it is late")
    ttl = call(pair, "GetLinks")[f"{own}/mlx5_0.1,{HIGH},mlx5_0.1"]["TimeToLiveUSec"]
    assert 4.8 * HOUR <= ttl <= 7.2 * HOUR
    assert due_rdma(pair) == [{**probe, "Reason": "expired", "DueSinceUSec": old + ttl}]


def test_a_failure_is_counted_and_found(pair):
    prober, now, own = LinkProbe(pair).own(), realtime(), local_id(pair)
    key = f"{own}/mlx5_0.1,{HIGH},mlx5_0.1"

    def wait_for(**fields):
        with pair.log_signals(STATE):
            wait_until(lambda: fields.items() <= call(pair, "GetLinks").get(key, {}).items(), f"{fields}")

    prober.tell_rdma(own, "mlx5_0.1", HIGH, "mlx5_0.1", MeasuredUSec=now - 9 * HOUR, UploadBitsPerSecond=7)
    wait_for(MeasuredUSec=now - 9 * HOUR)
    assert rdma_findings(pair) == []
    prober.tell_rdma(own, "mlx5_0.1", HIGH, "mlx5_0.1", Failure="memlock: 64 KiB may be locked", FailedUSec=now)
    wait_for(FailedUSec=now, Failures=1, UploadBitsPerSecond=7)
    finding, = rdma_findings(pair)
    assert "cannot lock enough memory" in finding["Text"] and "LimitMEMLOCK=" in finding["Remedy"]
    assert (finding["Problem"], finding["Port"]) == ("memlock", "mlx5_0.1")
    assert {row["Node"]: row.get("Problem") for row in ports(pair)} == {own: "memlock", HIGH: None}
    assert due_rdma(pair) == []
    prober.tell_rdma(own, "mlx5_0.1", HIGH, "mlx5_0.1", MeasuredUSec=now + 1, UploadBitsPerSecond=8)
    wait_for(MeasuredUSec=now + 1)
    assert rdma_findings(pair) == []


def test_a_default_subnet_is_to_be_tried(host, cluster):
    own = Own(host, rdma_port(1, prefix="fe80::"))
    cluster.take(network(HIGH, "192.0.2.2/24"), fabric(HIGH, rdma_port(2, prefix="fe80::")))
    online(cluster, HIGH)
    assert [row["Candidate"] for row in segments(host)] == [True]
    LinkProbe(host).own().tell_rdma(local_id(host), "mlx5_0.1", HIGH, "mlx5_0.1", MeasuredUSec=realtime(),
                                    UploadBitsPerSecond=10 ** 10)
    own.wait(lambda: [row["Candidate"] for row in segments(host)] == [False])


def test_a_row_goes_with_its_port(pair, cluster):
    own = local_id(pair)
    LinkProbe(pair).own().tell_rdma(own, "mlx5_0.1", HIGH, "mlx5_0.1", MeasuredUSec=realtime(), UploadBitsPerSecond=5)
    with pair.log_signals(STATE):
        wait_until(lambda: len(call(pair, "GetLinks")) == 1, "the result")
    cluster.take(fabric(HIGH, rdma_port(2, name="mlx5_1.1"), seq=2))
    assert [row["SinkPort"] for row in due(pair) if row["Kind"] == "Link1.Rdma"] in ([], ["mlx5_1.1"])
    assert call(pair, "GetLinks") == {}


def test_who_claims_the_guid_of_another(pair, cluster):
    cluster.take(fabric(HIGHER, rdma_port(2)))
    assert len(segments(pair)) == 1  # it is not even there
    online(cluster, HIGHER)
    assert segments(pair) == []
    finding, = rdma_findings(pair)
    assert finding["Id"] == "hardware-claimed-twice" and finding["Nodes"] == [HIGHER, HIGH]
    assert due_rdma(pair) == []
    online(cluster, HIGHER, state="offline")
    assert len(segments(pair)) == 1 and rdma_findings(pair) == []


def test_many_nodes(make_host):
    """All in one subnet."""
    host = start(make_host, bus_policy=CLUSTER_POLICY)
    cluster, count = WireCluster(host), 300

    def node(number):
        return [record(number, "Node1.Fabric", RdmaPorts=[
            {**rdma_port(int(number[-8:], 16), name=f"mlx5_{port}.1"), "PortGuid": f"{number}:{port}"}
            for port in range(4)])]

    batch = Batches(node, count)
    assert cluster.put(batch.message(7)) == (batch.size, 0)
    nodes = [Batches.node(7, number) for number in range(count)]
    cluster.close()
    played = Cluster(host)
    online(played, *nodes)
    segment, = segments(host)
    assert len(segment["Members"]) == 4 * count == len(ports(host))
    assert len(ports(host, nodes[0])) == 4


def test_too_much_for_a_reply(make_host):
    """Of all nodes it is refused, in words, and of each it is told."""
    host = start(make_host, bus_policy=CLUSTER_POLICY)
    cluster, count, ports_each = WireCluster(host), 400, 64

    def node(number):
        return [record(number, "Node1.Fabric", RdmaPorts=[
            {"Id": f"mlx5_{port}.1", "LinkLayer": "x" * 250, "State": "y" * 250} for port in range(ports_each)])]

    batch = Batches(node, count)
    assert cluster.put(batch.message(7)) == (batch.size, 0)
    cluster.close()
    online(Cluster(host), *(Batches.node(7, number) for number in range(count)))
    with fails_with(LIMITS_EXCEEDED):
        ports(host)
    assert len(ports(host, Batches.node(7, 0))) == ports_each
