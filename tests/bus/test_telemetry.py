# SPDX-License-Identifier: LGPL-2.1-or-later
"""telemetryd on a bus: what it measures, at which times, and what becomes of bad input."""

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess

import pytest

from bedlib import SOURCE, BusError, FakeRoot
from bedlib.fixtures import needs_namespaces
from bedlib.services import build_dir
from contract import assert_follows

NAME = "org.alidade.Telemetry1"
PATH = "/org/alidade/Telemetry1"
KINDS = ("Processor", "Memory", "System", "Backends", "Network", "Disk")
ABSENT = 2 ** 64 - 1
ABSENT_SIGNED = -2 ** 63
KIB = 1024
RAPL = SOURCE / "examples/rapl"
ACCESS_DENIED = "org.freedesktop.DBus.Error.AccessDenied"
PROPERTIES = "org.freedesktop.DBus.Properties"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may mount, and set intervals without polkit")

COFFEE_LAKE = {
    "sys/class/hwmon/hwmon4/name": "coretemp\n",
    "sys/class/hwmon/hwmon4/temp1_label": "Package id 0\n",
    "sys/class/hwmon/hwmon4/temp1_input": "45000\n",
    "sys/class/powercap/intel-rapl:0/name": "package-0\n",
    "sys/class/powercap/intel-rapl:0/energy_uj": "1000\n",
    "sys/class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850\n",
    "proc/pressure/memory": "some avg10=1.50 avg60=0.00 avg300=0.00 total=1\n"
                            "full avg10=0.25 avg60=0.00 avg300=0.00 total=1\n",
}


def record(kind):
    return NAME, PATH, f"org.alidade.Node1.{kind}"


def wait_for(host, kind, field, predicate=lambda value: True):
    return host.wait_for_property(*record(kind), field, predicate)


def set_interval(host, kind, usec, user=None):
    return host.call(NAME, PATH, NAME, "SetInterval", "st", (kind, usec), user=user)


def start(make_host, *, files=None, **options):
    """A host with telemetryd below a made-up root; config is for telemetryd."""
    host = make_host(sysroot=True, **options)
    host.sysroot.write_all(files or {})
    host.start_daemon("telemetryd")
    return host


# First values


def test_first_values(make_host):
    host = start(make_host, files=COFFEE_LAKE)
    # Told before the name was there, so nobody has to wait for them.
    memory = host.connection().get_all(*record("Memory"))
    assert memory["TotalBytes"] == 16384000 * KIB
    assert memory["AvailableBytes"] == 8192000 * KIB
    assert memory["SwapTotalBytes"] == memory["SwapAvailableBytes"] == 2048000 * KIB
    assert (memory["PressureSome10"], memory["PressureFull10"]) == (1.5, 0.25)
    assert memory["Revision"] >= 1
    assert host.get(*record("System"), "TemperatureMilliCelsius") == 45000
    assert [host.get(*record("System"), f"LoadAverage{minutes}") for minutes in (1, 5, 15)] == [0.1, 0.2, 0.3]
    paths = wait_for(host, "Disk", "Paths", lambda rows: len(rows) == 1)
    assert paths[0]["Id"] == "/"
    assert 0 < paths[0]["AvailableBytes"] <= paths[0]["TotalBytes"]
    wait_for(host, "Network", "Interfaces", lambda rows: any(row["Id"] == "lo" for row in rows))
    wait_for(host, "Backends", "Devices", lambda rows: any(row["Class"] == "cpu" for row in rows))
    assert_follows(host.connection(), NAME, PATH, [NAME, *(f"org.alidade.Node1.{kind}" for kind in KINDS)])


def test_load_of_this_machine(make_host):
    """A share needs two samples; the second does not wait for the interval."""
    host = make_host(config="[telemetry]\nsystem-interval-ms=60000\n", daemons=["telemetryd"])
    usage = wait_for(host, "System", "CpuUsage", lambda value: value == value)
    assert 0 <= usage <= 100


