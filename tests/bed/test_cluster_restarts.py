# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes and daemons that die, fall silent, start anew, are installed anew or are forgotten."""

import shutil

import pytest

from bedlib import BusError
from bedlib.fixtures import needs_namespaces
from bedlib.node import CLUSTER, told_states
from fault_tools import (IDENTITY, LONG, NETWORK, SOCKET, has_link, joins_late, known, measured, name_at,
                         quiet, rename, retained_topics, see, set_link, standby_was_used, wait_link,
                         wait_name, wait_same)

pytestmark = needs_namespaces
HOUR = 3600
ANNOUNCED = 60.0  # 35 s after the last start of a state service, and a busy machine
DAEMONS = ("identityd", "telemetryd", "stated", "clusterd")


@pytest.fixture
def trio(make_cluster):
    cluster = quiet(make_cluster)
    cluster.wait_online()
    return cluster


def epoch_at(observer, node, kind=IDENTITY):
    return observer.records(kind)[node.id, kind, ""][0]


def installed_anew(node):
    """All that the daemons kept is gone; the machine's id and its certificates are the same."""
    for daemon in node.daemons:
        if daemon.poll() is None:
            daemon.kill()
    for program in DAEMONS:
        shutil.rmtree(node.state_directory(program))
    for program in DAEMONS:
        node.restart(program)


def test_a_node_that_dies_and_one_that_falls_silent(trio):
    one, two, three = trio.nodes
    with measured("a silent node shown as stale", 4):
        see(one, three, "stale", three.cut)
    # No broker beside it tells it of the end of the others.
    three.wait_presence(one, "stale")
    see(one, three, "offline")
    assert one.presence(two) != "offline" and three.presence(one) == "stale"
    three.mend()
    trio.wait_online(deadline=LONG)
    trio.wait_digest_equal()
    with measured("the death of a node shown as offline", 0.5):
        see(one, three, "offline", three.crash)
    see(two, three, "offline")
    assert name_at(one, three) == name_at(two, three) == "bed"
    assert "offline" not in (one.presence(two), two.presence(one))


def test_the_cluster_service_dies(trio):
    """On a node that watches and is watched: it is away for a moment, and nothing is lost or left."""
    one, two, three = trio.nodes
    set_link(three, one)
    wait_link(trio, three, one)
    see(one, three, "offline", lambda: three.kill("clusterd"))
    rename(three, "Ada")
    rename(two, "Grace")
    trio.wait_until(lambda: three.presence(one) == "unknown", "nobody judges it there")
    see(one, three, "online", lambda: three.restart("clusterd"))
    trio.wait_online()
    wait_name(trio, three, "Ada")
    wait_name(trio, two, "Grace")
    wait_same(trio)


def test_the_state_service_dies(trio):
    """Whoever it watched for has the whole map again; its own records come again, those deleted do not."""
    one, two, three = trio.nodes
    set_link(three, one)
    set_link(two, one)
    wait_link(trio, three, one)
    wait_link(trio, two, one)
    trio.wait_digest_equal()
    before, epoch = known(two), epoch_at(one, three)
    with two.log_presences() as log:
        three.kill("stated")
        three.restart("stated")
        trio.wait_until(lambda: epoch_at(two, three) > epoch, "records of the new epoch", LONG)
        trio.wait_online()
        wait_same(trio)
        assert known(three).keys() == before.keys()
        assert (three.id, "offline") not in told_states(log)
    # The presences that it had are told anew.
    three.wait_presence(two, "online")
    set_link(three, one, there=False)
    wait_link(trio, three, one, there=False)
    three.kill("stated")
    three.restart("stated")
    wait_name(trio, three, "bed")
    wait_same(trio)
    assert has_link(three, two, one) and not has_link(two, three, one)


def lose_state(node, clock):
    """Its state service alone starts anew, without what it kept and by another clock."""
    node.kill("stated")
    node.set_clock(clock)
    shutil.rmtree(node.state_directory("stated"))
    node.restart("stated")


def findings_about(observer, node):
    return {row["Id"] for row in observer.state("GetFindings") if node.id in row["Nodes"]}


def test_the_state_service_loses_its_state_with_a_clock_behind(make_cluster):
    """Its cluster service, which lives on, knows the newest stamp: the node goes beyond it, and its changes count."""
    cluster = quiet(make_cluster, own_clock=True)
    cluster.wait_online()
    one, _, three = cluster.nodes
    wait_same(cluster)
    epoch = epoch_at(one, three)
    lose_state(three, -HOUR)
    cluster.wait_until(lambda: epoch_at(one, three) > epoch, "records of a newer epoch", LONG)
    rename(three, "Ada")
    wait_name(cluster, three, "Ada")
    cluster.wait_online()
    wait_same(cluster)
    assert all("node-records-old" not in findings_about(observer, three) for observer in cluster.nodes)


def test_a_clock_that_was_days_ahead(make_cluster):
    """Nobody believes records of an epoch two days ahead, so there is nothing to go beyond once the clock is right."""
    cluster = quiet(make_cluster, own_clock=True)
    cluster.wait_online()
    one, _, three = cluster.nodes
    lose_state(three, 48 * HOUR)
    rename(three, "Ada")
    cluster.wait_until(lambda: name_at(three, three) == "Ada", "its own name", LONG)
    assert name_at(one, three) != "Ada"
    lose_state(three, 0)
    rename(three, "Grace")
    wait_name(cluster, three, "Grace")
    cluster.wait_online()
    wait_same(cluster)
    assert all("node-records-old" not in findings_about(observer, three) for observer in cluster.nodes)


