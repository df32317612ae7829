# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rubbish for every method and property of the services: a named error each time, and a service that lives."""

import xml.etree.ElementTree as ElementTree

import pytest
from gi.repository import Gio, GLib

from bedlib import SERVICES, BusError, interface_xml
from state_service import MEBI, PROPERTIES, start

PROGRAMS = ["identityd", "telemetryd", "clusterd", "stated"]
BUS_ERRORS = "org.freedesktop.DBus.Error."
NOT_THERE = {BUS_ERRORS + name for name in ("UnknownObject", "UnknownInterface", "UnknownMethod", "UnknownProperty",
                                            "InvalidArgs")}

# By argument type: values that fit the type, and are as odd as they may be.
STRINGS = ["", "x" * MEBI, "x" + "ä" * 500, "\x1b[2J\n", "%s%n%d", "../" * 100, "0" * 32, "f" * 32]
ODD = {
    "s": STRINGS,
    "t": [0, 1, 2 ** 53, 2 ** 64 - 1],
    "a{sv}": [{}, {"": GLib.Variant("t", 0)}, {"x" * MEBI: GLib.Variant("v", GLib.Variant("s", "x"))},
              *({name: value} for name in ("Traffic", "Avoid", "BytesPerHour") for value in (
                  GLib.Variant("s", "x" * MEBI), GLib.Variant("t", 2 ** 64 - 1), GLib.Variant("as", ["x"] * 10_000),
                  GLib.Variant("a{st}", {"x" * MEBI: 2 ** 64 - 1})))],
    "a(sstxtt)": [[], [("", "", 0, 0, 0, 0)], [("x" * MEBI, "x" * MEBI, 2 ** 64 - 1, -2 ** 63, 2 ** 64 - 1, 1)]],
    "a(ssstttba{sv})": [[], [("", "", "", 0, 0, 0, False, {})], [("x" * MEBI,) * 3 + (2 ** 64 - 1,) * 3 + (True, {})]],
}


def deep_variant(depth):
    value = GLib.Variant("s", "bottom")
    for _ in range(depth):
        value = GLib.Variant("v", value)
    return value


def bytes_body(data):
    """At once, which GLib.Variant("(ay)", …) makes byte by byte."""
    array = GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes.new(data), True)
    return GLib.Variant.new_tuple(array)


# Bodies of any other type.
WRONG = [
    GLib.Variant("(i)", (-1,)), GLib.Variant("(v)", (deep_variant(30),)), GLib.Variant("(a{sv})", ({},)),
    GLib.Variant("(sssssss)", ("a",) * 7), GLib.Variant("(d)", (float("nan"),)),
    bytes_body(b"\xff" * MEBI), GLib.Variant("(as)", (["x"] * 10_000,)),
    GLib.Variant("(o)", ("/",)), GLib.Variant("(aaaaau)", ([[[[[1]]]]],)),
    GLib.Variant("(((((s)))))", ((((("x",),),),),)),
]


def methods(service):
    """{name: types of its arguments}"""
    interface = ElementTree.fromstring(interface_xml(service.bus_name)).find("interface")
    return {method.get("name"): [argument.get("type") for argument in method.findall("arg")
                                 if argument.get("direction", "in") == "in"]
            for method in interface.findall("method")}


def send(connection, service, interface, member, body, path=None):
    """The error's name, or None where there was a reply."""
    message = Gio.DBusMessage.new_method_call(service.bus_name, path or service.path, interface, member)
    if body is not None:
        message.set_body(body)
    try:
        connection.send(message)
    except BusError as error:
        return error.name
    return None


def odd_bodies(types):
    """Every odd value of each argument, the others being harmless."""
    harmless = [ODD[kind][0] for kind in types]
    for place, kind in enumerate(types):
        for value in ODD[kind]:
            yield GLib.Variant(f"({''.join(types)})", tuple(harmless[:place] + [value] + harmless[place + 1:]))


@pytest.fixture
def host(make_host):
    """Where the bus lets everything through, so that the services themselves have to refuse."""
    return start(make_host, "identityd", "telemetryd", "clusterd", strict_bus=False, bus_policy="")


def test_arguments_of_other_types(host):
    for program in PROGRAMS:
        service, connection = SERVICES[program], host.connection()
        for name, types in methods(service).items():
            for body in [None, *WRONG]:
                given = body.get_type_string()[1:-1] if body is not None else ""
                if given == "".join(types):
                    continue
                error = send(connection, service, service.bus_name, name, body)
                assert error == BUS_ERRORS + "InvalidArgs", (program, name, given, error)
        still_there(host)


def test_odd_values(host):
    for program in PROGRAMS:
        service, connection = SERVICES[program], host.connection()
        for name, types in methods(service).items():
            for body in odd_bodies(types):
                error = send(connection, service, service.bus_name, name, body)
                assert error is None or error.startswith((BUS_ERRORS, "org.alidade.Error.")), (program, name, error)
                assert error not in (BUS_ERRORS + "NoReply", BUS_ERRORS + "Failed", BUS_ERRORS + "UnknownMethod"), (
                    program, name)
        still_there(host)


def test_properties(host):
    """No property of ours can be written, and none is found that is not there."""
    for program in PROGRAMS:
        service, connection = SERVICES[program], host.connection()
        shown = ElementTree.fromstring(connection.introspect(service.bus_name, service.path)).findall("interface")
        for interface in (found for found in shown if found.get("name").startswith("org.alidade.")):
            for prop in interface.findall("property"):
                for value in (GLib.Variant("s", "x" * MEBI), GLib.Variant("t", 0), deep_variant(30)):
                    error = send(connection, service, PROPERTIES, "Set", GLib.Variant("(ssv)", (
                        interface.get("name"), prop.get("name"), value)))
                    assert error == BUS_ERRORS + "PropertyReadOnly", (program, prop.get("name"), error)
        for interface in (service.bus_name, "", "x" * MEBI, "org.alidade.Nothing", "org.alidade.Node1.Nothing"):
            for prop in ("Nothing", "", "x" * MEBI, "x" + "ä" * 500):
                error = send(connection, service, PROPERTIES, "Get", GLib.Variant("(ss)", (interface, prop)))
                assert error in NOT_THERE, (program, error)
        still_there(host)


def test_objects_that_are_not_there(host):
    for program in PROGRAMS:
        service, connection = SERVICES[program], host.connection()
        below = [f"{service.path}/node/{'f' * 32}", f"{service.path}/node/x",
                 f"{service.path}/link/socket/{'f' * 32}/_2c", f"{service.path}/link/socket/{'f' * 32}",
                 f"{service.path}/link/rdma/{'f' * 40}", "/", "/org", "/nothing", service.path + "/x" * 5000]
        for path in below:
            for name, types in methods(service).items():
                error = send(connection, service, service.bus_name, name, next(odd_bodies(types), None), path)
                assert error in NOT_THERE, (path[:100], name, error)
            error = send(connection, service, PROPERTIES, "GetAll", GLib.Variant("(s)", ("org.alidade.Node1.Memory",)),
                         path)
            assert error in NOT_THERE, (path[:100], error)
        still_there(host)


def still_there(host):
    """All are, with the process that was started, and answer."""
    for program, daemon in zip(PROGRAMS, host.daemons):
        service = SERVICES[program]
        assert daemon.poll() is None
        assert host.connection().get_all(service.bus_name, service.path, service.bus_name)
