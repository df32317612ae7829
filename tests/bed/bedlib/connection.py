# SPDX-License-Identifier: LGPL-2.1-or-later
"""One connection to a bus of a simulated machine, as some user of it."""

import contextlib
import os
import pwd

from gi.repository import Gio, GLib

from .errors import BedFailure
from .signals import SignalLog
from .variants import Typed, pack, unpack
from .waiting import DEADLINE, PATIENCE, wait_until

DBUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
PROPERTIES = "org.freedesktop.DBus.Properties"


class BusError(Exception):
    """A D-Bus error reply: .name is the error's name, .message its text."""

    def __init__(self, name, message):
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message


@contextlib.contextmanager
def effective_user(uid):
    """GDBus names the effective user in the handshake; the bus compares it with the socket's."""
    if uid is None or uid == os.geteuid():
        yield
        return
    before = os.geteuid()
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(before)


def passwd_entry(machine, user):
    for line in (machine.root / "etc/passwd").read_text().splitlines():
        if line.startswith(f"{user}:"):
            name, password, uid, gid, *others = line.split(":")
            return pwd.struct_passwd((name, password, int(uid), int(gid), *others))
    return pwd.getpwnam(user)


def uid_of(machine, user):
    return None if user is None else passwd_entry(machine, user).pw_uid


def plain(variant):
    """The unpacked reply: nothing, the value, or a tuple of several."""
    values = unpack(variant)
    return values[0] if len(values) == 1 else values or None


