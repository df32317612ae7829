# SPDX-License-Identifier: LGPL-2.1-or-later
"""link-probed measures compute devices: what is due, what is asked for, whom it leaves alone, who holds it off, and
probes that misbehave."""

import contextlib
import fnmatch
import os
import re
import signal
import time

import pytest
from gi.repository import GLib

from bedlib import BusError, StandIn
from bedlib.fixtures import needs_namespaces
from bedlib.waiting import wait_steadily
from compute_probe import DEVICES, GPU, OTHER_GPU, ROW, ComputeProbe
from link_probe import JOB, LINK_PROBE, PATH, PEER

ABSENT = 2 ** 64 - 1
INVALID_ARGS = "org.freedesktop.DBus.Error.InvalidArgs"
NO_SUCH_DEVICE = "org.alidade.Error.NoSuchDevice"
BUSY = "busy: other work was running"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may probe without polkit")


@pytest.fixture(name="computing")
def _computing(make_host):
    made = []

    def make(**options):
        made.append(ComputeProbe(make_host, **options))
        return made[-1]
    yield make
    for service in made:
        service.processors.end()


def refused(function, *args, **options):
    with pytest.raises(BusError) as error:
        function(*args, **options)
    return error.value


def error_or_job(service, device):
    try:
        return None, service.probe_compute(device)
    except BusError as error:
        return error.name, None


