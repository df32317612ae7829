# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ordinary clients of the state service, which need no call of ours: GDBusObjectManagerClient, busctl, gdbus."""

import contextlib
import itertools
import json
import os
import shutil

import pytest
from gi.repository import Gio

from bedlib import wait_until
from bedlib.waiting import wait_steadily
from state_service import (KINDS, PATH, STATE, Cluster, full, full_record, interface, key_for, link_path, memory,
                           node_id, node_path, record, start)

SOURCE, SINK = node_id(1), node_id(2)


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


@pytest.fixture
def host(make_host):
    return start(make_host)


@pytest.fixture
def cluster(host):
    return Cluster(host)


class Tree:
    """What a GDBusObjectManagerClient has, and every word of it."""

    def __init__(self, host):
        self.heard = []
        self.client = Gio.DBusObjectManagerClient.new_sync(
            host.connection().gio, Gio.DBusObjectManagerClientFlags.NONE, STATE, PATH, None, None, None)
        for signal in ("object-added", "object-removed"):
            self.client.connect(signal, self._on_object, signal)
        for signal in ("interface-added", "interface-removed"):
            self.client.connect(signal, self._on_interface, signal)
        self.client.connect("interface-proxy-properties-changed", self._on_changed)

    def _on_object(self, _client, found, signal):
        self.heard.append((signal, found.get_object_path()))

    def _on_interface(self, _client, found, proxy, signal):
        self.heard.append((signal, found.get_object_path(), proxy.get_interface_name()))

    def _on_changed(self, _client, found, proxy, changed, invalidated):
        self.heard.append(("changed", found.get_object_path(), proxy.get_interface_name(), changed.unpack(),
                           list(invalidated)))

    def paths(self):
        return sorted(found.get_object_path() for found in self.client.get_objects())

    def interfaces(self, path):
        found = self.client.get_object(path)
        return found and sorted(proxy.get_interface_name() for proxy in found.get_interfaces()
                                if proxy.get_interface_name().startswith("org.alidade."))

    def value(self, path, name, field):
        return self.client.get_interface(path, name).get_cached_property(field).unpack()

    def wait(self, *heard):
        wait_until(lambda: heard in self.heard, lambda: f"{heard} among {self.heard}")


@pytest.mark.parametrize("before", [True, False], ids=["asked for", "told"])
def test_object_manager_client(host, cluster, before):
    node, link = node_path(SOURCE), link_path("Link1.Socket", SOURCE, key_for("Link1.Socket", SINK))
    if before:
        with host.log_signals(STATE) as log:
            cluster.take(memory(SOURCE, 5), full_record("Link1.Socket", SOURCE, SINK))
            log.wait(lambda signal: signal.args[0] == node)
            log.wait(lambda signal: signal.args[0] == link)
    tree = Tree(host)
    if not before:
        assert tree.paths() == []
        cluster.take(memory(SOURCE, 5), full_record("Link1.Socket", SOURCE, SINK))
        tree.wait("object-added", node)
        tree.wait("object-added", link)
    assert tree.paths() == sorted([node, link])
    assert tree.value(node, interface("Node1.Memory"), "TotalBytes") == 5
    assert tree.value(link, interface("Link1.Socket"), "Sink") == SINK

    cluster.take(memory(SOURCE, 6, seq=2, updated=9), record(SOURCE, "Node1.Disk", Paths=[]))
    tree.wait("interface-added", node, interface("Node1.Disk"))
    tree.wait("changed", node, interface("Node1.Memory"), {"TotalBytes": 6, "Revision": 2, "UpdatedUSec": 9}, [])
    assert tree.interfaces(node) == [interface("Node1.Disk"), interface("Node1.Memory")]

    cluster.take(memory(SOURCE, seq=3, deleted=True))
    tree.wait("interface-removed", node, interface("Node1.Memory"))
    assert tree.interfaces(node) == [interface("Node1.Disk")]

    # An object that has lost its last record is no object; no empty shell of it stays.
    cluster.take(record(SOURCE, "Node1.Disk", seq=2, deleted=True),
                 record(SOURCE, "Link1.Socket", key=key_for("Link1.Socket", SINK), seq=2, deleted=True))
    tree.wait("object-removed", node)
    tree.wait("object-removed", link)
    assert tree.paths() == []

    cluster.take(*(full_record(kind, SOURCE, SINK, seq=9) for kind in KINDS))
    tree.wait("object-added", node)
    tree.wait("object-added", link)
    wait_until(lambda: tree.interfaces(node) == sorted(interface(kind) for kind in KINDS if kind.startswith("Node1.")),
               "all kinds of a node")


