# SPDX-License-Identifier: LGPL-2.1-or-later
"""How fast the state service tells of changes, who may have them faster, and what a client that stops reading does to
the others."""

import contextlib
import shutil
import socket
import time

import pytest
from gi.repository import Gio, GLib

from bedlib import wait_until
from bedlib.connection import DBUS
from bedlib.fixtures import needs_namespaces
from state_service import (CLUSTER_POLICY, LIMITS_EXCEEDED, MEBI, NOT_SUBSCRIBED, PATH, PROPERTIES, RECORDS, STATE,
                           Cluster, Wire, blob, call, fails_with, interface, local_id, memory, memory_of, node_id,
                           node_path, record, sanitized, start)

SUBSCRIBE = blob(STATE, PATH, STATE, "Subscribe")
UNSUBSCRIBE = blob(STATE, PATH, STATE, "Unsubscribe")


@pytest.fixture
def host(make_host):
    return start(make_host)


@pytest.fixture
def cluster(host):
    return Cluster(host)


# Coalescing


def test_changes_of_one_record_are_told_together(host, cluster):
    node = node_id(1)
    with host.log_signals(STATE, PATH) as added:
        cluster.take(memory(node, 0))
        added.wait(lambda signal: signal.args[0] == node_path(node))
    with host.log_signals(STATE, node_path(node), PROPERTIES, "PropertiesChanged") as log:
        cluster.take(*(memory(node, number, seq=number + 1, updated=number) for number in range(1, 501)))
        log.wait(lambda signal: signal.args[1].get("TotalBytes") == 500)
        assert [signal.args[1:] for signal in log.received] == [
            ({"TotalBytes": 500, "Revision": 501, "UpdatedUSec": 500}, [])]


def test_there_and_back_is_no_change(host, cluster):
    node = node_id(1)
    with host.log_signals(STATE) as log:
        cluster.take(memory(node, 1))
        log.wait(lambda signal: signal.args[0] == node_path(node))
        cluster.take(memory(node, 2, seq=2), memory(node, 1, seq=3, updated=33),
                     memory(node_id(2)), record(node_id(2), seq=2, deleted=True), memory(node_id(3)))
        log.wait(lambda signal: signal.args[0] == node_path(node_id(3)))
        log.wait(lambda signal: signal.path == node_path(node))
    # Its revision has counted both.
    assert [signal.args for signal in log.received if signal.path == node_path(node)] == [
        (interface("Node1.Memory"), {"Revision": 3, "UpdatedUSec": 33}, [])]
    assert not [signal for signal in log.received if signal.args[0] == node_path(node_id(2))]


# The rate

# So many beyond what may go at once take longer than a second at 200 a second, and a tenth of it at 2000.
MANY, AT_ONCE = 304, 64
SLOWLY = (MANY - AT_ONCE) / 200


def time_to_tell(host, cluster, seq):
    """Seconds from the change of many records to the last signal."""
    with host.log_signals(STATE, None, PROPERTIES, "PropertiesChanged", interface("Node1.Memory")) as log:
        begin = time.monotonic()
        cluster.take(*(memory(node_id(n), seq, seq=seq) for n in range(1, MANY + 1)))
        wait_until(lambda: len(log.received) >= MANY, "all signals")
        taken = time.monotonic() - begin
        assert {signal.path for signal in log.received} == {node_path(node_id(n)) for n in range(1, MANY + 1)}
        assert len(log.received) == MANY
    return taken


def is_told_fast(host, cluster, numbers):
    """Once is enough, for this machine may have other things to do; what is slow never is faster."""
    return any(time_to_tell(host, cluster, number) < SLOWLY for number in numbers)


