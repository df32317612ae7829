# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Network record against the real kernel, NetworkManager and lldpd. Whatever is waited for must be told
by a signal well before the resend, which comes after 30 s."""

import contextlib
import shutil
import signal
from pathlib import Path

import pytest
from gi.repository import GLib

from bedlib import SERVICES, BedFailure, Lldpd, Machine, NetworkManager, network, wait_until
from bedlib.connection import PROPERTIES
from bedlib.fixtures import needs_namespaces

NAME = "org.alidade.Telemetry1"
PATH = "/org/alidade/Telemetry1"
NETWORK = (NAME, PATH, "org.alidade.Node1.Network")
NM = "org.freedesktop.NetworkManager"
MOCK = "org.freedesktop.DBus.Mock"

pytestmark = needs_namespaces


def by_id(rows):
    return {row["Id"]: row for row in rows}


def interfaces(host):
    return by_id(host.get(*NETWORK, "Interfaces"))


def wait_for(host, predicate, **options):
    """The interfaces by name, once the predicate holds for them."""
    rows = host.wait_for_property(*NETWORK, "Interfaces", lambda rows: predicate(by_id(rows)), **options)
    return by_id(rows)


def wait_for_row(host, name, **fields):
    """The row, once it has these fields; None for a field that must be absent."""
    def matches(rows):
        return name in rows and all(rows[name].get(field) == value for field, value in fields.items())
    return wait_for(host, matches)[name]


def ip(host, command):
    network.ip(host, *command.split())


def ip_batch(host, commands):
    host.run(["ip", "-batch", "-"], text_in="\n".join(commands) + "\n")


def can_add(host, command):
    """False for a kind of interface that this kernel lacks."""
    done = host.run(["ip", *command.split()], check=False)
    if done.returncode != 0 and "not supported" not in done.stderr and "Unknown device type" not in done.stderr:
        raise BedFailure(done.stderr)
    return done.returncode == 0


def add_or_skip(host, command):
    if not can_add(host, command):
        pytest.skip(f"the kernel has no such interface: ip {command}")


def text(value):
    return GLib.Variant("s", value)


def profile(name, **connection):
    """A NetworkManager connection without addresses."""
    return {"connection": {"id": text(name), "type": text("802-3-ethernet"), **connection},
            "ipv4": {"method": text("disabled")}, "ipv6": {"method": text("disabled")}}


# Interfaces by rtnetlink


def test_first_rows(make_host):
    host = make_host()
    network.add_veth(host, "bed0", "bed1")
    network.add_address(host, "bed0", "192.0.2.1/24")
    host.start_daemon("telemetryd")
    rows = wait_for(host, bool)
    assert sorted(rows) == ["bed0", "bed1", "lo"]
    assert rows["lo"] == {"Id": "lo", "Type": "loopback", "Addresses": ["127.0.0.1/8", "::1/128"],
                          "Mtu": 65536, "Carrier": True, "Enabled": True}
    hardware = (host.root / "sys/class/net/bed0/address").read_text().strip()
    bed0 = rows["bed0"]
    assert "192.0.2.1/24" in bed0.pop("Addresses")
    # No speed: the 10 Gb/s that a veth tells of are made up.
    assert bed0 == {"Id": "bed0", "Type": "veth", "HardwareAddress": hardware, "Mtu": 1500,
                    "Driver": "veth", "Carrier": True, "Enabled": True}
    assert host.get(*NETWORK, "Neighbours") == []


def test_comes_and_goes(make_host):
    host = make_host(daemons=["telemetryd"])
    wait_for(host, lambda rows: sorted(rows) == ["lo"])
    network.add_veth(host, "bed0", "bed1")
    wait_for(host, lambda rows: sorted(rows) == ["bed0", "bed1", "lo"])
    network.delete_link(host, "bed0")
    wait_for(host, lambda rows: sorted(rows) == ["lo"])


def test_moves_to_another_namespace(make_host):
    host = make_host(daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    wait_for(host, lambda rows: {"bed0", "bed1"} <= rows.keys())
    ip(host, "netns add elsewhere")
    ip(host, "link set bed1 netns elsewhere")
    rows = wait_for(host, lambda rows: "bed1" not in rows)
    assert "bed0" in rows
    # Its index over there may well be that of somebody here.
    assert "Parent" not in rows["bed0"]


def test_carrier(make_host):
    host = make_host(daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    wait_for_row(host, "bed0", Carrier=True)
    network.set_up(host, "bed1", False)
    rows = wait_for(host, lambda rows: rows["bed0"]["Carrier"] is False)
    assert rows["bed1"]["Carrier"] is False
    network.set_up(host, "bed1")
    wait_for_row(host, "bed0", Carrier=True)


def test_addresses(make_host):
    host = make_host(daemons=["telemetryd"])
    ip(host, "link add br0 type bridge")
    wait_for_row(host, "br0", Addresses=None)
    for address in ("192.0.2.20/24", "192.0.2.3/32", "2001:db8::a:0:0:1/64", "fe80::1/64"):
        network.add_address(host, "br0", address)
    wait_for_row(host, "br0", Addresses=["192.0.2.3/32", "192.0.2.20/24", "2001:db8::a:0:0:1/64",
                                         "fe80::1/64"])
    network.delete_address(host, "br0", "192.0.2.3/32")
    network.delete_address(host, "br0", "2001:db8::a:0:0:1/64")
    wait_for_row(host, "br0", Addresses=["192.0.2.20/24", "fe80::1/64"])
    ip(host, "address add 192.0.2.40 peer 192.0.2.41/32 dev br0")
    wait_for_row(host, "br0", Addresses=["192.0.2.20/24", "192.0.2.40/32", "fe80::1/64"])


def test_tentative_address_waits(make_host):
    """An address is shown when it has proven to be no duplicate, not before, and by event."""
    host = make_host(daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    wait_for_row(host, "bed0", Carrier=True)
    # Seconds of proof, so that it is looked at within them.
    host.run(["sh", "-c", "echo 5 >/proc/sys/net/ipv6/conf/bed0/dad_transmits"])
    seen = []
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged", NETWORK[2]) as log:
        log.on_signal = lambda s: seen.append(by_id(s.args[1].get("Interfaces", [])).get("bed0", {}))
        ip(host, "address add 2001:db8::7/64 dev bed0")
        flags = host.run(["ip", "-6", "address", "show", "dev", "bed0", "tentative"]).stdout
        wait_until(lambda: any("2001:db8::7/64" in row.get("Addresses", []) for row in seen),
                   "the address")
    assert "2001:db8::7" in flags
    assert "2001:db8::7" not in host.run(["ip", "-6", "address", "show", "dev", "bed0", "tentative"]).stdout


def test_every_address_counts(make_host):
    host = make_host(daemons=["telemetryd"])
    ip(host, "link add br0 type bridge")
    wanted = {f"10.0.{i // 250}.{i % 250 + 1}/16" for i in range(500)} | {f"2001:db8::{i:x}/64"
                                                                          for i in range(1, 300)}
    ip_batch(host, [f"address add {a} dev br0 {'nodad' if ':' in a else ''}" for a in sorted(wanted)])
    wait_for(host, lambda rows: set(rows.get("br0", {}).get("Addresses", [])) == wanted)
    ip(host, "address flush dev br0")
    wait_for_row(host, "br0", Addresses=None)


def test_mtu(make_host):
    host = make_host(daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    wait_for_row(host, "bed0", Mtu=1500)
    ip(host, "link set bed0 mtu 9000")
    rows = wait_for(host, lambda rows: rows["bed0"]["Mtu"] == 9000)
    assert rows["bed1"]["Mtu"] == 1500


def test_rename(make_host):
    host = make_host(daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    network.add_address(host, "bed0", "192.0.2.1/24")
    before = wait_for(host, lambda rows: "192.0.2.1/24" in rows.get("bed0", {}).get("Addresses", []))["bed0"]
    ip(host, "link set bed0 name lan0")
    rows = wait_for(host, lambda rows: "lan0" in rows)
    assert "bed0" not in rows
    assert rows["lan0"]["HardwareAddress"] == before["HardwareAddress"]
    assert "192.0.2.1/24" in rows["lan0"]["Addresses"]


# Kinds


def test_bridge_with_its_ports(make_host):
    host = make_host(daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    network.add_veth(host, "bed2", "bed3")
    network.add_bridge(host, "br0", ["bed2", "bed0"])
    wait_for_row(host, "br0", Type="bridge", Driver="bridge", Ports=["bed0", "bed2"])
    assert interfaces(host)["bed0"]["Controller"] == "br0"
    # The kernel tells of a port leaving as of a deletion, but for the bridge's family.
    ip(host, "link set bed0 nomaster")
    wait_for_row(host, "br0", Ports=["bed2"])
    wait_for_row(host, "bed0", Controller=None, Carrier=True)
    ip(host, "link set br0 name br1")
    wait_for_row(host, "bed2", Controller="br1")
    network.delete_link(host, "br1")
    wait_for_row(host, "bed2", Controller=None)


KINDS = [
    ("link add x0 link bed0 type vlan id 7", "vlan", "bed0"),
    ("link add x0 link bed0 type macvlan", "veth", "bed0"),
    ("link add x0 link bed0 type ipvlan", "veth", "bed0"),
    ("link add x0 link bed0 type macsec", "veth", "bed0"),
    ("link add x0 type vxlan id 7 dev bed0 dstport 4789", "tunnel", "bed0"),
    ("link add x0 type geneve id 7 remote 192.0.2.2", "tunnel", None),
    ("link add x0 type gre local 192.0.2.1 remote 192.0.2.2", "tunnel", None),
    ("link add x0 type sit local 192.0.2.1 remote 192.0.2.2", "tunnel", None),
    ("link add x0 type ipip local 192.0.2.1 remote 192.0.2.2", "tunnel", None),
    ("link add x0 type wireguard", "tunnel", None),
    ("tuntap add x0 mode tun", "tunnel", None),
    ("tuntap add x0 mode tap", "tunnel", None),
    ("link add x0 type bond", "bond", None),
    ("link add x0 type team", "bond", None),
    ("link add x0 type dummy", "dummy", None),
    ("link add x0 type bridge", "bridge", None),
    ("link add x0 type veth peer name x1", "veth", None),
    ("link add x0 type ifb", "unknown", None)]


def test_kinds(make_host):
    host = make_host(daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    network.add_address(host, "bed0", "192.0.2.1/24")
    for command, kind, parent in KINDS:
        if not can_add(host, command):
            continue
        print(command)
        row = wait_for_row(host, "x0", Type=kind, Parent=parent)
        assert "SpeedBitsPerSecond" not in row, command
        # IP tunnels keep an IP address where others keep that of the link layer.
        assert len(row.get("HardwareAddress", ":::::").split(":")) == 6, command
        network.delete_link(host, "x0")
        wait_for(host, lambda rows: "x0" not in rows)


def test_bond_with_its_ports(make_host):
    host = make_host(daemons=["telemetryd"])
    add_or_skip(host, "link add bond0 type bond")
    network.add_veth(host, "bed0", "bed1")
    network.set_up(host, "bed0", False)
    ip(host, "link set bed0 master bond0")
    wait_for_row(host, "bond0", Type="bond", Ports=["bed0"])
    wait_for_row(host, "bed0", Controller="bond0")


# Load and loss


def netlink_socket(process):
    """What the kernel tells of the rtnetlink socket of this process."""
    lines = Path(f"/proc/{process.outer_pid}/net/netlink").read_text().splitlines()
    rows = [dict(zip(lines[0].split(), line.split())) for line in lines[1:]]
    # The groups tell it from sockets that only ask.
    ours, = [row for row in rows if row["Eth"] == "0" and int(row["Groups"], 16) & 0x111 == 0x111]
    return ours


def drops(process):
    """Datagrams that found no room there."""
    return int(netlink_socket(process)["Drops"])


FORGE_LINK = """
import socket, struct, sys
name = struct.pack("HH6sxx", 10, 3, b"ghost")
mtu = struct.pack("HHI", 8, 4, 1500)
body = struct.pack("BxHiII", 0, 1, 4711, 0x10001, 0) + name + mtu
message = struct.pack("IHHII", 16 + len(body), 16, 0, 0, 0) + body
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).sendto(message, (int(sys.argv[1]), 0))
"""


def test_only_the_kernel_is_believed(make_host):
    """Who has the right to may send to any netlink socket; the kernel is port 0."""
    host = make_host(daemons=["telemetryd"])
    wait_for(host, bool)
    port = netlink_socket(host.daemons[0])["Pid"]
    host.run(["/usr/bin/python3", "-c", FORGE_LINK, port])
    network.add_veth(host, "bed0", "bed1")
    rows = wait_for(host, lambda rows: {"bed0", "bed1"} <= rows.keys())
    assert sorted(rows) == ["bed0", "bed1", "lo"]


def test_lost_messages(make_host):
    """Stopped while more happens than its socket holds, it catches up, and nothing is missing meanwhile."""
    host = make_host(daemons=["telemetryd"])
    ip(host, "link add br0 type bridge")
    ip(host, "link add gone0 type bridge")
    network.add_address(host, "br0", "192.0.2.1/24")
    wait_for(host, lambda rows: "Addresses" in rows.get("br0", {}) and "gone0" in rows)
    telemetryd = host.daemons[0]
    telemetryd.signal(signal.SIGSTOP)
    seen = []
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged", NETWORK[2]) as log:
        log.on_signal = lambda s: seen.append(by_id(s.args[1]["Interfaces"]))
        churn = [f"address {verb} 10.{i}.{k}.1/24 dev br0" for i in range(20) for k in range(100)
                 for verb in ("add", "del")]
        ip_batch(host, churn)
        while drops(telemetryd) == 0:
            ip_batch(host, churn)
        ip(host, "link delete gone0")
        ip(host, "link add fresh0 type bridge")
        network.delete_address(host, "br0", "192.0.2.1/24")
        network.add_address(host, "br0", "198.51.100.1/24")
        telemetryd.signal(signal.SIGCONT)
        wait_until(lambda: seen and seen[-1]["br0"].get("Addresses") == ["198.51.100.1/24"]
                   and "fresh0" in seen[-1] and "gone0" not in seen[-1], "the state after the loss")
    assert drops(telemetryd) > 0
    assert all("lo" in rows and "br0" in rows for rows in seen)


def cheap_kind(host):
    """A kind of interface that the kernel has, and of which it takes down many at once in no time."""
    dummy = host.run(["ip", "link", "add", "probe0", "type", "dummy"], check=False)
    if dummy.returncode != 0:
        return "ifb"
    ip(host, "link delete probe0")
    return "dummy"


def test_five_hundred_interfaces(make_host):
    host = make_host()
    kind = cheap_kind(host)
    host.start_daemon("telemetryd")
    wait_for(host, bool)
    changes = []
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged", NETWORK[2]) as log:
        log.on_signal = lambda s: changes.append(len(s.args[1]["Interfaces"]))
        begun = GLib.get_monotonic_time()
        ip_batch(host, [f"link add many{i} group 500 type {kind}" for i in range(500)])
        wait_until(lambda: changes and changes[-1] == 501, "all rows")
        seconds = (GLib.get_monotonic_time() - begun) / 1e6
    # Told at most every 50 ms, however many there are.
    assert len(changes) <= seconds * 20 + 2
    assert interfaces(host)["many499"]["Driver"] == kind
    ip(host, "link delete group 500")
    wait_for(host, lambda rows: sorted(rows) == ["lo"])


def test_more_interfaces_than_a_record_holds(make_host):
    """The oldest stay, the log says how many are left out, and they show up as soon as there is room."""
    host = make_host()
    kind = cheap_kind(host)
    host.start_daemon("telemetryd")
    ip_batch(host, [f"link add many{i} type {kind}" for i in range(1030)])
    wait_for(host, lambda rows: len(rows) == 1024)
    assert "many1029" not in interfaces(host)
    ip_batch(host, [f"link delete many{i}" for i in range(10)])
    rows = wait_for(host, lambda rows: "many1029" in rows and "many9" not in rows)
    assert len(rows) == 1021
    lines = [line for line in host.daemons[0].log_text().splitlines() if "interfaces" in line]
    # Their number changes while they come and go; the same number is logged once.
    assert lines and all("1024" in line for line in lines)
    assert all(line != following for line, following in zip(lines, lines[1:]))


# NetworkManager


def test_network_manager_adds_what_it_knows(make_host):
    host = make_host(network_manager=True, daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    wait_for_row(host, "bed0", Connection=None)
    host.nm.activate("bed0", profile("office", metered=GLib.Variant("i", 1)))
    row = wait_for_row(host, "bed0", Connection="office", Metered="yes")
    assert row["Type"] == "veth"
    wait_for_row(host, "lo", Connection="lo", Type="loopback")


def set_metered(host, interface, value):
    """On the device as it is, without a new activation."""
    host.run(["nmcli", "device", "modify", interface, "connection.metered", value])


def test_network_manager_changes_its_mind(make_host):
    host = make_host(network_manager=True, daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    device = host.nm.activate("bed0", profile("office", metered=GLib.Variant("i", 1)))
    wait_for_row(host, "bed0", Metered="yes")
    set_metered(host, "bed0", "no")
    wait_for_row(host, "bed0", Metered="no")
    host.nm.call(device, host.nm.device_interface, "Disconnect")
    wait_for_row(host, "bed0", Connection=None)


def test_rename_under_network_manager(make_host):
    host = make_host(network_manager=True, daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    host.nm.activate("bed0", profile("office"))
    wait_for_row(host, "bed0", Connection="office")
    network.set_up(host, "bed0", False)
    ip(host, "link set bed0 name lan0")
    network.set_up(host, "lan0")
    host.nm.activate("lan0", profile("renamed"))
    rows = wait_for(host, lambda rows: rows.get("lan0", {}).get("Connection") == "renamed")
    assert "bed0" not in rows


def test_network_manager_crashes_and_comes_back(make_host):
    """Its words go and return; no row and nothing of rtnetlink's goes meanwhile."""
    # Else it would take the address away itself.
    unmanaged = "[keyfile]\nunmanaged-devices=interface-name:bed1\n"
    host = make_host(network_manager=unmanaged, daemons=["telemetryd"])
    network.add_veth(host, "bed0", "bed1")
    network.add_address(host, "bed1", "192.0.2.1/24")
    host.nm.activate("bed0", profile("office", metered=GLib.Variant("i", 1)))
    wait_for_row(host, "bed0", Connection="office")
    seen = []
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged", NETWORK[2]) as log:
        log.on_signal = lambda s: seen.append(by_id(s.args[1]["Interfaces"]))
        for _ in range(2):
            host.nm.kill()
            wait_for_row(host, "bed0", Connection=None, Metered=None, Type="veth")
            host.nm.start()
            wait_for_row(host, "bed0", Metered="yes")
    assert seen
    for rows in seen:
        assert sorted(rows) == ["bed0", "bed1", "lo"]
        assert "192.0.2.1/24" in rows["bed1"]["Addresses"]
        assert all(rows[name]["Mtu"] == 1500 and rows[name]["Carrier"] for name in ("bed0", "bed1"))


