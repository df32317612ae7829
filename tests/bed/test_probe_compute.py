# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidade-probe-compute on PoCL, and on drivers that crash, hang, refuse and lie."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from bedlib.services import LITTLE_POCL
from bedlib.waiting import wait_steadily

BUILD = Path(os.environ["ALIDADE_BUILD"])
POCL = Path("/etc/OpenCL/vendors/pocl.icd")
GPU = "0010:01:00.0"
LIMIT = 1800  # s; nothing waits so long unless it hangs
BRIEF = "--seconds-max=0.2"
PATIENT = "--timeout=1700"  # s for a metric, of which a machine at other work may take many

needs_pocl = pytest.mark.skipif(not POCL.is_file(), reason="no PoCL (pocl-opencl-icd)")


class Seat:
    """The program, and the drivers that it finds."""

    def __init__(self, folder):
        self.folder = folder
        self.program = shutil.copy(BUILD / "probes/compute/alidade-probe-compute", folder)
        self.vendors = folder / "vendors"
        self.vendors.mkdir()
        (folder / "tmp").mkdir()
        (folder / "cache").mkdir()
        self.environment = dict(os.environ, OCL_ICD_VENDORS=str(self.vendors), TMPDIR=str(folder / "tmp"),
                                CACHE_DIRECTORY=str(folder / "cache"), FAKE_ICD_SEEN=str(folder / "seen"),
                                **LITTLE_POCL)

    def add_fake(self, mode, platform="Fake"):
        library = shutil.copy(BUILD / "tests/unit/libfake-compute-icd.so", self.folder / f"{mode}@{platform}.so")
        (self.vendors / f"{mode}.icd").write_text(f"{library}\n", encoding="ascii")

    def add_pocl(self):
        shutil.copy(POCL, self.vendors)

    def command(self, arguments):
        """A metric takes as long as it takes, where the test does not say how long it may, and measures briefly."""
        usual = [word for word in (PATIENT, BRIEF) if word.partition("=")[0] not in
                 {str(argument).partition("=")[0] for argument in arguments}]
        return [self.program, *usual, *arguments]

    def start(self, *arguments, **more):
        return subprocess.Popen(self.command(arguments), env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **more)

    def run(self, *arguments):
        return subprocess.run(self.command(arguments), env=self.environment, capture_output=True, text=True,
                              timeout=LIMIT, check=False)

    def json(self, *arguments, status=0):
        done = self.run("--json", *arguments)
        assert done.returncode == status, done
        return json.loads(done.stdout.splitlines()[-1])

    def device(self, name, *arguments, status=0):
        """The row of one device, with its errors by metric."""
        result = self.json(f"--device={name}", *arguments, status=status)
        row, = result["Devices"]
        return {**row, "Errors": {error["Metric"]: error for error in result["Errors"]}}

    def errors(self, *arguments, status=1):
        """The kinds of the errors, by metric, of the GPU."""
        errors = self.device(GPU, *arguments, status=status)["Errors"]
        return {metric: error["error"] for metric, error in errors.items()}

    def processes(self):
        """Those that run the program, by their ids."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(folder / "exe") == str(self.program):
                    found[int(folder.name)] = (folder / "cmdline").read_text(encoding="utf-8")
        return found

    def measuring_child(self):
        """Waits until a child is at work; its id."""
        return wait_steadily(lambda: next((pid for pid, line in self.processes().items()
                                           if "--metric=" in line and "--child" in line), None), "a child")


@pytest.fixture
def seat(tmp_path):
    made = Seat(tmp_path)
    yield made
    for pid in made.processes():
        os.kill(pid, signal.SIGKILL)
    assert list((tmp_path / "tmp").iterdir()) == [], "left behind"


def ids(devices):
    return [device["Id"] for device in devices["Devices"]]


def test_usage(seat):
    for wrong in ("--metric=warp", "--seconds-max=0", "--seconds-max=nan", "--child", "--device=", "more",
                  "--timeout=x", "--metric=", "--variant=none", "--size=100", "--json=no", b"--device=\xff"):
        done = seat.run(wrong)
        assert done.returncode == 2 and done.stderr.startswith("alidade-probe-compute: "), wrong
    assert "--size: not a multiple of 256" in seat.run("--size", "100").stderr
    assert seat.run("--help").stdout.startswith("Usage:\n  alidade-probe-compute [OPTION")


@pytest.mark.parametrize("library", ["empty", "another"])
def test_without_the_library(seat, library):
    folder = seat.folder / "libraries"
    folder.mkdir()
    if library == "empty":
        (folder / "libOpenCL.so.1").touch()
    else:
        shutil.copy(BUILD / "tests/unit/libfake-compute-icd.so", folder / "libOpenCL.so.1")
    seat.environment["LD_LIBRARY_PATH"] = str(folder)
    assert seat.json("--list") == {"Devices": []}
    result = seat.json(status=1)
    assert result.keys() == {"error", "message"} and result["error"] == "no-library"
    assert seat.json("--device=cpu", status=1)["error"] == "no-library"
    assert "libOpenCL" in seat.run().stderr


def test_without_a_driver(seat):
    assert seat.json("--list") == {"Devices": []}
    assert seat.json(status=1)["error"] == "no-platform"


def test_drivers_that_cannot_be_loaded(seat):
    for name in ("one.icd", "two.icd"):
        (seat.vendors / name).write_text("/none.so\n", encoding="ascii")
    result = seat.json(status=1)
    assert result["error"] == "no-platform" and result["message"].endswith(": one.icd, two.icd")


def test_output_that_cannot_be_written(seat):
    seat.add_fake("good")
    for arguments in (["--json"], ["--list", "--json"], ["--metric=read"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run(seat.command(arguments), env=seat.environment, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
        assert done.returncode == 1 and "cannot write the result" in done.stderr, arguments


@needs_pocl
@pytest.mark.parametrize("mode", ["crash-load", "hang-load", "crash-list", "hang-list"])
def test_a_broken_driver_costs_its_own_devices_only(seat, mode):
    seat.add_fake(mode)
    seat.add_pocl()
    done = seat.run("--list", "--json", "--timeout=5")
    assert ids(json.loads(done.stdout)) == ["cpu"]
    assert f"skipping {mode}.icd" in done.stderr


@needs_pocl
def test_beside_a_broken_driver(seat):
    """A child loads no driver but its own."""
    seat.add_fake("crash-load")
    seat.add_pocl()
    result = seat.device("cpu", "--metric=read", "--seconds-max=0.5")
    assert result["MemoryBandwidthBytesPerSecond"] > 1e8


@pytest.mark.parametrize("mode, errors", [("crash-load", ["crashed"]), ("hang-list", ["timeout", "busy"])])
def test_a_broken_driver_alone(seat, mode, errors):
    seat.add_fake(mode)
    result = seat.json("--list", "--timeout=2", status=1)
    assert result["error"] in errors


@pytest.mark.parametrize("mode, error", [
    ("fail-build", "build-failed"),
    ("crash-build", "crashed"),
    ("crash-kernel", "crashed"),
    ("refuse-memory", "out-of-memory"),
    ("lost", "device-lost"),
    ("good", "wrong-result"),  # its kernels do nothing
])
def test_what_goes_wrong_is_named(seat, mode, error):
    seat.add_fake(mode)
    assert seat.errors("--metric=gemm,read,peak") == {"gemm": error, "read": error, "peak": error}


def test_buffers_take_a_quarter_of_what_is_free(seat):
    seat.add_fake("little-free")  # which crashes where they take more
    assert set(seat.errors("--metric=gemm,read").values()) == {"wrong-result"}
    assert "reduced" in seat.device(GPU, "--metric=copy")["Flags"]
    # Some of it is enough for copies.
    copied = seat.device(GPU, "--metric=to-device,to-host")
    assert copied["HostToDeviceBytesPerSecond"] > 0 and "reduced" not in copied.get("Flags", [])


def test_copies_between_host_and_device(seat):
    """From and to memory of the device, which is real, while its kernels do nothing."""
    seat.add_fake("good")
    result = seat.device(GPU, "--metric=to-host,to-device")
    assert result["Errors"] == {}
    for way in ("HostToDevice", "DeviceToHost"):
        assert result[f"{way}BytesPerSecond"] >= result[f"{way}MedianBytesPerSecond"] > 1e6
        assert result[f"{way}Interval"] >= 0
    assert "CopyBandwidthBytesPerSecond" not in result
    shown = seat.run("--metric=to-host,to-device").stdout
    assert "\n  Host to device " in shown and "\n  Device to host " in shown


def test_a_copy_that_is_left_out_is_found(seat):
    """The other direction keeps its figures."""
    seat.add_fake("skip-copies")
    result = seat.device(GPU, "--metric=to-device,to-host")
    assert {metric: error["error"] for metric, error in result["Errors"].items()} == {"to-device": "wrong-result"}
    assert result["DeviceToHostBytesPerSecond"] > 0 and "HostToDeviceBytesPerSecond" not in result


def test_copies_without_memory(seat):
    seat.add_fake("refuse-memory")
    assert seat.errors("--metric=to-device,to-host") == {"to-device": "out-of-memory", "to-host": "out-of-memory"}


def test_nothing_is_copied_within_host_memory(seat):
    seat.add_fake("unified")
    assert seat.errors(status=0).keys() == {"gemm", "read", "peak"}, "of all"
    error = "no-device-memory"
    assert seat.errors("--metric=to-device,to-host") == {"to-device": error, "to-host": error}
    assert seat.errors("--metric=copy,to-device", status=0) == {"to-device": error}


def test_a_whole_device_is_no_instance(seat):
    """Its figures would pass for those of the instance."""
    seat.add_fake("good")
    for device in (f"{GPU}/1-0", "0000:77:00.0/1-0"):
        assert seat.json(f"--device={device}", "--metric=read", status=1)["error"] == "no-such-device"


def test_what_crashed_is_tried_once_again(seat):
    seat.add_fake("crash-build-once")
    assert seat.errors("--metric=gemm") == {"gemm": "wrong-result"}, "of the simpler kernels"


def test_who_does_not_read_of_progress_holds_nothing_up(seat):
    seat.add_fake("good")
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(writer, b"." * 4096):
            pass
    os.set_blocking(writer, True)
    assert "Memory read" in seat.start("--metric=read", f"--progress-fd={writer}",
                                       pass_fds=[writer]).communicate(timeout=LIMIT)[0]
    os.close(reader)
    os.close(writer)


def test_simulated_device_has_the_rates_that_it_was_given(seat):
    """What tests/device plays is right, or the probe would refuse it."""
    (seat.vendors / "simulated.icd").write_text(f"{BUILD / 'tests/device/simulated-gpu-2.so'}\n", encoding="ascii")
    row, = seat.json()["Devices"]
    assert row["Name"].startswith("Simulated ") and row["Method"] == "tiled-half"
    # Less where others use the processor. It is more only by the clock of the host, from which it says that it is.
    most = 1.5 if "wall_clock" in row.get("Flags", []) else 1.025
    assert 5 < row["GemmTflops"] <= 20 * most
    assert 50e9 < row["MemoryBandwidthBytesPerSecond"] <= 200e9 * most
    assert 50e9 < row["CopyBandwidthBytesPerSecond"] <= 200e9 * most


def test_what_faulted_is_tried_once_again(seat):
    seat.add_fake("fault-once")
    assert seat.errors("--metric=gemm,read") == {"gemm": "wrong-result", "read": "wrong-result"}


@pytest.mark.parametrize("mode", ["hang-build", "hang-kernel"])
def test_what_hangs_is_killed_and_not_tried_for_ever(seat, mode):
    seat.add_fake(mode)
    result = seat.device(GPU, "--timeout=2", status=1)
    # Busy where other tests use up the processors.
    assert {error["error"] for error in result["Errors"].values()} in ({"timeout"}, {"busy"})
    assert result["Errors"]["read"]["message"].startswith("not tried")
    assert seat.processes() == {}


def test_a_device_that_vanishes(seat):
    seat.add_fake("once")
    assert set(seat.errors().values()) == {"no-device"}


def test_a_device_that_is_not_there(seat):
    seat.add_fake("good")
    result = seat.json("--device=0000:02:00.0", status=1)
    assert result["error"] == "no-such-device" and "0000:02:00.0" in result["message"]


@pytest.mark.parametrize("vendor", ["good", "uuid"])
def test_a_device_of_two_platforms_is_one(seat, vendor):
    """It is that of its vendor's platform, and has the address that any of them tells."""
    seat.add_fake(vendor, "AMD")
    seat.add_fake("lost", "Clover")
    device, = seat.json("--list")["Devices"]
    assert (device["Id"], device["Platform"], device["Type"]) == (GPU, "AMD", "gpu")
    assert seat.errors("--metric=read") == {"read": "wrong-result"}, "not by Clover"


