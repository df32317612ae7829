# SPDX-License-Identifier: LGPL-2.1-or-later
"""What members with a stolen key, and brokers that lie, can do to others: with real daemons at a real broker."""

import json
import time

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.node import CLUSTER, told_states
from bedlib.peer import Peer
from bedlib.waiting import wait_steadily
from fault_tools import without_plugin

pytestmark = needs_namespaces
OTHERS = ("identityd", "telemetryd", "stated")
KIND = "Node1.Identity"
ABSURD = 2 ** 53
MADE_UP = f"{1:032x}"
OFFLINE = 60
RESEND = 40
NAMED = "someone else may be using this machine's certificate"
SPOKEN_FOR = "Someone else published under the id of this machine"


def started(make_cluster, count=3, **options):
    cluster = make_cluster(count, sysroot=True, programs=(*OTHERS, "clusterd"), **options)
    cluster.wait_online()
    return cluster


def name_at(observer, node):
    return observer.records(KIND).get((node.id, KIND, ""), [{}])[-1].get("FriendlyName")


def rename(node, name):
    node.call("org.alidade.Identity1", "/org/alidade/Identity1", "org.alidade.Identity1", "SetFriendlyName", "s",
              (name,))


def row(observer, node):
    return next((found for found in observer.call(*CLUSTER, "GetNodes") if found["Id"] == node.id), {})


def status(instance, **members):
    return json.dumps({"State": "online", "Epoch": 1, "Connection": 1, "Instance": instance, **members})


def test_blinded_by_a_forged_status(make_cluster):
    """8: one status of an absurd epoch in a node's name must not outlive it, nor a record of such a stamp; the node
    itself says that somebody spoke in its name."""
    cluster = started(make_cluster)
    one, two, victim = cluster.nodes
    base = f"alidade/1/{cluster.name}/{victim.id}"
    record = json.dumps({"epoch": ABSURD, "seq": ABSURD, "updated": time.time_ns() // 1000,
                         "fields": {"FriendlyName": "forged"}})
    with Peer(victim, cluster.brokers[0]) as thief:
        absurd = status(MADE_UP, Epoch=ABSURD, Connection=ABSURD, AnnouncedEpoch=ABSURD)
        thief.publish(f"{base}/status", absurd, retain=True, qos=1)
        for kind in (KIND, "Link1.Socket/" + "f" * 32 + "_2c10_2e0_2e0_2e1"):
            thief.publish(f"{base}/{kind}", record, retain=True, qos=1)
    for observer in (one, two):
        wait_steadily(lambda node=observer: row(node, victim).get("RefusedMessages", 0) > 0, "the refusals")
    rename(victim, "Ada")
    for observer in (one, two):
        cluster.wait_until(lambda node=observer: name_at(node, victim) == "Ada", "the name that it says", RESEND)
        observer.wait_presence(victim, "online")
    victim.wait_for_property(*CLUSTER, "Problem", lambda problem: SPOKEN_FOR in problem)
    # Whoever comes later reads what the broker keeps.
    one.restart("clusterd")
    cluster.wait_until(lambda: name_at(one, victim) == "Ada", "the name at a service that starts anew", RESEND)


def test_blinded_under_its_own_instance(make_cluster):
    """8: the same in the name of the instance that lives, with the number of a connection that it never has."""
    cluster = started(make_cluster, 2)
    one, victim = cluster.nodes
    instance = victim.get(*CLUSTER, "Instance")
    topic = f"alidade/1/{cluster.name}/{victim.id}/status"
    with Peer(victim, cluster.brokers[0]) as thief:
        thief.publish(topic, status(instance, Connection=ABSURD), retain=True, qos=1)
    victim.wait_for_property(*CLUSTER, "Instance", lambda now: now != instance)
    cluster.wait_online()
    with one.log_presences() as log:
        victim.kill("clusterd")
        one.wait_presence(victim, "offline")
    # By its will at once, rather than after half a minute of silence.
    assert (victim.id, "stale") not in told_states(log)