def test_no_system_bus(make_host):
    """Alidade's bus is its own, and there is no other: interfaces all the same, one line of log; then the
    system bus and NetworkManager come, and go, and come."""
    host = make_host(own_bus=True)
    host.system_bus.stop()
    telemetryd = host.start_daemon("telemetryd")
    network.add_veth(host, "bed0", "bed1")
    wait_for_row(host, "bed0", Type="veth", Carrier=True)
    for metered in ("yes", "yes"):
        host.system_bus.start()
        connection = host.new_connection(bus=host.system_bus)
        nm = NetworkManager(host, host.system_bus, connection)
        nm.start()
        nm.activate("bed0", profile("office", metered=GLib.Variant("i", 1)))
        wait_for(host, lambda rows: rows["bed0"].get("Metered") == metered, deadline=40)
        host.system_bus.stop()
        wait_for_row(host, "bed0", Metered=None, Carrier=True)
        nm.process.kill()
    complaints = [line for line in telemetryd.log_text().splitlines() if "NetworkManager" in line]
    assert len(complaints) == 3


def maps_libnm(daemon):
    return "libnm" in Path(f"/proc/{daemon.outer_pid}/maps").read_text(encoding="utf-8")


def test_libnm_comes_with_network_manager(make_host):
    """Where there is no NetworkManager its library takes no memory; when one comes, it is loaded."""
    host = make_host()
    telemetryd = host.start_daemon("telemetryd")
    network.add_veth(host, "bed0", "bed1")
    wait_for_row(host, "bed0", Type="veth", Carrier=True)
    assert not maps_libnm(telemetryd)
    nm = NetworkManager(host, host.system_bus, host.connection())
    nm.start()
    nm.activate("bed0", profile("office"))
    wait_for_row(host, "bed0", Connection="office")
    assert maps_libnm(telemetryd)


