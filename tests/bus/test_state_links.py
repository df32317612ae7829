# SPDX-License-Identifier: LGPL-2.1-or-later
"""The links of this node: what is to be measured, what becomes of results, and what outlives whom."""

import re
import time

import pytest
from gi.repository import GLib

from bedlib.fixtures import needs_namespaces
from bedlib.waiting import wait_until
from played_source import KIND, LINK_PROBE_POLICY, LinkProbe, Source
from state_service import (CLUSTER_POLICY, INVALID_ARGS, KINDS, PATH, STATE, Cluster, call, fails_with, interface,
                           link_path, local_id, node_id, pages, record, start, typed, variants)

LOW, HIGH = node_id(1), "f" * 32
UNKNOWN = -2 ** 63
GIGABIT = 10 ** 9


def realtime():
    return time.time_ns() // 1000


def network(node, *addresses, seq=1, speed=None):
    row = {"Id": "eth0", "Type": "ethernet", "Addresses": list(addresses)}
    if speed:
        row["SpeedBitsPerSecond"] = speed
    return record(node, "Node1.Network", seq=seq, updated=realtime(), Interfaces=[row])


def own_network(host, *addresses, **row):
    source = Source(host)
    row = {"Id": "eth0", "Type": "ethernet", "Addresses": list(addresses), **row}
    source.export("Node1.Network", Interfaces=[typed(KINDS["Node1.Network"].fields[0].row_fields, row)])
    source.own()
    with host.log_signals(STATE):
        wait_until(lambda: local_id(host) in call(host, "GetNetworks"), "the own Network record")
    return source


def due(host, most=0, **options):
    return call(host, "GetDueProbes", "ta{sv}", (most, options))


def online(cluster, *nodes, state="online"):
    assert cluster.presences(*((node, state, 1, UNKNOWN, 0) for node in nodes)) == (len(nodes), 0)


def links(host):
    """Also those to nodes of which nothing else is known, which GetLinks() leaves out."""
    return {f"{found[0]}/{found[2]}": found[7] for page in pages(host, KIND) for found in page if not found[6]}


def wait_for_link(host, address, sink=HIGH, **fields):
    """The row of this node, once it has these values."""
    name = f"{local_id(host)}/{sink},{address}"
    with host.log_signals(STATE):
        wait_until(lambda: fields.items() <= links(host).get(name, {}).items(), f"{name} with {fields}")
    return links(host)[name]


@pytest.fixture
def host(make_host):
    return start(make_host, bus_policy=CLUSTER_POLICY + LINK_PROBE_POLICY)


@pytest.fixture
def cluster(host):
    return Cluster(host)


@pytest.fixture
def pair(host, cluster):
    """This node and one with a higher id, both with an address of one net."""
    own_network(host, "192.0.2.1/24")
    cluster.take(network(HIGH, "192.0.2.2/24"))
    online(cluster, HIGH)
    return host


# What is due


def test_nothing_is_due_alone(host, cluster):
    assert due(host) == []
    own_network(host, "192.0.2.1/24")
    assert due(host) == []
    # One that is online but has not said its addresses waits; one that has and is not online too.
    online(cluster, HIGH)
    assert due(host) == []
    cluster.take(network(HIGH, "192.0.2.2/24"))
    online(cluster, HIGH, state="offline")
    assert due(host) == []


def test_due_until_measured(pair):
    probe = {"Kind": KIND, "Peer": HIGH, "Address": "192.0.2.2", "Interface": "eth0", "Scope": "full",
             "Reason": "never"}
    assert due(pair) == [probe]
    assert due(pair, 1) == [probe]  # asking changes nothing
    prober, now = LinkProbe(pair).own(), realtime()
    prober.tell(local_id(pair), HIGH, "192.0.2.2", MeasuredUSec=now, UploadBitsPerSecond=GIGABIT)
    wait_for_link(pair, "192.0.2.2", MeasuredUSec=now)
    assert due(pair) == []
    # One that is too old, and one from the future.
    old = now - 3600 * 1000 * 1000
    prober.tell(local_id(pair), HIGH, "192.0.2.2", MeasuredUSec=old, UploadBitsPerSecond=GIGABIT)
    row = wait_for_link(pair, "192.0.2.2", MeasuredUSec=old)
    assert 240 * 1000 * 1000 <= row["TimeToLiveUSec"] <= 360 * 1000 * 1000
    assert due(pair) == [{**probe, "Overdue": True, "Reason": "expired", "DueSinceUSec": old + row["TimeToLiveUSec"]}]
    prober.tell(local_id(pair), HIGH, "192.0.2.2", MeasuredUSec=now * 2, UploadBitsPerSecond=GIGABIT)
    wait_for_link(pair, "192.0.2.2", MeasuredUSec=now * 2)
    assert due(pair) == [{**probe, "Reason": "future"}]


