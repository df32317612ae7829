# SPDX-License-Identifier: LGPL-2.1-or-later
"""link-probed on a bus: locks that hold off probes, jobs, what is due, and probes that misbehave in every way."""

import os
import re
import signal
import socket
import subprocess
from collections import Counter

import pytest
from gi.repository import GLib

from bedlib import BusError, network
from bedlib.fixtures import needs_namespaces
from bedlib.services import build_dir
from bedlib.waiting import wait_steadily, wait_until
from contract import assert_follows
from link_probe import (ACTION, ADDRESS, JOB, LINK_PROBE, OTHER, OTHER_ADDRESS, PATH, PEER, SOCKET, STATE, LinkProbe,
                        row)

INVALID_ARGS = "org.freedesktop.DBus.Error.InvalidArgs"
LIMITS_EXCEEDED = "org.freedesktop.DBus.Error.LimitsExceeded"
NO_SUCH_NODE = "org.alidade.Error.NoSuchNode"
NOT_JOINED = "org.alidade.Error.NotJoined"
INHIBITED = "org.alidade.Error.Inhibited"
REFUSALS = {"org.freedesktop.DBus.Error.AccessDenied",
            "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"}
ABSENT = 2 ** 64 - 1

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may probe without polkit")


def refused(function, *args, **options):
    with pytest.raises(BusError) as error:
        function(*args, **options)
    return error.value


def probe_link(service, node=PEER, options=None, user=None):
    given = {name: GLib.Variant("b" if isinstance(value, bool) else "s", value)
             for name, value in (options or {}).items()}
    return service.call("ProbeLink", "sa{sv}", (node, given), user=user)


def wait_none_left(service):
    """What is killed may take a moment to end."""
    wait_steadily(lambda: service.host.run(["pgrep", "-f", "alidade-probe-socket"], check=False).stdout == "",
                  "the end of all probes")


def wait_first_question(service):
    """What is due is forgotten with the question of the start, which a later one replaces."""
    wait_steadily(lambda: service.state.questions, "the question of the start")


# What it says of itself


def test_without_a_cluster_it_is_idle_and_says_why(make_host):
    service = LinkProbe(make_host, joined=False, due=[ADDRESS])
    assert_follows(service.host.connection(), LINK_PROBE, PATH, [LINK_PROBE, "org.alidade.Node1.ProbePolicy"])
    problem = service.get("Problem")
    assert "cannot prove its identity to other nodes" in problem and "alidadectl cluster join" in problem
    assert service.get("Port") == 0 and service.get("Probing") is False
    assert service.state.questions == []
    assert service.call("ListJobs") == []
    if os.geteuid() == 0:
        assert refused(probe_link, service).name == NOT_JOINED


def test_joining_ends_the_problem(make_host):
    service = LinkProbe(make_host, joined=False)
    for name in ("ca.crt", "crl.pem", "node.crt", "node.key"):
        path = service.host.dir / "config/cluster" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    service.process.signal(signal.SIGHUP)
    service.wait("Problem", "")
    assert service.get("Port") == 7461


def test_port_of_another_is_a_problem(make_host):
    with socket.socket(socket.AF_INET6) as taken:
        taken.bind(("::", 0))
        taken.listen()
        port = taken.getsockname()[1]
        service = LinkProbe(make_host, config=f"[link-probe]\nport={port}\n", isolated=False)
        assert re.search(rf"port {port}: Address already in use", service.get("Problem"))
    # The next look finds it free.
    service.process.signal(signal.SIGHUP)
    service.wait("Problem", "")
    assert service.get("Port") == port


def test_disabled_is_no_problem(make_host):
    service = LinkProbe(make_host, config="[link-probe]\nenabled=false\n", due=[ADDRESS])
    assert service.get("Problem") == "" and service.get("Port") == 0
    assert service.state.questions == []


# What it says it does


def policy(service):
    return service.host.connection().get_all(LINK_PROBE, PATH, "org.alidade.Node1.ProbePolicy")


def wait_policy(service, **fields):
    wait_steadily(lambda: fields.items() <= policy(service).items(), f"{fields} in the policy")


def test_policy_says_what_it_starts(make_host):
    service = LinkProbe(make_host, config="[link-probe]\nrdma=false\nmb-per-hour=5\nlink-ttl=60\n")
    assert policy(service)["Starts"] == ["socket"] and policy(service)["BytesPerHour"] == 5_000_000
    assert policy(service)["IntervalUSec"] == 60_000_000
    lock = service.inhibit("link", "trainer", "epoch 7")
    wait_policy(service, Links="none", Reason="inhibited: trainer: epoch 7")
    os.close(lock)
    wait_steadily(lambda: policy(service)["Links"] != "none", "the end of the lock in the policy")


@pytest.mark.parametrize("config, links", [("[link-probe]\nenabled=false\n", "none"),
                                           ("[link-probe]\nenabled=no\n", "none"), ("[cluster]\nmirror=none\n", None),
                                           ("[cluster]\nmirror=nnoe\n", None)],
                         ids=["disabled", "enabled-no", "mirror-none", "mirror-misspelt"])
def test_policy_of_one_that_starts_nothing(make_host, config, links):
    service = LinkProbe(make_host, config=config)
    assert policy(service)["Starts"] == []
    assert policy(service)["Links"] == links or links is None


def test_what_is_wrong_keeps_it_disabled(make_host):
    """A misspelt key may be any key, so that each keeps its value."""
    service = LinkProbe(make_host, config="[link-probe]\nenabled=false\n")
    for wrong in ("enabled=flase", "enable=false", "[link-prob]\nenabled=false"):
        said = service.process.log_text().count("Reloaded the configuration")
        service.host.write_config(f"[link-probe]\nlink-ttl=60\n{wrong}\n")
        service.process.signal(signal.SIGHUP)
        wait_steadily(lambda: service.process.log_text().count("Reloaded the configuration") > said, "the reload")
        assert (policy(service)["Links"], service.get("Port")) == ("none", 0)


