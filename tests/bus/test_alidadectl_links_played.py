# SPDX-License-Identifier: LGPL-2.1-or-later
"""The verbs of alidadectl about links, against services that the test plays: links of all kinds, jobs that go well and
badly, locks, and values that no real service sends."""

import json
import os
import signal
import subprocess
import unicodedata

import pytest

from gi.repository import GLib

from bedlib import BusError, StandIn, wait_until
from bedlib.connection import PROPERTIES
from bedlib.services import client_binary
from bedlib.topology import ROW_NAMES
from bedlib.variants import pack
from bedlib.waiting import wait_steadily
from client import DENIED, ERROR, NO_NODE, OK, UNREACHABLE, USAGE, get_json, watch, width
from played_link_probe import JOB, JOB_PATH, PlayedLinkProbe
from played_link_probe import NAME as LINK_PROBE
from played_state import PATH, PlayedState, fields, now, sample_node
from terminal import Terminal


def node_id(number):
    return f"{number:032x}"


ME, PEER, THIRD = (node_id(number) for number in (0xa1, 0xb2, 0xc3))
MINUTE = 60 * 10 ** 6
GIGABIT = 10 ** 9


def link(sink, up=9_410_000_000, down=9_380_000_000, age=MINUTE, **more):
    return {"Sink": sink, "SinkAddress": "192.0.2.2", "SourceInterface": "eth0", "SourceInterfaceType": "ethernet",
            "SinkInterface": "eth7", "SinkInterfaceType": "ethernet", "UploadBitsPerSecond": up, "UploadInterval": 0.42,
            "DownloadBitsPerSecond": down, "DownloadInterval": 1.3, "RttP50NSec": 36_400, "JitterNSec": 4_000,
            "NegotiatedBitsPerSecond": 10 * GIGABIT, "MeasuredUSec": now() - age, **more}


def edge(source, sink, rate, **more):
    """A row of Edges; rate None: not measured."""
    figures = {"BitsPerSecond": rate, "RttP50NSec": 36_400, "MeasuredUSec": now(), "Prober": source} if rate else {}
    return {"Kind": "socket", "Source": source, "SourcePort": "eth0", "SourceType": "ethernet", "Sink": sink,
            "SinkPort": "eth7", "SinkType": "ethernet",
            "Presence": "live" if rate else "unmeasured", **figures, **more}


def topology_of(nodes, edges):
    """The replies to GetTopology() with these rows, and to GetPairs() with a pair for each two nodes."""
    pairs = {}
    for number, row in enumerate(edges, 1):
        if row["Kind"] == "device":
            continue
        node, peer = sorted((row["Source"], row["Sink"]))
        pair = pairs.setdefault((node, peer), {"Presence": row["Presence"], "Kinds": [row["Kind"]]})
        if "BitsPerSecond" in row:
            direction = "ToPeer" if row["Source"] == node else "FromPeer"
            pair[f"{direction}BitsPerSecond"], pair["RttP50NSec"] = row["BitsPerSecond"], row["RttP50NSec"]
            pair[f"{direction}Edge"], pair[f"{direction}MeasuredUSec"] = number, row["MeasuredUSec"]
    fixed = ROW_NAMES["Edges"]
    rows = [(number, *(row[name] for name in fixed[1:]), fields({k: v for k, v in row.items() if k not in fixed}))
            for number, row in enumerate(edges, 1)]
    known = {id: values.get("Node1.Identity", {}).get("FriendlyName") for id, values in nodes.items()}
    return (pack("(ttba(ssa{sv})a(tssssssssa{sv})asat)", (
        7, 0, True, [(id, "online", fields({"Name": name} if name else {})) for id, name in known.items()], rows,
        [], [])),
            pack("(ttba(sssa{sv})a(ss))", (
                7, 0, True, [(*key, pair.pop("Presence"), fields(pair)) for key, pair in pairs.items()], [])))


def encode(key):
    """As sd_bus_path_encode(3)."""
    return "".join(c if c.isascii() and c.isalnum() else "".join(f"_{byte:02x}" for byte in c.encode()) for c in key)


def put_links(state, links, kind="Socket"):
    """links is {(source, key): fields}."""
    managed = state.handlers["GetManagedObjects"]
    objects = {f"{PATH}/link/{kind.lower()}/{source}/{encode(key)}":
               {f"org.alidade.Link1.{kind}": fields({"Source": source, "UpdatedUSec": now(), **values})}
               for (source, key), values in links.items()}
    state.handlers["GetManagedObjects"] = lambda: ({**managed()[0], **objects},)


@pytest.fixture
def play(make_host):
    """play(nodes, links, edges): a host and a played state service on its bus."""
    played = []

    def make(nodes=None, links=None, edges=(), **options):
        host = make_host()
        nodes = {ME: sample_node("atlas"), PEER: sample_node("borealis")} if nodes is None else nodes
        state = PlayedState(host.connection(), ME, nodes, **options).own()
        if links is None:
            links = {(ME, f"{PEER},192.0.2.2"): link(PEER)}
        put_links(state, links)
        # Made before anybody waits for it.
        topology, pairs = topology_of(nodes, edges)
        state.handlers["GetTopology"] = lambda since, after: topology
        state.handlers["GetPairs"] = lambda since, after: pairs
        played.append(state)
        return host, state

    yield make
    for state in played:
        state.close()


@pytest.fixture
def play_probe(play):
    """play_probe(…): a host with a played link-probe service as well."""
    played = []

    def make(inhibitors=(), **options):
        host, _ = play(**options)
        probe = PlayedLinkProbe(host.connection(), inhibitors).own()
        played.append(probe)
        return host, probe

    yield make
    for probe in played:
        probe.close()


# links

def row_of(text, begin):
    [row] = [line for line in text.splitlines() if line.startswith(begin)]
    return row


def test_links(play):
    host, _ = play()
    header, row = host.alidadectl("links").stdout.splitlines()
    assert header.split() == ["LINK", "PROTOCOL", "ADDRESS", "TYPE", "INTERFACE", "UP", "±", "DOWN", "±",
                              "RTT/2", "JITTER/2", "AGE", "VERDICT"]
    assert row.split() == ["atlas", "→", "borealis", "TCP/IP", "192.0.2.2", "ethernet", "eth0", "9.41", "Gb/s", "±0.4",
                           "%", "9.38", "Gb/s", "±1.3", "%", "18.2", "µs", "2.00", "µs", "1", "min", "ago", "ok"]


def test_an_unknown_interval_is_not_0(play):
    host, _ = play(links={(ME, f"{PEER},192.0.2.2"): link(PEER, UploadInterval=NAN)})
    row = host.alidadectl("links").stdout.splitlines()[1]
    assert "±" not in row[:row.index("9.38 Gb/s")] and "±1.3 %" in row
    fields = get_json(host, "links")["Links"][f"{ME}/{PEER},192.0.2.2"]["Link1.Socket"]
    assert "UploadInterval" not in fields and fields["DownloadInterval"] == 1.3


def test_both_ends_of_a_path(play):
    """A wired machine does not call its link to one with a radio wired."""
    host, _ = play(links={(ME, f"{PEER},192.0.2.2"): link(PEER, SinkInterfaceType="wifi", SinkInterfaceGeneration=6)})
    assert "ethernet → wifi 6" in host.alidadectl("links").stdout.splitlines()[1]


