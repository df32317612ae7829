# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl against a state service that the test plays: thousands of nodes, hostile values, replies of the wrong
shape, and moments that a real one does not stop at. test_alidadectl.py has the real services."""

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unicodedata
from pathlib import Path

import pytest

from gi.repository import GLib

from bedlib import BusError, StandIn, wait_until
from bedlib.fixtures import needs_namespaces
from bedlib.services import SOURCE, client_binary
from bedlib.variants import pack
from client import (DENIED, ERROR, NO_NODE, OK, UNREACHABLE, USAGE, Reader, get_json, wait_for_picture,
                    watch, width)
from played_state import (GPU, LIMITS_EXCEEDED, NAME, OBJECT_MANAGER, PATH, PROPERTIES, PlayedState, fields, node_path,
                          now, sample_node)
from state_service import RECORDS
from terminal import Terminal

GIB = 1024 ** 3


def node_id(number):
    return f"{number:032x}"


ME, PEER, THIRD = (node_id(number) for number in (0xa1, 0xb2, 0xb3))
FINDING = {"Id": "rdma-unusable", "Severity": "warning", "Nodes": [PEER], "Text": "RDMA cannot be used here",
           "Remedy": "Plug in a cable"}


@pytest.fixture
def play(make_host):
    """play(nodes, …): a host and a played state service on its bus."""
    played = []

    def make(nodes=None, host=None, **options):
        host = host or make_host()
        nodes = {ME: sample_node("atlas"), PEER: sample_node("borealis")} if nodes is None else nodes
        state = PlayedState(host.connection(), ME, nodes, **options).own()
        played.append(state)
        return host, state

    yield make
    for state in played:
        state.close()


# One-shot verbs

def test_status_is_the_default(play):
    host, _ = play(totals={"TflopsFp16": 330.4, "TflopsFp16LeftOut": 1, "MemoryTotalBytes": 128 * GIB,
                           "PowerMicroWatts": 1_840_000_000, "NodesPowerUnread": 2})
    plain = host.alidadectl().stdout
    assert plain.splitlines()[0] == f"atlas {ME}"
    assert "Memory: 16.0/64.0 GiB free, no swap" in plain
    assert "FP16 compute: 330 TFLOPS, 1 device left out" in plain
    assert "Memory bandwidth: –" in plain
    assert "Power: 1.84 kW, 2 nodes not counted" in plain
    assert "285 W (processors + GPUs)" in plain
    assert "Findings: none" in plain
    def steady(text):
        return re.sub(r"Seen: .*", "", text)
    assert steady(host.alidadectl("status").stdout) == steady(plain)


def test_status_json_has_the_fields_of_the_bus(play):
    host, _ = play(findings=[FINDING])
    found = get_json(host, "status")
    assert list(found) == ["NodeId", "Totals", "Node", "Findings"]
    assert found["NodeId"] == ME
    assert found["Node"]["Node1.Memory"]["TotalBytes"] == 64 * GIB
    assert found["Node"]["Node1.System"]["Devices"][0]["Id"] == GPU
    assert found["Findings"] == [FINDING]
    # Absent is not there: neither NaN, nor the greatest number, nor an empty text.
    assert "TflopsFp16" not in found["Totals"]
    assert "DeviceMemoryTotalBytes" not in found["Totals"]
    assert "Hypervisor" not in found["Node"]["Node1.Identity"]
    assert found["Totals"]["TflopsFp16LeftOut"] == 0


def test_json_layouts(play):
    host, _ = play()
    short = host.alidadectl("nodes", "--json").stdout
    pretty = host.alidadectl("--json=pretty", "nodes").stdout
    assert short.count("\n") == 1 and pretty.count("\n") > 20
    assert json.loads(short) == json.loads(pretty)
    assert host.alidadectl("nodes", "--json=short").stdout == short
    assert host.alidadectl("nodes", "--json", "--json=off").stdout.startswith("NAME")


def test_nodes(play):
    host, state = play({ME: sample_node("node-10"), PEER: sample_node("node-9"), THIRD: {"Node1.Memory": {}}})
    lines = host.alidadectl("nodes").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["NAME", "00000000", "node-9", "node-10"]
    assert "16.0/64.0 GiB" in lines[2] and "192.0.2.1" in lines[2] and "fe80" not in lines[2]
    assert not re.search(r"\b0\b", lines[1]), "unknown is not 0"
    assert lines[1].count("–") >= 6
    assert get_json(host, "nodes")["Nodes"].keys() == state.nodes.keys()


def test_columns_are_chosen_and_sorted(play):
    host, _ = play({ME: sample_node("node-10"), PEER: sample_node("node-9"), THIRD: {"Node1.Memory": {}}})
    lines = host.alidadectl("nodes", "--columns=name,temperature,CPU-Temperature", "--sort=-name").stdout.splitlines()
    assert [line.split() for line in lines] == [["NAME", "TEMP", "CPU", "TEMP"], ["node-10", "61", "°C", "45", "°C"],
                                                ["node-9", "61", "°C", "45", "°C"], ["00000000", "–", "–"]]
    header = host.alidadectl("nodes", "--columns=+model").stdout.splitlines()[0]
    assert header.startswith("NAME") and "FREE MEMORY" in header and header.endswith("MODEL")
    order = [line.split()[0] for line in host.alidadectl("nodes", "--sort=-cpu,-name").stdout.splitlines()[1:]]
    assert order == ["node-10", "node-9", "00000000"], "what is absent comes last"
    shown = host.alidadectl("watch", "--once", "--columns=name,version,used", "--sort=-name").stdout
    header = next(line for line in shown.splitlines() if line.startswith("NAME"))
    assert header.split() == ["NAME", "ALIDADE", "USED"] and shown.index("node-10") < shown.index("node-9")


def test_columns_for_other_programs(play):
    host, state = play({ME: sample_node("a,b"), THIRD: {"Node1.Memory": {}}})
    known = {"Id": ME, "Name": "a,b", "MemoryAvailableBytes": 16 * GIB, "CpuUsage": 12.5, "Gpus": 1,
             "TemperatureMilliCelsius": 61000}
    names = "id,name,memory,cpu,gpus,temperature"
    assert get_json(host, "nodes", f"--columns={names}", "--sort=-cpu")["Nodes"] == [
        known, {"Id": THIRD, "Name": "00000000"}]
    assert host.alidadectl("nodes", "--csv", f"--columns={names}").stdout.splitlines() == [
        ",".join(known), f"{THIRD},00000000,,,,", f'{ME},"a,b",17179869184,12.5,1,61000']
    assert get_json(host, "nodes")["Nodes"].keys() == state.nodes.keys(), "records, without these options"


REFUSED_COLUMNS = [
    (["nodes", "--columns=name,nonsense"], 'Unknown column "nonsense"; see alidadectl nodes --columns=help'),
    (["nodes", "--columns=cpu,cpu"], 'Column "cpu" is named twice'),
    (["nodes", "--columns="], "--columns= needs names"), (["nodes", "--sort="], "--sort= needs names"),
    (["watch", "--once", "--sort=-x"], 'Unknown column "x"'), (["watch", "--columns=x"], 'Unknown column "x"'),
    (["nodes", "--sort=x"], 'Unknown column "x"'),
    (["watch", "--once", "--json", "--sort=name"], "watch --json shows all records"),
    (["--csv", "--json", "history", "atlas"], "--json and --csv exclude each other"),
    (["status", "--columns=name"], "--columns works with nodes, links, findings, history and watch only"),
    (["watch", "--once", "--csv"], "--csv works with nodes, links, findings and history only"),
    (["nodes", "--csv", "--json"], "--json and --csv exclude each other")]


def test_refused_columns(play):
    host, _ = play()
    for args, problem in REFUSED_COLUMNS:
        done = host.alidadectl(*args, check=False)
        assert done.returncode == USAGE and problem in done.stderr and not done.stdout, args


def test_manual_page_lists_the_columns():
    """Each of them, with its key and what it is, in the order of the table."""
    text = (SOURCE / "clients" / "alidadectl" / "alidadectl.1").read_text().replace("\\-", "-")
    for verb in ("nodes", "devices", "links", "findings", "history"):
        done = subprocess.run([client_binary(), verb, "--columns=help"], capture_output=True, text=True, check=True)
        listed = "".join('.TP\n.BR {} " ({})"\n{}.\n'.format(*line.split(None, 2))
                         for line in done.stdout.splitlines())
        assert listed in text


def test_show_by_id_prefix_and_name(play):
    host, _ = play(findings=[FINDING])
    for name in (PEER, "borealis", "000000000000000000000000000000b"):
        found = get_json(host, "show", name)
        assert found["NodeId"] == PEER
        assert found["Findings"] == [FINDING]
        assert found["Links"] == {}
    text = host.alidadectl("show", "borealis").stdout
    assert "AvailableBytes: 16.0 GiB" in text
    assert "      SpeedBitsPerSecond: 25.0 Gb/s\n" in text
    assert "RDMA cannot be used here" in text


def test_links_come_with_their_nodes(play):
    host, state = play()
    path = f"{PATH}/link/socket/{ME}/{PEER}_2c192_2e0_2e2_2e2"
    link = {"Source": ME, "Sink": PEER, "UploadBitsPerSecond": 9_410_000_000, "RttP50NSec": 18_200}
    managed = state.handlers["GetManagedObjects"]
    state.handlers["GetManagedObjects"] = lambda: (
        {**managed()[0], path: {"org.alidade.Link1.Socket": fields(link)}},)
    key = f"{ME}/{PEER},192.0.2.2"
    whole = get_json(host, "watch", "--once")
    assert whole["Links"] == {key: {"Link1.Socket": link}}
    assert list(whole["Nodes"]) == [ME, PEER]
    for name in ("atlas", "borealis"):
        assert get_json(host, "show", name)["Links"] == whole["Links"]
    assert "UploadBitsPerSecond: 9.41 Gb/s" in host.alidadectl("show", "atlas").stdout


def test_findings(play):
    host, _ = play(findings=[{"Id": "odd", "Severity": "notice", "Text": "Odd"}, FINDING,
                             {"Id": "loop", "Severity": "error", "Nodes": [ME], "Text": "A loop"}])
    text = host.alidadectl("findings").stdout
    assert [line.split()[0] for line in text.splitlines() if line[0] != " "] == ["error", "warning", "notice"]
    assert "warning rdma-unusable: borealis" in text and "Remedy: Plug in a cable" in text
    assert len(get_json(host, "findings")["Findings"]) == 3


def test_watch_once(play):
    host, state = play(findings=[FINDING])
    lines = host.alidadectl("watch", "--once").stdout.splitlines()
    assert lines[0].startswith("Alidade  2 nodes, 0 links")
    assert any(line.startswith("atlas") for line in lines)
    assert any("RTX 4090" in line for line in lines)
    assert lines[-1].strip() == "warning RDMA cannot be used here"
    whole = get_json(host, "watch", "--once")
    assert list(whole) == ["NodeId", "Totals", "Nodes", "Links", "Findings"]
    assert whole["Nodes"].keys() == state.nodes.keys()


def test_version(make_host):
    host = make_host()
    version = get_json(host, "version")["Version"]
    assert host.alidadectl("version").stdout == f"alidadectl {version}\n"
    assert host.alidadectl("--version").stdout == f"alidadectl {version}\n"


def test_narrow_terminals(play):
    host, _ = play({ME: sample_node("日本語のとても長い名前のノード"), PEER: sample_node("b" * 64)}, findings=[FINDING])
    for columns in (40, 60, 80):
        for args in (["nodes"], ["status"], ["show", ME], ["findings"], ["watch", "--once"]):
            text = host.alidadectl(*args, env={"COLUMNS": columns}).stdout
            too_wide = [line for line in text.splitlines() if width(line) > columns]
            assert too_wide == [], (columns, args)


def test_hardly_any_terminal(play):
    """The table of nodes keeps its first columns, whatever the width; ids and names of fields are not broken."""
    host, _ = play()
    for columns in (20, 30):
        for args in (["status"], ["findings"], ["watch", "--once"]):
            text = host.alidadectl(*args, env={"COLUMNS": columns}).stdout
            assert [line for line in text.splitlines() if width(line) > columns and line != ME] == [], (columns, args)
        assert "  MemoryTotalBytes:\n" in host.alidadectl("show", ME, env={"COLUMNS": columns}).stdout


def test_output_that_cannot_be_written(play):
    host, _ = play()
    for args in (["status"], ["nodes", "--json"], ["version"], ["--help"]):
        result = host.run(["sh", "-c", 'exec "$0" "$@" >/dev/full', client_binary(), *args], check=False)
        assert result.returncode == ERROR, args
        assert result.stderr == "alidadectl: Cannot write the output: No space left on device\n", args


# What does not work, and how that is told

USAGE_ERRORS = [["nonsense"], ["show"], ["show", "a", "b"], ["nodes", "x"], ["--nonsense"], ["--json=x"],
                ["nodes", "--once"], ["watch"], ["watch", "--json"], ["set-name"], ["-H", ""]]


def test_usage_errors(make_host):
    host = make_host()
    for args in USAGE_ERRORS:
        done = host.alidadectl(*args, check=False)
        assert done.returncode == USAGE, args
        assert done.stdout == "" and done.stderr, args


LONG = "x" * 100_000
LONG_WORDS = [
    [LONG], [f"--{LONG}"], [f"-{LONG}"], ["show", LONG], ["links", LONG], ["fabric", LONG], [f"--json={LONG}"],
    ["-H", LONG, "nodes"], ["forget", LONG], ["probe", LONG], ["probe", "link", LONG], ["probe", f"--{LONG}"],
    ["probe", "link", "x", f"--path={LONG}"], ["probe", "compute", LONG], ["probe", "compute", f"--metric={LONG}"],
    ["inhibit", f"--what={LONG}", "true"], ["inhibit", f"--{LONG}"], ["inhibit", LONG], ["cluster", LONG],
    ["cluster", f"--{LONG}"], ["cluster", "init", LONG], ["cluster", "init", "lab", f"--address={LONG}"],
    ["cluster", "join", LONG], ["cluster", "join", "--broker", f"--address={LONG}", "x"], ["cluster", "sign", LONG],
    ["cluster", "sign-bridge", LONG], ["cluster", "revoke", LONG], ["set-name", LONG]]


def test_what_is_long_is_not_echoed(make_host):
    """Item 22: whatever is typed, a terminal or a log gets some lines, with what is wrong at their end."""
    host = make_host()
    for args in LONG_WORDS:
        done = host.alidadectl(*args, check=False, env={"ALIDADE_CONFIG_DIR": host.dir / "config"})
        shown = " ".join(args).replace(LONG, "LONG")
        assert done.returncode != OK and done.stderr, shown
        assert len(done.stdout) + len(done.stderr) < 4000, shown


def test_help(make_host):
    host = make_host()
    whole = host.alidadectl("--help").stdout
    assert host.alidadectl("help").stdout == whole
    assert max(map(len, whole.partition("\nOptions:\n")[2].splitlines())) <= 80
    for option in ("--columns=NAME,…   ", "--sort=NAME,…      "):
        assert f"     {option}nodes, links, findings, history, watch:\n{24 * ' '}s" in whole
    for verb in ("nodes", "history", "cluster", "unsilence"):
        assert host.alidadectl("help", verb).stdout == host.alidadectl(verb, "--help").stdout != ""
    for words in (["help", "cluster", "join"], ["cluster", "help"]):
        assert host.alidadectl(*words).stdout == host.alidadectl("cluster", "--help").stdout
    done = host.alidadectl("help", "histroy", check=False)
    assert (done.returncode, done.stdout) == (USAGE, "") and 'did you mean "history"?' in done.stderr
    assert host.alidadectl("", check=False).stderr == 'alidadectl: Unknown command ""; see alidadectl --help\n'


MISSPELT = [
    (["stauts"], 'Unknown command "stauts"; did you mean "status"? See alidadectl --help'),
    (["frobnicate"], 'Unknown command "frobnicate"; see alidadectl --help'),
    (["_nmaes"], 'Unknown command "_nmaes"; see alidadectl --help'),
    (["cluster", "jion"], 'Unknown command "cluster jion"; did you mean "join"? See alidadectl cluster --help'),
    (["nodes", "--jsno=pretty"], '--jsno=pretty: unknown option; did you mean "--json"? See --help'),
    (["history", "atlas", "--sinec=-1h"], '--sinec=-1h: unknown option; did you mean "--since"? See --help'),
    (["unsilence", "atlas", "--fro=1h"], "--fro=1h: unknown option; see --help"),
    (["nodes", "--c"], "--c: ambiguous option; it may be one of --check, --columns, --csv"),
    (["history", "atlas", "--s=-1h"], "--s=-1h: ambiguous option; it may be one of --since, --sort"),
    (["--no"], "--no: ambiguous option; it may be one of --no-pager, --no-ask-password"),
    (["cluster", "leave", "--forec"], '--forec: unknown option; did you mean "--force"? See --help')]


def test_what_was_meant(make_host):
    host = make_host()
    for words, said in MISSPELT:
        done = host.alidadectl(*words, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (USAGE, "", f"alidadectl: {said}\n"), words


MISSPELT_NODES = [
    ("altas", 'No node is called "altas"; did you mean "atlas"?'), ("node3", 'No node is called "node3"'),
    ("f" * 32, f'No node is called "{"f" * 32}"')]


def test_which_node_was_meant(play):
    """What looks like an id is not taken for a name, and so is not what was meant either."""
    host, _ = play({ME: sample_node("atlas"), PEER: sample_node("node1"), THIRD: sample_node("node2"),
                    node_id(4): sample_node("f" * 32)})
    for name, said in MISSPELT_NODES:
        done = host.alidadectl("show", name, check=False)
        assert (done.returncode, done.stderr) == (NO_NODE, f"alidadectl: {said}\n"), name


def test_status_of_another_node(play):
    host, _ = play({ME: sample_node("atlas"), PEER: sample_node("borealis")})
    text = host.alidadectl("status", "borealis").stdout
    assert text.startswith(f"borealis {PEER}\n") and "\nCluster\n" in text and "Node1." not in text
    found = get_json(host, "status", PEER)
    assert found["NodeId"] == PEER and found["Node"]["Node1.Identity"]["FriendlyName"] == "borealis"
    assert host.alidadectl("status", "nobody", check=False).returncode == NO_NODE


def test_no_such_node(play):
    host, _ = play()
    for name in ("nobody", "00", "", "f" * 32, "A1"):
        done = host.alidadectl("show", name, check=False)
        assert done.returncode == NO_NODE, name
        assert done.stdout == "" and f'called "{name}"' in done.stderr, name


def test_ambiguous_name(play):
    host, _ = play({ME: sample_node("twin"), PEER: sample_node("twin")})
    done = host.alidadectl("show", "twin", check=False)
    assert done.returncode == NO_NODE
    assert ME in done.stderr and PEER in done.stderr


def test_no_bus(make_host):
    host = make_host()
    done = host.alidadectl(check=False, env={"ALIDADE_BUS_ADDRESS": "unix:path=/nonexistent"})
    assert done.returncode == UNREACHABLE
    assert "/nonexistent" in done.stderr


def test_no_service(make_host):
    host = make_host()
    for args in (["status"], ["nodes", "--json"], ["monitor"], ["watch", "--once"], ["findings"]):
        done = host.alidadectl(*args, check=False)
        assert done.returncode == UNREACHABLE, args
        assert done.stdout == "" and NAME in done.stderr, args


def test_service_that_refuses(play):
    host, state = play()
    def denied():
        raise_denied("reading is not for you")
    state.handlers["GetManagedObjects"] = denied
    done = host.alidadectl(check=False)
    assert done.returncode == DENIED and "reading is not for you" in done.stderr


def raise_denied(text):
    raise BusError("org.freedesktop.DBus.Error.AccessDenied", text)


def test_service_that_dies_meanwhile(play):
    host, state = play()
    def die():
        state.disown()
        raise RuntimeError("gone")
    state.handlers["GetManagedObjects"] = die
    assert host.alidadectl(check=False).returncode in (UNREACHABLE, ERROR)


def test_findings_that_cannot_be_read(play):
    """A cluster whose findings are not known does not look like one that has none."""
    host, state = play()
    def refuse():
        raise BusError("org.freedesktop.DBus.Error.LimitsExceeded", "too many")
    state.handlers["GetFindings"] = refuse
    for verb in ("findings", "status", "metrics"):
        done = host.alidadectl(verb, check=False)
        assert (done.returncode, done.stdout) == (ERROR, ""), verb
        assert done.stderr == f"alidadectl: Cannot read from {NAME}: too many\n"


# Large clusters

def test_limits_exceeded_leads_to_pages(play):
    host, state = play({node_id(number): sample_node(f"n{number}") for number in range(1, 26)})
    state.refuse_whole_map()
    state.page = 10
    found = get_json(host, "nodes")["Nodes"]
    assert len(found) == 25
    assert found[node_id(3)]["Node1.Memory"]["TotalBytes"] == 64 * GIB
    assert found[node_id(3)]["Node1.Memory"]["UpdatedUSec"] > 0
    assert [call.args[1] for call in state.calls("GetRecords")] == ["", "10", "20"]


def test_hidden_nodes_are_read_by_pages(play):
    host, state = play(totals={"Hidden": 1})
    assert len(get_json(host, "nodes")["Nodes"]) == 2
    assert not state.calls("GetManagedObjects")


def test_cursor_that_never_ends(play):
    """A service gone wrong must not keep us for ever; here it fails after a while rather than at once."""
    host, state = play()
    state.refuse_whole_map()
    pages = iter(range(50))
    def endless(_kind, _after, _most):
        if next(pages, None) is None:
            raise_denied("enough")
        return [], "again"
    state.handlers["GetRecords"] = endless
    assert host.alidadectl(check=False).returncode == DENIED


def test_ten_thousand_nodes(play):
    small = {"Node1.Identity": {"FriendlyName": "n"}, "Node1.Memory": {"TotalBytes": GIB, "AvailableBytes": 1}}
    host, state = play({node_id(number): small for number in range(1, 10_001)})
    state.refuse_whole_map()
    state.page = 1000
    # Made before anybody waits for them.
    pages, page = {}, state.handlers["GetRecords"]
    for after in ["", *(str(number) for number in range(1000, 10_000, 1000))]:
        pages[after] = pack(f"({RECORDS}s)", page("", after, 0))
    state.handlers["GetRecords"] = lambda _kind, after, _most: pages[after]
    lines = host.alidadectl("nodes", deadline=60).stdout.splitlines()
    assert len(lines) == 10_001


# Hostile values

EVIL = "\x1b]0;owned\x07\x1b[2J\u202egnp\u2066\x9b31m\n\r\tx\x00".replace("\x00", "") + "\u200b" * 50


def evil_node():
    row = {"Id": EVIL, "Name": EVIL, "Type": EVIL, "Addresses": [EVIL] * 3, "Carrier": True, "Class": EVIL}
    return {"Node1.Identity": {name: EVIL for name in ("FriendlyName", "ModelId", "Vendor", "OperatingSystem")},
            "Node1.Network": {"Interfaces": [row]}, "Node1.Backends": {"Devices": [row]},
            "Node1.Disk": {"Paths": [row]}, "Node1.Fresh": {"Unheard": EVIL, "Rows": [row]}}


def test_nothing_that_a_terminal_obeys(play):
    finding = {key: EVIL for key in ("Id", "Severity", "Text", "Remedy")}
    host, _ = play({ME: evil_node()}, findings=[finding, {**finding, "Severity": "error"}])
    for args in ([], ["nodes"], ["show", ME], ["findings"], ["watch", "--once"], ["nodes", "--json"],
                 ["show", ME, "--json=pretty"], ["_names"]):
        text = host.alidadectl(*args).stdout
        bad = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}
        assert bad == set(), args
    assert get_json(host, "nodes")["Nodes"][ME]["Node1.Identity"]["FriendlyName"] == EVIL
    for args in (EVIL, "extra"), ("atlas", EVIL):
        done = host.alidadectl("show", *(arg.replace("\x00", "") for arg in args), check=False)
        assert "Unexpected argument" in done.stderr and "\x1b" not in done.stderr


def test_wrong_types(play):
    wrong = {"Node1.Identity": {"FriendlyName": 7, "ModelId": [{"Id": "x"}]},
             "Node1.Memory": {"TotalBytes": "many", "AvailableBytes": -1.0},
             "Node1.System": {"CpuUsage": "high", "Devices": ["a", "b"]},
             "Node1.Network": {"Interfaces": "none"}, "Node1.Backends": {"Devices": [{"Id": 5}, {}]}}
    host, _ = play({ME: wrong}, findings=[{"Severity": 5}, {"Nodes": "x", "Text": 7}])
    for args in ([], ["nodes"], ["show", ME], ["findings"], ["watch", "--once"], ["monitor", "--json"]):
        if args[:1] == ["monitor"]:
            with Reader(host, *args) as reader:
                reader.wait_for_event(Event="synced")
        else:
            host.alidadectl(*args)


WRONG_SHAPES = [("s", "hello"), ("a{sv}", {}), ("a{oa{sv}}", {}), ("aa{sv}", []), ("", None)]


def test_replies_of_the_wrong_shape(play):
    host, state = play()
    for signature, value in WRONG_SHAPES:
        xml = f"""<node><interface name="{OBJECT_MANAGER}"><method name="GetManagedObjects">
            {f'<arg type="{signature}" direction="out"/>' if signature else ''}</method></interface></node>"""
        state.manager.close()
        state.manager = StandIn(state.connection, PATH, xml, {},
                                {"GetManagedObjects": lambda: (value,) if signature else ()})
        done = host.alidadectl(check=False)
        assert done.returncode == ERROR, signature
        assert "does not match" in done.stderr, signature


# monitor

def test_monitor_tells_each_change(play):
    host, state = play()
    with Reader(host, "monitor", "--json") as reader:
        first = reader.wait_for_event(Event="added", NodeId=ME, Kind="Node1.Memory")
        assert first["Fields"]["TotalBytes"] == 64 * GIB
        reader.wait_for_event(Event="synced")
        state.update(ME, "Node1.Memory", AvailableBytes=5 * GIB)
        changed = reader.wait_for_event(Event="changed", NodeId=ME, Kind="Node1.Memory")
        assert changed["Fields"].keys() == {"AvailableBytes", "UpdatedUSec"}
        assert "Absent" not in changed
        state.update(ME, "Node1.System", PowerMicroWatts=2 ** 64 - 1, CpuUsage=float("nan"))
        gone = reader.wait_for_event(Event="changed", Kind="Node1.System")
        assert sorted(gone["Absent"]) == ["CpuUsage", "PowerMicroWatts"]
        state.set(THIRD, "Node1.Memory", {"TotalBytes": GIB})
        added = reader.wait_for_event(Event="added", NodeId=THIRD)
        assert added["Fields"]["TotalBytes"] == GIB
        state.remove(THIRD, "Node1.Memory")
        reader.wait_for_event(Event="removed", NodeId=THIRD, Kind="Node1.Memory")
        state.set_totals(Nodes=7)
        assert reader.wait_for_event(Event="totals")["Fields"] == {"Nodes": 7}
        assert state.calls("Subscribe")


def test_a_refused_subscription_is_told_and_tried_again(play):
    """Issue 12, item 3: others hold all places; what is broadcast is shown meanwhile, and all of it later."""
    host, state = play()
    refusals = []

    def subscribe():
        if not refusals:
            refusals.append(True)
            raise BusError(LIMITS_EXCEEDED, "as many as may")
        return ()

    state.handlers["Subscribe"] = subscribe
    with Reader(host, "monitor", "--json") as reader:
        reader.wait_for_event(Event="synced")
        state.update(ME, "Node1.Memory", AvailableBytes=5 * GIB)
        reader.wait_for_event(Event="changed", NodeId=ME, Kind="Node1.Memory")
        wait_until(lambda: len(state.calls("Subscribe")) == 2, "another Subscribe()", 30)
        wait_until(lambda: "All changes are shown again" in reader.process.log_text(), "the end of it")
        assert "Not all changes are shown: as many as may" in reader.process.log_text()


def test_nothing_is_missed_between_reading_and_following(play):
    """The client subscribes first and reads then: what changes right after its read still reaches it."""
    host, state = play()
    managed = state.handlers["GetManagedObjects"]

    def then_change():
        state.update(ME, "Node1.Memory", AvailableBytes=5 * GIB)
        return GLib.SOURCE_REMOVE

    def reply_and_change():
        found = managed()
        GLib.idle_add(then_change, priority=GLib.PRIORITY_HIGH)
        return found

    state.handlers["GetManagedObjects"] = reply_and_change
    with Reader(host, "monitor", "--json") as reader:
        reader.wait_for_event(lambda event: event["Fields"].get("AvailableBytes") == 5 * GIB, NodeId=ME)


def test_changes_between_pages_are_kept(play):
    """A node of the first page that changes, and one that goes, before the second page is read."""
    host, state = play({node_id(number): {"Node1.Memory": {"TotalBytes": GIB}} for number in range(1, 5)})
    state.refuse_whole_map()
    state.page = 2
    page = state.handlers["GetRecords"]

    def change_before_second(kind, after, most):
        if after == "2":
            state.update(node_id(1), "Node1.Memory", TotalBytes=7 * GIB)
            state.emit_removed(node_id(2), "Node1.Memory")
            state.set(node_id(9), "Node1.Memory", {"TotalBytes": 9 * GIB})
        return page(kind, after, most)

    state.handlers["GetRecords"] = change_before_second
    found = get_json(host, "nodes")["Nodes"]
    assert found.keys() == {node_id(number) for number in (1, 3, 4, 9)}
    assert found[node_id(1)]["Node1.Memory"]["TotalBytes"] == 7 * GIB


def test_monitor_as_text(play):
    host, state = play()
    with Reader(host, "monitor") as reader:
        # Only updates are told, so the first line is that of the first update, whenever it is ready for one.
        def poke():
            before = state.nodes[ME]["Node1.Memory"]["AvailableBytes"]
            state.update(ME, "Node1.Memory", AvailableBytes=5 * GIB + (before + 1) % 7)
            return True
        timer = GLib.timeout_add(50, poke)
        try:
            line = reader.wait_for_line(lambda line: True)
        finally:
            GLib.source_remove(timer)
        assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} atlas Node1.Memory AvailableBytes 5.00 GiB", line)
        state.remove(PEER, "Node1.Disk")
        assert reader.wait_for_line(lambda line: "removed" in line).endswith("borealis Node1.Disk removed")
        state.update(ME, "Node1.System", PowerMicroWatts=2 ** 64 - 1)
        assert reader.wait_for_line(lambda line: "PowerMicroWatts" in line).endswith("PowerMicroWatts –")


def test_monitor_reads_again_after_a_restart(play):
    host, state = play()
    with Reader(host, "monitor", "--json") as reader:
        reader.wait_for_event(Event="synced")
        state.disown()
        reader.wait_for_event(Event="lost")
        state.nodes[ME]["Node1.Memory"]["AvailableBytes"] = 3 * GIB
        del state.nodes[PEER]
        state.own()
        removed = reader.wait_for_event(Event="removed", NodeId=PEER)
        assert removed["Kind"].startswith("Node1.")
        changed = reader.wait_for_event(Event="changed", NodeId=ME)
        assert changed["Fields"] == {"AvailableBytes": 3 * GIB}, "only what differs is told"
        reader.wait_for_event(Event="synced")


@needs_namespaces
def test_monitor_believes_the_owner_only(make_host, play):
    host, state = play(host=make_host(strict_bus=False))
    with Reader(host, "monitor", "--json") as reader:
        reader.wait_for_event(Event="synced")
        target = next(call.sender for call in state.calls("GetManagedObjects"))
        forged = ("org.alidade.Node1.Memory", fields({"AvailableBytes": 666}), [])
        host.forge(target, node_path(ME), PROPERTIES, "PropertiesChanged", "sa{sv}as", forged)
        host.forge(target, PATH, OBJECT_MANAGER, "InterfacesRemoved", "oas",
                   (node_path(ME), ["org.alidade.Node1.Memory"]))
        host.forge(target, PATH, OBJECT_MANAGER, "InterfacesAdded", "oa{sa{sv}}",
                   (node_path(THIRD), {"org.alidade.Node1.Memory": fields({"TotalBytes": 666})}))
        host.forge(target, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                   (NAME, state.connection.unique_name, ""))
        state.update(ME, "Node1.Memory", AvailableBytes=GIB)
        event = json.loads(reader.wait_for_line(lambda line: True))
        assert event["Event"] == "changed" and event["Fields"]["AvailableBytes"] == GIB


def test_monitor_rereads_what_was_invalidated(play):
    host, state = play()
    with Reader(host, "monitor", "--json") as reader:
        reader.wait_for_event(Event="synced")
        state.nodes[ME]["Node1.Memory"]["AvailableBytes"] = 7 * GIB
        state.emit_changed(ME, "Node1.Memory", {}, ["AvailableBytes"])
        event = reader.wait_for_event(Event="changed", NodeId=ME)
        assert event["Fields"] == {"AvailableBytes": 7 * GIB}


def test_monitor_ends_with_its_reader(play):
    host, _ = play()
    reader = Reader(host, "monitor", "--json")
    reader.wait_for_event(Event="synced")
    reader.close()
    assert reader.process.wait() == OK


def test_monitor_ends_well_by_signal(play):
    host, _ = play()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Reader(host, "monitor", "--json") as reader:
            reader.wait_for_event(Event="synced")
            reader.process.signal(number)
            assert reader.process.wait() == OK, number


def test_monitor_with_a_stalled_reader_leaves_the_bus(play):
    """Who does not read must not make the bus hold our signals for us; nothing is lost by it."""
    host, state = play()
    with Reader(host, "monitor", "--json") as reader:
        reader.wait_for_event(Event="synced")
        subscriber = next(call.sender for call in state.calls("GetManagedObjects"))
        bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        with host.log_signals(*bus, "NameOwnerChanged", subscriber) as gone:
            blob = "x" * 1000
            for number in range(3000):
                state.update(ME, "Node1.Identity", ModelId=f"{number}{blob}")
            gone.wait(lambda signal_: signal_.args[2] == "")
        state.nodes[ME]["Node1.Identity"]["ModelId"] = "the last"
        event = reader.wait_for_line(lambda line: "the last" in line)
        assert json.loads(event)["Fields"]["ModelId"] == "the last"
        reader.wait_for_event(Event="synced")


# watch on a terminal

def test_watch_shows_and_follows(play):
    host, state = play(findings=[FINDING])
    with watch(host) as terminal:
        wait_for_picture(terminal)
        assert {"1049-on", "25-off"} <= terminal.screen.modes
        lines = terminal.screen.lines()
        assert lines[0].startswith("Alidade  2 nodes, 0 links")
        assert any("borealis" in line and "16.0/64.0 GiB" in line and "12 %" in line for line in lines)
        assert "warning RDMA cannot be used here" in terminal.screen.text()
        whole = terminal.bytes
        state.update(PEER, "Node1.Memory", AvailableBytes=9 * GIB)
        terminal.wait_for_text("9.00/64.0 GiB")
        assert terminal.bytes - whole < whole / 4, "only what changed is sent"
        state.set(THIRD, "Node1.Identity", {"FriendlyName": "cygnus"})
        terminal.wait_for_text("cygnus")
        state.remove(PEER, *list(state.nodes[PEER]))
        terminal.wait_for(lambda shown: "borealis" not in shown)
        assert terminal.screen.bad == []
        terminal.type("q")
        assert terminal.wait() == OK
        assert terminal.is_restored()


def test_watch_on_hardly_any_terminal(play):
    """In ASCII where it must be; and it grows with its terminal."""
    host, _ = play(findings=[FINDING])
    for columns, rows in ((20, 24), (20, 5), (7, 3), (1, 1)):
        with watch(host, columns=columns, rows=rows, env={"LC_ALL": "C"}) as terminal:
            terminal.wait_for(lambda shown: shown.strip())
            terminal.resize(100, 30)
            terminal.wait_for_text("borealis")
            terminal.resize(columns, rows)
            terminal.wait_for(lambda shown: shown.strip() and "16.0/64.0" not in shown)
            assert terminal.screen.text().isascii() and terminal.screen.bad == [], (columns, rows)
            terminal.type("q")
            assert terminal.wait() == OK, (columns, rows)
            assert terminal.is_restored(), (columns, rows)


def test_watch_shows_nodes_first(play):
    """Item 22: on 20 columns and 5 rows totals and findings give way to them; what is below is scrolled to."""
    host, _ = play(findings=[FINDING])
    with watch(host, columns=20, rows=5) as terminal:
        terminal.wait_for(lambda shown: "atlas" in shown and "borealis" in shown and "q quits" in shown)
        assert "FP16" not in terminal.screen.text() and "Findings" not in terminal.screen.text()
        terminal.resize(80, 24)
        terminal.wait_for(lambda shown: "FP16" in shown and "Findings" in shown)
        terminal.type("q")
        assert terminal.wait() == OK


def test_watch_draws_four_pictures_a_second_at_most(play):
    host, state = play()
    with watch(host) as terminal:
        wait_for_picture(terminal)
        begin, before = time.monotonic(), terminal.screen.pictures
        for number in itertools.takewhile(lambda _: time.monotonic() < begin + 1.5, itertools.count()):
            state.update(ME, "Node1.Memory", AvailableBytes=(number % 60) * GIB)
            host.connection().fence()
        state.update(ME, "Node1.Memory", AvailableBytes=61 * GIB)
        terminal.wait_for_text("61.0/64.0 GiB")
        assert terminal.screen.pictures - before <= 4 * (time.monotonic() - begin) + 2


def test_watch_resizes(play):
    host, _ = play()
    with watch(host, columns=120, rows=40) as terminal:
        terminal.wait_for_text("BANDWIDTH")
        terminal.resize(50, 14)
        terminal.wait_for(lambda shown: "BANDWIDTH" not in shown and len(shown.split("\n")) == 14
                          and shown.endswith("q quits · d shows devices"))
        assert "FREE MEMORY" in terminal.screen.text()
        terminal.resize(140, 45)
        terminal.wait_for(lambda shown: "USED" in shown and len(shown.split("\n")) == 45)
        terminal.type("q")
        assert terminal.wait() == OK


def test_watch_restores_the_terminal(play):
    host, _ = play()
    for how in ("ctrl-c", "term", "hup", "quit"):
        with watch(host) as terminal:
            wait_for_picture(terminal)
            if how == "ctrl-c":
                terminal.type("\x03")
            else:
                terminal.signal({"term": signal.SIGTERM, "hup": signal.SIGHUP, "quit": signal.SIGQUIT}[how])
            assert terminal.wait() == OK, how
            assert terminal.is_restored(), how


def test_watch_ends_when_the_terminal_goes(play):
    host, _ = play()
    with watch(host) as terminal:
        wait_for_picture(terminal)
        terminal.hang_up()
        assert terminal.process.wait() in (OK, 128 + signal.SIGHUP)


def test_watch_suspended_leaves_the_bus(play):
    host, state = play()
    bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
    with watch(host) as terminal:
        wait_for_picture(terminal)
        subscriber = next(call.sender for call in state.calls("GetManagedObjects"))
        with host.log_signals(*bus, "NameOwnerChanged", subscriber) as gone:
            terminal.type("\x1a")
            gone.wait(lambda signal_: signal_.args[2] == "")
        terminal.wait_for(lambda _: terminal.is_restored(), "the terminal to be given back")
        terminal.wait_for_stop()
        state.update(ME, "Node1.Memory", AvailableBytes=3 * GIB)
        terminal.signal(signal.SIGCONT)
        terminal.wait_for_text("3.00/64.0 GiB")
        terminal.type("q")
        assert terminal.wait() == OK
        assert terminal.is_restored()


def test_watch_colours(play):
    host, _ = play()
    with watch(host) as terminal:
        wait_for_picture(terminal)
        assert any("32" in style for style in terminal.screen.styles)
    with watch(host, env={"NO_COLOR": "1"}) as terminal:
        wait_for_picture(terminal)
        assert terminal.screen.styles <= {"0"}


def test_no_colours_in_a_pipe(play):
    host, _ = play(findings=[FINDING])
    for args in ([], ["nodes"], ["findings"], ["watch", "--once"]):
        assert "\x1b" not in host.alidadectl(*args, env={"TERM": "xterm"}).stdout


def test_colours_on_a_terminal(play):
    host, _ = play()
    for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        with Terminal(host, [client_binary(), "nodes", "--no-pager"], env=env) as terminal:
            assert terminal.wait() == OK
            assert "atlas" in terminal.screen.text()
            assert bool(terminal.screen.styles) == coloured


def test_watch_outlives_the_service(play):
    host, state = play()
    with watch(host) as terminal:
        wait_for_picture(terminal)
        state.disown()
        terminal.wait_for_text("Waiting for the state service")
        assert "borealis" in terminal.screen.text(), "what is known stays"
        del state.nodes[PEER]
        state.own()
        terminal.wait_for(lambda shown: "Waiting" not in shown and "borealis" not in shown)
        terminal.type("q")
        assert terminal.wait() == OK


def test_watch_waits_for_the_service(play, make_host):
    host = make_host()
    with watch(host) as terminal:
        terminal.wait_for_text("Waiting for the state service")
        play(host=host)
        terminal.wait_for_text("borealis")


def test_watch_scrolls(play):
    host, _ = play({node_id(number): {"Node1.Identity": {"FriendlyName": f"node-{number}"}}
                    for number in range(1, 201)})
    with watch(host, rows=24) as terminal:
        terminal.wait_for_text("of 200")
        assert "node-1 " in terminal.screen.text() + " "
        terminal.type("\x1b[6~")
        terminal.wait_for(lambda shown: "1–" not in shown.split("\n")[-1].split("·")[-1][:3] and "node-20" in shown)
        terminal.type("\x1b[F")
        terminal.wait_for_text("–200 of 200")
        assert "node-200" in terminal.screen.text()
        terminal.type("\x1b[H")
        terminal.wait_for_text("· 1–")


def test_watch_in_a_stopped_terminal_goes_on(play):
    """Ctrl-S stops the terminal, not the program: it neither waits for it nor piles up pictures."""
    host, state = play()
    with watch(host) as terminal:
        wait_for_picture(terminal)
        terminal.type("\x13")
        for number in range(2000):
            state.update(ME, "Node1.Memory", AvailableBytes=number * GIB // 100)
        state.update(ME, "Node1.Memory", AvailableBytes=7 * GIB)
        terminal.type("\x11")
        before = terminal.bytes
        terminal.wait_for_text("7.00/64.0 GiB")
        assert terminal.bytes - before < 10_000
        terminal.type("q")
        assert terminal.wait() == OK


def test_watch_in_a_stopped_terminal_can_be_ended(play):
    host, state = play()
    with watch(host) as terminal:
        wait_for_picture(terminal)
        terminal.type("\x13")
        state.update(ME, "Node1.Memory", AvailableBytes=7 * GIB)
        state.disown()
        host.wait_for_name(NAME, present=False)
        terminal.signal(signal.SIGTERM)
        assert terminal.wait() == OK


def test_watch_with_hostile_values(play):
    host, _ = play({ME: evil_node(), PEER: sample_node(EVIL)}, findings=[{"Severity": "error", "Text": EVIL}])
    with watch(host) as terminal:
        wait_for_picture(terminal)
        assert terminal.screen.bad == []


# The pager

def test_pager(play):
    host, _ = play()
    pager = ["sh", "-c", 'exec "$@"', "sh", client_binary(), "show", "atlas"]
    with Terminal(host, pager, rows=10, env={"PAGER": "sed s/^/paged:/"}) as terminal:
        assert terminal.wait() == OK
        assert "paged:" in terminal.screen.text()
    with Terminal(host, [*pager, "--no-pager"], rows=10, env={"PAGER": "sed s/^/paged:/"}) as terminal:
        assert terminal.wait() == OK
        assert "paged:" not in terminal.screen.text()
    with Terminal(host, pager, rows=10, env={"PAGER": "/nonexistent"}) as terminal:
        assert terminal.wait() == OK
        assert "Node1.Compute" in terminal.screen.text()


# Another machine

def test_host_over_ssh(play, tmp_path):
    """sd-bus runs ssh with systemd-stdio-bridge on the other side; here "ssh" runs it on this side."""
    host, _ = play()
    seen = tmp_path / "arguments"
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{seen}\n'
                   'while [ $# -gt 0 ] && [ "$1" != systemd-stdio-bridge ]; do shift; done\n'
                   f'exec "$@" --bus-path={host.bus.address}\n')
    ssh.chmod(0o755)
    found = host.alidadectl("-H", "admin@far.example", "nodes", "--json",
                            env={"PATH": f"{tmp_path}:/usr/bin:/bin", "ALIDADE_BUS_ADDRESS": "unix:path=/nonexistent"})
    assert len(json.loads(found.stdout)["Nodes"]) == 2
    assert seen.read_text().split()[-2:] == ["admin@far.example", "systemd-stdio-bridge"]


NO_BRIDGE = "bash: line 1: systemd-stdio-bridge: command not found\n"


@pytest.mark.parametrize("script, said", [
    (None, "ssh is not installed"), ("exit 255", "ssh failed"), ("sleep 4; exit 255", "Waiting for far.example"),
    ("exec sleep 600", "far.example: no answer"),
    (f"printf '{NO_BRIDGE[:-1]}\\n' >&2; exit 127", NO_BRIDGE)],
    ids=["no-ssh", "refused", "slow", "hangs", "no-bridge"])
def test_host_that_cannot_be_reached(make_host, tmp_path, script, said):
    path = str(tmp_path)
    if script:
        (tmp_path / "ssh").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "ssh").chmod(0o755)
        path += ":/usr/bin:/bin"
    done = make_host().alidadectl("-H", "far.example", check=False, env={"PATH": path})
    assert done.returncode == UNREACHABLE and done.stdout == ""
    assert said in done.stderr and "far.example" in done.stderr.splitlines()[-1]


def test_host_without_alidade(make_host, tmp_path):
    host = make_host()
    (tmp_path / "ssh").write_text(f"#!/bin/sh\nexec systemd-stdio-bridge --bus-path={host.bus.address}\n")
    (tmp_path / "ssh").chmod(0o755)
    done = host.alidadectl("-H", "far.example", check=False, env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert done.returncode == UNREACHABLE and "is Alidade installed and running there?" in done.stderr


# Presence, and forgetting


def heard(state, age=0, offset=0):
    """A node whose records are so many seconds old, by a clock that is ahead by so many."""
    then = now() + (offset - age) * 1_000_000
    records = {kind: {**values, "UpdatedUSec": then} for kind, values in sample_node(f"the-{state}").items()}
    return {**records, "Node1.Presence": {"State": state, "SinceUSec": now() - 600_000_000,
                                          "ClockOffsetUSec": offset * 1_000_000}}


def test_presence_is_shown(play):
    host, state = play({ME: heard("online"), PEER: heard("offline", 300, 7200), THIRD: heard("stale", 10),
                        node_id(4): heard("duplicate", 3, -86400), node_id(5): sample_node("alone")})
    for args in (["nodes"], ["watch", "--once"]):
        shown = {line.split()[0]: line for line in host.alidadectl(*args).stdout.splitlines() if line.strip()}
        assert re.match(r"the-online +online +16", shown["the-online"])
        # What it had then is no news of now.
        assert re.match(r"the-offline +offline for 10 min +–/64.0 GiB +– +– ", shown["the-offline"])
        assert re.match(r"the-stale +stale for 10 min ", shown["the-stale"])
        assert re.match(r"the-duplicate +duplicate for 10 min ", shown["the-duplicate"])
        assert re.match(r"alone +live ", shown["alone"])
    assert "Seen: online\n" in host.alidadectl("status").stdout
    text = host.alidadectl("show", PEER).stdout
    assert "Seen: offline for 10 min\n" in text and "ClockOffsetUSec: +2 h\n" in text
    assert "SinceUSec: 10 min ago\n" in text
    for words in (["show", PEER], ["status", "the-duplicate"]):
        lines = host.alidadectl(*words).stdout.splitlines()
        state_word = "Offline" if PEER in words else "Duplicate"
        assert re.fullmatch(rf"{state_word} since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d; "
                            "the figures below are the last known ones", lines[1])
    for name in ("the-online", "the-stale", "alone"):
        assert "last known" not in host.alidadectl("show", name).stdout
    assert get_json(host, "nodes")["Nodes"][PEER]["Node1.Presence"]["State"] == "offline"
    assert state.calls("GetManagedObjects")


def test_watch_follows_presence(play):
    host, state = play({ME: heard("online"), PEER: heard("online")})
    with watch(host) as terminal:
        terminal.wait_for_text("online")
        state.update(PEER, "Node1.Presence", State="offline")
        terminal.wait_for_text("offline for ")
        # The cluster service goes: only the age is known then.
        state.remove(PEER, "Node1.Presence")
        state.remove(ME, "Node1.Presence")
        terminal.wait_for(lambda shown: "live" in shown and "offline" not in shown)


FORGET_XML = """<node><interface name="org.alidade.Cluster1"><method name="Forget">
<arg type="s" direction="in"/></method></interface></node>"""
CLUSTER = "org.alidade.Cluster1"
FAR = "f" * 32


@pytest.fixture
def play_cluster(play, make_host):
    """The same with a cluster service too; its Forget() notes what it is asked for, and fails with each error given."""
    def make(*errors):
        errors = list(errors)
        host, _ = play(host=make_host(strict_bus=False), nodes={
            ME: sample_node("atlas"), PEER: heard("offline"), THIRD: sample_node("twin"), FAR: heard("stale"),
            node_id(4): sample_node("twin")})
        asked = []

        def forget(node):
            asked.append(node)
            if errors:
                raise errors.pop(0)
        connection = host.new_connection()
        StandIn(connection, "/org/alidade/Cluster1", FORGET_XML, {}, {"Forget": forget})
        connection.own(CLUSTER)
        return host, asked

    return make


def test_forget(play_cluster):
    host, asked = play_cluster()
    for what, hidden, name in ((PEER, PEER, "the-offline"), ("the-offline", PEER, "the-offline"),
                               ("f" * 20, FAR, "the-stale")):
        asked.clear()
        done = host.alidadectl("forget", what)
        assert (done.stdout, done.stderr, asked) == (
            f"Hid {name} ({hidden}) on every machine of the cluster until it is back\n", "", [hidden])


def test_forget_for_scripts(play_cluster):
    """Item 19: a check asks for nothing, and a second run, after which the node is not known any more, is no error."""
    host, asked = play_cluster()
    assert host.alidadectl("forget", "--check", PEER).stdout == (
        f"Would hide the-offline ({PEER}) on every machine of the cluster until it is back\n")
    assert host.alidadectl("forget", "d" * 32).stdout == f"There was nothing to do: node {'d' * 32} is not known\n"
    assert host.alidadectl("nodes", "--check", check=False).returncode == USAGE
    assert asked == []


NOT_FORGOTTEN = [
    ("nobody", NO_NODE, 'No node is called "nobody"'), ("twin", NO_NODE, "Several nodes are called"),
    ("0" * 20, NO_NODE, "Several nodes"), ("atlas", ERROR, "is this machine"), (ME, ERROR, "is this machine"),
    ("", NO_NODE, "")]


def test_forget_nothing_else(play_cluster):
    host, asked = play_cluster()
    for what, code, said in NOT_FORGOTTEN:
        done = host.alidadectl("forget", what, check=False)
        assert (done.returncode, done.stdout, asked) == (code, "", []), what
        assert said in done.stderr, what


NOT_HIDDEN = [
    ("org.alidade.Error.NodeOnline", "the-offline is online", ERROR),
    ("org.alidade.Error.NotJoined", "This machine is in no cluster", ERROR),
    ("org.alidade.Error.NoSuchNode", "No such node", NO_NODE),
    ("org.freedesktop.DBus.Error.AccessDenied", "Permission denied", DENIED),
    ("org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", "A password is needed", DENIED)]


def test_forget_says_why_not(play_cluster):
    host, asked = play_cluster(*(BusError(name, text) for name, text, _ in NOT_HIDDEN))
    for name, text, code in NOT_HIDDEN:
        asked.clear()
        done = host.alidadectl("forget", PEER, check=False)
        assert (done.returncode, done.stdout, asked) == (code, "", [PEER]), name
        assert done.stderr.endswith(f"Cannot forget the-offline: {text}\n"), name


def test_forget_without_a_cluster_service(play):
    host, _ = play()
    done = host.alidadectl("forget", PEER, check=False)
    assert (done.returncode, done.stdout) == (UNREACHABLE, "")
    assert "Cannot forget borealis" in done.stderr and CLUSTER in done.stderr


# Shell completion

COMPLETION = SOURCE / "clients" / "alidadectl" / "completion"
VERBS = ["status", "nodes", "devices", "show", "links", "topology", "fabric", "watch", "monitor", "findings", "history",
         "silence", "unsilence", "check", "set-name", "forget", "probe", "place", "export", "metrics", "inhibit",
         "cluster", "version"]

COMPLETE_IN_BASH = r"""
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
COMP_LINE=${COMP_LINE// = /=} COMP_LINE=${COMP_LINE/% =/=} COMP_POINT=${#COMP_LINE}
_alidadectl
printf '%s\n' "${COMPREPLY[@]}"
"""


def in_bash(host, *words):
    script = str(COMPLETION / "alidadectl")
    done = host.run(["bash", "-c", COMPLETE_IN_BASH, "bash", script, client_binary(), *words])
    return done.stdout.splitlines()


def test_bash_completes_verbs_and_options(make_host):
    host = make_host()
    assert in_bash(host, "") == VERBS
    assert in_bash(host, "sta") == ["status"]
    assert in_bash(host, "nodes", "--j") == ["--json"]
    assert in_bash(host, "--json", "=", "p") == ["pretty"]
    assert in_bash(host, "nodes", "--columns", "=", "tem") == ["temperature"]
    assert in_bash(host, "watch", "--sort", "=", "name,-tot") == ["name,-total-memory"]
    assert in_bash(host, "history", "atlas", "--columns", "=", "figure,me") == ["figure,mean"]
    assert in_bash(host, "devices", "--sort", "=", "-fr") == ["-free"]
    assert in_bash(host, "findings", "--sort", "=", "id,-beg") == ["id,-began"]
    assert in_bash(host, "--sort", "=", "-cpu", "wa") == ["watch"]
    assert in_bash(host, "check", "--require", "=", "gpus,mem") == ["gpus,memory"]
    assert in_bash(host, "--json", "=") == ["short", "pretty", "off"]
    assert in_bash(host, "--json", "=", "short", "st") == ["status"]
    assert in_bash(host, "cluster", "re") == ["renew", "revoke", "restore"]
    assert in_bash(host, "cluster", "sign", "--re") == ["--renew", "--replace"]
    assert in_bash(host, "cluster", "init", "lab", "--n") == ["--no-broker"]
    assert in_bash(host, "cluster", "revoke", "--") == ["--help", "--check", "--json"]
    assert in_bash(host, "probe", "") == ["link", "rdma", "compute", "storage"]
    assert in_bash(host, "probe", "link", "--r") == ["--rtt-only"]
    assert in_bash(host, "history", "atlas", "--s") == ["--since=", "--sort="]
    assert in_bash(host, "history", "atlas", "--json", "=", "p") == ["pretty"]
    assert in_bash(host, "check", "--s") == ["--severity="]
    assert in_bash(host, "findings", "--s") == ["--since=", "--sort="]
    assert in_bash(host, "silence", "--f") == ["--for="] and in_bash(host, "unsilence", "--f") == [""]
    assert in_bash(host, "check", "--severity", "=", "e") == ["error"]
    assert in_bash(host, "export", "ll") == ["llama.cpp"]
    assert in_bash(host, "export", "vllm", "--p") == ["--plan=", "--program="]
    assert in_bash(host, "inhibit", "--wh") == ["--what=", "--who=", "--why="]
    assert in_bash(host, "inhibit", "--what", "=", "s") == ["storage"]
    assert "bash" in in_bash(host, "inhibit", "bas")


def test_bash_completes_the_right_word(make_host):
    """An option's value is not taken for a verb, nor a word after "--" for an option; lists go on after a comma."""
    host = make_host()
    assert in_bash(host, "--host", "=", "far", "sta") == in_bash(host, "-H", "far", "sta") == ["status"]
    assert in_bash(host, "--host", "far", "--no-pager", "probe", "li") == ["link"]
    assert in_bash(host, "probe", "--metric", "=", "read", "rd") == ["rdma"]
    assert in_bash(host, "probe", "--metric", "read", "rd") == ["rdma"]
    assert in_bash(host, "probe", "compute", "--metric", "=", "gemm,pe") == ["gemm,peak"]
    assert in_bash(host, "silence", "--reason", "=", "--for", "--js") == ["--json"], "--for is the reason"
    assert in_bash(host, "history", "--since", "--json", "--", "--c") == [""]
    assert in_bash(host, "findings", "--", "") == [""]
    assert in_bash(host, "place", "--engine", "sg") == ["sglang"]
    assert in_bash(host, "place", "--kv-type", "=", "f16,bf") == ["f16,bf16"]
    assert in_bash(host, "inhibit", "--who", "x", "ls", "--wh") == [""], "options of the command are its own"
    assert in_bash(host, "nodes", "--on") == [""] and in_bash(host, "watch", "--on") == ["--once"]
    assert in_bash(host, "cluster", "status", "--h") == ["--help", "--host="]
    assert in_bash(host, "cluster", "--json", "=", "pretty", "cert") == ["certificates"]


def test_bash_completes_lists_with_what_they_lack(make_host):
    host = make_host()
    assert in_bash(host, "probe", "compute", "--metric", "=", "gemm,g") == [""]
    assert "gemm,read" in in_bash(host, "probe", "compute", "--metric", "=", "gemm,")
    assert in_bash(host, "nodes", "--columns", "=", "name,st") == ["name,state"]
    assert in_bash(host, "nodes", "--columns", "=", "name,+state,st") == [""]
    assert in_bash(host, "nodes", "--columns", "=", "memory,cpu,mem") == [""]
    assert in_bash(host, "nodes", "--columns", "=", "memory,cpu") == ["memory,cpu", "memory,cpu-temperature"]
    assert in_bash(host, "watch", "--sort", "=", "-total-memory,-tot") == [""]
    assert in_bash(host, "check", "--require", "=", "gpus,g") == [""]


def test_bash_completes_pairs_with_the_same_again(make_host):
    """Keys and values may have the same type; there is no third one."""
    host = make_host()
    types = in_bash(host, "place", "--kv-type", "=")
    assert "f16" in types and not any("," in word for word in types)
    assert in_bash(host, "place", "--kv-type", "=", "f16,") == [f"f16,{word}" for word in types]
    assert in_bash(host, "place", "--kv-type", "=", "f16,f1") == ["f16,f16"]
    for third in ("f16,bf16,", "f16,f16,", "f16,f16,f3", ",,"):
        assert in_bash(host, "place", "--kv-type", "=", third) == [""], third


def test_options_of_the_help_are_completed(make_host):
    host = make_host()
    for verb in VERBS:
        usage = host.alidadectl(verb, "--help").stdout
        options = re.findall(r"^  (?:-[a-zA-Z]|  ) (--[a-z-]+)", usage, re.MULTILINE)
        assert options and [option.rstrip("=") for option in in_bash(host, verb, "--")] == options, verb


def test_bash_completes_names_of_nodes(play):
    host, _ = play({ME: sample_node("atlas"), PEER: sample_node("big box"), THIRD: sample_node("a\x1bb"),
                    node_id(4): sample_node("$(touch /tmp/owned)")})
    found = in_bash(host, "show", "")
    assert sorted(found) == sorted(["atlas", r"big\ box", THIRD, r"\$\(touch\ /tmp/owned\)"])
    assert in_bash(host, "show", "at") == in_bash(host, "forget", "at") == ["atlas"]
    assert in_bash(host, "cluster", "revoke", "at") == ["atlas"]
    assert in_bash(host, "silence", "atlas", "bi") == [r"big\ box"] and in_bash(host, "unsilence", "at") == ["atlas"]
    assert in_bash(host, "links", "at") == in_bash(host, "probe", "link", "at") == ["atlas"]
    assert in_bash(host, "history", "at") == in_bash(host, "history", "big box", "at") == ["atlas"]
    assert in_bash(host, "history", "atlas", "--since", "=", "-") == ["-1h"]
    assert in_bash(host, "export", "nfd", "at") == ["atlas"]
    assert in_bash(host, "probe", "compute", "at") == [""]
    assert in_bash(host, "show", r"big\ b") == [r"big\ box"]
    assert in_bash(host, "nodes", "") == [""]
    assert in_bash(host, "-H", "far", "show", "at") == [""], "completion does not go over ssh"
    assert in_bash(host, "-H", "far", "sh") == ["show"]


def test_bash_completes_as_one_types(play):
    host, _ = play({ME: sample_node("atlas"), PEER: sample_node("big box")})
    setup = f"PATH={client_binary().parent}:$PATH; PS1='$ '; . {COMPLETION}/alidadectl; bind 'set bell-style none'"
    with Terminal(host, ["bash", "--norc", "-i"], columns=200, env={"TERM": "dumb", "HOME": host.dir}) as terminal:
        terminal.type(setup + "; echo set up\r")
        terminal.wait_for(lambda shown: "set up\n$" in shown)
        for typed, wanted in (("alidadectl sho\t", "alidadectl show"), ("at\t", "alidadectl show atlas"),
                              ("\x15alidadectl show bi\t", r"alidadectl show big\ box"),
                              ("\x15alidadectl show big\\ b\t", r"alidadectl show big\ box"),
                              ("\x15alidadectl --json=pr\t", "alidadectl --json=pretty"),
                              ("\x15alidadectl --host=far stat\t", "alidadectl --host=far status"),
                              ("\x15alidadectl probe compute --metric=read,pe\t", "--metric=read,peak"),
                              ("\x15alidadectl --no-p\t", "alidadectl --no-pager")):
            terminal.type(typed)
            terminal.wait_for(lambda shown, wanted=wanted: shown.split("\n")[-1].endswith(wanted), wanted)


@contextlib.contextmanager
def zsh_with_completion(host):
    """An interactive shell, once it is set up."""
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    setup = (f"path=({client_binary().parent} $path); fpath=({COMPLETION} $fpath); PS1='%%'; "
             "autoload -U compinit; compinit -D -u")
    with Terminal(host, ["zsh", "-f", "-i"], columns=200, env={"TERM": "dumb", "HOME": host.dir}) as terminal:
        terminal.wait_for_text("#" if os.geteuid() == 0 else "%")
        terminal.type(setup + "; echo set up\r")
        terminal.wait_for(lambda shown: shown.count("set up") == 2)
        yield terminal


def test_zsh_completes(play):
    host, _ = play({ME: sample_node("atlas"), PEER: sample_node("big box")})
    with zsh_with_completion(host) as terminal:
        for typed, wanted in (("alidadectl sho\t", "alidadectl show"), ("at\t", "alidadectl show atlas"),
                              ("\x15alidadectl show bi\t", r"alidadectl show big\ box"),
                              ("\x15alidadectl --json=pr\t", "alidadectl --json=pretty"),
                              ("\x15alidadectl --no-p\t", "alidadectl --no-pager"),
                              ("\x15alidadectl links at\t", "alidadectl links atlas"),
                              ("\x15alidadectl probe link at\t", "alidadectl probe link atlas"),
                              ("\x15alidadectl inhibit --li\t", "alidadectl inhibit --list"),
                              ("\x15alidadectl --host=far stat\t", "alidadectl --host=far status"),
                              ("\x15alidadectl check --sev\t", "alidadectl check --severity="),
                              ("e\t", "alidadectl check --severity=error"),
                              ("\x15alidadectl probe compute --metric=read,pe\t", "--metric=read,peak"),
                              ("\x15alidadectl place --kv-type=f16,f1\t", "--kv-type=f16,f16"),
                              ("\x15alidadectl place --kv-type=f16,q8_0,q5_1\t-", "--kv-type=f16,q8_0,q5_1-"),
                              ("\x15alidadectl nodes --columns=name,-tot\t", "--columns=name,-total-memory"),
                              ("\x15alidadectl watch --sort=-cpu,cpu\t", "--sort=-cpu,cpu-temperature"),
                              ("\x15alidadectl nodes --columns=cpu,cpu\t", "--columns=cpu,cpu-temperature"),
                              ("\x15alidadectl silence --for 2h at\t", "--for 2h atlas"),
                              ("\x15alidadectl inhibit ech\t", "alidadectl inhibit echo"),
                              ("\x15alidadectl clu\t", "alidadectl cluster"), ("sig\t", "alidadectl cluster sign"),
                              ("\x15alidadectl cluster sign --out\t", "alidadectl cluster sign --output="),
                              ("\x15alidadectl cluster revoke at\t", "alidadectl cluster revoke atlas")):
            terminal.type(typed)
            terminal.wait_for_text(wanted)


def test_completion_repeats_no_code(make_host):
    """Shells would read a line of a list that is being typed as an answer, and insert what was quoted as it is."""
    host = make_host()
    for typed in ("x\n:command path[$(touch owned)],", "$(touch owned),", "`touch owned`,na", "name;touch owned,",
                  "'x',"):
        assert host.alidadectl("_complete", "nodes", f"--columns={typed}").stdout == "", typed
        assert host.alidadectl("_complete", "nodes", "--sort", typed).stdout == "", typed
        assert host.alidadectl("_complete", "place", f"--kv-type={typed}").stdout == "", typed
    assert in_bash(host, "nodes", "--columns", "=", r"\$\(touch\ owned\),na") == [""]
    assert in_bash(host, "place", "--kv-type", "=", r"\$\(touch\ owned\),f1") == [""]
    assert host.alidadectl("_complete", "nodes", "--columns=name,+").stdout == ":listed nodes columns name,+\n"


def test_zsh_runs_nothing_that_is_typed(make_host):
    host = make_host()
    owned = Path(host.dir) / "owned"
    with zsh_with_completion(host) as terminal:
        terminal.type(f"alidadectl nodes --columns=$'x\\n:command path[$(touch {owned})]\\n,'\t")
        terminal.type("\x15alidadectl sho\t")
        terminal.wait_for_text("alidadectl show")
    assert not owned.exists()


def test_completion_is_clean():
    for command in (["shellcheck", COMPLETION / "alidadectl"], ["zsh", "-n", COMPLETION / "_alidadectl"]):
        if shutil.which(command[0]):
            subprocess.run(command, check=True)


def test_manual_page_is_clean_and_complete():
    page = SOURCE / "clients" / "alidadectl" / "alidadectl.1"
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], capture_output=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""}, check=True)
        assert done.stderr == b""
    text = page.read_text().replace("\\-", "-")
    usage = subprocess.run([client_binary(), "--help"], capture_output=True, text=True, check=True).stdout
    for word in [*VERBS, *re.findall(r"--[a-z-]+", usage)]:
        assert word in text, word
    assert re.findall(r"^  ([a-z-]+)", usage, re.MULTILINE)[:len(VERBS)] == VERBS


