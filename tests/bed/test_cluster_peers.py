# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes that say what they must not: with a certificate of the cluster, at a real broker, to real daemons."""

import contextlib
import json
import os
import re
import shutil
import signal
import ssl
import struct
import threading
import time
import uuid

import pytest

from bedlib import Cluster
from bedlib.cluster import BRIDGE
from bedlib.enrolment import join
from bedlib.fixtures import made, needs_namespaces
from bedlib.node import CLUSTER, Node, node_id, told_states
from bedlib.peer import Peer
from bedlib.pki import Authority
from bedlib.services import sanitized
from bedlib.waiting import wait_steadily

pytestmark = needs_namespaces
OTHERS = ("identityd", "telemetryd", "stated")
ALL = (*OTHERS, "clusterd")
KIND, MARKER = "Node1.Identity", "Node1.Memory"
MIB = 1 << 20
LINKS_MAX = 4096
YEAR = 365 * 86400
RESEND = 40.0
HEARTBEAT = 20.0
BOUND_MIB = 160


class Hostile:
    """Two healthy nodes, and the third one's certificate in the hands of somebody else."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.one, self.two, self.node = cluster.nodes
        self.base = f"alidade/1/{cluster.name}/{self.node.id}"
        self.seq = 0
        self.peer = None
        self.connect()

    def connect(self, **options):
        if self.peer:
            self.peer.close()
        self.peer = Peer(self.node, self.cluster.brokers[0], **options)
        return self.peer

    def record(self, fields=None, **members):
        self.seq += 1
        return json.dumps({"epoch": 1, "seq": self.seq, "updated": time.time_ns() // 1000,
                           "fields": fields or {}, **members})

    def say(self, topic, payload, **options):
        self.peer.publish(topic if isinstance(topic, bytes) else f"{self.base}/{topic}", payload, **options)

    def mark(self, *observers, retain=False):
        """Returns when these nodes have read all that was said before, on other topics than this."""
        self.say(MARKER, self.record({"TotalBytes": self.seq}), qos=1, retain=retain)
        for observer in observers or (self.one, self.two):
            wait_steadily(lambda: fields_of(observer, self.node, MARKER).get("TotalBytes") == self.seq - 1,
                          lambda: f"marker {self.seq} at {observer.name}: {row(observer, self.node)}")


def fields_of(observer, node, kind, key=""):
    return observer.records(kind).get((node.id, kind, key), [{}])[-1]


def status(observer):
    return json.loads(observer.alidadectl("cluster", "status", "--json").stdout)


def row(observer, node):
    """What that node's service has noticed of another one."""
    return next((found for found in status(observer)["Nodes"] if found["Id"] == node.id), {})


def refused(observer, node):
    return row(observer, node).get("RefusedMessages", 0)


def wait_refused(observer, node, least):
    wait_steadily(lambda: refused(observer, node) > least, lambda: f"more than {least}: {row(observer, node)}")


def start(make, count=3):
    cluster = make(count, programs=OTHERS, sysroot=True)
    for node in cluster.nodes[:2]:
        node.start_daemon("clusterd", wait=False)
    for node in cluster.nodes:
        node.wait_ready()
    cluster.wait_online(cluster.nodes[:2])
    return Hostile(cluster)


@pytest.fixture(scope="module")
def lasting():
    for make in made(Cluster):
        yield start(make)


@pytest.fixture
def hostile(lasting):
    """Of one cluster for all tests of the module: none of them may harm it."""
    lasting.connect()
    return lasting


def deep(levels):
    return "[" * levels + "]" * levels


