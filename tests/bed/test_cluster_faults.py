# SPDX-License-Identifier: LGPL-2.1-or-later
"""Brokers that die, hang, forget, remember too much or are out of reach; and what nodes then know."""

import time

import pytest

from bedlib import network
from bedlib.fixtures import needs_namespaces
from bedlib.node import told_states
from fault_tools import (LONG, add_interface, has_link, joins_late, keep_values, known, measured, quiet,
                         rename, set_link, wait_broker, wait_interface, wait_link, wait_name, wait_same)

pytestmark = needs_namespaces
SAVING = ("autosave_interval 1", "autosave_on_changes true")
ALONE = ("identityd", "telemetryd", "stated")


@pytest.fixture
def trio(make_cluster):
    cluster = quiet(make_cluster)
    cluster.wait_online()
    return cluster


def test_the_standby_knows_all(make_cluster):
    """The third node hears of the others by the standby alone."""
    cluster = quiet(make_cluster, programs=ALONE)
    one, two, three = cluster.nodes
    set_link(one, two)
    for node in (one, two):
        node.start_daemon("clusterd")
    cluster.wait_online([one, two])
    wait_link(cluster, one, two, observers=[two])
    first, _ = cluster.brokers
    first.broker.kill()
    with measured("the whole map from the standby, its reader's start included", 1):
        three.start_daemon("clusterd")
        cluster.wait_until(lambda: known(two).keys() <= known(three).keys(), "the whole map", LONG)
    cluster.wait_digest_equal()
    cluster.wait_online()


def test_who_was_stopped_itself_takes_nobody_for_offline(trio):
    """It has heard nobody for longer than makes a node offline, but did not listen."""
    one, two, _ = trio.nodes
    with two.log_presences() as log:
        two.pause("clusterd")
        resumed = time.monotonic() + 33
        trio.wait_until(lambda: time.monotonic() > resumed, "half a minute", LONG)
        two.resume("clusterd")
        wait_broker(trio, two, trio.brokers[0], "connected")
        one.wait_presence(two, "online")
        trio.wait_online()
        assert {state for _, state in told_states(log)} <= {"stale", "online"}


def test_a_broker_that_hung_has_nothing_newer(trio):
    """What it held back when it stopped comes late, and is old."""
    one, two, three = trio.nodes
    set_link(one, three)
    wait_link(trio, one, three)
    trio.brokers[0].broker.pause()
    rename(one, "Ada")
    set_link(one, three, there=False)
    wait_link(trio, one, three, there=False)
    wait_name(trio, one, "Ada")
    trio.brokers[0].broker.resume()
    for node in trio.nodes:
        wait_broker(trio, node, trio.brokers[0], "connected")
    joins_late(two)
    trio.wait_online(deadline=LONG)
    trio.wait_digest_equal()
    assert known(two) == known(one) and not has_link(two, one, three)


@pytest.mark.parametrize("brokers", [(0,), (0, 1)], ids=["alone", "with a standby"])
def test_a_broker_with_old_values(make_cluster, brokers):
    """It comes back with all that it had kept, while nodes changed, deleted and went."""
    cluster = quiet(make_cluster, 4, brokers)
    one, two, three, four = cluster.nodes
    keep_values(one)
    cluster.wait_online()
    set_link(two, one)
    add_interface(two, "gone0")
    wait_link(cluster, two, one)
    wait_interface(cluster, two, "gone0")
    one.broker.stop()
    four.process("clusterd").stop()
    set_link(two, one, there=False)
    network.delete_link(two, "gone0")
    wait_interface(cluster, two, "gone0", there=False, observers=[two])
    rename(two, "Ada")
    wait_name(cluster, two, "Ada", observers=[two])
    one.broker.start()
    living = [one, two, three]
    cluster.wait_online(living, deadline=LONG)
    joins_late(three)
    cluster.wait_online(living, deadline=LONG)
    wait_same(cluster, one, two, three)
    assert not has_link(three, two, one)
    for observer in living:
        observer.wait_presence(four, "offline", deadline=LONG)


def test_a_broker_that_lost_all(make_cluster):
    """The only one, restarted empty, is told all again."""
    cluster = quiet(make_cluster, brokers=(0,))
    one, two, three = cluster.nodes
    cluster.wait_online()
    set_link(two, three)
    wait_link(cluster, two, three)
    one.broker.kill()
    one.broker.forget()
    one.broker.start()
    cluster.wait_online(deadline=LONG)
    joins_late(three)
    cluster.wait_online(deadline=LONG)
    wait_same(cluster)
    assert has_link(three, two, three)


