# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attacks on the brokers of a cluster with the key of one of its nodes."""

import json
import re
import ssl

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.node import CLUSTER, told_states
from bedlib.peer import Peer
from bedlib.services import mosquitto_plugin, sanitized
from bedlib.waiting import wait_steadily

pytestmark = needs_namespaces
MIB = 1 << 20
LOST = (OSError, ssl.SSLError)


@pytest.fixture
def cluster(make_cluster):
    made = make_cluster(3)
    made.wait_online()
    return made


def broker_mib(node):
    """What the broker of a node takes of the memory, at most so far."""
    status = node.run(["sh", "-c", "cat /proc/[0-9]*/status"]).stdout
    sizes = re.findall(r"^Name:\s+mosquitto$.*?^VmHWM:\s+(\d+) kB$", status, re.MULTILINE | re.DOTALL)
    return max(map(int, sizes)) / 1024


def record(size):
    """A payload that is valid JSON, and no record of any link."""
    head = json.dumps({"epoch": 1, "seq": 1, "updated": 1, "fields": {"Note": ""}})
    return head[:-3] + "x" * (size - len(head)) + head[-3:]


def stolen_key(cluster):
    """The last node's key in other hands: the machine itself is out of the way."""
    thief = cluster.nodes[-1]
    thief.process("clusterd").stop()
    return thief


def wait_problem(node, *words):
    wait_steadily(lambda: all(word in node.call(*CLUSTER[:2], "org.freedesktop.DBus.Properties", "Get", "ss",
                                                (CLUSTER[2], "Problem")) for word in words),
                  lambda: f"{words} in the problem that {node.name} shows", 20)


def refused_publishers(node, host):
    """{publisher: row} of what the broker on the host refuses, as the node knows it."""
    record = node.records("Node1.Membership").get((host.id, "Node1.Membership", ""))
    return {row["Id"]: row for row in record[-1].get("RefusedPublishers", [])} if record else {}


def wait_refused(node, publisher):
    def found():
        return next((one for one in node.state("GetFindings")
                     if one["Id"] == "broker-refuses-node" and publisher.id in one["Nodes"]), None)
    return wait_steadily(found, lambda: f"the finding at {node.name}: {node.state('GetFindings')}", 30)


def check_stayed_online(logs, thief):
    """Checks that all nodes but the thief were online at each moment. A node that is silent for three seconds is stale;
    if all processors are in use, sanitized services may be silent for longer without any attack."""
    if not sanitized():
        for log in logs:
            assert not {(node, state) for node, state in told_states(log) if node != thief.id and state != "online"}


def links_of(node, count):
    return [f"alidade/1/bed/{node.id}/Link1.Socket/x{i}" for i in range(count)]


def test_a_restarted_broker_knows_what_it_keeps(cluster):
    """Item 10: where mosquitto keeps messages on disk, as one that serves others may, the share of a key is not given
    to it anew with each restart. mosquitto loads them before the plugin, which counts them as they are read."""
    one, two, three = cluster.nodes
    drop_in = one.broker.config / "conf.d/alidade.conf"
    drop_in.write_text(drop_in.read_text().replace("persistence false", "persistence true"))
    one.broker.stop()
    one.broker.start()
    cluster.wait_online()
    thief = stolen_key(cluster)
    payload = record(MIB)
    before, after = links_of(three, 50)[:30], links_of(three, 50)[30:]
    with Peer(thief, one) as peer:
        for topic in before:
            peer.publish(topic, payload, retain=True, qos=1)
    assert not refused_publishers(two, one)
    one.broker.stop()
    one.broker.start()
    cluster.wait_online([one, two])
    with Peer(thief, one) as peer:
        for topic in after:
            peer.publish(topic, payload, retain=True, qos=1)
    wait_refused(two, three)
    kept = set(cluster.retained(one, f"alidade/1/bed/{three.id}/Link1.Socket/#"))
    assert set(before) <= kept and len(kept) <= 32


