# SPDX-License-Identifier: LGPL-2.1-or-later
"""Links of a cluster that measure themselves: real nodes, real probes, shaped networks, and what goes wrong there."""

import contextlib
import itertools
import json
import os
import signal
from pathlib import Path

import pytest
from gi.repository import GLib

from bedlib import BusError, network
from bedlib.fixtures import needs_namespaces
from bedlib.probe import program
from bedlib.services import client_binary
from bedlib.topology import Topology
from bedlib.waiting import wait_steadily

pytestmark = needs_namespaces
KIND = "Link1.Socket"
LINK_PROBE = ("org.alidade.LinkProbe1", "/org/alidade/LinkProbe1", "org.alidade.LinkProbe1")
JOB = "org.alidade.LinkProbe1.Job"
ENDED = ("done", "failed", "canceled")
FIGURES = ("UploadBitsPerSecond", "DownloadBitsPerSecond", "RttP50NSec", "MeasuredUSec")
MBIT = 1_000_000
# What each of three nodes sends and receives.
SHAPES = ((25 * MBIT, 100 * MBIT), (50 * MBIT, 150 * MBIT), (200 * MBIT, 15 * MBIT))
# The rounds are 15 s apart, pairs wait for each other, and who was busy is left alone for a while.
ROUNDS = 120.0
ONE_PROBE = 60.0


def rows(observer, *pair):
    """{(source, sink, address): fields} of the links that the observer knows, or of those between two nodes."""
    found = {(source, *key.split(",", 1)): fields
             for (source, _, key), (*_, deleted, fields) in observer.records(KIND).items() if not deleted}
    ids = {node.id for node in pair}
    return {key: fields for key, fields in found.items() if not ids or {key[0], key[1]} == ids}


def addresses(node):
    """Those of its interface, without the length of their prefix."""
    told = network.ip(node, "-o", "address", "show", "dev", "eth0").split()
    return {word.partition("/")[0] for word in told if "/" in word}


def is_measured(row):
    return row.get("UploadBitsPerSecond", 0) > 0 and row.get("DownloadBitsPerSecond", 0) > 0


def knows_address(observer, node, address):
    return address in str(observer.records("Node1.Network")[node.id, "Node1.Network", ""])


def next_round(node):
    """It looks now, rather than within 15 s, at what there is to measure, and what is not there any more."""
    node.state("GetDueProbes", "ta{sv}", (0, {}))


def wait_measured(observer, one, two, deadline=ROUNDS):
    """Each address of the sink has a row; one of them, over the one pair of interfaces, has rates. Returns that one.
    Which of the two is the sink, their ids decide."""
    source, sink = sorted((one, two), key=lambda node: node.id)
    wanted = {(source.id, sink.id, address) for address in addresses(sink)}

    def done():
        found = rows(observer, one, two)
        rates = {key: row for key, row in found.items() if is_measured(row)}
        complete = set(found) == wanted and all(row.get("RttP50NSec") for row in found.values())
        return rates if complete else None

    return wait_steadily(done, lambda: f"{wanted} measured at {observer.name}; now {rows(observer, one, two)}",
                         deadline, 0.2)


def shaped(make_cluster, count, **options):
    """At full speed three probes would use up what they may send in five minutes."""
    return make_cluster(count, links=True, shapes=SHAPES, **options)


def rate(shapes, source, sink, header=52):
    """What the shapes let through from one to the other, as TCP sees it."""
    return network.payload_rate(min(shapes[source.number - 1][0], shapes[sink.number - 1][1]), header)