VERDICTS = [
    ({}, "ok"),
    ({"up": 4 * GIGABIT}, "40 % of negotiated"),
    ({"down": 5 * GIGABIT, "SourceInterfaceType": "wifi"}, "ok"),
    ({"down": 3 * GIGABIT, "SourceInterfaceType": "wifi"}, "asymmetric"),
    ({"down": 2 * GIGABIT, "SourceInterfaceType": "wifi"}, "20 % of negotiated"),
    ({"up": 5 * GIGABIT, "NegotiatedBitsPerSecond": 2 ** 64 - 1}, "ok"),
    ({"up": 4 * GIGABIT, "NegotiatedBitsPerSecond": 2 ** 64 - 1}, "asymmetric"),
    ({"up": 4 * GIGABIT, "UploadInterval": 26.0, "Flags": ["unsteady"]}, "unsteady"),
    ({"Flags": ["unsteady"]}, "unsteady"),
    ({"Changed": "rate"}, "changed: rate"),
    ({"Changed": "rate", "Flags": ["unsteady"]}, "changed: rate"),
    ({"up": 4 * GIGABIT, "Flags": ["disturbed"], "UploadOtherBitsPerSecond": 300_000_000}, "disturbed by 300 Mb/s"),
    ({"up": 2 ** 64 - 1, "Failure": "partial: upload: too little arrived"}, "partial: upload: too little arrived"),
    ({"age": 11 * MINUTE, "TimeToLiveUSec": 6 * MINUTE}, "ok"),
    ({"age": 11 * MINUTE}, "overdue"),
    ({"age": -5 * MINUTE}, "ok"),
    ({"Failure": "connection refused", "FailedUSec": now() + 60 * MINUTE}, "failed: connection refused"),
    ({"Failure": "connection refused", "FailedUSec": now() - 60 * MINUTE}, "ok"),
    ({"FailedUSec": now() + 60 * MINUTE}, "failed"),
    ({"MeasuredUSec": 2 ** 64 - 1}, "not measured"),
    ({"MeasuredUSec": 2 ** 64 - 1, "Failure": "no answer"}, "failed: no answer")]


def test_verdicts(play):
    host, _ = play(links={(ME, f"{PEER},192.0.2.{n}"): link(PEER, SinkAddress=f"192.0.2.{n}", **more)
                          for n, (more, _) in enumerate(VERDICTS, 100)})
    text = host.alidadectl("links").stdout
    for n, (more, verdict) in enumerate(VERDICTS, 100):
        [row] = [line for line in text.splitlines() if f" 192.0.2.{n} " in line]
        assert row.endswith(f"  {verdict}"), more


def test_a_slow_peer_is_not_the_fault_of_the_link(play):
    """Like the findings, it looks up what the sink negotiated if the record, of an older version, lacks it."""
    network = {"Node1.Network": {"Interfaces": [
        {"Id": "eth7", "Type": "ethernet", "Addresses": ["192.0.2.2/24"], "SpeedBitsPerSecond": GIGABIT}]}}
    host, _ = play({ME: sample_node("atlas"), PEER: {**sample_node("borealis"), **network}},
                   {(ME, f"{PEER},192.0.2.2"): link(PEER, up=940_000_000, down=940_000_000, SinkInterfaceType="")})
    assert host.alidadectl("links").stdout.splitlines()[1].endswith("  ok")


def test_links_of_a_node_by_name(play):
    host, state = play({ME: sample_node("atlas"), PEER: sample_node("node-10"), THIRD: sample_node("node-9")},
                       {(ME, f"{PEER},192.0.2.2"): link(PEER), (ME, f"{THIRD},192.0.2.3"): link(THIRD),
                        (PEER, f"{THIRD},fe80::3"): link(THIRD, SinkAddress="fe80::3"),
                        (ME, f"{node_id(9)},192.0.2.9"): link(node_id(9))})  # which was forgotten
    put_links(state, {(ME, f"{PEER},mlx5_0.1,mlx5_1.1"): {"Sink": PEER, "SourcePort": "mlx5_0.1",
                                                          "SinkPort": "mlx5_1.1", "MeasuredUSec": now()}}, "Rdma")
    text = host.alidadectl("links").stdout
    assert [line[:line.index("  ")] for line in text.splitlines()[1:]] == [
        "atlas → node-9", "atlas → node-10", "atlas → node-10", "node-10 → node-9"]
    assert "fe80::3%eth0" in text and "mlx5_0.1 → mlx5_1.1" in text
    assert len(host.alidadectl("links", "node-10").stdout.splitlines()) == 4
    assert len(host.alidadectl("links", THIRD).stdout.splitlines()) == 3
    found = get_json(host, "links", "node-9")
    assert found["Links"].keys() == {f"{ME}/{THIRD},192.0.2.3", f"{PEER}/{THIRD},fe80::3"}
    assert found["Names"] == {ME: "atlas", PEER: "node-10", THIRD: "node-9"}
    assert len(get_json(host, "links")["Links"]) == 4
    done = host.alidadectl("links", "nobody", check=False)
    assert (done.returncode, done.stdout) == (NO_NODE, "")
    text = host.alidadectl("links", "node-10", "atlas").stdout
    assert [line[:line.index("  ")] for line in text.splitlines()[1:]] == ["atlas → node-10", "atlas → node-10"]
    assert get_json(host, "links", "atlas", "node-10")["Links"].keys() == {
        f"{ME}/{PEER},192.0.2.2", f"{ME}/{PEER},mlx5_0.1,mlx5_1.1"}
    for words, code, said in ((["atlas", "nobody"], NO_NODE, "No node is called"),
                              (["atlas", ME], USAGE, "A link joins two different nodes")):
        done = host.alidadectl("links", *words, check=False)
        assert (done.returncode, done.stdout) == (code, "") and said in done.stderr


def test_links_of_two_nodes_without_any(play):
    host, _ = play({ME: sample_node("atlas"), PEER: sample_node("node-10"), THIRD: sample_node("node-9")},
                   {(ME, f"{PEER},192.0.2.2"): link(PEER)})
    assert host.alidadectl("links", "atlas", "node-9").stdout == (
        "No link between atlas and node-9 has been measured yet.\n")


def rdma_link(sink=PEER):
    return {"Sink": sink, "SourcePort": "mlx5_0.1", "SinkPort": "mlx5_1.1", "MeasuredUSec": now()}


def test_columns_of_links_are_chosen_and_sorted(play):
    host, state = play({ME: sample_node("atlas"), PEER: sample_node("node-10"), THIRD: sample_node("node-9")},
                       {(ME, f"{PEER},192.0.2.2"): link(PEER, up=GIGABIT),
                        (ME, f"{THIRD},192.0.2.3"): link(THIRD, up=2 * GIGABIT, SinkAddress="192.0.2.3")})
    put_links(state, {(ME, f"{PEER},mlx5_0.1,mlx5_1.1"): rdma_link()}, "Rdma")
    lines = host.alidadectl("links", "--columns=sink,PROTOCOL,upload,rtt", "--sort=-upload").stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["TO", "PROTOCOL", "UP", "RTT/2"], ["node-9", "TCP/IP", "2.00", "Gb/s", "18.2", "µs"],
        ["node-10", "TCP/IP", "1.00", "Gb/s", "18.2", "µs"], ["node-10", "RDMA", "–", "–"]]
    lines = host.alidadectl("links", "node-10", "--columns=protocol,sink", "--sort=protocol").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["RDMA", "TCP/IP"]
    header = host.alidadectl("links", "--columns=+sink-id").stdout.splitlines()[0]
    assert header.startswith("LINK") and header.endswith("TO ID")


def test_columns_of_links_for_other_programs(play):
    """What a peer calls itself is no formula in a spreadsheet."""
    host, state = play({ME: sample_node("atlas"), PEER: sample_node("=1+1")})
    put_links(state, {(ME, f"{PEER},mlx5_0.1,mlx5_1.1"): rdma_link()}, "Rdma")
    names = "sink,sink-id,protocol,upload,upload-interval,rtt,jitter,verdict"
    known = {"SinkName": "=1+1", "Sink": PEER, "Kind": "socket", "UploadBitsPerSecond": 9_410_000_000,
             "UploadInterval": 0.42, "RttP50NSec": 36400, "JitterNSec": 4000, "Verdict": "ok"}
    rdma = {"SinkName": "=1+1", "Sink": PEER, "Kind": "rdma", "Verdict": "ok"}
    assert get_json(host, "links", f"--columns={names}", "--sort=-upload")["Links"] == [known, rdma]
    assert host.alidadectl("links", "--csv", f"--columns={names}", "--sort=upload").stdout == (
        f"{','.join(known)}\r\n'=1+1,{PEER},socket,9410000000,0.42,36400,4000,ok\r\n"
        f"'=1+1,{PEER},rdma,,,,,ok\r\n")
    assert "Link1.Rdma" in get_json(host, "links")["Links"][f"{ME}/{PEER},mlx5_0.1,mlx5_1.1"], "records without these"
    assert host.alidadectl("links", "--csv", "--columns=age,link", THIRD, check=False).returncode == NO_NODE


