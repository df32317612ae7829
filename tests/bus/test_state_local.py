# SPDX-License-Identifier: LGPL-2.1-or-later
"""The state service and the node it runs on: what its services measure, shown, mapped, paged and announced."""

import math

import pytest

from contract import assert_follows
from state_service import (AMBIGUOUS_NAME, IDENTITYD_KINDS, INVALID_ARGS, KINDS, NODE_KINDS, NO_SUCH_KIND, NO_SUCH_NODE,
                           PATH, PROPERTIES, SOURCE_OF, STATE, TELEMETRYD_KINDS, Cluster, call, fails_with, interface,
                           known, local_id, managed, node_id, node_path, ours, pages, record, same, start)

LOCAL_KINDS = IDENTITYD_KINDS + TELEMETRYD_KINDS


def of_source(host, kind):
    service = SOURCE_OF[kind]
    return host.connection().get_all(f"org.alidade.{service}", f"/org/alidade/{service}", interface(kind))


def of_state(host, kind):
    return host.connection().get_all(STATE, node_path(local_id(host)), interface(kind))


def without_revision(properties):
    return {name: value for name, value in properties.items() if name != "Revision"}


def wait_for_kinds(host, kinds=tuple(LOCAL_KINDS)):
    with host.objects(STATE, PATH) as tree:
        for kind in kinds:
            tree.wait_for_interface(node_path(local_id(host)), interface(kind))


@pytest.fixture
def host(make_host):
    """The three services, all records of this node arrived. What they read stands still."""
    host = start(make_host, "identityd", "telemetryd")
    wait_for_kinds(host)
    return host


def settled(host, read):
    """What read() says when nothing was measured in the middle of it."""
    while True:
        before = {kind: of_source(host, kind) for kind in LOCAL_KINDS}
        found = read()
        if all(same(of_source(host, kind), before[kind]) for kind in LOCAL_KINDS):
            return before, found


def test_every_record_is_shown_in_each_way(host):
    """As an interface of the node, in its mapping, and in the profile; all of it as the contract says."""
    path = node_path(local_id(host))
    sources, objects = settled(host, lambda: managed(host))
    assert sorted(ours(objects)[path]) == sorted(map(interface, LOCAL_KINDS))
    for kind in LOCAL_KINDS:
        found = objects[path][interface(kind)]
        assert same(without_revision(found), known(kind, without_revision(sources[kind]))), kind
        every = host.connection().get_all(STATE, path, interface(kind))
        assert same(without_revision(every), without_revision(sources[kind])), kind
        assert found["Revision"] >= 1
    node = local_id(host)
    sources, mappings = settled(
        host, lambda: {kind: call(host, f"Get{KINDS[kind].mapping}") for kind in NODE_KINDS})
    for kind in NODE_KINDS:
        expected = {node: known(kind, sources[kind])} if kind in LOCAL_KINDS else {}
        assert same(mappings[kind], expected), kind
    assert call(host, "GetLinks") == {}
    for name in (local_id(host), of_source(host, "Node1.Identity")["FriendlyName"]):
        sources, profile = settled(host, lambda: call(host, "GetProfile", "s", (name,)))
        assert same(profile, {kind: known(kind, sources[kind]) for kind in LOCAL_KINDS}), name
    bus = host.connection()
    assert_follows(bus, STATE, PATH, [STATE])
    assert_follows(bus, STATE, node_path(local_id(host)), [interface(kind) for kind in LOCAL_KINDS])
    assert "node name=" in bus.introspect(STATE, PATH)


def test_totals(host):
    host.wait_for_property(STATE, PATH, STATE, "MemoryTotalBytes", lambda value: value == 16384000 * 1024)
    found = host.connection().get_all(STATE, PATH, STATE)
    of_machine = {name: found[name] for name in found if "LeftOut" in name and name != "NodesLeftOut"}
    assert same(found, {"NodeId": local_id(host), "Nodes": 1, "NodesLeftOut": 0, "Links": 0, "TflopsFp16": math.nan,
                        "TflopsFp32": math.nan, "TflopsFp32Devices": 0, **of_machine,
                        "MemoryBandwidthBytesPerSecond": 2 ** 64 - 1, "MemoryBandwidthOf": "",
                        "MemoryTotalBytes": 16384000 * 1024,
                        "MemoryAvailableBytes": of_state(host, "Node1.Memory")["AvailableBytes"],
                        "DeviceMemoryTotalBytes": 2 ** 64 - 1, "DeviceMemoryAvailableBytes": 2 ** 64 - 1,
                        "DeviceMemoryUnread": 0, "PowerMicroWatts": 2 ** 64 - 1, "NodesPowerUnread": 1,
                        "NodesPowerOfParts": 0, "Hidden": 0, "RefusedRecords": 0, "RefusedSignals": 0})
    host.sysroot.write("proc/meminfo", "MemTotal: 32768000 kB\nMemAvailable: 1000 kB\n")
    host.wait_for_property(STATE, PATH, STATE, "MemoryTotalBytes", lambda value: value == 32768000 * 1024)