def test_readers_do_not_use_up_what_an_author_may_publish(cluster):
    """Item 10: with check_retain_source, as where mosquitto serves others, it asks before it delivers what it keeps
    whether the author may write it; a member that reads again and again has nothing of that author refused."""
    one, two, three = cluster.nodes
    config = one.broker.config / "mosquitto.conf"
    config.write_text(config.read_text() + "check_retain_source true\n")
    one.broker.stop()
    one.broker.start()
    cluster.wait_online()
    author, reader = three, two
    for node in (author, reader):
        node.process("clusterd").stop()
    topics = links_of(author, 1000)
    with Peer(author, one) as peer:
        for topic in topics:
            peer.publish(topic, "{}", retain=True)
        peer.publish(topics[0], "{}", retain=True, qos=1)
        with Peer(reader, one) as other:
            for _ in range(150):
                other.subscribe(f"alidade/1/bed/{author.id}/#", qos=0)
                other.fence()
                assert len(other.messages) >= 1000
                other.messages.clear()
        peer.publish(topics[0], "new", retain=True, qos=1)
    assert cluster.retained(one, topics[0]) == {topics[0]: "new"}


def test_one_key_cannot_fill_the_broker(cluster):
    """Item 10: 400 MiB, retained on topics that the key may write, are refused but for the share of one node; the
    others stay online, and are told whose key to revoke."""
    one, two, three = cluster.nodes
    logs = [node.log_presences() for node in (one, two)]
    thief = stolen_key(cluster)
    one.wait_presence(three, "offline")
    payload = record(MIB)
    with Peer(thief, one) as peer:
        # Sanitizers read a tenth as much in the same time; it is still twice the share.
        for i in range(64 if sanitized() else 400):
            peer.publish(f"alidade/1/bed/{three.id}/Link1.Socket/x{i}", payload, retain=True, qos=1)
        for node in (one, two):
            wait_problem(node, three.id, f"alidadectl cluster revoke {three.id}")
            found = wait_refused(node, three)
            assert found["Nodes"] == [three.id, one.id]
            assert "MiB" in found["Text"] and f"alidadectl cluster revoke {three.id}" in found["Remedy"]
    assert broker_mib(one) < 160
    check_stayed_online(logs, three)
    cluster.wait_online([one, two])


def test_a_key_writes_what_nodes_say(cluster):
    """Item 10: topics of no kind are refused, be they below the id of the node."""
    one, two, three = cluster.nodes
    thief = stolen_key(cluster)
    with Peer(thief, one) as peer:
        for rest in ("any", "any/thing", "Node1.Memory/x", "Node1.Presence", "Link1.Socket/a/b", "status/x", ""):
            peer.publish(f"alidade/1/bed/{three.id}/{rest}", "{}", retain=True, qos=1)
        peer.publish(f"alidade/1/bed/{three.id}/Link1.Socket/x", "{}", retain=True, qos=1)
    kept = cluster.retained(one, f"alidade/1/bed/{three.id}/#")
    assert f"alidade/1/bed/{three.id}/Link1.Socket/x" in kept
    odd = [name for name in kept if not re.search(r"/(status|crl|Node1\.\w+|Link1\.\w+/x)$", name)]
    assert odd == [] and f"alidade/1/bed/{three.id}/Node1.Presence" not in kept


def test_a_packet_has_a_limit(cluster):
    """Item 10: mosquitto makes room for a packet as its head says; one that says 200 MiB ends the connection."""
    one, *_ = cluster.nodes
    thief = stolen_key(cluster)
    with Peer(thief, one) as peer:
        with pytest.raises(LOST):
            peer.send(bytes([0x30, 0x80, 0x80, 0x80, 0x64]))
            peer.fence()
    with Peer(thief, one) as peer:
        with pytest.raises(LOST):
            peer.publish(f"alidade/1/bed/{thief.id}/status", "{}", qos=2)
            peer.fence()
    assert broker_mib(one) < 100


@pytest.mark.parametrize("plugin", [
    pytest.param(mosquitto_plugin(), id="quota"), pytest.param("/nonexistent", id="plain")])
def test_a_flood_puts_nobody_off(make_cluster, plugin):
    """Item 10: 1 MiB of valid JSON at full speed from one member; the others stay online for each other. Also where
    the broker does not bound it, which is for clusterd then."""
    cluster = make_cluster(3, environment={"ALIDADE_MOSQUITTO_PLUGIN": plugin})
    cluster.wait_online()
    one, two, three = cluster.nodes
    thief = stolen_key(cluster)
    logs = [node.log_presences() for node in (one, two)]
    one.wait_presence(three, "offline")
    payload = record(MIB)
    with Peer(thief, one) as peer:
        # Sanitizers read a tenth as much in the same time.
        for i in range(30 if sanitized() else 300):
            peer.publish(f"alidade/1/bed/{three.id}/Node1.Network", payload)
        peer.publish(f"alidade/1/bed/{three.id}/Node1.Network", payload, qos=1)
    cluster.wait_online([one, two])
    check_stayed_online(logs, three)
