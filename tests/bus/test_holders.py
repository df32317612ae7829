# SPDX-License-Identifier: LGPL-2.1-or-later
"""The processes that hold devices: what telemetryd shares with the cluster, and shows to each user."""

import os
import signal
from pathlib import Path

import pytest

from bedlib.fixtures import needs_namespaces
from played_witness import PlayedWitness

BUILD = Path(os.environ["ALIDADE_BUILD"])
NAME, PATH = "org.alidade.Telemetry1", "/org/alidade/Telemetry1"
PROCESSES = (NAME, PATH, "org.alidade.Node1.Processes")
SYSTEM = (NAME, PATH, "org.alidade.Node1.System")
RTX, ARC = "0000:01:00.0", "0000:04:00.0"
GIB = 2 ** 30
NOBODY = 65534

MACHINE = {
    f"sys/bus/pci/devices/{RTX}": {"class": "0x030000\n", "vendor": "0x10de\n", "device": "0x2684\n",
                                   "power/runtime_status": "active\n", "power/control": "on\n"},
    f"sys/bus/pci/devices/{ARC}": {"class": "0x030000\n", "vendor": "0x8086\n", "device": "0x56a0\n",
                                   "power/runtime_status": "active\n", "power/control": "on\n"},
}
DRIVERS = {RTX: "nvidia", ARC: "xe"}


def process(pid, program, uid, user, group):
    return {"Id": str(pid), "Program": program, "Uid": uid, "User": user, "ControlGroup": group}


def client(pid, device, **fields):
    return {"Id": f"{pid},{device}", "Process": str(pid), "Device": device, "HasComputeEngine": True, **fields}


ANSWER = {
    "Complete": True,
    "Processes": [process(4711, "ollama", 990, "ollama", "/system.slice/ollama.service"),
                  process(4712, "python3", NOBODY, "nobody", "/user.slice/user-65534.slice/session-1.scope"),
                  process(900, "Xorg", 0, "root", "/system.slice/gdm.service"),
                  process(77, "secret\u001b[31mname", 1000, "alice", "/docker/" + "0123456789abcdef" * 4)],
    "Clients": [client(77, ARC, MemoryBytes=GIB, Usage=55.0)],
}


@pytest.fixture(name="start")
def fixture_start(make_host, tmp_path):
    witnesses = []

    def start(answer=ANSWER, config="", nvml="", files=None, **options):
        host = make_host(sysroot=True, config=config, **options)
        for folder, content in MACHINE.items():
            host.sysroot.write_all(content, below=folder)
        host.sysroot.write_all(files or {})
        for device, driver in DRIVERS.items():
            host.sysroot.link(f"sys/bus/pci/devices/{device}/driver", f"../../../../bus/pci/drivers/{driver}")
        folder = tmp_path / "witness"
        if answer != "absent":
            witnesses.append(PlayedWitness(folder, answer))
            host.witness = witnesses[-1]
        host.start_daemon("telemetryd", env={
            "ALIDADE_WITNESS_DIRECTORY": folder, "FAKE_NVML": nvml, "ALIDADE_LIBEXEC_DIR": BUILD / "services/telemetry",
            "ALIDADE_NVML_LIBRARY": BUILD / "tests/unit/libfake-nvml.so"})
        return host

    yield start
    for witness in witnesses:
        witness.close()


def wait_for(host, field, predicate=bool, record=PROCESSES):
    return host.wait_for_property(*record, field, predicate)


def devices(host, predicate):
    return wait_for(host, "Devices", lambda rows: predicate({row["Id"]: row for row in rows}))


def is_complete(rows):
    return rows.get(RTX, {}).get("Holders") == 3 and ARC in rows


def holders(host, user=None):
    rows = host.call(NAME, PATH, NAME, "GetHolders", user=user)
    return {row["Id"]: row for row in rows}


def read_config_again(host, text):
    host.write_config(text)
    host.daemons[0].signal(signal.SIGHUP)


def test_numbers_alone_by_default(start):
    host = start()
    rows = {row["Id"]: row for row in devices(host, is_complete)}
    assert rows[ARC] == {"Id": ARC, "Holders": 1, "HeldBytes": GIB}
    assert rows[RTX] == {"Id": RTX, "Holders": 3, "HeldBytes": 3 * GIB + 4711 + 4712 + 900}
    record = host.connection().get_all(*PROCESSES)
    assert record["Holders"] == [] and record["AbsentReasons"] == []
    for name in ("ollama", "nobody", "python3", "alice", "4711", "docker"):
        assert name not in str(record)
    # Those that NVML knows were named to the witness.
    assert any({"4711", "4712", "900"} <= set(request["Pids"]) for request in host.witness.requests)


def test_what_is_shared_follows_the_configuration(start):
    host = start(config="[telemetry]\nshare-processes=units\n")
    units = wait_for(host, "Holders", lambda rows: len(rows) == 4)
    assert {row["Id"] for row in units} == {
        f"{RTX},unit,ollama.service", f"{RTX},unit,gdm.service", f"{RTX},session",
        f"{ARC},container,docker:0123456789ab"}
    assert not any({"Pid", "Program", "User"} & row.keys() for row in units)

    read_config_again(host, "[telemetry]\nshare-processes=all\n")
    rows = {row["Id"]: row for row in wait_for(host, "Holders", lambda rows: any("Pid" in row for row in rows))}
    assert rows[f"{RTX},4712"]["Program"] == "python3" and rows[f"{RTX},4712"]["User"] == "nobody"
    assert "\u001b" not in str(rows)

    # A word that nobody knows shares nothing, also while the service runs.
    read_config_again(host, "[telemetry]\nshare-processes=nothing\n")
    wait_for(host, "Holders", lambda rows: rows == [])
    read_config_again(host, "[telemetry]\nshare-processes=units\n")
    wait_for(host, "Holders", lambda rows: len(rows) == 4)
    read_config_again(host, "[telemetry]\n")
    wait_for(host, "Holders", lambda rows: rows == [])
    assert len(devices(host, bool)) == 2