def test_power(make_host):
    host = start(make_host, files=COFFEE_LAKE, config="[telemetry]\nsystem-interval-ms=250\n")
    energy = host.sysroot.dir / "sys/class/powercap/intel-rapl:0/energy_uj"
    written = 1000

    def measured(power):
        # As the hardware does: it counts on.
        nonlocal written
        written += 5_000_000
        with energy.open("r+") as counter:
            counter.write(f"{written:020}\n")
        return 0 < power < ABSENT

    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged", "org.alidade.Node1.System") as changes:
        measured(0)
        changes.wait(lambda change: measured(change.args[1].get("PowerMicroWatts", ABSENT)))
    assert host.get(*record("System"), "AbsentReasons") == []


def test_power_of_a_counter_that_stands_still(make_host):
    host = start(make_host, files=COFFEE_LAKE, config="[telemetry]\nsystem-interval-ms=250\n")
    # Each change of the temperature is a sample of the power, too.
    for celsius in range(50, 60, 2):
        host.sysroot.write("sys/class/hwmon/hwmon4/temp1_input", f"{celsius}000\n")
        wait_for(host, "System", "TemperatureMilliCelsius", lambda value: value == celsius * 1000)
        assert host.get(*record("System"), "PowerMicroWatts") == ABSENT


LAPTOP = {
    "sys/class/power_supply/AC/type": "Mains\n",
    "sys/class/power_supply/BAT0/type": "Battery\n",
    "sys/class/power_supply/BAT0/present": "1\n",
    "sys/class/power_supply/BAT0/status": "Discharging\n",
    "sys/class/power_supply/BAT0/capacity": "74\n",
    "sys/class/power_supply/BAT0/current_now": "-750000\n",
    "sys/class/power_supply/BAT0/voltage_now": "12000000\n",
    "sys/class/power_supply/BAT1/type": "Battery\n",
    "sys/class/power_supply/BAT1/status": "Not charging\n",
    "sys/class/power_supply/BAT1/capacity": "255\n",
    "sys/class/power_supply/BAT1/energy_now": "10000000\n",
    "sys/class/power_supply/BAT1/energy_full": "40000000\n",
    "sys/class/power_supply/BAT1/power_now": "4294967295\n",
    "sys/class/power_supply/hidpp_battery_0/type": "Battery\n",
    "sys/class/power_supply/hidpp_battery_0/scope": "Device\n",
    "sys/class/power_supply/hidpp_battery_0/status": "Discharging\n",
}


def test_batteries(make_host):
    """Of the machine, not of its mouse; what cannot be costs its field and a line of the log."""
    host = start(make_host, files=LAPTOP, config="[telemetry]\nsystem-interval-ms=250\n")
    rows = wait_for(host, "System", "Batteries", bool)
    assert rows == [{"Id": "BAT0", "State": "discharging", "ChargePercent": 74.0, "PowerMicroWatts": 9_000_000},
                    {"Id": "BAT1", "State": "idle", "ChargePercent": 25.0}]
    assert host.get(*record("System"), "MeterMicroWatts") == ABSENT
    log = host.daemons[0].log_text()
    for path in ("BAT1/capacity", "BAT1/power_now"):
        assert log.count(path) == 1, log


def test_power_meter(make_host):
    folder = "sys/class/hwmon/hwmon9"
    host = start(make_host, files={f"{folder}/name": "power_meter\n", f"{folder}/power1_average": "412000000\n"},
                 config="[telemetry]\nsystem-interval-ms=250\n")
    assert wait_for(host, "System", "MeterMicroWatts", lambda value: value != ABSENT) == 412_000_000
    assert host.get(*record("System"), "Batteries") == []


STRIX_HALO = {
    "class": "0x038000\n", "vendor": "0x1002\n", "device": "0x1586\n",
    "mem_info_vram_total": f"{96 * 2 ** 30}\n", "mem_info_vram_used": f"{40 * 2 ** 30}\n",
    "mem_info_gtt_total": f"{15 * 2 ** 30}\n", "mem_info_gtt_used": f"{2 ** 30}\n",
    "hwmon/hwmon5/in1_label": "vddnb\n",
}


