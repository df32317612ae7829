# SPDX-License-Identifier: LGPL-2.1-or-later
"""What services refuse of their configuration: they start on their defaults, and say so as a finding."""

import signal

import pytest
from gi.repository import GLib

from bedlib import SERVICES, StandIn, interface_xml
from bedlib.fixtures import needs_namespaces
from bedlib.services import SOURCE
from contract import assert_follows
from played_source import Source
from state_service import PATH, STATE, call, interface, local_id, node_path, schema, start, typed

SERVICE = "org.alidade.Service1"
SERVICE_PATH = "/org/alidade/Service1"
PROBLEMS = "ConfigurationProblems"
KIND = "Node1.Configuration"
WRONG = """[state]
max-nodes=0

[telemetry]
# Half a second is the default.
memory-interval-ms=fast
[telemetri]
memory-interval-ms=1000
"""
MENDED = """[state]
max-nodes=10

[telemetry]
memory-interval-ms=1000
"""
ROW = schema.load(SOURCE / f"dbus-interfaces/{SERVICE}.xml")[0].rows[0].row_fields


def rows_of(objects, host):
    return objects.get(node_path(local_id(host)), {}).get(interface(KIND), {}).get("Problems", [])


def wait_for_rows(host, predicate):
    with host.objects(STATE, PATH) as tree:
        tree.wait(lambda objects: predicate(rows_of(objects, host)))
        return rows_of(tree.objects, host)


def places(rows):
    return {(row.get("Service"), row.get("Line"), row.get("Group"), row.get("Key")) for row in rows}


STATE_ROW = ("alidade-stated", 2, "state", "max-nodes")
TELEMETRY_ROW = ("alidade-telemetryd", 6, "telemetry", "memory-interval-ms")
GROUP_ROW = (None, 7, "telemetri", None)
GROUP_ROW_OF_STATED = ("alidade-stated", *GROUP_ROW[1:])
ALL_ROWS = {STATE_ROW, TELEMETRY_ROW, GROUP_ROW}


def findings(host):
    return [row for row in call(host, "GetFindings") if row["Id"] == "configuration-refused"]


@pytest.fixture
def refusing(make_host):
    """A host whose services refuse three lines."""
    host = start(make_host, "identityd", "telemetryd", config=WRONG)
    wait_for_rows(host, lambda rows: places(rows) == ALL_ROWS)
    return host


def daemon(host, program):
    return next(process for process in host.daemons if process.name == program)


def test_each_refused_line_is_a_finding(refusing):
    host = refusing
    file = str(host.dir / "config/alidade.conf")
    rows = {row["Key"] if "Key" in row else row["Group"]: row
            for row in call(host, "GetConfigurations")[local_id(host)]["Problems"]}
    assert {row["File"] for row in rows.values()} == {file}
    assert rows["max-nodes"]["Reason"] == "too small (1 to 10000)"
    assert rows["memory-interval-ms"]["Reason"].startswith("not a whole number")
    assert rows["telemetri"]["Reason"] == "unknown group"
    # The defaults hold.
    assert host.get("org.alidade.Telemetry1", "/org/alidade/Telemetry1", "org.alidade.Telemetry1",
                    "MemoryIntervalUSec") == 500_000
    found = {(row.get("Service"), row["Line"], row["Group"], row.get("Key")): row for row in findings(host)}
    assert found.keys() == ALL_ROWS
    assert {row["Severity"] for row in found.values()} == {"warning"}
    assert found[STATE_ROW]["Text"] \
        == f"On bed, alidade-stated refuses [state] max-nodes in line 2 of {file}: too small (1 to 10000)."
    assert "systemctl reload alidade-stated\" on bed" in found[STATE_ROW]["Remedy"]
    assert found[GROUP_ROW]["Text"] == f"On bed, [telemetri] in line 7 of {file} is refused: unknown group."
    shown = host.alidadectl("findings").stdout
    assert all(row["Text"] in " ".join(shown.split()) for row in found.values())
    checked = host.alidadectl("check", "--severity=warning", check=False)
    assert checked.returncode == 1 and "configuration-refused" in checked.stdout


def test_mended_and_reloaded_it_is_over(refusing):
    host = refusing
    host.write_config(MENDED)
    daemon(host, "telemetryd").signal(signal.SIGHUP)
    wait_for_rows(host, lambda rows: TELEMETRY_ROW not in places(rows))
    daemon(host, "stated").signal(signal.SIGHUP)
    wait_for_rows(host, lambda rows: STATE_ROW not in places(rows))
    # The last that has not read the file again.
    assert places(wait_for_rows(host, bool)) == {("alidade-identityd", *GROUP_ROW[1:])}
    with host.log_signals(STATE, None, None, "InterfacesRemoved") as removed:
        daemon(host, "identityd").signal(signal.SIGHUP)
        removed.wait(lambda change: interface(KIND) in change.args[1])
    assert findings(host) == [] and call(host, "GetConfigurations") == {}


