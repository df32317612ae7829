# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all daemons have in common, held by one of them: who may ask polkit how much, who may turn the log up, and what
becomes of a caller who does not read."""

import contextlib
import signal
import subprocess

import pytest
from gi.repository import Gio, GLib

from bedlib import SERVICES, BusError, build_dir, wait_until
from bedlib.connection import DBUS
from bedlib.fixtures import needs_namespaces
from state_service import (ACCESS_DENIED, CLUSTER_POLICY, LIMITS_EXCEEDED, NODE_KINDS, OBJECT_MANAGER, STATE, Cluster,
                           Wire, blob, full_record, local_id, node_id, start)
from state_service import PATH as STATE_PATH

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


def numbered(message, serial):
    """Another call, where several are on their way at once."""
    return message[:8] + serial.to_bytes(4, "little") + message[12:]


def ask(wire, serial=1):
    wire.send(numbered(blob(NAME, PATH, NAME, "SetFriendlyName", GLib.Variant("(s)", ("x",))), serial))


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


# So little of one sender fits into this bus that it soon stops reading.
SMALL_BUS = CLUSTER_POLICY + '<limit name="max_incoming_bytes">131072</limit>'


def test_a_caller_who_does_not_read_is_not_answered_at_length(make_host):
    host = start(make_host, bus_policy=SMALL_BUS)
    Cluster(host).take(*(full_record(kind, node_id(n), mark=n) for kind in NODE_KINDS for n in range(1, 51)))
    service = host.daemons[-1]
    call = blob(STATE, STATE_PATH, OBJECT_MANAGER, "GetManagedObjects")
    with Wire(host) as caller:
        for serial in range(2, 102):
            caller.send(numbered(call, serial))
        wait_for_log(service, "Refused GetManagedObjects() from ")
        answers = [answer_of(caller) for _ in range(100)]
    assert LIMITS_EXCEEDED in answers
    # Who was heard before was answered in full.
    assert None in answers
    # And so is everybody now that the bus reads again.
    assert local_id(host)


def wait_for_log(process, text):
    monitor = Gio.File.new_for_path(str(process.log)).monitor_file(Gio.FileMonitorFlags.NONE, None)
    monitor.set_rate_limit(0)
    try:
        wait_until(lambda: text in process.log_text(), f"{text!r} in the log", 20)
    finally:
        monitor.cancel()


def answer_of(caller):
    """The name of the error, or None."""
    try:
        caller.reply()
        return None
    except BusError as error:
        return error.name


def test_a_bus_that_hangs_is_left(make_host):
    """It looks like one that holds too much of ours, so both are named."""
    host = make_host(sysroot=True, daemons=["telemetryd"])
    host.bus.process.signal(signal.SIGSTOP)
    try:
        host.daemons[-1].expect_exit(1, deadline=60)
    finally:
        host.bus.process.signal(signal.SIGCONT)
    assert "The bus has stopped reading: it hangs" in host.daemons[-1].log_text()


def test_the_option_that_was_meant():
    done = subprocess.run([SERVICES["identityd"].binary, "--versoin"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2, "alidade-identityd: Unknown option --versoin; did you mean --version?\n")


@pytest.mark.parametrize("locale, said", [("C.UTF-8", "[OPTION…]"), ("C", "[OPTION...]")])
def test_help_is_readable(locale, said):
    for binary in (SERVICES["identityd"].binary, build_dir() / "clients" / "exporter" / "alidade-exporter"):
        done = subprocess.run([binary, "--help"], capture_output=True, check=True, env={"LC_ALL": locale})
        assert done.stdout.decode().startswith(f"Usage:\n  {binary.name} {said}\n") and done.stderr == b""
