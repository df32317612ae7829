# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cluster service of real nodes: what it shows, forgets, mirrors and says when something is wrong."""

import json
import shutil
import signal

import pytest

from bedlib import BusError
from bedlib.fixtures import needs_namespaces
from bedlib.node import CLUSTER
from bedlib.services import SERVICES, client_binary
from bedlib.waiting import wait_steadily

pytestmark = needs_namespaces
DAEMONS = ("identityd", "telemetryd", "stated", "clusterd")
UNKNOWN = 2 ** 64 - 1


@pytest.fixture
def pair(make_cluster):
    cluster = make_cluster(2, sysroot=True)
    cluster.wait_online()
    return cluster


def cluster_call(node, method, *args, **options):
    return node.call(*CLUSTER, method, *args, **options)


def rows(node, method):
    return cluster_call(node, method)


def row_of(observer, node):
    return next((row for row in rows(observer, "GetNodes") if row["Id"] == node.id), None)


def wait_property(node, name, wanted):
    node.wait_for_property(*CLUSTER, name, wanted if callable(wanted) else lambda value: value == wanted)


def test_what_it_shows_and_publishes(pair):
    one, two = pair.nodes
    for node in pair.nodes:
        assert {name: node.get(*CLUSTER, name) for name in ("ClusterName", "State", "Problem", "Mirror", "Mirroring")} \
            == {"ClusterName": "bed", "State": "online", "Problem": "", "Mirror": "all", "Mirroring": True}
        assert len(node.get(*CLUSTER, "Instance")) == 32
        broker, = rows(node, "GetBrokers")
        assert (broker["Address"], broker["Source"], broker["State"], broker["Publishing"]) \
            == (one.address, "configured", "connected", True)
        assert broker["CertificateExpiryUSec"] < UNKNOWN and "Problem" not in broker
        assert node.get(*CLUSTER, "CertificateExpiryUSec") < UNKNOWN
    wait_steadily(lambda: "ClockOffsetUSec" in row_of(two, one), "the clock of node1")
    shown = row_of(two, one)
    assert (shown["Instance"], shown["RefusedMessages"]) == (one.get(*CLUSTER, "Instance"), 0)
    # A busy machine is late itself.
    assert abs(shown["ClockOffsetUSec"]) < 10 ** 7 and shown["LagUSec"] < 10 ** 7
    wait_steadily(lambda: {row_of(one, node)["State"] for node in pair.nodes} == {"online"}, "both shown as online")

    def kept():
        topics = pair.retained(one, f"alidade/1/bed/{two.id}/#")
        return {topic.rsplit("/", 1)[1]: payload for topic, payload in topics.items()}

    def local():
        return {kind for node, kind, _ in two.records() if node == two.id and kind != "Node1.Presence"}

    wait_steadily(lambda: local() | {"status"} == kept().keys() - {"crl"}, lambda: f"{local()} among {kept()}")
    kinds = {name: json.loads(payload) for name, payload in kept().items() if name != "crl"}
    assert kinds["status"]["State"] == "online" and kinds["status"]["Instance"] == two.get(*CLUSTER, "Instance")
    assert kinds["Node1.Identity"]["fields"] == two.records()[two.id, "Node1.Identity", ""][3]
    # One of all says the revocation list.
    lists = wait_steadily(lambda: pair.retained(one, "alidade/1/bed/+/crl"), "a revocation list")
    assert {text.splitlines()[0] for text in lists.values()} == {"-----BEGIN X509 CRL-----"}


def test_an_orderly_end_is_told_at_once_and_forgotten(pair):
    """And not guessed from 30 s of silence."""
    one, two = pair.nodes
    with pytest.raises(BusError) as refused:
        cluster_call(one, "Forget", "s", (two.id,))
    assert refused.value.name == "org.alidade.Error.NodeOnline"
    for target, error in ((one.id, "org.alidade.Error.NodeOnline"), ("1" * 32, "org.alidade.Error.NoSuchNode"),
                          ("two", "org.freedesktop.DBus.Error.InvalidArgs")):
        with pytest.raises(BusError) as refused:
            cluster_call(one, "Forget", "s", (target,))
        assert refused.value.name == error
    two.process("clusterd").stop()
    one.wait_presence(two, "offline")
    told, = pair.retained(one, f"alidade/1/bed/{two.id}/status").values()
    assert json.loads(told)["State"] == "offline"
    two.wait_presence(two, None)
    cluster_call(one, "Forget", "s", (two.id,))
    wait_steadily(lambda: not [key for key in one.records() if key[0] == two.id], "node2 to be forgotten")
    assert row_of(one, two) is None

    # Nor does it rise again where all is read anew.
    one.restart("stated")
    one.restart("clusterd")
    wait_property(one, "State", "online")
    pair.wait_until(lambda: one.records("Node1.Identity"), "records of node1 itself")
    # Its status may arrive before what forgets it.
    wait_steadily(lambda: not [key for key in one.records() if key[0] == two.id], "node2 to be forgotten again")

    two.start_daemon("clusterd")
    one.wait_presence(two, "online")
    pair.wait_digest_equal(deadline=60)
    wait_steadily(lambda: not pair.retained(one, f"alidade/1/bed/{one.id}/forget/#"), "the word to be taken back")


