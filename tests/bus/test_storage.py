# SPDX-License-Identifier: LGPL-2.1-or-later
"""link-probed measures file systems with models, by a played probe and with the real state service: which are due, how
much may be read in a day, which disks are left alone, and what survives restarts."""

import json
import os

import pytest
from gi.repository import Gio, GLib

from bedlib import BusError
from bedlib.waiting import wait_steadily
from link_probe import JOB, LINK_PROBE, PATH, receive_lock

STATE, STATE_PATH = "org.alidade.State1", "/org/alidade/State1"
PLACE = {"Id": "/srv", "FileSystemType": "ext4", "Disks": ["sda"], "Rotational": False, "ModelFiles": 2,
         "ModelBytes": 300_000_000_000}
FIGURES = {"ReadBytesPerSecond": 3_000_000_000, "ReadMedianBytesPerSecond": 3_100_000_000, "ReadInterval": 1.5,
           "ReadSpread": 4.0, "BlockBytes": 1 << 20, "QueueDepth": 4, "ReadBytes": 200_000_000}
LONG = 60  # s; the service looks every 15 s
GRANT = 256_000_000

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may probe without polkit")

# It lists what the file "behaviour" beside it says, and reads as much as it is allowed to.
PROBE = """#!/usr/bin/python3 -I
import json, os, signal, sys
here = os.path.dirname(os.path.abspath(__file__))
with open(here + "/behaviour") as file:
    behaviour = json.load(file)
words = sys.argv[1:]
given = dict(word.lstrip("-").partition("=")[::2] for word in words)
kind = "list" if "list" in given else "read"
with open(f"{here}/calls/.{os.getpid()}", "w") as file:
    json.dump(words, file)
os.rename(f"{here}/calls/.{os.getpid()}", f"{here}/calls/{kind}-{os.getpid()}")
if kind == "list":
    print(json.dumps(behaviour["list"]))
    sys.exit()
place = next(row for row in behaviour["list"]["FileSystems"] if row["Id"] == given["file-system"])
os.write(3, (json.dumps({"device": place["Id"], "phase": "read", "fraction": 0.5}) + "\\n").encode())
if behaviour["what"] == "hang":
    while True:
        signal.pause()
row = {**place, "AttemptBytes": int(given["bytes"])}
if behaviour["what"] == "busy":
    row["AttemptBytes"] = 5_000_000
    print(json.dumps({"FileSystems": [row], "Errors": [
        {"Id": place["Id"], "error": "busy", "message": "other programs use sda"}]}))
    sys.exit(1)
print(json.dumps({"FileSystems": [{**row, **behaviour["figures"], "MeasuredUSec": 5}], "Errors": []}))
"""


