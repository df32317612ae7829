# SPDX-License-Identifier: LGPL-2.1-or-later
"""Links between simulated machines, made of veth pairs and bridges. Traffic never leaves them."""

import subprocess

from .errors import BedFailure


def ip(machine, *words):
    """Runs ip(8) inside a machine."""
    return machine.run(["ip", *words]).stdout


def add_veth(machine, name, peer, peer_machine=None):
    """A veth pair, both ends up: one end in machine, the other there too or in another machine."""
    other = peer_machine or machine
    # Run from outside, in the network namespace alone: only there the other machine's pid means anything.
    command = ["nsenter", f"--net=/proc/{machine.outer_pid}/ns/net", "ip", "link", "add", name, "type",
               "veth", "peer", "name", peer, "netns", str(other.outer_pid)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BedFailure(f"{' '.join(command)}: {done.stderr}")
    ip(machine, "link", "set", name, "up")
    ip(other, "link", "set", peer, "up")


def delete_link(machine, name):
    ip(machine, "link", "delete", name)


def set_up(machine, name, up=True):
    """Taking one end of a veth down takes the carrier from the other."""
    ip(machine, "link", "set", name, "up" if up else "down")


def add_address(machine, name, address):
    """address with its prefix length, such as 192.0.2.1/24; usable at once (no duplicate detection)."""
    ip(machine, "address", "add", address, "dev", name, *(["nodad"] if ":" in address else []))


def delete_address(machine, name, address):
    ip(machine, "address", "delete", address, "dev", name)


def add_bridge(machine, name, members=()):
    """A bridge without spanning tree and without multicast snooping, which would swallow mDNS."""
    ip(machine, "link", "add", name, "type", "bridge", "mcast_snooping", "0")
    for member in members:
        ip(machine, "link", "set", member, "master", name)
    ip(machine, "link", "set", name, "up")


def join_bridge(switch, bridge, machine, name, address=None):
    """Plugs a machine into a switch: its interface NAME, the switch's port named after the machine."""
    port = machine.name[:15]
    add_veth(machine, name, port, switch)
    ip(switch, "link", "set", port, "master", bridge)
    if address:
        add_address(machine, name, address)


def shape(machine, name, rate):
    """What leaves by NAME has this rate, in bits per second; of which TCP has payload_rate() as its payload."""
    # A bucket that is too small starves the link, and one that is too large flatters it.
    burst = max(16 << 10, rate // 8 // 1000)
    machine.run(["tc", "qdisc", "replace", "dev", name, "root", "tbf", "rate", f"{rate}bit",
                 "burst", f"{burst}b", "latency", "20ms"])


def payload_rate(rate, header=52):
    """HEADER: of IP and TCP with timestamps; 72 with IPv6."""
    return rate * (1500 - header) / 1514
