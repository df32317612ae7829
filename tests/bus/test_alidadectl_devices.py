# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl devices against a state service that the test plays."""

import csv
import io

import pytest

from bedlib import StandIn
from bedlib.variants import Typed
from client import NO_NODE, OK, USAGE, get_json, wait_for_picture, watch, width
from played_state import GPU, PlayedState, fields, sample_node

GIB = 1024 ** 3
ME, PEER = (f"{number:032x}" for number in (0xa1, 0xb2))
SLICES = tuple(f"{GPU}/{number}-0" for number in (1, 2))
TELEMETRY = "org.alidade.Telemetry1"
HOLDERS_XML = f"""<node><interface name="{TELEMETRY}">
  <method name="GetHolders"><arg type="aa{{sv}}" direction="out"/></method>
</interface></node>"""


def split_node():
    """A machine whose card is split into two instances, and which shares who holds it by units."""
    node = sample_node("borealis")
    whole = node["Node1.Backends"]["Devices"][0]
    whole["MemoryTotalBytes"] = 80 * GIB
    node["Node1.Backends"]["Devices"] += [
        {"Id": each, "Class": "gpu", "Name": "Slice", "MemoryTotalBytes": 40 * GIB, "Parent": GPU}
        for each in SLICES] + [{"Id": "cpu", "Class": "cpu", "Name": "Zen 5", "Unified": True}]
    live = node["Node1.System"]["Devices"]
    live[0].update(PowerLimitMicroWatts=700_000_000, Throttled=True, ThrottleReasons=["power"])
    live += [{"Id": SLICES[0], "MemoryUsedBytes": 30 * GIB}, {"Id": SLICES[1], "MemoryUsedBytes": GIB}]
    node["Node1.Processes"] = {
        "Devices": [{"Id": GPU, "Holders": 3, "HeldBytes": 11 * GIB}],
        "Holders": [{"Id": f"{GPU},unit,ollama.service", "Device": GPU, "OwnerKind": "unit",
                     "Owner": "ollama.service", "Processes": 2, "MemoryBytes": 10 * GIB, "Usage": 31.0},
                    {"Id": f"{GPU},job,12\x1b[2J", "Device": GPU, "OwnerKind": "job", "Owner": "12\x1b[2J",
                     "Processes": 1}]}
    return node


@pytest.fixture
def play(make_host):
    played = []

    def make(nodes=None):
        host = make_host()
        nodes = {ME: sample_node("atlas"), PEER: split_node()} if nodes is None else nodes
        played.append(PlayedState(host.connection(), ME, nodes).own())
        return host

    yield make
    for state in played:
        state.close()


def devices(host, *args):
    return get_json(host, "devices", *args)["Devices"]


def names(rows):
    return [(row["Node"], row["Name"]) for row in rows]


def test_table(play):
    text = play().alidadectl("devices").stdout
    lines = text.splitlines()
    assert lines[0].split()[:3] == ["NODE", "NAME", "MEMORY"]
    assert [line.split("  ")[0] for line in lines[1:]] == ["atlas", "borealis", "borealis", "borealis", "borealis"]
    assert "  Slice" in lines[3] and "220/700 W" in lines[2] and "power" in lines[2]
    assert "12.0/24.0 GiB" in lines[1] and "48.0/64.0 GiB" in lines[5]


@pytest.mark.parametrize("columns", (80, 100, 120))
def test_usual_columns_fit(play, columns):
    host = play()
    text = host.alidadectl("devices", env={"COLUMNS": str(columns)}).stdout
    assert max(width(line) for line in text.splitlines()) <= columns
    for heading in ("NODE", "NAME", "MEMORY", "FREE", "LOAD"):
        assert heading in text.splitlines()[0]


