# SPDX-License-Identifier: LGPL-2.1-or-later
"""Callers whose user is not known yet: those that leave the bus before their call is handled, about whom each service
asks once, and those that call very often at once."""

import collections
import contextlib
import signal

import pytest
from gi.repository import Gio, GLib

from bedlib import BusError, wait_until
from bedlib.connection import DBUS
from bedlib.fixtures import needs_namespaces
from bedlib.services import SERVICES
from state_service import CLUSTER_POLICY, LIMITS_EXCEEDED, Wire, blob

pytestmark = needs_namespaces

CALLERS = 200
GREEDY, GREEDY_CALLS = 10, 300
# How often a busy loop could ask again.
ROUNDS = 20
QUESTIONS = ("GetConnectionUnixUser", "GetConnectionStats")
MARK = "GetId"


class QuestionLog:
    """Sees what the services ask the bus about its clients."""

    def __init__(self, host):
        self._wire = Wire(host)
        self._fence = host.connection().fence
        rules = [f"type='method_call',destination='{DBUS[0]}',member='{member}'" for member in (*QUESTIONS, MARK)]
        self._wire.call(blob(DBUS[0], DBUS[1], "org.freedesktop.DBus.Monitoring", "BecomeMonitor",
                             GLib.Variant("(asu)", (rules, 0))))

    def until_now(self):
        """Counter of the names asked about since the last time."""
        self._fence()
        found = collections.Counter()
        while True:
            message = self._wire.message()
            if message.get_message_type() != Gio.DBusMessageType.METHOD_CALL:
                continue
            if message.get_member() == MARK:
                return found
            found[message.get_arg0()] += 1

    def close(self):
        self._wire.close()


class Callers:
    """Many connections of one user that call a service."""

    def __init__(self, host, service):
        self._host, self._service = host, service
        self._wires = [Wire(host, "nobody") for _ in range(CALLERS)]
        self.names = {wire.unique_name for wire in self._wires}

    def _question(self, serial):
        return blob(self._service.bus_name, "/", "org.freedesktop.DBus.Peer", "Ping", serial=serial)

    def call(self):
        for wire in self._wires:
            wire.send(self._question(2))

    def call_and_leave(self):
        for wire in self._wires:
            wire.send(self._question(2))
            wire.close()

    def be_answered(self):
        for wire in self._wires:
            wire.call(self._question(3))

    def leave(self):
        for wire in self._wires:
            wire.close()

    def wait_gone(self):
        def is_gone():
            return self.names.isdisjoint(self._host.connection().call_bus("ListNames"))

        wait_until(is_gone, "the callers to leave the bus")


def leave_before(callers, daemon):
    """The service sees their calls only when they are gone."""
    daemon.signal(signal.SIGSTOP)
    callers.call()
    callers.leave()
    callers.wait_gone()
    daemon.signal(signal.SIGCONT)


def leave_meanwhile(callers, daemon):
    """Each leaves as soon as it has called, while the service asks about it."""
    callers.call_and_leave()


def leave_after(callers, daemon):
    """The service knows their user already."""
    callers.be_answered()
    daemon.signal(signal.SIGSTOP)
    callers.call()
    callers.leave()
    callers.wait_gone()
    daemon.signal(signal.SIGCONT)


@pytest.mark.parametrize("program", SERVICES)
def test_nothing_is_asked_again_about_callers_that_left(make_host, program):
    host = make_host(sysroot=True, bus_policy=CLUSTER_POLICY)
    service = SERVICES[program]
    # It leaves when nobody wants anything of it, which on a slow machine is before the test has ended.
    daemon = host.start_daemon(program, env={"ALIDADE_IDLE_SECONDS": "3600"})

    def ping():
        host.call(service.bus_name, "/", "org.freedesktop.DBus.Peer", "Ping")

    with contextlib.closing(QuestionLog(host)) as log:
        for leave in (leave_before, leave_meanwhile, leave_after):
            callers = Callers(host, service)
            leave(callers, daemon)
            callers.wait_gone()
            ping()
            asked = log.until_now()
            assert max(asked[name] for name in callers.names) <= 1, leave.__name__
            for _ in range(ROUNDS):
                ping()
            assert callers.names.isdisjoint(log.until_now()), leave.__name__
    assert daemon.poll() is None


def test_calls_of_one_user_leave_room_for_the_first_call_of_another(make_host):
    """More than are kept until the bus has named their user, over some connections: the latest of them are refused."""
    host = make_host(sysroot=True, bus_policy=CLUSTER_POLICY)
    service = SERVICES["stated"]
    daemon = host.start_daemon("stated")
    daemon.signal(signal.SIGSTOP)
    with contextlib.ExitStack() as stack:
        greedy = [stack.enter_context(Wire(host, "nobody")) for _ in range(GREEDY)]
        for wire in greedy:
            wire.send(b"".join(blob(service.bus_name, "/", "org.freedesktop.DBus.Peer", "Ping", serial=serial)
                               for serial in range(2, 2 + GREEDY_CALLS)))
            wire.call(blob(*DBUS, "GetId", serial=2 + GREEDY_CALLS))
        other = stack.enter_context(Wire(host, "daemon"))
        other.send(blob(service.bus_name, service.path, service.bus_name, "Subscribe", serial=2))
        other.call(blob(*DBUS, "GetId", serial=3))
        daemon.signal(signal.SIGCONT)
        other.reply()
        outcomes = collections.Counter()
        for wire in greedy:
            for _ in range(GREEDY_CALLS):
                try:
                    wire.reply()
                    outcomes["answered"] += 1
                except BusError as error:
                    outcomes[error.name] += 1
        assert outcomes.keys() == {"answered", LIMITS_EXCEEDED} and outcomes["answered"] >= 1000