class Machine:
    """The services, and their probe."""

    def __init__(self, host, places=(PLACE,), errors=(), what="good"):
        self.host = host
        self.folder = host.dir / "probe"
        (self.folder / "calls").mkdir(parents=True)
        for folder in (self.folder, self.folder / "calls"):
            folder.chmod(0o777)
        program = self.folder / "alidade-probe-storage"
        program.write_text(PROBE)
        program.chmod(0o755)
        self.does(what, places, errors)
        host.sysroot.write("proc/net/dev", "Inter-|\n face |\n    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n")
        host.sysroot.write("proc/diskstats", "8 0 sda 1 0 8 0 1 0 8 0 0 0 0\n")
        host.sysroot.write("sys/block/sda/queue/rotational", "1\n")
        self.daemons = {}
        for name in ("identityd", "stated", "link-probed"):
            self.start(name)
        self.id = host.get(STATE, STATE_PATH, STATE, "NodeId")

    def does(self, what, places=(PLACE,), errors=()):
        fresh = self.folder / "fresh"
        fresh.write_text(json.dumps({"what": what, "list": {"FileSystems": places, "Errors": errors},
                                     "figures": FIGURES}))
        fresh.rename(self.folder / "behaviour")

    def start(self, name):
        self.daemons[name] = self.host.start_daemon(name, env={"ALIDADE_PROBE_DIR": self.folder})

    def restart(self, *names):
        for name in names:
            self.daemons[name].stop()
        for name in names:
            self.start(name)

    def calls(self, kind):
        paths = sorted((self.folder / "calls").glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime_ns)
        return [json.loads(path.read_text(encoding="ascii")) for path in paths]

    def row(self, mount="/srv"):
        found = self.host.call(STATE, STATE_PATH, STATE, "GetStorages").get(self.id, {"FileSystems": []})
        return next((row for row in found["FileSystems"] if row["Id"] == mount), None)

    def wait_row(self, condition, what):
        def look():
            row = self.row()
            return row if row and condition(row) else None
        return wait_steadily(look, what, deadline=LONG)

    def begin(self, mount="", **options):
        options = {name: GLib.Variant("b", value) for name, value in options.items()}
        return self.host.call(LINK_PROBE, PATH, LINK_PROBE, "ProbeStorage", "sa{sv}", (mount, options))

    def wait_job(self, path, *states):
        return self.host.wait_for_property(LINK_PROBE, path, JOB, "State", lambda state: state in states)

    def job(self, path, name):
        return self.host.get(LINK_PROBE, path, JOB, name)

    def inhibit(self):
        message = Gio.DBusMessage.new_method_call(LINK_PROBE, PATH, LINK_PROBE, "Inhibit")
        message.set_body(GLib.Variant("(sss)", ("storage", "trainer", "epoch 7")))
        return receive_lock(self.host.connection(), message)

    def refused(self, *arguments, **options):
        with pytest.raises(BusError) as error:
            self.begin(*arguments, **options)
        return error.value.name.rpartition(".")[2]

    def wait_listed(self):
        wait_steadily(lambda: self.row() is not None, "the list", deadline=LONG)


@pytest.fixture(name="machine")
def _machine(make_host):
    def make(config="", **options):
        config = f"[link-probe]\nmodel-paths=/srv/models;/data\n{config}"
        return Machine(make_host(sysroot=True, config=config), **options)
    return make


def measured(row):
    return "ReadBytesPerSecond" in row


def test_is_measured_once_and_kept(machine):
    service = machine()
    row = service.wait_row(measured, "a figure")
    assert {name: row[name] for name in FIGURES} == FIGURES
    assert {name: row[name] for name in PLACE} == PLACE
    assert row["AttemptBytes"] == row["UsedBytes"] == GRANT and row["AttemptedUSec"] == row["MeasuredUSec"]
    assert service.calls("list")[0] == ["--list", "--json", "--still=sda", "--", "/srv/models", "/data"]
    read, = service.calls("read")
    assert read == ["--json", "--progress-fd=3", "--file-system=/srv", "--give-way", f"--bytes={GRANT}", "--still=sda",
                    "--", "/srv/models", "/data"]
    service.restart("link-probed")
    service.restart("stated", "link-probed")
    assert service.row() == row
    lists = len(service.calls("list"))
    wait_steadily(lambda: len(service.calls("list")) > lists, "another list", deadline=LONG)
    assert len(service.calls("read")) == 1


def test_day_has_its_limit(machine):
    service = machine("storage-mb-per-day=300\n")
    service.wait_row(lambda row: row.get("UsedBytes") == GRANT, "the first attempt")
    service.wait_job(service.begin("/srv"), "done")
    assert "--bytes=44000000" in service.calls("read")[-1]
    service.wait_row(lambda row: row.get("UsedBytes") == 300_000_000, "the second attempt")
    assert service.refused("/srv") == "Busy"
    assert service.refused() == "Busy"
    service.restart("stated", "link-probed")
    service.wait_listed()
    wait_steadily(lambda: service.refused("/srv") == "Busy", "the list", deadline=LONG)
    job = service.begin("/srv", Force=True)
    service.wait_job(job, "done")
    assert "--bytes=256000000" in service.calls("read")[-1] and "--give-way" not in service.calls("read")[-1]
    assert service.job(job, "Kind") == "Node1.Storage" and service.job(job, "Device") == "/srv"
    row, = service.job(job, "Result")["FileSystems"]
    assert row["ReadBytesPerSecond"] == FIGURES["ReadBytesPerSecond"]
    service.wait_row(lambda row: row.get("UsedBytes") == 300_000_000 + GRANT, "the forced attempt")