def test_each_pair_is_measured_in_both_directions_by_itself(make_cluster):
    cluster = shaped(make_cluster, 3)
    by_id = {node.id: node for node in cluster.nodes}
    one, two, three = cluster.nodes
    for pair in ((one, two), (one, three), (two, three)):
        for (source, sink, address), row in wait_measured(one, *pair).items():
            ends, header = (by_id[source], by_id[sink]), 72 if ":" in address else 52
            assert row["UploadBitsPerSecond"] == pytest.approx(rate(SHAPES, *ends, header), rel=0.2)
            assert row["DownloadBitsPerSecond"] == pytest.approx(rate(SHAPES, *reversed(ends), header), rel=0.2)
            assert row["SourceInterface"] == "eth0" and row["SourceInterfaceType"] == "veth"
            assert row["SinkInterface"] == "eth0" and row["SinkInterfaceType"] == "veth"
            assert row["UploadInterval"] > 0 and row["DownloadInterval"] > 0
            assert 0 < row["RttMinNSec"] <= row["RttP50NSec"] <= row["RttP99NSec"]
            assert "Failure" not in row or not row["Failure"]
    edges = {(edge["Source"], edge["Sink"]): edge for edge in Topology(one.state).find(Presence="live")
             if "BitsPerSecond" in edge}
    assert set(edges) == {(a.id, b.id) for a in cluster.nodes for b in cluster.nodes if a is not b}
    for (source, sink), edge in edges.items():
        expected = rate(SHAPES, by_id[source], by_id[sink])
        assert edge["BitsPerSecond"] == pytest.approx(expected, rel=0.2), edge
        assert edge["Kind"] == "socket" and edge["Prober"] == min(source, sink)
    cluster.wait_until(lambda: rows(one) == rows(two) == rows(three), "the same links at all nodes")


def test_change_of_a_rate_is_found_measured_and_reported(make_cluster):
    """What a check finds, five minutes later, is measured at once, and so is the way back. The full measurements that
    are due by their age would come more than half an hour later."""
    whole = 100 * MBIT
    cluster = make_cluster(2, links=True, shapes=((whole, whole),) * 2, own_clock=True)
    source, sink = sorted(cluster.nodes, key=lambda node: node.id)
    wait_measured(source, source, sink)
    for step, (share, verb) in enumerate(((0.6, "fell"), (1, "rose")), 1):
        before, expected = row_of(source, sink), network.payload_rate(whole * share)
        for node in cluster.nodes:
            cluster.shape(node, int(whole * share), int(whole * share))
            node.set_clock(step * 300)

        def found():
            row = row_of(source, sink)
            return row if row["MeasuredUSec"] > before["MeasuredUSec"] and "Changed" not in row else None

        row = wait_steadily(found, lambda: f"another figure than {before}; now {row_of(source, sink)}", ROUNDS, 0.2)
        assert row["UploadBitsPerSecond"] == pytest.approx(expected, rel=0.2)
        assert row["UploadBeforeBitsPerSecond"] == before["UploadBitsPerSecond"]
        assert before["MeasuredUSec"] + before["TimeToLiveUSec"] > row["MeasuredUSec"] > row["RateChangedUSec"]
        notice, = [one for one in source.state("GetFindings") if one["Id"] == "link-rate-changed"]
        assert f" {verb} from " in notice["Text"] and notice["Severity"] == "notice"


def test_nodes_that_mirror_nobody_measure_all_the_same(make_cluster):
    cluster = shaped(make_cluster, 2, config="[cluster]\nmirror=self\n")
    source, sink = sorted(cluster.nodes, key=lambda node: node.id)
    wait_measured(source, source, sink)
    assert not any(node == sink.id for node, *_ in source.records("Node1.Memory"))
    # By name as well.
    wait_steadily(lambda: (source.id, "Node1.Identity", "") in sink.records("Node1.Identity"), "the other's name")
    assert end_of(sink, probe(sink, source, Address=source.address)) == ("done", "")
    wait_steadily(lambda: source.name in sink.alidadectl("links").stdout, "the row")


