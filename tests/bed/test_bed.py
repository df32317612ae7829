# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bed itself, with the real parts: what other tests rely on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gi.repository import GLib

from bedlib import BedFailure, BusError, FakeRoot, Lldpd, Machine, StandIn, Timeout, Unavailable, network
from bedlib.fixtures import needs_namespaces
from bedlib.process import pid_of
from bedlib.waiting import wait_steadily, wait_until

TEST_POLICY = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE policyconfig PUBLIC "-//freedesktop//DTD PolicyKit Policy Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/PolicyKit/1/policyconfig.dtd">
<policyconfig>
  <action id="org.alidade.bed.refuse">
    <description>d</description><message>m</message>
    <defaults>
      <allow_any>no</allow_any><allow_inactive>no</allow_inactive><allow_active>no</allow_active>
    </defaults>
  </action>
  <action id="org.alidade.bed.ask">
    <description>d</description><message>m</message>
    <defaults>
      <allow_any>auth_admin</allow_any><allow_inactive>auth_admin</allow_inactive>
      <allow_active>auth_admin_keep</allow_active>
    </defaults>
  </action>
</policyconfig>
"""

STANDIN_XML = """<node><interface name="org.alidade.Bed1">
  <property name="Count" type="t" access="read"/>
  <method name="Add"><arg type="u" direction="in"/><arg type="t" direction="out"/></method>
  <method name="Refuse"/>
</interface></node>"""


def alive_below(folder):
    """Pids whose command line or environment names the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if str(folder).encode() in text:
                found.append(int(entry.name))
    return found


# Machines and processes


def test_nothing_is_left_behind(make_host):
    host = make_host()
    # An orphan that ignores signals, in a session of its own.
    host.run(["sh", "-c", f"trap '' HUP TERM; : {host.dir}; setsid sleep 1000 >/dev/null 2>&1 &"])
    folder = host.dir
    assert alive_below(folder)
    host.close()
    assert not alive_below(folder)
    assert not folder.exists()


def test_nothing_is_left_behind_by_a_killed_test_run(tmp_path):
    script = tmp_path / "run.py"
    script.write_text("import sys; sys.path.insert(0, sys.argv[1]); from bedlib import Host\n"
                      "host = Host(); host.__enter__(); host.spawn(['sleep', '1000'])\n"
                      "print(host.outer_pid, host.dir, flush=True); sys.stdin.read()\n")
    run = subprocess.Popen([sys.executable, "-B", script, Path(__file__).parent], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True)
    with run:
        pid, folder = run.stdout.readline().split()
        first_process = os.pidfd_open(int(pid))
        assert alive_below(folder)
        run.kill()
    wait_until(lambda: [pid_of(first_process)] if pid_of(first_process) == -1 or
               not Path(f"/proc/{pid}").exists() else None, "the machine's end", fds=[first_process])
    os.close(first_process)
    wait_steadily(lambda: not alive_below(folder), "the end of who took leave of it")
    assert not Path(folder).exists()


@needs_namespaces
def test_machines_are_apart():
    with Machine("alpha") as alpha, Machine("beta") as beta:
        for machine in (alpha, beta):
            assert machine.run(["hostname"]).stdout.strip() == machine.name
            assert machine.run(["cat", "/etc/machine-id"]).stdout.strip() == machine.machine_id
            assert machine.run(["ls", "/sys/class/net"]).stdout.split() == ["lo"]
        (alpha.root / "etc/only-here").write_text("x")
        assert not (beta.root / "etc/only-here").exists()
        assert not Path("/etc/only-here").exists()


def test_exit_status_and_output(make_host):
    host = make_host()
    done = host.run(["sh", "-c", "cat; echo problem >&2; exit 3"], text_in="hello", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "hello", "problem\n")
    with pytest.raises(BedFailure, match="problem"):
        host.run(["sh", "-c", "echo problem >&2; exit 3"])
    with pytest.raises(OSError, match="No such file"):
        host.spawn(["/nonexistent"])
    assert host.spawn(["sleep", "1000"]).kill() == -9
    with pytest.raises(Timeout):
        host.run(["sleep", "1000"], deadline=0.05)