def test_subscribers_are_told_faster(host, cluster):
    with Wire(host) as subscriber:
        subscriber.call(SUBSCRIBE)
        with host.objects(STATE, PATH) as tree:
            cluster.take(*(memory(node_id(n)) for n in range(1, MANY + 1)))
            tree.wait(lambda objects: len(objects) == MANY)
        assert is_told_fast(host, cluster, range(10, 20))
        subscriber.call(UNSUBSCRIBE)
        assert time_to_tell(host, cluster, 20) > 0.9 * SLOWLY
        subscriber.call(SUBSCRIBE)
        assert is_told_fast(host, cluster, range(30, 40))
    # Its connection ended; that is as good as a word.
    with host.log_signals(*DBUS, "NameOwnerChanged", subscriber.unique_name) as log:
        if host.connection().owner(subscriber.unique_name):
            log.wait()
    assert time_to_tell(host, cluster, 40) > 0.9 * SLOWLY


def test_ten_thousand_subscriptions_of_one_are_one(host):
    hundred = b"".join(blob(STATE, PATH, STATE, "Subscribe", serial=serial) for serial in range(1, 101))
    with Wire(host) as subscriber:
        for _ in range(100):
            subscriber.send(hundred)
            for _ in range(100):
                assert subscriber.reply() is None
        subscriber.call(UNSUBSCRIBE)
        with fails_with(NOT_SUBSCRIBED):
            subscriber.call(UNSUBSCRIBE)


def test_unsubscribing_without_subscribing(host):
    with fails_with(NOT_SUBSCRIBED):
        call(host, "Unsubscribe")
    with Wire(host) as other:
        other.call(SUBSCRIBE)
        with fails_with(NOT_SUBSCRIBED):
            call(host, "Unsubscribe")


def test_three_hundred_subscribers(make_host):
    host = start(make_host, bus_policy='<limit name="max_connections_per_user">1000</limit>')
    with contextlib.ExitStack() as stack:
        everyone = [stack.enter_context(Wire(host)) for _ in range(300)]
        for one in everyone[:256]:
            one.call(SUBSCRIBE)
        for one in everyone[256:]:
            with fails_with(LIMITS_EXCEEDED):
                one.call(SUBSCRIBE)
        everyone[0].call(SUBSCRIBE)
        # Room for as many as leave, by a word or without.
        everyone[0].call(UNSUBSCRIBE)
        everyone[299].call(SUBSCRIBE)
        with host.log_signals(*DBUS, "NameOwnerChanged", everyone[1].unique_name) as log:
            everyone[1].close()
            log.wait()
        assert local_id(host)
        everyone[298].call(SUBSCRIBE)
        with fails_with(LIMITS_EXCEEDED):
            everyone[297].call(SUBSCRIBE)


# A client that stops reading



class Deaf(Wire):
    """Asks for every signal, and reads none."""

    def __init__(self, host, user=None):
        super().__init__(host, user)
        self.call(blob(*DBUS, "AddMatch", GLib.Variant("(s)", ("type='signal'",))))


class Flood:
    """Changes without end, brought by the cluster service, each as large as it may be. It goes on whoever is the state
    service now, and has it started where it is not."""

    NODES = 8

    def __init__(self, host):
        self.cluster = Cluster(host)
        self.running = True
        self._calls = [self._call(text) for text in ("x" * 1000, "y" * 1000)]
        self._seq = 0
        self._send()

    @staticmethod
    def _call(text):
        interfaces = [{"Id": f"eth{n}", "Addresses": [text] * 20} for n in range(10)]
        return [record(node_id(n), "Node1.Network", Interfaces=interfaces) for n in range(1, Flood.NODES + 1)]

    def _send(self):
        self._seq += 1
        records = [(*found[:4], self._seq, *found[5:]) for found in self._calls[self._seq % 2]]
        self.cluster.connection.gio.call(STATE, PATH, STATE, "PutRecords", GLib.Variant(f"({RECORDS})", (records,)),
                                         None, 0, 60_000, None, self._answered)

    def _answered(self, connection, result):
        with contextlib.suppress(GLib.Error):
            connection.call_finish(result)
        if self.running:
            self._send()


class Faithful:
    """An ordinary client that watches one node, and notes what it is told."""

    def __init__(self, host):
        self.host = host
        self.log = host.log_signals(STATE, node_path(node_id(1)), PROPERTIES, "PropertiesChanged")

    def wait(self, deadline=10):
        """News that come from now on."""
        self.log.received.clear()
        self.log.wait(deadline=deadline)


