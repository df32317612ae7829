# SPDX-License-Identifier: LGPL-2.1-or-later
"""The state service and the services it reads from: late, crashing, hanging, absurd and forged ones."""

import os
import signal
import time

import pytest
from gi.repository import Gio, GLib

from bedlib import SERVICES, wait_until
from bedlib.fixtures import needs_namespaces
from played_source import UPDATED, Source
from state_service import (ACCESS_DENIED, CLUSTER, IDENTITYD_KINDS, PATH, PROPERTIES, STATE, TELEMETRYD_KINDS, Cluster,
                           call, fails_with, interface, local_id, memory, node_id, node_path, start, variants)

GONE = "unable: alidade-link-probed is not running"
BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")


def wait_for(host, kind, field, value):
    with host.objects(STATE, PATH) as tree:
        path = node_path(local_id(host))
        tree.wait_for_interface(path, interface(kind))
        tree.wait(lambda objects: objects[path][interface(kind)][field] == value)


# Late and odd ones


def test_a_source_that_exports_late(make_host):
    host = start(make_host)
    source = Source(host).export("Node1.Memory", TotalBytes=1000).own()
    wait_for(host, "Node1.Memory", "TotalBytes", 1000)
    source.export("Node1.System", CpuUsage=12.5, TemperatureMilliCelsius=40000)
    assert call(host, "GetSystems") == {}
    # What is told first need not be all there is.
    source.send("Node1.System", CpuUsage=13.5)
    wait_for(host, "Node1.System", "CpuUsage", 13.5)
    assert call(host, "GetSystems")[local_id(host)] == {
        "CpuUsage": 13.5, "TemperatureMilliCelsius": 40000, "Devices": [], "Batteries": [], "UpdatedUSec": UPDATED}


def test_a_source_that_says_absurd_things(make_host):
    host = start(make_host)
    source = Source(host).export("Node1.Memory", TotalBytes=1000, AvailableBytes=500).own()
    wait_for(host, "Node1.Memory", "TotalBytes", 1000)
    for absurd in (GLib.Variant("s", "many"), GLib.Variant("x", -1), GLib.Variant("t", 2 ** 60)):
        for _ in range(20):
            source.send_raw("Node1.Memory", {"TotalBytes": absurd})
    source.connection.emit(source.path, PROPERTIES, "PropertiesChanged", "u", (7,))
    source.connection.emit(source.path, PROPERTIES, "PropertiesChanged", "sas", (interface("Node1.Memory"), ["x"]))
    source.send_raw("Node1.Identity", {"FriendlyName": GLib.Variant("s", "not mine")})
    source.send("Node1.Memory", AvailableBytes=400)
    wait_for(host, "Node1.Memory", "AvailableBytes", 400)
    assert call(host, "GetMemories")[local_id(host)]["TotalBytes"] == 1000
    assert call(host, "GetIdentities") == {}
    assert host.daemons[-1].log_text().count("sent an invalid org.alidade.Node1.Memory") < 10


def test_a_source_that_is_replaced(make_host):
    """What another owner of the name does not measure stays, with its age."""
    host = start(make_host)
    first = Source(host).export("Node1.Memory", TotalBytes=1000, AvailableBytes=500).export("Node1.Disk").own()
    wait_for(host, "Node1.Memory", "TotalBytes", 1000)
    wait_for(host, "Node1.Disk", "UpdatedUSec", UPDATED)
    before = call(host, "GetDisks")
    first.connection.close()
    host.wait_for_name(first.name, present=False)
    Source(host).export("Node1.Memory", TotalBytes=2000).own()
    wait_for(host, "Node1.Memory", "TotalBytes", 2000)
    assert call(host, "GetMemories")[local_id(host)].keys() == {"TotalBytes", "UpdatedUSec"}
    assert call(host, "GetDisks") == before


# Dying ones


def activated(make_host, **options):
    return start(make_host, activation=["identityd", "telemetryd"], **options)


def wait_for_all(host):
    with host.objects(STATE, PATH) as tree:
        for kind in IDENTITYD_KINDS + TELEMETRYD_KINDS:
            tree.wait_for_interface(node_path(local_id(host)), interface(kind))


def test_sources_are_started(make_host):
    host = activated(make_host)
    wait_for_all(host)


@pytest.mark.parametrize("program", ["identityd", "telemetryd"])
def test_a_killed_source_is_started_again(make_host, program):
    host = activated(make_host)
    wait_for_all(host)
    path, kind = node_path(local_id(host)), interface({"identityd": "Node1.Identity"}.get(program, "Node1.Memory"))
    with host.log_signals(*BUS, "NameOwnerChanged", SERVICES[program].bus_name) as owners, \
            host.objects(STATE, PATH) as tree, \
            host.log_signals(STATE, None, None, "InterfacesRemoved") as removed:
        before = call(host, "GetProfile", "s", (local_id(host),))
        updated = tree.objects[path][kind]["UpdatedUSec"]
        host.activated(program).kill()
        owners.wait(lambda change: change.args[2] == "")
        # Nothing is lost meanwhile, and nothing looks younger than it is.
        meanwhile = call(host, "GetProfile", "s", (local_id(host),))
        assert meanwhile.keys() == before.keys()
        owners.wait(lambda change: change.args[2] != "")
        tree.wait(lambda objects: objects[path][kind]["UpdatedUSec"] > updated)
        assert not removed.received
    assert "left the bus; its records are kept" in host.daemons[-1].log_text()