def test_memory_of_an_apu(make_host):
    """What was carved out for it is its own, the rest is the host's; a virtual function is part of its card."""
    folder = "sys/bus/pci/devices/0000:c5:00"
    host = make_host(sysroot=True)
    host.sysroot.write_all({f"{folder}.0/{name}": text for name, text in STRIX_HALO.items()})
    host.sysroot.write_all({f"{folder}.1/{name}": STRIX_HALO[name] for name in ("class", "vendor", "device")})
    os.symlink("../0000:c5:00.0", host.sysroot.dir / f"{folder}.1/physfn")
    os.symlink("../../../../bus/pci/drivers/amdgpu", host.sysroot.dir / f"{folder}.0/driver")
    host.start_daemon("telemetryd")
    rows = {row["Id"]: row for row in wait_for(host, "Backends", "Devices", bool)}
    assert set(rows) == {"0000:c5:00.0", "cpu"}
    assert rows["cpu"]["SharedBytes"] == 16384000 * KIB
    assert "MemoryTotalBytes" not in rows["cpu"]
    apu = rows["0000:c5:00.0"]
    assert (apu["Unified"], apu["MemoryTotalBytes"], apu["SharedBytes"]) == (True, 96 * 2 ** 30, 15 * 2 ** 30)
    device, = wait_for(host, "System", "Devices", bool)
    assert (device["MemoryUsedBytes"], device["SharedUsedBytes"]) == (40 * 2 ** 30, 2 ** 30)


ARC = {
    "class": "0x030000\n", "vendor": "0x8086\n", "device": "0xe20b\n",
    "hwmon/hwmon5/name": "xe\n", "hwmon/hwmon5/energy1_input": "7000000\n", "hwmon/hwmon5/power1_max": "190000000\n",
    "hwmon/hwmon5/fan1_input": "1100\n", "tile0/gt0/freq0/throttle/status": "0\n",
    "tile0/gt0/freq0/throttle/reason_thermal": "0\n", "tile0/gt0/freq0/throttle/reason_pl1": "1\n",
}


def test_live_figures_of_a_card(make_host):
    """What its driver shows, and nothing of what it does not; a broken file costs its field alone."""
    host = make_host(sysroot=True)
    card = "sys/bus/pci/devices/0000:03:00.0"
    host.sysroot.write_all({f"{card}/{name}": text for name, text in ARC.items()})
    os.symlink("../../../../bus/pci/drivers/xe", host.sysroot.dir / f"{card}/driver")
    host.start_daemon("telemetryd")
    device, = wait_for(host, "System", "Devices", bool)
    assert {field: device[field] for field in device if field != "PowerState"} == {
        "Id": "0000:03:00.0", "EnergyMicroJoules": 7000000, "PowerLimitMicroWatts": 190000000, "FanRpm": 1100,
        "Throttled": False}
    host.sysroot.write(f"{card}/hwmon/hwmon5/fan1_input", "fast\n")
    host.sysroot.write(f"{card}/tile0/gt0/freq0/throttle/status", "1\n")
    device, = wait_for(host, "System", "Devices", lambda rows: rows[0].get("Throttled") and "FanRpm" not in rows[0])
    assert device["ThrottleReasons"] == ["power"]
    assert device["PowerLimitMicroWatts"] == 190000000


CARD = {
    "class": "0x030000\n", "vendor": "0x8086\n", "device": "0x56a0\n", "numa_node": "1\n",
    "max_link_width": "16\n", "max_link_speed": "16.0 GT/s PCIe\n",
    "current_link_width": "8\n", "current_link_speed": "2.5 GT/s PCIe\n",
}


def test_joins_of_a_card(make_host):
    """In a slot with half of its lanes; it is idle, so that its present rate means nothing."""
    host = make_host(sysroot=True)
    port = "pci0000:00/0000:00:01.0"
    card = f"{port}/0000:01:00.0"
    host.sysroot.write_all({f"sys/devices/{card}/{name}": text for name, text in CARD.items()})
    host.sysroot.write_all({f"sys/devices/{port}/max_link_width": "8\n",
                            f"sys/devices/{port}/max_link_speed": "16.0 GT/s PCIe\n"})
    devices = host.sysroot.dir / "sys/bus/pci/devices"
    devices.mkdir(parents=True)
    for way in (port, card):
        os.symlink(f"../../../devices/{way}", devices / os.path.basename(way))
    host.start_daemon("telemetryd")
    join, = wait_for(host, "Backends", "Joins", bool)
    assert join == {"Id": "0000:01:00.0,host,pcie", "Device": "0000:01:00.0", "Peer": "host", "Kind": "pcie",
                    "BitsPerSecond": 8 * 16 * 10 ** 9 * 128 // 130, "Lanes": 8, "LanesMax": 16, "SlotLanes": 8,
                    "TransfersPerSecondMax": 16 * 10 ** 9}
    rows = {row["Id"]: row for row in host.get(*record("Backends"), "Devices")}
    assert rows["0000:01:00.0"]["NumaNode"] == 1
    assert "NumaNode" not in rows["cpu"]


