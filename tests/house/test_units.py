# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the daemons are started with: sandbox, bus policy, activation, users, polkit actions."""

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest

from tree import SOURCE, build_dir, read

# daemon: (folder, interface, exposure by systemd-analyze security, of 10)
DAEMONS = {
    "alidade-identityd": ("identity", "Identity1", 0.2),
    "alidade-telemetryd": ("telemetry", "Telemetry1", 1.1),
    "alidade-link-probed": ("link-probe", "LinkProbe1", 1.4),
    "alidade-stated": ("state", "State1", 0.2),
    "alidade-clusterd": ("cluster", "Cluster1", 1.1),
    "alidade-placementd": ("placement", "Placement1", 0.2),
    "alidade-historyd": ("history", "History1", 0.2),
}
# What systemd starts now and then: (unit, exposure)
HELPERS = [("alidade-cluster-crl", 0.8), ("alidade-cluster-renewal", 0.8)]
# What the sockets of alidade-witness start: (unit, exposure, its only capability)
WITNESSES = [("alidade-witness-processes", 0.9, "CAP_SYS_PTRACE"), ("alidade-witness-counters", 0.8, "CAP_PERFMON")]
EXPORTER, EXPORTER_EXPOSURE = "alidade-exporter", 0.2
each_daemon = pytest.mark.parametrize("daemon", DAEMONS)
needs_analyze = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
BACKLOG = {"send_destination": "org.freedesktop.DBus", "send_interface": "org.freedesktop.DBus.Debug.Stats",
           "send_member": "GetConnectionStats"}
SIGNALS = {"send_type": "signal", "send_broadcast": "false"}


def unit_path(daemon):
    folder = "clients/exporter" if daemon == EXPORTER else "services"
    if daemon in [witness for witness, _, _ in WITNESSES]:
        folder = "services/witness"
    return build_dir() / folder / f"{daemon}.service"


def settings(path):
    """{section: {key: [values]}} of a unit, an activation file or the like."""
    found, section = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            section.setdefault(key, []).append(value)
    return found


def unit(daemon):
    return {key: " ".join(values) for key, values in settings(unit_path(daemon))["Service"].items()}


def policy(daemon):
    folder, interface, _ = DAEMONS[daemon]
    return ET.parse(SOURCE / f"services/{folder}/org.alidade.{interface}.conf").getroot()


def rules(daemon, tag, **wanted):
    """(user, attributes) of the rules of a policy that have these attributes, user None being everybody."""
    return [(section.get("user"), rule.attrib) for section in policy(daemon).iter("policy")
            for rule in section.iter(tag) if wanted.items() <= rule.attrib.items()]


def test_every_folder_is_covered():
    folders = {path.parent.name for path in (SOURCE / "services").glob("*/alidade-*d.service.in")}
    assert folders == {folder for folder, _, _ in DAEMONS.values()}


def test_every_unit_has_a_bound():
    services = {path.stem for path in (build_dir() / "services").glob("alidade-*.service")}
    assert services == {*DAEMONS, *(helper for helper, _ in HELPERS)}


@pytest.mark.parametrize("helper", [helper for helper, _ in HELPERS])
def test_what_root_runs_ends_by_itself_and_is_tried_again(helper):
    """Its path unit ends for good where a start is refused, and starts a run that failed again at once."""
    found = settings(unit_path(helper))
    wanted = {"Type": ["oneshot"], "TimeoutStartSec": ["3min"], "Restart": ["on-failure"], "RestartSec": ["5min"],
              "CapabilityBoundingSet": [""], "AmbientCapabilities": [""]}
    assert {key: found["Service"].get(key) for key in wanted} == wanted
    assert found["Unit"]["StartLimitIntervalSec"] == ["0"]


@needs_analyze
@pytest.mark.parametrize("name, limit", [*((daemon, limit) for daemon, (_, _, limit) in DAEMONS.items()), *HELPERS,
                                         (EXPORTER, EXPORTER_EXPOSURE),
                                         *((witness, limit) for witness, limit, _ in WITNESSES)])
def test_exposure(name, limit):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", unit_path(name)],
                          capture_output=True, text=True, check=False)
    overall = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert overall, done.stderr
    assert float(overall.group(1)) <= limit, done.stdout


@needs_analyze
def test_units_are_understood(tmp_path):
    for name in [*DAEMONS, *(helper for helper, _ in HELPERS), EXPORTER, *(witness for witness, _, _ in WITNESSES)]:
        text = re.sub(r"^ExecStart=.*$", "ExecStart=/bin/true", unit_path(name).read_text(), flags=re.MULTILINE)
        (tmp_path / f"{name}.service").write_text(text)
    for path in [*(build_dir() / "services").glob("*.path"), SOURCE / f"clients/exporter/{EXPORTER}.socket",
                 *(SOURCE / "services/witness").glob("*.socket")]:
        shutil.copy(path, tmp_path)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *sorted(tmp_path.iterdir())],
                          env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
                          capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if "alidade" in line] == []


