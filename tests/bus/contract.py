# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a running daemon says of itself, against dbus-interfaces/."""

import xml.etree.ElementTree as ElementTree

from bedlib import interface_xml

# What sd-bus adds to every object.
STANDARD = {"org.freedesktop.DBus.Peer", "org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.Properties",
            "org.freedesktop.DBus.ObjectManager"}
EMITS = "org.freedesktop.DBus.Property.EmitsChangedSignal"


def argument(element, fallback):
    return element.get("name"), element.get("type"), element.get("direction", fallback)


def annotations(element):
    """Those that D-Bus knows; our own speak to the generator, and sd-bus cannot show them."""
    return sorted((found.get("name"), found.get("value")) for found in element.findall("annotation")
                  if not found.get("name").startswith("org.alidade."))


def members(interface):
    """Everything a caller relies on, in an order of its own."""
    result = {}
    for method in interface.findall("method"):
        result["method", method.get("name")] = ([argument(a, "in") for a in method.findall("arg")],
                                                annotations(method))
    for signal in interface.findall("signal"):
        result["signal", signal.get("name")] = ([argument(a, "out") for a in signal.findall("arg")],
                                                annotations(signal))
    for prop in interface.findall("property"):
        emits = [value for name, value in annotations(prop) if name == EMITS]
        result["property", prop.get("name")] = (prop.get("type"), prop.get("access"), emits or ["true"])
    return result


def interfaces(text):
    return {found.get("name"): members(found) for found in ElementTree.fromstring(text).findall("interface")}


def assert_follows(connection, destination, path, names):
    """The object has these interfaces and no other, exactly as the XML has them."""
    shown = {name: found for name, found in interfaces(connection.introspect(destination, path)).items()
             if name not in STANDARD}
    assert sorted(shown) == sorted(names)
    for name in names:
        assert shown[name] == interfaces(interface_xml(name))[name], name