@needs_namespaces
def test_run_as_another_user(make_host):
    host = make_host()
    host.add_users(["alidade-bed"])
    assert host.run(["id", "-un"], user="nobody").stdout.strip() == "nobody"
    assert host.run(["id", "-un"], user="alidade-bed").stdout.strip() == "alidade-bed"
    credentials = host.connection("nobody").call_bus("GetConnectionCredentials", "s", (
        host.connection("nobody").unique_name,))
    assert credentials["UnixUserID"] == 65534
    assert Path(f"/proc/{host.outer_pid}/root/proc/{credentials['ProcessID']}").exists()


@needs_namespaces
def test_bridge_of_three():
    with Machine("switch") as switch, Machine("one") as one, Machine("two") as two, Machine("three") as three:
        network.add_bridge(switch, "br0")
        for number, machine in enumerate((one, two, three), 1):
            network.join_bridge(switch, "br0", machine, "eth0", f"fd00::{number}/64")
        for address in ("fd00::2", "fd00::3"):
            one.run(["ping", "-c1", "-W5", address])


# The bus


def test_bus_in_well_under_a_second(make_host):
    host = make_host()
    assert host.connection().unique_name.startswith(":1.")
    assert "org.freedesktop.DBus" in host.connection().call_bus("ListNames")


def test_without_namespaces(make_host):
    host = make_host(isolated=False)
    assert host.connection().call_bus("GetConnectionUnixUser", "s",
                                      (host.connection().unique_name,)) == os.geteuid()
    with pytest.raises(Unavailable):
        host.connection("nobody")
    with pytest.raises(Unavailable):
        make_host(isolated=False, network_manager=True)


def test_stand_in_calls_properties_and_signals(make_host):
    host = make_host(strict_bus=False)
    service, client = host.new_connection(), host.connection()
    service.own("org.alidade.Bed1")

    def refuse():
        raise BusError("org.alidade.Error.Refused", "not today")

    stand_in = StandIn(service, "/bed", STANDIN_XML, {"org.alidade.Bed1": {"Count": 7}},
                       {"Add": lambda number: (number + 2**40,), "Refuse": refuse})
    bed = ("org.alidade.Bed1", "/bed", "org.alidade.Bed1")
    assert client.call(*bed, "Add", "u", (1,)) == 2**40 + 1
    with pytest.raises(BusError) as caught:
        client.call(*bed, "Refuse")
    assert (caught.value.name, caught.value.message) == ("org.alidade.Error.Refused", "not today")
    assert client.get(*bed, "Count") == 7
    with client.log_signals("org.alidade.Bed1", "/bed") as log:
        stand_in.change("org.alidade.Bed1", Count=8)
        assert log.wait().args[1] == {"Count": 8}

    def change_twice():
        for count in (5, 6):
            stand_in.change("org.alidade.Bed1", Count=count)

    GLib.idle_add(change_twice)
    # The lookup fails until the value is there.
    assert client.wait_for_property(*bed, "Count", lambda count: {6: True}[count]) == 6
    GLib.idle_add(lambda: stand_in.change("org.alidade.Bed1", Count=9))
    assert client.wait_for_property(*bed, "Count", lambda count: count > 8) == 9

    def change_in_silence(count):
        stand_in.values["org.alidade.Bed1"]["Count"] = 10
        return count > 9

    with pytest.raises(Timeout, match="now 9"):
        client.wait_for_property(*bed, "Count", change_in_silence, deadline=0.2)