def test_a_broker_whose_disk_is_full(trio):
    """It cannot save any more, and passes on all the same."""
    one, two, three = trio.nodes
    broker = one.broker
    one.run(["mount", "-t", "tmpfs", "-o", "size=4k,mode=0777", "tmpfs", "/var/lib/mosquitto"])
    keep_values(one, *SAVING)
    for node in trio.nodes:
        wait_broker(trio, node, one, "connected")
    with two.log_presences() as log:
        rename(three, "Ada")
        wait_name(trio, three, "Ada")
        trio.wait_until(lambda: "No space left" in broker.process.log_text(), "the full disk", LONG)
        rename(three, "Grace")
        wait_name(trio, three, "Grace")
        # What it has half-written keeps it from starting again, until there is room.
        broker.kill()
        rename(three, "Alan")
        wait_name(trio, three, "Alan")
        assert "offline" not in {state for _, state in told_states(log)}
    one.run(["umount", "/var/lib/mosquitto"])
    broker.start()
    trio.wait_online(deadline=LONG)
    trio.wait_digest_equal()


@pytest.mark.parametrize("brokers, number", [((0, 1), 2), ((1, 2), 0)], ids=["the third", "the first"])
def test_nobody_goes_offline_without_the_standby(make_cluster, brokers, number):
    """A node does not reach the standby any more, which publishes its will."""
    cluster = quiet(make_cluster, brokers=brokers)
    cluster.wait_online()
    cut, standby = cluster.nodes[number], cluster.brokers[1]
    one, two = (node for node in cluster.nodes if node is not cut)
    with one.log_presences() as seen, two.log_presences() as seen_too:
        network.ip(cut, "route", "add", "blackhole", standby.address)
        network.ip(standby, "route", "add", "blackhole", cut.address)
        wait_broker(cluster, cut, standby, "unreachable")
        rows = cut.call("org.alidade.Cluster1", "/org/alidade/Cluster1", "org.alidade.Cluster1", "GetBrokers")
        assert any("a route of this machine discards" in row.get("Problem", "") for row in rows), rows
        cluster.wait_until(lambda: f"Client {cut.id} has exceeded timeout" in standby.broker.process.log_text(),
                           "the end of the connection to the standby", LONG)
        rename(cut, "Ada")
        wait_name(cluster, cut, "Ada")
        assert (cut.id, "offline") not in told_states(seen) | told_states(seen_too)
    cluster.wait_online([one, two, cut])
    for node, other in ((cut, standby), (standby, cut)):
        network.ip(node, "route", "delete", "blackhole", other.address)
    wait_broker(cluster, cut, standby, "connected")
    cluster.wait_digest_equal()


def test_alone_without_brokers(trio):
    one, two, three = trio.nodes
    set_link(one, three)
    wait_link(trio, one, three)
    for node in trio.brokers:
        node.broker.kill()
    for node in trio.nodes:
        node.wait_presence(one if node is three else three, "stale")
        assert "stale" in node.alidadectl("nodes").stdout
    rename(three, "Ada")
    set_link(one, three, there=False)
    for node in trio.brokers:
        node.broker.forget()
        node.broker.start()
    trio.wait_online(deadline=LONG)
    wait_name(trio, three, "Ada")
    wait_link(trio, one, three, there=False)
    trio.wait_digest_equal()


def test_what_was_deleted_in_a_partition_stays_deleted(trio):
    """Either side has a broker, so that either goes on by itself."""
    one, two, three = trio.nodes
    set_link(one, three)
    set_link(three, one)
    add_interface(three, "gone0")
    wait_link(trio, one, three)
    wait_link(trio, three, one)
    wait_interface(trio, three, "gone0")
    trio.partition([one], [two, three])
    one.wait_presence(three, "stale")
    three.wait_presence(one, "stale")
    set_link(one, three, there=False)
    set_link(three, one, there=False)
    network.delete_link(three, "gone0")
    rename(one, "Ada")
    rename(three, "Grace")
    wait_name(trio, three, "Grace", observers=[two])
    assert has_link(two, one, three)
    trio.heal()
    trio.wait_online(deadline=LONG)
    for observer in (two, one):
        joins_late(observer)
        trio.wait_online(deadline=LONG)
        wait_same(trio)
    assert not has_link(two, one, three) and not has_link(one, three, one)
    wait_name(trio, one, "Ada")
    wait_name(trio, three, "Grace")
    wait_interface(trio, three, "gone0", there=False)
    trio.wait_digest_equal()
