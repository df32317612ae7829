# SPDX-License-Identifier: LGPL-2.1-or-later
"""A place in a token ring, or an end of an MPI-like ping-pong: KIND PLACE START TURNS ADDRESS…

The first place measures from START (CLOCK_MONOTONIC) for so many turns of 2 s and writes the 99th percentile and the
number of rounds of each, {"p99_us": […], "rounds": […]}; the others pass on what comes until the connection is closed.
"""

import json
import os
import socket
import sys
import time

PORT = 7999
TURN_SECONDS = 2
GUARD_SECONDS = 0.5
# A token; and a small message of MPI with its header.
SIZES = {"ring": 64, "pingpong": 1024}


def connect(address):
    deadline = time.monotonic() + 30
    while True:
        try:
            connection = socket.create_connection((address, PORT), 5)
            connection.settimeout(30)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def receive(connection, size):
    data = bytearray()
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            return None
        data += more
    return bytes(data)


def measure(before, after, size, start, turns):
    token, laps = b"x" * size, [[] for _ in range(turns)]
    end = start + turns * TURN_SECONDS
    while (begun := time.monotonic()) < end:
        after.sendall(token)
        if receive(before, size) is None:
            raise SystemExit("the ring broke")
        turn, within = divmod(begun - start, TURN_SECONDS)
        # What stops and goes on needs a moment for it.
        if begun >= start and within >= GUARD_SECONDS:
            laps[int(turn)].append(time.monotonic() - begun)
    for found in laps:
        found.sort()
    return {"p99_us": [round(found[int(0.99 * (len(found) - 1))] * 1e6, 1) for found in laps],
            "rounds": [len(found) for found in laps]}


def main(kind, place, start, turns, *hops):
    # A dozen nodes share the processors here, those of a real one do not wait for the daemons of others: at this
    # priority it is the network that shows.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    place, size = int(place), SIZES[kind]
    listener = socket.create_server((hops[place], PORT))
    listener.settimeout(30)
    if place == 0:
        after = connect(hops[1])
        before, _ = listener.accept()
        print(json.dumps(measure(before, after, size, float(start), int(turns))))
        return
    before, _ = listener.accept()
    before.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    after = connect(hops[(place + 1) % len(hops)])
    while (token := receive(before, size)) is not None:
        after.sendall(token)


main(*sys.argv[1:])
