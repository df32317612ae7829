# SPDX-License-Identifier: LGPL-2.1-or-later
"""Certificates and rights: who is let in, who may say what, and what those are told who are refused."""

import contextlib
import json
import shutil
import ssl
import time

import pytest

from bedlib import Cluster, network
from bedlib.fixtures import made, needs_namespaces
from bedlib.node import CLUSTER, told_states
from bedlib.peer import Peer
from bedlib.pki import Authority
from bedlib.waiting import wait_steadily
from fault_tools import without_plugin

pytestmark = needs_namespaces
KIND = "Node1.Identity"
REFUSAL = (ssl.SSLError, ConnectionError)
RETRY = 30.0


class Site:
    """A healthy node with the broker, another one, and one to which things happen; and their authority."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.one, self.two, self.three = cluster.nodes
        self.broker = self.one.broker
        self.folder = self.three.dir / "config/cluster"
        self.authority = Authority(self.one.dir / "authority", existing=cluster.ca_files())
        self.foreign = Authority(self.one.dir / "foreign", "foreign")

    def topic(self, node, rest):
        return f"alidade/1/{self.cluster.name}/{node.id}/{rest}"

    def wait_problem(self, words):
        """Said by the service of the third node, and by alidadectl there."""
        wait_steadily(lambda: words in problem(self.three),
                      lambda: f"{words!r} at node3, which says {problem(self.three)!r}", RETRY)
        shown = self.three.alidadectl("cluster", "status").stdout
        assert words in " ".join(shown.split())

    def wait_well(self):
        wait_steadily(lambda: problem(self.three) == "", lambda: problem(self.three), RETRY)
        self.cluster.wait_online(deadline=RETRY)

    @contextlib.contextmanager
    def identity(self, keys):
        """The third node has these instead of its own."""
        try:
            with replaced(self.folder, {"node.crt": f"{keys}.crt", "node.key": f"{keys}.key"}):
                self.three.reload("clusterd")
                yield
        finally:
            self.three.reload("clusterd")

    @contextlib.contextmanager
    def broker_files(self, folder, files):
        """The broker has these instead of its own, read when it starts."""
        try:
            with replaced(folder, files):
                self.restart_broker()
                yield
        finally:
            self.restart_broker()

    def restart_broker(self):
        """And all try it at once."""
        if self.broker.process.poll() is None:
            self.broker.stop()
        self.broker.start()
        for node in self.cluster.nodes:
            if node.process("clusterd").poll() is None:
                node.reload("clusterd")


@contextlib.contextmanager
def replaced(folder, files):
    """Rights stay as they are."""
    before = {name: (folder / name).read_bytes() for name in files}
    for name, path in files.items():
        shutil.copyfile(path, folder / name)
    try:
        yield
    finally:
        for name, content in before.items():
            (folder / name).write_bytes(content)


def problem(node):
    return node.get(*CLUSTER, "Problem")


def fields_of(observer, node):
    return observer.records(KIND).get((node.id, KIND, ""), [{}])[-1]


def row(observer, node):
    """What that node's service has noticed of another one."""
    found = json.loads(observer.alidadectl("cluster", "status", "--json").stdout)["Nodes"]
    return next(row for row in found if row["Id"] == node.id)


def next_record(site, node, name):
    """As if the node said it next."""
    epoch, seq, _, _ = site.one.records(KIND)[node.id, KIND, ""]
    return record(name, epoch, seq + 1000)


def record(name, epoch=1, seq=1):
    return json.dumps({"epoch": epoch, "seq": seq, "updated": time.time_ns() // 1000,
                       "fields": {"FriendlyName": name}})


@pytest.fixture(scope="module")
def site():
    for make in made(Cluster):
        cluster = make(3, sysroot=True)
        cluster.wait_online()
        yield Site(cluster)


# Certificates of nodes

NODE_CERTIFICATES = {
    "of another CA": ({"authority": "foreign"}, "is not signed by the CA of cluster", "cluster join"),
    "expired": ({"at": "-400d"}, "has expired", "cluster renew"),
    "not yet valid": ({"at": "+400d"}, "is not valid before", "correct the clock of this machine"),
    "whose name is not an id": ({"common_name": "mallory"}, "its name is not a node id", "cluster join"),
    "of another node": ({"common_name": "f" * 32}, "is not for node", "cluster join"),
    "for servers": ({"usage": "serverAuth"}, "it does not allow use by a client", "cluster join"),
}


