#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A wire with a given rate and round trip between two network namespaces, for kernels without netem.

It makes a TUN interface in each of them and passes packets on: a packet leaves when those before it have left at the
rate, and arrives half a round trip later. Each line on standard input sets the rate from the first end to the second
(b/s, 0: unlimited), the round trip (seconds) and the rate back of what follows, and is answered with "ready". Three
more numbers impair both directions: the share of packets that are lost, the share that come later than those behind
them, and by how much (seconds). If that share is 0, all packets are late by up to so much and stay in order. It ends
with its input.
"""

import argparse
import collections
import ctypes
import fcntl
import heapq
import os
import random
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
# What a line on standard input sets, where it has fewer numbers.
Setting = collections.namedtuple("Setting", "rate round_trip rate_back loss late jitter", defaults=(0.0,) * 6)


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
        self.queue = []  # a heap of when a packet is due, its number and itself
        self.number = 0
        self.queued = 0
        self.free = 0.0  # when the last packet has left
        self.last = 0.0  # when the last one of those in order is due
        self.extra = self.redrawn = 0.0  # what jitter adds, and until when

    def due_time(self, setting):
        """When the packet that has just left arrives."""
        due = self.free + setting.round_trip / 2
        if setting.late:
            return due + (setting.jitter if random.random() < setting.late else 0)
        # Packets that follow one another closely are held up together, as on a radio.
        if self.free >= self.redrawn:
            self.extra, self.redrawn = random.random() * setting.jitter, self.free + setting.jitter
        self.last = max(due + self.extra, self.last)
        return self.last

    def take(self, rate, setting):
        """Reads all packets that are there."""
        while True:
            try:
                packet = os.read(self.source, LARGEST)
            except BlockingIOError:
                return
            if self.queued + len(packet) > QUEUE or (setting.loss and random.random() < setting.loss):
                continue
            self.free = max(time.monotonic(), self.free) + (len(packet) * 8 / rate if rate else 0)
            self.number += 1
            heapq.heappush(self.queue, (self.due_time(setting), self.number, packet))
            self.queued += len(packet)

    def due(self):
        return self.queue[0][0] if self.queue else float("inf")

    def deliver(self):
        """Writes what is due."""
        while self.queue and self.queue[0][0] <= time.monotonic():
            _, _, packet = heapq.heappop(self.queue)
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
    setting = Setting()
    print("ready", flush=True)
    while True:
        wait = min(direction.due() for direction in directions) - time.monotonic() - SPIN
        timeout = None if wait == float("inf") else max(0.0, wait)
        readable, _, _ = select.select([0, one, other], [], [], timeout)
        if 0 in readable:
            line = sys.stdin.readline()
            if not line:
                return
            setting = Setting(*map(float, line.split()))
            print("ready", flush=True)
        for direction, rate in zip(directions, (setting.rate, setting.rate_back)):
            direction.take(rate, setting)
            direction.deliver()


if __name__ == "__main__":
    main()
