# SPDX-License-Identifier: LGPL-2.1-or-later
"""The state service with ten thousand nodes and a million keys: what is shown, what it takes, and who still gets an
answer."""

import select
import time

import pytest
from gi.repository import GLib

from bedlib.waiting import PATIENCE
from state_service import (LIMITS_EXCEEDED, MEBI, OBJECT_MANAGER, PATH, PROPERTIES, STATE, Batches, Cluster, Wire,
                           WireCluster, blob, call, fails_with, get, interface, memory, memory_of, node_id, node_path,
                           only_without_sanitizers, record, start)

LIMIT = 16 * MEBI
SLOW = "which take a minute for it"
BATCH = 500


def a_node(node):
    """Of the size that a real one has: two GPUs, six network interfaces."""
    devices = [f"0000:0{n}:00.0" for n in (1, 2)]
    return [
        record(node, "Node1.Identity", FriendlyName=f"node {node[-4:]}", Vendor="Vendor", ModelId="Model 1",
               ChipId="A chip with a long name", OperatingSystem="Debian GNU/Linux 12 (bookworm)",
               KernelRelease="6.1.0-18-amd64", Architecture="x86_64", BootId="0" * 32),
        memory(node, 2 ** 36, ),
        record(node, "Node1.System", CpuUsage=12.5, Devices=[
            {"Id": device, "Usage": 33.0, "MemoryUsedBytes": 2 ** 33, "TemperatureMilliCelsius": 61000,
             "PowerMicroWatts": 220_000_000, "ClockHz": 2_520_000_000} for device in devices]),
        record(node, "Node1.Backends", Devices=[
            {"Id": device, "Class": "gpu", "Name": "RTX 4090", "Vendor": "NVIDIA", "Driver": "nvidia",
             "MemoryTotalBytes": 24 * 2 ** 30, "Unified": False} for device in devices]),
        record(node, "Node1.Network", Interfaces=[
            {"Id": f"eth{n}", "Type": "ethernet", "HardwareAddress": f"52:54:00:12:34:5{n}", "Carrier": True,
             "Addresses": [f"192.0.2.{n}/24", f"2001:db8::{n}/64", f"fe80::{n}/64"],
             "SpeedBitsPerSecond": 25_000_000_000, "Mtu": 9000, "Driver": "ice"} for n in range(6)]),
    ]


@pytest.fixture(scope="module")
def nodes():
    return Batches(a_node, BATCH)


def put(host, nodes, batches):
    with WireCluster(host) as cluster:
        for number in batches:
            assert cluster.put(nodes.message(number)) == (nodes.size, 0)


def reply_to(host, member, signature="", args=(), name=STATE):
    """The unpacked reply, and the bytes of its body."""
    reply = host.connection().call_raw(STATE, PATH, name, member, GLib.Variant(f"({signature})", args), deadline=60)
    return reply, len(reply.get_data_as_bytes().get_data())


def managed_paths(host):
    reply, size = reply_to(host, "GetManagedObjects", name=OBJECT_MANAGER)
    assert size <= LIMIT
    objects = reply.get_child_value(0)
    return {objects.get_child_value(n).get_child_value(0).get_string() for n in range(objects.n_children())}, size


def all_keys(host, kind=""):
    """(node, kind, key) of every record, page by page, none of them larger than a reply may be."""
    after, found = "", []
    while True:
        reply, size = reply_to(host, "GetRecords", "sst", (kind, after, 0))
        assert size <= LIMIT
        records = reply.get_child_value(0)
        for n in range(records.n_children()):
            one = records.get_child_value(n)
            found.append(tuple(one.get_child_value(part).get_string() for part in range(3)))
        after = reply.get_child_value(1).get_string()
        if not after:
            return found


def test_ten_thousand_nodes(make_host, nodes):
    only_without_sanitizers(SLOW)
    host = start(make_host)
    put(host, nodes, range(1, 21))
    everyone = [nodes.node(batch, n) for batch in range(1, 21) for n in range(BATCH)]

    cluster = Cluster(host)
    cluster.online(*everyone)
    paths, _ = managed_paths(host)
    # One of the 1000 places is kept for this node, which has no records here.
    assert len(paths) == 999 and paths <= {node_path(node) for node in everyone}
    host.wait_for_property(STATE, PATH, STATE, "Hidden", lambda value: value == 9001)
    assert get(host, "Nodes") == 10_001
    host.wait_for_property(STATE, PATH, STATE, "MemoryTotalBytes", lambda value: value == 10_000 * 2 ** 36)
    assert get(host, "TflopsFp16LeftOut") == 20_000

    # Whole maps as long as they fit; pages always.
    assert reply_to(host, "GetMemories")[1] <= LIMIT
    with fails_with(LIMITS_EXCEEDED):
        call(host, "GetNetworks")
    assert all_keys(host, "Node1.Memory") == [(node, "Node1.Memory", "") for node in everyone]
    last = everyone[-1]
    assert len(call(host, "GetProfile", "s", (last,))) == 6
    assert node_path(last) not in paths
    assert reply_to(host, "GetFindings")[1] <= LIMIT

    # An update is as cheap, and one that is shown is told, though there are so many.
    visible = min(paths)
    host.wait_for_property(STATE, visible, interface("Node1.Memory"), "TotalBytes", lambda value: value == 2 ** 36)
    cluster.take(memory(visible.rpartition("/")[2], 7, seq=2))
    host.wait_for_property(STATE, visible, interface("Node1.Memory"), "TotalBytes", lambda value: value == 7)


