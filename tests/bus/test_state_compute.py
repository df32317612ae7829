# SPDX-License-Identifier: LGPL-2.1-or-later
"""The compute devices of this node: which are to be measured, what becomes of results, and what outlives whom."""

import time

import pytest
from gi.repository import GLib

from bedlib.waiting import wait_until
from played_source import LINK_PROBE_POLICY, Source
from state_service import CLUSTER_POLICY, INVALID_ARGS, KINDS, STATE, call, fails_with, get, local_id, start, typed

HOUR = 3600 * 10 ** 6
GPU = "0000:01:00.0"
CPU_ROW = {"Id": "cpu", "Class": "cpu", "OpenClPlatform": "PoCL", "DriverVersion": "3.1"}
GPU_ROW = {"Id": GPU, "Class": "gpu", "OpenClPlatform": "CUDA", "DriverVersion": "555"}
BARE_ROW = {"Id": "display", "Class": "gpu"}


def realtime():
    return time.time_ns() // 1000


def rows(kind, *devices):
    field, = (field for field in KINDS[kind].fields if field.name == "Devices")
    return [typed(field.row_fields, row) for row in devices]


def due(host, most=0, **options):
    """The rows of devices; (Id, reason)."""
    found = call(host, "GetDueProbes", "ta{sv}", (most, options))
    assert all(row["Peer"] == local_id(host) for row in found if row["Kind"] == "Node1.Compute")
    return [(row["Address"], row["Reason"]) for row in found if row["Kind"] == "Node1.Compute"]


def strings(*values):
    return GLib.Variant("as", values)


def computes(host):
    found = call(host, "GetComputes").get(local_id(host), {"Devices": []})
    return {row["Id"]: {name: value for name, value in row.items() if name != "Id"} for row in found["Devices"]}


def wait_for(host, device, **fields):
    with host.log_signals(STATE):
        wait_until(lambda: fields.items() <= computes(host).get(device, {}).items(), f"{device} with {fields}")
    return computes(host)[device]


@pytest.fixture
def host(make_host):
    return start(make_host, bus_policy=CLUSTER_POLICY + LINK_PROBE_POLICY)


@pytest.fixture
def machine(host):
    """The source that tells of its devices."""
    source = Source(host).export("Node1.Backends", Devices=rows("Node1.Backends", CPU_ROW, GPU_ROW, BARE_ROW))
    source.export("Node1.System", realtime(), CpuUsage=1.0, Devices=rows("Node1.System", {"Id": GPU, "Usage": 0.0}))
    source.own()
    with host.log_signals(STATE):
        wait_until(lambda: due(host), "the devices")
    return source


@pytest.fixture
def probe(host, machine):
    """The service that measures; .tell() has it say that these are the devices it has measured."""
    source = Source(host, "LinkProbe1").own()

    def tell(*devices):
        if source.exported:
            source.send("Node1.Compute", Devices=rows("Node1.Compute", *devices))
        else:
            source.export("Node1.Compute", Devices=rows("Node1.Compute", *devices))
            source.send("Node1.Compute", Devices=rows("Node1.Compute", *devices))
    source.tell = tell
    return source


# What is due


def test_devices_are_due_until_they_were_measured(host, probe):
    assert due(host) == [(GPU, "never"), ("cpu", "never")]
    assert due(host, 1) == [(GPU, "never")]
    probe.tell({"Id": GPU, "MeasuredUSec": realtime(), "DriverVersion": "555"},
               {"Id": "cpu", "MeasuredUSec": realtime() - HOUR})
    wait_for(host, GPU)
    assert due(host) == [("cpu", "expired")]
    row, = call(host, "GetDueProbes", "ta{sv}", (0, {"Kinds": strings("Node1.Compute")}))
    assert abs(row["DueSinceUSec"] - realtime()) < 60 * 10 ** 6


def test_who_asks_says_what_and_what_not(host, machine):
    assert due(host, Kinds=strings("Link1.Socket")) == []
    assert due(host, Kinds=strings("Node1.Compute")) == due(host, Kinds=strings("Node1.Compute", "Link1.Socket")) \
        == [(GPU, "never"), ("cpu", "never")]
    assert due(host, AvoidDevices=strings(GPU, "nothing")) == [("cpu", "never")]
    assert due(host, Kinds=strings()) == []


RUBBISH = [
    {"Kinds": strings("Node1.Memory")}, {"Kinds": strings("moon")}, {"Kinds": GLib.Variant("s", "Node1.Compute")},
    {"AvoidDevices": GLib.Variant("s", GPU)}, {"AvoidDevices": strings(*["x"] * 5000)}]


def test_rubbish_is_refused(host):
    for options in RUBBISH:
        with fails_with(INVALID_ARGS, options):
            due(host, **options)


def test_new_driver_makes_it_due(host, machine, probe):
    probe.tell({"Id": GPU, "MeasuredUSec": realtime(), "DriverVersion": "555"})
    wait_for(host, GPU)
    assert due(host) == [("cpu", "never")]
    machine.send("Node1.Backends", Devices=rows("Node1.Backends", CPU_ROW, {**GPU_ROW, "DriverVersion": "560"}))
    with host.log_signals(STATE):
        wait_until(lambda: due(host) != [("cpu", "never")], "the new driver")
    assert due(host) == [("cpu", "never"), (GPU, "driver")]