class Connection:
    """The bus sees a process of that user inside the machine; calls run GLib's main context meanwhile, so
    objects that the test itself exports go on answering."""

    def __init__(self, machine, bus, user=None):
        self.user = user
        link, self._lifeline = machine.connect(bus.socket, user)
        stream = Gio.Socket.new_from_fd(link.detach()).connection_factory_create_connection()
        with effective_user(uid_of(machine, user)):
            self.gio = Gio.DBusConnection.new_sync(
                stream, None, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
                | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        self.gio.set_exit_on_close(False)
        self.unique_name = self.gio.get_unique_name()

    def close(self):
        if self._lifeline < 0:
            return
        # Closing drops what is not yet written, such as the reply to a call of the program under test.
        with contextlib.suppress(GLib.Error):
            self.gio.flush_sync(None)
            self.gio.close_sync(None)
        os.close(self._lifeline)
        self._lifeline = -1

    def call_raw(self, destination, path, interface, method, arguments=None, autostart=True,
                 deadline=DEADLINE):
        """The reply as a GLib.Variant; arguments is one too, a tuple."""
        done = []
        flags = Gio.DBusCallFlags.NONE if autostart else Gio.DBusCallFlags.NO_AUTO_START
        self.gio.call(destination, path, interface, method, arguments, None, flags,
                      int(deadline * PATIENCE * 1000), None, lambda _, result: done.append(result))
        wait_until(lambda: done, f"{interface}.{method}", deadline + 1)
        try:
            return self.gio.call_finish(done[0])
        except GLib.Error as error:
            name = Gio.DBusError.get_remote_error(error)
            text = error.message.removeprefix(f"GDBus.Error:{name}: ")
            raise BusError(name or f"{error.domain}.{error.code}", text) from None

    def send(self, message, deadline=DEADLINE):
        """The reply to a Gio.DBusMessage, for calls that call() would not let one make."""
        done = []
        self.gio.send_message_with_reply(message, Gio.DBusSendMessageFlags.NONE,
                                         int(deadline * PATIENCE * 1000), None,
                                         lambda _, result: done.append(result))
        wait_until(lambda: done, f"the reply to {message.get_member()}", deadline + 1)
        reply = self.gio.send_message_with_reply_finish(done[0])
        if reply.get_message_type() == Gio.DBusMessageType.ERROR:
            raise BusError(reply.get_error_name(), reply.get_arg0())
        return plain(reply.get_body()) if reply.get_body() else None

    def call(self, destination, path, interface, method, signature="", args=(), **options):
        """call(…, "su", ("text", 3)): the reply in Python's own types."""
        arguments = pack(f"({signature})", args)
        return plain(self.call_raw(destination, path, interface, method, arguments, **options))

    def call_bus(self, method, signature="", args=()):
        return self.call(*DBUS, method, signature, args)

    def fence(self):
        """Everything this connection sent before has been handled by the bus when this returns."""
        self.call_bus("GetId")

    def get(self, destination, path, interface, name, **options):
        return self.call(destination, path, PROPERTIES, "Get", "ss", (interface, name), **options)

    def get_all(self, destination, path, interface, **options):
        return self.call(destination, path, PROPERTIES, "GetAll", "s", (interface,), **options)

    def set(self, destination, path, interface, name, signature, value, **options):
        self.call(destination, path, PROPERTIES, "Set", "ssv",
                  (interface, name, Typed(signature, value)), **options)

    def introspect(self, destination, path):
        return self.call(destination, path, "org.freedesktop.DBus.Introspectable", "Introspect")

    def owner(self, name):
        """The unique name of the owner, or None."""
        try:
            return self.call_bus("GetNameOwner", "s", (name,))
        except BusError as error:
            if error.name == "org.freedesktop.DBus.Error.NameHasNoOwner":
                return None
            raise

    def own(self, name):
        """Takes a name, or fails."""
        do_not_queue, primary_owner = 4, 1
        if self.call_bus("RequestName", "su", (name, do_not_queue)) != primary_owner:
            raise BusError("org.freedesktop.DBus.Error.NameExists", f"{name} is taken")

    def emit(self, path, interface, member, signature="", args=(), destination=None):
        """A signal, broadcast or, with a destination, directed (that is how one is forged)."""
        self.gio.emit_signal(destination, path, interface, member,
                             pack(f"({signature})", args))

    def log_signals(self, sender=None, path=None, interface=None, member=None, arg0=None):
        return SignalLog(self, sender, path, interface, member, arg0)

    def log_directed(self, sender, member):
        """Signals that are sent to this connection alone: without a match rule the bus brings no others."""
        return SignalLog(self, sender, member=member, flags=Gio.DBusSignalFlags.NO_MATCH_RULE)

    def wait_for_signal(self, sender, path, interface, member, predicate=lambda signal: True,
                        deadline=DEADLINE):
        """For signals that are sure to come after this call; else log_signals() before what causes them."""
        with self.log_signals(sender, path, interface, member) as log:
            return log.wait(predicate, deadline)

    def wait_for_name(self, name, present=True, deadline=DEADLINE, process=None):
        """Waits until the name is owned (or not); gives up when the process that should own it ends."""
        with self.log_signals(DBUS[0], DBUS[1], DBUS[2], "NameOwnerChanged", name) as changes:
            owner = self.owner(name)

            def reached():
                now = changes.received[-1].args[2] if changes.received else owner or ""
                if bool(now) == present:
                    return [now]
                if process is not None and process.poll() is not None:
                    return [None]
                return None

            found, = wait_until(reached, f"{name} to {'come' if present else 'go'}", deadline,
                                process.watched_fds() if process is not None else ())
        if found is None:
            raise BedFailure(f"{process} ended before it owned {name}\n{process.log_text()}")
        return found

    def wait_for_property(self, destination, path, interface, name, predicate=lambda value: True,
                          deadline=DEADLINE):
        """Waits until predicate(value) holds, be it for a moment, and returns the value. It is read at first and
        from each new owner; any later value must arrive by PropertiesChanged: who changes without a word fails
        here."""
        value = None

        def read():
            nonlocal value
            # What came before the question is in the answer.
            changes.received.clear()
            with contextlib.suppress(BusError):
                value = self.get(destination, path, interface, name, autostart=False)

        with self.log_signals(DBUS[0], DBUS[1], DBUS[2], "NameOwnerChanged", destination) as owners, \
                self.log_signals(destination, path, PROPERTIES, "PropertiesChanged", interface) as changes:
            read()

            def holds():
                # A later value may have what this one lacks.
                with contextlib.suppress(LookupError, StopIteration):
                    return value is not None and predicate(value)
                return False

            def reached():
                nonlocal value
                if owners.received:
                    owners.received.clear()
                    value = None
                    read()
                while changes.received and not holds():
                    _, changed, invalidated = changes.received.pop(0).args
                    if name in changed:
                        value = changed[name]
                    elif name in invalidated:
                        read()
                return [value] if holds() else None

            found, = wait_until(reached, lambda: f"{interface}.{name} of {destination} (now {value!r})",
                                deadline)
        return found