# Changes


def test_memory_follows_its_file(make_host):
    host = start(make_host)
    host.sysroot.write("proc/meminfo", "MemTotal: 16384000 kB\nMemAvailable: 1024000 kB\n")
    assert wait_for(host, "Memory", "AvailableBytes", lambda value: value == 1024000 * KIB)
    memory = host.connection().get_all(*record("Memory"))
    assert memory["SwapTotalBytes"] == ABSENT
    # A change below the threshold of half a percent waits; the next one that counts brings it along.
    revision = memory["Revision"]
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged", "org.alidade.Node1.Memory") as changes:
        host.sysroot.write("proc/meminfo", "MemTotal: 16384000 kB\nMemAvailable: 1024001 kB\n")
        host.sysroot.write("proc/meminfo", "MemTotal: 16384000 kB\nMemAvailable: 512000 kB\n")
        change = changes.wait()
    assert change.args[1]["AvailableBytes"] == 512000 * KIB
    assert change.args[1]["Revision"] == revision + 1
    assert "TotalBytes" not in change.args[1]


def test_hostile_root(make_host):
    """Each broken file costs its own field, and one line of the log."""
    host = start(make_host, config="[telemetry]\nmemory-interval-ms=100\nsystem-interval-ms=250\n", files={
        **COFFEE_LAKE,
        "proc/meminfo": "MemTotal: 16384000 kB\nMemAvailable: 99999999999 kB\nSwapTotal: many kB\n",
        "proc/stat": b"\xff\xfe\x00",
        "proc/pressure/memory": "some avg10=1000.00 avg60=0\nfull avg10=0.50 avg60=0\n",
        "sys/class/hwmon/hwmon4/temp1_input": "999999999\n",
        "sys/class/powercap/intel-rapl:0/energy_uj": "",
    })
    memory = host.connection().get_all(*record("Memory"))
    assert memory["TotalBytes"] == 16384000 * KIB
    assert memory["AvailableBytes"] == memory["SwapTotalBytes"] == ABSENT
    assert memory["PressureSome10"] != memory["PressureSome10"]
    assert memory["PressureFull10"] == 0.5
    # Once the memory has been sampled ten times more, the system has been several times.
    for available in range(1, 11):
        host.sysroot.write("proc/meminfo", f"MemTotal: 16384000 kB\nMemAvailable: {available}000000 kB\n")
        wait_for(host, "Memory", "AvailableBytes", lambda value: value == available * 1000000 * KIB)
    system = host.connection().get_all(*record("System"))
    assert system["CpuUsage"] != system["CpuUsage"]
    assert system["TemperatureMilliCelsius"] == ABSENT_SIGNED
    assert system["PowerMicroWatts"] == ABSENT
    log = host.daemons[0].log_text()
    for path in ("proc/meminfo", "proc/stat", "proc/pressure/memory", "temp1_input", "energy_uj"):
        assert log.count(path) == 1, log


def test_empty_root(make_host):
    host = make_host(sysroot=False)
    host.sysroot = FakeRoot(host.dir / "empty", baseline=False)
    host.start_daemon("telemetryd")
    memory = host.connection().get_all(*record("Memory"))
    assert memory["TotalBytes"] == ABSENT
    wait_for(host, "Network", "Interfaces")
    host.sysroot.write("proc/meminfo", "MemTotal: 8 kB\nMemAvailable: 4 kB\n")
    assert wait_for(host, "Memory", "TotalBytes", lambda value: value == 8 * KIB)


@needs_namespaces
def test_power_that_only_root_may_read(make_host):
    host = make_host(sysroot=True, service_users=True)
    host.sysroot.write_all(COFFEE_LAKE)
    energy = host.sysroot.dir / "sys/class/powercap/intel-rapl:0/energy_uj"
    energy.chmod(0o400)
    host.start_daemon("telemetryd")
    reasons = host.get(*record("System"), "AbsentReasons")
    assert len(reasons) == 1
    assert reasons[0].startswith("PowerMicroWatts: permission denied reading "
                                 "/sys/class/powercap/intel-rapl:0/energy_uj; to allow it, run as root: ")
    assert host.get(*record("System"), "PowerMicroWatts") == ABSENT
    # The command is a file that this build installs.
    installed = json.loads((build_dir() / "meson-info/intro-installed.json").read_text())
    assert installed[str(RAPL / "enable")] == reasons[0].rpartition(": ")[2]
    energy.chmod(0o444)
    wait_for(host, "System", "AbsentReasons", lambda reasons: reasons == [])