def test_hours_that_are_none_are_never(make_host):
    service = LinkProbe(make_host, config="[link-probe]\nprobe-hours=22-6\n")
    wait_policy(service, Links="round-trips", Reason="hours: outside probe-hours=")
    service.host.write_config("[link-probe]\nprobe-hours=00:00-24:00\n")
    service.process.signal(signal.SIGHUP)
    wait_policy(service, Links="full")


def test_work_leaves_links_alone(make_host):
    """Only round trips are measured, whatever the state service has not heard yet."""
    service = LinkProbe(make_host)
    lock = service.inhibit("compute", "trainer", "epoch 7")
    wait_policy(service, Links="round-trips", Reason="work: inhibited by trainer: epoch 7")
    wait_first_question(service)
    service.state.make_due(peer=OTHER, Scope="full")
    service.state.make_due(Scope="round-trips")
    service.process.signal(signal.SIGHUP)
    service.probe.wait_for_calls(1)
    service.wait_idle()
    call, = service.probe.calls()
    assert f"--peer={PEER}" in call and "--round-trips" in call
    os.close(lock)


def test_scopes_of_probes(make_host):
    service = LinkProbe(make_host)
    wait_first_question(service)
    service.state.make_due(Scope="check")
    service.process.signal(signal.SIGHUP)
    assert "--check" in service.probe.wait_for_calls(1)[0]
    service.wait_idle()


@needs_namespaces
def test_peer_that_is_not_to_be_loaded_has_its_round_trips_measured(make_host):
    """It says so itself, whatever the state service has heard of it. It is no failure, and tried again later."""
    service = LinkProbe(make_host, behaviour="working")
    wait_first_question(service)
    service.state.make_due(Scope="full", Overdue=True)
    service.process.signal(signal.SIGHUP)
    whole, brief = sorted(service.probe.wait_for_calls(2), key=lambda call: "--round-trips" in call)
    service.wait_idle()
    assert {"--automatic", "--overdue"} <= set(whole) and "--round-trips" not in whole
    assert {"--automatic", "--round-trips"} <= set(brief) and "--overdue" not in brief
    record = service.link()
    assert record["RttP50NSec"] == 50_000 and record["Failure"] == ""
    # Not again at once; round trips are due as ever.
    service.state.make_due(Scope="check")
    service.process.signal(signal.SIGHUP)
    wait_steadily(lambda: not service.state.due, "the check to be told")
    service.state.make_due(Scope="round-trips")
    service.process.signal(signal.SIGHUP)
    assert all("--round-trips" in call for call in service.probe.wait_for_calls(3) if call != whole)
    service.wait_idle()
    # By hand it is another matter.
    service.probe.does("good")
    service.wait_job(probe_link(service, options={"Address": ADDRESS}), "done")
    assert [call for call in service.probe.calls() if "--automatic" not in call]


# Holding off


def test_lock_is_held_and_released(make_host):
    service = LinkProbe(make_host, joined=False)
    lock = service.inhibit("link:compute", "trainer", "epoch 7")
    assert service.get("Inhibited") == ["compute", "link"]
    (what, who, why, uid, pid, number), = service.call("ListInhibitors")
    assert (what, who, why, uid) == ("link:compute", "trainer", "epoch 7", os.geteuid()) and pid > 0
    assert number > 0
    copy = os.dup(lock)
    os.close(lock)
    assert service.get("Inhibited") == ["compute", "link"]
    os.close(copy)
    service.wait("Inhibited", [])
    assert service.call("ListInhibitors") == []
    # What its holder writes is no matter.
    lock = service.inhibit()
    with pytest.raises(BlockingIOError):
        while True:
            os.write(lock, b"x" * 65536)
    assert service.get("Inhibited") == ["link"]
    service.restart()
    assert service.get("Inhibited") == ["link"]
    os.close(lock)
    service.wait("Inhibited", [])


def test_locks_outlive_the_service(make_host):
    service = LinkProbe(make_host, joined=False)
    kept, gone = service.inhibit("rdma", "kept", "stays"), service.inhibit("link", "gone", "goes meanwhile")
    before = service.call("ListInhibitors")
    service.process.stop()
    os.close(gone)
    service.start()
    assert service.get("Inhibited") == ["rdma"]
    assert service.call("ListInhibitors") == [row for row in before if row[1] == "kept"]
    service.host.allowed_problems.append("link-probed")
    service.process.kill()
    service.start()
    assert service.get("Inhibited") == ["rdma"]
    os.close(kept)
    service.wait("Inhibited", [])
    assert os.listdir(service.host.dir / "runtime/link-probed/inhibit") == []


HOLDER = """import gi, signal, sys
gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib
bus = Gio.DBusConnection.new_for_address_sync(sys.argv[1],
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
reply, fds = bus.call_with_unix_fd_list_sync("org.alidade.LinkProbe1", "/org/alidade/LinkProbe1",
    "org.alidade.LinkProbe1", "Inhibit", GLib.Variant("(sss)", ("link", "holder", "dies soon")), None, 0, -1, None,
    None)
bus.close_sync(None)
signal.pause()
"""


def test_holder_that_is_killed_holds_no_more(make_host):
    service = LinkProbe(make_host, joined=False)
    holder = service.host.spawn(["/usr/bin/python3", "-c", HOLDER, service.host.bus.address], "holder")
    service.wait("Inhibited", ["link"])
    assert service.call("ListInhibitors")[0][4] == holder.pid
    holder.kill()
    service.wait("Inhibited", [])


