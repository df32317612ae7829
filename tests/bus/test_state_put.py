# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records of other nodes: who may bring them, which are taken, which are refused, and what clients are told."""

import collections
import json
import math

import pytest
from gi.repository import GLib

from bedlib.fixtures import needs_namespaces
from bedlib.variants import pack
from bedlib.waiting import wait_steadily
from contract import assert_follows
from state_service import (ACCESS_DENIED, CLUSTER, CLUSTER_POLICY, KINDS, MEBI, NODE_KINDS, OBJECT_MANAGER, PATH,
                           PROPERTIES, STATE, Cluster, call, fails_with, full, full_record, get, interface, key_for,
                           link_path, local_id, managed, memory, memory_of, node_id, node_path, pages, record, same,
                           sanitized, shown, start, topology, variants)

SOURCE, SINK = node_id(1), node_id(2)


@pytest.fixture
def host(make_host):
    return start(make_host)


@pytest.fixture
def cluster(host):
    return Cluster(host)


def path_of(kind, source=SOURCE):
    return link_path(kind, source, key_for(kind, SINK)) if KINDS[kind].is_link else node_path(source)


def properties(host, kind, source=SOURCE):
    return host.connection().get_all(STATE, path_of(kind, source), interface(kind))


def total(host, node=SOURCE):
    """The one number by which a record of memory() is known; None where there is none."""
    return call(host, "GetMemories").get(node, {}).get("TotalBytes")


# Who may


def put_as(host, connection):
    return connection.call(STATE, PATH, STATE, "PutRecords", "a(ssstttba{sv})", ([memory(SOURCE)],))


@needs_namespaces
@pytest.mark.parametrize("strict_bus", [True, False], ids=["by policy", "by the service"])
def test_nobody_else_may_put(make_host, strict_bus):
    host = start(make_host, strict_bus=strict_bus, bus_policy=CLUSTER_POLICY if strict_bus else "")
    callers = [host.connection(user) for user in (None, "nobody", "alidade-telemetry", "alidade-cluster")]
    for caller in callers:
        with fails_with(ACCESS_DENIED):
            put_as(host, caller)
    cluster = Cluster(host)
    for caller in callers:
        with fails_with(ACCESS_DENIED):
            put_as(host, caller)
    assert total(host) is None
    assert get(host, "RefusedRecords") == 0
    cluster.take(memory(SOURCE))


@needs_namespaces
def test_who_took_the_name_over_may_put(host, cluster):
    host.call(STATE, PATH, STATE, "GetFindings")
    cluster.connection.call_bus("ReleaseName", "s", (CLUSTER,))
    second = Cluster(host)
    with fails_with(ACCESS_DENIED):
        put_as(host, cluster.connection)
    second.take(memory(SOURCE))


# What is taken


# Each kind has a node of its own.
NODE_OF = {kind: node_id(number) for number, kind in enumerate(KINDS, 0x100)}


def test_every_kind_is_shown(host, cluster):
    mappings = collections.defaultdict(dict)  # both kinds of links are in one
    for kind, source in NODE_OF.items():
        key = key_for(kind, SINK)
        fields = full(kind, source, key)
        cluster.take(full_record(kind, source, SINK, updated=77))
        expected = {**fields, "UpdatedUSec": 77}
        assert properties(host, kind, source) == {**expected, "Revision": 1}, kind
        assert_follows(host.connection(), STATE, path_of(kind, source), [interface(kind)])
        assert managed(host)[path_of(kind, source)][interface(kind)] == {**expected, "Revision": 1}, kind
        name = f"{source}/{key}" if key else source
        if key:
            cluster.take(memory(SINK))  # a link to a node of which nothing is known is not shown
        mappings[KINDS[kind].mapping][name] = expected
        assert call(host, f"Get{KINDS[kind].mapping}") == mappings[KINDS[kind].mapping], kind
        assert pages(host, kind) == [[(source, kind, key, 1, 1, 77, False, fields)]], kind
        if not key:
            assert call(host, "GetProfile", "s", (source,)) == {kind: expected}, kind


def of_source(mapping, source):
    return [record for name, record in mapping.items() if name.partition("/")[0] == source]


