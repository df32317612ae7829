# SPDX-License-Identifier: LGPL-2.1-or-later
"""From an RDMA port in sysfs to a measured link that all see: telemetryd, stated and link-probed as they are, another
node put in as the cluster service does, and a probe that does as it is told."""

import os

import pytest

from bedlib import network
from bedlib.fixtures import needs_namespaces
from bedlib.waiting import wait_steadily
from link_probe import LINK_PROBE, Probe, credentials
from link_probe import PATH as LINK_PROBE_PATH
from state_service import CLUSTER_POLICY, Cluster, call, local_id, record, topology

PEER = "f" * 32
PORT, PEER_PORT = "mlx5_0.1", "mlx5_9.2"
FOLDER = "sys/class/infiniband/mlx5_0"
PREFIX = "fec0:0000:0000:0007"
FIGURES = {"SourcePort": PORT, "SinkPort": PEER_PORT, "MessageBytes": 65536, "QueuePairs": 1}

pytestmark = [needs_namespaces, pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may probe")]


def plug_in(host):
    for name, text in {"node_guid": "0002:c903:0000:0001", "ports/1/state": "4: ACTIVE",
                       "ports/1/phys_state": "5: LinkUp", "ports/1/link_layer": "InfiniBand",
                       "ports/1/rate": "100 Gb/sec (4X EDR)", "ports/1/gids/0": f"{PREFIX}:0002:c903:0000:0001",
                       "ports/1/gid_attrs/types/0": "IB/RoCE v1"}.items():
        host.sysroot.write(f"{FOLDER}/{name}", f"{text}\n")
    host.sysroot.write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n")


@pytest.fixture
def chain(make_host):
    """A host with the services, and the cluster service that has told of a neighbour."""
    host = make_host(sysroot=True, bus_policy=CLUSTER_POLICY)
    network.add_veth(host, "lan0", "far0")
    network.add_address(host, "lan0", "192.0.2.1/24")
    host.sysroot.write("proc/net/dev", "Inter-|\n face |\n    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n")
    plug_in(host)
    credentials(host)
    probe = Probe(host)
    probe.does("good", **FIGURES)
    for daemon in ("telemetryd", "stated"):
        host.start_daemon(daemon)
    cluster = Cluster(host)
    own = local_id(host)
    cluster.presences((own, "online", 0, 0, 1), (PEER, "online", 0, 0, 1))
    cluster.take(
        record(PEER, "Node1.Network", Interfaces=[
            {"Id": "eth7", "Type": "ethernet", "Carrier": True, "Addresses": ["192.0.2.2/24"]}]),
        record(PEER, "Node1.Fabric", RdmaPorts=[
            {"Id": PEER_PORT, "LinkLayer": "infiniband", "State": "active", "PhysicalState": "linkup",
             "PortGuid": "0002:c903:0000:0009", "Gids": ["0 ib fec0:0:0:7:2:c903:0:9"]}]))
    for method in ("GetNetworks", "GetFabrics"):
        wait_steadily(lambda method=method: own in call(host, method), f"our own record of {method}")
    host.own = own
    host.probe = probe
    host.start_daemon("link-probed", env=probe.environment)
    yield host
    cluster.close()


def links(host):
    return call(host, "GetLinks")


def test_neighbours_are_measured(chain):
    key = f"{chain.own}/{PORT},{PEER},{PEER_PORT}"
    wait_steadily(lambda: key in links(chain), "the link over RDMA")
    found = links(chain)[key]
    assert {name: found[name] for name in ("Source", "Sink", "SourcePort", "SinkPort", "UploadBitsPerSecond")} == {
        "Source": chain.own, "Sink": PEER, "SourcePort": PORT, "SinkPort": PEER_PORT,
        "UploadBitsPerSecond": 50_000_000}
    assert {(edge["Source"], edge["Sink"]) for edge in topology(chain).find(Kind="rdma", Presence="live")} == {
        (chain.own, PEER), (PEER, chain.own)}


def test_failure_is_kept_beside_the_figures(chain):
    key = f"{chain.own}/{PORT},{PEER},{PEER_PORT}"
    wait_steadily(lambda: key in links(chain), "the link over RDMA")
    chain.probe.does("refused")
    job = chain.call(LINK_PROBE, LINK_PROBE_PATH, LINK_PROBE, "ProbeRdma", "sa{sv}", (PEER, {}))
    chain.wait_for_property(LINK_PROBE, job, f"{LINK_PROBE}.Job", "State", lambda state: state == "failed")
    wait_steadily(lambda: "Failure" in links(chain)[key], "the failure")
    found = links(chain)[key]
    assert (found["Failure"], found["Failures"], found["UploadBitsPerSecond"]) == (
        "refused: the peer is refused", 1, 50_000_000)