def policy_of(host):
    return call(host, "GetProfile", "s", (local_id(host),)).get("Node1.ProbePolicy", {})


def test_who_measures_links_no_more_starts_no_probes(make_host):
    """Who is gone cannot say so, and its peers would leave its links to it."""
    host = start(make_host)
    Source(host).export("Node1.Memory", TotalBytes=1000).own()
    wait_for(host, "Node1.ProbePolicy", "Reason", GONE)
    with host.log_signals(STATE, node_path(local_id(host)), PROPERTIES, "PropertiesChanged",
                          interface("Node1.ProbePolicy")) as changes:
        source = Source(host, "LinkProbe1").export("Node1.ProbePolicy", Starts=["socket"], Links="full").own()
        first = changes.wait(lambda change: change.args[1].get("Links") == "full")
        # A restart is told to nobody, and its end holds from the start on.
        source.connection.call_bus("ReleaseName", "s", (source.name,))
        source.own()
        source.connection.call_bus("ReleaseName", "s", (source.name,))

        def later():
            received = changes.received[changes.received.index(first) + 1:]
            return [change.args[1]["Links"] for change in received if "Links" in change.args[1]]

        wait_until(later, "its end")
        assert later() == ["round-trips"]
    assert "Starts" not in policy_of(host) and policy_of(host)["Reason"] == GONE
    source.own()
    wait_for(host, "Node1.ProbePolicy", "Links", "full")


class Attempts:
    """A source that fails at each start, and tells when it was started, in seconds of the kernel."""

    def __init__(self, host, name):
        self.told = b""
        path = host.dir / "attempts"
        os.mkfifo(path)
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        script = host.dir / "failing"
        script.write_text(f"#!/bin/sh\nread -r now idle </proc/uptime\necho $now >{path}\nexit 1\n")
        script.chmod(0o755)
        host.bus.add_service(name, script)

    def wait(self, count):
        def enough():
            try:
                self.told += os.read(self._fd, 4096)
            except BlockingIOError:
                pass
            return self.told.count(b"\n") >= count
        wait_until(enough, f"{count} attempts", fds=[self._fd])
        return [float(line) for line in self.told.split()]

    def close(self):
        os.close(self._fd)


def test_a_source_that_cannot_start_is_tried_again_ever_more_seldom(make_host):
    host = make_host(sysroot=True)
    attempts = Attempts(host, SERVICES["telemetryd"].bus_name)
    host.start_daemon("stated")
    times = attempts.wait(3)
    attempts.close()
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    assert len(times) == 3
    # Timers of whole seconds may come half a second early, to come with others.
    assert all(gap >= least for gap, least in zip(gaps, (0.5, 1.5))), gaps
    assert local_id(host)


def test_one_that_can_start_after_all_is_seen(make_host):
    host = make_host(sysroot=True)
    attempts = Attempts(host, SERVICES["identityd"].bus_name)
    host.start_daemon("stated")
    attempts.wait(1)
    host.activations.add(host.bus, SERVICES["identityd"], host.daemon_argv("identityd"),
                         host.daemon_environment("identityd"))
    attempts.close()
    with host.objects(STATE, PATH) as tree:
        tree.wait_for_interface(node_path(local_id(host)), interface("Node1.Identity"))


def test_one_that_dies_young_is_not_started_at_once_for_ever(make_host):
    host = activated(make_host)
    name = SERVICES["telemetryd"].bus_name
    with host.log_signals(*BUS, "NameOwnerChanged", name) as owners:
        known = {""}
        for least in (0.5, 1.5):
            known.add(host.wait_for_name(name))
            run = host.activated("telemetryd")
            killed = time.monotonic()
            run.kill()
            owners.wait(lambda change: change.args[2] not in known)
            assert time.monotonic() - killed >= least


def test_all_three_killed_at_once(make_host):
    host = make_host(sysroot=True, activation=["identityd", "telemetryd", "stated"])
    wait_for_all(host)
    for program in ("identityd", "telemetryd", "stated"):
        host.activated(program).kill()
    host.wait_for_name(STATE, present=False)
    wait_for_all(host)


