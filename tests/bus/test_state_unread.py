# SPDX-License-Identifier: LGPL-2.1-or-later
"""Local users who call the state service and do not read its answers."""

import contextlib

import pytest
from gi.repository import Gio, GLib

from bedlib import BusError, wait_until
from bedlib.fixtures import needs_namespaces
from dbus_broker import BUSES, DBusBroker
from state_service import (CLUSTER_POLICY, DBUS, LIMITS_EXCEEDED, OBJECT_MANAGER, PATH, PROPERTIES, STATE, Batches,
                           Wire, WireCluster, blob, call, fails_with, get, local_id, managed, record, start)

pytestmark = needs_namespaces

NODES = 900
CALLS = 20
# More than may wait or be refused in words.
DROPPED, BATCH = 8000, 400
PROFILES, PENDING_MAX = 1200, 3000


def networks(node):
    """Some 10 KiB."""
    interfaces = [{"Id": f"eth{n}", "Addresses": ["x" * 900]} for n in range(10)]
    return [record(node, "Node1.Network", Interfaces=interfaces)]


def fill(host):
    """So many nodes that one GetManagedObjects() is near what a reply may hold."""
    batches = Batches(networks, 100)
    with WireCluster(host) as cluster:
        for batch in range(NODES // 100):
            assert cluster.put(batches.message(batch + 1)) == (100, 0)


def objects(serial=1):
    return blob(STATE, PATH, OBJECT_MANAGER, "GetManagedObjects", serial=serial)


def flood(wire):
    wire.send(b"".join(objects(serial) for serial in range(2, 2 + CALLS)))


def is_answered(host):
    try:
        return len(managed(host, user="nobody")) == NODES
    except BusError as error:
        assert error.name == LIMITS_EXCEEDED
        return False


@pytest.mark.parametrize("bus", BUSES)
def test_answers_that_nobody_reads_harm_nobody_else(make_host, bus):
    """Issue 12, item 2: three connections of one user, 20 GetManagedObjects() each, at 900 nodes."""
    host = make_host(sysroot=True, bus_policy=CLUSTER_POLICY)
    if bus == "dbus-broker":
        host.bus = DBusBroker(host)
    daemon = host.start_daemon("stated")
    fill(host)
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            flood(stack.enter_context(Wire(host, "nobody")))
        for _ in range(5):
            assert len(managed(host)) == NODES
        if bus == "dbus-daemon":
            with fails_with(LIMITS_EXCEEDED):
                managed(host, user="nobody")
        # Others are not concerned, nor is this user once what it left has gone.
        assert len(managed(host, user="alidade-telemetry")) == NODES
    wait_until(lambda: is_answered(host), "an answer after the unread ones have gone")
    assert daemon.poll() is None


def test_calls_that_get_no_answer_leave_nothing_at_the_bus(make_host):
    """The bus searches the calls without an answer at each call of anybody: 100000 of them stopped it."""
    limit = f'<limit name="max_replies_per_connection">{PENDING_MAX}</limit>'
    host = make_host(sysroot=True, bus_policy=CLUSTER_POLICY + limit)
    host.start_daemon("stated")
    fill(host)
    numbers = range(10_000, 10_000 + DROPPED)
    question = blob(STATE, PATH, PROPERTIES, "Get", GLib.Variant("(ss)", (STATE, "Nodes")), serial=2)
    with Wire(host, "nobody") as slow, Wire(host, "daemon") as other:
        flood(slow)
        # One map of all, and this, are more than one user may leave unread.
        profile = GLib.Variant("(s)", (Batches.node(1, 0),))
        slow.send(b"".join(blob(STATE, PATH, STATE, "GetProfile", profile, serial=serial)
                           for serial in range(100, 100 + PROFILES)))
        for first in numbers[::BATCH]:
            slow.send(b"".join(blob(STATE, PATH, STATE, "Subscribe", serial=serial)
                               for serial in range(first, first + BATCH)))
            assert other.call(question).unpack() == (NODES + 1,)
        slow.send(blob(*DBUS, "GetId", serial=9))
        refused = set()
        while True:
            message = slow.message()
            if message.get_reply_serial() == 9 and message.get_sender() == DBUS[0]:
                break
            if message.get_message_type() == Gio.DBusMessageType.ERROR:
                refused.add((message.get_sender() == DBUS[0], message.get_error_name()))
    assert refused == {(False, LIMITS_EXCEEDED)}


def test_who_has_read_is_answered_again(make_host):
    """Issue 12, item 2: refused until it has read, and no longer."""
    host = start(make_host)
    fill(host)
    with Wire(host, "nobody") as slow:
        flood(slow)
        # Some are answered, as many as may be unread; the others are refused, and none is lost.
        outcomes = []
        for _ in range(CALLS):
            try:
                outcomes.append(len(slow.reply().unpack()[0]))
            except BusError as error:
                outcomes.append(error.name)
        assert set(outcomes) <= {NODES, LIMITS_EXCEEDED} and NODES in outcomes
        for _ in range(5):
            assert len(slow.call(objects()).unpack()[0]) == NODES


def test_many_small_answers_are_no_flood(make_host):
    """What may be unread is confirmed by the bus before anybody is refused."""
    host = start(make_host)
    assert local_id(host)
    questions = [blob(STATE, PATH, PROPERTIES, "GetAll", GLib.Variant("(s)", (STATE,)), serial=serial)
                 for serial in range(1, 101)]
    with Wire(host, "nobody") as busy:
        for _ in range(5):
            for question in questions:
                assert busy.call(question)
        for _ in range(20):
            busy.send(b"".join(questions))
            for _ in questions:
                assert busy.reply()


def test_four_users_leave_room_for_root(make_host):
    """Issue 12, item 2: 64 MiB in all; root and the service's sources go on, small answers reach everybody."""
    host = start(make_host)
    fill(host)
    with contextlib.ExitStack() as stack:
        for user in ("nobody", "daemon", "bin", "games", "man", "mail", "news"):
            flood(stack.enter_context(Wire(host, user)))
        for _ in range(3):
            assert len(managed(host)) == NODES
        assert get(host, "Nodes") >= NODES
        assert call(host, "GetFindings", user="alidade-telemetry") is not None
    assert host.daemons[-1].poll() is None