RUBBISH_LOCKS = [
    ("", "me", "so"), ("links", "me", "so"), ("link:", "me", "so"), (":link", "me", "so"), ("link:link", "me", "so"),
    ("LINK", "me", "so"), ("link", "", "so"), ("link", "me", ""), ("link", "me\n", "so"), ("link", "me", "\x1b[31m"),
    ("link", "x" * 256, "so"), ("link", "me", "y" * 256), ("x" * 100000, "me", "so")]


def test_rubbish_holds_nothing_and_locks_are_limited(make_host):
    service = LinkProbe(make_host, joined=False)
    for what, who, why in RUBBISH_LOCKS:
        assert refused(service.inhibit, what, who, why).name == INVALID_ARGS, (what[:9], who[:9], why[:9])
        assert service.call("ListInhibitors") == [], (what[:9], who[:9], why[:9])
    files = service.files()
    locks = [service.inhibit() for _ in range(32)]
    assert refused(service.inhibit).name == LIMITS_EXCEEDED
    os.close(locks.pop())
    wait_steadily(lambda: len(service.call("ListInhibitors")) == 31, "one lock less")
    locks.append(service.inhibit())
    for lock in locks:
        os.close(lock)
    service.wait("Inhibited", [])
    service.wait_files(files)


@needs_namespaces
def test_limit_is_of_each_user(make_host):
    service = LinkProbe(make_host, joined=False, service_users=True)
    locks = [service.inhibit() for _ in range(32)]
    locks.append(service.inhibit(user="nobody"))
    assert {row[3] for row in service.call("ListInhibitors", user="nobody")} == {0, 65534}
    for lock in locks:
        os.close(lock)


@needs_namespaces
def test_a_holder_of_another_pid_namespace_has_no_pid(make_host):
    """Which is no reason to refuse it: alidadectl, outside of the machine whose bus it uses."""
    service = LinkProbe(make_host, joined=False, service_users=True)
    command = [build_dir() / "clients/alidadectl/alidadectl", "inhibit", "--what=link", "--why=so", "--", "sleep", "60"]
    holding = subprocess.Popen(command, env={**os.environ, "ALIDADE_BUS_ADDRESS": service.host.bus.address})
    try:
        service.wait("Inhibited", ["link"])
        assert service.call("ListInhibitors")[0][3:5] == (0, 0)
    finally:
        holding.kill()
        holding.wait()
    service.wait("Inhibited", [])


@needs_namespaces
def test_root_ends_a_lock(make_host):
    """Issue 12, item 3: somebody holds off probes for good."""
    service = LinkProbe(make_host, joined=False, service_users=True, polkit=True)
    files = service.files()
    locks = [service.inhibit(user="nobody"), service.inhibit(what="compute", user="alidade-state")]
    numbers = {row[3]: row[5] for row in service.call("ListInhibitors")}
    # Another user may not, without polkit; the same one may.
    assert refused(service.call, "ReleaseInhibitor", "u", (numbers[65534],), user="alidade-state").name in REFUSALS
    assert service.host.alidadectl("inhibit", f"--release={numbers[65534]}").stdout == ""
    service.wait("Inhibited", ["compute"])
    done = service.host.alidadectl("inhibit", f"--release={numbers[65534]}", check=False)
    assert done.returncode == 1 and f"Lock {numbers[65534]} does not exist" in done.stderr
    (number,) = [row[5] for row in service.call("ListInhibitors")]
    service.call("ReleaseInhibitor", "u", (number,), user="alidade-state")
    service.wait("Inhibited", [])
    for lock in locks:
        os.close(lock)
    service.wait_files(files)


def test_damaged_locks_are_set_aside(make_host):
    service = LinkProbe(make_host, joined=False)
    lock = service.inhibit()
    folder = service.host.dir / "runtime/link-probed/inhibit"
    service.process.stop()
    (folder / "7.lock").write_text("[Inhibitor]\nWhat=link\n")
    os.mkfifo(folder / "8.fifo")
    (folder / "9.lock").write_text("\0\xff")
    (folder / "9.fifo").write_text("no FIFO")
    (folder / "strange").mkdir()
    service.start()
    assert [row[1] for row in service.call("ListInhibitors")] == ["test"]
    assert {name.partition(".")[0] for name in os.listdir(folder)} == {"1", "strange"}
    os.close(lock)
    service.wait("Inhibited", [])


# What is due


@needs_namespaces
def test_due_link_is_measured_and_shown(make_host):
    service = LinkProbe(make_host, due=[ADDRESS])
    service.host.objects(LINK_PROBE, PATH).wait(lambda objects: any(SOCKET in found for found in objects.values()))
    record = service.link()
    shown = {name: value for name, value in record.items() if value not in ("", ABSENT)}
    shown = {name: value for name, value in shown.items() if value == value and value != []}
    assert shown.pop("MeasuredUSec") > 1_700_000_000_000_000 and shown.pop("UpdatedUSec")
    assert shown.pop("RttMeasuredUSec") == record["MeasuredUSec"]
    assert shown == {
        "Source": service.own_id, "Sink": PEER, "SinkAddress": ADDRESS, "SourceInterface": "lan0",
        "SourceInterfaceType": "ethernet", "SinkInterface": "eth7", "SinkInterfaceType": "ethernet",
        "UploadBitsPerSecond": 50_000_000, "DownloadBitsPerSecond": 200_000_000, "UploadInterval": 0.4,
        "DownloadInterval": 1.5, "UploadSpread": 2.0, "DownloadSpread": 3.25, "UploadOtherBitsPerSecond": 1000,
        "DownloadOtherBitsPerSecond": 0, "UploadLimiter": "network", "DownloadLimiter": "sender",
        "SpotUploadBitsPerSecond": 51_000_000, "SpotDownloadBitsPerSecond": 199_000_000,
        "UploadMeanBitsPerSecond": 49_000_000, "RttMinNSec": 40_000, "RttP50NSec": 50_000, "RttP99NSec": 90_000,
        "JitterNSec": 5_000, "Streams": 1, "NegotiatedBitsPerSecond": 1_000_000_000,
        "Revision": 1}
    arguments, = service.probe.calls()
    identity = service.host.dir / "config/cluster"
    assert {f"--connect={ADDRESS}", "--port=7461", f"--peer={PEER}", f"--identity={identity}", "--json",
            "--progress-fd=3", "--bytes-max=32000000000"} <= set(arguments)
    most, options = service.state.questions[0]
    assert 0 < most <= 4 and options["BytesPerHour"] == 0
    service.wait_idle()