@pytest.mark.parametrize("options, words, remedy", NODE_CERTIFICATES.values(), ids=NODE_CERTIFICATES)
def test_certificate_of_a_node_to_be_refused(site, options, words, remedy):
    options = {"common_name": site.three.id, "usage": "clientAuth", **options}
    authority = getattr(site, options.pop("authority", "authority"))
    keys = authority.issue(site.one.dir / "bad", **options)
    with site.identity(keys):
        site.wait_problem(words)
        site.wait_problem(remedy)
        site.one.wait_presence(site.three, "stale")
    site.wait_well()


@pytest.mark.parametrize("options", [{"at": "-400d"}, {"at": "+400d"}, {"authority": "foreign"},
                                     {"usage": "serverAuth"}], ids=lambda options: str(*options.values()))
def test_broker_lets_nobody_in_with_a_bad_certificate(site, options):
    options = {"common_name": "a" * 32, "usage": "clientAuth", **options}
    authority = getattr(site, options.pop("authority", "authority"))
    with pytest.raises(REFUSAL):
        Peer(site.two, site.one, keys=authority.issue(site.one.dir / "bad", **options))


def test_name_that_is_no_id_has_no_voice(site):
    """The broker lets it in, since the authority signed it; under its name it speaks to nobody."""
    keys = site.authority.issue(site.one.dir / "mallory", "mallory", "clientAuth")
    before = site.one.get(*CLUSTER, "RefusedMessages")
    with Peer(site.three, site.one, keys=keys) as peer:
        with contextlib.suppress(*REFUSAL):
            peer.publish(site.topic(site.two, KIND), record("forged"), retain=True, qos=1)
    with Peer(site.three, site.one, keys=keys) as peer:
        peer.publish(f"alidade/1/{site.cluster.name}/mallory/{KIND}", record("forged"), qos=1)
        wait_steadily(lambda: site.one.get(*CLUSTER, "RefusedMessages") == before + 1, "one refused message")
    assert fields_of(site.one, site.two)["FriendlyName"] != "forged"


# Certificates of brokers

BROKER_CERTIFICATES = {
    "of a node": ({"common_name": "a" * 32, "usage": "clientAuth"}, "is not for a broker but for a node"),
    "of another CA": ({"authority": "foreign"}, "is not signed by the CA of cluster"),
    "expired": ({"at": "-400d"}, "has expired"),
    "not yet valid": ({"at": "+400d"}, "is not valid before"),
    "of another name": ({"names": ["IP:10.77.0.9", "DNS:elsewhere"]},
                        "is for 10.77.0.9, elsewhere, not for 10.77.0.1"),
}


@pytest.mark.parametrize("options, words", BROKER_CERTIFICATES.values(), ids=BROKER_CERTIFICATES)
def test_certificate_of_a_broker_to_be_refused(site, options, words):
    options = {"common_name": f"broker-{site.one.id}", "usage": "serverAuth", "names": ["IP:10.77.0.1"], **options}
    authority = getattr(site, options.pop("authority", "authority"))
    keys = authority.issue(site.one.dir / "bad", **options)
    folder = site.one.dir / "config/cluster/broker"
    with site.broker_files(folder, {"broker.crt": f"{keys}.crt", "broker.key": f"{keys}.key"}):
        site.wait_problem(f"Broker {site.one.address}: ")
        site.wait_problem(words)
    site.wait_well()


def test_broker_that_is_not_there(site):
    site.broker.stop()
    site.wait_problem("connection refused")
    site.restart_broker()
    site.wait_well()


def test_broker_under_a_name_that_is_not_its_own(site):
    network.add_address(site.one, "eth0", "10.77.9.9/16")
    conf = site.three.dir / "config/alidade.conf.d/50-cluster.conf"
    ours = conf.read_text()
    conf.write_text(ours.replace(site.one.address, "10.77.9.9"))
    site.three.reload("clusterd")
    site.wait_problem(f"is for {site.one.address}, not for 10.77.9.9")
    conf.write_text(ours)
    site.three.reload("clusterd")
    site.wait_well()


def test_broker_that_passes_on_nothing(site, tmp_path):
    (tmp_path / "acl").write_text(f"pattern read alidade/1/{site.cluster.name}/#\n")
    with site.broker_files(site.broker.config, {"alidade.acl": tmp_path / "acl"}):
        site.wait_problem("its access rules may not grant the topics")
    site.wait_well()


# Who speaks for whom

@pytest.fixture
def taken_over(site):
    """The third node's certificate is in the hands of somebody else."""
    site.three.process("clusterd").stop()
    yield site
    site.three.start_daemon("clusterd")
    site.wait_well()