def is_alive(pid):
    """Not so once nobody can find anything of it but its end."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# What is due


def test_due_device_is_measured_and_shown(computing):
    service = computing(due=["cpu"])
    row = service.wait_row("cpu")
    assert row.pop("MeasuredUSec") > 1_700_000_000_000_000
    known = {name: value for name, value in ROW.items()
             if name not in ("Name", "Platform", "MemoryBandwidthMethod", "MeasuredUSec")}
    assert row == {**known, "DriverVersion": "3.1"}
    words, = service.runs()
    assert words == ["--json", "--progress-fd=3", "--device=cpu",
                     "--metric=gemm,read,copy,peak,to-device,to-host", "--give-way"]
    service.wait_idle()
    assert service.get("ComputeDevice") == "" and service.get("TimeToFreeUSec") == ABSENT


def test_devices_follow_each_other(computing):
    service = computing(due=[GPU, "cpu", OTHER_GPU])
    for device in (GPU, "cpu", OTHER_GPU):
        service.wait_row(device)
    rows = service.rows()
    assert [rows[device].get("DriverVersion") for device in (GPU, "cpu", OTHER_GPU)] == ["555.1", "3.1", None]


@needs_root
def test_what_is_no_device_of_ours_is_not_measured(computing):
    service = computing(due=["display"])
    wait_steadily(lambda: not service.state.due_devices, "the question")
    service.wait_job(service.probe_compute(GPU), "done")
    assert list(service.rows()) == [GPU] and len(service.runs()) == 1


def test_failure_stands_beside_the_figures(computing):
    service = computing(due=[GPU])
    good = service.wait_row(GPU)
    service.does("crash")
    service.state.make_device_due(GPU)
    row = service.wait_row(GPU, lambda row: "Failure" in row)
    # The state service puts it beside the figures, and counts it.
    assert row.pop("FailedUSec") >= good["MeasuredUSec"]
    assert row == {"Failure": "the probe failed: it was ended by signal 6 (Aborted)"}


def test_part_of_a_measurement_is_kept(computing):
    row = {name: value for name, value in ROW.items() if "Gemm" not in name and name != "TflopsFp16"}
    row["Errors"] = {"gemm": {"error": "crashed", "message": "the driver crashed, in bed-8x8"}}
    service = computing(due=[GPU], row=row)
    found = service.wait_row(GPU)
    assert found["Failure"] == "gemm: the driver crashed, in bed-8x8" and found["FailedUSec"] == found["MeasuredUSec"]
    assert found["MemoryBandwidthBytesPerSecond"] == 900_000_000 and "GemmTflops" not in found


@pytest.mark.parametrize("row", [
    {**ROW, "Flags": ["busy", "unstable"]},
    {"Errors": {"gemm": {"error": "busy", "message": "met other work"}}}])
def test_measurement_that_met_other_work_counts_for_nothing(computing, row):
    service = computing(due=[GPU])
    assert service.wait_row(GPU)["GemmTflops"] == 12.5
    service.does("good", {**row, "GemmTflops": 0.5})
    service.state.make_device_due(GPU)
    found = service.wait_row(GPU, lambda row: "Failure" in row)
    assert found["Failure"] == BUSY and "GemmTflops" not in found


def test_disabled_measures_only_what_is_asked_for(computing):
    service = computing(due=[GPU], config="[link-probe]\ncompute=false\n")
    if os.geteuid() == 0:
        assert service.wait_job(service.probe_compute(GPU), "done", "failed") == "done"
    assert service.state.device_questions == []


# Whom it leaves alone


@needs_root
def test_busy_processors_are_left_alone(computing):
    service = computing(due=["cpu"], usage=0.3)
    wait_steadily(lambda: service.state.device_questions, "a question")
    assert service.state.device_questions[0] == ["cpu"]
    job = service.probe_compute("cpu")
    service.host.wait_for_property(LINK_PROBE, job, JOB, "Phase",
                                   lambda phase: re.fullmatch("the processors are (29|30|31) % in use", phase))
    assert service.job(job, "State") == "waiting" and service.runs() == []
    service.processors.usage = 0.05
    service.wait_job(job, "done")
    assert "GemmTflops" in service.rows()["cpu"]


@needs_root
def test_gpus_in_use_are_left_alone(computing):
    service = computing()
    service.state.usage = {GPU: 11.0}
    error = refused(service.probe_compute, GPU)
    assert error.name == "org.alidade.Error.Busy" and "in use" in error.message
    job = service.probe_compute()
    service.wait_job(job, "done")
    assert sorted(name for name, row in service.rows().items() if "GemmTflops" in row) == [OTHER_GPU, "cpu"]


@needs_root
def test_loaded_model_is_work(computing):
    service = computing()
    service.state.usage, service.state.processes = {GPU: 0.0, OTHER_GPU: 0.0}, {GPU: 1, OTHER_GPU: 0}
    error = refused(service.probe_compute, GPU)
    assert error.name == "org.alidade.Error.Busy" and "processes compute on it" in error.message
    row = service.wait_row(GPU, lambda row: "WaitingReason" in row)
    assert row["WaitingReason"] == "processes compute on it" and row["WaitingSinceUSec"] > 1_700_000_000_000_000
    service.state.processes[GPU] = 0
    service.wait_job(service.probe_compute(GPU), "done")
    assert "WaitingReason" not in service.rows()[GPU]


def policy(service):
    return service.host.connection().get_all(LINK_PROBE, PATH, "org.alidade.Node1.ProbePolicy")


def wait_reason(service, reason):
    wait_steadily(lambda: policy(service).get("Reason", "") == reason, f"the reason {reason!r}")


def make_tick(service):
    """A lock that ends makes the service ask for the records of its node soon."""
    os.close(service.inhibit("rdma"))
    service.wait("Inhibited", [])


def test_processes_are_work_until_telemetry_falls_silent(computing):
    service = computing(joined=True)
    service.state.processes = {GPU: 1}
    make_tick(service)
    wait_reason(service, f"work: processes compute on {GPU}")
    # Without an answer the processes count as before.
    asked = []

    def refuse(node):
        asked.append(node)
        raise BusError("org.freedesktop.DBus.Error.NoReply", "busy")

    service.state.before_answer = refuse
    make_tick(service)
    wait_steadily(lambda: asked.count(service.own_id) >= 3, "questions without an answer")
    assert policy(service)["Reason"] == f"work: processes compute on {GPU}"
    service.state.before_answer = lambda node: None
    service.state.system_usec = int(time.time() * 1e6) - 130_000_000
    make_tick(service)
    wait_reason(service, "")


def test_own_probe_is_no_work(computing):
    service = computing(joined=True)
    questions = []

    def show_own_probe(node):
        if node == service.own_id and service.runs():
            service.state.processes[GPU] = 1
            questions.append(len(service.state.device_questions))

    service.state.before_answer = show_own_probe
    service.state.make_device_due(GPU)
    service.wait_row(GPU)
    asked = len(service.state.device_questions)
    wait_steadily(lambda: any(number > asked for number in questions), "the records after the measurement")
    # Over the connection of the answer, so after it.
    found = service.state.connection.get_all(LINK_PROBE, PATH, "org.alidade.Node1.ProbePolicy")
    assert found.get("Reason", "") == ""


@pytest.mark.parametrize("how", ["asleep", "lock"])
def test_wait_ends_with_what_it_waited_for(computing, how):
    service = computing(due=[GPU])
    service.wait_row(GPU)
    # Long ago, so that it is due, and not woken for that.
    service.state.measured, service.state.processes = {GPU: 1_000_000}, {GPU: 1}
    make_tick(service)
    service.wait_row(GPU, lambda row: "WaitingReason" in row)
    lock = None
    if how == "asleep":
        service.state.processes, service.state.asleep = {}, {GPU}
        make_tick(service)
    else:
        lock = service.inhibit("compute")
    service.wait_row(GPU, lambda row: not {"WaitingReason", "WaitingSinceUSec"} & row.keys())
    if lock:
        os.close(lock)
        service.wait_row(GPU, lambda row: "WaitingReason" in row)


@needs_root
def test_force_measures_beside_other_work_and_says_so(computing):
    service = computing(usage=0.3, row={**ROW, "Flags": ["busy"]})
    service.state.processes = {GPU: 1}
    service.wait_job(service.probe_compute(GPU, Force=GLib.Variant("b", True)), "done")
    assert "--give-way" not in service.runs()[0] and service.rows()[GPU]["Flags"] == ["busy"]
    service.wait_job(service.probe_compute("cpu", Force=GLib.Variant("b", True)), "done")
    # The state service does not let it replace a good figure.
    service.state.processes = {}
    service.does("good", {**ROW, "Flags": ["unstable"]})
    service.wait_job(service.probe_compute(GPU), "done")
    service.does("good", {**ROW, "Flags": ["busy"], "GemmTflops": 1.5})
    job = service.probe_compute(GPU, Force=GLib.Variant("b", True))
    service.wait_job(job, "done")
    assert service.job(job, "Result")["Devices"][0]["GemmTflops"] == 1.5
    assert service.rows()[GPU]["GemmTflops"] == 1.5 and service.rows()[GPU]["Flags"] == ["busy"]
    lock = service.inhibit("compute")
    assert refused(service.probe_compute, GPU, Force=GLib.Variant("b", True)).name == "org.alidade.Error.Inhibited"
    os.close(lock)
    assert refused(service.probe_compute, GPU, Force=GLib.Variant("s", "yes")).name == INVALID_ARGS


UNIT_PATH = "/org/freedesktop/systemd1/unit/llama_2dserver_2eservice"
SYSTEMD = "org.freedesktop.systemd1"
SYSTEMD_XML = """<node><interface name="org.freedesktop.systemd1.Manager"><method name="Subscribe"/>
<method name="ListUnitsByPatterns"><arg type="as" direction="in"/><arg type="as" direction="in"/>
<arg type="a(ssssssouso)" direction="out"/></method></interface></node>"""


class Systemd:
    """The manager of systemd, as far as it is asked: .active are the units that are, .answers whether it says so."""

    def __init__(self, host, *active, answers=True):
        self.active, self.questions, self.answers = list(active), [], answers
        self.connection = host.new_connection()
        self.stand_in = StandIn(self.connection, "/org/freedesktop/systemd1", SYSTEMD_XML, {},
                                {"Subscribe": lambda: (), "ListUnitsByPatterns": self._list})
        self.connection.own(SYSTEMD)

    def _list(self, states, patterns):
        self.questions.append((states, patterns))
        if not self.answers:
            raise BusError("org.freedesktop.DBus.Error.NoReply", "busy")
        return ([(name, "", "loaded", "active", "running", "", UNIT_PATH, 0, "", "/") for name in self.active
                 if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)],)

    def switch(self, *active):
        self.active = list(active)
        self.connection.emit(UNIT_PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
                             ("org.freedesktop.systemd1.Unit", {}, []))


UNITS = "[link-probe]\nwork-units=llama-*.service;job.scope\n"


def test_active_unit_keeps_devices_from_being_measured(computing):
    systemd = []
    service = computing(due=[GPU], config=UNITS, strict_bus=False, before=lambda host: systemd.append(
        Systemd(host, "llama-server.service", "other.service")))
    row = service.wait_row(GPU, lambda row: "WaitingReason" in row)
    assert row["WaitingReason"] == "llama-server.service is active" and service.runs() == []
    assert systemd[0].questions[0] == (["active", "activating", "deactivating", "reloading"],
                                       ["llama-*.service", "job.scope"])
    assert service.state.device_questions == []
    if os.geteuid() == 0:
        error = refused(service.probe_compute, GPU)
        assert error.name == "org.alidade.Error.Busy" and error.message.startswith("llama-server.service is active")
        service.wait_job(service.probe_compute("cpu", Force=GLib.Variant("b", True)), "done")
    systemd[0].switch("other.service")
    service.wait_row(GPU, lambda row: "GemmTflops" in row)


def test_unit_that_starts_ends_what_was_due(computing):
    systemd = []
    service = computing(due=[GPU], behaviour="hang", config=UNITS, strict_bus=False,
                        before=lambda host: systemd.append(Systemd(host)))
    service.wait("ComputeDevice", GPU)
    wait_steadily(lambda: service.left("child"), "the child of the probe")
    systemd[0].switch("llama-server.service")
    service.wait("ComputeDevice", "")
    assert f"Stopped measuring {GPU}: llama-server.service is active" in service.process.log_text()
    # A requested measurement goes on.
    systemd[0].switch()
    if os.geteuid() == 0:
        job = wait_steadily(lambda: error_or_job(service, GPU)[1], "the end of the unit")
        service.wait_job(job, "running")
        systemd[0].switch("llama-server.service")
        wait_steadily(lambda: error_or_job(service, "none")[0] == "org.alidade.Error.Busy", "the unit")
        assert service.job(job, "State") == "running"


def test_systemd_that_does_not_answer_leaves_what_is_known(computing):
    systemd = []

    def start_systemd(host):
        systemd.append(Systemd(host))
        systemd[0].answers = False

    service = computing(due=[GPU], config=UNITS, strict_bus=False, joined=True, before=start_systemd)
    service.host.allowed_problems.append("link-probed")
    wait_steadily(lambda: systemd[0].questions, "a question without an answer")
    wait_reason(service, "work: the active units are not known yet")
    # It is asked again without a signal.
    systemd[0].active, systemd[0].answers = ["llama-server.service"], True
    wait_reason(service, "work: llama-server.service is active")
    systemd[0].answers = False
    asked = len(systemd[0].questions)
    systemd[0].switch()
    wait_steadily(lambda: len(systemd[0].questions) >= asked + 2, "two questions without an answer")
    assert policy(service)["Reason"] == "work: llama-server.service is active" and service.runs() == []
    assert service.process.log_text().count("Cannot list the units in work-units=") == 2
    systemd[0].answers = True
    wait_reason(service, "")
    service.wait_row(GPU, lambda row: "GemmTflops" in row)


def test_units_of_a_systemd_that_comes_late_are_not_known(computing):
    """Until it answers nobody knows what is at work, whatever was so without it."""
    service = computing(config=UNITS, strict_bus=False, joined=True)
    service.host.allowed_problems.append("link-probed")
    wait_reason(service, "")
    systemd = Systemd(service.host, "llama-server.service", answers=False)
    wait_steadily(lambda: systemd.questions, "a question without an answer")
    wait_reason(service, "work: the active units are not known yet")
    systemd.answers = True
    wait_reason(service, "work: llama-server.service is active")


def test_units_without_systemd_have_no_effect(computing):
    service = computing(due=[GPU], config=UNITS)
    service.wait_row(GPU)
    assert service.process.log_text().count("work-units= has no effect: systemd is not on the system bus") == 1


@pytest.mark.parametrize("units, reason", [
    ("llama-server", "the name of a unit must end in its type, as in llama-server.service or job-*.scope"),
    ("a b.service", "the name of a unit can contain only letters, digits"),
    ("x" * 250 + ".service", "the name of a unit can have at most 255 characters"),
    (";".join(["a.service"] * 65), "more than 64 units")])
def test_units_that_are_none_are_refused(computing, units, reason):
    """Nobody knows then what is work, so that it is left alone until they are mended."""
    service = computing(due=[GPU], config=f"[link-probe]\nwork-units={units}\n", joined=True)
    wait_reason(service, "work: the value of work-units= was refused")
    make_tick(service)
    log = service.process.log_text()
    assert f"[link-probe] work-units={units[:64]} refused: {reason}" in log and "has no effect" not in log
    assert service.runs() == []
    service.host.write_config("[link-probe]\nwork-units=\n")
    service.process.signal(signal.SIGHUP)
    service.wait_row(GPU, lambda row: "GemmTflops" in row)


@needs_namespaces
def test_processors_and_links_are_measured_one_after_the_other(computing):
    service = computing(joined=True, behaviour="hang")
    compute = service.probe_compute("cpu")
    service.wait("ComputeDevice", "cpu")
    link = service.call("ProbeLink", "sa{sv}", (PEER, {}))
    service.wait_job(link, "waiting")
    assert service.probe.calls() == []
    service.probe.does("hang")
    service.host.call(LINK_PROBE, compute, JOB, "Cancel")
    service.wait_job(link, "running")
    service.does("good")
    again = service.probe_compute("cpu")
    service.host.wait_for_property(LINK_PROBE, again, JOB, "Phase",
                                   lambda phase: phase.startswith("links are being measured"))
    # A GPU is in nobody's way.
    service.wait_job(service.probe_compute(GPU), "done")
    service.host.call(LINK_PROBE, link, JOB, "Cancel")
    service.wait_job(again, "done")


# It finds models on one file system, and reads without end.
STORAGE_PROBE = """#!/bin/sh
case "$*" in
*--list*) echo '{"FileSystems": [{"Id": "/srv", "FileSystemType": "ext4", "Disks": ["sda"], "Rotational": false,'\\
        '"ModelFiles": 2, "ModelBytes": 300000000000}], "Errors": []}' ;;