def test_what_one_does_not_start_the_other_measures(make_cluster):
    """mirror=none hears of no peers, so that its pairs would be measured by nobody."""
    cluster = shaped(make_cluster, 2, programs=())
    lower, higher = sorted(cluster.nodes, key=lambda node: node.id)
    (lower.dir / "config/alidade.conf.d/mirror.conf").write_text("[cluster]\nmirror=none\n")
    for node in cluster.nodes:
        node.start_daemons()
    for node in cluster.nodes:
        node.wait_ready()
    wait_steadily(lambda: any(source == higher.id and is_measured(row)
                              for (source, *_), row in rows(higher, lower, higher).items()),
                  "figures of the node with the higher id", ROUNDS, 0.2)
    assert higher.records("Node1.ProbePolicy")[lower.id, "Node1.ProbePolicy", ""][-1]["Links"] == "full"


def test_where_link_probed_is_gone_the_other_end_shows_it(make_cluster):
    cluster = shaped(make_cluster, 2)
    lower, higher = sorted(cluster.nodes, key=lambda node: node.id)
    wait_measured(higher, lower, higher)
    before = {key for key in rows(higher) if key[0] == higher.id}
    lower.kill("link-probed")
    wait_steadily(lambda: "not running" in higher.records("Node1.ProbePolicy")[lower.id, "Node1.ProbePolicy", ""][-1]
                  .get("Reason", ""), "the end of the service", ROUNDS, 0.2)
    wait_steadily(lambda: any(row.get("Failure") for (source, *_), row in rows(higher).items() if source == higher.id),
                  "an attempt of the node with the higher id", ROUNDS, 0.2)
    assert not before


# What comes and goes


@pytest.fixture
def pair(make_cluster):
    """Two nodes that know each other, in the order of who measures whom by itself."""
    cluster = shaped(make_cluster, 2)
    cluster.wait_online()
    return cluster, *sorted(cluster.nodes, key=lambda node: node.id)


def probe(node, peer, **options):
    """The object of a job of the node."""
    told = {name: GLib.Variant("b" if isinstance(value, bool) else "s", value) for name, value in options.items()}

    def begun():
        try:
            return node.call(*LINK_PROBE, "ProbeLink", "sa{sv}", (peer.id, told))
        except BusError as error:
            # What is online may not have told its addresses yet.
            if error.name != "org.alidade.Error.NoSuchNode":
                raise
            return None

    return wait_steadily(begun, f"the addresses of {peer.name} at {node.name}", ONE_PROBE)


def job(node, path, name):
    return node.get(LINK_PROBE[0], path, JOB, name)


def probe_up_to(phase, node, peer, address):
    """A job that has come as far as this phase."""
    path = probe(node, peer, Address=address)

    def there(now):
        assert now == phase or job(node, path, "State") not in ENDED, job(node, path, "Error")
        return now == phase

    node.wait_for_property(LINK_PROBE[0], path, JOB, "Phase", there, deadline=ONE_PROBE)
    return path


def wait_job(node, path, *states):
    return node.wait_for_property(LINK_PROBE[0], path, JOB, "State", lambda state: state in states,
                                  deadline=ONE_PROBE)


def end_of(node, path):
    """(state, error) that it comes to."""
    return wait_job(node, path, *ENDED), job(node, path, "Error")


def row_of(source, sink):
    return rows(source).get((source.id, sink.id, sink.address), {})


def measure(source, sink):
    """Does so now, by hand; returns what is known then."""
    before = row_of(source, sink)

    def newer(field):
        row = row_of(source, sink)
        return row if is_measured(row) and row[field] > before.get(field, 0) else None

    # A figure that is much lower, as of a busy machine, is taken when a second one confirms it.
    for _ in range(2):
        assert end_of(source, probe(source, sink, Address=sink.address)) == ("done", "")
        wait_steadily(lambda: newer("RttMeasuredUSec"), lambda: f"news after {before}; now {row_of(source, sink)}",
                      ONE_PROBE)
        if newer("MeasuredUSec"):
            break
    return wait_steadily(lambda: newer("MeasuredUSec"),
                         lambda: f"a result newer than {before}; now {row_of(source, sink)}", ONE_PROBE)


