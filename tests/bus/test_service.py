# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all daemons have in common, held by one of them: who may ask polkit how much, and who may turn the log up."""

import contextlib

import pytest
from gi.repository import GLib

from bedlib import BusError
from bedlib.connection import DBUS
from bedlib.fixtures import needs_namespaces
from state_service import ACCESS_DENIED, LIMITS_EXCEEDED, Wire, blob

NAME = "org.alidade.Identity1"
PATH = "/org/alidade/Identity1"
POLKIT = "org.freedesktop.PolicyKit1"
LOG = (NAME, "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1")

ANYBODY_IS_POLKIT = f"""<policy context="default"><allow own="{POLKIT}"/>
<allow send_destination="{POLKIT}"/></policy>"""


class Thinker:
    """A polkit that takes every question and answers none."""

    def __init__(self, host):
        self.wire = Wire(host)
        self.wire.call(blob(*DBUS, "RequestName", GLib.Variant("(su)", (POLKIT, 0))))

    def close(self):
        self.wire.close()


def ask(wire, serial=1):
    message = blob(NAME, PATH, NAME, "SetFriendlyName", GLib.Variant("(s)", ("x",)))
    wire.send(message[:8] + serial.to_bytes(4, "little") + message[12:])


@needs_namespaces
def test_questions_of_one_user_leave_room_for_others(make_host):
    host = make_host(sysroot=True, bus_policy=ANYBODY_IS_POLKIT, daemons=["identityd"])
    with contextlib.ExitStack() as stack:
        thinker = stack.enter_context(contextlib.closing(Thinker(host)))
        greedy = [stack.enter_context(Wire(host, "nobody")) for _ in range(10)]
        for wire in greedy:
            for serial in range(1, 10):
                ask(wire, serial)
        for wire in greedy:
            with pytest.raises(BusError) as refused:
                wire.reply()
            assert refused.value.name == LIMITS_EXCEEDED
        other = stack.enter_context(Wire(host, "daemon"))
        ask(other)
        # The question is put, so that it fails with polkit, and not before.
        thinker.close()
        with pytest.raises(BusError) as refused:
            other.reply()
        assert refused.value.name == ACCESS_DENIED


@needs_namespaces
def test_log_level_is_for_root(make_host):
    host = make_host(sysroot=True, daemons=["identityd"], service_users=True)
    assert host.get(*LOG, "LogLevel", user="nobody") == "info"
    for user in ("nobody", "alidade-state"):
        with pytest.raises(BusError) as refused:
            host.connection(user).set(*LOG, "LogLevel", "s", "debug")
        assert refused.value.name == ACCESS_DENIED
    host.connection().set(*LOG, "LogLevel", "s", "debug")
    assert host.get(*LOG, "LogLevel") == "debug"
