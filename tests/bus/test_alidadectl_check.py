# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl check: one line and an exit status, whatever the state and the services do."""

import json
import os
import re
import select
import signal
import time

from bedlib import BusError, StandIn
from bedlib.services import SOURCE, client_binary
from client import OK, USAGE
from played_state import now, sample_node
from test_alidadectl_played import FINDING, GIB, ME, PEER, play  # noqa: F401

NOT_OK = 1
WARNING, CRITICAL, UNKNOWN = 1, 2, 3
OWN = {"Id": "disk-nearly-full", "Severity": "error", "Nodes": [ME], "Names": ["atlas"], "Path": "/srv",
       "AvailableBytes": GIB, "TotalBytes": 1000 * GIB, "Text": "x"}
OWN_TEXT = "disk-nearly-full: /srv on atlas has only 1.00 GiB of 1000 GiB left"
NOTICE = {"Id": "interface-slow", "Severity": "notice", "Nodes": [ME], "Names": ["atlas"], "Interface": "eth0",
          "NegotiatedBitsPerSecond": 100_000_000, "Text": "x"}
ONLY_STATE = "--ignore=service-missing"


def check(host, *options):
    done = host.alidadectl("check", *options, check=False)
    assert done.stdout.count("\n") == 1 and done.stdout.endswith("\n"), done
    return done.returncode, done.stdout[:-1]


def test_findings_about_this_machine(play):
    host, state = play(findings=[FINDING])
    assert check(host, ONLY_STATE) == (OK, "OK: no warnings or errors about atlas")
    code, line = check(host, ONLY_STATE, "--all")
    assert code == NOT_OK and line.startswith("NOT OK: rdma-unusable: ")
    state.findings = [OWN, NOTICE]
    assert check(host, ONLY_STATE) == (NOT_OK, "NOT OK: " + OWN_TEXT)
    assert check(host, ONLY_STATE, "--ignore=other,disk-nearly-full")[0] == OK
    code, line = check(host, ONLY_STATE, "--severity=notice")
    assert code == NOT_OK and line == f"NOT OK: {OWN_TEXT}; interface-slow: eth0 on atlas negotiated only 100 Mb/s"
    state.findings = [{**FINDING, "Nodes": [ME]}]
    assert check(host, ONLY_STATE, "--severity=error") == (OK, "OK: no errors about atlas")
    assert check(host, ONLY_STATE)[0] == NOT_OK
    state.findings = [NOTICE]
    assert check(host, ONLY_STATE) == (OK, "OK: no warnings or errors about atlas")
    state.findings = []
    assert check(host, ONLY_STATE, "--severity=notice") == (OK, "OK: no findings about atlas")


def test_what_others_report(play):
    """Another member cannot turn the exit status by what it says of this machine, unless that is asked for."""
    accusation = {"Id": "link-probe-failing", "Severity": "warning", "Nodes": [PEER, ME], "Names": ["birch", "atlas"],
                  "Reporter": PEER, "Interface": "eth0", "Address": "192.0.2.1", "Reason": "no answer", "Text": "x"}
    twice = {"Id": "hardware-claimed-twice", "Severity": "warning", "Nodes": [PEER, ME], "Names": ["birch", "atlas"],
             "Address": "5254:00ff:fe12:3456", "Text": "x"}
    left_out = {"Id": "link-probe-failing", "Severity": "warning", "Nodes": [PEER], "Names": ["birch"],
                "Reporter": PEER, "LeftOut": 7, "Text": "x"}
    host, state = play(findings=[accusation, twice, left_out])
    assert check(host, ONLY_STATE) == (OK, "OK: no warnings or errors about atlas")
    code, line = check(host, ONLY_STATE, "--others")
    assert code == NOT_OK and "(reported by borealis)" in line and "; hardware-claimed-twice: " in line, line
    assert line.count("reported by") == 1
    code, line = check(host, ONLY_STATE, "--all")
    assert code == NOT_OK and line.count("reported by") == 2 and "7 more link-probe-failing" in line, line
    found = json.loads(host.alidadectl("check", ONLY_STATE, "--others", "--json", check=False).stdout)
    assert [row.get("Reporter") for row in found["Problems"]] == [PEER, None]
    state.findings = [{**accusation, "Nodes": [ME, PEER], "Names": ["atlas", "birch"], "Reporter": ME}]
    code, line = check(host, ONLY_STATE)
    assert code == NOT_OK and line.startswith("NOT OK: link-probe-failing: ") and "reported by" not in line
    state.findings = [{**left_out, "Nodes": [ME], "Names": ["atlas"], "Reporter": ME}]
    assert check(host, ONLY_STATE)[0] == NOT_OK


