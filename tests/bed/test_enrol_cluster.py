# SPDX-License-Identifier: LGPL-2.1-or-later
"""A cluster that alidadectl makes, with all daemons: from the first machine to one that is shut out."""

import json

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.node import CLUSTER
from bedlib.waiting import wait_steadily

pytestmark = needs_namespaces


def run(node, *words, **options):
    """alidadectl cluster as root of that machine."""
    environment = {"ALIDADE_CONFIG_DIR": node.dir / "config", "ALIDADE_AVAHI_DIR": node.dir / "avahi",
                   "ALIDADE_CLUSTER_STATE_DIR": node.state_directory("clusterd")}
    return node.alidadectl("cluster", *words, env=environment, **options)


def join(first, node, *words):
    request = run(node, "join", "--request", *words).stdout
    run(node, "join", "--accept", text_in=run(first, "sign", *words[:1], text_in=request).stdout)


@pytest.fixture
def lab(make_cluster):
    """Three nodes that joined while their daemons ran, two of them with a broker."""
    cluster = make_cluster(3, brokers=(0, 1), enrolled=False)
    first, second, third = cluster.nodes
    run(first, "init", "lab", f"--address={first.address}")
    first.broker.start()
    join(first, second, "--broker", f"--address={second.address}")
    second.broker.start()
    join(first, third)
    cluster.wait_online()
    return cluster


def status(node):
    return run(node, "status").stdout


def test_nodes_that_join_see_each_other(lab):
    for node in lab.nodes:
        shown = status(node)
        assert "lab (online)" in shown
        assert all(other.id in shown for other in lab.nodes)

    def connected():
        """At the third node, which needs but one of them to see the others."""
        return {broker for broker in lab.brokers for line in status(lab.nodes[2]).splitlines()
                if line.startswith(broker.address) and "connected" in line}

    wait_steadily(lambda: connected() == {*lab.brokers}, lambda: f"both brokers: {status(lab.nodes[2])}")


def test_renewing_disturbs_nobody(lab):
    first, _, third = lab.nodes
    request = run(third, "renew", "--request").stdout
    run(third, "renew", "--accept", text_in=run(first, "sign", "--renew", text_in=request).stdout)
    lab.wait_online()


def test_a_forgotten_node_is_revoked_by_its_name(lab):
    first, second, third = lab.nodes

    def certificates():
        rows = json.loads(run(first, "certificates", "--json").stdout)["Certificates"]
        return {(row["Name"], row["For"], row["Id"], row["Revoked"]) for row in rows}

    issued = {(first.name, "node", first.id), (first.name, "broker", first.id), (second.name, "node", second.id),
              (second.name, "broker", second.id), (third.name, "node", third.id)}
    assert certificates() == {(*row, False) for row in issued}
    third.crash()
    first.wait_presence(third, "offline")
    first.alidadectl("forget", third.id)
    wait_steadily(lambda: not [key for key in first.records() if key[0] == third.id], "the node to be forgotten")
    assert f"{third.name} ({third.id}) is revoked here" in run(first, "revoke", third.name).stdout
    assert certificates() == {(*row, row[2] == third.id) for row in issued}
    shown = run(first, "certificates").stdout.splitlines()
    assert shown[0].split() == ["NAME", "FOR", "ID", "SERIAL", "UNTIL", "STATE"] and len(shown) == 6
    assert [line.split()[0] for line in shown if line.endswith("revoked")] == [third.name]
    refused = run(first, "revoke", "node99", check=False)
    assert refused.returncode == 4 and "No certificate of node99 is known here" in refused.stderr