@needs_namespaces
def test_newest_revocation_list_is_used(make_host):
    service = LinkProbe(make_host)
    service.wait_job(probe_link(service), "done")
    assert not any(word.startswith("--crl") for word in service.probe.calls()[0])
    newest = service.host.state_directory("clusterd") / "crl.pem"
    newest.parent.mkdir(exist_ok=True)
    newest.write_text("")
    service.probe.does("hang")
    job = probe_link(service)
    service.wait_job(job, "running")
    calls = service.probe.wait_for_calls(2)
    assert [f"--crl={newest}" in words for words in calls].count(True) == 1
    # As the one that is probed, too.
    service.host.call(LINK_PROBE, job, JOB, "Cancel")
    service.wait_idle()
    connect(service)(TLS)
    words, = [words for words in service.probe.wait_for_calls(3) if "--session-fd=4" in words]
    assert f"--crl={newest}" in words


@needs_namespaces
def test_record_tells_of_the_last_probe_alone(make_host):
    """The state service keeps the figures and counts failures."""
    service = LinkProbe(make_host, due=[ADDRESS])
    wait_steadily(lambda: service.probe.calls(), "the first probe")
    service.wait_idle()
    service.probe.does("refused")
    service.state.make_due()
    # The next question comes soon after a success.
    service.probe.wait_for_calls(2)
    service.wait_idle()
    record = service.link()
    assert record["Failure"] == "the peer is refused" and record["FailedUSec"] != ABSENT
    assert {record[name] for name in ("UploadBitsPerSecond", "MeasuredUSec", "Failures")} == {ABSENT}


@needs_namespaces
def test_a_route_that_discards_is_named(make_host):
    """Item 17: the kernel says "Invalid argument"."""
    service = LinkProbe(make_host)
    network.ip(service.host, "route", "add", "blackhole", OTHER_ADDRESS)
    service.state.make_due(OTHER_ADDRESS)
    words = "a route of this machine discards what is sent there (blackhole)"
    service.host.objects(LINK_PROBE, PATH).wait(lambda objects: any(SOCKET in found for found in objects.values()))
    assert service.link(OTHER_ADDRESS)["Failure"] == f"cannot reach it: {words}"
    assert service.probe.calls() == []


@needs_namespaces
def test_address_without_a_route_is_a_failure(make_host):
    service = LinkProbe(make_host, due=[OTHER_ADDRESS])
    service.host.objects(LINK_PROBE, PATH).wait(lambda objects: any(SOCKET in found for found in objects.values()))
    assert service.link(OTHER_ADDRESS)["Failure"] == "cannot reach it: Network is unreachable"
    assert service.probe.calls() == []


@needs_namespaces
@pytest.mark.parametrize("behaviour", ["busy", "inhibited"])
def test_busy_peer_is_no_failure_and_left_alone(make_host, behaviour):
    service = LinkProbe(make_host, due=[ADDRESS], behaviour=behaviour)
    service.probe.wait_for_calls(1)
    service.wait_idle()
    refused(service.link)
    service.process.signal(signal.SIGHUP)
    wait_steadily(lambda: service.state.questions[-1][1]["Avoid"] == [PEER], "a question about others")
    assert service.state.questions[-1][1]["AvoidPaths"] == [f"{PEER},{ADDRESS}"]


@needs_namespaces
@pytest.mark.parametrize("behaviour", ["busy", "inhibited"])
def test_job_says_why_the_peer_sends_it_away(make_host, behaviour):
    service = LinkProbe(make_host, behaviour=behaviour)
    job = probe_link(service)
    service.host.wait_for_property(LINK_PROBE, job, JOB, "Phase", lambda phase: phase == f"the peer is {behaviour}")
    service.probe.does("hang")
    service.host.wait_for_property(LINK_PROBE, job, JOB, "Phase", lambda phase: phase == "upload")
    second = probe_link(service)
    assert (service.job(second, "State"), service.job(second, "Phase")) == ("waiting", "")
    service.host.call(LINK_PROBE, job, JOB, "Cancel")
    assert service.wait_job(job, "canceled") and service.job(job, "Phase") == ""


FAILURES = {
    "crash": "the probe failed: it was ended by signal 6 (Aborted)",
    "garbage": "the probe returned no result",
    "half": "the probe returned no result",
    "flood": "the probe sent too much output",
    "flood-side": "the probe sent too much output",
    "odd": "the probe returned no rates",
    "status": "the probe failed: it ended with status 7",
    "refused": "the peer is refused",
}


@needs_namespaces
def test_probe_that_misbehaves_costs_its_result_only(make_host):
    service = LinkProbe(make_host)
    files = service.files()
    for behaviour, failure in FAILURES.items():
        service.probe.does(behaviour)
        job = probe_link(service)
        assert service.wait_job(job, "done", "failed") == "failed", behaviour
        assert service.link()["Failure"] == failure, behaviour
        service.wait_idle()
        service.wait_files(files)
        service.probe.does("good")
        assert service.wait_job(probe_link(service), "done", "failed") == "done", behaviour
        assert service.link()["Failure"] == "" and service.link()["UploadBitsPerSecond"] == 50_000_000, behaviour
        service.wait_idle()