def log_subscriptions(node):
    (node.broker.config / "conf.d/log.conf").write_text("log_type information\nlog_type subscribe\n")
    node.broker.process.signal(signal.SIGHUP)
    wait_steadily(lambda: "Reloading config" in node.broker.process.log_text(), "the broker to read that")


def count_subscriptions(broker, node, topic):
    lines = broker.broker.process.log_text().splitlines()
    return sum(line.endswith(f"{node.id} 0 alidade/1/bed/{topic}") for line in lines)


def test_what_brokers_keep_is_asked_for_once(pair):
    """Both services start together, and the other nodes are not said twice, whichever of them comes first."""
    one, two = pair.nodes
    log_subscriptions(one)
    for program in ("clusterd", "stated"):
        two.process(program).stop()
        two.wait_for_name(SERVICES[program].bus_name, present=False)
    two.start_daemons(("clusterd", "stated"))
    for program in ("clusterd", "stated"):
        two.wait_for_name(SERVICES[program].bus_name)
    pair.wait_online()
    pair.wait_digest_equal()
    assert count_subscriptions(one, two, "#") == 1


def test_refused_settings_are_found_everywhere(pair):
    one, two = pair.nodes

    def found():
        return [row for row in one.state("GetFindings") if row["Id"] == "configuration-refused"]

    two.write_config("[telemetry]\ndisk-interval-s=0\n")
    two.reload("telemetryd")
    pair.wait_until(found, "node1 to know what node2 refuses")
    row, = found()
    assert (row["Nodes"], row["Service"], row["Line"], row["Key"]) \
        == ([two.id], "alidade-telemetryd", 2, "disk-interval-s")
    # Mended while the state service is gone, so that it has nothing to delete.
    two.process("stated").stop()
    two.write_config("")
    two.reload("telemetryd")
    assert found()
    two.start_daemon("stated")
    pair.wait_until(lambda: not found(), "node1 to know that node2 refuses nothing any more")


def shown_mirror(node):
    """The words of alidadectl on what is held of other nodes."""
    shown = node.alidadectl("cluster", "status").stdout
    return next(line.removeprefix("Mirror").strip() for line in shown.splitlines() if line.startswith("Mirror"))


def wait_peer_alone(cluster, one, two):
    """Of the other node no more is known than it takes to measure links with it, and whether it is there."""
    wanted = {"Node1.Identity", "Node1.Membership", "Node1.Network", "Node1.Presence"}
    cluster.wait_until(lambda: {kind for node, kind, _ in one.records() if node == two.id} == wanted,
                       f"of node2 {wanted} alone")
    one.wait_presence(two, "online")


def test_who_mirrors_nobody_sees_peers_come_and_go(make_cluster):
    cluster = make_cluster(3, sysroot=True, config="[cluster]\nmirror=self\n")
    one, two, three = cluster.nodes
    for peer in (two, three):
        wait_peer_alone(cluster, one, peer)
    assert shown_mirror(one).startswith("self: only presence, names and addresses")
    three.crash()
    one.wait_presence(three, "offline")
    two.kill("clusterd")
    one.wait_presence(two, "offline")
    two.restart("clusterd")
    one.wait_presence(two, "online")
    one.write_config("[cluster]\nmirror=none\n")
    one.reload("clusterd")
    cluster.wait_until(lambda: {node for node, *_ in one.records()} == {one.id}, "nobody else to be known")
    assert shown_mirror(one).startswith("none: nothing from other nodes")
    one.write_config("[cluster]\nmirror=self\n")
    one.reload("clusterd")
    one.wait_presence(two, "online")


def test_who_comes_is_no_reason_to_be_told_of_all_again(make_cluster):
    cluster = make_cluster(2, sysroot=True, config="[cluster]\nmirror=self\n")
    one, two = cluster.nodes
    wait_peer_alone(cluster, one, two)
    two.process("clusterd").stop()
    one.wait_presence(two, "offline")
    log_subscriptions(one)
    one.restart("clusterd")
    cluster.wait_until(lambda: count_subscriptions(one, one, "+/status") == 1, "node1 to listen")
    assert count_subscriptions(one, one, "+/Node1.Identity") == 0
    two.start_daemon("clusterd")
    cluster.wait_until(lambda: count_subscriptions(one, one, "+/Node1.Identity") == 1, "node1 to listen to node2")
    assert count_subscriptions(one, one, "+/status") == 1


