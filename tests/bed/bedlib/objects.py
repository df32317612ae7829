# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live copy of what an ObjectManager exports, kept by its signals alone after the first call."""

import contextlib

from gi.repository import Gio, GLib

from .connection import PROPERTIES
from .variants import unpack
from .waiting import DEADLINE, PATIENCE, wait_until

OBJECT_MANAGER = "org.freedesktop.DBus.ObjectManager"


class ObjectTree:
    """.objects is {path: {interface: {property: value}}}."""

    def __init__(self, connection, destination, path, autostart=True):
        self.objects = {}
        self._what = f"objects of {destination}"
        self._logs = [connection.log_signals(destination, path, OBJECT_MANAGER, "InterfacesAdded"),
                      connection.log_signals(destination, path, OBJECT_MANAGER, "InterfacesRemoved"),
                      connection.log_signals(destination, None, PROPERTIES, "PropertiesChanged")]
        for log in self._logs:
            log.on_signal = self._apply
        answered = []
        flags = Gio.DBusCallFlags.NONE if autostart else Gio.DBusCallFlags.NO_AUTO_START
        connection.gio.call(destination, path, OBJECT_MANAGER, "GetManagedObjects", None, None, flags,
                            int(DEADLINE * PATIENCE * 1000), None,
                            lambda gio, result: answered.append(self._begin(gio, result)))
        wait_until(lambda: answered, self._what, DEADLINE + 1)

    def _begin(self, gio, result):
        """Run in its turn between the signals: those before the reply are in it, those behind it are not."""
        # A service may own its name before it exports anything; then all of it arrives as additions.
        with contextlib.suppress(GLib.Error):
            self.objects = unpack(gio.call_finish(result))[0]
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _apply(self, signal):
        if signal.member == "InterfacesAdded":
            path, interfaces = signal.args
            self.objects.setdefault(path, {}).update(interfaces)
        elif signal.member == "InterfacesRemoved":
            path, interfaces = signal.args
            left = self.objects.get(path, {})
            for interface in interfaces:
                left.pop(interface, None)
            if not left:
                self.objects.pop(path, None)
        elif signal.path in self.objects:
            interface, changed, _ = signal.args
            self.objects[signal.path].setdefault(interface, {}).update(changed)

    def wait(self, predicate, deadline=DEADLINE):
        """The first true value of predicate(objects)."""
        return wait_until(lambda: predicate(self.objects), self._what, deadline)

    def wait_for_interface(self, path, interface, deadline=DEADLINE):
        """The properties of that interface, once it is there."""
        found, = self.wait(lambda objects: [objects[path][interface]]
                           if interface in objects.get(path, {}) else None, deadline)
        return found

    def close(self):
        for log in self._logs:
            log.close()