def test_a_node_that_is_revoked_is_shut_out_everywhere(lab):
    """The list travels by the cluster itself; the bed runs what the path unit runs."""
    first, second, third = lab.nodes
    run(first, "revoke", third.id)
    first.broker.stop()
    first.broker.start()
    fresh = second.state_directory("clusterd") / "crl.pem"
    wait_steadily(fresh.exists, "the new list on the second broker")
    told = run(second, "install-crl").stdout
    assert "1 certificate revoked" in told and "mosquitto" in told
    second.broker.stop()
    second.broker.start()
    first.wait_presence(third, "offline", deadline=40)
    second.wait_presence(third, "offline", deadline=40)
    lab.wait_online([first, second])
    wait_steadily(lambda: "revoked" in status(third), lambda: f"words for it: {status(third)}")


def test_a_list_that_could_not_be_kept_is_kept_later(lab):
    """Else the broker there would let in who is revoked, for as long as no other list comes."""
    first, second, third = lab.nodes
    fresh = second.state_directory("clusterd") / "crl.pem"
    fresh.mkdir()  # fails as a full disk does
    run(first, "revoke", third.id)
    daemon = second.process("clusterd")
    wait_steadily(lambda: "Cannot save the revocation list" in daemon.log_text(), "the failure")
    fresh.rmdir()
    first.broker.stop()
    first.broker.start()
    wait_steadily(fresh.is_file, "the list, once the broker said it again")


def test_a_key_that_everybody_can_read_is_told_of(lab):
    third = lab.nodes[2]
    daemon = third.process("clusterd")
    assert "is readable by all users" not in daemon.log_text()
    (third.dir / "config/cluster/node.key").chmod(0o644)
    third.reload("clusterd")
    wait_steadily(lambda: "is readable by all users" in daemon.log_text(), "a warning")


def test_a_node_that_leaves_is_alone(lab):
    first, _, third = lab.nodes
    run(third, "leave")
    shown = ("ClusterName", "State", "CertificateExpiryUSec")
    wait_steadily(lambda: [third.get(*CLUSTER, name) for name in shown] == ["", "idle", 2**64 - 1],
                  lambda: f"it to be in no cluster: {status(third)}")
    first.wait_presence(third, "offline", deadline=40)
    assert "Cluster      none" in status(third)


BRIDGE = """connection alidade-site2
address {address}:8883
bridge_protocol_version mqttv311
bridge_cafile {config}/ca.crt
bridge_certfile {config}/broker/bridge.crt
bridge_keyfile {config}/broker/broker.key
bridge_tls_version tlsv1.3
remote_username bridge-site2
notifications false
try_private true
cleansession true
topic # both 1 alidade/1/lab/ alidade/1/lab/
"""


def test_two_sites_are_one_cluster_by_a_bridge(make_cluster):
    """Each node knows the broker of its own site only."""
    cluster = make_cluster(2, brokers=(0, 1), enrolled=False)
    first, second = cluster.nodes
    run(first, "init", "lab", f"--address={first.address}")
    join(first, second, "--broker", f"--address={second.address}")
    request = run(second, "renew", "--request").stdout
    certificate = run(first, "sign-bridge", "site2", text_in=request).stdout
    config = second.dir / "config/cluster"
    (config / "broker/bridge.crt").write_text(certificate)
    (second.broker.config / "conf.d/site2.conf").write_text(BRIDGE.format(address=first.address, config=config))
    for node in cluster.nodes:
        (node.dir / "config/alidade.conf.d/60-local.conf").write_text(
            f"[cluster]\nbrokers={node.address}\ndiscovery=false\n")
        node.broker.start()
        node.reload("clusterd")
    cluster.wait_online()
    for node in cluster.nodes:
        assert [broker["Address"] for broker in node.call(
            "org.alidade.Cluster1", "/org/alidade/Cluster1", "org.alidade.Cluster1", "GetBrokers")] == [node.address]
    rights = (first.broker.config / "alidade.acl").read_text()
    run(first, "renew")
    assert (first.broker.config / "alidade.acl").read_text() == rights and "user bridge-site2" in rights
    # What the node is shut out of, its bridge is.
    told = run(first, "revoke", second.id).stdout
    assert "3 certificates revoked" in told