SOURCE, SINK = f"{1:032x}", "f" * 32
BAD_RECORDS = {
    "no JSON": "rubbish",
    "nothing but a quote": '"',
    "a list": "[]",
    "cut off": '{"epoch": 1, "seq": 1',
    "a NUL in it": b'{"epoch": 1, "seq": 1, "updated": 1, "fields": {}}\0',
    "invalid UTF-8": b'{"epoch": 1, "seq": 1, "updated": 1, "fields": {"FriendlyName": "\xff\xfe"}}',
    "too deep": '{"epoch": 1, "seq": 1, "updated": 1, "fields": {"Vendor": ' + deep(100) + "}}",
    "much too deep": deep(100000),
    "NaN": '{"epoch": 1, "seq": 1, "updated": NaN, "fields": {}}',
    "Infinity": '{"epoch": 1, "seq": Infinity, "updated": 1, "fields": {}}',
    "a huge number": '{"epoch": 99999999999999999999999999, "seq": 1, "updated": 1, "fields": {}}',
    "beyond doubles": '{"epoch": 1, "seq": 1e999, "updated": 1, "fields": {}}',
    "beyond 2^53": '{"epoch": 1, "seq": 9007199254740993, "updated": 1, "fields": {}}',
    "negative": '{"epoch": -1, "seq": 1, "updated": 1, "fields": {}}',
    "a fraction": '{"epoch": 1.5, "seq": 1, "updated": 1, "fields": {}}',
    "a key twice": '{"epoch": 1, "epoch": 2, "seq": 1, "updated": 1, "fields": {}}',
    "no fields": '{"epoch": 1, "seq": 1, "updated": 1}',
    "no stamp": '{"fields": {}}',
    "fields of another type": '{"epoch": 1, "seq": 1, "updated": 1, "fields": []}',
    "a field of another type": '{"epoch": 1, "seq": 1, "updated": 1, "fields": {"FriendlyName": 7}}',
    "a field too long": json.dumps({"epoch": 1, "seq": 1, "updated": 1, "fields": {"Vendor": "x" * 5000}}),
    "deleted by a word": '{"epoch": 1, "seq": 1, "updated": 1, "deleted": "yes"}',
}
BAD_TOPICS = ("Node1.Presence", "node1.identity", "Node1.Identity/", "Node1.Identity/_",
              "Node1.Identity/key", "Node1.Identity/a/b", "LinkRdma/_zz", "Link1.Socket", "Link1.Socket/x",
              "Link1.Socket/_2e_2e_2f", "forget", "forget/", "forget/nobody", f"forget/{SOURCE}/x", "status/x",
              "alive/", "crl/x", "", "/", "//", "Status", "x" * 4000, "$SYS", "ü")
BAD_OTHERS = (
    ("status", "rubbish"), ("status", "{}"), ("status", '{"State": "online"}'), ("status", " " * 5000),
    ("status", '{"State": "asleep", "Epoch": 1, "Connection": 1, "Instance": "%s"}' % SOURCE),
    ("status", '{"State": "online", "Epoch": 1, "Connection": 1, "Instance": "me"}'),
    ("alive", "rubbish"), ("alive", '{"SentUSec": "now", "Epoch": 1, "Connection": 1}'), ("alive", " " * 5000),
    ("alive", '{"SentUSec": 1e300, "Epoch": 1, "Connection": 1}'), (f"forget/{SOURCE}", "rubbish"),
    (f"forget/{SOURCE}", '{"Epoch": 1, "Sequence": -1, "SentUSec": 1}'),
    (f"forget/{SOURCE}", '{"Epoch": 0, "Sequence": 1, "SentUSec": 1}'), (f"forget/{SOURCE}", " " * 5000),
    ("crl", "rubbish"), ("crl", "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n"), ("crl", b"\0" * 100),
)


@pytest.mark.parametrize("payload", BAD_RECORDS.values(), ids=BAD_RECORDS.keys())
def test_bad_record_is_refused_and_counted(hostile, payload):
    hostile.mark()
    before = [refused(observer, hostile.node) for observer in (hostile.one, hostile.two)]
    hostile.say(KIND, payload)
    hostile.mark()
    assert [refused(observer, hostile.node) for observer in (hostile.one, hostile.two)] == \
        [count + 1 for count in before]
    assert row(hostile.one, hostile.node)["Problem"].startswith(f"{KIND}: ")


def test_bad_words_beside_records_are_refused_and_counted(hostile):
    hostile.mark()
    before = refused(hostile.one, hostile.node)
    for topic, payload in BAD_OTHERS:
        hostile.say(topic, payload, qos=1)
        hostile.mark(hostile.one)
        before += 1
        assert refused(hostile.one, hostile.node) == before, (topic, payload)