REFUSED_COLUMNS = [
    (["--columns=sink,none"], 'Unknown column "none"; see alidadectl links --columns=help'),
    (["--sort=none"], 'Unknown column "none"'), (["--csv", "--json"], "--json and --csv exclude each other")]


def test_refused_columns_of_links(play):
    host, _ = play()
    for args, problem in REFUSED_COLUMNS:
        done = host.alidadectl("links", *args, check=False)
        assert done.returncode == USAGE and problem in done.stderr and not done.stdout, args


def test_no_links(play):
    host, _ = play(links={})
    assert host.alidadectl("links").stdout == "No link has been measured yet.\n"
    assert get_json(host, "links")["Links"] == {}
    assert get_json(host, "links", "--columns=link") == {"Links": []}
    assert host.alidadectl("links", "--csv", "--columns=link").stdout == "Link\r\n"
    for args in (["show", ME], ["status"], ["watch", "--once"]):
        assert "Links\n" not in host.alidadectl(*args).stdout and "RTT/2" not in host.alidadectl(*args).stdout


def test_links_in_other_verbs(play):
    host, _ = play()
    for args in (["show", "borealis"], ["status"], ["watch", "--once"]):
        row = row_of(host.alidadectl(*args).stdout, "atlas → borealis")
        assert "9.41 Gb/s" in row and "18.2 µs" in row


def test_links_in_the_live_view(play):
    host, state = play()
    with watch(host, columns=120, rows=30) as terminal:
        terminal.wait_for(lambda shown: "atlas → borealis" in shown and "9.41 Gb/s" in shown)
        path = f"{PATH}/link/socket/{ME}/{encode(f'{PEER},192.0.2.2')}"
        state.connection.emit(path, "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
                              ("org.alidade.Link1.Socket", fields({"UploadBitsPerSecond": 2 * GIGABIT}), []))
        terminal.wait_for_text("20 % of negotiated")
        terminal.resize(120, 12)
        terminal.signal(signal.SIGWINCH)
        terminal.wait_for(lambda shown: "borealis" in shown and "→" not in shown)
        terminal.type("q")
        assert terminal.wait() == OK and terminal.is_restored()


# topology

TRIANGLE = {ME: sample_node("atlas"), PEER: sample_node("borealis"), THIRD: sample_node("cygnus")}
EDGES = [edge(ME, PEER, 9_410_000_000), edge(PEER, ME, 9_380_000_000), edge(ME, THIRD, 196_000_000),
         edge(THIRD, ME, 48_200_000), edge(PEER, THIRD, 941_000_000)]


def test_topology_is_drawn(play):
    host, _ = play(TRIANGLE, edges=EDGES)
    assert host.alidadectl("topology").stdout == (
        "From the node at the left to the one at the top, over the best path; RTT/2 below:\n"
        "        │       atlas    borealis      cygnus\n"
        "────────┼────────────────────────────────────\n"
        "atlas   │          ·   9.41 Gb/s    196 Mb/s≠\n"
        "        │                18.2 µs     18.2 µs \n"
        "borealis│  9.38 Gb/s           ·    941 Mb/s \n"
        "        │    18.2 µs                 18.2 µs \n"
        "cygnus  │  48.2 Mb/s≠          –           · \n"
        "        │    18.2 µs     18.2 µs             \n"
        "≠ asymmetric: 196 Mb/s from atlas to cygnus, 48.2 Mb/s back\n")
    numbers = host.alidadectl("topology", env={"COLUMNS": 40}).stdout
    assert "1 atlas   │" in numbers and "196M≠" in numbers and "9.41G" in numbers
    pairs = host.alidadectl("topology", env={"COLUMNS": 24}).stdout
    assert "196M" in pairs and "48.2M" in pairs and "│" not in pairs
    for columns in (20, 24, 30, 40, 60, 80):
        text = host.alidadectl("topology", env={"COLUMNS": columns}).stdout
        assert [line for line in text.splitlines() if width(line) > columns] == []


def test_topology_json_has_names(play):
    host, _ = play({ME: sample_node("atlas"), PEER: {"Node1.Memory": {}}}, edges=[edge(ME, PEER, 5, Prober=PEER)])
    shown = get_json(host, "topology")
    [row], [pair] = shown["Edges"], shown["Pairs"]
    assert row["Source"] == ME and row["SourceName"] == "atlas" and row["BitsPerSecond"] == 5
    assert row["Sink"] == PEER == row["Prober"] and "SinkName" not in row and "ProberName" not in row
    assert pair["Node"] == ME and pair["Peer"] == PEER and pair["ToPeerBitsPerSecond"] == 5
    assert [node["Node"] for node in shown["Nodes"]] == [ME, PEER] and shown["Revision"] == 7


def test_every_path_is_listed(play):
    host, _ = play(edges=[edge(ME, PEER, 5), edge(ME, PEER, 7, Kind="rdma"), edge(PEER, ME, None, Reason="no way")])
    header, *rows = host.alidadectl("topology", "--all").stdout.splitlines()
    assert header.split() == ["EDGE", "PATH", "TYPE", "RATE", "RTT/2", "AGE", "STATE"]
    assert [row.split()[:3] for row in rows] == [["atlas", "→", "borealis"]] * 2 + [["borealis", "→", "atlas"]]
    assert "rdma" in rows[1] and " 7 b/s" in rows[1]
    assert rows[2].endswith("not measured: no way")


def join(device, peer, kind="pcie", rates=(None, None), **more):
    """Both edges between a device of ME and a peer of it."""
    return [edge(ME, ME, rate, Kind="device", SourcePort=source, SinkPort=sink, SourceType=kind, SinkType=kind,
                 **{"Presence": "live", **more})
            for source, sink, rate in ((device, peer, rates[0]), (peer, device, rates[1]))]


def test_inside_a_node(play):
    nodes = {ME: {**sample_node("atlas"), "Node1.Backends": {"Devices": [
        {"Id": "0000:01:00.0", "Name": "GB202", "Class": "gpu"}, {"Id": "0000:02:00.0", "Class": "gpu"}]}},
             PEER: sample_node("borealis")}
    edges = [edge(ME, PEER, 5), *join("0000:01:00.0", "0000:02:00.0", "nvlink", Links=4, Through="switch"),
             *join("0000:01:00.0", "host", rates=(200 * GIGABIT, 180 * GIGABIT), Lanes=16,
                   NegotiatedBitsPerSecond=504 * GIGABIT),
             *join("0000:02:00.0", "host", Presence="unmeasured", Lanes=8)]
    host, _ = play(nodes, edges=edges)
    header, *rows = host.alidadectl("topology", "--inside=atlas", env={"COLUMNS": 160}).stdout.splitlines()
    assert header.split() == ["DEVICE", "PEER", "JOIN", "LIMIT", "→", "←", "AGE", "STATE"]
    assert [row.split() for row in rows] == [
        ["GB202", "(0000:01:00.0)", "host", "pcie", "×16", "504", "Gb/s", "200", "Gb/s", "180", "Gb/s", "now", "live"],
        ["0000:02:00.0", "host", "pcie", "×8", "–", "–", "–", "–", "not", "measured"],
        ["GB202", "(0000:01:00.0)", "0000:02:00.0", "nvlink", "×4", "through", "switch", "–", "–", "–", "–", "live"]]
    shown = get_json(host, "topology", "--inside", "atlas")
    assert [row["SourcePort"] for row in shown["Edges"]].count("host") == 2 and len(shown["Edges"]) == 6
    assert {row["SourceName"] for row in shown["Edges"]} == {"atlas"}
    # They are not between nodes.
    assert len(host.alidadectl("topology", "--all").stdout.splitlines()) == 2
    assert host.alidadectl("topology", "--dot", "--all").stdout.count("->") == 1
    assert host.alidadectl("topology", "--inside=borealis").stdout == (
        "No connections between the devices of this node are known.\n")
    assert host.alidadectl("topology", "--inside=nobody", check=False).returncode == NO_NODE
    for columns in (20, 40, 80):
        text = host.alidadectl("topology", "--inside=atlas", env={"COLUMNS": columns}).stdout
        assert max(map(len, text.splitlines())) <= columns