def test_nobody_speaks_for_another_node(taken_over):
    """The broker's rules drop it, so that nobody sees it."""
    site = taken_over
    with Peer(site.three, site.one) as peer, site.one.log_presences() as log:
        peer.subscribe("alidade/#")
        for rest in (KIND, "status", "alive", "crl", f"forget/{site.one.id}"):
            with contextlib.suppress(*REFUSAL):
                peer.publish(site.topic(site.two, rest), record("forged", 2 ** 53 - 1), retain=True, qos=1)
        again = Peer(site.three, site.one)
        again.subscribe("alidade/#")
        again.publish(site.topic(site.three, KIND), record("own"), qos=1)
        again.wait_message(lambda topic, payload, retained: b'"own"' in payload)
        assert not [message for message in peer.messages + again.messages if b"forged" in message[1]]
        again.close()
        assert (site.two.id, "offline") not in told_states(log)
    assert fields_of(site.one, site.two)["FriendlyName"] == fields_of(site.two, site.two)["FriendlyName"] == "bed"


def test_forged_will(taken_over):
    """Whether the broker refuses who has one, or keeps it for itself, nobody is declared dead by it."""
    site = taken_over
    will = {"State": "offline", "Epoch": 2 ** 53 - 1, "Connection": 2 ** 53 - 1, "Instance": "1" * 32}
    with site.one.log_presences() as log:
        with contextlib.suppress(*REFUSAL):
            Peer(site.three, site.one, will=(site.topic(site.two, "status"), json.dumps(will))).close()
        with Peer(site.three, site.one) as peer:
            peer.publish(site.topic(site.three, KIND), next_record(site, site.three, "after the will"), qos=1)
            wait_steadily(lambda: fields_of(site.one, site.three).get("FriendlyName") == "after the will",
                          "what came after")
        assert (site.two.id, "offline") not in told_states(log)


# A broker whose rules are not ours

def test_broker_that_lets_anybody_speak(taken_over, tmp_path):
    """MQTT does not tell who published what: others must believe what the broker passes on. The node for which
    somebody else speaks notices, refuses it, and says so; and what it says next is newer."""
    site = taken_over
    (tmp_path / "acl").write_text("pattern readwrite #\n")
    (tmp_path / "conf").write_text(without_plugin(site.broker))
    with site.broker_files(site.broker.config, {"alidade.acl": tmp_path / "acl",
                                                "conf.d/alidade.conf": tmp_path / "conf"}):
        site.cluster.wait_online([site.one, site.two])
        own = fields_of(site.two, site.two)
        with Peer(site.three, site.one) as peer:
            peer.publish(site.topic(site.two, KIND), next_record(site, site.two, "forged"), qos=1)
            wait_steadily(lambda: "someone else publishes" in problem(site.two), lambda: problem(site.two))
            wait_steadily(lambda: fields_of(site.one, site.two)["FriendlyName"] == "forged", "what cannot be known")
            peer.publish(site.topic(site.two, "Node1.Presence"), record("forged"), qos=1)
            wait_steadily(lambda: row(site.one, site.two)["RefusedMessages"] == 1, "what is refused from anybody")
        assert fields_of(site.two, site.two)["FriendlyName"] == own["FriendlyName"]
        wait_steadily(lambda: row(site.two, site.two)["RefusedMessages"] == 2, "what node2 refuses of these")
        site.two.restart("stated")
        wait_steadily(lambda: fields_of(site.one, site.two)["FriendlyName"] == own["FriendlyName"], "the truth")


# Who is shut out; the last one, for it cannot be undone

def test_revoked_while_connected(site):
    """The list travels by the cluster; once the brokers have it, open sessions end, and the node knows why."""
    keys = site.one.dir / "revoked"
    for kind in ("crt", "key"):
        shutil.copyfile(site.folder / f"node.{kind}", f"{keys}.{kind}")
    site.one.alidadectl("cluster", "revoke", site.three.id)
    state = site.two.state_directory("clusterd")
    wait_steadily((state / "crl.pem").exists, "the list at node2")
    # As the unit does that watches it.
    installed = site.two.alidadectl("cluster", "install-crl", env={"ALIDADE_CLUSTER_STATE_DIR": state}).stdout
    assert "1 certificate revoked" in installed
    site.wait_problem("is revoked")
    site.wait_problem("an administrator has revoked it")
    site.three.process("clusterd").stop()
    with Peer(site.three, site.one, keys=keys) as peer:  # the broker does not know yet
        site.restart_broker()
        with pytest.raises(REFUSAL):
            peer.wait_message(lambda *_: False)
    with pytest.raises(REFUSAL):
        Peer(site.three, site.one, keys=keys)
    site.three.start_daemon("clusterd")
    site.wait_problem("is revoked")
    site.one.wait_presence(site.three, "offline", deadline=40)
    site.cluster.wait_online([site.one, site.two])
