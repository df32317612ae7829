# SPDX-License-Identifier: LGPL-2.1-or-later
"""The simulated cluster itself: what the tests of the cluster rely on."""

import pytest

from bedlib import BedFailure
from bedlib.fixtures import needs_namespaces
from bedlib.node import STATE
from bedlib.waiting import wait_steadily

pytestmark = needs_namespaces
ALONE = ("identityd", "stated")
PORT = 8883


def keep(node, broker, topic, payload):
    """By a client of mosquitto with the certificate of the node."""
    config = node.dir / "config/cluster"
    node.run(["mosquitto_pub", "-h", broker.address, "-p", PORT, "--cafile", config / "ca.crt", "--cert",
              config / "node.crt", "--key", config / "node.key", "-t", topic, "-m", payload, "-q", 1, "-r"])


def reaches(node, other):
    return node.run(["ping", "-c1", "-W1", other.address], check=False).returncode == 0


def wait_reaches(node, other):
    wait_steadily(lambda: reaches(node, other), f"{node.name} to reach {other.name}")


def test_nodes_are_machines_of_their_own(make_cluster):
    cluster = make_cluster(3, programs=ALONE, enrolled=False, brokers=())
    assert [node.get(*STATE, "NodeId") for node in cluster.nodes] == [node.id for node in cluster.nodes]
    assert [node.run(["hostname"]).stdout.strip() for node in cluster.nodes] == ["node1", "node2", "node3"]
    one, two, three = cluster.nodes
    wait_reaches(one, three)
    cluster.partition([one], [two, three])
    wait_reaches(two, three)
    assert not reaches(two, one)
    cluster.heal()
    wait_reaches(two, one)
    one.cut()
    assert not reaches(two, one)
    one.mend()
    wait_reaches(two, one)
    # A crash takes all of a node and of no other.
    two.crash()
    assert not two.dir.exists()
    assert not reaches(one, two)
    assert one.get(*STATE, "NodeId") == one.id


def test_brokers_take_what_is_a_nodes_own(make_cluster):
    cluster = make_cluster(2, programs=ALONE, brokers=(0, 1))
    one, two = cluster.nodes
    for broker in cluster.brokers:
        topic = f"alidade/1/bed/{two.id}/Node1.Disk"
        keep(two, broker, topic, broker.name)
        keep(two, broker, f"alidade/1/bed/{one.id}/Node1.Disk", "forged")
        assert cluster.retained(broker, "alidade/1/bed/#") == {topic: broker.name}
    one.broker.stop()
    one.broker.forget()
    one.broker.start()
    assert cluster.retained(one, "alidade/1/bed/#") == {}


def test_own_clock(make_cluster):
    cluster = make_cluster(1, programs=ALONE, enrolled=False, brokers=(), own_clock=True)
    node, = cluster.nodes
    year = 365 * 86400

    def updated():
        node.restart("identityd")
        return node.wait_for_property("org.alidade.Identity1", "/org/alidade/Identity1",
                                      "org.alidade.Node1.Identity", "UpdatedUSec", lambda usec: usec > 0) / 1e6

    first = updated()
    node.set_clock(-year)
    assert updated() - first == pytest.approx(-year, abs=60)
    node.set_clock(year)
    assert updated() - first == pytest.approx(year, abs=60)


def test_daemons_by_name(make_cluster):
    cluster = make_cluster(1, programs=ALONE, enrolled=False, brokers=())
    node, = cluster.nodes
    first = node.process("identityd")
    node.kill("identityd")
    second = node.restart("identityd")
    assert first.pid != second.pid and node.process("identityd") is second
    node.kill("stated")
    with pytest.raises(BedFailure):
        node.wait_ready()
