# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ordinary clients of the state service, which need no call of ours: GDBusObjectManagerClient, busctl, gdbus."""

import json
import math
import os
import shutil

import pytest
from gi.repository import Gio, GLib

from bedlib import wait_until
from state_service import (KINDS, PATH, STATE, Cluster, full_record, interface, key_for, link_path, memory, node_id,
                           node_path, record, start)

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
        cluster.take(memory(SOURCE, 5), full_record("Link1.Socket", SOURCE, SINK))
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