def test_absent_stays_absent(host, cluster):
    for kind, source in NODE_OF.items():
        key = key_for(kind, SINK)
        ends = {name: value for name, value in full(kind, source, key).items() if key and name in ("Source", "Sink")}
        rows = {field.name: [{"Id": "only"}] for field in KINDS[kind].fields if field.row}
        cluster.take(record(source, kind, key=key, updated=77, **ends, **rows))
        expected = {**ends, **rows, "UpdatedUSec": 77}
        assert same(properties(host, kind, source),
                    {**shown(kind, {**ends, **rows}), "UpdatedUSec": 77, "Revision": 1}), kind
        if key:
            cluster.take(memory(SINK))
        assert of_source(call(host, f"Get{KINDS[kind].mapping}"), source) == [expected], kind
        # And every way to say "unknown" of every field is the same record again.
        unknown = {"t": 2 ** 64 - 1, "x": -2 ** 63, "d": math.nan, "s": "", "as": [], "b": False}
        said = {field.name: unknown[field.type] for field in KINDS[kind].fields if field.name not in {**ends, **rows}}
        said_rows = {field.name: [{**{sub.name: unknown[sub.type] for sub in field.row_fields if sub.type != "b"},
                                   "Id": "only"}] for field in KINDS[kind].fields if field.row}
        cluster.take(record(source, kind, key=key, seq=2, updated=77, **ends, **said, **said_rows))
        assert of_source(call(host, f"Get{KINDS[kind].mapping}"), source) == [expected], kind
        assert properties(host, kind, source)["Revision"] == 1, kind


def test_infinite_is_absent(host, cluster):
    cluster.take(record(SOURCE, PressureSome10=math.inf, PressureFull10=-math.inf, TotalBytes=5))
    assert call(host, "GetMemories")[SOURCE].keys() == {"TotalBytes", "UpdatedUSec"}


def test_the_newer_stamp_wins(host, cluster):
    for epoch, seq, number, wins in [(5, 5, 1, True), (5, 4, 2, False), (4, 9, 3, False), (5, 5, 1, True),
                                     (5, 6, 4, True), (6, 0, 5, True), (5, 2 ** 53, 6, False),
                                     (7, 2 ** 53, 7, True)]:
        before = total(host)
        cluster.take(memory(SOURCE, number, epoch=epoch, seq=seq))
        assert total(host) == (number if wins else before), (epoch, seq)


def test_an_epoch_of_the_future_is_refused(host, cluster):
    """It would stand above all that the node ever says."""
    cluster.take(memory(SOURCE, 1, epoch=5))
    cluster.refused(memory(SOURCE, 2, epoch=2 ** 53, seq=2 ** 53))
    assert total(host) == 1


def test_equal_stamps_end_alike_in_any_order(host, cluster):
    for order in ((1, 2, 3), (3, 2, 1), (2, 3, 1), (2, 1, 3)):
        node = node_id(int("".join(map(str, order))))
        rivals = {1: memory(node, 100, updated=9), 2: memory(node, 200, updated=8),
                  3: record(node, SwapTotalBytes=100, TotalBytes=200, updated=7)}
        cluster.take(*(rivals[number] for number in order))
        assert call(host, "GetMemories") == {node: {"TotalBytes": 200, "SwapTotalBytes": 100, "UpdatedUSec": 7}}, order
        cluster.take(memory(node, updated=1, deleted=True), *rivals.values())
        assert call(host, "GetMemories") == {}, order


def test_a_deletion_stays_until_something_newer(host, cluster):
    cluster.take(memory(SOURCE, 1, seq=5))
    cluster.take(record(SOURCE, seq=6, deleted=True, updated=66))
    assert node_path(SOURCE) not in managed(host)
    assert pages(host) == [[(SOURCE, "Node1.Memory", "", 1, 6, 66, True, {})]]
    cluster.take(memory(SOURCE, 1, seq=5))
    assert total(host) is None
    cluster.take(memory(SOURCE, 2, seq=7))
    assert total(host) == 2


def test_a_deletion_says_nothing_else(host, cluster):
    cluster.take(record(SOURCE, deleted=True, TotalBytes=GLib.Variant("s", "of another type")))
    assert pages(host)[0][0][6:] == (True, {})


def test_revision_counts_changes(host, cluster):
    for seq, number, revision in [(1, 10, 1), (2, 10, 1), (3, 11, 2), (4, 10, 3)]:
        cluster.take(memory(SOURCE, number, seq=seq, updated=seq))
        found = properties(host, "Node1.Memory")
        assert (found["Revision"], found["UpdatedUSec"]) == (revision, seq)


