# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl fabric, of the real state service that is told by played ones."""

import json

import pytest

from state_service import Cluster, node_id, record, start

ATLAS, BOREALIS, CETUS = node_id(1), node_id(2), node_id(3)
UNKNOWN = -2 ** 63


def port(guid, **more):
    return {"Id": "mlx5_0.1", "LinkLayer": "infiniband", "State": "active", "RateBitsPerSecond": 10 ** 11,
            "PortGuid": f"0:0:0:{guid}", "Gids": [f"0 ib fec0::{guid}"], **more}


def host_of(domain, peer):
    return {"ThunderboltDomains": [{"Id": "domain0", "DomainId": domain}],
            "ThunderboltPorts": [{"Id": "0-1", "DomainId": domain, "PeerDomainId": peer,
                                  "SpeedBitsPerSecond": 2 * 10 ** 10, "Interface": "thunderbolt0"}]}


@pytest.fixture
def host(make_host):
    return start(make_host)


@pytest.fixture
def cluster(host):
    played = Cluster(host)
    names = {ATLAS: "atlas", BOREALIS: "borealis", CETUS: "cetus"}
    played.take(*(record(node, "Node1.Identity", FriendlyName=name) for node, name in names.items()))
    assert played.presences(*((node, "online", 1, UNKNOWN, 0) for node in names)) == (3, 0)
    return played


def lines(host, *args, **options):
    return [line.split() for line in host.alidadectl("fabric", *args, **options).stdout.splitlines()]


def put(cluster):
    cluster.take(record(ATLAS, "Node1.Fabric", RdmaPorts=[port(1)], **host_of("aa-1", "bb-2")),
                 record(BOREALIS, "Node1.Fabric", RdmaPorts=[port(2)], **host_of("bb-2", "aa-1")),
                 record(CETUS, "Node1.Fabric", RdmaPorts=[port(3, State="down")]))


def test_ports_with_their_neighbours(host, cluster):
    put(cluster)
    header, *found = lines(host)
    assert header == ["NODE", "PORT", "KIND", "STATE", "RATE", "INTERFACE", "NEIGHBOURS"]
    assert found == [
        ["atlas", "mlx5_0.1", "InfiniBand", "active", "100", "Gb/s", "–", "borealis", "mlx5_0.1"],
        ["atlas", "0-1", "Thunderbolt", "–", "20.0", "Gb/s", "thunderbolt0", "borealis", "0-1"],
        ["borealis", "mlx5_0.1", "InfiniBand", "active", "100", "Gb/s", "–", "atlas", "mlx5_0.1"],
        ["borealis", "0-1", "Thunderbolt", "–", "20.0", "Gb/s", "thunderbolt0", "atlas", "0-1"],
        ["cetus", "mlx5_0.1", "InfiniBand", "down", "100", "Gb/s", "–", "unusable:", "it", "is", "down"],
    ]
    assert lines(host, "borealis") == [header, *found[2:4]]


def test_candidates_have_a_question_mark(host, cluster):
    cluster.take(*(record(node, "Node1.Fabric", RdmaPorts=[port(n, Gids=[f"0 ib fe80::{n}"])])
                   for n, node in enumerate((ATLAS, BOREALIS, CETUS), 1)),
                 record(ATLAS, "Link1.Rdma", key=f"mlx5_0.1,{BOREALIS},mlx5_0.1", Source=ATLAS, Sink=BOREALIS,
                        SourcePort="mlx5_0.1", SinkPort="mlx5_0.1", UploadBitsPerSecond=5, MeasuredUSec=5))
    assert [" ".join(line[7:]) for line in lines(host)[1:]] == [
        "borealis mlx5_0.1, cetus mlx5_0.1?", "atlas mlx5_0.1, cetus mlx5_0.1?", "atlas mlx5_0.1?, borealis mlx5_0.1?"]


def test_many_neighbours_are_counted(host, cluster):
    nodes = [node_id(n) for n in range(1, 8)]
    cluster.take(*(record(node, "Node1.Fabric", RdmaPorts=[port(n)]) for n, node in enumerate(nodes, 1)))
    cluster.presences(*((node, "online", 1, UNKNOWN, 0) for node in nodes[3:]))
    found = lines(host)[1:]
    assert len(found) == 7 and {" ".join(line[-2:]) for line in found} == {"2 more"}


def test_interfaces_of_lldp(host, cluster):
    cluster.take(record(ATLAS, "Node1.Network", Interfaces=[{"Id": "eth0", "HardwareAddress": "02:00:00:00:00:01"}],
                        Neighbours=[{"Id": "n", "Interface": "eth0", "PortId": "02:00:00:00:00:02"}]),
                 record(BOREALIS, "Node1.Network", Interfaces=[{"Id": "eth5", "HardwareAddress": "02:00:00:00:00:02"}]))
    atlas, borealis = lines(host)[1:]
    assert atlas == ["atlas", "eth0", "LLDP", "–", "–", "–", "borealis", "eth5?"]
    assert borealis == ["borealis", "eth5", "LLDP", "–", "–", "–", "atlas", "eth0?"]
    assert lines(host, "atlas")[1:] == [atlas]


def test_json(host, cluster):
    put(cluster)
    found = json.loads(host.alidadectl("fabric", "--json").stdout)
    assert found["Names"] == {ATLAS: "atlas", BOREALIS: "borealis", CETUS: "cetus"}
    assert [row["How"] for row in found["Segments"]] == ["thunderbolt", "infiniband"]
    assert found["Segments"][1]["Members"] == [f"{ATLAS} mlx5_0.1", f"{BOREALIS} mlx5_0.1"]
    assert [row.get("Problem") for row in found["Ports"]] == [None] * 4 + ["down"]


def test_none(host, cluster):
    assert host.alidadectl("fabric").stdout == "No RDMA port, Thunderbolt host or LLDP neighbour is known.\n"
    assert host.alidadectl("fabric", "nobody", check=False).returncode == 4
    assert host.alidadectl("fabric", "a", "b", check=False).returncode == 2


def test_what_peers_say_cannot_move_the_cursor(host, cluster):
    cluster.take(record(ATLAS, "Node1.Fabric", RdmaPorts=[port(1, Id="\x1b[2J.1", State="\x1b]0;x\x07")]),
                 record(BOREALIS, "Node1.Fabric", RdmaPorts=[port(2)]))
    text = host.alidadectl("fabric").stdout
    assert "\x1b" not in text and "\x07" not in text and "[2J.1" in text
    for columns in (20, 40, 80):
        assert max(map(len, host.alidadectl("fabric", env={"COLUMNS": columns}).stdout.splitlines())) <= columns