def test_checks_beside_figures(pair):
    """A check changes its own fields alone; what it finds makes the whole measurement due at once."""
    now = realtime()
    figures = {"MeasuredUSec": now, "UploadBitsPerSecond": GIGABIT, "DownloadBitsPerSecond": GIGABIT}
    prober = LinkProbe(pair).own()
    prober.tell(local_id(pair), HIGH, "192.0.2.2", **figures, SpotUploadBitsPerSecond=GIGABIT,
                SpotDownloadBitsPerSecond=GIGABIT, RttP50NSec=100_000)
    wait_for_link(pair, "192.0.2.2", **figures, ConfirmedUSec=now)
    prober.tell(local_id(pair), HIGH, "192.0.2.2", RttMeasuredUSec=now + 1, SpotUploadBitsPerSecond=GIGABIT,
                SpotDownloadBitsPerSecond=GIGABIT, RttP50NSec=110_000)
    row = wait_for_link(pair, "192.0.2.2", **figures, RttMeasuredUSec=now + 1, ConfirmedUSec=now + 1,
                        RttP50NSec=110_000)
    assert "Changed" not in row and due(pair) == []
    prober.tell(local_id(pair), HIGH, "192.0.2.2", RttMeasuredUSec=now + 2, SpotUploadBitsPerSecond=GIGABIT // 5,
                SpotDownloadBitsPerSecond=GIGABIT, RttP50NSec=110_000)
    row = wait_for_link(pair, "192.0.2.2", **figures, RttMeasuredUSec=now + 2, ConfirmedUSec=now + 1,
                        ContradictedUSec=now + 2)
    assert "Changed" not in row
    # One may be an accident.
    prober.tell(local_id(pair), HIGH, "192.0.2.2", RttMeasuredUSec=now + 3, SpotUploadBitsPerSecond=GIGABIT // 5,
                SpotDownloadBitsPerSecond=GIGABIT, RttP50NSec=110_000)
    row = wait_for_link(pair, "192.0.2.2", **figures, RttMeasuredUSec=now + 3, ConfirmedUSec=now + 1, Changed="rate",
                        ChangedUSec=now + 3, LastSpotUploadBitsPerSecond=GIGABIT // 5)
    assert "ContradictedUSec" not in row
    # The first measurement, made just now, need not be paid off.
    assert [(probe["Reason"], probe["Scope"], probe["Brief"]) for probe in due(pair)] == [("changed", "full", True)]
    found, = [one for one in call(pair, "GetFindings") if one["Id"] == "link-rate-changed"]
    assert " fell from 1.00 Gb/s to about 200 Mb/s" in found["Text"]


def test_what_the_first_does_not_start(host, cluster):
    """Of two nodes the one with the lower id measures, unless it says that it does not."""
    own_network(host, "192.0.2.1/24")
    cluster.take(network(LOW, "192.0.2.9/24"))
    online(cluster, LOW)
    assert due(host) == []
    cluster.take(record(LOW, "Node1.ProbePolicy", Links="full"))
    assert [(probe["Peer"], probe["Reason"]) for probe in due(host)] == [(LOW, "never")]
    cluster.take(record(LOW, "Node1.ProbePolicy", seq=2, Starts=["socket"], Links="full"))
    assert due(host) == []


def test_a_peer_with_work_is_not_loaded(pair, cluster):
    cluster.take(record(HIGH, "Node1.ProbePolicy", Starts=["socket"], Links="round-trips", Reason="work: training"))
    assert [(probe["Reason"], probe["Scope"]) for probe in due(pair)] == [("never", "round-trips")]
    cluster.take(record(HIGH, "Node1.ProbePolicy", seq=2, Links="none", Reason="disabled"))
    assert due(pair) == []


def test_far_below_what_was_negotiated_is_a_finding(pair):
    """Until a later probe finds that it is mended."""
    def found():
        return [row for row in call(pair, "GetFindings") if row["Id"].startswith("link-below-negotiated")]

    prober = LinkProbe(pair).own()
    negotiated = {"NegotiatedBitsPerSecond": 10 * GIGABIT}
    rates = {"UploadBitsPerSecond": 2 * GIGABIT, "DownloadBitsPerSecond": 9 * GIGABIT}
    prober.tell(local_id(pair), HIGH, "192.0.2.2", MeasuredUSec=realtime(), **negotiated, **rates)
    wait_for_link(pair, "192.0.2.2", **rates)
    finding, = found()
    assert finding["Severity"] == "warning" and set(finding["Nodes"]) == {local_id(pair), HIGH}
    assert "10.0 Gb/s negotiated, 2.00 Gb/s measured" in finding["Text"], finding
    assert finding["NegotiatedBitsPerSecond"] == 10 * GIGABIT and finding["UploadBitsPerSecond"] == 2 * GIGABIT
    assert "DownloadBitsPerSecond" not in finding
    mended = {**rates, "UploadBitsPerSecond": 9 * GIGABIT}
    prober.tell(local_id(pair), HIGH, "192.0.2.2", MeasuredUSec=realtime(), **negotiated, **mended)
    wait_for_link(pair, "192.0.2.2", **mended)
    assert found() == []


def test_a_failure_waits_and_keeps_the_figures(pair):
    prober, now = LinkProbe(pair).own(), realtime()
    prober.tell(local_id(pair), HIGH, "192.0.2.2", MeasuredUSec=now - 10 ** 9, UploadBitsPerSecond=GIGABIT)
    wait_for_link(pair, "192.0.2.2", MeasuredUSec=now - 10 ** 9)
    assert due(pair) != []
    prober.tell(local_id(pair), HIGH, "192.0.2.2", Failure="refused", FailedUSec=now)
    row = wait_for_link(pair, "192.0.2.2", FailedUSec=now)
    assert (row["UploadBitsPerSecond"], row["Failures"], row["Failure"]) == (GIGABIT, 1, "refused")
    assert due(pair) == []
    prober.tell(local_id(pair), HIGH, "192.0.2.2", Failure="refused", FailedUSec=now - 80 * 10 ** 6)
    wait_for_link(pair, "192.0.2.2", Failures=2, UploadBitsPerSecond=GIGABIT)
    assert due(pair) == []
    prober.tell(local_id(pair), HIGH, "192.0.2.2", Failure="refused", FailedUSec=now - 241 * 10 ** 6)
    wait_for_link(pair, "192.0.2.2", Failures=3, UploadBitsPerSecond=GIGABIT)
    assert [probe["Reason"] for probe in due(pair)] == ["failed"]
    # Its round trips are kept: small packets may pass where full ones are lost.
    prober.tell(local_id(pair), HIGH, "192.0.2.2", Failure="the probe returned no rates", FailedUSec=now + 1,
                RttP50NSec=70_000, RttMeasuredUSec=now + 1)
    row = wait_for_link(pair, "192.0.2.2", RttP50NSec=70_000, RttMeasuredUSec=now + 1, Failures=4)
    assert row["UploadBitsPerSecond"] == GIGABIT and row["MeasuredUSec"] == now - 10 ** 9


def test_the_lower_id_measures(host, cluster):
    own_network(host, "192.0.2.1/24")
    cluster.take(network(LOW, "192.0.2.9/24"))
    online(cluster, LOW)
    assert due(host) == []
    own = local_id(host)

    def row(seq, **fields):
        key = f"{own},192.0.2.1"
        return record(LOW, KIND, key=key, seq=seq, updated=realtime(), Source=LOW, Sink=own, SinkAddress="192.0.2.1",
                      **fields)
    # Three times in vain: it is ours then.
    cluster.take(row(1, Failure="timeout", FailedUSec=5, Failures=2))
    assert due(host) == []
    cluster.take(row(2, Failure="timeout", FailedUSec=6, Failures=3))
    assert [(probe["Peer"], probe["Address"]) for probe in due(host)] == [(LOW, "192.0.2.9")]
    cluster.take(row(3, MeasuredUSec=7))
    assert due(host) == []


def test_one_probe_for_each_interface(pair, cluster):
    others = [f"{'f' * 31}{digit}" for digit in "abc"]
    cluster.take(*(network(node, f"192.0.2.{number + 10}/24") for number, node in enumerate(others)))
    online(cluster, *others)
    assert len(due(pair, 100)) == 1
    seen = set()
    while due(pair, Avoid=GLib.Variant("as", list(seen))):
        seen.add(due(pair, Avoid=GLib.Variant("as", list(seen)))[0]["Peer"])
    assert seen == {HIGH, *others}


def test_what_the_caller_knows(pair):
    assert due(pair, Avoid=GLib.Variant("as", [HIGH])) == []
    assert due(pair, Avoid=GLib.Variant("as", [LOW])) != []
    assert due(pair, Traffic=GLib.Variant("a{st}", {"eth0": 2 ** 64 - 1})) == []
    assert due(pair, Traffic=GLib.Variant("a{st}", {"eth1": 2 ** 64 - 1})) != []
    assert due(pair, BytesPerHour=GLib.Variant("t", 10 ** 9)) != []


def test_a_busy_link_is_left_alone(host, cluster):
    own_network(host, "192.0.2.1/24", SpeedBitsPerSecond=GIGABIT)
    cluster.take(network(HIGH, "192.0.2.2/24"))
    online(cluster, HIGH)
    assert due(host, Traffic=GLib.Variant("a{st}", {"eth0": GIGABIT // 10})) != []
    assert due(host, Traffic=GLib.Variant("a{st}", {"eth0": GIGABIT // 10 + 1})) == []


ODD_OPTIONS = [
    {"Traffic": GLib.Variant("a{sv}", {})}, {"Avoid": GLib.Variant("as", ["me"])}, {"Avoid": GLib.Variant("s", LOW)},
    {"Traffic": GLib.Variant("a{st}", {f"eth{n}": 1 for n in range(4097)})}, {"BytesPerHour": GLib.Variant("x", 1)},
    {"Speed": GLib.Variant("t", 1)}, {"": GLib.Variant("t", 1)}]


def test_odd_options(pair):
    for option in ODD_OPTIONS:
        with fails_with(INVALID_ARGS, option) as error:
            due(pair, **option)
        name = next(iter(option))
        said = f"Unknown key {name}$" if name in ("", "Speed") else f"{name}( must|:)"
        assert re.match(said, error.value.message), option
        assert due(pair) != [], option


def test_option_twice(pair):
    """No mapping can hold it, but a message can."""
    entry = GLib.Variant.new_dict_entry(GLib.Variant("s", "Kinds"), GLib.Variant("v", GLib.Variant("as", [])))
    options = GLib.Variant.new_array(GLib.VariantType("{sv}"), [entry, entry])
    with fails_with(INVALID_ARGS) as error:
        pair.connection().call_raw(STATE, PATH, STATE, "GetDueProbes",
                                   GLib.Variant.new_tuple(GLib.Variant("t", 0), options))
    assert error.value.message == "Kinds is there twice"


# What becomes of results


def test_results_of_before(host):
    """Told of before the state service asked, and by a service that says nothing of new objects."""
    prober = LinkProbe(host)
    prober.tell(local_id(host), HIGH, "192.0.2.2", announced=False, MeasuredUSec=5, Streams=2)
    prober.own()
    wait_for_link(host, "192.0.2.2", MeasuredUSec=5, Streams=2)
    prober.tell(local_id(host), HIGH, "192.0.2.3", announced=False, MeasuredUSec=6)
    prober.change(HIGH, "192.0.2.3", Streams=4)
    row = wait_for_link(host, "192.0.2.3", Streams=4)
    assert row["MeasuredUSec"] == 6
    assert len(links(host)) == 2


def test_results_outlive_who_measured_them(host):
    prober = LinkProbe(host).own()
    for address in ("192.0.2.2", "192.0.2.3", "fe80::2"):
        prober.tell(local_id(host), HIGH, address, MeasuredUSec=5)
        wait_for_link(host, address, MeasuredUSec=5)
    before = links(host)
    prober.withdraw(HIGH, "192.0.2.3")
    prober.close()
    host.wait_for_name("org.alidade.LinkProbe1", present=False)
    assert links(host) == before
    # The next one knows nothing of them yet.
    again = LinkProbe(host).own()
    again.tell(local_id(host), HIGH, "192.0.2.2", MeasuredUSec=7)
    wait_for_link(host, "192.0.2.2", MeasuredUSec=7)
    assert links(host).keys() == before.keys()
    # Nor do they go with the state service.
    host.daemons[-1].stop()
    host.start_daemon("stated")
    assert links(host).keys() == before.keys()
    assert host.connection().get_all(
        STATE, link_path(KIND, local_id(host), f"{HIGH},192.0.2.3"), interface(KIND))["MeasuredUSec"] == 5


def test_the_same_result_again_changes_nothing(host, cluster):
    prober = LinkProbe(host).own()
    with cluster.connection.log_signals(STATE, member="RecordsChanged") as log:
        prober.tell(local_id(host), HIGH, "192.0.2.2", Failure="refused", FailedUSec=5)
        log.wait()
        row = wait_for_link(host, "192.0.2.2", Failures=1)
        for _ in range(3):
            prober.tell(local_id(host), HIGH, "192.0.2.2", Failure="refused", FailedUSec=5)
        prober.tell(local_id(host), HIGH, "192.0.2.3", MeasuredUSec=5)
        log.wait(lambda signal: any(found[2] == f"{HIGH},192.0.2.3" for found in signal.args[0]))
        assert [found[2] for signal in log.received for found in signal.args[0]] == [
            f"{HIGH},192.0.2.2", f"{HIGH},192.0.2.3"]
    assert wait_for_link(host, "192.0.2.2", Failures=1) == row


def test_rows_of_addresses_that_are_gone(pair, cluster):
    prober = LinkProbe(pair).own()
    prober.tell(local_id(pair), HIGH, "192.0.2.2", MeasuredUSec=5)
    prober.tell(local_id(pair), HIGH, "192.0.2.7", MeasuredUSec=5)  # never was one of its
    wait_for_link(pair, "192.0.2.2", MeasuredUSec=5)
    assert len(links(pair)) == 1
    with cluster.connection.log_signals(STATE, member="RecordsChanged") as log:
        cluster.take(network(HIGH, "192.0.2.3/24", seq=2))
        assert [probe["Address"] for probe in due(pair)] == ["192.0.2.3"]
        log.wait(lambda signal: any(found[2] == f"{HIGH},192.0.2.2" and found[6] for found in signal.args[0]))
    # Sent again, as all is now and then, it does not come back.
    prober.tell(local_id(pair), HIGH, "192.0.2.2", MeasuredUSec=5)
    prober.tell(local_id(pair), HIGH, "192.0.2.3", MeasuredUSec=6)
    wait_for_link(pair, "192.0.2.3", MeasuredUSec=6)
    assert [row["SinkAddress"] for row in links(pair).values()] == ["192.0.2.3"]


def test_absurd_results(host):
    prober = LinkProbe(host).own()
    prober.tell(LOW, HIGH, "192.0.2.2", MeasuredUSec=5)  # of another node
    prober.tell(local_id(host), "me", "192.0.2.2", MeasuredUSec=5)
    prober.tell(local_id(host), HIGH, "localhost", MeasuredUSec=5)
    prober.tell(local_id(host), HIGH, "fe80::2%eth0", MeasuredUSec=5)
    prober.tell(local_id(host), HIGH, "192.0.2.3", MeasuredUSec=2 ** 60)
    prober.connection.emit("/org/alidade/LinkProbe1/link/x", "org.freedesktop.DBus.Properties", "PropertiesChanged",
                           "u", (7,))
    prober.connection.emit("/org/alidade/LinkProbe1", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", "s",
                           ("x",))
    prober.tell(local_id(host), HIGH, "192.0.2.4", MeasuredUSec=6)
    wait_for_link(host, "192.0.2.4", MeasuredUSec=6)
    assert len(links(host)) == 1


@needs_namespaces
def test_forged_results_are_refused(make_host):
    host = start(make_host, strict_bus=False, bus_policy="")
    LinkProbe(host).own().tell(local_id(host), HIGH, "192.0.2.2", MeasuredUSec=5)
    wait_for_link(host, "192.0.2.2", MeasuredUSec=5)
    path = f"/org/alidade/LinkProbe1/link/{'x'}"
    forged = variants(KIND, {"Source": local_id(host), "Sink": HIGH, "SinkAddress": "192.0.2.2", "MeasuredUSec": 9})
    for _ in range(3):
        host.forge(host.connection().owner(STATE), path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
                   "sa{sv}as", (interface(KIND), forged, []))
    assert host.get(STATE, PATH, STATE, "RefusedSignals", user="nobody") == 3
    assert wait_for_link(host, "192.0.2.2", MeasuredUSec=5)


# Ten thousand nodes


def test_many_nodes(host, cluster):
    """From 64 nodes on they take turns."""
    own_network(host, "10.0.0.1/8")
    nodes = [f"{'f' * 24}{number:08x}" for number in range(1000)]
    cluster.take(*(network(node, f"10.1.{number // 250}.{number % 250 + 1}/8") for number, node in enumerate(nodes)))
    online(cluster, *nodes)
    seen = []
    while found := due(host, Avoid=GLib.Variant("as", seen)):
        seen.append(found[0]["Peer"])
    assert 1 <= len(seen) <= 16
