#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Other traffic beside a probe, until it is ended: datagrams at a rate or as many as the link takes, or a stream."""

import argparse
import socket
import time

PORT = 7500
DATAGRAM = b"x" * 1400
TICK = 0.005


def send_datagrams(address, rate):
    """rate: b/s with their headers; 0: as fast as they go."""
    sending = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    begun, sent = time.monotonic(), 0
    while True:
        while not rate or sent * 8 < rate * (time.monotonic() - begun):
            try:
                sending.sendto(DATAGRAM, (address, PORT))
            except OSError:
                pass  # A queue is full, or nobody listens there.
            sent += len(DATAGRAM) + 42
        time.sleep(TICK)


def send_stream(address):
    with socket.create_connection((address, PORT)) as sending:
        print("sending", flush=True)
        while True:
            sending.sendall(DATAGRAM * 64)


def receive(address):
    with socket.create_server((address, PORT)) as listening:
        print("listening", flush=True)
        connection, _ = listening.accept()
        with connection:
            while connection.recv(1 << 20):
                pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--rate", type=float, default=0)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stream", action="store_true")
    way.add_argument("--receive", action="store_true")
    options = parser.parse_args()
    if options.receive:
        receive(options.address)
    elif options.stream:
        send_stream(options.address)
    else:
        print("sending", flush=True)
        send_datagrams(options.address, options.rate)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