@needs_namespaces
def test_what_a_probe_leaves_behind_goes_with_it(make_host):
    service = LinkProbe(make_host, behaviour="family")
    assert service.wait_job(probe_link(service), "done", "failed") == "done"
    service.wait_idle()
    wait_none_left(service)


@needs_namespaces
def test_missing_program_is_a_failure(make_host):
    service = LinkProbe(make_host)
    (service.probe.folder / "alidade-probe-socket").unlink()
    job = probe_link(service)
    assert service.wait_job(job, "done", "failed") == "failed"
    assert service.job(job, "Error") == f"cannot measure {ADDRESS}: No such file or directory"
    assert service.get("ActiveProbes") == 0


# By hand


@needs_namespaces
def test_job_from_begin_to_end(make_host):
    service = LinkProbe(make_host)
    with service.host.objects(LINK_PROBE, PATH) as objects:
        job = probe_link(service)
        assert re.fullmatch(PATH + r"/job/\d+", job)
        objects.wait_for_interface(job, JOB)
        service.wait_job(job, "done")
    assert_follows(service.host.connection(), LINK_PROBE, job, [JOB])
    assert [service.job(job, name) for name in ("Node", "Address", "Kind", "Progress", "Error", "Phase")] \
        == [PEER, ADDRESS, "Link1.Socket", 1.0, "", ""]
    result = service.job(job, "Result")
    assert result["UploadBitsPerSecond"] == 50_000_000 and result["UploadSeconds"] == 1.25
    assert result["Method"] == "median of 50 ms bins"
    path, = service.job(job, "Paths")
    assert path == {**result, "Address": ADDRESS}
    assert service.call("ListJobs") == [(job, "done")]
    assert service.link()["UploadBitsPerSecond"] == 50_000_000


CHECK = {"Scope": "check", "UploadBitsPerSecond": None, "DownloadBitsPerSecond": None,
         "UploadMeanBitsPerSecond": None, "UploadInterval": None, "DownloadInterval": None, "UploadSpread": None,
         "DownloadSpread": None}


@needs_namespaces
def test_round_trips_alone_are_told_without_other_figures(make_host):
    service = LinkProbe(make_host)
    service.probe.does("good", **{**CHECK, "Scope": "round-trips", "SpotUploadBitsPerSecond": None,
                                  "SpotDownloadBitsPerSecond": None})
    job = probe_link(service, options={"RttOnly": True, "Address": ADDRESS})
    service.wait_job(job, "done")
    assert "--rtt-only" in service.probe.calls()[0]
    assert service.job(job, "Result")["RttP50NSec"] == 50_000
    record = service.link()
    assert record["RttP50NSec"] == 50_000 and record["RttMeasuredUSec"] != ABSENT
    assert {record[name] for name in ("MeasuredUSec", "UploadBitsPerSecond", "SpotUploadBitsPerSecond")} == {ABSENT}


@needs_namespaces
def test_a_check_has_the_path_round_trips_and_spot_rates_alone(make_host):
    service = LinkProbe(make_host)
    service.probe.does("good", **CHECK)
    assert service.wait_job(probe_link(service), "done", "failed") == "done"
    record = service.link()
    told = {name for name, value in record.items() if value not in ("", ABSENT, []) and value == value}
    assert told == {"Source", "Sink", "SinkAddress", "SourceInterface", "SourceInterfaceType", "SinkInterface",
                    "SinkInterfaceType", "NegotiatedBitsPerSecond", "RttMinNSec", "RttP50NSec", "RttP99NSec",
                    "JitterNSec", "SpotUploadBitsPerSecond", "SpotDownloadBitsPerSecond", "RttMeasuredUSec",
                    "Revision", "UpdatedUSec"}
    # A disturbed one does not confirm the rates.
    service.probe.does("good", **{**CHECK, "DownloadOtherBitsPerSecond": 90_000_000})
    assert service.wait_job(probe_link(service), "done", "failed") == "done"
    assert service.link()["SpotDownloadBitsPerSecond"] == ABSENT and service.link()["RttP50NSec"] == 50_000


@needs_namespaces
def test_a_rate_of_0_is_no_figure(make_host):
    service = LinkProbe(make_host)
    service.probe.does("good", UploadBitsPerSecond=0, UploadReason="too little arrived in 20 s")
    job = probe_link(service)
    assert service.wait_job(job, "done", "failed") == "done"
    record = service.link()
    assert record["UploadBitsPerSecond"] == ABSENT and record["UploadInterval"] != record["UploadInterval"]
    assert record["DownloadBitsPerSecond"] == 200_000_000 and record["MeasuredUSec"] != ABSENT
    assert record["Failure"] == "partial: upload: too little arrived in 20 s" and record["FailedUSec"] == ABSENT
    service.probe.does("good", UploadBitsPerSecond=0, DownloadBitsPerSecond=0, DownloadReason="too little arrived")
    job = probe_link(service)
    assert service.wait_job(job, "done", "failed") == "failed"
    assert service.job(job, "Error") == "the probe returned no rates: download: too little arrived"
    # Small packets may pass where full ones are lost.
    record = service.link()
    assert record["RttP50NSec"] == 50_000 and record["RttMeasuredUSec"] == record["FailedUSec"] != ABSENT
    assert record["MeasuredUSec"] == ABSENT


@needs_namespaces
def test_wide_intervals_are_flagged(make_host):
    service = LinkProbe(make_host)
    service.probe.does("good", UploadInterval=26.0)
    job = probe_link(service)
    assert service.wait_job(job, "done", "failed") == "done"
    assert service.link()["Flags"] == ["unsteady"] == service.job(job, "Result")["Flags"]