def test_goes_on_without_its_module(make_host):
    """One line of log, however often NetworkManager comes, and all that the kernel tells."""
    host = make_host(network_manager=True)
    network.add_veth(host, "bed0", "bed1")
    host.nm.activate("bed0", profile("office"))
    alone = shutil.copy(SERVICES["telemetryd"].binary, host.dir)
    telemetryd = host.spawn([alone], "alone", env=host.daemon_environment("telemetryd"))
    host.wait_for_name(NAME)
    wait_for_row(host, "bed0", Type="veth", Carrier=True, Connection=None)
    host.nm.kill()
    host.nm.start()
    network.set_up(host, "bed1", False)
    wait_for_row(host, "bed0", Carrier=False, Connection=None)
    assert telemetryd.log_text().count("shown without NetworkManager") == 1
    telemetryd.stop()


def test_neighbour_by_lldp(make_host):
    host = make_host(network_manager=True, daemons=["telemetryd"])
    with Machine("bedswitch") as switch:
        network.add_veth(host, "uplink", "port7", switch)
        host.nm.activate("uplink", profile("uplink", lldp=GLib.Variant("i", 1)))
        wait_for_row(host, "uplink", Connection="uplink")
        assert host.get(*NETWORK, "Neighbours") == []
        Lldpd(switch, "port7").start()
        row, = host.wait_for_property(*NETWORK, "Neighbours", bool)
    hardware = row["ChassisId"]
    assert row == {"Id": f"uplink,{hardware},{row['PortId']}", "Interface": "uplink", "ChassisId": hardware,
                   "PortId": row["PortId"], "SystemName": "bedswitch", "PortDescription": "port7"}
    assert len(hardware.split(":")) == 6
    # With NetworkManager goes who heard it.
    host.nm.kill()
    host.wait_for_property(*NETWORK, "Neighbours", lambda rows: rows == [])


