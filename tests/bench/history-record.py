#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records the telemetry of a host of the bed under load, for the history benchmark: history-record.py SECONDS FILE.

ALIDADE_BUILD names the build. The host runs the identity, telemetry and state services; it computes in spells, takes
and frees memory, and sends over a wire at changing rates. The file has a line for each record that the state service
sends: its time in ms since the first, its kind, and its fields whose values changed.
"""

import json
import lzma
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "bed"))

from bedlib import Host, build_dir, network  # noqa: E402

# Spells of work of some seconds, of random lengths and sizes, as programs of users make.
LOAD = """
import mmap, os, random, socket, time
random.seed(18)
limit = min(os.sysconf("SC_PHYS_PAGES") * mmap.PAGESIZE // 30, 1 << 30)
to, held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), []
while True:
    until, busy = time.monotonic() + random.expovariate(1 / 6), random.random() ** 2 * 0.5
    rate = 10 ** random.uniform(0, 4) if random.random() < 0.6 else 0
    if held and random.random() < 0.5:
        held.pop(random.randrange(len(held)))
    elif len(held) < 4:
        held.append(b"x" * int(limit * random.random() / 4))
    while (now := time.monotonic()) < until:
        while time.monotonic() < now + 0.1 * busy:
            pass
        for _ in range(int(rate / 10)):
            to.sendto(bytes(1200), ("192.0.2.2", 9))
        time.sleep(max(0, now + 0.1 - time.monotonic()))
"""
SERVICES = ("identityd", "telemetryd", "stated")


def start(host):
    """A wire whose other end takes what is sent and does not answer."""
    network.add_veth(host, "eth0", "peer0")
    network.add_address(host, "eth0", "192.0.2.1/24")
    network.ip(host, "neighbour", "add", "192.0.2.2", "lladdr", "02:00:00:00:00:02", "dev", "eth0")
    for name in SERVICES:
        host.start_daemon(name)
    host.spawn(["/usr/bin/python3", "-c", LOAD], "load")


def lines(stream, seconds):
    """[ms, kind, {field: value}] for each event of `alidadectl monitor --json`; None is unknown."""
    begun = time.monotonic()
    for text in stream:
        at = time.monotonic() - begun
        if at > seconds:
            return
        event = json.loads(text)
        if event["Event"] in ("added", "changed"):
            fields = {**event["Fields"], **dict.fromkeys(event.get("Absent", []))}
            yield [round(at * 1000), event["Kind"], fields]


def main():
    seconds, path = float(sys.argv[1]), Path(sys.argv[2])
    host = Host(environment={"ALIDADE_BUS_ADDRESS": "", "ALIDADE_LIBEXEC_DIR": build_dir() / "services/telemetry"})
    ours, theirs = os.pipe()
    with host, open(ours, encoding="utf-8") as stream, lzma.open(path, "wt", preset=9) as to:
        start(host)
        host.spawn([host.version.client, "monitor", "--json"], "monitor", stdout=theirs)
        os.close(theirs)
        for line in lines(stream, seconds):
            to.write(json.dumps(line, separators=(",", ":")) + "\n")


main()
