# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bus policies we install, held by a real dbus-daemon. Stand-ins own the names, so that what is refused
is refused by the bus and not by a daemon."""

import itertools
import xml.etree.ElementTree as ElementTree

import pytest
from gi.repository import Gio

from bedlib import SERVICES, BusError, StandIn, interface_xml
from bedlib.fixtures import needs_namespaces
from bedlib.services import SOURCE, bus_policies
from contract import STANDARD
from dbus_broker import BUSES, DBusBroker

pytestmark = needs_namespaces

ACCESS_DENIED = "org.freedesktop.DBus.Error.AccessDenied"
INSTALLED = [service for service in SERVICES.values()
             if f"{service.bus_name}.conf" in {path.name for path in bus_policies()}]
PLAYED_XML = """<node><interface name="{0}"><method name="PutRecords"/><method name="PutPresences"/>
<method name="Anything"/></interface>
<interface name="{0}.Foreign"><method name="Anything"/></interface></node>"""


@pytest.fixture
def host(make_host):
    return make_host()


def play(host, service):
    connection = host.new_connection(service.user)
    connection.own(service.bus_name)
    return connection, StandIn(connection, service.path, PLAYED_XML.format(service.bus_name), {},
                               {"PutRecords": lambda: None, "PutPresences": lambda: None, "Anything": lambda: None})


def denied(function, *args, **options):
    """Its arguments are shown where it is not."""
    with pytest.raises(BusError) as refused:
        function(*args, **options)
    assert refused.value.name == ACCESS_DENIED, (args, refused.value.message)


def test_only_its_own_user_and_root_own_the_name(host):
    for service in INSTALLED:
        for user in {other.user for other in INSTALLED} - {service.user} | {"nobody"}:
            denied(host.connection(user).own, service.bus_name)
        own = host.new_connection(service.user)
        own.own(service.bus_name)
        own.close()
        host.wait_for_name(service.bus_name, present=False)
        host.new_connection().own(service.bus_name)


def test_anyone_may_call_our_interfaces_and_no_other(host):
    for service in INSTALLED:
        _, stand_in = play(host, service)
        host.call(service.bus_name, service.path, service.bus_name, "Anything", user="nobody")
        host.call(service.bus_name, service.path, "org.freedesktop.DBus.Peer", "Ping", user="nobody")
        host.call(service.bus_name, service.path, "org.freedesktop.DBus.Introspectable", "Introspect",
                  user="nobody")
        denied(host.call, service.bus_name, service.path, f"{service.bus_name}.Foreign", "Anything", user="nobody")
        assert [call.method for call in stand_in.calls] == ["Anything"], service.program


def allowed(service):
    """The interfaces that anybody may call."""
    policy = next(path for path in bus_policies() if path.name == f"{service.bus_name}.conf")
    default = ElementTree.parse(policy).find("policy[@context='default']")
    rules = default.findall("allow")
    assert all(sorted(rule.keys()) == ["send_destination", "send_interface"] for rule in rules)
    assert {rule.get("send_destination") for rule in rules} == {service.bus_name}
    return {rule.get("send_interface") for rule in rules}


def own_interfaces(service):
    """Those of the contract that have methods; properties alone are reached by the standard interface."""
    names = [path.name.partition(".xml")[0] for path in
             (SOURCE / "dbus-interfaces").glob(f"{service.bus_name}*.xml*")]
    found = [ElementTree.fromstring(interface_xml(name)).find("interface") for name in names]
    return {element.get("name") for element in found if element.find("method") is not None}


def test_what_is_there_is_allowed_and_nothing_else(make_host):
    """Issue 12, item 22: an object manager was allowed where there is none."""
    host = make_host(sysroot=True)
    for service in INSTALLED:
        daemon = host.start_daemon(service.program.removeprefix("alidade-"))
        shown = ElementTree.fromstring(host.connection().introspect(service.bus_name, service.path))
        standard = {found.get("name") for found in shown.findall("interface")} & STANDARD
        assert allowed(service) == own_interfaces(service) | standard, service.program
        daemon.stop()


def call_by(host, user, service, interface, method):
    host.connection(user).send(Gio.DBusMessage.new_method_call(service.bus_name, service.path, interface, method))


@pytest.mark.parametrize("bus", BUSES)
def test_calls_without_interface_are_refused(make_host, bus):
    """Issue 12, item 22: rules name interfaces, and a call need not."""
    host = make_host()
    if bus == "dbus-broker":
        host.bus = DBusBroker(host)
    for service in INSTALLED:
        _, stand_in = play(host, service)
        for user, method in itertools.product(("nobody", None), ("Anything", "PutRecords")):
            denied(call_by, host, user, service, None, method)
        assert not stand_in.calls, service.program


def test_directed_signals_do_not_arrive(host):
    for service in INSTALLED:
        owner, _ = play(host, service)
        with owner.log_signals(interface="org.alidade.Forged") as log:
            for destination in (service.bus_name, owner.unique_name):
                host.forge(destination, "/", "org.alidade.Forged", "Directed")
            # From the same sender, so whatever else it sent has arrived before or never will.
            host.connection("nobody").emit("/", "org.alidade.Forged", "Broadcast")
            log.wait(lambda signal: signal.member == "Broadcast")
        assert [signal.member for signal in log.received] == ["Broadcast"], service.program


def test_other_nodes_are_told_of_by_the_cluster_service_alone(host):
    state = SERVICES["stated"]
    _, stand_in = play(host, state)
    # The interface field of a call is optional, and a rule that forgets it can be walked around.
    for user, interface, method in itertools.product(
            ("alidade-telemetry", "nobody", None), ("org.alidade.State1", None), ("PutRecords", "PutPresences")):
        denied(call_by, host, user, state, interface, method)
    assert not stand_in.calls
    for method in ("PutRecords", "PutPresences"):
        host.call(state.bus_name, state.path, state.bus_name, method, user="alidade-cluster")
    assert [call.method for call in stand_in.calls] == ["PutRecords", "PutPresences"]