def test_options_of_topology_alone(play):
    host, _ = play()
    for option in ("--all", "--dot", "--inside=x"):
        done = host.alidadectl("nodes", option, check=False)
        named = option.partition("=")[0]
        assert (done.returncode, done.stderr) == (USAGE, f"alidadectl: {named} works with topology only\n")
    for options in (("--dot", "--json"), ("--dot", "--inside=x"), ("--all", "--inside=x")):
        assert host.alidadectl("topology", *options, check=False).returncode == USAGE


def test_graphviz_draws_it(play):
    nodes = {**TRIANGLE, node_id(9): sample_node('"\\n}')}
    host, _ = play(nodes, edges=EDGES + [edge(THIRD, node_id(9), None)])
    for options, n_edges in (((), 4), (("--all",), 6)):
        text = host.alidadectl("topology", "--dot", *options).stdout
        drawn = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True).stdout
        assert [line.split()[0] for line in drawn.splitlines()].count("node") == 4, options
        assert [line.split()[0] for line in drawn.splitlines()].count("edge") == n_edges, options


def test_labels_of_many_paths_stand_apart(play):
    edges = [edge(a, b, 5 * GIGABIT, SinkAddress=f"192.0.2.{path}")
             for path in range(1, 4) for a in TRIANGLE for b in TRIANGLE if a != b]
    host, _ = play(TRIANGLE, edges=edges)
    drawn = subprocess.run(["dot", "-Tjson"], input=host.alidadectl("topology", "--dot", "--all").stdout,
                           capture_output=True, text=True, check=True).stdout
    boxes = []
    for line in json.loads(drawn)["edges"]:
        texts = [op for op in line["_ldraw_"] if op["op"] == "T"]
        height = next(op["size"] for op in line["_ldraw_"] if op["op"] == "F")
        middle = texts[0]["pt"][0]
        wide = max(op["width"] for op in texts) / 2
        boxes.append((middle - wide, texts[-1]["pt"][1], middle + wide, texts[0]["pt"][1] + height))
    assert len(boxes) == len(edges)
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_names_are_whole_before_types(play):
    """In 80 columns, columns that matter less go before a name is cut, and no address is."""
    nodes = {ME: sample_node("atlas-rack-2-a"), PEER: sample_node("borealis-rack-1")}
    host, _ = play(nodes, edges=[edge(ME, PEER, 5 * GIGABIT, SourcePort="enp193s0f0np0", SinkPort="enp193s0f1np1",
                                      SinkAddress=f"2001:db8:{':'.join(['abcd'] * 6)}")])
    header, row, path = host.alidadectl("topology", "--all", env={"COLUMNS": 80}).stdout.splitlines()
    assert row.startswith("atlas-rack-2-a → borealis-rack-1 ") and "5.00 Gb/s" in row and "PATH" not in header
    assert path == f"    enp193s0f0np0 → enp193s0f1np1 2001:db8:{':'.join(['abcd'] * 6)}"
    assert max(map(width, (header, row, path))) <= 80
    header, row = host.alidadectl("topology", "--all", env={"COLUMNS": 200}).stdout.splitlines()
    assert "PATH" in header and path.strip() in row


def test_topology_of_many(play):
    nodes = {node_id(number): sample_node(f"n{number}") for number in range(1, 13)}
    edges = [edge(node_id(a), node_id(b), rate) for a in range(1, 13) for b in range(1, 13) if a != b
             for rate in [a * 10 ** 6 if b == 12 else 10 ** 9]]
    host, _ = play(nodes, edges=edges)
    text = host.alidadectl("topology").stdout
    assert "The slowest of 66 measured pairs:" in text and "The most asymmetric ones:" in text
    first = text.splitlines()[2]
    assert first.split()[:7] == ["n1", "↔", "n12", "1.00", "Mb/s", "1.00", "Gb/s"] and first.endswith("asymmetric")
    assert "12 nodes are too many to draw" in text
    assert len(get_json(host, "topology")["Edges"]) == 132


def test_nothing_to_draw(play):
    host, _ = play()
    assert host.alidadectl("topology").stdout == "No link between nodes is known yet.\n"
    assert get_json(host, "topology")["Edges"] == []


def test_more_edges_than_a_record_has_rows(play):
    nodes = {node_id(number): {"Node1.Memory": {}} for number in range(1, 121)}
    edges = [edge(a, b, 7) for a in nodes for b in nodes if a != b]
    host, _ = play(nodes, edges=edges)
    assert "The slowest of 7140 measured pairs" in host.alidadectl("topology").stdout


def test_topology_that_cannot_be_read(play):
    host, state = play()
    def refuse(since, after):
        raise BusError("org.freedesktop.DBus.Error.LimitsExceeded", "too long")
    state.handlers["GetTopology"] = refuse
    done = host.alidadectl("topology", check=False)
    assert (done.returncode, done.stdout) == (ERROR, "")
    assert done.stderr == "alidadectl: Cannot read the topology: too long\n"
    for verb in (["links"], ["status"], ["show", ME]):
        done = host.alidadectl(*verb)
        assert done.stdout and done.stderr == (
            "alidadectl: Cannot read the topology, so that paths that cannot be used are not marked: too long\n")
        assert json.loads(host.alidadectl("--json", *verb).stdout)
    state.state.close()
    state.state = StandIn(state.connection, PATH, """<node><interface name="org.alidade.State1">
        <method name="GetFindings"><arg type="aa{sv}" direction="out"/></method>
        <method name="GetTopology"><arg type="t" direction="in"/><arg type="t" direction="in"/>
            <arg type="as" direction="out"/></method>
        <property name="NodeId" type="s" access="read"/></interface></node>""",
        {"org.alidade.State1": {"NodeId": ME}}, {**state.handlers, "GetTopology": lambda since, after: (["x"],)})
    done = host.alidadectl("topology", check=False)
    assert done.returncode == ERROR and "does not match" in done.stderr


# probe link

RESULT = {"SinkAddress": "192.0.2.2", "SourceInterface": "eth0", "UploadBitsPerSecond": 9_410_000_000,
          "DownloadBitsPerSecond": 4_700_000_000, "UploadMeanBitsPerSecond": 9_390_000_000, "UploadBytes": 2 ** 30,
          "UploadSeconds": 0.91, "RttMinNSec": 30_000, "RttP50NSec": 36_400, "RttP99NSec": 90_000, "JitterNSec": 4_000,
          "LoadedRttP50NSec": 1_200_000, "LoadedSeconds": 1.42, "UploadInterval": 0.42, "UploadLimiter": "network",
          "DownloadLimiter": "receiver", "Streams": 4}


class Probing:
    """alidadectl probe at work, its output in files."""

    def __init__(self, host, *args, what="link", **options):
        self.paths = [host.dir / "probe-out", host.dir / "probe-err"]
        files = [open(path, "wb") for path in self.paths]
        self.process = host.spawn([client_binary(), "probe", what, *args], stdout=files[0].fileno(),
                                  stderr=files[1].fileno(), **options)
        for file in files:
            file.close()

    def wait_for(self, text):
        """Until it has said that."""
        wait_steadily(lambda: text in self.paths[1].read_text(encoding="utf-8"), text)

    def output(self):
        return self.paths[0].read_text(encoding="utf-8")

    def wait(self):
        """Exit status, output and complaints."""
        self.process.excused = True
        return (self.process.wait(), *(path.read_text(encoding="utf-8") for path in self.paths))