# Other traffic


@needs_namespaces
def test_disturbed_automatic_measurement_is_repeated_later(make_host):
    """The first figures of a path are shown all the same, and marked."""
    service = LinkProbe(make_host, due=[])
    service.probe.does("good", DownloadOtherBitsPerSecond=90_000_000)
    wait_first_question(service)
    service.state.make_due()
    service.process.signal(signal.SIGHUP)
    service.probe.wait_for_calls(1)
    service.wait_idle()
    first = service.link()
    assert first["Flags"] == ["disturbed"]
    service.state.make_due()
    service.process.signal(signal.SIGHUP)
    service.probe.wait_for_calls(2)
    service.wait_idle()
    assert service.link()["MeasuredUSec"] == first["MeasuredUSec"]
    service.process.signal(signal.SIGHUP)
    wait_steadily(lambda: service.state.questions[-1][1]["AvoidPaths"] == [f"{PEER},{ADDRESS}"],
                  "a question about other paths")


@needs_namespaces
def test_disturbed_check_is_kept_and_not_repeated(make_host):
    service = LinkProbe(make_host, due=[])
    service.probe.does("good", **{**CHECK, "DownloadOtherBitsPerSecond": 90_000_000})
    wait_first_question(service)
    service.state.make_due(Scope="check")
    service.process.signal(signal.SIGHUP)
    service.probe.wait_for_calls(1)
    service.wait_idle()
    record = service.link()
    assert record["RttP50NSec"] == 50_000 and record["RttMeasuredUSec"] != ABSENT
    assert {record[name] for name in ("SpotUploadBitsPerSecond", "SpotDownloadBitsPerSecond")} == {ABSENT}
    asked = len(service.state.questions)
    service.process.signal(signal.SIGHUP)
    wait_steadily(lambda: len(service.state.questions) > asked, "the next question")
    assert service.state.questions[-1][1]["AvoidPaths"] == []


@needs_namespaces
def test_disturbed_job_says_so(make_host):
    service = LinkProbe(make_host)
    service.probe.does("good", DownloadOtherBitsPerSecond=90_000_000)
    job = probe_link(service)
    assert service.wait_job(job, "done", "failed") == "done"
    assert service.job(job, "Result")["Flags"] == ["disturbed"]
    assert service.link()["Flags"] == ["disturbed"]
    # Less than shows in the figure.
    service.probe.does("good", UploadOtherBitsPerSecond=1_000_000, DownloadOtherBitsPerSecond=4_000_000)
    assert service.wait_job(probe_link(service), "done", "failed") == "done"
    assert service.link()["Flags"] == []


# Both ends of the path


@needs_namespaces
def test_a_radio_behind_a_bridge_at_the_other_end_is_told(make_host):
    service = LinkProbe(make_host)
    bridge = {**row("br0", f"{ADDRESS}/24", type="bridge", speed=10_000_000_000),
              "Ports": GLib.Variant("as", ["wlan0"])}
    radio = {**row("wlan0", "192.0.2.99/24", type="wifi", speed=400_000_000), "Addresses": GLib.Variant("as", [])}
    service.state.networks[PEER] = [bridge, radio]
    for name in ("br0", None):
        service.probe.does("good", SinkInterface=name)
        assert service.wait_job(probe_link(service), "done", "failed") == "done"
        record = service.link()
        assert (record["SourceInterfaceType"], record["SinkInterface"], record["SinkInterfaceType"]) == (
            "ethernet", name or "", "wifi")
        assert record["NegotiatedBitsPerSecond"] == 400_000_000


@needs_namespaces
def test_peer_of_which_nothing_is_told(make_host):
    service = LinkProbe(make_host)
    service.probe.does("good", SinkInterface="eth9")
    assert service.wait_job(probe_link(service), "done", "failed") == "done"
    record = service.link()
    assert (record["SinkInterface"], record["SinkInterfaceType"]) == ("eth9", "")
    assert record["NegotiatedBitsPerSecond"] == 1_000_000_000


@needs_namespaces
def test_cancel_ends_the_probe(make_host):
    service = LinkProbe(make_host, behaviour="hang")
    files = service.files()
    job = probe_link(service)
    service.host.wait_for_property(LINK_PROBE, job, JOB, "Progress", lambda progress: progress == 0.25)
    assert service.job(job, "Phase") == "upload" and service.job(job, "State") == "running"
    assert service.get("Probing") is True and service.get("ActiveProbes") == 1
    service.host.call(LINK_PROBE, job, JOB, "Cancel")
    assert service.wait_job(job, "canceled", "failed") == "canceled"
    service.wait_idle()
    service.wait_files(files)
    refused(service.link)
    service.host.call(LINK_PROBE, job, JOB, "Cancel")
    assert service.job(job, "State") == "canceled"


@needs_namespaces
def test_one_probe_uses_an_interface_at_a_time(make_host):
    service = LinkProbe(make_host, behaviour="hang")
    first = probe_link(service)
    service.host.wait_for_property(LINK_PROBE, first, JOB, "Progress", lambda progress: progress == 0.25)
    second = probe_link(service)
    service.wait_job(second, "waiting")
    service.probe.does("good")
    service.host.call(LINK_PROBE, first, JOB, "Cancel")
    assert service.wait_job(second, "done", "failed") == "done"
    assert len(service.probe.calls()) == 2


@needs_namespaces
def test_lock_ends_what_runs_and_refuses_what_comes(make_host):
    service = LinkProbe(make_host, behaviour="hang")
    job = probe_link(service)
    service.wait_job(job, "running")
    lock = service.inhibit("link", "trainer", "epoch 7")
    assert service.wait_job(job, "failed", "canceled", "done") == "failed"
    assert service.job(job, "Error") == "inhibited by trainer: epoch 7"
    service.wait_idle()
    assert refused(probe_link, service).name == INHIBITED
    refused(service.link)
    os.close(lock)
    service.wait("Inhibited", [])
    service.probe.does("good")
    service.wait_job(probe_link(service), "done")