def test_waiting_for_a_name(make_host):
    host = make_host(strict_bus=False)
    owner = host.new_connection()
    GLib.idle_add(lambda: owner.own("org.alidade.Bed1") and None)
    assert host.wait_for_name("org.alidade.Bed1") == owner.unique_name
    GLib.idle_add(owner.close)
    host.wait_for_name("org.alidade.Bed1", present=False)
    with pytest.raises(Timeout):
        host.wait_for_name("org.alidade.Bed1", deadline=0.05)


DENY_DIRECTED = ('<policy context="default"><deny send_destination="org.alidade.Bed1" send_type="signal"'
                 ' send_broadcast="false"/></policy>')


@needs_namespaces
@pytest.mark.parametrize("by", ["well-known name", "unique name"])
@pytest.mark.parametrize("policy, delivered", [("", True), (DENY_DIRECTED, False)], ids=["open", "denied"])
def test_forged_directed_signal(make_host, policy, delivered, by):
    host = make_host(bus_policy=policy)
    victim = host.new_connection()
    victim.own("org.alidade.Bed1")
    destination = "org.alidade.Bed1" if by == "well-known name" else victim.unique_name
    with victim.log_signals(interface="org.alidade.Bed1") as log:
        host.forge(destination, "/bed", "org.alidade.Bed1", "Forged", "s", ("evil",))
        # From the same sender, so it cannot overtake: when it is there, the forged one was or never will be.
        host.connection("nobody").emit("/bed", "org.alidade.Bed1", "Broadcast")
        broadcast = log.wait(lambda signal: signal.member == "Broadcast")
    forged = [signal for signal in log.received if signal.member == "Forged"]
    assert broadcast.sender == host.connection("nobody").unique_name
    assert [signal.args for signal in forged] == ([("evil",)] if delivered else [])


@needs_namespaces
def test_strict_bus_keeps_names_from_users(make_host):
    host = make_host()
    with pytest.raises(BusError) as caught:
        host.connection("nobody").own("org.alidade.Bed1")
    assert caught.value.name == "org.freedesktop.DBus.Error.AccessDenied"
    host.new_connection().own("org.alidade.Bed1")


# Real parts


def test_network_manager_sees_a_veth_come_and_go(make_host):
    host = make_host(network_manager=True)
    manager = (host.nm.bus_name, host.nm.path, host.nm.bus_name)
    with host.log_signals(manager[0], manager[1], manager[2]) as events:
        network.add_veth(host, "bed0", "bed1")
        device, peer = (host.nm.wait_for_device(name) for name in ("bed0", "bed1"))
        # Addresses that come while it takes the device over it takes away.
        host.nm.wait_for_state("bed0", host.nm.disconnected)
        network.add_address(host, "bed0", "192.0.2.7/24")
        config = host.wait_for_property(manager[0], device, host.nm.device_interface, "Ip4Config",
                                        lambda path: path != "/")
        host.wait_for_property(manager[0], config, "org.freedesktop.NetworkManager.IP4Config", "AddressData",
                               lambda rows: [row["address"] for row in rows] == ["192.0.2.7"])
        host.wait_for_property(manager[0], device, host.nm.device_interface + ".Veth", "Peer",
                               lambda path: path == peer)
        network.set_up(host, "bed1", False)
        host.wait_for_property(manager[0], device, host.nm.device_interface + ".Wired", "Carrier",
                               lambda carrier: carrier is False)
        network.delete_link(host, "bed0")
        events.wait(lambda signal: signal.member == "DeviceRemoved" and signal.args == (device,))
    assert "bed0" not in host.nm.devices()


def test_network_manager_crashes_and_comes_back(make_host):
    host = make_host(network_manager=True)
    host.nm.kill()
    host.nm.start()
    assert "lo" in host.nm.devices()