def test_as_many_objects_as_fit_into_a_reply(make_host, nodes):
    only_without_sanitizers(SLOW)
    host = start(make_host, config="[state]\nmax-nodes=10000\n")
    put(host, nodes, range(1, 13))
    paths, size = managed_paths(host)
    # The bound is by an estimate from above, which must not be so far above that it hides without need.
    assert 0.6 * LIMIT < size <= LIMIT
    host.wait_for_property(STATE, PATH, STATE, "Hidden", lambda value: len(paths) + value == 12 * BATCH)


def test_a_place_that_becomes_free_is_taken(make_host):
    # One of the places is kept for this node.
    host = start(make_host, config="[state]\nmax-nodes=3\n")
    cluster = Cluster(host)
    cluster.take(*(memory(node_id(n)) for n in (1, 2, 3)))
    host.wait_for_property(STATE, PATH, STATE, "Hidden", lambda value: value == 1)
    assert managed_paths(host)[0] == {node_path(node_id(1)), node_path(node_id(2))}
    cluster.online(node_id(2))
    host.wait_for_property(STATE, PATH, STATE, "NodesLeftOut", lambda value: value == 2)
    with host.objects(STATE, PATH) as tree:
        cluster.take(record(node_id(1), seq=2, deleted=True))
        tree.wait(lambda objects: node_path(node_id(1)) not in objects)
        host.wait_for_property(STATE, PATH, STATE, "NodesLeftOut", lambda value: value == 1)
        assert get(host, "Hidden") == 1
        # As each node is heard again every 30 s.
        cluster.take(memory(node_id(3), seq=2))
        tree.wait_for_interface(node_path(node_id(3)), interface("Node1.Memory"))
    host.wait_for_property(STATE, PATH, STATE, "Hidden", lambda value: value == 0)


def test_a_million_keys(make_host):
    """Links and their deletions by turns. So many of a node as there may be are taken, and others are answered."""
    only_without_sanitizers(SLOW)
    host = start(make_host)
    stated = host.daemons[-1]
    before = memory_of(stated)
    accepted = refused = 0
    batches = 30
    with WireCluster(host) as cluster, Wire(host) as other:
        messages = [link_keys(deleted=False), link_keys(deleted=True)]
        question = blob(STATE, PATH, PROPERTIES, "Get", GLib.Variant("(ss)", (STATE, "Links")))
        waited = []
        for number in range(1, batches + 1):
            cluster.send(messages[number % 2].message(number))
            while not select.select([cluster], [], [], 0)[0]:
                begin = time.monotonic()
                other.call(question)
                waited.append(time.monotonic() - begin)
            counts = cluster.reply().unpack()
            accepted += counts[0]
            refused += counts[1]
    assert accepted + refused == batches * 8 * 4200
    assert refused >= batches * 8 * (4200 - 4096)
    assert get(host, "RefusedRecords") == refused
    assert len(waited) >= batches and max(waited) < 2 * PATIENCE
    grown = memory_of(stated) - before
    print(f"accepted {accepted}, refused {refused}, grown {grown / MEBI:.0f} MiB, "
          f"{grown / max(accepted, 1):.0f} bytes each, worst {max(waited) * 1000:.0f} ms, asked {len(waited)}")
    assert grown < 640 * MEBI
    cluster = Cluster(host)
    cluster.take(memory(node_id(1)))
    assert call(host, "GetMemories").keys() == {node_id(1)}


def link_keys(deleted):
    """More than a node may have, of eight nodes."""
    def make(node):
        fields = {} if deleted else {"Source": node, "Sink": node}
        return [record(node, "Link1.Socket", key=f"{node},10.0.{n // 256}.{n % 256}", deleted=deleted, **fields)
                for n in range(4200)]
    return Batches(make, 8)