def test_probe(play_probe):
    host, probe = play_probe()
    probing = Probing(host, "borealis", "--path=192.0.2.2")
    probe.wait_for_job()
    probe.tell(State="running", Address="192.0.2.2", Phase="rtt", Progress=0.1)
    probing.wait_for("borealis: round trips over 192.0.2.2\n")
    probe.tell(Phase="upload", Progress=0.5)
    probing.wait_for("borealis: upload over 192.0.2.2\n")
    probe.tell(State="done", Phase="", Progress=1.0, Result=RESULT)
    status, out, err = probing.wait()
    assert status == OK, err
    assert out == ("   Link to: borealis over 192.0.2.2 (eth0)\n"
                   "    Upload: 9.41 Gb/s ±0.4 %, mean 9.39 Gb/s, limited by the network, 1.00 GiB in 910 ms\n"
                   "  Download: 4.70 Gb/s, limited by the receiver\n"
                   "     RTT/2: 18.2 µs, least 15.0 µs, 99th percentile 45.0 µs, under load 600 µs after 1.42 s\n"
                   "  Jitter/2: 2.00 µs\n"
                   "   Streams: 4\n")
    assert "\033" not in err and "\r" not in err
    [call] = probe.calls("ProbeLink")
    assert call.args == (PEER, {"Address": "192.0.2.2"})


def test_probe_over_rdma(play_probe):
    host, probe = play_probe()
    probing = Probing(host, "borealis", "--port=mlx5_0.1", "--peer-port=mlx5_1.1", what="rdma")
    probe.wait_for_job()
    probe.tell(State="running", Address="192.0.2.2", Phase="rtt", Progress=0.1)
    probing.wait_for("borealis: round trips over 192.0.2.2\n")
    ports = {"Address": "192.0.2.2", "SourcePort": "mlx5_0.1", "SinkPort": "mlx5_1.1"}
    lost = {**ports, "SinkPort": "mlx5_1.2", "Error": "no-gid: no address"}
    figures = {**ports, "UploadBitsPerSecond": 94_100_000_000, "DownloadBitsPerSecond": 93_900_000_000,
               "RttP50NSec": 3_600, "JitterNSec": 200, "MessageBytes": 65536, "Mtu": 4096, "QueuePairs": 1}
    probe.tell(State="done", Phase="", Progress=1.0, Result=figures, Paths=[lost, figures])
    status, out, err = probing.wait()
    assert status == OK, err
    assert out == ("   Link to: borealis over mlx5_0.1 → mlx5_1.1\n"
                   "    Upload: 94.1 Gb/s\n"
                   "  Download: 93.9 Gb/s\n"
                   "     RTT/2: 1.80 µs\n"
                   "  Jitter/2: 100 ns\n"
                   "  Messages: 64.0 KiB, MTU 4096\n")
    assert "borealis over mlx5_0.1 → mlx5_1.2 was not measured: no-gid: no address\n" in err
    [call] = probe.calls("ProbeRdma")
    assert call.args == (PEER, {"Port": "mlx5_0.1", "PeerPort": "mlx5_1.1"})
    assert probe.calls("ProbeLink") == []


@pytest.mark.parametrize("result", [{}, {"Devices": "none"}, {"Devices": ["none"]}])
def test_probe_of_a_device_without_a_readable_result(play_probe, result):
    host, probe = play_probe()
    probing = Probing(host, "cpu", what="compute")
    probe.wait_for_job()
    probe.tell(State="done", Progress=1.0, Result=result)
    status, out, err = probing.wait()
    assert (status, out) == (ERROR, "") and "Cannot read the result of the probe of cpu\n" in err


def test_probe_of_file_systems(play_probe):
    host, probe = play_probe()
    probing = Probing(host, "/srv/models", "--force", what="storage")
    probe.wait_for_job()
    probe.tell(State="running", Phase="read", Progress=0.5)
    probing.wait_for("/srv/models: read\n")
    probe.tell(State="done", Phase="", Progress=1.0, Result={
        "FileSystems": [{"Id": "/srv/models", "FileSystemType": "ext4", "Disks": ["nvme0n1"], "ModelFiles": 12,
                         "ModelBytes": 310 * 2 ** 30, "ReadBytesPerSecond": 3_210_000_000, "ReadInterval": 1.0,
                         "ReadSpread": 4.0, "BlockBytes": 2 ** 20, "QueueDepth": 4, "ReadBytes": 2 ** 28}]})
    status, out, err = probing.wait()
    assert status == OK, err
    assert out == ("Mounted at: /srv/models (nvme0n1), ext4\n"
                   "     Holds: 12 models of 310 GiB\n"
                   "     Reads: 3.21 GB/s ±1 %, spread 4 %\n"
                   "  Measured: 256 MiB, in requests of 1.00 MiB, 4 at a time\n")
    [call] = probe.calls("ProbeStorage")
    assert call.args == ("/srv/models", {"Force": True})


def test_locks_of_storage_alone_hold_off_its_probe(play_probe):
    host, probe = play_probe([("compute", "make", "a build", 0, 3, 1), ("storage", "backup", "it copies", 0, 5, 2)])

    def refuse(*_):
        raise BusError("org.alidade.Error.Inhibited", "held off")

    probe.handlers["ProbeStorage"] = refuse
    done = host.alidadectl("probe", "storage", check=False)
    assert done.returncode != OK and "Cannot probe the file systems with models" in done.stderr
    assert "backup: it copies" in done.stderr and "make" not in done.stderr
    assert host.alidadectl("probe", "storage", "--metric=read", check=False).returncode == USAGE


REFUSED_PROBES = [
    ("rdma",), ("rdma", "a", "b"), ("rdma", "borealis", "--path=192.0.2.2"), ("rdma", "borealis", "--rtt-only"),
    ("rdma", "borealis", "--metric=gemm"), ("link", "borealis", "--port=a.1"), ("compute", "--peer-port=a.1"),
    ("rdma", "borealis", "--port=\udcff")]


def test_probe_over_rdma_is_asked_for_rightly(play_probe):
    host, probe = play_probe()
    for args in REFUSED_PROBES:
        done = host.alidadectl("probe", *args, check=False)
        assert done.returncode == USAGE and done.stdout == "", args
        assert probe.calls("ProbeRdma") == probe.calls("ProbeLink") == [], args


def test_locks_of_rdma_and_of_links_hold_off_rdma(play_probe):
    host, probe = play_probe([("compute", "make", "a build", 0, 3, 1), ("rdma", "Slurm", "job 42 runs", 0, 5, 2),
                              ("link", "test", "quiet", 0, 6, 3)])

    def refuse(*_):
        raise BusError("org.alidade.Error.Inhibited", "held off")

    probe.handlers["ProbeRdma"] = refuse
    done = host.alidadectl("probe", "rdma", "borealis", check=False)
    assert done.returncode != OK
    assert "Slurm: job 42 runs" in done.stderr and "test: quiet" in done.stderr and "make" not in done.stderr


def test_each_path_is_told_as_it_comes(play_probe):
    host, probe = play_probe()
    probing = Probing(host, "borealis")
    probe.wait_for_job()
    first, second = ({**RESULT, "Address": f"192.0.2.{n}", "SinkAddress": f"192.0.2.{n}"} for n in (2, 4))
    lost = {"Address": "192.0.2.3", "Error": "no route to it"}
    probe.tell(State="running", Address="192.0.2.3", Phase="rtt", Paths=[first])
    probing.wait_for("borealis: round trips over 192.0.2.3\n")
    assert "Link to: borealis over 192.0.2.2" in probing.output()
    probe.tell(Address="192.0.2.4", Paths=[first, lost])
    probing.wait_for("alidadectl: borealis over 192.0.2.3 was not measured: no route to it\n")
    probe.tell(State="done", Phase="", Progress=1.0, Result=RESULT, Paths=[first, lost, second])
    status, out, _ = probing.wait()
    assert status == OK
    assert [line.split(": ")[1] for line in out.splitlines() if "Link to" in line] == [
        "borealis over 192.0.2.2 (eth0)", "borealis over 192.0.2.4 (eth0)"]
    assert "\n\n   Link to: borealis over 192.0.2.4" in out