def test_no_bytes_a_day_is_never(machine):
    service = machine("storage-mb-per-day=0\n")
    row = service.wait_row(lambda row: "WaitingReason" in row, "the reason")
    assert row["WaitingReason"] == "storage-mb-per-day= allows no more bytes today"
    assert not measured(row) and service.calls("read") == []


def test_busy_disk_is_a_failure_whose_bytes_count(machine):
    service = machine(what="busy")
    row = service.wait_row(lambda row: "Failure" in row, "a failure")
    row = service.wait_row(lambda row: "UsedBytes" in row, "its bytes")
    assert row["Failure"] == "busy: other programs use sda"
    assert row["AttemptBytes"] == row["UsedBytes"] == 5_000_000
    assert row["ModelFiles"] == 2 and row["Disks"] == ["sda"] and not measured(row)


def test_lock_stops_it(machine):
    service = machine(what="hang", config="storage-mb-per-day=10000\n")
    wait_steadily(lambda: service.calls("read"), "a run", deadline=LONG)
    lock = service.inhibit()
    # It may have read all that it was allowed to.
    row = service.wait_row(lambda row: row.get("UsedBytes") == GRANT, "what it may have read")
    assert "Failure" not in row and not measured(row)
    assert service.refused("/srv") == "Inhibited"
    assert service.host.get(LINK_PROBE, PATH, LINK_PROBE, "Inhibited") == ["storage"]
    os.close(lock)
    service.host.wait_for_property(LINK_PROBE, PATH, LINK_PROBE, "Inhibited", lambda what: what == [])
    job = service.begin("/srv", Force=True)
    service.host.wait_for_property(LINK_PROBE, job, JOB, "Phase", lambda phase: phase == "read")
    lock = service.inhibit()
    service.wait_job(job, "failed")
    assert service.job(job, "Error").startswith("inhibited by trainer: epoch 7")
    os.close(lock)


def test_disk_that_may_be_asleep_is_left_alone(machine):
    service = machine(places=[{**PLACE, "Rotational": True}])
    row = service.wait_row(lambda row: "WaitingReason" in row, "the reason")
    assert row["WaitingReason"] == "sda may be asleep" and service.calls("read") == []
    assert service.refused("/srv", Force=True) == "Busy"
    # Somebody else woke it.
    service.host.sysroot.write("proc/diskstats", "8 0 sda 2 0 16 0 1 0 8 0 0 0 0\n")
    row = service.wait_row(measured, "a figure")
    assert "WaitingReason" not in row and "--still=sda" not in service.calls("read")[0]


def test_what_hinders_it_is_said(machine):
    reason = "its models cannot be read around the page cache for certain"
    service = machine(errors=[{"Id": "/srv", "error": "page-cache", "message": reason}])
    row = service.wait_row(lambda row: "WaitingReason" in row, "the reason")
    assert row["WaitingReason"] == reason and not measured(row)
    assert service.refused("/srv") == "Busy" and service.calls("read") == []


@pytest.mark.parametrize("config", ["storage=false\n", "model-paths=models\n", "model-paths=/srv/../etc\n"])
def test_nothing_is_looked_for_where_it_is_off(machine, config):
    service = machine(config)
    assert service.refused("/srv") == "NoSuchDevice"
    assert service.calls("list") == []


def test_others_are_not_measured(machine):
    service = machine()
    service.wait_listed()
    assert service.refused("/elsewhere") == "NoSuchDevice"