@pytest.mark.parametrize("topic", [b"\xff\xfe", b"Node1.Identity\x7f", b"+", b"#", b"a\0b"],
                         ids=["utf8", "control", "plus", "hash", "nul"])
def test_broker_throws_out_what_is_no_mqtt(hostile, topic):
    hostile.mark()
    with pytest.raises((ssl.SSLError, ConnectionError)):
        hostile.say(f"{hostile.base}/".encode() + topic, "{}", qos=1)
    hostile.connect()
    hostile.mark()
    hostile.cluster.wait_online([hostile.one, hostile.two])


@pytest.mark.parametrize("qos", [0, 1])
def test_broker_passes_on_nothing_beyond_its_limit(hostile, qos):
    """Whether it throws out who sends that is up to it."""
    hostile.mark()
    before = refused(hostile.one, hostile.node)
    with contextlib.suppress(ssl.SSLError, ConnectionError):
        hostile.say(KIND, b" " * (2 * MIB), qos=qos)
    hostile.connect()
    hostile.mark()
    assert refused(hostile.one, hostile.node) == before


@pytest.fixture
def unlimited(hostile):
    """With a broker whose administrator set no limit."""
    broker = hostile.cluster.brokers[0].broker
    conf = broker.config / "conf.d/alidade.conf"
    ours = conf.read_text()

    rights = broker.config / "alidade.acl"
    ours_rights = rights.read_text()

    def restart(text, rights_text):
        conf.write_text(text)
        rights.write_text(rights_text)
        broker.stop()
        broker.start()
        hostile.connect()
        # Who was away for a moment stays online: that they listen again only this tells.
        hostile.mark(retain=True)

    restart(re.sub("^(max_packet_size|plugin) .*$", "", ours, flags=re.MULTILINE),
            "pattern read alidade/1/bed/#\npattern write alidade/1/bed/%u/#\n")
    yield hostile
    restart(ours, ours_rights)


def test_bad_topics_are_refused_and_counted(unlimited):
    unlimited.mark()
    before = refused(unlimited.one, unlimited.node)
    for topic in BAD_TOPICS:
        unlimited.say(topic, unlimited.record(), retain=True, qos=1)
        unlimited.mark(unlimited.one)
        before += 1
        assert refused(unlimited.one, unlimited.node) == before, topic
    kinds = {kind for node, kind, _ in unlimited.one.records() if node == unlimited.node.id}
    assert kinds <= {KIND, MARKER, "Node1.Presence"}
    for topic in BAD_TOPICS:
        unlimited.say(topic, "", retain=True, qos=1)


def test_a_heartbeat_states_how_many_records_there_are(hostile):
    """As many as the broker keeps of the node, so that who has fewer knows it."""
    base = f"alidade/1/{hostile.cluster.name}/{hostile.one.id}"
    hostile.peer.subscribe(f"{base}/alive")

    def stated_and_kept():
        hostile.peer.messages.clear()
        _, payload, _ = hostile.peer.wait_message(lambda topic, *_: topic == f"{base}/alive")
        kept = hostile.cluster.retained(hostile.cluster.brokers[0], f"{base}/#")
        return json.loads(payload)["Records"], sum("1." in topic.split("/")[4] for topic in kept)

    found = [(0, 0)]
    wait_steadily(lambda: found.append(stated_and_kept()) or (found[-1][0] == found[-1][1] > 4),
                  lambda: f"the number that is kept: {found[-1]}")


def test_a_record_that_a_broker_did_not_pass_on_is_asked_for(hostile):
    """Its reader learns of it by the number in heartbeats, some 30 s later."""
    broker, reader = hostile.cluster.brokers[0].broker, hostile.one
    rights = broker.config / "alidade.acl"
    ours = rights.read_text()

    def reload(text):
        before = broker.process.log_text().count("Reloading")
        rights.write_text(text)
        broker.process.signal(signal.SIGHUP)
        wait_steadily(lambda: broker.process.log_text().count("Reloading") > before, "other rights")

    def name():
        return fields_of(reader, hostile.node, KIND).get("FriendlyName")

    def arrives():
        hostile.say("alive", json.dumps({"SentUSec": time.time_ns() // 1000, "Epoch": 1, "Connection": 1,
                                         "Records": LINKS_MAX}))
        return name() == "late"

    reload(f"{ours}\nuser {reader.id}\ntopic deny {hostile.base}/{KIND}\n")
    hostile.say(KIND, hostile.record({"FriendlyName": "late"}), retain=True, qos=1)
    hostile.mark()
    reload(ours)
    hostile.mark()
    assert name() != "late"
    wait_steadily(arrives, "the record that was not passed on", RESEND, interval=1)
    hostile.say(KIND, "", retain=True, qos=1)


