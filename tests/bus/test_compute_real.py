# SPDX-License-Identifier: LGPL-2.1-or-later
"""All services and the real probe on PoCL: a machine has its figures by itself and keeps them. Where the tests share
their processors with much else, the probe finds that it is not alone; then that is what it must say."""

import json
import os
from pathlib import Path

import pytest

from bedlib.services import LITTLE_POCL, build_dir
from bedlib.waiting import wait_steadily
from client import ERROR, OK
from compute_probe import Processors
from link_probe import JOB, LINK_PROBE, PATH, receive_lock
from gi.repository import Gio, GLib

STATE, STATE_PATH = "org.alidade.State1", "/org/alidade/State1"
LONG = 200  # s; it takes 15 where it is alone

pytestmark = [
    pytest.mark.skipif(not Path("/etc/OpenCL/vendors/pocl.icd").is_file(), reason="no PoCL (pocl-opencl-icd)"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may probe without polkit")]


class Machine:
    def __init__(self, host):
        self.host = host
        self.environment = {"ALIDADE_LIBEXEC_DIR": build_dir() / "services/telemetry",
                            "ALIDADE_PROBE_DIR": build_dir() / "probes/compute",
                            "CACHE_DIRECTORY": host.dir / "cache", **LITTLE_POCL}
        (host.dir / "cache").mkdir()
        host.sysroot.write("proc/net/dev", "Inter-|\n face |\n    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n")
        self.daemons = {}
        for program in ("identityd", "telemetryd", "stated", "link-probed"):
            self.start(program)
        self.id = host.get(STATE, STATE_PATH, STATE, "NodeId")
        wait_steadily(self.platforms, "the devices of OpenCL", deadline=LONG)

    def start(self, program):
        self.daemons[program] = self.host.start_daemon(program, env=self.environment)

    def restart(self, program):
        self.daemons[program].stop()
        self.start(program)

    def platforms(self):
        found = self.host.call(STATE, STATE_PATH, STATE, "GetBackends").get(self.id, {"Devices": []})
        return [row["OpenClPlatform"] for row in found["Devices"] if "OpenClPlatform" in row]

    def row(self):
        found = self.host.call(STATE, STATE_PATH, STATE, "GetComputes").get(self.id, {"Devices": []})
        return next((row for row in found["Devices"] if row["Id"] == "cpu"), None)

    def device(self):
        return self.host.get(LINK_PROBE, PATH, LINK_PROBE, "ComputeDevice")

    def begin(self, **options):
        return self.host.call(LINK_PROBE, PATH, LINK_PROBE, "ProbeCompute", "sa{sv}", ("cpu", options))

    def job(self, path, name):
        return self.host.get(LINK_PROBE, path, JOB, name)


@pytest.fixture(name="machine")
def _machine(make_host):
    host = make_host(sysroot=True)
    processors = Processors(host.sysroot)
    yield Machine(host)
    processors.end()


def is_disturbed(text):
    return text.startswith("busy: ")


def test_machine_has_its_figures_by_itself_and_keeps_them(machine):
    row = wait_steadily(machine.row, "a row of the processors", deadline=LONG)
    print(row)
    if "Failure" in row:
        assert is_disturbed(row["Failure"]), row
    else:
        assert row["GemmTflops"] > 0 and row["MemoryBandwidthBytesPerSecond"] > 0 and row["DriverVersion"]
        assert "busy" not in row.get("Flags", [])
    wait_steadily(lambda: machine.device() == "", "the end of the measurement")
    machine.restart("link-probed")
    assert machine.row() == row
    machine.restart("stated")
    assert machine.row() == row


def test_lock_frees_the_processors_at_once(machine):
    job = machine.begin(Force=GLib.Variant("b", True))  # whatever else this machine does
    wait_steadily(lambda: machine.job(job, "Phase").startswith("gemm"), "the measurement", deadline=LONG)
    message = Gio.DBusMessage.new_method_call(LINK_PROBE, PATH, LINK_PROBE, "Inhibit")
    message.set_body(GLib.Variant("(sss)", ("compute", "trainer", "epoch 7")))
    lock = receive_lock(machine.host.connection(), message)
    machine.host.wait_for_property(LINK_PROBE, job, JOB, "State", lambda state: state == "failed")
    assert machine.job(job, "Error").startswith("inhibited by trainer: epoch 7; the device was free after ")
    freed = machine.host.get(LINK_PROBE, PATH, LINK_PROBE, "TimeToFreeUSec")
    print(f"the processors were free after {freed} µs")
    left = machine.host.run(["pgrep", "-f", "alidade-probe-compute"], check=False)
    assert left.stdout == "" and machine.device() == ""
    os.close(lock)


def test_probe_by_hand(machine):
    done = machine.host.alidadectl("probe", "compute", "cpu", "--metric=read", "--json", check=False, deadline=LONG)
    print(done.stdout, done.stderr)
    found = json.loads(done.stdout)
    if done.returncode == OK:
        row, = found["Result"]["Devices"]
        assert row["MemoryBandwidthBytesPerSecond"] > 0 and "GemmTflops" not in row
    else:
        assert done.returncode == ERROR and is_disturbed(found["Error"])