def test_last_path_of_a_probe_that_fails_is_told_once(play_probe):
    host, probe = play_probe()
    probing = Probing(host, "borealis")
    probe.wait_for_job()
    paths = [{"Address": f"192.0.2.{n}", "Error": f"{n} is deaf"} for n in (2, 3)]
    probe.tell(State="failed", Error="3 is deaf", Paths=paths)
    status, out, err = probing.wait()
    assert (status, out) == (ERROR, "")
    assert err == ("alidadectl: borealis over 192.0.2.2 was not measured: 2 is deaf\n"
                   "alidadectl: The probe of borealis failed: 3 is deaf\n")


@pytest.mark.parametrize("args, options", [
    ([], {}), (["--rtt-only"], {"RttOnly": True}),
    (["--path", "2001:DB8:0:0::2"], {"Address": "2001:db8::2"}),
    (["--path=fe80::2%eth0"], {"Address": "fe80::2%eth0"})])
def test_probe_options(play_probe, args, options):
    host, probe = play_probe()
    probing = Probing(host, PEER[:31], *args, "--json")
    probe.wait_for_job()
    probe.tell(State="done", Address="192.0.2.2", Result=RESULT)
    status, out, err = probing.wait()
    assert (status, err) == (OK, "")
    assert probe.calls("ProbeLink")[0].args == (PEER, options)
    found = json.loads(out)
    assert found == {"Node": PEER, "Address": "192.0.2.2", "Kind": "Link1.Socket", "State": "done", "Result": RESULT}


def test_probe_that_fails(play_probe):
    host, probe = play_probe()
    probing = Probing(host, "borealis", "--json")
    probe.wait_for_job()
    probe.tell(State="failed", Error="192.0.2.2 gave no answer within 5 s")
    status, out, err = probing.wait()
    assert status == ERROR
    assert json.loads(out)["State"] == "failed" and json.loads(out)["Error"] == "192.0.2.2 gave no answer within 5 s"
    assert err == "alidadectl: The probe of borealis failed: 192.0.2.2 gave no answer within 5 s\n"


def test_probe_that_is_over_at_once(play_probe):
    host, probe = play_probe()
    begin = probe.handlers["ProbeLink"]
    def begin_and_end(*args):
        path = begin(*args)
        probe.tell(State="done", Result=RESULT)
        return path
    probe.handlers["ProbeLink"] = begin_and_end
    assert "Upload: 9.41 Gb/s" in host.alidadectl("probe", "link", "borealis").stdout


def test_probe_on_a_terminal(play_probe):
    host, probe = play_probe()
    argv = [client_binary(), "probe", "link", "borealis"]
    with Terminal(host, argv, columns=100) as terminal:
        probe.wait_for_job()
        terminal.wait_for_text("waiting for other measurements to finish")
        probe.tell(State="running", Address="192.0.2.2", Phase="upload", Progress=0.5)
        terminal.wait_for(lambda shown: "█████░" in shown and " 50 %  borealis: upload over 192.0.2.2" in shown)
        probe.tell(State="done", Result=RESULT)
        assert terminal.wait() == OK
        assert "Upload: 9.41 Gb/s" in terminal.screen.text() and "█" not in terminal.screen.text()
        assert not terminal.screen.bad


@pytest.mark.parametrize("columns", [20, 40])
def test_probe_on_a_narrow_terminal(play_probe, columns):
    host, probe = play_probe()
    with Terminal(host, [client_binary(), "probe", "link", "borealis"], columns=columns) as terminal:
        probe.wait_for_job()
        for step in range(3):
            probe.tell(State="running", Address="2001:db8:1111:2222:3333:4444:5555:6666", Phase="download",
                       Progress=step / 4)
            terminal.wait_for_text(f"{25 * step:3} %")
        assert len(terminal.screen.lines()) == 1, "a bar that wrapped"
        probe.tell(State="done", Result=RESULT)
        assert terminal.wait() == OK


def test_ctrl_c_cancels_the_probe(play_probe):
    host, probe = play_probe()
    with Terminal(host, [client_binary(), "probe", "link", "borealis"]) as terminal:
        probe.wait_for_job()
        probe.tell(State="running", Phase="upload", Progress=0.5)
        terminal.wait_for_text("50 %")
        terminal.type("\x03")
        assert terminal.wait() == ERROR
        assert "The probe of borealis was canceled" in terminal.screen.text()
    assert len(probe.calls("Cancel")) == 1


def test_a_second_ctrl_c_does_not_wait(play_probe):
    host, probe = play_probe()
    probe.job_handlers["Cancel"] = lambda: None
    with Terminal(host, [client_binary(), "probe", "link", "borealis"]) as terminal:
        probe.wait_for_job()
        probe.tell(State="running", Phase="upload", Progress=0.5)
        terminal.wait_for_text("50 %")
        terminal.type("\x03")
        wait_until(lambda: probe.calls("Cancel"), "Cancel")
        terminal.type("\x03")
        assert terminal.wait(4) == ERROR
        assert "did not stop" in terminal.screen.text()


def test_ctrl_c_before_the_job_is_there(play_probe):
    """A probe that begins after all is canceled; nothing goes on behind one's back."""
    host, probe = play_probe()
    probe.service.late.add("ProbeLink")
    with Terminal(host, [client_binary(), "probe", "link", "borealis"]) as terminal:
        wait_until(lambda: probe.service.waiting, "the call")
        terminal.type("\x03")
        terminal.wait_for_text("^C")
        probe.service.answer()
        assert terminal.wait() == ERROR
        assert "The probe of borealis was canceled" in terminal.screen.text()
    assert len(probe.calls("Cancel")) == 1


REFUSALS = [
    ("org.alidade.Error.NoSuchNode", "none of its addresses is known", NO_NODE),
    ("org.freedesktop.DBus.Error.InvalidArgs", "borealis has no address 192.0.2.9", ERROR),
    ("org.freedesktop.DBus.Error.LimitsExceeded", "too many jobs", ERROR),
    ("org.freedesktop.DBus.Error.AccessDenied", "Permission denied", DENIED),
    ("org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", "A password is needed", DENIED)]


def test_probe_that_is_refused(play_probe):
    host, probe = play_probe()
    for name, text, code in REFUSALS:
        def refuse(*_):
            raise BusError(name, text)
        probe.handlers["ProbeLink"] = refuse
        done = host.alidadectl("probe", "link", "borealis", check=False)
        assert (done.returncode, done.stdout) == (code, ""), name
        assert done.stderr == f"alidadectl: Cannot probe borealis: {text}\n", name


def test_probe_while_links_are_held_off(play_probe):
    host, probe = play_probe([("compute", "make", "a build", 0, 3, 1),
                              ("rdma:link", "Slurm\x1b[2J", "job 42 runs", 0, 5, 2)])

    def refuse(*_):
        raise BusError("org.alidade.Error.Inhibited", "Links are held off")
    probe.handlers["ProbeLink"] = refuse
    done = host.alidadectl("probe", "link", "borealis", check=False)
    assert done.returncode == ERROR
    assert done.stderr == ("alidadectl: Cannot probe borealis: Links are held off\n"
                           "alidadectl:   Slurm\ufffd[2J: job 42 runs\n")


def test_probe_outside_of_a_cluster(play_probe):
    host, probe = play_probe()
    def refuse(*_):
        raise BusError("org.alidade.Error.NotJoined", "This machine has no certificate")
    probe.handlers["ProbeLink"] = refuse
    done = host.alidadectl("probe", "link", "borealis", check=False)
    assert done.returncode == ERROR and "cluster join" in done.stderr


def test_probe_of_what_cannot_be(play_probe):
    host, probe = play_probe()
    for name, code in (("nobody", NO_NODE), ("", NO_NODE), ("atlas", ERROR), (ME, ERROR)):
        done = host.alidadectl("probe", "link", name, check=False)
        assert (done.returncode, done.stdout) == (code, "") and done.stderr
    assert probe.calls("ProbeLink") == []


def test_probe_without_the_service(play):
    host, _ = play()
    done = host.alidadectl("probe", "link", "borealis", check=False)
    assert (done.returncode, done.stdout) == (UNREACHABLE, "")
    assert "Cannot probe borealis" in done.stderr and LINK_PROBE in done.stderr