def test_kinds_of_a_newer_version_are_counted_apart(unlimited):
    """They are passed over, and nothing is wrong."""
    def shown():
        return {**{"UnknownKinds": 0, "Problem": ""}, **row(unlimited.one, unlimited.node)}

    before, refused_before = shown()["UnknownKinds"], refused(unlimited.one, unlimited.node)
    problem = shown()["Problem"]
    for topic in ("Node1.Nonsense", "Link2.Rope/key"):
        unlimited.say(topic, unlimited.record(), qos=1)
    unlimited.mark(unlimited.one)
    assert shown()["UnknownKinds"] == before + 2
    assert (refused(unlimited.one, unlimited.node), shown()["Problem"]) == (refused_before, problem)


def test_large_payloads_are_refused_and_counted(unlimited):
    for topic, size in ((KIND, MIB + 1), (KIND, 32 * MIB), ("crl", 2 * MIB), ("alive", 32 * MIB)):
        before = refused(unlimited.one, unlimited.node)
        for _ in range(2):
            unlimited.say(topic, b" " * size, qos=1)
            unlimited.mark()
        assert refused(unlimited.one, unlimited.node) == before + 2
        assert "a payload of more than" in row(unlimited.one, unlimited.node)["Problem"]
    assert_bounded(unlimited)


# What is well said, but too much or not for them to say

