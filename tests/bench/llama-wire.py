#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A wire with a given rate and round trip between two network namespaces, for kernels without netem.

It makes a TUN interface in each of them and passes packets on: a packet leaves when those before it have left at the
rate, and arrives half a round trip later. Each line on standard input sets the rate from the first end to the second
(b/s, 0: unlimited), the round trip (seconds) and the rate back of what follows, and is answered with "ready". It ends
with its input.
"""

import argparse
import collections
import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 1, 0x1000
LARGEST = 65536
QUEUE = 16 << 20  # bytes under way in one direction; more are dropped
SPIN = 60e-6  # before a packet is due: waking up takes about this long
PR_SET_TIMERSLACK = 29


def open_tun(name, namespace, address, mtu):
    """Its address is that of one of the two ends of a network of four addresses."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    passing = f"aw{os.getpid() % 100000}{name[-4:]}"[:15]
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", passing.encode(), IFF_TUN | IFF_NO_PI))
    for words in (["link", "set", passing, "netns", namespace, "name", name],
                  ["-n", namespace, "address", "add", f"{address}/30", "dev", name],
                  ["-n", namespace, "link", "set", name, "mtu", str(mtu), "txqueuelen", "10000", "up"]):
        subprocess.run(["ip", *words], check=True)
    return descriptor


class Direction:
    """Packets from one descriptor to another."""

    def __init__(self, source, target):
        self.source, self.target = source, target
        self.queue = collections.deque()
        self.queued = 0
        self.free = 0.0  # when the last packet has left

    def take(self, rate, delay):
        """Reads all packets that are there."""
        while True:
            try:
                packet = os.read(self.source, LARGEST)
            except BlockingIOError:
                return
            if self.queued + len(packet) > QUEUE:
                continue
            self.free = max(time.monotonic(), self.free) + (len(packet) * 8 / rate if rate else 0)
            self.queue.append((self.free + delay, packet))
            self.queued += len(packet)

    def due(self):
        return self.queue[0][0] if self.queue else float("inf")

    def deliver(self):
        """Writes what is due."""
        while self.queue and self.queue[0][0] <= time.monotonic():
            _, packet = self.queue.popleft()
            self.queued -= len(packet)
            try:
                os.write(self.target, packet)
            except BlockingIOError:
                pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mtu", type=int, default=1500)
    parser.add_argument("ends", nargs=6, metavar="END", help="interface, namespace and address of each of two ends")
    options = parser.parse_args()
    # Else the kernel wakes this process up to 50 µs late.
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    one = open_tun(*options.ends[:3], options.mtu)
    other = open_tun(*options.ends[3:], options.mtu)
    directions = [Direction(one, other), Direction(other, one)]
    rates, delay = (0.0, 0.0), 0.0
    print("ready", flush=True)
    while True:
        wait = min(direction.due() for direction in directions) - time.monotonic() - SPIN
        timeout = None if wait == float("inf") else max(0.0, wait)
        readable, _, _ = select.select([0, one, other], [], [], timeout)
        if 0 in readable:
            line = sys.stdin.readline()
            if not line:
                return
            rate, round_trip, rate_back = map(float, line.split())
            rates, delay = (rate, rate_back), round_trip / 2
            print("ready", flush=True)
        for direction, rate in zip(directions, rates):
            direction.take(rate, delay)
            direction.deliver()


if __name__ == "__main__":
    main()
