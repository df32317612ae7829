# SPDX-License-Identifier: LGPL-2.1-or-later
"""The service that measures compute devices under test: a probe that does as it is told, processors whose load the
test says, and a state service played."""

import json
import threading

from gi.repository import GLib

from bedlib import BusError
from bedlib.waiting import wait_steadily
from link_probe import LINK_PROBE, PATH, LinkProbe

COMPUTE = "org.alidade.Node1.Compute"
GPU, OTHER_GPU = "0000:01:00.0", "0000:02:00.0"
DEVICES = {"cpu": {"Class": "cpu", "OpenClPlatform": "PoCL", "DriverVersion": "3.1"},
           GPU: {"Class": "gpu", "OpenClPlatform": "CUDA", "DriverVersion": "555.1"},
           OTHER_GPU: {"Class": "gpu", "OpenClPlatform": "CUDA"},
           "display": {"Class": "gpu"}}

ROW = {"Name": "Bed Device", "Platform": "Bed", "DriverVersion": "of OpenCL", "GemmTflops": 12.5,
       "GemmMedianTflops": 12.25, "GemmInterval": 0.5, "Precision": "fp16", "Accumulator": "fp32", "TflopsFp16": 12.5,
       "Method": "bed-8x8", "PeakTflops": 20.0, "PeakPrecision": "fp16", "MemoryBandwidthBytesPerSecond": 900_000_000,
       "MemoryBandwidthMethod": "plain", "CopyBandwidthBytesPerSecond": 800_000_000,
       "HostToDeviceBytesPerSecond": 25_000_000_000, "HostToDeviceMedianBytesPerSecond": 24_000_000_000,
       "HostToDeviceInterval": 0.25, "DeviceToHostBytesPerSecond": 26_000_000_000, "ClockHz": 1_500_000_000,
       "ThrottleReasons": ["power"], "Flags": ["unstable"], "MeasuredUSec": 5}


def result_of(row):
    """What the probe prints of one device; "Errors" in the row is {metric: {error, message}}."""
    device = {"Id": "as OpenCL shows it", **{name: value for name, value in row.items() if name != "Errors"}}
    errors = [{"Id": f"{device['Id']} {metric}", "Device": device["Id"], "Metric": metric, **error}
              for metric, error in row.get("Errors", {}).items()]
    return {"Devices": [device], "Errors": errors}


# As the real one it has a child that leads a group; the two leave their process ids beside it.
PROBE = """#!/usr/bin/python3 -I
import json, os, signal, sys, time
here = os.path.dirname(os.path.abspath(__file__))
with open(here + "/compute-behaviour") as file:
    what, _, result = file.read().partition(" ")
words = sys.argv[1:]
given = dict(word.lstrip("-").partition("=")[::2] for word in words)
def leave(name):
    fresh = f"{here}/calls/.{name}"
    with open(fresh, "w") as file:
        json.dump(words, file)
    os.rename(fresh, f"{here}/calls/{name}")
def say(metric, phase, fraction):
    os.write(3, (json.dumps({"device": given["device"], "metric": metric, "phase": phase, "fraction": fraction})
                 + "\\n").encode())
def end(text, code=0):
    os.write(1, text.encode())
    sys.exit(code)
def stop(*_):
    end('{"Devices":[],"Errors":[{"Id":"x gemm","Device":"x","Metric":"gemm","error":"aborted"}]}\\n', 1)
leave(f"compute-{os.getpid()}")
if what in ("hang", "stubborn"):
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        leave(f"child-{os.getpid()}")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()
    signal.signal(signal.SIGTERM, signal.SIG_IGN if what == "stubborn" else stop)
    while not os.path.exists(f"{here}/calls/child-{child}"):
        time.sleep(0.01)
    say("read", "settle", 0.5)
    while True:
        signal.pause()
if what == "crash":
    os.abort()
if what == "garbage":
    os.write(3, b"\\x00\\xff{]\\n" * 5)
    end("\\x00nonsense\\n" * 100)
if what == "half":
    end('{"Devices":[{"Id":"x","GemmTflops":5')
if what == "flood":
    while True:
        os.write(1, b"x" * 4096)
if what == "status":
    end("", 7)
if what == "locked":
    end('{"error":"busy","message":"another alidade-probe-compute is at work on this machine"}\\n', 1)
for metric in given["metric"].split(","):
    say(metric, "measure", 1)
end(result + "\\n", 1 if what == "failed" else 0)
"""


class Processors:
    """proc/stat of a host, of 100 processors: .usage is the share of them that is busy."""

    def __init__(self, sysroot, usage=0.0):
        self.sysroot, self.usage = sysroot, usage
        self._busy = self._idle = 1000
        self._over = threading.Event()
        self._write()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _write(self):
        self.sysroot.write("proc/stat", f"cpu  {self._busy} 0 0 {self._idle} 0 0 0 0 0 0\n")

    def _run(self):
        while not self._over.wait(0.05):
            self._busy += round(500 * self.usage)
            self._idle += round(500 * (1 - self.usage))
            self._write()

    def end(self):
        self._over.set()
        self._thread.join()


class ComputeProbe(LinkProbe):
    """A machine with devices, the service, its probe and its state service. Links are measured only where it has
    joined."""

    def __init__(self, make_host, due=(), behaviour="good", row=None, usage=0.0, joined=False, devices=None,
                 before=lambda host: None, **options):
        self.row, self.before = row, before
        self.first_behaviour, self.first_due, self.usage = behaviour, due, usage
        self.first_devices = DEVICES if devices is None else devices
        super().__init__(make_host, joined=joined, sysroot=True, **options)

    def start(self):
        if self.process is None:
            self.processors = Processors(self.host.sysroot, self.usage)
            self.host.sysroot.write("proc/net/dev", "Inter-|\n face |\n    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n")
            program = self.probe.folder / "alidade-probe-compute"
            program.write_text(PROBE)
            program.chmod(0o755)
            self.does(self.first_behaviour, self.row)
            self.state.devices = dict(self.first_devices)
            for device in self.first_due:
                self.state.make_device_due(device)
            self.before(self.host)
        super().start()

    def does(self, what, row=None):
        fresh = self.probe.folder / "compute-behaviour.fresh"
        fresh.write_text(f"{what} {json.dumps(result_of(ROW if row is None else row))}")
        fresh.rename(self.probe.folder / "compute-behaviour")

    def left(self, kind):
        """{process id: arguments} of what the probe ran: "compute" itself, or the "child" of it."""
        return {int(path.name.partition("-")[2]): json.loads(path.read_text())
                for path in (self.probe.folder / "calls").glob(f"{kind}-*")}

    def runs(self):
        return list(self.left("compute").values())

    def probe_compute(self, device="", metrics=None, user=None, **options):
        if metrics is not None:
            options["Metrics"] = GLib.Variant("as", metrics)
        return self.call("ProbeCompute", "sa{sv}", (device, options), user=user)

    def rows(self):
        """{Id: row} of the record that the service shows."""
        found = self.host.connection().get_all(LINK_PROBE, PATH, COMPUTE)
        return {row["Id"]: {name: value for name, value in row.items() if name != "Id"} for row in found["Devices"]}

    def wait_row(self, device, condition=lambda row: True):
        def look():
            try:
                row = self.rows().get(device)
            except BusError:  # nothing was measured yet
                return None
            return row if row and condition(row) else None
        return wait_steadily(look, f"a row of {device}")
