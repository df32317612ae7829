# SPDX-License-Identifier: LGPL-2.1-or-later
"""A service played by the test itself, from the contract's own XML."""

from collections import namedtuple

from gi.repository import Gio, GLib

from .connection import PROPERTIES
from .variants import pack, unpack

Call = namedtuple("Call", "sender interface method args")


class StandIn:
    """Exports every interface of the XML at one path of a connection.

    values is {interface: {property: Python value}}; the XML gives the types. handlers is {method name:
    function(*args) → tuple of results, or that as a GLib.Variant}; a BusError it raises becomes the error reply.
    All calls are in .calls.
    """

    def __init__(self, connection, path, xml, values, handlers=None):
        self.connection = connection
        self.path = path
        self.values = values
        self.handlers = handlers or {}
        self.calls = []
        self.emit = connection.emit
        node = Gio.DBusNodeInfo.new_for_xml(xml)
        self._interfaces = {interface.name: interface for interface in node.interfaces}
        self._exported = [connection.gio.register_object(path, interface, self._called, self._get, None)
                          for interface in node.interfaces]

    def _variant(self, interface, name, value):
        signature = self._interfaces[interface].lookup_property(name).signature
        return pack(signature, value)

    def _get(self, _connection, _sender, _path, interface, name):
        return self._variant(interface, name, self.values[interface][name])

    def _called(self, _connection, sender, _path, interface, method, arguments, invocation):
        given = unpack(arguments)
        self.calls.append(Call(sender, interface, method, given))
        info = self._interfaces[interface].lookup_method(method)
        try:
            results = self.handlers[method](*given) or ()
        except Exception as error:  # every failure must become a reply, or the caller hangs
            name = getattr(error, "name", "org.freedesktop.DBus.Error.Failed")
            invocation.return_dbus_error(name, getattr(error, "message", str(error)))
            return
        if not isinstance(results, GLib.Variant):
            signature = "".join(argument.signature for argument in info.out_args)
            results = pack(f"({signature})", results)
        invocation.return_value(results)

    def change(self, interface, **values):
        """Sets properties and says so with one PropertiesChanged."""
        self.values[interface].update(values)
        changed = {name: self._variant(interface, name, value) for name, value in values.items()}
        self.emit(self.path, PROPERTIES, "PropertiesChanged", "sa{sv}as", (interface, changed, []))

    def close(self):
        for registration in self._exported:
            self.connection.gio.unregister_object(registration)
        self._exported = []