def test_enabling_the_power_of_processors(tmp_path):
    """The command installs the rule beside it; the rule gives the counters of packages to the service's group alone."""
    rules, counter = tmp_path / "rules.d", tmp_path / "sys/devices/virtual/powercap/intel-rapl:0/energy_uj"
    rules.mkdir()
    counter.parent.mkdir(parents=True)
    counter.touch(0o400)
    (tmp_path / "udevadm").write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/udevadm.log\n')
    (tmp_path / "udevadm").chmod(0o755)
    shutil.copytree(RAPL, tmp_path / "rapl")
    script = tmp_path / "rapl/enable"
    script.write_text(script.read_text().replace("/etc/udev/rules.d", str(rules)))
    assert os.access(RAPL / "enable", os.X_OK)
    subprocess.run([script], env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, check=True)
    assert (tmp_path / "udevadm.log").read_text().splitlines() == [
        "control --reload", "trigger --action=add --subsystem-match=powercap"]
    rule = rules / "70-alidade-rapl.rules"
    assert rule.stat().st_mode & 0o777 == 0o644
    text = rule.read_text()
    assert 'KERNEL=="intel-rapl:*", KERNEL!="intel-rapl:*:*"' in text
    commands = re.findall(r'RUN\+="(.*?)"', text)
    assert commands[0].split()[:2] == ["/bin/chgrp", "alidade-telemetry"]
    group = str(os.getgid())
    for command in commands:
        command = command.replace("/sys%p", str(counter.parent)).replace("alidade-telemetry", group)
        subprocess.run(command.split(), check=True)
    assert counter.stat().st_mode & 0o777 == 0o440


# Intervals


INTERVALS = [
    ("Node1.Memory", "MemoryIntervalUSec", 100_000, 60_000_000, 500_000),
    ("Node1.System", "SystemIntervalUSec", 250_000, 60_000_000, 1_000_000),
    ("Node1.Disk", "DiskIntervalUSec", 5_000_000, 3_600_000_000, 30_000_000),
]


@needs_root
def test_set_interval(make_host):
    host = start(make_host)
    for kind, field, least, most, usual in INTERVALS:
        assert host.get(NAME, PATH, NAME, field) == usual, kind
        with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged", NAME) as changes:
            for wanted, effective in ((1, least), (2 ** 64 - 1, most), (least + 1, least + 1), (0, usual), (0, usual)):
                assert set_interval(host, kind, wanted) == effective, kind
                assert host.get(NAME, PATH, NAME, field) == effective, kind
            host.connection().fence()
            told = [change.args[1] for change in changes.received]
        assert told == [{field: least}, {field: most}, {field: least + 1}, {field: usual}], kind


@needs_root
def test_faster_is_faster(make_host):
    host = start(make_host, config="[telemetry]\nmemory-interval-ms=60000\n")
    set_interval(host, "Node1.Memory", 100_000)
    host.sysroot.write("proc/meminfo", "MemTotal: 8 kB\nMemAvailable: 4 kB\n")
    wait_for(host, "Memory", "TotalBytes", lambda value: value == 8 * KIB)


def test_kind_without_interval(make_host):
    host = start(make_host)
    for kind in ("Node1.Network", "Node1.Backends", "Node1.Identity", "Memory", "", "x" * 100_000):
        with pytest.raises(BusError) as refused:
            set_interval(host, kind, 1_000_000)
        assert refused.value.name == "org.alidade.Error.NoSuchKind", kind[:20]
        assert len(refused.value.message) < 200, kind[:20]