def test_a_client_that_stops_reading_costs_the_others_a_restart_at_most(make_host):
    """The bus would hold 127 MiB for it, and then read nothing more of the state service, for ever."""
    host = make_host(sysroot=True, activation=["stated"], bus_policy=CLUSTER_POLICY)
    assert local_id(host)
    first, faithful = host.activated("stated"), Faithful(host)
    with Deaf(host, "nobody" if host.isolated else None), Wire(host) as subscriber, \
            host.log_signals(*DBUS, "NameOwnerChanged", STATE) as owners:
        subscriber.call(SUBSCRIBE)
        flood = Flood(host)
        faithful.wait()
        owners.wait(lambda change: change.args[2] == "", deadline=30)
        assert first.expect_exit() == 1
        assert "a client has stopped reading" in first.log_text()
        owners.wait(lambda change: change.args[2] != "")
        second = host.activated("stated")
        assert second.pid != first.pid
        for _ in range(3):
            faithful.wait()
        assert sanitized() or memory_of(second) < 64 * MEBI
        flood.running = False
    assert local_id(host)


def test_a_bus_that_reads_nothing_more_is_left(make_host):
    """With a smaller limit it comes to that; the bus then does not even see who leaves, so only leaving is tested."""
    host = start(make_host, bus_policy=CLUSTER_POLICY + '<limit name="max_incoming_bytes">131072</limit>')
    assert local_id(host)
    with Deaf(host):
        Flood(host).running = False
        host.daemons[-1].expect_exit(1, deadline=20)
    assert "The bus reads no more: it hangs, or it holds too much" in host.daemons[-1].log_text()
    assert sanitized() or "MiB" not in host.daemons[-1].log_text()


class Broker:
    """A dbus-broker on the machine of a host, to stand in the place of its bus; it starts nobody."""

    name = "broker"

    def __init__(self, host):
        self.socket = host.dir / "broker"
        self.address = f"unix:path={self.socket}"
        config = host.dir / "broker.conf"
        config.write_text(host.bus.config.read_text().replace(str(host.bus.socket), str(self.socket)))
        # It insists on a journal.
        host.run(["mkdir", "-p", "/run/systemd/journal"])
        self._journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._journal.bind(str(host.root / "run/systemd/journal/socket"))
        monitor = Gio.File.new_for_path(str(host.dir)).monitor_directory(Gio.FileMonitorFlags.NONE)
        monitor.set_rate_limit(0)
        monitor.connect("changed", lambda *_: None)  # wakes who waits
        host.spawn(["systemd-socket-activate", "-E", "DBUS_SYSTEM_BUS_ADDRESS", "-l", self.socket,
                    "dbus-broker-launch", f"--config-file={config}", "--scope=system"])
        wait_until(self.socket.exists, "the socket of dbus-broker")
        host.run(["chmod", "666", self.socket])

    def remove_services(self):
        """As those of the bed's own bus when its daemons are to stop."""

    def close(self):
        self._journal.close()


@needs_namespaces
@pytest.mark.skipif(not all(map(shutil.which, ("dbus-broker-launch", "systemd-socket-activate"))),
                    reason="dbus-broker is not installed")
def test_dbus_broker_ends_who_stops_reading(make_host):
    host = make_host(sysroot=True, bus_policy=CLUSTER_POLICY)
    host.bus = broker = Broker(host)
    daemon = host.start_daemon("stated")
    faithful = Faithful(host)
    with Deaf(host, "nobody") as deaf, Wire(host) as subscriber, \
            host.log_signals(*DBUS, "NameOwnerChanged", deaf.unique_name) as gone:
        subscriber.call(SUBSCRIBE)
        flood = Flood(host)
        gone.wait(deadline=30)
        for _ in range(3):
            faithful.wait()
        flood.running = False
        assert daemon.poll() is None
    assert local_id(host)
    broker.close()