*) exec sleep infinity ;;
esac
"""


@needs_root
def test_devices_and_file_systems_are_measured_one_after_the_other(computing):
    """A processor moves the data that is read, and a device measures what it moves."""
    service = computing()
    program = service.probe.folder / "alidade-probe-storage"
    program.write_text(STORAGE_PROBE)
    program.chmod(0o755)

    def begin():
        with contextlib.suppress(BusError):
            return service.call("ProbeStorage", "sa{sv}", ("/srv", {}))
    storage = wait_steadily(begin, "the list of file systems", 60)
    service.wait_job(storage, "running")
    compute = service.probe_compute(GPU)
    service.host.wait_for_property(LINK_PROBE, compute, JOB, "Phase",
                                   lambda phase: phase.startswith("file systems are being measured"))
    assert service.runs() == []
    service.host.call(LINK_PROBE, storage, JOB, "Cancel")
    service.wait_job(compute, "done")


# Holding off


@needs_root
@pytest.mark.parametrize("behaviour", ["hang", "stubborn"])
def test_lock_kills_what_runs_and_refuses_what_comes(computing, behaviour):
    service = computing(behaviour=behaviour)
    job = service.probe_compute(GPU)
    service.host.wait_for_property(LINK_PROBE, job, JOB, "Phase", lambda phase: phase == "read settle")
    assert service.job(job, "Progress") == pytest.approx(1.4 / 6)
    (probe, child), = zip(service.left("compute"), service.left("child"))
    outer = [int(pid) for pid in service.children()]
    assert outer and probe and child
    lock = service.inhibit("compute", "trainer", "epoch 7")
    service.wait_job(job, "failed")
    error = re.fullmatch(r"inhibited by trainer: epoch 7; the device was free after ([\d.]+) (µs|ms|s)",
                         service.job(job, "Error"))
    freed = service.get("TimeToFreeUSec")
    assert error and freed == pytest.approx(float(error[1]) * {"µs": 1, "ms": 1e3, "s": 1e6}[error[2]], rel=0.006)
    print(f"the device was free after {freed} µs")
    assert service.get("ComputeDevice") == "" and not any(map(is_alive, outer))
    refusal = refused(service.probe_compute, GPU)
    assert (refusal.name, refusal.message) == \
        ("org.alidade.Error.Inhibited", "Measuring compute devices is inhibited by trainer: epoch 7")
    assert refused(service.rows)
    os.close(lock)
    service.wait("Inhibited", [])
    service.does("good")
    service.wait_job(service.probe_compute(GPU), "done")


def test_lock_ends_what_was_due(computing):
    service = computing(due=[GPU], behaviour="hang")
    service.wait("ComputeDevice", GPU)
    wait_steadily(lambda: service.left("child"), "the child of the probe")
    lock = service.inhibit("compute:link", "trainer", "epoch 7")
    service.wait("ComputeDevice", "")
    assert service.get("TimeToFreeUSec") < ABSENT and refused(service.rows)
    assert f"Stopped measuring {GPU}: inhibited by trainer: epoch 7; the device was free" in service.process.log_text()
    # What only links are held off for goes on.
    os.close(lock)
    service.wait("Inhibited", [])
    service.does("good")
    service.state.make_device_due(GPU)
    other = service.inhibit("link")
    service.wait_row(GPU)
    os.close(other)


@needs_root
def test_disabling_ends_what_was_due_only(computing):
    service = computing(due=[GPU], behaviour="hang", joined=True)
    service.wait("ComputeDevice", GPU)
    wait_steadily(lambda: service.left("child"), "the child of the probe")
    service.host.write_config("[link-probe]\ncompute=false\n")
    service.process.signal(signal.SIGHUP)
    service.wait("ComputeDevice", "")
    assert f"Stopped measuring {GPU}: this machine no longer measures compute devices; the device was free" \
        in service.process.log_text()
    # A requested measurement goes on.
    job = service.probe_compute(GPU)
    service.wait_job(job, "running")
    service.host.write_config("[link-probe]\ncompute=false\nenabled=false\n")
    service.process.signal(signal.SIGHUP)
    wait_reason(service, "disabled")
    assert service.job(job, "State") == "running" and service.get("ComputeDevice") == GPU


def test_nothing_is_due_while_it_is_held_off(computing):
    service = computing()
    lock = service.inhibit("compute")
    questions = len(service.state.device_questions)
    service.state.make_device_due(GPU)
    service.process.stop()
    service.start()
    assert service.get("Inhibited") == ["compute"]
    os.close(lock)
    service.wait_row(GPU)
    assert len(service.state.device_questions) > questions


@needs_root
def test_cancel_ends_the_probe_with_its_child(computing):
    service = computing(behaviour="hang")
    files = service.files()
    job = service.probe_compute(GPU)
    service.host.wait_for_property(LINK_PROBE, job, JOB, "Phase", lambda phase: phase == "read settle")
    service.host.call(LINK_PROBE, job, JOB, "Cancel")
    assert service.wait_job(job, "canceled", "failed") == "canceled"
    service.wait_idle()
    service.wait_files(files)
    assert refused(service.rows)


def test_service_that_is_killed_leaves_no_probe_behind_that_is_found(computing):
    service = computing(due=[GPU], behaviour="hang")
    service.wait("ComputeDevice", GPU)
    wait_steadily(lambda: service.left("child"), "the child of the probe")
    outer = [int(pid) for pid in service.children()]
    service.process.stop()
    assert not any(map(is_alive, outer))


# Probes that misbehave


FAILURES = {
    "crash": "the probe failed: it was ended by signal 6 (Aborted)",
    "garbage": "the probe returned no result",
    "half": "the probe returned no result",
    "flood": "the probe sent too much output",
    "status": "the probe failed: it ended with status 7",
}


@needs_root
def test_probe_that_misbehaves_costs_its_result_only(computing):
    service = computing()
    files = service.files()
    for behaviour, error in FAILURES.items():
        service.does(behaviour)
        job = service.probe_compute(GPU)
        assert service.wait_job(job, "done", "failed") == "failed", behaviour
        assert service.job(job, "Error") == error == service.rows()[GPU]["Failure"], behaviour
        service.wait_idle()
        service.wait_files(files)
        service.does("good")
        service.wait_job(service.probe_compute(GPU), "done")
        assert "Failure" not in service.rows()[GPU], behaviour
        service.wait_idle()


@needs_root
def test_odd_figures_are_none(computing):
    service = computing(row={
        **ROW, "GemmTflops": -1, "GemmMedianTflops": "much", "PeakTflops": 1e400, "Precision": "\x1b[31m",
        "ClockHz": 2 ** 60, "Flags": ["x" * 300], "ThrottleReasons": [1], "CopyBandwidthBytesPerSecond": 0,
        "Failure": "me", "Failures": 7, "FailedUSec": 1, "More": {"a": [1]}, "Id": "another"})
    job = service.probe_compute(GPU)
    assert service.wait_job(job, "done", "failed") == "failed"
    service.does("good", {**ROW, "GemmTflops": -1, "Flags": ["x" * 300], "ClockHz": 2 ** 60, "Id": "another"})
    service.wait_job(service.probe_compute(GPU), "done")
    row = service.rows()[GPU]
    assert list(service.rows()) == [GPU] and row["PeakTflops"] == 20.0
    assert not {"GemmTflops", "Flags", "ClockHz"} & row.keys()


@needs_root
def test_missing_program_is_a_failure(computing):
    service = computing()
    (service.probe.folder / "alidade-probe-compute").unlink()
    job = service.probe_compute(GPU)
    service.wait_job(job, "failed")
    assert service.job(job, "Error") == f"cannot measure {GPU}: No such file or directory"
    service.state.make_device_due(GPU)
    assert service.wait_row(GPU)["Failure"] == "cannot run the probe: No such file or directory"


def test_another_run_of_the_program_is_waited_for(computing):
    service = computing(due=[GPU], behaviour="locked")
    wait_steadily(service.runs, "the first run")
    service.wait_idle()
    assert refused(service.rows)


# By hand


@needs_root
def test_job_from_begin_to_end(computing):
    service = computing()
    job = service.probe_compute(GPU)
    service.wait_job(job, "done")
    assert [service.job(job, name) for name in ("Node", "Address", "Device", "Kind", "Progress", "Error", "Phase")] \
        == [service.own_id, "", GPU, "Node1.Compute", 1.0, "", ""]
    row, = service.job(job, "Result")["Devices"]
    assert row["Id"] == GPU and row["Name"] == "Bed Device" and row["GemmTflops"] == 12.5
    assert row["Flags"] == ["unstable"] and "Failure" not in row
    assert service.call("ListJobs") == [(job, "done")]


@needs_root
def test_all_devices_are_one_job(computing):
    service = computing()
    job = service.probe_compute()
    service.wait_job(job, "done")
    assert sorted(row["Id"] for row in service.job(job, "Result")["Devices"]) == sorted([GPU, OTHER_GPU, "cpu"])
    assert sorted(service.rows()) == sorted([GPU, OTHER_GPU, "cpu"])


@needs_root
def test_some_of_the_metrics_are_no_record(computing):
    service = computing()
    job = service.probe_compute(GPU, metrics=["read", "gemm"])
    service.wait_job(job, "done")
    assert "--metric=gemm,read" in service.runs()[0]
    assert service.job(job, "Result")["Devices"][0]["GemmTflops"] == 12.5
    assert refused(service.rows)


@needs_root
@pytest.mark.parametrize("device, of", [(GPU, 4), (OTHER_GPU, 6)])
def test_progress_counts_what_applies(computing, device, of):
    """Nothing is copied to or from a device that computes in host memory."""
    service = computing(behaviour="hang", devices={**DEVICES, GPU: {**DEVICES[GPU], "Unified": True}})
    job = service.probe_compute(device)
    service.host.wait_for_property(LINK_PROBE, job, JOB, "Phase", lambda phase: phase == "read settle")
    assert service.job(job, "Progress") == pytest.approx(1.4 / of)
    service.host.call(LINK_PROBE, job, JOB, "Cancel")
    service.wait_job(job, "failed", "canceled")


@needs_root
def test_one_device_at_a_time(computing):
    service = computing(behaviour="hang")
    first = service.probe_compute(GPU)
    service.host.wait_for_property(LINK_PROBE, first, JOB, "Phase", lambda phase: phase == "read settle")
    second = service.probe_compute(OTHER_GPU)
    service.wait_job(second, "waiting")
    assert len(service.runs()) == 1
    service.does("good")
    service.host.call(LINK_PROBE, first, JOB, "Cancel")
    assert service.wait_job(second, "done", "failed") == "done"


RUBBISH = [
    ("nothing", {}, NO_SUCH_DEVICE), ("display", {}, NO_SUCH_DEVICE), ("x" * 100000, {}, NO_SUCH_DEVICE),
    (GPU, {"metrics": []}, INVALID_ARGS), (GPU, {"metrics": ["gemm", "speed"]}, INVALID_ARGS)]


@needs_root
def test_rubbish_makes_no_job(computing):
    service = computing()
    for device, options, name in RUBBISH:
        error = refused(service.probe_compute, device, **options)
        assert error.name == name, (device, options)
        assert name != INVALID_ARGS or error.message in (
            "Metrics: unknown word speed", "The list of metrics is empty; omit the option to measure all"), options
        assert service.call("ListJobs") == [] and service.runs() == [], (device, options)


@needs_root
def test_machine_of_which_nothing_is_known(computing):
    service = computing(devices={})
    error = refused(service.probe_compute)
    assert error.name == NO_SUCH_DEVICE and "not known yet" in error.message