def test_wrong_types(make_host):
    host = start(make_host)
    for signature, args in (("", ()), ("s", ("Node1.Memory",)), ("ss", ("Node1.Memory", "1")), ("ts", (1, "x")),
                            ("stt", ("Node1.Memory", 1, 1))):
        with pytest.raises(BusError) as refused:
            host.call(NAME, PATH, NAME, "SetInterval", signature, args)
        assert refused.value.name == "org.freedesktop.DBus.Error.InvalidArgs"
    with pytest.raises(BusError):
        host.connection().set(NAME, PATH, NAME, "MemoryIntervalUSec", "t", 1)
    assert host.get(NAME, PATH, NAME, "MemoryIntervalUSec") == 500_000


@needs_namespaces
def test_nobody_may_not(make_host):
    """Without polkit there is nobody to say yes."""
    host = start(make_host)
    with pytest.raises(BusError) as refused:
        set_interval(host, "Node1.Memory", 100_000, user="nobody")
    assert refused.value.name == ACCESS_DENIED
    assert host.get(NAME, PATH, NAME, "MemoryIntervalUSec") == 500_000


@needs_namespaces
def test_polkit_decides(make_host):
    rule = """polkit.addRule(function(action, subject) {
        if (action.id == "org.alidade.telemetry.set-interval" && subject.user == "daemon")
            return polkit.Result.YES;
    });"""
    host = start(make_host, polkit={"10-test.rules": rule})
    assert set_interval(host, "Node1.Memory", 200_000, user="daemon") == 200_000
    with pytest.raises(BusError) as refused:
        set_interval(host, "Node1.Memory", 300_000, user="nobody")
    assert refused.value.name in (ACCESS_DENIED, "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired")
    assert host.get(NAME, PATH, NAME, "MemoryIntervalUSec") == 200_000


# Configuration


def test_bad_values_keep_their_defaults(make_host):
    host = start(make_host, config="[telemetry]\nmemory-interval-ms=50\nsystem-interval-ms=often\n"
                                   "disk-paths=/;relative\ncolour=blue\n")
    assert host.get(NAME, PATH, NAME, "MemoryIntervalUSec") == 500_000
    assert host.get(NAME, PATH, NAME, "SystemIntervalUSec") == 1_000_000
    assert [row["Id"] for row in wait_for(host, "Disk", "Paths", bool)] == ["/"]
    log = host.daemons[0].log_text()
    for key, reason in (("memory-interval-ms=50", "too small"), ("system-interval-ms=often", "not a whole number"),
                        ("disk-paths=/;relative", "absolute"), ("colour", "unknown key")):
        lines = [line for line in log.splitlines() if key in line]
        assert len(lines) == 1 and reason in lines[0] and "config/alidade.conf" in lines[0], log


def read_config_again(host, text):
    host.write_config(text)
    host.daemons[0].signal(signal.SIGHUP)


def test_configuration_is_read_again(make_host):
    host = start(make_host, config="[telemetry]\nmemory-interval-ms=700\n")
    assert host.get(NAME, PATH, NAME, "MemoryIntervalUSec") == 700_000
    host.sysroot.mkdir("data")
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged", NAME) as changes:
        read_config_again(host, "[telemetry]\nmemory-interval-ms=900\ndisk-paths=/;/data\n")
        assert changes.wait().args[1] == {"MemoryIntervalUSec": 900_000}
    assert wait_for(host, "Disk", "Paths", lambda rows: [row["Id"] for row in rows] == ["/", "/data"])


@needs_root
def test_interval_set_by_hand_outlives_the_configuration(make_host):
    host = start(make_host)
    set_interval(host, "Node1.System", 300_000)
    read_config_again(host, "[telemetry]\nmemory-interval-ms=900\nsystem-interval-ms=800\n")
    assert host.wait_for_property(NAME, PATH, NAME, "MemoryIntervalUSec", lambda usec: usec == 900_000)
    assert host.get(NAME, PATH, NAME, "SystemIntervalUSec") == 300_000
    assert set_interval(host, "Node1.System", 0) == 800_000


# Disks


def test_paths(make_host):
    host = make_host(sysroot=True, config="[telemetry]\ndisk-paths=/;/data;/missing\n")
    host.sysroot.mkdir("data")
    host.start_daemon("telemetryd")
    rows = wait_for(host, "Disk", "Paths", lambda rows: len(rows) == 2)
    assert [row["Id"] for row in rows] == ["/", "/data"]
    assert host.daemons[0].log_text().count("/missing") == 1