def test_names_do_not_write_to_the_terminal(seat):
    seat.add_fake("good")
    assert "\033" not in seat.run("--list").stdout
    assert "\033" not in seat.run("--metric=read").stdout


@needs_pocl
def test_folders_that_cannot_be_written(seat):
    """PoCL shows no device where it cannot write."""
    seat.add_pocl()
    seat.environment.update(HOME="/proc", CACHE_DIRECTORY="/proc/none", POCL_CACHE_DIR="/proc/none")
    assert ids(seat.json("--list")) == ["cpu"]
    del seat.environment["CACHE_DIRECTORY"]
    seat.environment["XDG_CACHE_HOME"] = "/proc/none"
    assert ids(seat.json("--list")) == ["cpu"]
    seat.environment["TMPDIR"] = "/proc"
    done = seat.run("--list")
    assert done.returncode == 1 and "cannot open the cache folder" in done.stderr


@needs_pocl
def test_a_cache_that_is_full(seat):
    seat.add_pocl()
    done = subprocess.run(["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=64k none "$CACHE_DIRECTORY" &&'
                           ' exec "$0" "$1" --device=cpu --metric=read --seconds-max=0.2', seat.program, PATIENT],
                          env=seat.environment, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0 and "Memory read" in done.stdout, done
    assert not list((seat.folder / "tmp").iterdir())


def test_one_at_a_time(seat):
    seat.add_fake("hang-kernel")
    first = seat.start("--metric=read")
    seat.measuring_child()
    assert seat.json(status=1)["error"] == "busy"
    assert ids(seat.json("--list")) == [GPU], "to look is free"
    first.terminate()
    first.communicate(timeout=LIMIT)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_its_children(seat, number):
    seat.add_fake("hang-kernel")
    program = seat.start("--json")
    child = seat.measuring_child()
    program.send_signal(number)
    result = json.loads(program.communicate(timeout=LIMIT)[0])
    assert program.returncode == 1
    assert {error["error"] for error in result["Errors"]} == {"aborted"}
    assert not Path(f"/proc/{child}").exists() and seat.processes() == {}


def test_killed_it_leaves_nothing_at_work(seat):
    seat.add_fake("hang-kernel")
    program = seat.start()
    seat.measuring_child()
    program.kill()
    program.communicate(timeout=LIMIT)
    wait_steadily(lambda: seat.processes() == {}, "the end of the children")


def test_it_ends_with_the_service_that_started_it(seat):
    """Else nobody could stop it for a lock."""
    seat.add_fake("hang-kernel")
    command = seat.command(["--json", "--progress-fd=1"])
    service = subprocess.Popen(["/bin/sh", "-c", '"$@" & wait', "service", *command], env=seat.environment,
                               stdout=subprocess.DEVNULL)
    seat.measuring_child()
    service.kill()
    service.wait(LIMIT)
    wait_steadily(lambda: seat.processes() == {}, "the end of the program and its children")


def test_a_child_has_limits_and_a_group_of_its_own(seat):
    seat.add_fake("hang-kernel")
    program = seat.start()
    child = seat.measuring_child()
    limits = Path(f"/proc/{child}/limits")
    wait_steadily(lambda: "Max core file size        0 " in limits.read_text(encoding="ascii"), "limits")
    assert os.getpgid(child) == child
    program.terminate()
    program.communicate(timeout=LIMIT)


@needs_pocl
def test_all_of_a_processor(seat):
    seat.add_pocl()
    reading, writing = os.pipe()
    program = seat.start("--json", "--device=cpu", "--seconds-max=1", f"--progress-fd={writing}", pass_fds=[writing])
    os.close(writing)
    with open(reading, encoding="utf-8") as lines:
        steps = [json.loads(line) for line in lines]
    result = json.loads(program.communicate(timeout=LIMIT)[0])
    assert program.returncode == 0 and result["Errors"] == [], result
    result, = result["Devices"]
    assert result["Id"] == "cpu" and "Portable Computing Language" in result["Platform"]
    assert (result["Precision"], result["Accumulator"]) == ("fp32", "fp32") and "TflopsFp16" not in result
    assert 0 < result["GemmMedianTflops"] <= result["GemmTflops"] and result["GemmInterval"] >= 0
    assert result["PeakTflops"] > 0 and result["Method"]
    for metric in ("MemoryBandwidth", "CopyBandwidth"):
        assert result[f"{metric}BytesPerSecond"] > 1e8
    assert result["MeasuredUSec"] > 0
    assert {step["device"] for step in steps} == {"cpu"}
    assert {step["metric"] for step in steps} == {"gemm", "read", "copy", "peak"}
    assert {step["phase"] for step in steps} <= {"build", "trial", "settle", "measure"}
    assert not [name for name in os.listdir(seat.folder / "cache") if name.startswith("tempfile")]


@contextlib.contextmanager
def hogs(number):
    """So many processes that do nothing but that, each for a processor."""
    with contextlib.ExitStack() as running:
        for _ in range(number):
            hog = running.enter_context(subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]))
            running.callback(hog.kill)
        yield


@needs_pocl
def test_work_beside_it_is_told(seat):
    """A busy machine is not measured as a slow one."""
    seat.add_pocl()
    with hogs(os.cpu_count()):
        result = seat.device("cpu", "--metric=read", "--seconds-max=1")
    assert "busy" in result["Flags"]


@needs_pocl
def test_it_gives_way(seat):
    seat.add_pocl()
    with hogs(os.cpu_count()):
        result = seat.device("cpu", "--metric=read,copy", "--give-way", "--seconds-max=1", status=1)
    assert {metric: error["error"] for metric, error in result["Errors"].items()} == {"read": "busy", "copy": "busy"}
    assert result["Errors"]["copy"]["message"] == "not tried: other work was running"
    assert "Flags" not in result and "MemoryBandwidthBytesPerSecond" not in result


def test_what_comes_too_late_on_a_busy_machine_did_not_hang(seat):
    seat.add_fake("hang-build")
    with hogs(2 * os.cpu_count()):
        assert set(seat.errors("--timeout=3").values()) == {"busy"}
