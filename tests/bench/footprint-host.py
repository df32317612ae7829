#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sets up a host for the footprint benchmark: footprint-host.py SETTING,…; ALIDADE_BUILD names the build.

Tells the processes of each contestant as one line of JSON, then becomes the subscribed client; the host ends
with it. So no library that this program maps is shared with, and taken off, what is measured.
"""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "bed"))

from bedlib import BedFailure, Host, build_dir, network  # noqa: E402
from gi.repository import GLib  # noqa: E402

DAEMONS = ("identityd", "telemetryd", "stated")
PORT = 19100

SCRAPER = """
import sys, time, urllib.request
due, told = time.monotonic(), False
while True:
    with urllib.request.urlopen(sys.argv[1]) as answer:
        size = len(answer.read())
    if not told:
        print("scraped", size, flush=True)
        told = True
    due += 1
    time.sleep(max(0, due - time.monotonic()))
"""

# Memory and load that differ at each sample, so that every one of them is published. Samples are taken at whole
# halves of a second. Huge pages, since the kernel keeps many small ones at hand that it does not count as free.
UNREST = """
import mmap, os, time
size = min(int(0.015 * os.sysconf("SC_PHYS_PAGES")) * mmap.PAGESIZE, 2 << 30)
busy = min(0.7, 0.03 * os.cpu_count())
turn, held = int(time.monotonic() * 2), None
while True:
    turn += 1
    time.sleep(max(0, turn / 2 + 0.2 - time.monotonic()))
    if turn % 2:
        held = None
    else:
        held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        held.madvise(mmap.MADV_HUGEPAGE)
        held[::mmap.PAGESIZE] = bytes(size // mmap.PAGESIZE)
    if turn % 4 == 0:
        until = time.process_time() + busy
        while time.process_time() < until:
            pass
"""

COLLECTD = """
Hostname "bench"
FQDNLookup false
BaseDir "{directory}"
PIDFile "{directory}/pid"
TypesDB "/usr/share/collectd/types.db"
Interval 1
LoadPlugin logfile
<Plugin logfile>
  LogLevel info
  File STDOUT
</Plugin>
LoadPlugin cpu
LoadPlugin memory
LoadPlugin load
LoadPlugin interface
LoadPlugin disk
LoadPlugin df
{writer}
"""

CSV = """LoadPlugin csv
<Plugin csv>
  DataDir "{directory}/csv"
</Plugin>"""


def start_and_hear(host, argv, name, word):
    """Starts a program and returns when a line that it prints holds the word. The pipe stays open, unread:
    they say little afterwards."""
    ours, theirs = os.pipe()
    os.set_inheritable(ours, True)
    process = host.spawn(argv, name, stdout=theirs, stderr=theirs)
    os.close(theirs)
    heard = b""
    while word not in heard:
        more = os.read(ours, 4096)
        if not more:
            raise BedFailure(f"{name} ended:\n{heard.decode(errors='replace')}")
        heard += more
    return process


def start_node_exporter(host):
    address = f"127.0.0.1:{PORT}"
    # There is no systemd here to be asked.
    exporter = start_and_hear(host, ["prometheus-node-exporter", "--no-collector.systemd",
                                     f"--web.listen-address={address}"], "exporter", b"Listening on")
    start_and_hear(host, ["/usr/bin/python3", "-c", SCRAPER, f"http://{address}/metrics"], "scraper", b"scraped")
    return exporter


def start_collectd(host, with_csv):
    directory = host.dir / "collectd"
    directory.mkdir()
    config = directory / "collectd.conf"
    config.write_text(COLLECTD.format(directory=directory,
                                      writer=CSV.format(directory=directory) if with_csv else ""))
    return start_and_hear(host, ["collectd", "-f", "-C", config], "collectd", b"entering read-loop")


def start_network(host):
    """An interface with a connection of NetworkManager, as on a machine at work."""
    network.add_veth(host, "eth0", "peer0")
    host.nm.activate("eth0", {
        "connection": {"id": GLib.Variant("s", "Wired"), "type": GLib.Variant("s", "802-3-ethernet")},
        "ipv4": {"method": GLib.Variant("s", "manual"), "address-data": GLib.Variant("aa{sv}", [
            {"address": GLib.Variant("s", "192.0.2.1"), "prefix": GLib.Variant("u", 24)}])},
        "ipv6": {"method": GLib.Variant("s", "link-local")}})


def start_link_probed(host):
    """As a member of a cluster of which nobody else is there: it listens, and asks at each tick what is due. It looks
    whether there are certificates, and reads none itself."""
    folder = host.dir / "config/cluster"
    folder.mkdir(exist_ok=True)
    for name in ("ca.crt", "crl.pem", "node.crt", "node.key"):
        (folder / name).touch()
    host.write_config("[link-probe]\ncompute=false\n")
    process = host.start_daemon("link-probed")
    host.wait_for_property("org.alidade.LinkProbe1", "/org/alidade/LinkProbe1", "org.alidade.LinkProbe1", "Port",
                           lambda port: port > 0)
    return process


def start_contestants(host, settings):
    """{name: pid}, as this process sees them."""
    processes = {"dbus_daemon": host.bus.process}
    if "network-manager" in settings:
        start_network(host)
        processes["network_manager"] = host.nm.process
    for name in DAEMONS:
        processes[name] = host.start_daemon(name)
    host.wait_for_property("org.alidade.State1", "/org/alidade/State1", "org.alidade.State1",
                           "MemoryTotalBytes", lambda value: 0 < value < 2**64 - 1)
    if "network-manager" in settings:
        host.wait_for_property("org.alidade.Telemetry1", "/org/alidade/Telemetry1", "org.alidade.Node1.Network",
                               "Interfaces", lambda rows: any(row.get("Connection") == "Wired" for row in rows))
    if "link-probed" in settings:
        processes["link_probed"] = start_link_probed(host)
    if "node-exporter" in settings:
        processes["node_exporter"] = start_node_exporter(host)
    if "collectd" in settings:
        processes["collectd"] = start_collectd(host, "csv" in settings)
    if "unrest" in settings:
        host.spawn(["/usr/bin/python3", "-c", UNREST], "unrest")
    return {name: process.outer_pid for name, process in processes.items()}


def main():
    settings = sys.argv[1].split(",")
    # One bus for all, as on a machine at work, and so one connection to it from each.
    environment = {"ALIDADE_BUS_ADDRESS": "", "ALIDADE_LIBEXEC_DIR": build_dir() / "services/telemetry"}
    host = Host(network_manager="network-manager" in settings, environment=environment)
    with host:
        print(json.dumps(start_contestants(host, settings)), flush=True)
        host.keep_across_exec()
        os.execv("/usr/bin/python3", ["python3", "-ISB", HERE / "footprint-client.py", host.bus.socket])


main()