def test_unknown_fields_are_skipped(host, cluster):
    deep = GLib.Variant("s", "x")
    for _ in range(40):
        deep = GLib.Variant("v", deep)
    cluster.take((SOURCE, "Node1.Memory", "", 1, 1, 5, False, {
        "FromTheFuture": GLib.Variant("a{s(xau)}", {"a": (1, [2, 3])}), "Deep": deep,
        "TotalBytes": GLib.Variant("t", 1), "Revision": GLib.Variant("t", 99)}))
    assert call(host, "GetMemories") == {SOURCE: {"TotalBytes": 1, "UpdatedUSec": 5}}
    assert properties(host, "Node1.Memory")["Revision"] == 1


def test_rows_are_told_apart_by_their_id(host, cluster):
    rows = [{"Id": "b", "Usage": 1.0}, {"Usage": 9.0}, {"Id": "a", "Usage": 2.0}, {"Id": "b", "Usage": 3.0}, {"Id": ""}]
    cluster.take(record(SOURCE, "Node1.System", Devices=rows))
    assert call(host, "GetSystems")[SOURCE]["Devices"] == [{"Id": "a", "Usage": 2.0}, {"Id": "b", "Usage": 1.0}]


# What is refused


REFUSED = {
    "empty id": memory(""),
    "short id": memory(SOURCE[1:]),
    "long id": memory(SOURCE + "0"),
    "upper case id": memory("A" * 32),
    "zero id": memory("0" * 32),
    "id of a megabyte": memory("1" * MEBI),
    "path as id": memory("../../etc/passwd/0000000000000000"),
    "no kind": (SOURCE, "", "", 1, 1, 1, False, {}),
    "unknown kind": (SOURCE, "Node1.Nothing", "", 1, 1, 1, False, {"TotalBytes": GLib.Variant("t", 1)}),
    "interface as kind": (SOURCE, "org.alidade.Node1.Memory", "", 1, 1, 1, False, {}),
    "kind of a megabyte": (SOURCE, "ä" * (MEBI // 2), "", 1, 1, 1, False, {}),
    "deletion of an unknown kind": (SOURCE, "Node1.Nothing", "", 1, 1, 1, True, {}),
    "deletion by no id": memory("x", deleted=True),
    "deletion under an odd key": memory(SOURCE, key="x", deleted=True),
    "key of a node": memory(SOURCE, key="x"),
    "link without key": record(SOURCE, "Link1.Socket", Source=SOURCE, Sink=SINK),
    "link under its sink alone": record(SOURCE, "Link1.Socket", key=SINK, Source=SOURCE, Sink=SINK),
    "address not canonical": record(SOURCE, "Link1.Socket", key=f"{SINK},192.0.02.7", Source=SOURCE, Sink=SINK),
    "address with a zone": record(SOURCE, "Link1.Socket", key=f"{SINK},fe80::1%eth0", Source=SOURCE, Sink=SINK),
    "key of three parts": record(SOURCE, "Link1.Socket", key=f"{SINK},192.0.2.7,x", Source=SOURCE, Sink=SINK),
    "key of a megabyte": record(SOURCE, "Link1.Socket", key=f"{SINK},{'1' * MEBI}", Source=SOURCE, Sink=SINK),
    "port 0": record(SOURCE, "Link1.Rdma", key=f"mlx5_0.0,{SINK},rxe0.1", Source=SOURCE, Sink=SINK),
    "port with a slash": record(SOURCE, "Link1.Rdma", key=f"a/b.1,{SINK},rxe0.1", Source=SOURCE, Sink=SINK),
    "link of another source": record(SOURCE, "Link1.Socket", key=key_for("Link1.Socket", SINK), Source=SINK, Sink=SINK),
    "link to another sink": record(SOURCE, "Link1.Rdma", key=key_for("Link1.Rdma", SINK), Source=SOURCE, Sink=SOURCE),
    "link that names no source": record(SOURCE, "Link1.Socket", key=key_for("Link1.Socket", SINK), Sink=SINK),
    "epoch beyond 2^53": memory(SOURCE, epoch=2 ** 53 + 1),
    "seq beyond 2^53": memory(SOURCE, seq=2 ** 64 - 1),
    "time beyond 2^53": memory(SOURCE, updated=2 ** 53 + 1),
    "string for a number": record(SOURCE, TotalBytes=GLib.Variant("s", "1000")),
    "other number": record(SOURCE, TotalBytes=GLib.Variant("x", 1000)),
    "variant in a variant": record(SOURCE, TotalBytes=GLib.Variant("v", GLib.Variant("t", 1))),
    "number beyond 2^53": record(SOURCE, TotalBytes=2 ** 53 + 1),
    "negative beyond 2^53": record(SOURCE, "Node1.System", TemperatureMilliCelsius=-2 ** 53 - 1),
    "good field before a bad one": record(SOURCE, TotalBytes=7, AvailableBytes=GLib.Variant("b", True)),
    "bad field before a good one": record(SOURCE, TotalBytes=GLib.Variant("b", True), AvailableBytes=7),
    "string of a megabyte": record(SOURCE, "Node1.Identity", FriendlyName="x" * MEBI),
    "rows that are strings": record(SOURCE, "Node1.System", Devices=GLib.Variant("as", ["a"])),
    "rows that are a map": record(SOURCE, "Node1.System", Devices=GLib.Variant("a{sv}", {})),
    "bad field of a row": record(SOURCE, "Node1.System", Devices=[{"Id": "a", "Usage": GLib.Variant("s", "1")}]),
    "number of a row beyond 2^53": record(SOURCE, "Node1.System", Devices=[{"Id": "a", "MemoryUsedBytes": 2 ** 60}]),
    "string of a row of a megabyte": record(SOURCE, "Node1.System", Devices=[{"Id": "x" * MEBI}]),
    "too many rows": lambda: record(SOURCE, "Node1.Network", Interfaces=[{"Id": f"eth{n}"} for n in range(20_000)]),
    "too many strings": lambda: record(
        SOURCE, "Node1.Network", Interfaces=[{"Id": "eth0", "Addresses": ["x" * 500] * 2_000}]),
}


def refused_records():
    """By name; what takes long to make is made only now."""
    return {name: bad() if callable(bad) else bad for name, bad in REFUSED.items()}


def test_what_is_refused(host, cluster):
    for name, bad in refused_records().items():
        assert cluster.put(bad) == (0, 1), name
    assert get(host, "RefusedRecords") == len(REFUSED)
    assert pages(host) == [[]] and list(managed(host)) == []


def test_what_is_refused_leaves_the_rest(host, cluster):
    """Each bad record between two good ones, all in one call."""
    records = []
    for number, bad in enumerate(refused_records().values()):
        records += [memory(node_id(100 + 2 * number)), bad, memory(node_id(101 + 2 * number))]
    assert cluster.put(*records) == (2 * len(REFUSED), len(REFUSED))
    assert sorted(call(host, "GetMemories")) == [node_id(100 + n) for n in range(2 * len(REFUSED))]


def test_refusals_are_logged_once_and_fit_for_a_terminal(host, cluster):
    for number in range(50):
        cluster.refused((f"\x1b[31m{number}\nforged: line" + "ä" * 100, "Node1.Memory", "", 1, 1, 1, False, {}))
    log = host.daemons[-1].log_text()
    assert log.count("Refused a record") == 1
    assert "\x1b" not in log and "\nforged" not in log
    assert max(map(len, log.splitlines())) < 400


def test_a_message_of_another_type_is_an_error(host, cluster):
    for signature, args in [("", ()), ("s", ("x",)), ("as", ([],)), ("a(ssstttba{ss})", ([],)),
                            ("a(ssstttba{sv})s", ([], "x")), ("a{sv}", ({},))]:
        with fails_with("org.freedesktop.DBus.Error.InvalidArgs"):
            cluster.connection.call(STATE, PATH, STATE, "PutRecords", signature, args)
    assert cluster.put() == (0, 0)
    assert get(host, "RefusedRecords") == 0


NONCHARACTER = "a\ufffeb"


BAD_RECORDS = [
    record(node_id(2), "Node1.Identity", FriendlyName=NONCHARACTER),
    record(node_id(2), "Node1.Identity", FriendlyName=GLib.Variant("t", 7), Vendor=NONCHARACTER),
    record(node_id(2), "Node1.Network", Interfaces=[{"Id": "eth0", "Addresses": ["x", NONCHARACTER]}]),
    record(node_id(2), "Node1.Nonsense", Field=GLib.Variant("s", NONCHARACTER)),
    record(NONCHARACTER)]


def test_a_noncharacter(host, cluster):
    """Issue 12, item 21: dbus-daemon lets it through, and sd-bus cannot read on behind it."""
    taken = set()
    for number, bad in enumerate(BAD_RECORDS, 1):
        before, behind = node_id(number * 16), node_id(number * 16 + 1)
        with fails_with("org.freedesktop.DBus.Error.InvalidArgs", bad):
            cluster.put(memory(before, 5), bad, memory(behind, 5))
        assert get(host, "RefusedRecords") == number, bad
        assert set(call(host, "GetMemories")) == taken | {before}, bad
        cluster.take(memory(behind, 5))
        taken |= {before, behind}


NONCHARACTER_QUESTIONS = [
    ("GetProfile", "s", (NONCHARACTER,)), ("GetFabric", "s", (NONCHARACTER,)), ("GetDigest", "s", (NONCHARACTER,)),
    ("GetRecords", "sst", ("", NONCHARACTER, 0)), ("GetLocalRecords", "st", (NONCHARACTER, 0))]


def test_a_noncharacter_in_a_question(host):
    for method, signature, args in NONCHARACTER_QUESTIONS:
        with fails_with("org.freedesktop.DBus.Error.InvalidArgs", method):
            call(host, method, signature, args)


@pytest.mark.parametrize("kind, field, row", [("Node1.System", "Devices", {}), ("Node1.Network", "Interfaces", {}),
                                              ("Node1.Network", "Interfaces", {"Addresses": [""] * 64})],
                         ids=["empty devices", "empty interfaces", "empty addresses"])
def test_rows_without_end_take_no_memory_without_end(host, cluster, kind, field, row):
    """A row is far larger in memory than on the wire, so what a message of 16 MiB may cost is to be seen."""
    cluster.take(memory(SOURCE))
    before = memory_of(host.daemons[-1])
    told = variants(kind, {field: [row]})[field]
    value = pack(told.signature, told.value)
    size = len(value.get_data_as_bytes().get_data())
    rows = GLib.Variant.new_array(GLib.VariantType("a{sv}"), [value.get_child_value(0)] * (8 * MEBI // max(size, 4)))
    grown = peak_during(host.daemons[-1], lambda: cluster.refused(record(SOURCE, kind, **{field: rows}))) - before
    assert sanitized() or grown < 96 * MEBI, f"{grown / MEBI:.0f} MiB"


def peak_during(process, action):
    """The most that a process ever held, reset before the action."""
    with open(f"/proc/{process.outer_pid}/clear_refs", "w", encoding="ascii") as clear:
        clear.write("5")
    action()
    with open(f"/proc/{process.outer_pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


# This node's own id


def test_newer_epochs_of_this_node_are_taken_over_twice(make_host):
    host = start(make_host, "identityd")
    with host.objects(STATE, PATH) as tree:
        tree.wait_for_interface(node_path(local_id(host)), interface("Node1.Identity"))
    cluster, own = Cluster(host), local_id(host)
    identity = call(host, "GetIdentities")[own]
    (_, _, _, epoch, _, updated, _, fields), = pages(host, method="GetLocalRecords")[0]

    # What an older self said is known; it changes nothing.
    cluster.take(record(own, "Node1.Identity", epoch=epoch - 1, FriendlyName="past"),
                 record(own, "Node1.Identity", epoch=epoch, seq=2 ** 53, FriendlyName="echo"))
    assert call(host, "GetIdentities")[own] == identity

    with cluster.connection.log_signals(STATE, PATH, STATE, "RecordsChanged") as log:
        cluster.take(record(own, "Node1.Identity", epoch=epoch + 1000, FriendlyName="other installation"))
        told, = log.wait().args[0]
    assert told == (own, "Node1.Identity", "", epoch + 1001, told[4], updated, False, fields)
    assert call(host, "GetIdentities")[own] == identity

    # Brokers may hold records of two earlier epochs, and deliver the older one first.
    cluster.take(record(own, "Node1.Identity", epoch=epoch + 1500, FriendlyName="newer installation"))
    cluster.refused(record(own, "Node1.Identity", epoch=epoch + 2000, FriendlyName="twin"))
    assert "another machine uses the id of this node" in host.daemons[-1].log_text()
    assert call(host, "GetIdentities")[own] == identity

    # Another connection of the cluster service may find the same once more.
    cluster.close()
    host.wait_for_name(CLUSTER, present=False)
    cluster = Cluster(host)
    cluster.take(record(own, "Node1.Identity", epoch=epoch + 3000, FriendlyName="again"))
    (_, _, _, now, _, _, _, _), = pages(host, method="GetLocalRecords")[0]
    assert now == epoch + 3001
    # Nothing of it is lost by a restart.
    host.daemons[-1].stop()
    host.start_daemon("stated")
    with host.objects(STATE, PATH) as tree:
        tree.wait_for_interface(node_path(own), interface("Node1.Identity"))
    assert pages(host, method="GetLocalRecords")[0][0][3] > now


# What clients are told


def test_coming_changing_and_going(host, cluster):
    with host.log_signals(STATE) as log:
        cluster.take(memory(SOURCE, 1, updated=10), record(SOURCE, "Node1.Disk", updated=10, Paths=[]))
        cluster.take(full_record("Link1.Socket", SOURCE, SINK, updated=10))
        log.wait(lambda signal: signal.args[0] == path_of("Link1.Socket"))
        for path, name in [(node_path(SOURCE), interface("Node1.Memory")), (node_path(SOURCE), interface("Node1.Disk")),
                           (path_of("Link1.Socket"), interface("Link1.Socket"))]:
            added, = [signal for signal in log.received if signal.member == "InterfacesAdded"
                      and signal.args[0] == path and name in signal.args[1]]
            assert (added.path, added.interface) == (PATH, OBJECT_MANAGER)
            assert same(added.args[1], managed(host)[path])

        log.received.clear()
        cluster.take(memory(SOURCE, 2, seq=2, updated=20))
        changed = log.wait(lambda signal: signal.path == node_path(SOURCE))
        assert changed.member == "PropertiesChanged"
        assert changed.args == (interface("Node1.Memory"), {"TotalBytes": 2, "Revision": 2, "UpdatedUSec": 20}, [])

        # The same again is no change of a field; only its age is new.
        log.received.clear()
        cluster.take(memory(SOURCE, 2, seq=3, updated=30))
        changed = log.wait(lambda signal: signal.path == node_path(SOURCE))
        assert changed.args == (interface("Node1.Memory"), {"Revision": 2, "UpdatedUSec": 30}, [])

        # A field that becomes unknown has changed, too.
        log.received.clear()
        cluster.take(record(SOURCE, AvailableBytes=5, seq=4, updated=40))
        changed = log.wait(lambda signal: signal.path == node_path(SOURCE))
        assert changed.args[1] == {"TotalBytes": 2 ** 64 - 1, "AvailableBytes": 5, "Revision": 3, "UpdatedUSec": 40}

        log.received.clear()
        cluster.take(memory(SOURCE, seq=5, deleted=True))
        gone = log.wait(lambda signal: signal.member == "InterfacesRemoved")
        assert gone.args == (node_path(SOURCE), [interface("Node1.Memory")])
        assert list(call(host, "GetProfile", "s", (SOURCE,))) == ["Node1.Disk"]

        log.received.clear()
        cluster.take(record(SOURCE, "Node1.Disk", seq=2, deleted=True),
                     record(SOURCE, "Link1.Socket", key=key_for("Link1.Socket", SINK), seq=2, deleted=True))
        log.wait(lambda signal: signal.args[0] == path_of("Link1.Socket"))
        # With nothing beside: a client drops an object with the last of the interfaces that it was told of.
        assert {(signal.args[0], *signal.args[1]) for signal in log.received if signal.member == "InterfacesRemoved"} \
            == {(node_path(SOURCE), interface("Node1.Disk")), (path_of("Link1.Socket"), interface("Link1.Socket"))}
        assert list(managed(host)) == []


def test_old_news_are_not_told(host, cluster):
    with host.log_signals(STATE) as log:
        cluster.take(memory(SOURCE, 1, seq=5))
        log.wait(lambda signal: signal.args[0] == node_path(SOURCE))
        log.received.clear()
        cluster.take(memory(SOURCE, 9, seq=4), memory(SOURCE, 1, seq=5))
        cluster.refused(memory("nobody"))
        cluster.take(memory(SINK))
        log.wait(lambda signal: signal.args[0] == node_path(SINK))
    assert not [signal for signal in log.received if node_path(SOURCE) in (signal.path, signal.args[0])]


def test_totals_follow(host, cluster):
    gpu, cpu = "0000:01:00.0", "cpu0"
    with host.log_signals(STATE, PATH, PROPERTIES, "PropertiesChanged") as log:
        cluster.online(SOURCE, SINK)
        log.wait(lambda signal: signal.args[1].get("Nodes") == 3)
    with host.log_signals(STATE, PATH, PROPERTIES, "PropertiesChanged") as log:
        cluster.take(memory(SOURCE, 1000, AvailableBytes=700), memory(SINK, 500),
                     record(SOURCE, "Node1.Backends", Devices=[
                         {"Id": gpu, "Class": "gpu", "MemoryTotalBytes": 24, "OpenClPlatform": "x"},
                         {"Id": "0000:02:00.0", "Class": "gpu", "MemoryTotalBytes": 8},
                         {"Id": cpu, "Class": "cpu", "MemoryTotalBytes": 1000, "Unified": True}]),
                     record(SOURCE, "Node1.System", PowerMicroWatts=60_000_000, Devices=[
                         {"Id": gpu, "MemoryUsedBytes": 4, "PowerMicroWatts": 300_000_000}]),
                     record(SOURCE, "Node1.Compute", Devices=[
                         {"Id": gpu, "TflopsFp16": 100.5, "MemoryBandwidthBytesPerSecond": 900},
                         {"Id": cpu, "MemoryBandwidthBytesPerSecond": 50}]),
                     full_record("Link1.Rdma", SOURCE, SINK))
        changed = log.wait(lambda signal: "TflopsFp16" in signal.args[1]).args
    expected = {"Links": 1, "TflopsFp16": 100.5, "TflopsFp16LeftOut": 1, "TflopsFp16LeftOutReasons": {"NoOpenCl": 1},
                "MemoryBandwidthBytesPerSecond": 900, "MemoryBandwidthOf": "gpu", "MemoryBandwidthLeftOut": 1,
                "MemoryBandwidthLeftOutReasons": {"NoOpenCl": 1}, "MemoryTotalBytes": 1500,
                "MemoryAvailableBytes": 700, "DeviceMemoryTotalBytes": 32, "DeviceMemoryAvailableBytes": 20,
                "DeviceMemoryUnread": 1, "PowerMicroWatts": 360_000_000, "NodesPowerUnread": 2, "NodesPowerOfParts": 1}
    assert changed == (STATE, expected, [])
    assert {name: get(host, name) for name in expected} == expected

    with host.log_signals(STATE, PATH, PROPERTIES, "PropertiesChanged") as log:
        cluster.take(memory(SOURCE, 1100, AvailableBytes=700, seq=2), record(SINK, seq=2, deleted=True),
                     record(SOURCE, "Link1.Rdma", key=key_for("Link1.Rdma", SINK), seq=2, deleted=True))
        changed = log.wait(lambda signal: "Links" in signal.args[1]).args[1]
    assert changed == {"Links": 0, "MemoryTotalBytes": 1100}


def test_free_memory_is_told_by_large_steps(host, cluster):
    """A step that is too small for a signal still adds up, and is read whenever it is asked for."""
    def read():
        return get(host, "MemoryAvailableBytes")

    with host.log_signals(STATE, PATH, PROPERTIES, "PropertiesChanged") as log:
        cluster.online(SOURCE)
        cluster.take(memory(SOURCE, 100_000, AvailableBytes=50_000))
        log.wait(lambda signal: signal.args[1].get("MemoryAvailableBytes") == 50_000)
    with host.log_signals(STATE, PATH, PROPERTIES, "PropertiesChanged") as log:
        cluster.take(memory(SOURCE, 100_000, AvailableBytes=50_200, seq=2))
        wait_steadily(lambda: read() == 50_200, "the sum")
        cluster.take(memory(SOURCE, 100_000, AvailableBytes=50_400, seq=3))
        changed = log.wait(lambda signal: "MemoryAvailableBytes" in signal.args[1]).args[1]
    assert changed == {"MemoryAvailableBytes": 50_400}
    assert len(log.received) == 1


def test_topology(host, cluster):
    forth, back = key_for("Link1.Socket", SINK), key_for("Link1.Socket", SOURCE)
    cluster.online(SOURCE, SINK)
    cluster.take(
        record(SOURCE, "Link1.Socket", key=forth, Source=SOURCE, Sink=SINK, UploadBitsPerSecond=100,
               DownloadBitsPerSecond=90, RttP50NSec=5000, MeasuredUSec=1000),
        record(SINK, "Link1.Socket", key=back, Source=SINK, Sink=SOURCE, UploadBitsPerSecond=80,
               RttP50NSec=6000, MeasuredUSec=2000),
        record(SOURCE, "Link1.Rdma", key=key_for("Link1.Rdma", SINK), Source=SOURCE, Sink=SINK,
               UploadBitsPerSecond=1000, MeasuredUSec=1000))
    names = ("BitsPerSecond", "RttP50NSec", "MeasuredUSec", "Presence")
    edges = {(edge["Source"], edge["Sink"], edge["Kind"], edge["Prober"]): tuple(map(edge.get, names))
             for edge in topology(host).edges}
    assert edges == {
        (SOURCE, SINK, "socket", SOURCE): (100, 5000, 1000, "live"),
        (SINK, SOURCE, "socket", SOURCE): (90, 5000, 1000, "live"),
        (SINK, SOURCE, "socket", SINK): (80, 6000, 2000, "live"),
        (SOURCE, SINK, "socket", SINK): (None, 6000, 2000, "live"),
        (SOURCE, SINK, "rdma", SOURCE): (1000, None, 1000, "live"),
        (SINK, SOURCE, "rdma", SOURCE): (None, None, 1000, "live")}
    pair, = topology(host).pairs.values()
    there, back = ("ToPeer", "FromPeer") if pair["Node"] == SOURCE else ("FromPeer", "ToPeer")
    assert (pair[f"{there}BitsPerSecond"], pair[f"{back}BitsPerSecond"]) == (1000, 90)
    assert (pair["RttP50NSec"], pair["RttMeasuredUSec"]) == (5000, 1000)
    assert pair["Kinds"] == ["socket", "rdma"] and pair["Presence"] == "live"


def test_findings(host, cluster):
    assert call(host, "GetFindings") == []
    cluster.online(node_id(1), node_id(2))
    cluster.take(*(record(node_id(n), "Node1.Identity", FriendlyName=f"n{n}", OperatingSystem=f"Bed Linux {n}")
                   for n in (1, 2)))
    finding, = [found for found in call(host, "GetFindings") if sorted(found["Nodes"]) == [node_id(1), node_id(2)]]
    assert "Bed Linux" in finding.pop("Text") and "release" in finding.pop("Remedy")
    assert finding == {"Id": "os-versions-differ", "Severity": "notice", "Nodes": [node_id(1), node_id(2)],
                       "Names": ["n1", "n2"], "Values": ["Bed Linux 1", "Bed Linux 2"]}
    cluster.take(record(node_id(2), "Node1.Identity", seq=2, FriendlyName="n2", OperatingSystem="Bed Linux 1"))
    assert finding["Id"] not in {found["Id"] for found in call(host, "GetFindings")}


# Pages


def some_records():
    return [full_record(kind, node_id(n), node_id(99)) for n in (3, 1, 2) for kind in KINDS]


def test_every_record_is_on_one_page(host, cluster):
    cluster.take(*some_records())
    for size in (1, 7, 10, 3 * len(KINDS) - 1, 3 * len(KINDS), 0):
        found = pages(host, size=size)
        assert [record[:3] for page in found for record in page] == \
            [(node_id(n), kind, key_for(kind, node_id(99))) for n in (1, 2, 3) for kind in KINDS], size
        count = 3 * len(KINDS)
        size = size or count
        assert [len(page) for page in found] == [min(size, count - begin) for begin in range(0, count, size)], size


def test_pages_of_one_kind(host, cluster):
    cluster.take(*some_records())
    for kind in KINDS:
        for size in (1, 2, 3, 4):
            found = pages(host, kind, size)
            assert [record[:2] for page in found for record in page] == [(node_id(n), kind) for n in (1, 2, 3)]
            assert [len(page) for page in found] == [min(size, 3 - begin) for begin in range(0, 3, size)]


def described(host, kind, size):
    """Returns all records of DescribeRecords() as tuples like those of GetRecords()."""
    after, found = "", []
    while True:
        after, lines = call(host, "DescribeRecords", "sst", (kind, after, size))
        found += [json.loads(line) for line in bytes(lines).splitlines()]
        if not after:
            return [(row["node"], row["kind"], row["key"], row["epoch"], row["seq"], row["updated"],
                     row.get("deleted", False), row.get("fields", {})) for row in found]


def test_descriptions_tell_the_same(host, cluster):
    cluster.take(*(full_record(kind, node_id(2), seq=place + 1) for place, kind in enumerate(NODE_KINDS)),
                 *(full_record(kind, node_id(2), local_id(host), seq=place + 100) for place, kind in enumerate(KINDS)
                   if KINDS[kind].is_link),
                 memory(node_id(3)), record(node_id(4)), record(node_id(4), seq=2, deleted=True))
    for kind in ("", "Node1.System"):
        for size in (0, 1, 3):
            assert described(host, kind, size) == [found for page in pages(host, kind) for found in page]


def test_what_comes_and_goes_between_two_pages(host, cluster):
    cluster.take(*some_records())
    first, after = call(host, "GetRecords", "sst", ("Node1.Memory", "", 1))
    # The one the cursor names goes, one comes before it, one behind.
    cluster.take(record(node_id(1), seq=2, deleted=True), memory("0" * 31 + "f"), memory(node_id(0x25)))
    rest, end = call(host, "GetRecords", "sst", ("Node1.Memory", after, 100))
    assert [found[0] for found in first + rest] == [node_id(n) for n in (1, 2, 3, 0xf, 0x25)] and end == ""