def test_object_manager_client_lives_through_a_restart(host, cluster):
    tree = Tree(host)
    cluster.take(memory(SOURCE))
    tree.wait("object-added", node_path(SOURCE))
    host.daemons[-1].stop()
    tree.wait("object-removed", node_path(SOURCE))
    host.start_daemon("stated")
    cluster.take(memory(SINK))
    tree.wait("object-added", node_path(SINK))
    assert tree.paths() == [node_path(SINK)]


# Programs


def busctl(host, *words, **options):
    return host.run(["busctl", f"--address={host.bus.address}", *words], **options).stdout


def gdbus(host, *words):
    return host.run(["gdbus", *words[:1], "--address", host.bus.address, *words[1:]]).stdout


@needs("busctl")
def test_busctl(host, cluster):
    node, key = node_path(SOURCE), key_for("Link1.Socket", SINK)
    link = link_path("Link1.Socket", SOURCE, key)
    cluster.take(*(full_record(kind, SOURCE, SINK) for kind in KINDS))

    assert {node, link} <= set(busctl(host, "tree", "--list", STATE).split())
    value = busctl(host, "get-property", STATE, node, interface("Node1.Memory"), "TotalBytes")
    assert value == f"t {full('Node1.Memory')['TotalBytes']}\n"
    introspected = busctl(host, "introspect", STATE, node)
    for kind in (kind for kind in KINDS if not KINDS[kind].is_link):
        assert interface(kind) in introspected
        for field in KINDS[kind].fields:
            assert f".{field.name} " in introspected
    memories = json.loads(busctl(host, "--json=short", "call", STATE, PATH, STATE, "GetMemories"))
    assert memories["data"][0][SOURCE]["TotalBytes"] == {"type": "t", "data": full("Node1.Memory")["TotalBytes"]}
    refused = host.run(["busctl", f"--address={host.bus.address}", "call", STATE, PATH, STATE, "GetProfile", "s", "x"],
                       check=False)
    assert refused.returncode == 1 and "Unknown node x" in refused.stderr


@needs("gdbus")
def test_gdbus(host, cluster):
    cluster.take(*(full_record(kind, SOURCE, SINK) for kind in KINDS))
    text = gdbus(host, "introspect", "--dest", STATE, "--object-path", PATH, "--recurse")
    for kind in KINDS:
        assert f"interface {interface(kind)} {{" in text
    assert f"readonly t TotalBytes = {full('Node1.Memory')['TotalBytes']};" in text
    called = gdbus(host, "call", "--dest", STATE, "--object-path", PATH, "--method", f"{STATE}.GetProfile", SOURCE)
    assert f"'TotalBytes': <uint64 {full('Node1.Memory')['TotalBytes']}>" in called


class Reader:
    """A program that prints as it goes, read line by line."""

    def __init__(self, host, argv):
        self._fd, theirs = os.pipe()
        try:
            self.process = host.spawn(argv, stdout=theirs, stderr=theirs)
        finally:
            os.close(theirs)
        os.set_blocking(self._fd, False)
        self.text = ""

    def has(self, what):
        with contextlib.suppress(BlockingIOError):
            self.text += os.read(self._fd, 65536).decode()
        return what in self.text

    def wait(self, what):
        wait_until(lambda: self.has(what), lambda: f"{what!r} in {self.text!r}", fds=[self._fd])

    def close(self):
        self.process.kill()
        os.close(self._fd)


@needs("gdbus")
def test_gdbus_monitor(host, cluster):
    monitor = Reader(host, ["gdbus", "monitor", "--address", host.bus.address, "--dest", STATE])
    monitor.wait("is owned by")
    numbers = itertools.count(1)

    def is_heard():
        cluster.take(memory(SOURCE, seq=next(numbers)))
        return monitor.has("'UpdatedUSec'")
    # It subscribes only after it has said that, and does not tell when.
    wait_steadily(is_heard, "a first signal", interval=0.1)
    cluster.take(memory(SINK, 123456789))
    monitor.wait("'TotalBytes': <uint64 123456789>")
    assert f"{PATH}: org.freedesktop.DBus.ObjectManager.InterfacesAdded (" in monitor.text
    assert f"'{node_path(SINK)}'" in monitor.text
    cluster.take(memory(SINK, 987654321, seq=2))
    monitor.wait("<uint64 987654321>")
    monitor.close()


@needs("busctl")
def test_busctl_monitor(host, cluster):
    monitor = Reader(host, ["busctl", f"--address={host.bus.address}", "monitor", STATE])
    monitor.wait("Monitoring bus message stream")
    cluster.take(memory(SOURCE, 123456789))
    monitor.wait("Member=InterfacesAdded")
    monitor.text = monitor.text.partition("Member=InterfacesAdded")[2]
    monitor.wait("UINT64 123456789")
    monitor.close()