def test_a_file_that_is_left_out(make_host):
    host = start(make_host, config=MENDED)
    host.write_config("[state]\nmax-nodes=5\nnonsense\n")
    daemon(host, "stated").signal(signal.SIGHUP)
    row, = wait_for_rows(host, bool)
    assert row["File"].endswith("alidade.conf") and row["Line"] == 3 and row["Service"] == "alidade-stated"
    assert "Group" not in row and row["Reason"].startswith("left out: ")
    host.write_config(MENDED)
    daemon(host, "stated").signal(signal.SIGHUP)
    wait_for_rows(host, lambda rows: rows == [])


def test_a_killed_service_takes_its_rows_along(refusing):
    host = refusing
    daemon(host, "telemetryd").kill()
    wait_for_rows(host, lambda rows: places(rows) == ALL_ROWS - {TELEMETRY_ROW})
    daemon(host, "identityd").kill()
    wait_for_rows(host, lambda rows: places(rows) == {STATE_ROW, GROUP_ROW_OF_STATED})


def test_a_new_state_service_asks_all_before_it_speaks(refusing):
    host = refusing
    daemon(host, "stated").kill()
    host.wait_for_name(STATE, present=False)
    host.start_daemon("stated")
    with host.objects(STATE, PATH) as tree:
        tree.wait_for_interface(node_path(local_id(host)), interface(KIND))
        assert places(rows_of(tree.objects, host)) == ALL_ROWS


def test_nothing_is_started_to_be_asked(make_host):
    host = start(make_host, activation=["historyd", "placementd"], config=WRONG)
    wait_for_rows(host, lambda rows: places(rows) == {STATE_ROW, GROUP_ROW_OF_STATED})
    assert not any(host.activations.runs(program) for program in ("historyd", "placementd"))


def play(host, *rows):
    source = Source(host)
    stand_in = StandIn(source.connection, SERVICE_PATH, interface_xml(SERVICE),
                       {SERVICE: {PROBLEMS: [typed(ROW, row) for row in rows]}})
    source.own()
    return source, stand_in


def test_absurd_services(make_host):
    """A service of an earlier version has no such object, one of a later version more fields."""
    host = start(make_host)
    Source(host).export("Node1.Memory", TotalBytes=1000).own().connection.close()
    host.wait_for_name("org.alidade.Telemetry1", present=False)
    source, stand_in = play(host, *({"File": "/a", "Line": number, "Reason": "odd", "Group": "a"}
                                    for number in range(1, 101)))
    assert len(wait_for_rows(host, bool)) == 32
    stand_in.change(SERVICE, **{PROBLEMS: [typed(ROW, {"Reason": "of no file"}),
                                           typed(ROW, {"File": "/b", "Reason": "x" * 5000}),
                                           {**typed(ROW, {"File": "/c"}), "Line": GLib.Variant("s", "five"),
                                            "Newer": GLib.Variant("s", "field")}]})
    rows = wait_for_rows(host, lambda rows: len(rows) == 2)
    assert rows == [{"Id": "/b", "Service": "alidade-telemetryd", "File": "/b"},
                    {"Id": "/c", "Service": "alidade-telemetryd", "File": "/c"}]
    source.connection.close()
    wait_for_rows(host, lambda rows: rows == [])


@needs_namespaces
def test_every_service_says_it_to_everybody(make_host):
    host = make_host(sysroot=True, config=WRONG)
    # The cluster service reads [state], too, and link-probed [telemetry].
    own = {"stated": [STATE_ROW], "clusterd": [STATE_ROW],
           "telemetryd": [TELEMETRY_ROW], "link-probed": [TELEMETRY_ROW]}
    for service in SERVICES.values():
        daemon = host.start_daemon(service.program)
        assert_follows(host.connection(), service.bus_name, SERVICE_PATH, [SERVICE])
        rows = host.get(service.bus_name, SERVICE_PATH, SERVICE, PROBLEMS, user="nobody")
        assert [(row["Line"], row["Group"], row.get("Key")) for row in rows] == [
            row[1:] for row in (*own.get(service.program, []), GROUP_ROW)], service.program
        daemon.stop()