def test_monitoring_plugins(play):
    host, state = play()
    assert check(host, ONLY_STATE, "--plugin") == (OK, "OK - no warnings or errors about atlas")
    state.findings = [{**FINDING, "Id": "from-later", "Nodes": [ME], "Text": "a|b\nc"}]
    code, line = check(host, ONLY_STATE, "--plugin")
    assert code == WARNING and line.startswith("WARNING - from-later: a/b")
    state.findings = [OWN, FINDING]
    assert check(host, ONLY_STATE, "--plugin") == (CRITICAL, "CRITICAL - " + OWN_TEXT)
    state.close()
    code, line = check(host, ONLY_STATE, "--plugin")
    assert code == UNKNOWN and line == "UNKNOWN - state-unreachable: the state service cannot be read"
    for wrong in (["--plugin", "--what"], ["--severity=bad", "--plugin"], ["--what", "--plugin"], ["more", "--plugin"],
                  ["--plugin", "--timeout"]):
        done = host.alidadectl("check", *wrong, check=False)
        assert (done.returncode, done.stdout) == (UNKNOWN, "") and done.stderr
    done = host.alidadectl("-H", "", "check", "--plugin", check=False)
    assert (done.returncode, done.stdout) == (UNKNOWN, "") and "is not a host" in done.stderr
    assert host.alidadectl("check", "--severity=bad", "--", "--plugin", check=False).returncode == USAGE


def test_findings_that_are_not_known(play):
    host, state = play()
    def refuse():
        raise BusError("org.freedesktop.DBus.Error.LimitsExceeded", "too many")
    state.handlers["GetFindings"] = refuse
    assert check(host, ONLY_STATE) == (NOT_OK, "NOT OK: state-unreachable: the state service cannot be read")
    assert check(host, ONLY_STATE, "--plugin")[0] == UNKNOWN


SERVICES = ("Identity1", "Telemetry1", "LinkProbe1")


def missing(*names):
    return "NOT OK: " + "; ".join(f"service-missing: org.alidade.{name}" for name in names)


def test_services(play):
    host, _ = play()
    cannot = "Placement1 cannot be started"
    assert check(host) == (NOT_OK, missing(*(f"{name} is not running" for name in SERVICES), cannot))
    connection = host.connection()
    for name in SERVICES:
        connection.own(f"org.alidade.{name}")
    assert check(host) == (NOT_OK, missing(cannot))
    connection.own("org.alidade.Placement1")
    assert check(host)[0] == OK
    member = {ME: {**sample_node("atlas"), "Node1.Membership": {"ClusterName": "lab"}}}
    other, _ = play(member)
    assert "org.alidade.Cluster1 is not running" in check(other)[1]


def test_services_that_the_bus_can_start(play, make_host):
    """The bus would start the history at its next call, but nobody calls it; neither is started by the check."""
    host, _ = play(host=make_host(activation=("historyd", "placementd")))
    connection = host.connection()
    for name in SERVICES:
        connection.own(f"org.alidade.{name}")
    assert check(host) == (NOT_OK, missing("History1 is not running"))
    assert not host.activations.runs()
    connection.own("org.alidade.History1")
    assert check(host)[0] == OK and not host.activations.runs()


