#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a host without any key can do to the port at which others measure links: from each of its addresses it keeps
connections open that begin a TLS handshake and never end it, and such that say nothing. Runs until it is ended by
SIGTERM, and then prints {"connected":N,"closed":N}: how often it has connected, and was shut out again.

    siege-wire.py 192.0.2.1 --half-open=2 --silent=4 --source=192.0.2.66 --source=192.0.2.67
    siege-wire.py fe80::1%eth0 --source=fe80::66 --source=fe80::67
    siege-wire.py 127.0.0.1 --source=127.0.0.2 --source=127.0.0.3
"""

import argparse
import errno
import json
import selectors
import signal
import socket
import sys
import time

# The header of a record of TLS, and of a ClientHello of which the rest never comes.
HALF_OPEN = bytes.fromhex("1603010200010001fc0303")
RDMA = b"RDMA" + HALF_OPEN


class Place:
    """One connection from one source, made anew each time that the other side ends it."""

    def __init__(self, source, payload):
        self.source, self.payload = source, payload
        self.socket = None


class Siege:
    def __init__(self, target, places, per_second):
        self.family, _, _, _, self.target = socket.getaddrinfo(*target, type=socket.SOCK_STREAM)[0]
        self.scope = self.target[3] if self.family == socket.AF_INET6 else 0
        self.waiting = list(places)
        self.selector = selectors.DefaultSelector()
        self.pause = 1 / per_second
        self.connected = self.closed = 0

    def open(self, place):
        place.socket = socket.socket(self.family, socket.SOCK_STREAM)
        place.socket.setblocking(False)
        try:
            if place.source:
                place.socket.bind((place.source, 0, 0, self.scope) if self.scope else (place.source, 0))
            place.socket.connect(self.target)
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EACCES):
                sys.exit(f"{place.source}: {error.strerror}")
            self.end(place)
            return
        self.selector.register(place.socket, selectors.EVENT_WRITE, place)

    def end(self, place):
        place.socket.close()
        self.closed += 1
        self.waiting.append(place)

    def go_on(self, place, mask):
        """Says what there is to say once connected, and then waits for its end."""
        try:
            if mask & selectors.EVENT_WRITE:
                if error := place.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    raise OSError(error, "connect")
                self.connected += 1
                place.socket.send(place.payload)
                self.selector.modify(place.socket, selectors.EVENT_READ, place)
                return
            if place.socket.recv(4096):
                return
        except OSError:
            pass
        self.selector.unregister(place.socket)
        self.end(place)

    def run(self):
        due = time.monotonic()
        while True:
            now = time.monotonic()
            if self.waiting and now >= due:
                self.open(self.waiting.pop(0))
                due = max(due + self.pause, now - 1)
            for key, mask in self.selector.select(max(0, due - time.monotonic()) if self.waiting else None):
                self.go_on(key.data, mask)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("target")
    parser.add_argument("--port", type=int, default=7461)
    parser.add_argument("--source", action="append", default=[], help="an address of this host; may be repeated")
    parser.add_argument("--half-open", type=int, default=2, metavar="N", help="of each source")
    parser.add_argument("--silent", type=int, default=4, metavar="N", help="of each source")
    parser.add_argument("--rdma", action="store_true", help="half-open handshakes ask for RDMA")
    parser.add_argument("--per-second", type=float, default=200, metavar="N", help="connections, at most")
    return parser.parse_args()


def main():
    options = parse()
    payload = RDMA if options.rdma else HALF_OPEN
    places = [Place(source, payload) for source in options.source or [""] for _ in range(options.half_open)]
    places += [Place(source, b"") for source in options.source or [""] for _ in range(options.silent)]
    siege = Siege((options.target, options.port), places, options.per_second)

    def stop(*_):
        print(json.dumps({"connected": siege.connected, "closed": siege.closed}), flush=True)
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    siege.run()


if __name__ == "__main__":
    main()