@needs_namespaces
def test_refusal_names_the_oldest_lock_in_few_words(make_host):
    service = LinkProbe(make_host)
    locks = [service.inhibit("compute", "another", "no link"), service.inhibit("link", "w" * 255, "ü" * 127),
             service.inhibit("link", "later", "too")]
    error = refused(probe_link, service)
    assert error.name == INHIBITED
    assert error.message == f"Probes of links are inhibited by {'w' * 64}: {'ü' * 64}"
    for lock in locks:
        os.close(lock)


def test_nodes_are_known_soon_after_the_state_service_is_there(make_host):
    """Until then they compete with strangers for a connection."""
    service = LinkProbe(make_host)
    service.state.connection.call_bus("ReleaseName", "s", (STATE,))
    service.restart()
    wait_steadily(lambda: "Cannot read the addresses" in service.process.log_text(), "the first attempt")
    calls = service.state.stand_in.calls
    calls.clear()
    service.state.connection.own(STATE)

    def is_retried():
        asked = [call.method for call in calls if call.method in ("GetRecords", "GetDueProbes")]
        return ("GetRecords", "GetRecords") in zip(asked, asked[1:])

    # Without a retry of its own, each attempt would come with a question of what is due.
    wait_until(is_retried, "an attempt between two questions")


@needs_namespaces
def test_state_service_that_is_busy_is_no_lock(make_host):
    service = LinkProbe(make_host)

    def refuse(node):
        if node == PEER:
            raise BusError(INHIBITED, "busy")

    service.state.before_answer = refuse
    assert refused(probe_link, service).name == "org.freedesktop.DBus.Error.Failed"
    assert service.call("ListJobs") == []


@needs_namespaces
def test_lock_that_comes_while_the_node_is_looked_up_counts(make_host):
    service = LinkProbe(make_host)
    locks = []
    service.state.before_answer = lambda node: locks.append(service.inhibit()) if node == PEER else None
    error = refused(probe_link, service)
    assert (error.name, error.message) == (INHIBITED, "Probes of links are inhibited by test: the test says so")
    assert len(locks) == 1 and service.call("ListJobs") == [] and service.probe.calls() == []
    os.close(locks.pop())


@needs_namespaces
def test_lock_of_something_else_holds_off_no_link(make_host):
    service = LinkProbe(make_host)
    lock = service.inhibit("compute:rdma")
    assert service.wait_job(probe_link(service), "done", "failed") == "done"
    os.close(lock)


RUBBISH_JOBS = [
    ("me", {}, INVALID_ARGS), ("0" * 32, {}, INVALID_ARGS), (PEER.upper(), {}, INVALID_ARGS),
    (PEER, {"Address": "everywhere"}, INVALID_ARGS), (PEER, {"Address": "fe80::1"}, INVALID_ARGS),
    (PEER, {"Address": "fe80::1%"}, INVALID_ARGS), (PEER, {"Address": "192.0.2.2%lan0"}, INVALID_ARGS),
    (PEER, {"Address": True}, INVALID_ARGS), (PEER, {"RttOnly": "yes"}, INVALID_ARGS),
    (PEER, {"Colour": "red"}, INVALID_ARGS), (PEER, {"Address": "192.0.2.9"}, NO_SUCH_NODE),
    (PEER, {"Address": f"fe80::1%{'x' * 20}"}, INVALID_ARGS),
    ("c" * 32, {}, NO_SUCH_NODE), (OTHER, {}, NO_SUCH_NODE)]


@needs_namespaces
def test_rubbish_makes_no_job(make_host):
    service = LinkProbe(make_host)
    for node, options, name in RUBBISH_JOBS:
        assert refused(probe_link, service, node, options).name == name, (node, options)
        assert service.call("ListJobs") == [], (node, options)
    assert refused(probe_link, service, service.own_id).name == INVALID_ARGS, "the machine itself is no peer"


@needs_namespaces
def test_jobs_are_limited(make_host):
    service = LinkProbe(make_host, behaviour="hang")
    jobs = [probe_link(service) for _ in range(8)]
    assert refused(probe_link, service).name == LIMITS_EXCEEDED
    for job in jobs:
        service.host.call(LINK_PROBE, job, JOB, "Cancel")
    service.wait_idle()
    assert {state for _, state in service.call("ListJobs")} == {"canceled"}


@needs_namespaces
def test_polkit_decides(make_host):
    service = LinkProbe(make_host, polkit=True, service_users=True, behaviour="hang")
    assert refused(probe_link, service, user="nobody").name in REFUSALS
    service.host.polkit.allow(ACTION, "daemon")
    job = probe_link(service, user="daemon")
    with pytest.raises(BusError) as error:
        service.host.call(LINK_PROBE, job, JOB, "Cancel", user="nobody")
    assert error.value.name in REFUSALS
    service.host.call(LINK_PROBE, job, JOB, "Cancel", user="daemon")
    assert service.wait_job(job, "canceled") == "canceled"


@needs_namespaces
def test_service_that_stops_leaves_no_probe(make_host):
    service = LinkProbe(make_host, behaviour="hang")
    service.wait_job(probe_link(service), "running")
    service.probe.wait_for_calls(1)
    service.process.stop()
    wait_none_left(service)


# Others that measure their links to this machine