def text_of_page(page):
    """What the macros of fonts leave of it, with the words of a line together where they are printed so."""
    lines = []
    for line in re.sub(r"\\f[BIR]|\\[&%,/]", "", page.replace("\\-", "-").replace("\\~", " ")).splitlines():
        macro, _, words = line.partition(" ")
        if macro in (".BI", ".IB", ".BR", ".RB", ".IR", ".RI"):
            line = "".join(quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', words))
        lines.append(line)
    return "\n".join(lines).replace("...", "…")


def test_manual_page_and_tables_have_the_same_options():
    """Each option, with its value as the help names it; and the page has no other, but those of other programs."""
    text = text_of_page((SOURCE / "clients" / "alidadectl" / "alidadectl.1").read_text())
    known = set()
    for verb in VERBS:
        usage = subprocess.run([client_binary(), verb, "--help"], capture_output=True, text=True, check=True).stdout
        known.update(re.findall(r"^  (?:-[a-zA-Z]|  ) (--[a-z-]+)(\[?=\S+)?", usage, re.MULTILINE))
    assert [name + value for name, value in sorted(known) if name + value not in text] == []
    of_others = {"--collector", "--device", "--rpc", "--tensor-split", "--unbuffered"}
    written = set(re.findall(r"(?<![\w-])--[a-z-]*[a-z]", text))
    assert written - of_others == {name for name, _ in known}