def test_a_change_names_what_changed(host):
    path = node_path(local_id(host))
    before = of_state(host, "Node1.Memory")
    with host.log_signals(STATE, path, PROPERTIES, "PropertiesChanged", interface("Node1.Memory")) as changes:
        host.sysroot.write("proc/meminfo", "MemTotal: 16384000 kB\nMemAvailable: 4096000 kB\n"
                                           "SwapTotal: 2048000 kB\nSwapFree: 2048000 kB\n")
        changed, invalidated = changes.wait(lambda signal: "AvailableBytes" in signal.args[1]).args[1:]
    assert changed == {"AvailableBytes": 4096000 * 1024, "Revision": before["Revision"] + 1,
                       "UpdatedUSec": of_source(host, "Node1.Memory")["UpdatedUSec"]}
    assert not invalidated


def test_records_and_pages_of_this_node(host):
    node = local_id(host)
    sources, (records, after) = settled(host, lambda: call(host, "GetLocalRecords", "st", ("", 0)))
    assert after == ""
    assert [found[:3] for found in records] == [(node, kind, "") for kind in KINDS if kind in LOCAL_KINDS]
    for _, kind, _, epoch, seq, updated, deleted, fields in records:
        assert same({**fields, "UpdatedUSec": updated}, known(kind, sources[kind]))
        assert 1_700_000_000_000_000 < epoch < 2 ** 53 and seq > 0 and not deleted
    # One epoch for all, and each its own number.
    assert len({found[3] for found in records}) == 1
    assert len({found[4] for found in records}) == len(records)
    n = len(LOCAL_KINDS)
    for size in [1, 2, n - 1, n, 10_000, 2 ** 64 - 1]:
        found = pages(host, size=size, method="GetLocalRecords")
        assert [kind for page in found for _, kind, *_ in page] == [kind for kind in KINDS if kind in LOCAL_KINDS]
        assert [len(page) for page in found] == [min(size, n - begin) for begin in range(0, n, size)]


# First data, one after the other


def test_an_interface_is_there_with_its_first_data(make_host):
    host = start(make_host)
    node = local_id(host)
    with host.objects(STATE, PATH) as tree:
        assert tree.objects == {}
        host.start_daemon("identityd")
        tree.wait_for_interface(node_path(node), interface("Node1.Identity"))
        assert not {interface(kind) for kind in TELEMETRYD_KINDS} & tree.objects[node_path(node)].keys()
        assert call(host, "GetMemories") == {}
        assert list(call(host, "GetProfile", "s", (node,))) == ["Node1.Identity"]
        host.start_daemon("telemetryd")
        for kind in TELEMETRYD_KINDS:
            tree.wait_for_interface(node_path(node), interface(kind))
        # What was told by signals is what a new client is given.
        tree.wait(lambda objects: same(ours(objects), ours(managed(host))))


def test_a_record_that_few_machines_have(make_host):
    host = start(make_host)
    host.sysroot.write_all({"state": "4: ACTIVE\n", "link_layer": "InfiniBand\n", "rate": "100 Gb/sec (4X EDR)\n"},
                           "sys/class/infiniband/mlx5_0/ports/1")
    host.start_daemon("telemetryd")
    wait_for_kinds(host, ["Node1.Fabric"])
    port, = of_state(host, "Node1.Fabric")["RdmaPorts"]
    assert (port["Id"], port["State"], port["RateBitsPerSecond"]) == ("mlx5_0.1", "active", 100 * 10 ** 9)


# Other nodes beside it