def test_mirror_on_demand(make_cluster):
    cluster = make_cluster(2, sysroot=True, config="[cluster]\nmirror=on-demand\n")
    one, two = cluster.nodes
    for node in cluster.nodes:
        wait_property(node, "State", "online")
    assert (one.get(*CLUSTER, "Mirror"), one.get(*CLUSTER, "Mirroring")) == ("on-demand", False)
    wait_peer_alone(cluster, one, two)
    assert shown_mirror(one).startswith("on-demand: presence, names and addresses")
    client = one.new_connection()
    client.call(*CLUSTER, "Mirror")
    wait_property(one, "Mirroring", True)
    assert shown_mirror(one) == "everything, as requested by a client"
    cluster.wait_until(lambda: (two.id, "Node1.Memory", "") in one.records(), "all records of node2")
    one.wait_presence(two, "online")
    client.close()
    wait_property(one, "Mirroring", False)
    wait_peer_alone(cluster, one, two)
    assert {row["Id"] for row in rows(one, "GetNodes")} == {one.id, two.id}
    client = one.new_connection()
    client.call(*CLUSTER, "Mirror")
    cluster.wait_until(lambda: (two.id, "Node1.Memory", "") in one.records(), "all records of node2 again")
    client.close()
    wait_property(one, "Mirroring", False)
    watcher = one.spawn([client_binary(), "--json", "monitor"])
    wait_property(one, "Mirroring", True)
    one.restart("clusterd")
    wait_property(one, "Mirroring", True)
    watcher.stop()
    wait_property(one, "Mirroring", False)
    with pytest.raises(BusError) as refused:
        cluster_call(one, "Unmirror")
    assert refused.value.name == "org.alidade.Error.NotMirrored"


def test_who_leaves_knows_itself_alone(pair):
    one, two = pair.nodes
    (two.dir / "config/alidade.conf.d/50-cluster.conf").unlink()
    two.reload("clusterd")
    wait_property(two, "State", "idle")
    pair.wait_until(lambda: {node for node, _, _ in two.records()} == {two.id}, "nothing of node1 at node2")
    one.wait_presence(two, "offline")


def test_a_drop_in_that_cannot_be_read_changes_nothing(pair):
    one, two = pair.nodes
    drop_in = two.dir / "config/alidade.conf.d/50-cluster.conf"
    text = drop_in.read_text()
    drop_in.write_text("[cluster\n")
    two.reload("clusterd")
    log = two.process("clusterd").log_text
    wait_steadily(lambda: "Keeping the previous configuration" in log(), "the broken file to be told")
    assert "50-cluster.conf:1: left out" in log()
    assert [two.get(*CLUSTER, name) for name in ("ClusterName", "State")] == ["bed", "online"]
    drop_in.write_text(f"{text}mirror=none\n")
    two.reload("clusterd")
    wait_property(two, "Mirror", "none")


def test_publications_that_are_refused(pair):
    """The broker acknowledges them all the same."""
    one, two = pair.nodes
    rules = one.broker.config / "alidade.acl"
    text = rules.read_text()
    rules.write_text("".join(line for line in text.splitlines(keepends=True) if "write" not in line))
    one.broker.stop()
    one.broker.start()
    wait_property(two, "Problem", lambda problem: "access rules" in problem)
    assert any("access rules" in row.get("Problem", "") for row in rows(two, "GetBrokers"))
    rules.write_text(text)
    one.broker.stop()
    one.broker.start()
    wait_property(two, "Problem", "")


def test_two_machines_of_one_id(make_cluster):
    """Copies of one image put each other out at the broker; both find that out and keep silent."""
    cluster = make_cluster(3, sysroot=True, programs=())
    one, two, copy = cluster.nodes
    shutil.rmtree(copy.dir / "config", ignore_errors=True)
    shutil.copytree(two.dir / "config", copy.dir / "config", copy_function=shutil.copy2)
    copy.run(["chown", "-R", "--reference", two.dir / "config/cluster/node.key",
              copy.dir / "config/cluster/node.key"])
    for node, environment in ((one, {}), (two, {}), (copy, {"ALIDADE_MACHINE_ID": two.machine_id})):
        for program in DAEMONS:
            node.start_daemon(program, env=environment)
    for node in (two, copy):
        wait_property(node, "State", "duplicate")
        assert "machine-id" in node.get(*CLUSTER, "Problem")
    one.wait_presence(two, "duplicate")
    assert any(two.id in finding["Nodes"] for finding in one.state("GetFindings"))
    two.wait_presence(two, "duplicate")

    # The copy is made a machine of its own, and the service is restarted.
    copy.process("clusterd").stop()
    two.restart("clusterd")
    one.wait_presence(two, "online")
    wait_property(two, "State", "online")
