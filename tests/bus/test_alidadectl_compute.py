# SPDX-License-Identifier: LGPL-2.1-or-later
"""The verbs of alidadectl about compute devices: those that measure, against the real service with a probe that does as
it is told; those that show, against a state service played."""

import os
import signal

import pytest

from bedlib.services import client_binary
from bedlib.waiting import wait_steadily
from client import ERROR, OK, USAGE, get_json
from compute_probe import GPU, OTHER_GPU, ROW, ComputeProbe
from link_probe import JOB, LINK_PROBE, PATH
from played_state import PlayedState, sample_node

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


@needs_root
def test_probe_of_devices(computing):
    service = computing()
    done = service.host.alidadectl("probe", "compute", GPU)
    assert done.stdout == (f"    Device: {GPU}, Bed Device\n"
                           "  Matrices: 12.5 TFLOPS FP16, sums in fp32, median 12.2 TFLOPS, ±0.5 %, by bed-8x8\n"
                           "     Reads: 900 MB/s\n"
                           "    Copies: 800 MB/s\n"
                           " To device: 25.0 GB/s, median 24.0 GB/s, ±0.2 %\n"
                           "   To host: 26.0 GB/s\n"
                           " Registers: 20.0 TFLOPS FP16\n"
                           "     Clock: 1.50 GHz\n"
                           " Throttled: power\n"
                           "     Flags: unstable\n")
    found = get_json(service.host, "probe", "compute")
    assert [found[name] for name in ("Kind", "State", "Node")] == ["Node1.Compute", "done", service.own_id]
    assert sorted(row["Id"] for row in found["Result"]["Devices"]) == sorted([GPU, OTHER_GPU, "cpu"])
    assert all(row["GemmTflops"] == 12.5 for row in found["Result"]["Devices"])


@needs_root
def test_probe_beside_other_work(computing):
    service = computing(row={**ROW, "Flags": ["busy"]})
    service.state.processes = {GPU: 1}
    done = service.host.alidadectl("probe", "compute", GPU, check=False)
    assert done.returncode == ERROR and "processes compute on it" in done.stderr
    assert "Flags: busy" in service.host.alidadectl("probe", "compute", "--force", GPU).stdout
    assert "--give-way" not in service.runs()[0]
    assert service.host.alidadectl("probe", "link", "--force", "x", check=False).returncode == USAGE


@needs_root
def test_probe_of_some_metrics(computing):
    service = computing()
    service.host.alidadectl("probe", "compute", GPU, "--metric=read,copy")
    assert "--metric=read,copy" in service.runs()[0]
    service.host.alidadectl("probe", "compute", GPU, "--metric=to-host,to-device")
    assert any("--metric=to-device,to-host" in words for words in service.runs())


@needs_root
def test_probe_that_is_held_off_names_who_does(computing):
    service = computing()
    lock = service.inhibit("compute", "trainer", "epoch 7")
    done = service.host.alidadectl("probe", "compute", check=False)
    assert (done.returncode, done.stdout) == (ERROR, "")
    assert "inhibited by trainer: epoch 7" in done.stderr and "  trainer: epoch 7\n" in done.stderr
    os.close(lock)


@needs_root
def test_probe_that_fails_says_why(computing):
    service = computing(behaviour="crash")
    done = service.host.alidadectl("probe", "compute", GPU, check=False)
    assert (done.returncode, done.stdout) == (ERROR, "")
    assert f"The probe of {GPU} failed: the probe failed: it was ended by signal 6 (Aborted)\n" in done.stderr
    done = service.host.alidadectl("probe", "compute", "moon", check=False)
    assert done.returncode == ERROR and "Cannot probe moon: OpenCL shows no such device" in done.stderr


@needs_root
def test_probe_that_fails_in_part_shows_figures_and_errors(computing):
    row = {name: value for name, value in ROW.items() if "Gemm" not in name}
    errors = {"read": {"error": "timeout"}, "gemm": {"error": "crashed", "message": "the driver crashed"}}
    service = computing(row={**row, "Errors": errors})
    shown = service.host.alidadectl("probe", "compute", GPU).stdout
    assert "    Copies: 800 MB/s\n" in shown
    assert shown.endswith("    Failed: gemm: the driver crashed; read: timeout\n")
    shown = service.host.alidadectl("probe", "compute").stdout
    assert shown.count("    Failed: gemm: the driver crashed; read: timeout\n") == 3