def test_device_in_use_waits(host, machine):
    machine.send("Node1.System", realtime(), Devices=rows("Node1.System", {"Id": GPU, "Usage": 40.0}))
    with host.log_signals(STATE):
        wait_until(lambda: due(host) == [("cpu", "never")], "the usage")
        machine.send("Node1.System", realtime(), Devices=rows("Node1.System", {"Id": GPU, "Usage": 0.0}))
        wait_until(lambda: len(due(host)) == 2, "the end of it")
        machine.send("Node1.System", realtime(),
                     Devices=rows("Node1.System", {"Id": GPU, "Usage": 0.0, "ComputeProcesses": 1}))
        wait_until(lambda: due(host) == [("cpu", "never")], "the process")


def test_device_that_was_split_is_not_measured_as_a_whole(host, machine):
    part = {**GPU_ROW, "Id": "MIG-1", "Parent": GPU}
    machine.send("Node1.Backends", Devices=rows("Node1.Backends", CPU_ROW, GPU_ROW, part))
    with host.log_signals(STATE):
        wait_until(lambda: sorted(due(host)) == [("MIG-1", "never"), ("cpu", "never")], "the instance")


def test_failure_waits(host, probe):
    probe.tell({"Id": GPU, "FailedUSec": realtime(), "Failure": "crashed"})
    assert wait_for(host, GPU)["Failures"] == 1
    assert due(host) == [("cpu", "never")]
    probe.tell({"Id": GPU, "FailedUSec": realtime() - HOUR, "Failure": "crashed"})
    assert wait_for(host, GPU, Failures=2)
    assert due(host) == [("cpu", "never"), (GPU, "failed")] or due(host) == [(GPU, "failed"), ("cpu", "never")]


# What becomes of results


def test_failure_stands_beside_the_figures(host, probe):
    measured = realtime()
    probe.tell({"Id": GPU, "MeasuredUSec": measured, "GemmTflops": 12.5, "Flags": ["unstable"]})
    wait_for(host, GPU)
    probe.tell({"Id": GPU, "FailedUSec": measured + 1, "Failure": "busy"})
    assert wait_for(host, GPU, Failure="busy") == {
        "MeasuredUSec": measured, "GemmTflops": 12.5, "Flags": ["unstable"], "FailedUSec": measured + 1,
        "Failure": "busy", "Failures": 1}


def test_one_device_leaves_the_others_whoever_restarts(host, probe):
    measured = realtime()
    probe.tell({"Id": GPU, "MeasuredUSec": measured, "TflopsFp16": 12.5})
    wait_for(host, GPU)
    # The service begins anew, and has measured nothing but the other one.
    probe.connection.close()
    host.wait_for_name(probe.name, present=False)
    again = Source(host, "LinkProbe1").export("Node1.Compute", Devices=rows("Node1.Compute", {
        "Id": "cpu", "MeasuredUSec": measured, "MemoryBandwidthBytesPerSecond": 8_000_000_000})).own()
    wait_for(host, "cpu")
    both = computes(host)
    assert both == {GPU: {"MeasuredUSec": measured, "TflopsFp16": 12.5},
                    "cpu": {"MeasuredUSec": measured, "MemoryBandwidthBytesPerSecond": 8_000_000_000}}
    # The state service, with neither of them there.
    again.connection.close()
    host.daemons[0].stop()
    host.start_daemon("stated")
    assert computes(host) == both


def test_sums_are_of_what_was_measured(host, probe):
    probe.tell({"Id": "cpu", "MeasuredUSec": realtime(), "MemoryBandwidthBytesPerSecond": 8_000_000_000},
               {"Id": GPU, "MeasuredUSec": realtime(), "TflopsFp16": 12.5,
                "MemoryBandwidthBytesPerSecond": 900_000_000_000})
    wait_for(host, GPU)
    with host.log_signals(STATE):
        wait_until(lambda: get(host, "TflopsFp16") == 12.5, "the sum")
    # The display has no OpenCL; the processors stand aside where a GPU was measured.
    assert get(host, "TflopsFp16LeftOut") == 1
    assert get(host, "TflopsFp16LeftOutReasons") == {"NoOpenCl": 1}
    assert (get(host, "MemoryBandwidthBytesPerSecond"), get(host, "MemoryBandwidthOf")) == (900_000_000_000, "gpu")


def test_sum_of_processors_where_there_is_no_gpu(host, machine, probe):
    machine.send("Node1.Backends", Devices=rows("Node1.Backends", CPU_ROW))
    probe.tell({"Id": "cpu", "MeasuredUSec": realtime(), "MemoryBandwidthBytesPerSecond": 8_000_000_000})
    with host.log_signals(STATE):
        wait_until(lambda: (get(host, "MemoryBandwidthOf"), get(host, "TflopsFp16LeftOut")) == ("cpu", 1), "the sum")
    assert get(host, "MemoryBandwidthBytesPerSecond") == 8_000_000_000