@needs_namespaces
def test_who_may_see_whom(start):
    """Root sees all, and a user those of his own, whatever is shared with the cluster."""
    host = start()
    devices(host, is_complete)
    everybody = holders(host)
    assert set(everybody) == {f"{RTX},4711", f"{RTX},4712", f"{RTX},900", f"{ARC},77"}
    assert everybody[f"{RTX},900"]["Program"] == "Xorg"

    own = holders(host, user="nobody")
    assert own[f"{RTX},4712"]["Pid"] == 4712 and own[f"{RTX},4712"]["User"] == "nobody"
    assert set(own) == {f"{RTX},4712", f"{RTX},unit,ollama.service", f"{RTX},unit,gdm.service",
                        f"{ARC},container,docker:0123456789ab"}
    others = holders(host, user="daemon")
    assert f"{RTX},session" in others and len(others) == 4
    for row in others.values():
        assert not {"Pid", "Program", "User"} & row.keys()
    for name in ("python3", "nobody", "4711", "alice", "secret", "Xorg"):
        assert name not in str(others)
    assert host.get(*PROCESSES, "Holders") == []


@pytest.mark.parametrize("answer", ["absent", b"rubbish", b'{"Processes":7', b"\xff\xfe"])
def test_without_a_witness_that_works(start, answer):
    """What NVML knows stays, and the record says what is missing."""
    host = start(answer)
    rows = {row["Id"]: row for row in devices(host, lambda rows: rows.get(RTX, {}).get("Holders") == 3)}
    assert ARC not in rows
    reason, = wait_for(host, "AbsentReasons")
    assert reason.startswith("Holders: ")
    assert holders(host)[f"{RTX},4711"]["Pid"] == 4711


def test_a_witness_that_is_killed(start):
    host = start()
    devices(host, is_complete)
    host.witness.close()
    assert ["Holders: " in reason for reason in wait_for(host, "AbsentReasons")] == [True]
    devices(host, lambda rows: ARC not in rows and rows[RTX]["Holders"] == 3)
    # It knew who they are, and that does not hold any longer.
    assert "Program" not in str(holders(host))


def test_a_witness_that_hangs(start):
    """Everything else is reported meanwhile."""
    host = start(answer=None)
    host.wait_for_property(*SYSTEM, "Devices", bool)
    assert holders(host) == {}
    reason, = wait_for(host, "AbsentReasons")
    assert "does not answer" in reason
    devices(host, lambda rows: rows[RTX]["Holders"] == 3)


def test_more_than_anybody_may_hold(start):
    """5,000 processes of NVIDIA's library, and a witness that answers with more rows than it may."""
    host = start({**ANSWER, "Clients": [client(pid, ARC, MemoryBytes=1, Usage=1) for pid in range(1000, 2100)]},
                 nvml="many-processes", config="[telemetry]\nshare-processes=all\n")
    devices(host, lambda rows: rows.get(ARC, {}).get("Holders", 0) >= 1000 and rows[RTX].get("Holders") == 5000)
    rows = wait_for(host, "Holders", lambda rows: len(rows) > 500)
    assert len(rows) <= 1024
    reason, = [reason for reason in wait_for(host, "AbsentReasons") if "too many" in reason]
    assert reason.startswith("Holders: ")


def test_work_is_recognised(start):
    """Whatever its API; a display server is none."""
    host = start()
    system = host.wait_for_property(
        *SYSTEM, "Devices", lambda rows: any(row["Id"] == ARC and row.get("ComputeProcesses") == 1 for row in rows))
    rtx, = [row for row in system if row["Id"] == RTX]
    assert rtx["ComputeProcesses"] == 2


def test_a_device_that_would_be_woken(start):
    """xe wakes its device to report what a process used of it, so nobody reads that while it sleeps."""
    status = f"sys/bus/pci/devices/{ARC}/power/runtime_status"
    host = start(files={status: "suspended\n"})
    devices(host, lambda rows: ARC not in rows and rows.get(RTX, {}).get("Holders") == 3)
    assert host.witness.requests == []
    reason, = wait_for(host, "AbsentReasons")
    assert "would wake" in reason
    # The service keeps the file open.
    (host.sysroot.dir / status).write_text("active\n", encoding="ascii")
    devices(host, is_complete)
    assert host.witness.requests != []


def test_only_a_processor(make_host, tmp_path):
    """There is nothing to ask for."""
    host = make_host(sysroot=True)
    witness = PlayedWitness(tmp_path / "witness", ANSWER)
    host.start_daemon("telemetryd", env={"ALIDADE_WITNESS_DIRECTORY": witness.folder})
    # Telemetry's second record of the system comes after the first look.
    with host.log_signals(NAME, PATH, None, "PropertiesChanged") as changes:
        for _ in range(3):
            host.sysroot.write("proc/loadavg", f"{_ + 3}.10 0.20 0.30 1/100 1000\n")
            changes.wait()
    assert holders(host) == {}
    assert "org.alidade.Node1.Processes" not in host.connection().introspect(NAME, PATH)
    assert witness.requests == []
    witness.close()