def children(node):
    """Of its link-probed, those too of which it has not taken leave."""
    pid = node.process("link-probed").outer_pid
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()


def descriptors(node):
    return len(os.listdir(f"/proc/{node.process('link-probed').outer_pid}/fd"))


def probers(node):
    """Programs that measure, whoever their parent is now, and what nobody has taken leave of."""
    found = []
    for name in (node.root / "proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):  # it has just ended
            if name.read_text(encoding="utf-8").strip() == "alidade-probe-socket"[:15]:
                found.append((name.parent / "stat").read_text(encoding="utf-8"))
    return found


def wait_idle(*nodes):
    for node in nodes:
        wait_steadily(lambda node=node: not probers(node),
                      lambda node=node: f"the end of all probes of {node.name}: {probers(node)}", ONE_PROBE)


def test_each_address_has_its_own_row_which_goes_with_it(pair):
    _, source, sink = pair
    wait_measured(source, source, sink)
    network.add_address(source, "eth0", "10.88.0.1/24")
    network.add_address(sink, "eth0", "10.88.0.2/24")
    wait_measured(source, source, sink)
    found = rows(source, source, sink)
    kept = found[source.id, sink.id, sink.address]
    # The pair of interfaces has been measured at full rate already.
    assert not is_measured(found[source.id, sink.id, "10.88.0.2"])
    wait_steadily(lambda: rows(sink).keys() >= found.keys(), "the rows at the other end", ROUNDS)
    network.delete_address(sink, "eth0", "10.88.0.2/24")
    for node in (source, sink):
        wait_steadily(lambda node=node: (source.id, sink.id, "10.88.0.2") not in rows(node),
                      f"the row to go at {node.name}", ROUNDS)
        assert rows(node)[source.id, sink.id, sink.address]["MeasuredUSec"] == kept["MeasuredUSec"]


def test_rows_of_a_node_that_is_forgotten_go(pair):
    cluster, source, sink = pair
    measure(source, sink)
    gone = sink if sink is not cluster.first and sink.broker is None else source
    kept, = (node for node in cluster.nodes if node is not gone)
    wait_steadily(lambda: rows(kept, source, sink), "the link at the node that stays")
    gone.crash()
    kept.wait_presence(gone, "offline")
    assert rows(kept, source, sink), "a node that is off is not gone"
    kept.alidadectl("forget", gone.id)
    wait_steadily(lambda: not rows(kept), "the links of the node to go", ROUNDS)
    assert Topology(kept.state).edges == []


def test_rows_of_a_node_that_stays_away_go_in_time(make_cluster):
    cluster = shaped(make_cluster, 2, config="[state]\nexpiry-h=1\n", own_clock="all")
    cluster.wait_online()
    kept, = (node for node in cluster.nodes if node is cluster.first)
    gone, = (node for node in cluster.nodes if node is not kept)
    measure(*sorted(cluster.nodes, key=lambda node: node.id))
    cluster.wait_until(lambda: rows(kept, kept, gone), "the link at the node that stays")
    gone.crash()
    kept.wait_presence(gone, "offline")
    kept.set_clock(1800)
    next_round(kept)
    assert rows(kept, kept, gone), "half of the time is left"
    kept.set_clock(2 * 3600)
    wait_steadily(lambda: not rows(kept), "the rows of the link to go", ROUNDS)
    wait_steadily(lambda: {node for node, *_ in kept.records()} == {kept.id}, "the node to go", ROUNDS)


# By hand


def test_probe_by_hand(pair):
    _, source, sink = pair
    for node, peer in ((source, sink), (sink, source)):
        told = json.loads(node.alidadectl("probe", "link", peer.name, f"--path={peer.address}", "--json",
                                          deadline=ONE_PROBE).stdout)
        assert (told["State"], told["Node"], told["Address"]) == ("done", peer.id, peer.address)
        assert is_measured(told["Result"])
        # It is a result as any other.
        wait_steadily(lambda node=node, peer=peer: is_measured(row_of(node, peer)), "the row", ONE_PROBE)
    shown = source.alidadectl("probe", "link", sink.name, "--rtt-only", deadline=ONE_PROBE).stdout
    assert "RTT/2: " in shown and "Upload" not in shown
    shown = source.alidadectl("links").stdout
    assert sink.name in shown and "±" in shown
    assert sink.name in source.alidadectl("topology").stdout


# So many bits per second of UDP, until it is killed.
BLAST = """
import socket, sys, time
rate, begin, sent = int(sys.argv[2]), time.monotonic(), 0
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
    while True:
        while sent * 8 < (time.monotonic() - begin) * rate:
            sent += connection.sendto(b"x" * 1200, (sys.argv[1], 9))
        time.sleep(0.001)
"""


def test_other_traffic_is_reported(pair):
    """Of a measurement by hand; no finding follows from it."""
    _, source, sink = pair
    blast = source.spawn(["/usr/bin/python3", "-c", BLAST, sink.address, str(10 * MBIT)], "blast")
    path = probe(source, sink, Address=sink.address)
    assert end_of(source, path) == ("done", "")
    result = job(source, path, "Result")
    assert "disturbed" in result["Flags"], result
    assert 5 * MBIT < max(result["UploadOtherBitsPerSecond"], result["DownloadOtherBitsPerSecond"]) < 20 * MBIT
    assert "link-below-negotiated" not in {found["Id"] for found in source.state("GetFindings")}
    blast.kill()
    path = probe(source, sink, Address=sink.address)
    assert end_of(source, path) == ("done", "")
    assert "disturbed" not in job(source, path, "Result").get("Flags", [])


def test_link_local_address_is_found_behind_another_interface(pair):
    """Of two interfaces of one net, of which the first leads nowhere."""
    _, source, sink = pair
    address, = (address for address in addresses(sink) if address.startswith("fe80:"))
    network.add_veth(source, "aaa0", "aaa1")
    network.ip(source, "address", "add", "10.77.0.99/16", "dev", "aaa0", "noprefixroute")
    wait_steadily(lambda: str(source.records("Node1.Network")[source.id, "Node1.Network", ""]).count("fe80:") >= 3
                  and knows_address(source, source, "10.77.0.99/16") and knows_address(source, sink, address),
                  "the addresses to be known")

    def becomes():
        """What became of the link-local path: an error, or None."""
        path = probe(source, sink)
        end, paths = end_of(source, path), job(source, path, "Paths")
        tried = [row for row in paths if row["Address"] == address]
        assert tried, f"{address} among {paths}, which ended with {end}"
        return tried[0].get("Error")

    outcomes = [becomes(), becomes()]
    assert None in outcomes, outcomes
    assert becomes() is None, "what worked is used again"
    assert rows(source)[source.id, sink.id, address]["SourceInterface"] == "eth0"


def refused_sessions(node):
    return node.get(*LINK_PROBE, "RefusedSessions")


def test_who_holds_off_links_is_named(pair):
    """At this end and at the other; what runs is ended."""
    _, source, sink = pair
    for node, other in ((source, sink), (sink, source)):
        running = probe(node, other, Address=other.address)
        wait_job(node, running, "running")
        holder = node.spawn([client_binary(), "inhibit", "--what=link", "--who=trainer", "--why=epoch 7", "--",
                             "sleep", "infinity"], f"inhibit-{node.name}")
        assert end_of(node, running) == ("failed", "inhibited by trainer: epoch 7")
        refused = node.alidadectl("probe", "link", other.name, check=False)
        assert refused.returncode != 0 and "trainer: epoch 7" in refused.stderr
        before, refused_before = row_of(other, node), refused_sessions(node)
        path = probe(other, node, Address=node.address)
        wait_steadily(lambda node=node, count=refused_before: refused_sessions(node) > count,
                      "the other end to be sent away", ONE_PROBE)
        other.wait_for_property(LINK_PROBE[0], path, JOB, "Phase", lambda phase: "trainer: epoch 7" in phase,
                                deadline=ONE_PROBE)
        other.call(LINK_PROBE[0], path, JOB, "Cancel")
        assert end_of(other, path) == ("canceled", "")
        assert row_of(other, node) == before
        holder.signal(signal.SIGTERM)
        node.wait_for_property(*LINK_PROBE, "Inhibited", lambda what: not what)
        measure(node, other)
        wait_idle(source, sink)


def test_who_has_work_is_not_loaded_by_others(pair):
    """The probe itself is told so, by a node whose policy it has not heard of."""
    _, source, sink = pair
    command = [program(), f"--connect={sink.address}", f"--identity={source.dir}/config/cluster", f"--peer={sink.id}",
               "--json"]

    def outcome(*options):
        """Of the first that comes while no other one uses the interface."""
        def found():
            told = json.loads(source.run([*command, *options], check=False, deadline=ONE_PROBE).stdout)
            return None if told.get("error") == "busy" else told
        return wait_steadily(found, "the interface to be free", ROUNDS)

    holder = sink.spawn([client_binary(), "inhibit", "--what=compute", "--who=trainer", "--why=epoch 7", "--",
                         "sleep", "infinity"], "inhibit")
    sink.wait_for_property(*LINK_PROBE, "Inhibited", lambda what: "compute" in what)
    for scope in ((), ("--check",)):
        told = outcome("--automatic", *scope)
        assert told["error"] == "round-trips-only", told
        assert told["message"] == "the other side: work: inhibited by trainer: epoch 7"
    assert outcome("--automatic", "--round-trips")["RttSamples"] > 0

    def await_figure(*options):
        """Of a busy machine a burst may give none, with a reason."""
        wait_steadily(lambda: outcome(*options)["SpotUploadBitsPerSecond"], "a spot check with a figure", ROUNDS)

    await_figure("--check")
    holder.signal(signal.SIGTERM)
    sink.wait_for_property(*LINK_PROBE, "Inhibited", lambda what: not what)
    await_figure("--automatic", "--check")


# Who is not who should be measured


def test_address_of_another_node_is_never_measured_as_the_peer(make_cluster):
    cluster = shaped(make_cluster, 3)
    cluster.wait_online()
    one, two, three = cluster.nodes
    # Where the first one believes the second one to be, the third one answers.
    mac = json.loads(network.ip(three, "-j", "link", "show", "dev", "eth0"))[0]["address"]
    network.ip(one, "neighbour", "replace", "10.88.0.9", "lladdr", mac, "dev", "eth0", "nud", "permanent")
    network.add_address(three, "lo", "10.88.0.9/32")
    for node, address in ((one, "10.88.0.1/24"), (three, "10.88.0.3/24"), (two, "10.88.0.9/24")):
        network.add_address(node, "eth0", address)
    wait_steadily(lambda: knows_address(one, two, "10.88.0.9/24"), "the address of node2 to be known")
    state, error = end_of(one, probe(one, two, Address="10.88.0.9"))
    assert state == "failed" and three.id in error, error
    found = {key: row for key, row in rows(one).items() if key[::2] == (one.id, "10.88.0.9")}
    assert not any(map(is_measured, found.values()))
    assert not any(sink == three.id for _, sink, _ in found)


def test_revoked_node_is_neither_measured_nor_measures(pair):
    cluster, *_ = pair
    kept, gone = cluster.nodes
    kept.alidadectl("cluster", "revoke", gone.id)
    state, error = end_of(kept, probe(kept, gone, Address=gone.address))
    assert state == "failed" and "revoked" in error, error
    refused_before = refused_sessions(kept)
    state, error = end_of(gone, probe(gone, kept, Address=kept.address))
    assert state == "failed", error
    wait_steadily(lambda: refused_sessions(kept) > refused_before, "the end of the session there")


def test_node_that_another_revoked_is_not_measured(make_cluster):
    """By the list that the cluster brought, which nobody has installed yet."""
    cluster = shaped(make_cluster, 3)
    cluster.wait_online()
    one, two, gone = cluster.nodes
    one.alidadectl("cluster", "revoke", gone.id)
    wait_steadily((two.state_directory("clusterd") / "crl.pem").exists, "the list at node2")
    state, error = end_of(two, probe(two, gone, Address=gone.address))
    assert state == "failed" and "revoked" in error, error


# Begins as TLS does, and goes on as nobody of the cluster would; and such as never begin.
FLOOD = """
import socket, sys, threading
def flood(payload):
    while True:
        with socket.socket() as connection:
            connection.settimeout(2)
            try:
                connection.connect((sys.argv[1], 7461))
                connection.send(payload)
                connection.recv(64)
            except OSError:
                pass
for payload in (bytes.fromhex("160301ffff") + b"x" * 2000, bytes.fromhex("1603010005") + b"abcde", b"GET /", b""):
    threading.Thread(target=flood, args=(payload,)).start()
"""


def test_flood_of_strangers_keeps_no_member_out(make_cluster):
    cluster = shaped(make_cluster, 3)
    cluster.wait_online()
    source, sink, stranger = sorted(cluster.nodes, key=lambda node: node.id)
    flood = stranger.spawn(["/usr/bin/python3", "-c", FLOOD, sink.address], "flood")
    wait_steadily(lambda: refused_sessions(sink) > 500, "many to be refused", ROUNDS)
    assert len(children(sink)) <= 4
    measure(source, sink)
    assert descriptors(sink) < 60
    flood.kill()
    wait_idle(source, sink)
    wait_steadily(lambda: descriptors(sink) < 30, "the connections to be gone", ONE_PROBE)


# What fails


def test_address_that_vanishes_while_it_is_measured(pair):
    _, source, sink = pair
    for phase in ("rtt", "upload", "download"):
        network.add_address(source, "eth0", "10.88.0.1/24")
        network.add_address(sink, "eth0", "10.88.0.2/24")
        wait_steadily(lambda: knows_address(source, sink, "10.88.0.2/24"), "the address to be known")
        path = probe_up_to(phase, source, sink, "10.88.0.2")
        network.delete_address(sink, "eth0", "10.88.0.2/24")
        network.delete_address(source, "eth0", "10.88.0.1/24")
        state, error = end_of(source, path)
        assert state == "failed" and error
        wait_idle(source, sink)
        wait_steadily(lambda: not knows_address(source, sink, "10.88.0.2/24"), "the address to be forgotten")
        next_round(source)
        wait_steadily(lambda: (source.id, sink.id, "10.88.0.2") not in rows(source), "its row to go", ROUNDS)
        measure(source, sink)


# Sudden ends


def figures(row):
    return [row[name] for name in FIGURES]


def kill_daemon(node):
    node.kill("link-probed")


def kill_child(node):
    for pid in children(node):
        os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize("act", [kill_daemon, kill_child], ids=["daemon", "child"])
def test_killed_at_each_stage(pair, act):
    """At either end: no record is corrupted, no process left, and all goes on."""
    _, source, sink = pair
    good = measure(source, sink)
    for phase, victim in itertools.product(("rtt", "upload", "download"), (source, sink)):
        path = probe_up_to(phase, source, sink, sink.address)
        act(victim)
        if act is kill_child or victim is sink:
            state, error = end_of(source, path)
            assert state == "failed" and error
        wait_idle(source, sink)
        assert figures(row_of(source, sink)) == figures(good)
        if act is kill_daemon:
            victim.restart("link-probed")
        good = measure(source, sink)
    # By itself as well.
    wait_measured(source, source, sink)
    wait_steadily(lambda: rows(source) == rows(sink), "the same rows at both ends")