@needs_root
def test_probe_that_met_other_work_names_the_option(computing):
    service = computing(row={**ROW, "Flags": ["busy"]})
    done = service.host.alidadectl("probe", "compute", GPU, check=False)
    assert done.returncode == ERROR and "; --force measures alongside other work\n" in done.stderr


@needs_root
def test_ctrl_c_cancels_it(computing):
    service = computing(behaviour="hang")
    probing = service.host.spawn([client_binary(), "probe", "compute", GPU])
    probing.excused = True
    wait_steadily(lambda: service.left("child"), "the child of the probe")
    (path, _), = service.call("ListJobs")
    service.host.wait_for_property(LINK_PROBE, path, JOB, "Phase", lambda phase: phase == "read settle")
    wait_steadily(lambda: f"{GPU}: read settle\n" in probing.log_text(), "the phase on the terminal")
    probing.signal(signal.SIGINT)
    assert probing.wait() == ERROR
    assert "was canceled" in probing.log_text()
    service.wait_idle()


@needs_root
def test_inhibit_holds_off_while_a_command_runs(computing):
    service = computing()
    done = service.host.alidadectl("inhibit", "--what=compute", "--who=me", "--", client_binary(), "probe", "compute",
                                   check=False)
    assert done.returncode == ERROR and "inhibited by me" in done.stderr
    assert service.host.alidadectl("probe", "compute", GPU).returncode == OK


@needs_root
def test_inhibited_command_has_the_device_for_itself(computing):
    service = computing(behaviour="stubborn")
    service.probe_compute(GPU)
    wait_steadily(lambda: service.left("child"), "the child of the probe")
    shown = service.host.alidadectl("inhibit", "--what=compute", "--", "busctl",
                                    f"--address={service.host.bus.address}", "get-property", LINK_PROBE, PATH,
                                    LINK_PROBE, "ComputeDevice")
    assert shown.stdout == 's ""\n'


def test_usage(make_host):
    host = make_host()
    for args in (["compute", "cpu", "gpu"], ["compute", "--rtt-only"], ["compute", "--path=192.0.2.1"],
                 ["link", "a", "--metric=gemm"], ["moon"], []):
        done = host.alidadectl("probe", *args, check=False)
        assert (done.returncode, done.stdout) == (USAGE, "") and "Usage: alidadectl probe" in done.stderr, args


# What is shown


def show(make_host, row, totals=None):
    host = make_host()
    me = "a" * 32
    node = sample_node("atlas")
    node["Node1.Backends"]["Devices"] = [{"Id": "cpu", "Class": "cpu", "Name": "Xeon"}]
    node["Node1.Compute"] = {"Devices": [{"Id": "cpu", **row}]}
    state = PlayedState(host.new_connection(), me, {me: node}, totals=totals).own()
    try:
        return tuple(host.alidadectl(*words).stdout for words in (["status"], ["nodes"], ["show", me]))
    finally:
        state.close()


def test_device_that_has_no_fp16_shows_what_it_has(make_host):
    status, nodes, shown = show(make_host, {
        "GemmTflops": 0.15, "Precision": "fp32", "MemoryBandwidthBytesPerSecond": 8_100_000_000,
        "Failure": "busy: other work was running", "FailedUSec": 5, "Failures": 1},
        {"TflopsFp16LeftOut": 1, "MemoryBandwidthBytesPerSecond": 8_100_000_000, "MemoryBandwidthOf": "cpu"})
    assert "FP32, 8.10 GB/s memory bandwidth" in shown
    assert "last attempt failed: busy: other work was running" in " ".join(shown.split())
    assert "FP16 compute: –, 1 device left out" in status
    assert "Memory bandwidth: 8.10 GB/s over processors" in status
    assert "8.10 GB/s" in nodes
    assert "MemoryBandwidthBytesPerSecond: 8.10 GB/s" in shown


def test_device_of_fp16_is_in_all_sums(make_host):
    status, nodes, shown = show(make_host, {name: value for name, value in ROW.items() if name != "MeasuredUSec"},
                                {"TflopsFp16": 12.5})
    assert "12.5 TFLOPS FP16, 900 MB/s memory bandwidth, unstable" in " ".join(shown.split())
    assert "12.5 TFLOPS" in nodes and "FP16 compute: 12.5 TFLOPS" in status