def test_lldp_neighbour_arrives(make_host):
    host = make_host(network_manager=True)
    with Machine("bedswitch") as switch:
        network.add_veth(host, "uplink", "port7", switch)
        device = host.nm.activate("uplink", {
            "connection": {"id": GLib.Variant("s", "uplink"), "type": GLib.Variant("s", "802-3-ethernet"),
                           "lldp": GLib.Variant("i", 1)},
            "ipv4": {"method": GLib.Variant("s", "disabled")},
            "ipv6": {"method": GLib.Variant("s", "disabled")},
        })
        Lldpd(switch, "port7").start()
        neighbour, = host.wait_for_property(host.nm.bus_name, device, host.nm.device_interface,
                                            "LldpNeighbors", bool)
    assert neighbour["system-name"] == "bedswitch"
    assert neighbour["port-description"] == "port7"


def test_polkit_decides_for_root_nobody_and_an_allowed_user(make_host, tmp_path):
    host = make_host(polkit=True)
    policy = host.polkit.actions / "org.alidade.bed.policy"
    policy.write_text(TEST_POLICY)
    host.polkit.stop()
    host.polkit.start()
    host.add_users(["alidade-bed"])
    root, nobody, friend = (host.connection(user).unique_name for user in (None, "nobody", "alidade-bed"))
    refuse, ask = "org.alidade.bed.refuse", "org.alidade.bed.ask"
    assert host.polkit.check(refuse, root) == (True, False)
    assert host.polkit.check(refuse, nobody) == (False, False)
    assert host.polkit.check(ask, nobody) == (False, True)
    assert host.polkit.check(ask, friend) == (False, True)
    host.polkit.allow(ask, "alidade-bed")
    assert host.polkit.check(ask, friend) == (True, False)
    assert host.polkit.check(ask, nobody) == (False, True)


def test_hostnamed_tells_the_machine_info(make_host):
    host = make_host(hostnamed={"PRETTY_HOSTNAME": "Ada's laptop", "HARDWARE_VENDOR": "Babbage",
                                "HARDWARE_MODEL": "Engine 2", "CHASSIS": "laptop"})
    hostname1 = (host.hostnamed.bus_name, host.hostnamed.path, host.hostnamed.bus_name)
    assert host.get(*hostname1, "PrettyHostname") == "Ada's laptop"
    assert host.get(*hostname1, "HardwareVendor") == "Babbage"
    assert host.get(*hostname1, "HardwareModel") == "Engine 2"
    assert host.get(*hostname1, "Chassis") == "laptop"
    assert host.get(*hostname1, "Hostname") == host.name
    before = Path("/etc/machine-info").read_bytes() if Path("/etc/machine-info").exists() else None
    with host.log_signals(*hostname1[:2], "org.freedesktop.DBus.Properties") as log:
        host.hostnamed.set_pretty_name("Countess")
        log.wait(lambda signal: signal.args[1].get("PrettyHostname") == "Countess")
    assert 'PRETTY_HOSTNAME=Countess' in (host.root / "etc/machine-info").read_text()
    assert (Path("/etc/machine-info").read_bytes() if before is not None else None) == before


def test_hostnamed_is_activated_after_it_left(make_host):
    host = make_host(hostnamed=True)
    host.hostnamed.stop()
    assert host.get(host.hostnamed.bus_name, host.hostnamed.path, host.hostnamed.bus_name,
                    "Hostname") == host.name


def test_own_bus_apart_from_the_system_bus(make_host):
    host = make_host(hostnamed=True, own_bus=True)
    assert host.connection().owner(host.hostnamed.bus_name) is None
    assert host.connection(bus=host.system_bus).owner(host.hostnamed.bus_name)


def test_fake_root(tmp_path):
    root = FakeRoot(tmp_path / "root")
    root.write_all({"vendor": "0x10de\n"}, "sys/bus/pci/devices/0000:01:00.0")
    root.link("sys/bus/pci/devices/0000:01:00.0/driver", "../../drivers/nvidia")
    assert os.readlink(root.dir / "sys/bus/pci/devices/0000:01:00.0/driver") == "../../drivers/nvidia"
    root.remove("sys/bus")
    assert not (root.dir / "sys/bus").exists()
    assert "MemAvailable" in (root.dir / "proc/meminfo").read_text()