def test_most_free_memory_is_first(play):
    rows = devices(play(), "--sort=-free")
    assert names(rows) == [("borealis", "RTX 4090"), ("borealis", "Slice"), ("borealis", "Slice"),
                           ("borealis", "Zen 5"), ("atlas", "RTX 4090")]
    assert [row["FreeBytes"] // GIB for row in rows] == [39, 10, 39, 16, 12]


def test_only_with_free_memory(play):
    host = play()
    assert names(devices(host, "--free=13G")) == [
        ("borealis", "RTX 4090"), ("borealis", "Slice"), ("borealis", "Zen 5")]
    assert [row["Id"] for row in devices(host, "--free=20GiB")] == [GPU, SLICES[1]]
    assert devices(host, "--free=1T") == []
    assert host.alidadectl("devices", "--free=1T").stdout == "No device has that much free memory.\n"
    assert names(devices(host, "--free=12G", "--sort=node"))[0] == ("atlas", "RTX 4090")


def test_unknown_free_memory_is_counted(play):
    node = sample_node("atlas")
    del node["Node1.System"]["Devices"][0]["MemoryUsedBytes"]
    done = play({ME: node}).alidadectl("devices", "--free=1M")
    assert done.stdout == ("No device has that much free memory.\n"
                           "Not listed, since it is not known what is free: 1.\n")
    assert get_json(play({ME: node}), "devices", "--free=1M")["UnknownFreeDevices"] == 1


def test_only_of_some_nodes(play):
    host = play()
    assert names(devices(host, "atlas", ME)) == [("atlas", "RTX 4090")]
    assert len(devices(host, "borealis", "atlas")) == 5
    assert host.alidadectl("devices", "nobody", check=False).returncode == NO_NODE


def test_what_other_programs_get(play):
    host = play()
    row = devices(host, "borealis")[0]
    assert row["NodeId"] == PEER and row["Id"] == GPU and row["Class"] == "gpu" and row["State"] == "online"
    assert row["MemoryUsedBytes"] == 12 * GIB and row["MemoryTotalBytes"] == 80 * GIB
    assert row["PowerLimitMicroWatts"] == 700_000_000 and row["Throttled"] == "power"
    assert row["Holders"] == 3 and row["HeldBytes"] == 11 * GIB and "HolderRows" not in row
    assert "FanPercent" not in row
    text = host.alidadectl("devices", "--csv", "--columns=name,holders").stdout
    assert next(csv.DictReader(io.StringIO(text.splitlines(True)[0] + text.splitlines(True)[2]))) == {
        "Name": "RTX 4090", "Holders": "3"}
    assert list(devices(host, "atlas", "--columns=id,load")[0]) == ["Id", "Usage"]


def test_who_holds_them(play):
    host = play()
    text = host.alidadectl("devices", "borealis", "--holders", "--columns=name,used-memory,load,holders").stdout
    lines = [line.split() for line in text.splitlines()]
    assert lines[2] == ["ollama.service", "10.0", "GiB", "31", "%", "2"]
    assert lines[3] == ["job", "12\ufffd[2J", "–", "–", "1"]
    assert "\x1b" not in text
    rows = devices(host, "borealis", "--holders")
    assert [row["Owner"] for row in rows[0]["HolderRows"]] == ["ollama.service", "12\x1b[2J"]
    assert rows[1]["HolderRows"] == []


def test_who_holds_the_own_ones(play):
    host = play()
    connection = host.connection()
    rows = [{"Id": f"{GPU},4711", "Device": GPU, "OwnerKind": "unit", "Owner": "ollama.service", "Processes": 1,
             "Pid": 4711, "Program": "ollama", "User": "alice"}]
    telemetry = StandIn(connection, "/org/alidade/Telemetry1", HOLDERS_XML, {TELEMETRY: {}},
                        {"GetHolders": lambda: ([fields(row) for row in rows],)})
    connection.own(TELEMETRY)
    try:
        assert "ollama, 4711, alice, ollama.service" in host.alidadectl("devices", "--holders", "atlas").stdout
        assert devices(host, "--columns=held-by") == [
            {"HeldBy": "ollama"}, {"HeldBy": "ollama.service, job 12\ufffd[2J"}, {}, {}, {}]
        asked = len(telemetry.calls)
        assert host.alidadectl("devices", "--columns=name").returncode == OK and len(telemetry.calls) == asked
        assert host.alidadectl("devices", "--columns=name", "--sort=held-by").returncode == OK
        assert len(telemetry.calls) == asked + 1
        rows[0]["Device"] = Typed("u", 7)
        assert "ollama" not in host.alidadectl("devices", "--holders", "atlas").stdout
    finally:
        telemetry.close()


def test_a_silent_node(play):
    node = split_node()
    node["Node1.Presence"] = {"State": "offline", "SinceUSec": 1}
    rows = devices(play({ME: sample_node("atlas"), PEER: node}), "borealis")
    for row in rows:
        assert row["State"] == "offline"
        assert not {"FreeBytes", "Usage", "Holders", "Throttled", "PowerMicroWatts", "HeldBy"} & set(row)
    assert rows[0]["TflopsFp16"] == 165.2


def test_too_many_devices(play):
    node = sample_node("atlas")
    node["Node1.Backends"]["Devices"] = [{"Id": f"gpu{number:04}", "Parent": f"gpu{number - number % 2:04}"}
                                         for number in range(1200)]
    host = play({ME: node})
    found = get_json(host, "devices")
    assert len(found["Devices"]) == 256 and found["UnlistedDevices"] == 945
    assert host.alidadectl("devices").stdout.endswith(
        "945 more devices are not listed, of nodes with more than 256.\n")


def test_without_devices(play):
    host = play({ME: {"Node1.Identity": {"FriendlyName": "atlas"}}})
    done = host.alidadectl("devices")
    assert done.returncode == OK and done.stdout == "No devices are known.\n"
    assert devices(host) == []


@pytest.mark.parametrize("args", (["--free=many"], ["--free=24"], ["--sort=nothing"], ["--columns=nothing"],
                                  ["--csv", "--json"], ["--csv", "--holders"]))
def test_refused_options(play, args):
    done = play().alidadectl("devices", *args, check=False)
    assert done.returncode == USAGE and not done.stdout


def test_watch(play):
    host = play()
    with watch(host, columns=100, rows=20) as terminal:
        wait_for_picture(terminal)
        terminal.type("d")
        terminal.wait_for(lambda shown: "HOLDERS" in shown and "Zen 5" in shown and "d shows nodes" in shown)
        assert "FREE MEMORY" not in terminal.screen.text() and terminal.screen.bad == []
        terminal.resize(60, 6)
        terminal.wait_for(lambda shown: "Zen 5" not in shown and "of 5" in shown)
        terminal.type("G")
        terminal.wait_for(lambda shown: "Zen 5" in shown)
        terminal.type("d")
        terminal.wait_for(lambda shown: "SEEN" in shown and "d shows devices" in shown)
        terminal.type("q")
        assert terminal.wait() == OK


def test_metrics_name_instances(play):
    """An instance has the labels of its row, with its card; who holds devices is private."""
    text = play({ME: split_node()}).alidadectl("metrics").stdout
    info = [line for line in text.splitlines() if line.startswith("alidade_backends_device_info{") and "Slice" in line]
    assert len(info) == 2
    assert all(f'device="{each}"' in line and f'parent="{GPU}"' in line for each, line in zip(SLICES, info))
    assert f'alidade_system_device_memory_used_bytes{{node="{ME}",device="{SLICES[1]}"}} {GIB}' in text
    assert f'alidade_processes_device_holders{{node="{ME}",device="{GPU}"}} 3' in text
    assert "ollama" not in text