@pytest.mark.parametrize("program", ["identityd", "telemetryd", "stated"])
def test_killed_while_starting(make_host, program):
    """Killed as soon as its process is there: who asks next has another one started, and gets an answer."""
    host = make_host(sysroot=True, activation=["identityd", "telemetryd", "stated"])
    service = SERVICES[program]
    monitor = Gio.File.new_for_path(str(host.activations.folder)).monitor_directory(Gio.FileMonitorFlags.NONE)
    monitor.set_rate_limit(0)
    monitor.connect("changed", lambda *_: None)  # wakes who waits
    for count in range(1, 6):
        done = []
        host.connection().gio.call(service.bus_name, service.path, PROPERTIES, "GetAll",
                                   GLib.Variant("(s)", (service.bus_name,)), None, 0, 5000, None,
                                   lambda _, result: done.append(result))
        wait_until(lambda: len(host.activations.runs(program)) == count, f"start number {count} of {program}")
        host.activated(program).kill()
        wait_until(lambda: done, "an error, or the answer that it still gave")
        host.wait_for_name(service.bus_name, present=False)
    wait_for_all(host)


def test_a_source_that_hangs_holds_up_nobody(make_host):
    host = start(make_host, "identityd", "telemetryd")
    wait_for_all(host)
    telemetryd = host.daemons[1]
    telemetryd.signal(signal.SIGSTOP)
    before = call(host, "GetMemories")
    assert call(host, "GetProfile", "s", (local_id(host),)).keys() == set(IDENTITYD_KINDS + TELEMETRYD_KINDS)
    Cluster(host).take(memory(node_id(1)))
    assert call(host, "GetMemories")[local_id(host)] == before[local_id(host)]
    telemetryd.signal(signal.SIGCONT)
    host.sysroot.write("proc/meminfo", "MemTotal: 77 kB\nMemAvailable: 7 kB\n")
    wait_for(host, "Node1.Memory", "TotalBytes", 77 * 1024)


# Forged ones


@pytest.fixture
def open_host(make_host):
    """A bus that lets everybody do anything, and a subscriber."""
    host = start(make_host, "identityd", strict_bus=False, bus_policy="")
    wait_for(host, "Node1.Identity", "FriendlyName", "bed")
    return host


def changed(host, kind, values, service):
    host.forge(host.connection().owner(STATE), f"/org/alidade/{service}", PROPERTIES, "PropertiesChanged", "sa{sv}as",
               (interface(kind), variants(kind, values), []))


def owner_changed(host, name, old, new):
    host.forge(host.connection().owner(STATE), "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
               "sss", (name, old, new))


def refused(host):
    """Asked for by the forger, so that all he sent before has been judged."""
    return host.get(STATE, PATH, STATE, "RefusedSignals", user="nobody")


@needs_namespaces
def test_forged_records_are_refused(open_host):
    host = open_host
    before = call(host, "GetIdentities")
    for _ in range(50):
        changed(host, "Node1.Identity", {"FriendlyName": "Mallory"}, "Identity1")
        changed(host, "Node1.Memory", {"TotalBytes": 1}, "Telemetry1")
    assert refused(host) == 100
    assert call(host, "GetIdentities") == before
    assert call(host, "GetMemories") == {}
    assert host.daemons[-1].log_text().count("Ignored signal PropertiesChanged") == 1


@needs_namespaces
def test_forged_owners_are_refused(open_host):
    host = open_host
    mallory = host.connection("nobody").unique_name
    identityd = host.connection().owner("org.alidade.Identity1")
    owner_changed(host, "org.alidade.Identity1", identityd, mallory)
    owner_changed(host, "org.alidade.Telemetry1", "", mallory)
    owner_changed(host, CLUSTER, "", mallory)
    # Each is refused by what takes the records of the service and by what asks it for refused settings, that of the
    # cluster service also by what takes the records of others.
    assert refused(host) == 7
    changed(host, "Node1.Identity", {"FriendlyName": "Mallory"}, "Identity1")
    changed(host, "Node1.Memory", {"TotalBytes": 1}, "Telemetry1")
    with fails_with(ACCESS_DENIED):
        host.call(STATE, PATH, STATE, "PutRecords", "a(ssstttba{sv})", ([memory(node_id(1))],), user="nobody")
    assert refused(host) == 9
    assert call(host, "GetIdentities")[local_id(host)]["FriendlyName"] == "bed"
    assert call(host, "GetMemories") == {}
    # That it is gone is as little for him to say.
    cluster = Cluster(host)
    owner_changed(host, CLUSTER, cluster.connection.unique_name, "")
    owner_changed(host, "org.alidade.Identity1", identityd, "")
    assert refused(host) == 14
    cluster.take(memory(node_id(1)))


@needs_namespaces
def test_a_forged_end_of_a_subscriber_is_refused(open_host):
    host = open_host
    subscriber = host.connection()
    call(host, "Subscribe")
    for _ in range(3):
        owner_changed(host, subscriber.unique_name, subscriber.unique_name, "")
    assert refused(host) == 3
    call(host, "Unsubscribe")


@needs_namespaces
def test_the_installed_policy_keeps_forgeries_away(make_host):
    host = start(make_host, "identityd")
    wait_for(host, "Node1.Identity", "FriendlyName", "bed")
    changed(host, "Node1.Identity", {"FriendlyName": "Mallory"}, "Identity1")
    owner_changed(host, "org.alidade.Identity1", "", host.connection("nobody").unique_name)
    assert refused(host) == 0
    assert call(host, "GetIdentities")[local_id(host)]["FriendlyName"] == "bed"