def test_names(host):
    cluster = Cluster(host)
    cluster.take(record(node_id(1), "Node1.Identity", FriendlyName="twin"),
                 record(node_id(2), "Node1.Identity", FriendlyName="twin"),
                 record(node_id(3), "Node1.Identity", FriendlyName=node_id(1)))
    with fails_with(AMBIGUOUS_NAME) as error:
        call(host, "GetProfile", "s", ("twin",))
    assert "2 nodes" in error.value.message
    # An id is an id, whatever somebody calls himself.
    assert call(host, "GetProfile", "s", (node_id(1),))["Node1.Identity"]["FriendlyName"] == "twin"
    cluster.take(record(node_id(2), "Node1.Identity", seq=2, deleted=True))
    assert call(host, "GetProfile", "s", ("twin",))["Node1.Identity"]["FriendlyName"] == "twin"


# A text that is cut must not be cut in the middle of a letter, or the error never arrives.
LONG_TEXTS = ["x" * 1_000_000, "x" + "ä" * 500]


def test_names_and_cursors_that_are_none(host):
    for name in ["", "nobody", node_id(7), local_id(host).upper(), "0" * 32, "\x1b[31m", "%s%n", *LONG_TEXTS]:
        with fails_with(NO_SUCH_NODE, name[:40]):
            call(host, "GetProfile", "s", (name,))
    for kind in ["Node1", "node1.memory", "Node1.Memory ", "org.alidade.Node1.Memory", *LONG_TEXTS]:
        with fails_with(NO_SUCH_KIND, kind[:40]):
            call(host, "GetRecords", "sst", (kind, "", 0))
    for cursor in [" ", "  ", "x", node_id(1), f"{node_id(1)} ", f"{node_id(1)} Node1.Memory",
                   f"{node_id(1)} Node1.Nothing ", f"{node_id(1)[1:]} Node1.Memory ", f"{'0' * 32} Node1.Memory ",
                   *LONG_TEXTS]:
        with fails_with(INVALID_ARGS, cursor[:60]):
            call(host, "GetRecords", "sst", ("", cursor, 0))
        with fails_with(INVALID_ARGS, cursor[:60]):
            call(host, "DescribeRecords", "sst", ("", cursor, 0))
        with fails_with(INVALID_ARGS, cursor[:60]):
            call(host, "GetLocalRecords", "st", (cursor, 0))


# RecordsChanged


def changed_kinds(log):
    return [kind for signal in log.received for _, kind, *_ in signal.args[0]]


def test_changes_are_told_while_there_is_a_cluster_service(host):
    client = host.new_connection("alidade-cluster" if host.isolated else None)
    with client.log_directed(STATE, "RecordsChanged") as log:
        call(host, "GetFindings")
        host.sysroot.write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 500 kB\n")
        host.wait_for_property(STATE, node_path(local_id(host)), interface("Node1.Memory"), "TotalBytes",
                               lambda value: value == 1000 * 1024)
        assert not log.received

        cluster = Cluster(host, client)
        host.sysroot.write("proc/meminfo", "MemTotal: 2000 kB\nMemAvailable: 1500 kB\n")
        told = log.wait(lambda signal: any(
            kind == "Node1.Memory" and fields["TotalBytes"] == 2000 * 1024
            for _, kind, _, _, _, _, _, fields in signal.args[0]))
        node, kind, key, epoch, seq, updated, deleted, fields = next(
            found for found in told.args[0] if found[1] == "Node1.Memory")
        assert (node, key, deleted) == (local_id(host), "", False)
        assert (node, kind, key, epoch, seq, updated, deleted, fields) in pages(host)[0]
        # Those of others are nothing new to the cluster service.
        cluster.take(record(node_id(1), TotalBytes=7))
        call(host, "GetFindings")
        assert node_id(1) not in {found[0] for signal in log.received for found in signal.args[0]}

        cluster.close()
        host.wait_for_name("org.alidade.Cluster1", present=False)
        call(host, "GetFindings")
        log.received.clear()
        host.sysroot.write("proc/meminfo", "MemTotal: 3000 kB\nMemAvailable: 1500 kB\n")
        host.wait_for_property(STATE, node_path(local_id(host)), interface("Node1.Memory"), "TotalBytes",
                               lambda value: value == 3000 * 1024)
        assert not log.received