class PlayedSystemd:
    """.units is {name without .service: (LoadState, ActiveState, Result)}."""

    NAME, PATH = "org.freedesktop.systemd1", "/org/freedesktop/systemd1"
    MANAGER = """<node><interface name="org.freedesktop.systemd1.Manager"><method name="LoadUnit">
        <arg type="s" direction="in"/><arg type="o" direction="out"/></method></interface></node>"""
    UNIT = """<node><interface name="org.freedesktop.systemd1.Unit"><property name="LoadState" type="s" access="read"/>
        <property name="ActiveState" type="s" access="read"/></interface><interface
        name="org.freedesktop.systemd1.Service"><property name="Result" type="s" access="read"/></interface></node>"""

    def __init__(self, host):
        self.host, self.units, self.shown = host, {}, {}
        self.connection = host.new_connection()
        self.manager = StandIn(self.connection, self.PATH, self.MANAGER, {}, {"LoadUnit": self._load})
        self.connection.own(self.NAME)

    def _load(self, name):
        path = f"{self.PATH}/unit/n{len(self.shown)}"
        load, active, result = self.units.get(name.removesuffix(".service"), ("not-found", "inactive", "success"))
        self.shown[path] = StandIn(self.connection, path, self.UNIT, {
            f"{self.NAME}.Unit": {"LoadState": load, "ActiveState": active},
            f"{self.NAME}.Service": {"Result": result}}, {})
        return (path,)


FINE = ("loaded", "inactive", "success")


NOT_ACTIVATED = [
    (FINE, FINE, ["History1 is not running", "Placement1 cannot be started"]),
    (("masked", "inactive", "success"), FINE, ["Placement1 cannot be started"]),
    (("not-found", "inactive", "success"), ("masked", "inactive", "success"), [])]


def test_units_without_activation(play, make_host):
    """A unit may be installed although the bus cannot start it; one that is masked is not wanted."""
    host, _ = play(host=make_host(strict_bus=False))
    for name in SERVICES:
        host.connection().own(f"org.alidade.{name}")
    systemd = PlayedSystemd(host)
    for history, placement, expected in NOT_ACTIVATED:
        systemd.units = {"alidade-historyd": history, "alidade-placementd": placement}
        assert check(host) == ((NOT_OK, missing(*expected)) if expected else
                               (OK, "OK: no warnings or errors about atlas")), systemd.units


ACTIVATED = [
    (FINE, None), (("masked", "inactive", "success"), None),
    (("not-found", "inactive", "success"), "org.alidade.Placement1 cannot be started"),
    (("loaded", "failed", "exit-code"), "the last start of alidade-placementd failed: exit-code")]


def test_a_placement_service_that_cannot_start(play, make_host):
    host, _ = play(host=make_host(strict_bus=False, activation=("placementd",)))
    for name in SERVICES:
        host.connection().own(f"org.alidade.{name}")
    systemd = PlayedSystemd(host)
    for placement, expected in ACTIVATED:
        systemd.units = {"alidade-placementd": placement}
        assert check(host) == ((OK, "OK: no warnings or errors about atlas") if expected is None else
                               (NOT_OK, f"NOT OK: service-missing: {expected}")), placement
    assert not host.activations.runs()


def test_a_dead_node(play):
    """That it is offline is a notice, but with --all it counts, whatever the severity."""
    gone = {"Id": "node-offline", "Severity": "notice", "Nodes": [PEER], "Names": ["borealis"], "Text": "x"}
    host, _ = play(findings=[gone])
    assert check(host, ONLY_STATE)[0] == OK
    for options in ((), ("--severity=error",)):
        assert check(host, ONLY_STATE, "--all", *options) == (
            NOT_OK, "NOT OK: node-offline: borealis is offline")
    assert check(host, ONLY_STATE, "--all", "--plugin")[0] == WARNING
    assert check(host, ONLY_STATE, "--all", "--ignore=node-offline")[0] == OK


def node(**kinds):
    """A node with records of now, and others."""
    found = {**sample_node("atlas"), "Node1.Fabric": {"RdmaPorts": [
        {"Id": "mlx5_0.1", "State": "active", "LinkLayer": "infiniband"},
        {"Id": "mlx5_1.1", "State": "down", "LinkLayer": "infiniband"}]}, **kinds}
    for fields in found.values():
        fields.setdefault("UpdatedUSec", now())
    for device in found.get("Node1.Compute", {}).get("Devices", ()):
        device.setdefault("MeasuredUSec", now())
    return found


