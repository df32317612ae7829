# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bus policies we install, held by a real dbus-daemon. Stand-ins own the names, so that what is refused
is refused by the bus and not by a daemon."""

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


@pytest.fixture(params=INSTALLED, ids=lambda service: service.program)
def service(request):
    return request.param


@pytest.fixture
def host(make_host):
    return make_host()


def play(host, service):
    connection = host.new_connection(service.user)
    connection.own(service.bus_name)
    return connection, StandIn(connection, service.path, PLAYED_XML.format(service.bus_name), {},
                               {"PutRecords": lambda: None, "PutPresences": lambda: None, "Anything": lambda: None})


def test_only_its_own_user_and_root_own_the_name(host, service):
    others = {other.user for other in INSTALLED} - {service.user} | {"nobody"}
    for user in others:
        with pytest.raises(BusError) as refused:
            host.connection(user).own(service.bus_name)
        assert refused.value.name == ACCESS_DENIED
    own = host.new_connection(service.user)
    own.own(service.bus_name)
    own.close()
    host.wait_for_name(service.bus_name, present=False)
    host.new_connection().own(service.bus_name)


def test_anyone_may_call_our_interfaces_and_no_other(host, service):
    _, stand_in = play(host, service)
    host.call(service.bus_name, service.path, service.bus_name, "Anything", user="nobody")
    host.call(service.bus_name, service.path, "org.freedesktop.DBus.Peer", "Ping", user="nobody")
    host.call(service.bus_name, service.path, "org.freedesktop.DBus.Introspectable", "Introspect",
              user="nobody")
    with pytest.raises(BusError) as refused:
        host.call(service.bus_name, service.path, f"{service.bus_name}.Foreign", "Anything", user="nobody")
    assert refused.value.name == ACCESS_DENIED
    assert [call.method for call in stand_in.calls] == ["Anything"]


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


def test_what_is_there_is_allowed_and_nothing_else(make_host, service):
    """Issue 12, item 22: an object manager was allowed where there is none."""
    host = make_host(sysroot=True)
    host.start_daemon(service.program.removeprefix("alidade-"))
    shown = ElementTree.fromstring(host.connection().introspect(service.bus_name, service.path))
    standard = {found.get("name") for found in shown.findall("interface")} & STANDARD
    assert allowed(service) == own_interfaces(service) | standard


@pytest.mark.parametrize("bus", BUSES)
@pytest.mark.parametrize("user", ["nobody", None])
def test_calls_without_interface_are_refused(make_host, service, bus, user):
    """Issue 12, item 22: rules name interfaces, and a call need not."""
    host = make_host()
    if bus == "dbus-broker":
        host.bus = DBusBroker(host)
    _, stand_in = play(host, service)
    for method in ("Anything", "PutRecords"):
        message = Gio.DBusMessage.new_method_call(service.bus_name, service.path, None, method)
        with pytest.raises(BusError) as refused:
            host.connection(user).send(message)
        assert refused.value.name == ACCESS_DENIED
    assert not stand_in.calls


def test_directed_signals_do_not_arrive(host, service):
    owner, _ = play(host, service)
    with owner.log_signals(interface="org.alidade.Forged") as log:
        for destination in (service.bus_name, owner.unique_name):
            host.forge(destination, "/", "org.alidade.Forged", "Directed")
        # From the same sender, so whatever else it sent has arrived before or never will.
        host.connection("nobody").emit("/", "org.alidade.Forged", "Broadcast")
        log.wait(lambda signal: signal.member == "Broadcast")
    assert [signal.member for signal in log.received] == ["Broadcast"]


@pytest.mark.parametrize("method", ["PutRecords", "PutPresences"])
def test_other_nodes_are_told_of_by_the_cluster_service(host, method):
    state = SERVICES["stated"]
    _, stand_in = play(host, state)
    host.call(state.bus_name, state.path, state.bus_name, method, user="alidade-cluster")
    assert [call.method for call in stand_in.calls] == [method]


@pytest.mark.parametrize("method", ["PutRecords", "PutPresences"])
@pytest.mark.parametrize("interface", ["org.alidade.State1", None], ids=["by interface", "by member alone"])
@pytest.mark.parametrize("user", ["alidade-telemetry", "nobody", None])
def test_other_nodes_are_told_of_by_nobody_else(host, user, interface, method):
    state = SERVICES["stated"]
    _, stand_in = play(host, state)
    # The interface field of a call is optional, and a rule that forgets it can be walked around.
    message = Gio.DBusMessage.new_method_call(state.bus_name, state.path, interface, method)
    with pytest.raises(BusError) as refused:
        host.connection(user).send(message)
    assert refused.value.name == ACCESS_DENIED
    assert not stand_in.calls