@contextlib.contextmanager
def mounted(folder, kind, options):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"bed", str(folder).encode(), kind.encode(), 0, options.encode()) != 0:
        pytest.skip(f"no {kind} here: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        libc.umount2(str(folder).encode(), 2)


@contextlib.contextmanager
def dead_file_system(folder):
    """A FUSE mount whose server never answers, as a network file system whose server is gone."""
    server = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    try:
        with mounted(folder, "fuse", f"fd={server},rootmode=40000,user_id=0,group_id=0"):
            yield
    finally:
        # Lets go of whoever waits.
        os.close(server)


@contextlib.contextmanager
def automount_point(folder):
    """Yields where the kernel asks for the mount once somebody triggers it."""
    asked, theirs = os.pipe()
    os.set_blocking(asked, False)
    try:
        with mounted(folder, "autofs", f"fd={theirs},pgrp={os.getpgrp()},minproto=5,maxproto=5,direct"):
            yield asked
    finally:
        os.close(asked)
        os.close(theirs)


@needs_root
def test_file_system_that_does_not_answer(make_host):
    host = make_host(sysroot=True, isolated=False, config="[telemetry]\ndisk-paths=/;/dead\ndisk-interval-s=5\n")
    host.sysroot.mkdir("dead")
    with dead_file_system(host.sysroot.dir / "dead"):
        # To look for leaks a sanitizer stops all threads, and this one cannot be stopped.
        host.start_daemon("telemetryd", env={"ASAN_OPTIONS": "detect_leaks=0"})
        assert [row["Id"] for row in wait_for(host, "Disk", "Paths", bool)] == ["/"]
        # The rest goes on meanwhile.
        host.sysroot.write("proc/meminfo", "MemTotal: 8 kB\nMemAvailable: 4 kB\n")
        wait_for(host, "Memory", "TotalBytes", lambda value: value == 8 * KIB)
        assert host.daemons[0].log_text().count("/dead") == 1
        host.daemons[0].stop()


@needs_root
@pytest.mark.parametrize("path, name", [
    ("/auto", "/auto"), ("/auto/", "/auto"), ("//auto/.", "/auto"), ("/auto/below", "/auto/below")])
def test_automount_point_is_left_alone(make_host, path, name):
    host = make_host(sysroot=True, isolated=False, config=f"[telemetry]\ndisk-paths=/;{path}\n")
    host.sysroot.mkdir("auto")
    with automount_point(host.sysroot.dir / "auto") as asked:
        host.start_daemon("telemetryd")
        assert [row["Id"] for row in wait_for(host, "Disk", "Paths", bool)] == ["/"]
        with pytest.raises(BlockingIOError):
            os.read(asked, 1)
        assert f"{name} is not reported until it is mounted" in host.daemons[0].log_text()
        host.daemons[0].stop()


# Coming and going


def test_killed_and_activated_again(make_host):
    host = make_host(sysroot=True, activation=["telemetryd"])
    assert host.get(*record("Memory"), "TotalBytes") == 16384000 * KIB
    first = host.activated("telemetryd")
    first.kill()
    host.wait_for_name(NAME, present=False)
    assert host.get(*record("Memory"), "TotalBytes") == 16384000 * KIB
    assert host.activated("telemetryd").pid != first.pid
    host.activated("telemetryd").stop()


def test_name_is_taken(make_host):
    host = start(make_host)
    second = host.start_daemon("telemetryd", wait=False)
    assert second.expect_exit() == 1
    assert "Another process owns" in second.log_text()
    assert host.get(*record("Memory"), "TotalBytes") == 16384000 * KIB


def test_stops_at_once(make_host):
    host = start(make_host)
    before = host.daemons[0].log_text().count("Stopping")
    host.daemons[0].stop()
    assert host.daemons[0].log_text().count("Stopping") == before + 1
    host.wait_for_name(NAME, present=False)


def test_stops_with_its_bus(make_host):
    # Not NetworkManager's: GDBus has fatal things to say of a bus that goes in the middle of a call.
    host = start(make_host, own_bus=True)
    host.bus.stop()
    assert host.daemons[0].expect_exit() == 1
    assert "bus has closed the connection" in host.daemons[0].log_text()


def test_says_when_it_is_ready(make_host):
    host = make_host(sysroot=True)
    notify = host.notify_socket()
    host.start_daemon("telemetryd", env={"NOTIFY_SOCKET": notify.path})
    notify.wait("READY=1")