def connect(service):
    """A connection to the service, from the namespace of its machine."""
    script = "import socket,sys; s = socket.create_connection(('192.0.2.1', 7461)); " \
             "s.send(bytes.fromhex(sys.argv[1])); sys.stdout.buffer.write(s.recv(1) or b'end')"
    return lambda text: service.host.spawn(["/usr/bin/python3", "-c", script, text])


TLS = "160301"


@needs_namespaces
def test_session_is_run_for_who_speaks_tls(make_host):
    service = LinkProbe(make_host, behaviour="hang")
    connect(service)(TLS)
    arguments = service.probe.wait_for_calls(1)[0]
    assert {"--session-fd=4", "--report-fd=3", "--ask", "--port=7461", "--json"} <= set(arguments)
    service.wait("ActiveProbes", 1)
    # The interface of a session is no other probe's.
    job = probe_link(service)
    service.wait_job(job, "waiting")
    assert len(service.probe.calls()) == 1


@needs_namespaces
def test_who_speaks_no_tls_costs_no_process(make_host):
    service = LinkProbe(make_host)
    files = service.files()
    before = service.get("RefusedSessions")
    clients = [connect(service)("474554") for _ in range(5)]
    for client in clients:
        client.wait()
    assert service.get("RefusedSessions") == before + 5
    assert service.probe.calls() == []
    service.wait_files(files)


@needs_namespaces
def test_those_who_say_nothing_keep_nobody_out(make_host):
    service = LinkProbe(make_host, behaviour="hang")
    script = "import socket,time,signal; " \
             "kept = [socket.create_connection(('192.0.2.1', 7461)) for _ in range(200)]; signal.pause()"
    service.host.spawn(["/usr/bin/python3", "-c", script], "silent")
    wait_steadily(lambda: service.get("RefusedSessions") >= 192, "those that were too many")
    assert service.files() < 60
    network.add_address(service.host, "far0", "192.0.2.77/32")
    other = "import socket,signal; s = socket.socket(); s.bind(('192.0.2.77', 0)); " \
            f"s.connect(('192.0.2.1', 7461)); s.send(bytes.fromhex('{TLS}')); signal.pause()"
    service.host.spawn(["/usr/bin/python3", "-c", other], "other")
    service.probe.wait_for_calls(1)


@needs_namespaces
def test_held_off_machine_tells_who_wants_to_measure(make_host):
    service = LinkProbe(make_host)
    lock = service.inhibit("link", "trainer", "epoch 7")
    connect(service)(TLS)
    assert service.probe.wait_for_answers(1) == ["inhibited trainer: epoch 7\n"]
    os.close(lock)


@needs_namespaces
def test_second_session_over_an_interface_is_told_to_come_later(make_host):
    service = LinkProbe(make_host, behaviour="hang", due=[])
    connect(service)(TLS)
    service.wait("ActiveProbes", 1)
    connect(service)(TLS)
    assert service.probe.wait_for_answers(2) == ["\n", "busy another probe uses lan0\n"]


class Responder:
    """Sessions of other nodes with the service, for which time passes while they last."""

    SECONDS = 500  # of each session, which the service ends as soon as it looks at its clock

    def __init__(self, service):
        self.service = service
        self.passed = 0
        self.answers = Counter()

    def pass_time(self, seconds):
        """Once the bus has read what the service wrote before, or it would have taken the bus all that time."""
        self.service.get("ActiveProbes")
        self.passed += seconds
        self.service.clock.set(self.passed)

    def measure(self, node):
        """What a session of that node is told, and then lasts unless it is told to come later."""
        self.service.probe.does("hang", Source=node)
        connect(self.service)(TLS)
        answers = Counter(self.service.probe.wait_for_answers(self.answers.total() + 1))
        answer, = (answers - self.answers).elements()
        self.answers = answers
        if answer == "\n":
            self.pass_time(self.SECONDS)
        # Each question has the service look at its clock.
        wait_steadily(lambda: self.service.get("ActiveProbes") == 0 and not self.service.children(),
                      "the end of the session")
        return answer


@needs_namespaces
def test_node_that_measures_without_end_has_a_budget(make_host):
    """Issue 12, 11: a node that has used up its budget has to wait until that is back, and another one does not."""
    responder = Responder(LinkProbe(make_host, own_clock=True))
    spent = "busy the requesting node has measured for 15 minutes in the last hour, which is its limit\n"
    assert [responder.measure(PEER) for _ in range(4)] == ["\n", "\n", "\n", spent]
    assert responder.measure(OTHER) == "\n"
    assert responder.measure(PEER) == spent
    responder.pass_time(3600)
    assert responder.measure(PEER) == "\n"


@needs_namespaces
@pytest.mark.parametrize("behaviour, answer", [
    ("automatic-full", "round-trips-only work: inhibited by trainer: epoch 7\n"),
    ("automatic-check", "round-trips-only work: inhibited by trainer: epoch 7\n"),
    ("automatic-round-trips", "\n"), ("good", "\n")])
def test_who_has_work_is_not_loaded_unless_by_hand(make_host, behaviour, answer):
    service = LinkProbe(make_host, behaviour=behaviour)
    lock = service.inhibit("compute", "trainer", "epoch 7")
    wait_policy(service, Links="round-trips")
    connect(service)(TLS)
    assert service.probe.wait_for_answers(1) == [answer]
    os.close(lock)


@needs_namespaces
@pytest.mark.parametrize("unknown, behaviour", [("what it measures", "shy"), ("who it is", "silent")])
def test_who_has_not_said_holds_off_nothing(make_host, unknown, behaviour):
    service = LinkProbe(make_host, behaviour=behaviour, due=[])
    connect(service)(TLS)
    service.probe.wait_for_calls(1)
    assert service.get("ActiveProbes") == 0, f"one that has not said {unknown}"
    service.probe.does("good")
    job = probe_link(service, options={"Address": ADDRESS})
    service.wait_job(job, "done")