@each_daemon
def test_unit_says_what_must_be_said(daemon):
    folder, interface, _ = DAEMONS[daemon]
    found = unit(daemon)
    wanted = {"Type": "notify", "BusName": f"org.alidade.{interface}", "User": f"alidade-{folder}",
              "PrivateMounts": "yes", "ProcSubset": "all", "Restart": "on-failure", "CapabilityBoundingSet": "",
              "AmbientCapabilities": "", "ExecReload": "/bin/sh -c 'kill -HUP $MAINPID'"}
    assert {key: found.get(key) for key in wanted} == wanted
    assert "WatchdogSec" in found


@each_daemon
def test_unit_starts_what_is_installed(daemon):
    installed = json.loads((build_dir() / "meson-info/intro-installed.json").read_text())
    assert unit(daemon)["ExecStart"] in installed.values()


def test_the_exporter_has_no_network_but_its_sockets():
    found = settings(unit_path(EXPORTER))
    wanted = {"Type": ["notify"], "User": [EXPORTER], "PrivateNetwork": ["yes"], "IPAddressDeny": ["any"],
              "RestrictAddressFamilies": ["AF_UNIX"], "CapabilityBoundingSet": [""], "AmbientCapabilities": [""],
              "ExecReload": ["/bin/sh -c 'kill -HUP $MAINPID'"], "Restart": ["on-failure"], "WatchdogSec": ["30s"],
              "RestartPreventExitStatus": ["78"]}
    assert {key: found["Service"].get(key) for key in wanted} == wanted
    assert f"{EXPORTER}.socket" in found["Unit"]["Requires"][0].split()
    assert "Install" not in found, "its socket starts it"
    installed = json.loads((build_dir() / "meson-info/intro-installed.json").read_text())
    assert found["Service"]["ExecStart"][0] in installed.values()
    made = [line.split()[:2] for line in read(f"clients/exporter/{EXPORTER}.sysusers").splitlines() if line[0] != "#"]
    assert made == [["u", EXPORTER]]


def test_the_exporter_listens_where_its_configuration_says():
    text = read("services/alidade.conf")
    streams = settings(SOURCE / f"clients/exporter/{EXPORTER}.socket")["Socket"]["ListenStream"]
    assert f"#listen={';'.join(streams)}\n" in text
    assert all(stream.startswith(("127.", "[::1]:")) for stream in streams)


@pytest.mark.parametrize("name, capability", [(name, capability) for name, _, capability in WITNESSES])
def test_a_witness_has_one_capability_and_answers_telemetryd(name, capability):
    found, socket = settings(unit_path(name)), settings(SOURCE / f"services/witness/{name}.socket")["Socket"]
    source = name.rpartition("-")[2]
    wanted = {"User": [name], "CapabilityBoundingSet": [capability], "AmbientCapabilities": [capability],
              "PrivateUsers": ["no"], "PrivateNetwork": ["yes"], "RestrictAddressFamilies": ["AF_UNIX"],
              "NoNewPrivileges": ["yes"], "DevicePolicy": ["closed"], "ProtectSystem": ["strict"],
              "SystemCallArchitectures": ["native"]}
    assert {key: found["Service"].get(key) for key in wanted} == wanted
    assert found["Service"].get("DeviceAllow", []) == (["char-drm r"] if source == "counters" else [])
    assert socket == {"ListenSequentialPacket": [f"/run/alidade/witness/{source}"], "SocketMode": ["0600"],
                      "SocketUser": [unit("alidade-telemetryd")["User"]], "DirectoryMode": ["0755"],
                      "RemoveOnStop": ["yes"]}
    assert f"{name}.socket" in settings(unit_path("alidade-telemetryd"))["Unit"]["Wants"][0].split()
    assert "Install" not in found, "its socket starts it"
    installed = json.loads((build_dir() / "meson-info/intro-installed.json").read_text())
    program, argument = found["Service"]["ExecStart"][0].split()
    assert program in installed.values() and argument == source


def mebibytes(text):
    return int(text[:-1]) * {"M": 1, "G": 1024}[text[-1]]


def limit_of(path, name):
    """What a source defines as so many MiB."""
    return int(re.search(rf"#define {name} .*?(\d+)u?\)? \* 1024u? \* 1024", read(path))[1])


def test_memory_is_bounded_beyond_what_the_services_refuse_by_themselves():
    state, cluster = unit("alidade-stated"), unit("alidade-clusterd")
    assert mebibytes(state["MemoryMax"]) >= 2 * limit_of("services/state/state-manager.c", "MAX_BYTES")
    waiting = sum(limit_of(f"services/cluster/{path}", name) for path, name in (
        ("mqtt/inbox.h", "ALD_INBOX_BYTES"), ("state/outbox.h", "ALD_OUTBOX_BYTES"),
        ("mqtt/mqtt-session-thread.c", "OUT_BYTES"), ("trust/crl-limit.h", "ALD_CRL_WAITING_BYTES")))
    assert waiting + 80 < mebibytes(cluster["MemoryHigh"]) < mebibytes(cluster["MemoryMax"])