def test_the_service_goes_meanwhile(play_probe):
    host, probe = play_probe()
    probing = Probing(host, "borealis")
    probe.wait_for_job()
    probing.wait_for("borealis: ")
    probe.disown()
    status, out, err = probing.wait()
    assert (status, out) == (UNREACHABLE, "")
    assert "disappeared, and the probe was lost" in err


def test_only_the_service_is_believed(play_probe):
    """A signal of somebody else that looks right does not end the probe."""
    host, probe = play_probe()
    probing = Probing(host, "borealis")
    probe.wait_for_job()
    probing.wait_for("borealis: ")
    stranger = host.new_connection()
    stranger.emit(JOB_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as",
                  (JOB, {"State": GLib.Variant("s", "failed"), "Error": GLib.Variant("s", "forged")}, []))
    stranger.call_bus("GetId")
    probe.tell(State="done", Result=RESULT)
    status, out, err = probing.wait()
    assert status == OK and "forged" not in out + err


def test_a_job_of_the_wrong_shape(play_probe):
    host, probe = play_probe()
    probe.service.close()
    for signature, value in (("s", "hello"), ("u", 7), ("", None)):
        xml = f"""<node><interface name="{LINK_PROBE}"><method name="ProbeLink"><arg type="s" direction="in"/>
            <arg type="a{{sv}}" direction="in"/>{f'<arg type="{signature}" direction="out"/>' if signature else ''}
            </method></interface></node>"""
        wrong = StandIn(probe.connection, "/org/alidade/LinkProbe1", xml, {},
                        {"ProbeLink": lambda *_: (value,) if signature else ()})
        done = host.alidadectl("probe", "link", "borealis", check=False)
        wrong.close()
        assert done.returncode == ERROR and "does not match" in done.stderr, signature


# inhibit

def test_inhibit_holds_a_lock_while_the_command_runs(play_probe):
    host, probe = play_probe()
    argv = ["inhibit", "--what=link", "--who=a test", "--why=it tests", "--", "cat"]
    with Terminal(host, [client_binary(), *argv]) as terminal:
        terminal.type("hello\n")
        terminal.wait_for(lambda shown: shown.count("hello") == 2)
        assert probe.locks[0][1:] == ("link", "a test", "it tests") and probe.is_held()
        terminal.type("\x04")
        assert terminal.wait() == OK
    probe.wait_released()


def test_inhibit_by_default(play_probe):
    host, probe = play_probe()
    done = host.alidadectl("inhibit", "echo", "-n", "--what=this")
    assert done.stdout == "--what=this"
    assert probe.locks[0][1:3] == ("compute:rdma:link:storage", "echo -n --what=this") and probe.locks[0][3]
    assert host.alidadectl("inhibit", "true", "\x1b" + "é" * 500).returncode == OK
    who = probe.locks[1][2]
    assert who.startswith("true \ufffdé") and 200 < len(who.encode()) <= 255


SCRIPTS = [
    ("exit 0", 0), ("exit 1", 1), ("exit 77", 77), ("kill -TERM $$", 128 + signal.SIGTERM),
    ("kill -KILL $$", 128 + signal.SIGKILL)]


def test_inhibit_ends_as_the_command_does(play_probe):
    host, probe = play_probe()
    for lock, (script, status) in enumerate(SCRIPTS):
        assert host.alidadectl("inhibit", "sh", "-c", script, check=False).returncode == status, script
        probe.wait_released(lock)


def test_inhibit_of_no_command(play_probe):
    host, _ = play_probe()
    done = host.alidadectl("inhibit", "/nonexistent/command", check=False)
    assert (done.returncode, done.stderr) == (
        127, "alidadectl: Cannot run /nonexistent/command: No such file or directory\n")
    assert host.alidadectl("inhibit", "/etc/passwd", check=False).returncode == 126


def test_inhibit_forwards_signals(play_probe):
    host, probe = play_probe()
    for lock, number in enumerate((signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)):
        ready = host.dir / f"ready-{lock}"
        script = (f"import pathlib, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [{number:d}]); "
                  f"pathlib.Path('{ready}').touch(); sys.exit(42 if signal.sigwait([{number:d}]) else 1)")
        process = host.spawn([client_binary(), "inhibit", "/usr/bin/python3", "-c", script])
        process.excused = True
        wait_steadily(ready.exists, "the command to be ready")
        assert probe.is_held(lock)
        process.signal(number)
        assert process.wait() == 42, number
        probe.wait_released(lock)


def test_ctrl_c_reaches_the_command_once(play_probe):
    """The terminal sends it to both."""
    host, _ = play_probe()
    script = ("import signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]); print('ready'); "
              "signal.sigwait([signal.SIGINT]); print('caught'); input(); "
              "sys.exit(1 + len(signal.sigpending()))")
    with Terminal(host, [client_binary(), "inhibit", "/usr/bin/python3", "-uc", script]) as terminal:
        terminal.wait_for_text("ready")
        terminal.type("\x03")
        terminal.wait_for_text("caught")
        terminal.type("end\n")
        assert terminal.wait() == 1