def peak_mib(process):
    """The most memory that it ever held."""
    for line in open(f"/proc/{process.outer_pid}/status", encoding="ascii"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(process)


def rename(node, name):
    node.call("org.alidade.Identity1", "/org/alidade/Identity1", "org.alidade.Identity1", "SetFriendlyName", "s",
              (name,))


def wait_renamed(hostile, name):
    rename(hostile.two, name)
    hostile.cluster.wait_until(lambda: fields_of(hostile.one, hostile.two, KIND)["FriendlyName"] == name,
                               f"{name} at {hostile.one.name}")


def assert_bounded(hostile):
    for node in (hostile.one, hostile.two):
        for program in ("clusterd", "stated"):
            print(node.name, program, peak_mib(node.process(program)))
            assert sanitized() or peak_mib(node.process(program)) < BOUND_MIB


def link_topic(number):
    """The key is SINK,ADDRESS, encoded as in object paths."""
    address = "_2e".join(map(str, struct.pack(">I", 0x0a000000 + number)))
    return f"Link1.Socket/{SINK}_2c{address}"


def test_a_hundred_thousand_keys(unlimited, lasting):
    """They stay at the broker, which gives them to each node that comes; no node takes more than its share."""
    count = 10_000 if sanitized() else 100_000  # far more than a node may have, either way
    peer = lasting.connect()
    fields = {"Source": lasting.node.id, "Sink": SINK}
    for number in range(1, count + 1):
        lasting.say(link_topic(number), lasting.record(fields), retain=True)
    peer.publish(f"{lasting.base}/end", "", qos=1)
    wait_renamed(lasting, "Ada")
    for node in (lasting.one, lasting.two):
        wait_refused(node, lasting.node, count - LINKS_MAX - 20)
        assert 0 < len(node.records("Link1.Socket")) <= LINKS_MAX
    lasting.one.restart("clusterd")
    lasting.cluster.wait_online([lasting.one, lasting.two])
    wait_renamed(lasting, "Grace")
    assert_bounded(lasting)


def test_flood(unlimited):
    """As fast as it can, also where the broker does not bound it, while others are heard."""
    over = threading.Event()
    payload = unlimited.record({"Vendor": "x" * 1000})
    sent = []

    def flood():
        while not over.is_set():
            for number in range(100):
                unlimited.say(f"Node1.Nonsense/{number}" if number % 2 else KIND, payload)
            sent.append(100)

    thread = threading.Thread(target=flood)
    with unlimited.one.log_presences() as log:
        thread.start()
        try:
            for number in range(20):
                wait_renamed(unlimited, f"name {number}")
            wait_refused(unlimited.one, unlimited.node, 0)
            wait_renamed(unlimited, "Ada")
        finally:
            over.set()
            thread.join()
        assert (unlimited.two.id, "offline") not in told_states(log)
    print(sum(sent), refused(unlimited.one, unlimited.node))
    unlimited.cluster.wait_online([unlimited.one, unlimited.two])
    assert_bounded(unlimited)


def test_forgetting_who_is_online(hostile):
    stamp = json.dumps({"Epoch": 2 ** 53, "Sequence": 2 ** 53, "SentUSec": time.time_ns() // 1000})
    hostile.say(f"forget/{hostile.two.id}", stamp, retain=True, qos=1)
    hostile.say(f"forget/{hostile.one.id}", stamp, retain=True, qos=1)
    hostile.say(f"forget/{hostile.node.id}", stamp, retain=True, qos=1)
    hostile.mark()
    hostile.cluster.wait_online([hostile.one, hostile.two])
    wait_renamed(hostile, "Ada")
    for name in (hostile.one.id, hostile.two.id, hostile.node.id):
        hostile.say(f"forget/{name}", "", retain=True, qos=1)


def test_huge_stamps_harm_nobody_else(hostile):
    hostile.say("status", json.dumps({"State": "online", "Epoch": 2 ** 53, "Connection": 2 ** 53, "Instance": SOURCE,
                                      "AnnouncedEpoch": 1}), qos=1)
    for usec in (0, 2 ** 53):
        hostile.say("alive", json.dumps({"SentUSec": usec, "Epoch": 2 ** 53, "Connection": 2 ** 53}), qos=1)
    hostile.mark()
    wait_renamed(hostile, "Ada")
    hostile.cluster.wait_digest_equal(nodes=[hostile.one, hostile.two])


def test_lists_that_are_not_to_be_taken(hostile, tmp_path):
    """Of another authority, and an older one than is known."""
    foreign, known = Authority(tmp_path / "foreign"), hostile.one.dir / "config/cluster/crl.pem"
    before, text = refused(hostile.one, hostile.node), known.read_text()
    foreign.write_crl(tmp_path / "crl.pem")
    hostile.say("crl", (tmp_path / "crl.pem").read_text(), qos=1)
    hostile.mark()
    assert refused(hostile.one, hostile.node) == before + 1
    assert "not signed by the CA" in row(hostile.one, hostile.node)["Problem"]
    hostile.one.alidadectl("cluster", "revoke", "--help")
    hostile.say("crl", text, qos=1)
    hostile.mark()
    assert refused(hostile.one, hostile.node) == before + 1


# Two machines of one image

def make_copy(cluster, node, number):
    """A machine with the identity and all files of another one."""
    copy = Node(number, cluster.name, service_users=True, sysroot=True)
    copy.machine_id, copy.id = node.machine_id, node.id
    cluster.nodes.append(copy)
    copy.start()
    copy.plug_in(cluster.switch, BRIDGE)
    shutil.copytree(node.dir / "config", copy.dir / "config", dirs_exist_ok=True)
    for path in (copy.dir / "config").rglob("*"):
        original = (node.dir / "config" / path.relative_to(copy.dir / "config")).stat()
        os.chown(path, original.st_uid, original.st_gid)
    return copy


def connects(cluster, node):
    log = cluster.brokers[0].broker.process.log_text()
    return len([line for line in log.splitlines() if "New client connected" in line and f" as {node.id} " in line])


def epochs_at(observer):
    return {(node, epoch) for (node, *_), (epoch, *_) in observer.records().items()}


def wait_seconds_of(observer, node, seconds):
    """Until the other node has said that so much time went by."""
    def updated():
        page, _ = observer.state("GetRecords", "sst", ("Node1.Memory", "", 0))
        return next(entry[5] for entry in page if entry[0] == node.id)

    begin = updated()
    # It is said anew every 30 s, where it holds still.
    wait_steadily(lambda: updated() >= begin + seconds * 1000000, f"{seconds} s of {node.name}", seconds + RESEND)


def test_two_machines_with_one_id(make_cluster):
    cluster = make_cluster(3, sysroot=True)
    cluster.wait_online()
    one, two, three = cluster.nodes
    copy = make_copy(cluster, three, 4)
    copy.start_daemons(ALL)
    copy.wait_ready()
    for node in (three, copy):
        node.wait_for_property(*CLUSTER, "State", lambda state: state == "duplicate")
        assert "remove /etc/machine-id" in node.get(*CLUSTER, "Problem")
        assert "remove /etc/machine-id" in " ".join(node.alidadectl("cluster", "status").stdout.split())
    for node in (one, two):
        node.wait_presence(three, "duplicate")
        assert row(node, three)["State"] == "duplicate"
        assert "duplicate-node-id" in node.alidadectl("findings", "--json").stdout
    before, epochs = connects(cluster, three), epochs_at(one)
    assert before < 20
    wait_seconds_of(one, two, 10)
    assert connects(cluster, three) == before
    assert epochs_at(one) == epochs
    # The remedy, as it is told.
    for daemon in reversed(ALL):
        copy.process(daemon).stop()
    fresh = uuid.uuid4().hex
    (copy.root / "etc/machine-id").write_text(f"{fresh}\n")
    copy.id = node_id(fresh)
    join(one, copy)
    for daemon in ALL:
        copy.restart(daemon)
    three.restart("clusterd")
    cluster.wait_online()


# Clocks that are set

def skewed(observer):
    """Those whose clocks it names."""
    return sorted(node for finding in observer.state("GetFindings") if finding["Id"] == "clock-skew"
                  for node in finding["Nodes"])


def name_at(observer, node):
    return fields_of(observer, node, KIND).get("FriendlyName")


def assert_fresh(observer, nodes):
    """However clocks differ, who speaks is shown as speaking."""
    table = observer.alidadectl("nodes").stdout.splitlines()
    for node in nodes:
        line = next(line for line in table if node.id[:8] in line)
        print(line)
        assert "live" in line or "online" in line, line


@pytest.mark.parametrize("years", [1, -1])
@pytest.mark.parametrize("number", [2, 1], ids=["of another", "of the observer"])
def test_clock_that_jumps(make_cluster, number, years):
    """It is the third node that speaks, and the second that observes."""
    cluster = make_cluster(3, brokers=(0, 1) if number == 2 else (0,), sysroot=True, own_clock=True)
    cluster.wait_online()
    observer, three, jumper = cluster.nodes[1], cluster.nodes[2], cluster.nodes[number]
    named = [jumper.id]  # as the two others agree
    wait_steadily(lambda: "ClockOffsetUSec" in row(observer, three), "the first heartbeat", HEARTBEAT, 0.2)
    jumper.set_clock(years * YEAR)
    rename(three, "Ada")
    if jumper is three and years > 0:
        # What is of next year is not believed, unless most clocks say so.
        wait_refused(observer, three, 0)
        assert name_at(observer, three) != "Ada"
    else:
        # That its own clock is behind the observer may know after the first word of that time, which it then asks
        # for again.
        cluster.wait_until(lambda: name_at(observer, three) == "Ada", "the new name", RESEND)
    wait_steadily(lambda: skewed(observer) == named, lambda: f"{named} among {skewed(observer)}", HEARTBEAT)
    observer.wait_presence(three, "online")
    assert_fresh(observer, cluster.nodes)
    jumper.set_clock(0)
    rename(three, "Grace")
    cluster.wait_until(lambda: name_at(observer, three) == "Grace", "the newer name", RESEND)
    wait_steadily(lambda: skewed(observer) == [], lambda: skewed(observer), HEARTBEAT)
    # Where its clock was behind, what was new meanwhile was of the future to it until the next heartbeat, and is
    # refused; all is sent again in 30 s.
    cluster.wait_digest_equal(deadline=RESEND)