def test_the_telemetry_dies(trio):
    one, two, three = trio.nodes
    wait_same(trio)
    before = known(one)
    three.kill("telemetryd")
    three.sysroot.write("proc/meminfo", "MemTotal: 4096 kB\nMemAvailable: 1024 kB\n")
    assert known(one).keys() == before.keys()
    three.restart("telemetryd")

    def total(observer):
        return observer.state("GetMemories")[three.id]["TotalBytes"]

    trio.wait_until(lambda: total(one) == total(two) == 4096 * 1024, "the new size of its memory", LONG)
    wait_same(trio)


@pytest.mark.parametrize("missing, kind", [("telemetryd", IDENTITY), ("identityd", NETWORK)])
def test_installed_anew_with_a_clock_behind(make_cluster, missing, kind):
    """Its first epoch is older than those that it had, of which the brokers keep two: it goes beyond both."""
    cluster = quiet(make_cluster, own_clock=True)
    cluster.wait_online()
    one, _, three = cluster.nodes
    wait_same(cluster)

    def wait_newer(epoch):
        return cluster.wait_until(lambda: epoch_at(one, three, kind) > epoch and epoch_at(one, three, kind),
                                  f"{kind} of a newer epoch", LONG)

    three.kill(missing)
    first = epoch_at(one, three, kind)
    three.restart("stated")
    second = wait_newer(first)
    assert first in {row[0] for place, row in one.records().items() if place[0] == three.id}
    three.set_clock(-HOUR)
    installed_anew(three)
    wait_newer(second)
    cluster.wait_online()
    wait_same(cluster)
    for node in cluster.nodes:
        assert node.get(*CLUSTER, "State") == "online"


def test_after_35_quiet_seconds_all_know_the_same(trio):
    """Every daemon of every node is started anew while records flow. One node is installed anew on the way
    and no longer has what it had measured, and another measures nothing any more. No broker keeps that."""
    one, two, three = trio.nodes
    set_link(three, one)
    set_link(two, one)
    wait_link(trio, three, one)
    wait_link(trio, two, one)
    standby_was_used(trio)
    names = iter(range(100))
    for program in DAEMONS:
        for node in trio.nodes:
            node.restart(program)
            for other in trio.nodes:
                if other.process("identityd").poll() is None:
                    rename(other, f"{other.name} {next(names)}")
    rename(three, "Ada")
    wait_name(trio, three, "Ada")
    trio.wait_until(lambda: has_link(one, three, one) and (two.id, NETWORK, "") in known(one),
                    "what is to go at node1", LONG)
    two.process("telemetryd").stop()
    two.restart("stated")
    installed_anew(three)
    rename(three, "Grace")
    wait_name(trio, three, "Grace")
    trio.wait_digest_equal(deadline=ANNOUNCED)
    for observer in trio.nodes:
        assert not has_link(observer, three, one) and has_link(observer, two, one)
        assert (two.id, NETWORK, "") not in known(observer)
    before = known(one)
    one.process("clusterd").stop()
    gone = (f"{three.id}/{SOCKET}", f"{two.id}/{NETWORK}")
    for broker in trio.brokers:
        trio.wait_until(lambda: not any(topic.startswith(gone) for topic in retained_topics(trio, broker)),
                        f"the end of what is gone at {broker.name}")
        assert f"{two.id}/{IDENTITY}" in retained_topics(trio, broker)
    one.restart("stated")
    one.restart("clusterd")
    trio.wait_online()
    wait_same(trio)
    assert known(one).keys() == before.keys()


def test_forgotten_until_it_speaks(make_cluster):
    """A node goes and is forgotten; who forgot it goes, too; others start anew or come late."""
    cluster = quiet(make_cluster, 4, programs=("identityd", "telemetryd", "stated"))
    one, two, three, four = cluster.nodes
    living = [one, two]
    for node in (one, two, three):
        node.start_daemon("clusterd")
    cluster.wait_online([one, two, three])
    set_link(three, one)
    set_link(two, three)
    wait_link(cluster, three, one, observers=living)
    wait_link(cluster, two, three, observers=living)
    with pytest.raises(BusError, match="NodeOnline"):
        one.call(*CLUSTER, "Forget", "s", (three.id,))
    three.process("clusterd").stop()
    for observer in living:
        observer.wait_presence(three, "offline")
    one.alidadectl("forget", three.id)

    def hidden(*observers):
        cluster.wait_until(lambda: all(three.id not in {place[0] for place in known(observer)} and
                                       observer.presence(three) is None for observer in observers),
                           "nothing of the forgotten node", LONG)

    hidden(*living)
    for program in ("stated", "clusterd"):
        for observer in living:
            observer.restart(program)
        cluster.wait_online(living)
        hidden(*living)
    four.start_daemon("clusterd")
    cluster.wait_online([one, two, four])
    cluster.wait_until(lambda: known(four).keys() >= known(one).keys(), "the map of who comes late", LONG)
    hidden(one, two, four)
    one.process("clusterd").stop()
    two.wait_presence(one, "offline")
    three.start_daemon("clusterd")
    cluster.wait_online([two, three, four])
    wait_link(cluster, three, one, observers=[two, four])
    joins_late(four)
    cluster.wait_online([two, three, four])
    wait_link(cluster, three, one, observers=[four])
    wait_same(cluster, two, three, four)
    one.start_daemon("clusterd")
    cluster.wait_online()
    wait_link(cluster, three, one)
    wait_same(cluster)