def test_forgotten_while_it_is_silent(make_cluster):
    """12: a node that is silent for some seconds cannot be forgotten, neither here nor by another member."""
    cluster = started(make_cluster)
    one, two, member = cluster.nodes
    member.process("clusterd").stop()
    two.pause("clusterd")
    one.wait_presence(two, "stale")
    forget = json.dumps({"Epoch": ABSURD, "Sequence": ABSURD, "SentUSec": time.time_ns() // 1000})
    with Peer(member, cluster.brokers[0]) as hostile:
        hostile.publish(f"alidade/1/{cluster.name}/{member.id}/forget/{two.id}", forget, qos=1)
        refusal = one.alidadectl("forget", two.id, check=False)
        known = name_at(one, two)
    two.resume("clusterd")
    assert refusal.returncode != 0 and "not offline" in refusal.stderr
    assert known is not None
    one.wait_presence(two, "online")


@pytest.mark.parametrize("brokers", [(0,), (0, 1)], ids=["one broker", "two brokers"])
def test_forgotten_until_its_first_word(make_cluster, brokers):
    """12: what was hidden of a node is asked of the brokers with its first word. Nothing else brings it here: a client
    in its place says that it is online and not one record."""
    cluster = started(make_cluster, 3, brokers=brokers)
    one, two, gone = cluster.nodes
    rename(gone, "Ada")
    for observer in (one, two):
        cluster.wait_until(lambda node=observer: name_at(node, gone) == "Ada", "the name")
    gone.process("clusterd").stop()
    for observer in (one, two):
        observer.wait_presence(gone, "offline")
    one.alidadectl("forget", gone.id)
    for observer in (one, two):
        cluster.wait_until(lambda node=observer: name_at(node, gone) is None, "the node to be forgotten")
    with Peer(gone, cluster.brokers[0]) as voice:
        topic = f"alidade/1/{cluster.name}/{gone.id}/status"
        voice.publish(topic, status(MADE_UP, Connection=ABSURD), retain=True, qos=1)
        for observer in (one, two):
            cluster.wait_until(lambda node=observer: name_at(node, gone) == "Ada", "the name that the brokers keep")


def test_made_up_twin_at_one_broker(make_cluster):
    """13: a broker that makes up a twin puts a node off that broker only; and the node comes back by itself."""
    cluster = started(make_cluster, 3, brokers=(0, 1))
    one, two, member = cluster.nodes
    liar = cluster.brokers[1]
    rules = liar.broker.config / "alidade.acl"
    rules.write_text(rules.read_text() + "pattern readwrite #\ntopic readwrite #\n")
    (liar.broker.config / "conf.d/alidade.conf").write_text(without_plugin(liar.broker))
    liar.broker.stop()
    liar.broker.start()
    member.process("clusterd").stop()
    wait_steadily(lambda: all(state == "connected" for state in states(one)), lambda: states(one))
    twin = status(MADE_UP, Other=one.get(*CLUSTER, "Instance"))
    with two.log_presences() as log, Peer(member, liar) as forger:
        forger.publish(f"alidade/1/{cluster.name}/{one.id}/status", twin, retain=True, qos=1)
        wait_steadily(lambda: states(one) == ["connected", "refused"], lambda: states(one))
        assert one.get(*CLUSTER, "State") == "online"
        rename(one, "Ada")
        cluster.wait_until(lambda: name_at(two, one) == "Ada", "the name")
        assert not {(one.id, "duplicate"), (one.id, "offline")} & told_states(log)
    # Looked for again, as after some minutes, the made-up twin names nobody that lives.
    one.reload("clusterd")
    wait_steadily(lambda: states(one) == ["connected", "connected"], lambda: states(one))
    two.wait_presence(one, "online")


def states(node):
    return [found["State"] for found in node.call(*CLUSTER, "GetBrokers")]


def test_named_thief(make_cluster):
    """13: who connects as a node in turns with it is named, whatever it says."""
    cluster = started(make_cluster, 2)
    _, victim = cluster.nodes
    for _ in range(4):
        Peer(victim, cluster.brokers[0]).close()
        wait_steadily(victim.has_broker, "the broker")
        cluster.wait_online()
    victim.wait_for_property(*CLUSTER, "Problem",
                             lambda problem: NAMED in problem)


def test_its_twin_is_mended(make_cluster):
    """13: a node whose twin is gone comes back without a restart."""
    cluster = started(make_cluster, 2)
    one, victim = cluster.nodes
    instance = victim.get(*CLUSTER, "Instance")
    with Peer(victim, cluster.brokers[0]) as twin:
        topic = f"alidade/1/{cluster.name}/{victim.id}/status"
        twin.publish(topic, status(MADE_UP, Other=instance), retain=True, qos=1)
    victim.wait_for_property(*CLUSTER, "State", lambda state: state == "duplicate")
    one.wait_presence(victim, "duplicate")
    victim.reload("clusterd")
    victim.wait_for_property(*CLUSTER, "State", lambda state: state == "online")
    one.wait_presence(victim, "online")


@pytest.mark.parametrize("mirror", ["all", "self"])
def test_dead_after_it_joined_again(make_cluster, mirror):
    """14: leave and join, without a restart of the service, begin a new instance, so that its will counts."""
    cluster = started(make_cluster, 2, config=f"[cluster]\nmirror={mirror}\n")
    one, two = cluster.nodes
    for _ in range(2):
        one.broker.kill()
        one.broker.start()
        cluster.wait_online()
    instance = two.get(*CLUSTER, "Instance")
    drop_in = two.dir / "config/alidade.conf.d/50-cluster.conf"
    text = drop_in.read_text()
    drop_in.unlink()
    two.reload("clusterd")
    two.wait_for_property(*CLUSTER, "State", lambda state: state == "idle")
    one.wait_presence(two, "offline")
    drop_in.write_text(text)
    two.reload("clusterd")
    two.wait_for_property(*CLUSTER, "State", lambda state: state == "online")
    one.wait_presence(two, "online")
    assert two.get(*CLUSTER, "Instance") != instance
    with one.log_presences() as log:
        two.kill("clusterd")
        one.wait_presence(two, "offline", deadline=OFFLINE)
    assert (two.id, "stale") not in told_states(log)


def finding(node, name):
    return next((found for found in node.state("GetFindings") if found["Id"] == name), None)


def test_no_broker_is_reached(make_cluster):
    """15: a node that reaches no broker says so on its own screens, and that what it shows of others is old."""
    cluster = started(make_cluster, 2)
    one, two = cluster.nodes
    assert finding(two, "no-broker") is None
    two.cut()
    found = cluster.wait_until(lambda: finding(two, "no-broker"), "the finding", OFFLINE)
    assert found["Severity"] == "error" and found["Nodes"] == [two.id]
    told = "This machine cannot reach any broker of cluster bed; what it shows of other nodes is out of date."
    assert found["Text"] == told and "alidadectl cluster status" in found["Remedy"]
    for words in (["status"], ["nodes"], ["watch", "--once"]):
        shown = " ".join(two.alidadectl(*words).stdout.split())
        assert told in shown and found["Remedy"] in shown
    two.mend()
    cluster.wait_until(lambda: finding(two, "no-broker") is None, "the end of the finding", OFFLINE)
    assert finding(one, "no-broker") is None


def test_a_clock_that_is_not_set(make_cluster):
    """20: a node whose clock starts in 1970 says so; what it takes for the future comes again once that is set."""
    cluster = started(make_cluster, 3, own_clock=True)
    one, two, three = cluster.nodes
    for other in (one, two):
        other.process("clusterd").stop()
        three.wait_presence(other, "offline")
    three.set_clock(-int(time.time()) + 86400)
    one.restart("clusterd")
    cluster.wait_until(lambda: finding(three, "clock-not-set"), "the finding")
    rename(one, "Ada")
    three.wait_presence(one, "online")
    assert row(three, one)["RefusedMessages"] == 0
    three.set_clock(0)
    cluster.wait_until(lambda: name_at(three, one) == "Ada", "the name", RESEND)
    cluster.wait_until(lambda: finding(three, "clock-not-set") is None, "the end of the finding")