def test_the_new_revocation_list_is_watched_where_the_cluster_service_writes_it():
    watched = settings(build_dir() / "services/alidade-cluster-crl.path")["Path"]
    program, *words = unit("alidade-cluster-crl")["ExecStart"].split()
    installed = json.loads((build_dir() / "meson-info/intro-installed.json").read_text())
    assert watched == {"PathChanged": ["/var/lib/alidade/cluster/crl.pem"], "Unit": ["alidade-cluster-crl.service"]}
    assert program in installed.values() and words == ["install-crl"]


def test_what_is_to_be_renewed_is_watched_where_the_cluster_service_writes_it():
    watched = settings(build_dir() / "services/alidade-cluster-renewal.path")["Path"]
    program, *words = unit("alidade-cluster-renewal")["ExecStart"].split()
    installed = json.loads((build_dir() / "meson-info/intro-installed.json").read_text())
    assert watched == {"DirectoryNotEmpty": ["/var/lib/alidade/cluster/renewals"],
                       "PathChanged": ["/var/lib/alidade/cluster/renewed.pem"],
                       "Unit": ["alidade-cluster-renewal.service"]}
    assert program in installed.values() and words == ["renew", "--auto"]


def test_users_are_different():
    assert len({unit(daemon)["User"] for daemon in DAEMONS}) == len(DAEMONS)


def test_users_named_are_users_made():
    made = {words[1] for words in map(str.split, read("services/alidade.sysusers").splitlines())
            if words[:1] == ["u"]}
    named = {unit(name)["User"] for name in [*DAEMONS, *(witness for witness, _, _ in WITNESSES)]}
    for daemon in DAEMONS:
        named |= {section.get("user") for section in policy(daemon).iter("policy")} - {None, "root"}
    named |= set(re.findall(r"unix-user:([\w-]+)", read("polkit/org.alidade.policy")))
    assert named == made


@each_daemon
def test_activation_is_by_systemd_or_by_hand(daemon):
    folder, interface, _ = DAEMONS[daemon]
    found = settings(build_dir() / f"services/org.alidade.{interface}.service")["D-BUS Service"]
    assert found == {"Name": [f"org.alidade.{interface}"], "Exec": [unit(daemon)["ExecStart"]],
                     "User": [f"alidade-{folder}"], "SystemdService": [f"{daemon}.service"]}


@each_daemon
def test_name_is_owned_by_its_user_only(daemon):
    folder, interface, _ = DAEMONS[daemon]
    assert rules(daemon, "allow", own=f"org.alidade.{interface}") == [
        ("root", {"own": f"org.alidade.{interface}"}), (f"alidade-{folder}", {"own": f"org.alidade.{interface}"})]
    assert not [rule for _, rule in rules(daemon, "allow") if "own_prefix" in rule]


@each_daemon
def test_calls_are_allowed_by_interface(daemon):
    name = f"org.alidade.{DAEMONS[daemon][1]}"
    sent = [rule for _, rule in rules(daemon, "allow") if "own" not in rule and rule != BACKLOG]
    assert all(rule.get("send_destination") == name and "send_interface" in rule for rule in sent)
    assert rules(daemon, "allow", send_interface=name)


@each_daemon
def test_its_own_user_only_may_ask_what_the_bus_holds_of_it(daemon):
    assert rules(daemon, "allow", send_member="GetConnectionStats") == [(f"alidade-{DAEMONS[daemon][0]}", BACKLOG)]


@each_daemon
def test_directed_signals_are_denied(daemon):
    """And the denial comes last, so that no rule after it lets them in."""
    name = f"org.alidade.{DAEMONS[daemon][1]}"
    everybody = [section for section in policy(daemon).iter("policy") if section.get("context") == "default"]
    assert [section[-1].attrib for section in everybody] == [{"send_destination": name, **SIGNALS}]


def test_records_of_others_come_from_the_cluster_service():
    put = {"send_destination": "org.alidade.State1", "send_interface": "org.alidade.State1",
           "send_member": "PutRecords"}
    assert rules("alidade-stated", "allow", send_member="PutRecords") == [("alidade-cluster", put)]
    assert rules("alidade-stated", "deny", send_member="PutRecords") == [(None, put)]


def test_polkit_actions_name_their_owner():
    for action in ET.parse(SOURCE / "polkit/org.alidade.policy").getroot().iter("action"):
        folder = action.get("id").split(".")[2]
        owners = [note.text for note in action.iter("annotate")
                  if note.get("key") == "org.freedesktop.policykit.owner"]
        assert owners == [f"unix-user:alidade-{folder}"], action.get("id")
        assert {default.text for default in action.find("defaults")} <= {"auth_admin_keep", "yes"}