MET = ["memory>=64G", "memory>=68GB", "available>=16G", "device-memory>=24G", "gpus", "compute>=165", "compute", "rdma"]
UNMET = {"memory>=65G": "64.0 GiB, ", "memory>=69GB": "64.0 GiB, ", "available>=17G": "16.0 GiB",
         "device-memory>=25G": "24.0 GiB", "gpus>=2": "1, ", "compute>=166": "165 TFLOPS, ", "rdma>=2": "1, ",
         "links": "0"}


def test_requirements(play):
    host, _ = play({ME: node()})
    assert check(host, ONLY_STATE, f"--require={','.join(MET)}") == (
        OK, "OK: no warnings or errors about atlas, all requirements met")
    for requirement, reason in UNMET.items():
        code, line = check(host, ONLY_STATE, f"--require=gpus,{requirement}")
        assert code == NOT_OK and line.startswith(f"NOT OK: requirement-not-met: {requirement}: {reason}"), line


def test_what_can_be_required_is_listed(make_host):
    """What it lists is in the help and in the manual, too."""
    host = make_host()
    names = [line.split()[0] for line in host.alidadectl("check", "--require=help").stdout.splitlines()]
    usage = host.alidadectl("check", "--help").stdout
    page = (SOURCE / "clients" / "alidadectl" / "alidadectl.1").read_text().replace("\\-", "-")
    assert {"memory", "available", "device-memory", "compute", "gpus", "rdma", "links"} == set(names)
    assert [name for name in names if f" {name}" not in usage] == []
    assert [name for name in names if not re.search(rf"^\.B[IR] {name}(>=| \[)", page, re.M)] == []