def test_wifi_by_network_manager(make_host):
    """A played NetworkManager has a Wi-Fi device by the name of an interface here: it is believed."""
    host = make_host(strict_bus=False)
    network.add_veth(host, "wlan0", "air0")
    host.start_daemon("telemetryd")
    # Until the link-local addresses are there, which would be a change of their own.
    rows = wait_for(host, lambda rows: all("Addresses" in rows.get(name, {}) for name in ("wlan0", "air0")))
    assert rows["wlan0"]["Type"] == "veth" and "SpeedBitsPerSecond" not in rows["wlan0"]
    host.spawn(["/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "networkmanager"],
               "played-nm")
    host.wait_for_name(NM)
    device = host.call(NM, "/org/freedesktop/NetworkManager", MOCK, "AddWiFiDevice", "ssu",
                       ("wifi", "wlan0", 100))
    wait_for_row(host, "wlan0", Type="wifi", SpeedBitsPerSecond=5_400_000)

    def set_bitrate(kilobits):
        host.call(NM, device, MOCK, "UpdateProperties", "sa{sv}",
                  (f"{NM}.Device.Wireless", {"Bitrate": GLib.Variant("u", kilobits)}))

    def speed_of(change):
        return by_id(change.args[1]["Interfaces"])["wlan0"]["SpeedBitsPerSecond"]

    set_bitrate(866700)
    wait_for_row(host, "wlan0", SpeedBitsPerSecond=866_700_000)
    # Less than 5 % is not worth a word.
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged", NETWORK[2]) as log:
        for kilobits in (860000, 866700, 870000):
            set_bitrate(kilobits)
        set_bitrate(433300)
        log.wait(lambda change: speed_of(change) == 433_300_000)
    assert {speed_of(change) for change in log.received} <= {866_700_000, 433_300_000}
    network.set_up(host, "air0", False)
    wait_for_row(host, "wlan0", Carrier=False, SpeedBitsPerSecond=None)


def bus_connections(host, process):
    """All connections of a process to the system bus."""
    found = []
    for name in host.connection(bus=host.system_bus).call_bus("ListNames"):
        with contextlib.suppress(Exception):
            pid = host.connection(bus=host.system_bus).call_bus("GetConnectionUnixProcessID", "s", (name,))
            if name.startswith(":") and pid == process.pid:
                found.append(name)
    return found


def test_forged_signals_of_network_manager(make_host):
    """Nobody speaks for NetworkManager, and for the bus, on a bus that lets it: to no avail."""
    host = make_host(network_manager=True, daemons=["telemetryd"], strict_bus=False)
    network.add_veth(host, "bed0", "bed1")
    device = host.nm.activate("bed0", profile("office", metered=GLib.Variant("i", 1)))
    wait_for_row(host, "bed0", Connection="office", Metered="yes")
    victims = bus_connections(host, host.daemons[0])
    assert len(victims) == 3
    owner = host.connection().owner(NM)
    seen = []
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged", NETWORK[2]) as log:
        log.on_signal = lambda s: seen.append(by_id(s.args[1]["Interfaces"]))
        for victim in victims:
            host.forge(victim, device, PROPERTIES, "PropertiesChanged", "sa{sv}as",
                       (host.nm.device_interface, {"Metered": GLib.Variant("u", 2)}, []))
            host.forge(victim, "/org/freedesktop", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
                       "oas", (device, [host.nm.device_interface]))
            host.forge(victim, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                       (NM, owner, ""))
            host.forge(victim, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                       (NM, owner, host.connection("nobody").unique_name))
        # Broadcast, too.
        nobody = host.connection("nobody")
        nobody.emit(device, PROPERTIES, "PropertiesChanged", "sa{sv}as",
                    (host.nm.device_interface, {"Metered": GLib.Variant("u", 2)}, []))
        nobody.fence()
        # The true one comes after them.
        set_metered(host, "bed0", "no")
        wait_until(lambda: seen and seen[-1]["bed0"].get("Metered") == "no", "the true change")
        assert all(rows["bed0"].get("Connection") == "office" for rows in seen)
        set_metered(host, "bed0", "yes")
        wait_until(lambda: seen[-1]["bed0"].get("Metered") == "yes", "the next true change")