def test_the_command_ends_with_its_lock(play_probe):
    host, probe = play_probe()
    ready, alive = host.dir / "ready", host.dir / "alive"
    script = f"mkfifo {alive}; exec 3<>{alive}; echo >{ready}; exec cat <&3"
    process = host.spawn([client_binary(), "inhibit", "bash", "-c", script])
    wait_steadily(ready.exists, "the command to be ready")
    process.kill()
    probe.wait_released()
    # Nobody has the pipe open any more once the command is gone: opening it to write without waiting fails.
    def is_gone():
        try:
            os.close(os.open(alive, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return True
        return False
    wait_steadily(is_gone, "the end of the command")


REFUSED_LOCKS = [
    ("org.freedesktop.DBus.Error.LimitsExceeded", "too many locks", ERROR),
    ("org.freedesktop.DBus.Error.InvalidArgs", "nonsense cannot be held off", ERROR)]


def test_inhibit_that_is_refused(play_probe):
    host, probe = play_probe()
    for name, text, code in REFUSED_LOCKS:
        def refuse(*_):
            raise BusError(name, text)
        probe.handlers["Inhibit"] = refuse
        done = host.alidadectl("inhibit", "--what=link", "echo", "ran", check=False)
        assert (done.returncode, done.stdout) == (code, ""), name
        assert done.stderr == f"alidadectl: Cannot keep probes away: {text}\n", name


def test_inhibit_without_the_service(make_host):
    done = make_host().alidadectl("inhibit", "echo", "ran", check=False)
    assert (done.returncode, done.stdout) == (UNREACHABLE, "")
    assert "Cannot keep probes away" in done.stderr


def test_inhibit_list(play_probe):
    host, probe = play_probe([("rdma:link", "Slurm", "job 42 runs", 0, 123, 1),
                              ("compute", "make", "builds", 4242, 5, 20)])
    header, first, second = host.alidadectl("inhibit", "--list").stdout.splitlines()
    assert header.split() == ["WHO", "USER", "PID", "LOCK", "WHAT", "WHY"]
    assert first.split() == ["Slurm", "root", "123", "1", "rdma:link", "job", "42", "runs"]
    assert second.split() == ["make", "4242", "5", "20", "compute", "builds"]
    assert get_json(host, "inhibit", "--list")["Inhibitors"][0] == {
        "What": "rdma:link", "Who": "Slurm", "Why": "job 42 runs", "Uid": 0, "Pid": 123, "Number": 1}
    probe.inhibitors.clear()
    assert host.alidadectl("inhibit", "--list").stdout == "No inhibitors.\n"


# The command line

USAGE_ERRORS = [
    ["links", "a", "b", "c"], ["topology", "x"], ["probe"], ["probe", "link"], ["probe", "node", "x"],
    ["probe", "link", "a", "b"], ["probe", "link", "a", "--path=x"], ["probe", "link", "a", "--path=192.0.2.1%eth0"],
    ["probe", "link", "a", "--path="], ["probe", "--nonsense"], ["probe", "link", "a", "--json=x"], ["inhibit"],
    ["inhibit", "--list", "x"], ["inhibit", "--release=x"], ["inhibit", "--release=1", "x"],
    ["inhibit", "--list", "--release=1"], ["inhibit", "--what"], ["inhibit", "--json", "x"],
    ["inhibit", "-H", "far", "x"],
    ["links", "--once"], ["probe", "compute", "--metric=bogus"], ["probe", "compute", "--metric=read,,copy"],
    ["inhibit", "--what=bogus", "x"], ["inhibit", "--what=", "x"], ["inhibit", "--what=rdma:rdma", "x"],
    ["-H", "a b", "links"], ["-H", "-oProxyCommand=x", "links"], ["-H", "user@", "topology"], ["-H", "@host", "links"],
    ["-H", "a;b", "probe", "link", "x"]]


def test_usage(make_host):
    """Item 22: an error is printed before any question, whether this machine or the service finds it."""
    host = make_host()
    for args in USAGE_ERRORS:
        done = host.alidadectl(*args, check=False)
        assert (done.returncode, done.stdout) == (USAGE, "") and done.stderr, args


def test_help_of_verbs(make_host):
    host = make_host()
    for verb in ("probe", "inhibit"):
        assert host.alidadectl(verb, "--help").stdout.startswith(f"Usage: alidadectl {verb} ")
    text = host.alidadectl("topology", "--help").stdout
    assert text.startswith("Usage: alidadectl [OPTION…] topology\n") and "--inside=NODE" in text
    assert "--once" not in text and "inhibit" not in text


# Rubbish from the service

EVIL = "\x1b]0;owned\x07\x1b[2J\u202egnp\u2066\x9b31m\n\r\tx" + "\u200b" * 50
HUGE, NAN = 2 ** 64 - 2, float("nan")

RUBBISH = {
    "evil": link(PEER, **{name: EVIL for name in (
        "SinkAddress", "SourceInterface", "SourceInterfaceType", "SinkInterfaceType", "UploadLimiter",
        "Failure")}, FailedUSec=HUGE // 2),
    "evil sink": link(EVIL),
    "empty": {},
    "zero": {name: 0 for name in ("UploadBitsPerSecond", "DownloadBitsPerSecond", "UploadInterval", "RttP50NSec",
                                  "JitterNSec", "NegotiatedBitsPerSecond", "MeasuredUSec", "FailedUSec")},
    "huge": link(PEER, up=HUGE, down=2 ** 63 - 1, RttP50NSec=HUGE, JitterNSec=2 ** 63 - 1, MeasuredUSec=2 ** 63 - 1,
                 NegotiatedBitsPerSecond=1),
    "nan": link(PEER, up=NAN, UploadInterval=NAN, down=-1e300, DownloadInterval=1e300, Flags=[EVIL], RttP50NSec=1e300,
                JitterNSec=float("inf"), MeasuredUSec=-1e300, NegotiatedBitsPerSecond=NAN),
    "types": {"Sink": 7, "SinkAddress": ["a", "b"], "UploadBitsPerSecond": "fast", "MeasuredUSec": [{"Id": "x"}],
              "Failure": 5, "SourceInterface": True},
    "long": link(PEER, SinkAddress="a" * 5000, Failure="b" * 5000, FailedUSec=now() + MINUTE),
}
RUBBISH_EDGES = [
    edge("", "", 5), edge(ME, ME, 5), edge(EVIL, PEER, 5), edge(ME, EVIL, 5), edge(ME, PEER, NAN), edge(ME, PEER, -5.0),
    edge(PEER, ME, 1e300), edge(ME, PEER, HUGE), edge(ME, THIRD, 0), edge(THIRD, ME, 10 ** 18, RttP50NSec=HUGE),
    edge(ME, PEER, "x", SourceType=EVIL, SinkAddress=7), edge(ME, PEER, 5, Kind=EVIL, Presence=EVIL, SourcePort=EVIL),
    edge(ME, THIRD, None, Reason=EVIL, SinkAddress=EVIL, SinkType=EVIL, Prober=ME, DueReason=EVIL, DueUSec=HUGE)]
VERBS = (["links"], ["links", ME], ["topology"], ["topology", "--all"], ["topology", "--dot"], ["status"], ["show", ME],
         ["watch", "--once"])


def unsafe(text):
    return {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}


def test_rubbish(play):
    host, state = play(links={}, edges=RUBBISH_EDGES)
    without_links = state.handlers["GetManagedObjects"]
    for name, values in RUBBISH.items():
        state.handlers["GetManagedObjects"] = without_links
        put_links(state, {(ME, f"{PEER},192.0.2.2"): values, (PEER, "x"): values})
        for args in VERBS:
            assert unsafe(host.alidadectl(*args).stdout) == set(), (name, args)
        for args in (["links"], ["topology"], ["show", ME]):
            text = host.alidadectl(*args, "--json").stdout
            assert unsafe(text) == set() and "NaN" not in text and "inf" not in text, (name, args)
            json.loads(text)


def test_tables_fit_the_terminal(play):
    nodes = {ME: sample_node("日本語のとても長い名前のノード"), PEER: sample_node("b" * 64), THIRD: sample_node("c")}
    links = {(ME, f"{PEER},{name}"): values for name, values in RUBBISH.items()}
    host, _ = play(nodes, {**links, (ME, f"{PEER},192.0.2.2"): link(PEER)}, edges=EDGES + RUBBISH_EDGES)
    for columns in (20, 30, 40, 60, 80, 120):
        for args in (["links"], ["topology"], ["topology", "--all"], ["watch", "--once"]):
            text = host.alidadectl(*args, env={"COLUMNS": columns}).stdout
            assert [line for line in text.splitlines() if width(line) > columns] == [], (columns, args)


def test_links_in_ascii(play):
    host, _ = play(TRIANGLE, edges=EDGES)
    for args in (["links"], ["topology"], ["status"], ["nodes"], ["show", ME], ["watch", "--once"]):
        assert host.alidadectl(*args, env={"LANG": "C", "LC_ALL": "C"}).stdout.isascii(), args
    text = host.alidadectl("topology", env={"LANG": "C", "LC_ALL": "C"}).stdout
    assert "--------+----" in text and "196 Mb/s!" in text and "! asymmetric" in text


def test_rubbish_about_a_job(play_probe):
    host, probe = play_probe()
    with Terminal(host, [client_binary(), "probe", "link", "borealis"], columns=60) as terminal:
        probe.wait_for_job()
        for values in ({"State": EVIL, "Phase": EVIL, "Progress": NAN}, {"Progress": 1e300}, {"Progress": -5.0},
                       {"State": "running", "Phase": "x" * 5000, "Address": EVIL, "Progress": 0.25}):
            probe.tell(**values)
        terminal.wait_for_text(" 25 %")
        probe.tell(State="done", Result={**{name: EVIL for name in ("SinkAddress", "UploadLimiter", "UploadBytes")},
                                         "RttP50NSec": 1e300, "UploadBitsPerSecond": -1.0, "JitterNSec": "x"})
        assert terminal.wait() == OK
        shown = terminal.screen.text()
        assert not terminal.screen.bad and "\ufffd" in shown
        assert "Upload: –" in shown and "RTT/2: –" in shown


def test_a_result_without_anything(play_probe):
    host, probe = play_probe()
    probing = Probing(host, "borealis")
    probe.wait_for_job()
    probe.tell(State="done")
    status, out, _ = probing.wait()
    assert status == OK and "Upload: –" in out


def test_rubbish_among_the_locks(play_probe):
    host, _ = play_probe([(EVIL, EVIL, EVIL, 2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1),
                          ("", "", "", 0, 0, 0), ("x" * 500,) * 3 + (0, 1, 1)])
    for columns in (20, 40, 80):
        text = host.alidadectl("inhibit", "--list", env={"COLUMNS": columns}).stdout
        assert unsafe(text) == set()
        assert [line for line in text.splitlines() if width(line) > columns] == []
    assert unsafe(host.alidadectl("inhibit", "--list", "--json").stdout) == set()