def test_old_and_unknown_figures_are_not_enough(play):
    day = 24 * 3600 * 10 ** 6
    old = node(**{"Node1.Memory": {"TotalBytes": 64 * GIB, "UpdatedUSec": now() - day // 12}})
    old["Node1.Compute"]["Devices"][0]["MeasuredUSec"] = now() - 2 * day
    del old["Node1.Fabric"]
    host, _ = play({ME: old})
    code, line = check(host, ONLY_STATE, "--require=memory>=1G,available>=1G,compute>=1", "--require=rdma")
    assert code == NOT_OK and line.split("; ") == [
        "NOT OK: requirement-not-met: memory>=1G: 64.0 GiB, but too old: 2 h ago",
        "requirement-not-met: available>=1G: unknown",
        "requirement-not-met: compute>=1: 165 TFLOPS, but too old: 2 d ago",
        "requirement-not-met: rdma: unknown"]


def test_json(play):
    host, state = play(findings=[OWN])
    done = host.alidadectl("check", ONLY_STATE, "--json", "--require=rdma", check=False)
    found = json.loads(done.stdout)
    assert done.returncode == NOT_OK and not found["Ok"] and not found["Unknown"]
    assert [(row["Id"], row["Severity"]) for row in found["Problems"]] == [
        ("requirement-not-met", "error"), ("disk-nearly-full", "error")]
    state.findings = []
    assert json.loads(host.alidadectl("check", ONLY_STATE, "--json").stdout) == {
        "Ok": True, "Unknown": False, "Problems": [], "Unanswered": []}


def test_a_service_that_hangs(make_host):
    host = make_host(sysroot=True)
    stated = host.start_daemon("stated")
    stated.signal(signal.SIGSTOP)
    began = time.monotonic()
    code, line = check(host, "--timeout=1")
    assert (code, line) == (NOT_OK, "NOT OK: timeout: the bus or alidade-stated did not answer within 1 s")
    assert 1 <= time.monotonic() - began < 8
    done = host.alidadectl("check", "--timeout=1", "--json", check=False)
    assert done.returncode == NOT_OK and json.loads(done.stdout) == {
        "Ok": False, "Unknown": True, "Unanswered": ["alidade-stated"],
        "Problems": [{"Id": "timeout", "Severity": "error",
                      "Text": "the bus or alidade-stated did not answer within 1 s"}]}
    stated.signal(signal.SIGCONT)


def test_one_line_although_both_processes_wait_equally_long(make_host):
    """A call of the child takes 10 s as well, and several at once disturb each other."""
    host = make_host(sysroot=True)
    stated = host.start_daemon("stated")
    stated.signal(signal.SIGSTOP)
    for turn in range(2):
        started = [host.spawn([client_binary(), "check", "--timeout=10"], f"check-{turn}-{n}") for n in range(8)]
        for process in started:
            process.expect_exit(NOT_OK, 20)
            lines = [line for line in process.log_text().splitlines() if not line.startswith("alidadectl: ")]
            assert lines == ["NOT OK: timeout: the bus or alidade-stated did not answer within 10 s"]
    stated.signal(signal.SIGCONT)


def test_an_ssh_that_hangs(make_host, tmp_path):
    """It ends, too: otherwise a reader of the errors would wait for it."""
    (tmp_path / "ssh").write_text(f"#!/bin/sh\nexec sleep 600 3>{tmp_path}/running\n")
    (tmp_path / "ssh").chmod(0o755)
    os.mkfifo(tmp_path / "running")
    with open(os.open(tmp_path / "running", os.O_RDONLY | os.O_NONBLOCK), "rb") as running:
        done = make_host().run(["setsid", "--wait", client_binary(), "check", "--host=ada@birch", "--timeout=3"],
                               env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False)
        assert (done.returncode, done.stdout) == (NOT_OK, "NOT OK: timeout: the machine did not answer within 3 s\n")
        ended = select.poll()
        ended.register(running, select.POLLHUP)
        assert ended.poll(20_000)


SCONTROL = """#!/bin/sh
case $1 in
show) printf 'NodeName=%s\\n   State=%s\\n   Reason=%s [root@now]\\n' "$3" "$STATE" "$(cat "$FOLDER/reason")" ;;
update) shift; printf '%s\\n' "$@" >"$FOLDER/update" ;;
esac
"""

LOGGER = """#!/bin/sh
printf '%s\\n' "$*" >"$FOLDER/log"
"""


def test_the_example_for_slurm(play, tmp_path):
    """It drains, unless somebody else did, and resumes only what it drained; it does neither if nothing is known."""
    host, state = play({ME: node()}, findings=[OWN])
    for name, text in (("scontrol", SCONTROL), ("logger", LOGGER)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    script = (SOURCE / "examples" / "slurm" / "health-check").read_text().replace(
        "alidadectl check", f"{client_binary()} check {ONLY_STATE}").replace("--require='memory>=1G'", "--require=gpus")
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "FOLDER": str(tmp_path), "SLURMD_NODENAME": "n1"}

    def updated(reason, state="IDLE+DRAIN"):
        (tmp_path / "reason").write_text(reason)
        (tmp_path / "update").unlink(missing_ok=True)
        host.run(["sh", "-c", script], env={**environment, "STATE": state})
        return (tmp_path / "update").read_text().splitlines() if (tmp_path / "update").exists() else None

    drained = ["nodename=n1", "state=drain", f"reason=alidade: CRITICAL - {OWN_TEXT}"]
    assert updated("", "IDLE") == drained and updated("of a time that is over", "MIXED") == drained
    assert updated("alidade: NOT OK: x") == drained
    assert updated("somebody's") is None and updated("somebody's", "DOWN*") is None
    state.findings = []
    assert updated("somebody's") is None
    assert updated("alidade: NOT OK: x") == ["nodename=n1", "state=resume"]
    assert not (tmp_path / "log").exists()
    state.close()
    assert updated("alidade: NOT OK: x") is None and updated("", "IDLE") is None
    assert (tmp_path / "log").read_text() == (
        "-s -t alidade-health-check -- UNKNOWN - state-unreachable: the state service cannot be read\n")


def test_a_size_needs_a_unit(make_host):
    """64 bytes would always be there."""
    done = make_host().alidadectl("check", "--require=memory>=64", check=False)
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert "memory>=64: the size is without a unit: write 64GiB, or 64GB for powers of 1000\n" in done.stderr


USAGE_ERRORS = ["--require=memory", "--require=memory>64G", "--require=speed>=1", "--require=memory>=64X",
                "--require=gpus>=", "--require=", "--severity=bad", "--timeout=0", "--timeout=x", "--what", "more",
                "-H-oProxyCommand=x", "--host="]


def test_the_command_line(make_host):
    host = make_host()
    for option in USAGE_ERRORS:
        done = host.alidadectl("check", option, check=False)
        assert (done.returncode, done.stdout) == (USAGE, "") and done.stderr, option
