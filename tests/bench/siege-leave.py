#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A local user who calls services and does not wait: opens connections to a bus, calls Ping() of each service on all of
them, closes them at once, and starts again. Runs until it is ended by SIGTERM, and then prints {"calls":N}.

    siege-leave.py /run/dbus/system_bus_socket --connections=200 org.alidade.State1 org.alidade.Telemetry1
"""

import argparse
import json
import os
import signal
import socket
import struct
import sys

SERVICE, PATH, INTERFACE, MEMBER, SIGNATURE = 6, 1, 2, 3, 8


def method_call(destination, path, interface, member, serial):
    """A call without arguments, as the specification of D-Bus lays it out."""
    fields = b""
    for code, kind, text in ((PATH, b"o", path), (SERVICE, b"s", destination), (INTERFACE, b"s", interface),
                             (MEMBER, b"s", member)):
        fields += bytes(-len(fields) % 8) + bytes((code, 1)) + kind + b"\0"
        fields += struct.pack("<I", len(text)) + text.encode() + b"\0"
    head = struct.pack("<cBBBIII", b"l", 1, 0, 1, 0, serial, len(fields))
    return head + fields + bytes(-len(fields) % 8)


def read_until(link, end):
    told = b""
    while end not in told:
        part = link.recv(4096)
        if not part:
            raise ConnectionError("the bus has closed the connection")
        told += part


def connect(path):
    """A connection that has its name."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.connect(path)
        link.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        read_until(link, b"\r\n")
        link.sendall(b"BEGIN\r\n" + method_call("org.freedesktop.DBus", "/org/freedesktop/DBus",
                                                "org.freedesktop.DBus", "Hello", 1))
        read_until(link, b"NameAcquired")
    except OSError:
        link.close()
        return None
    return link


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("socket")
    parser.add_argument("service", nargs="+")
    parser.add_argument("--connections", type=int, default=200, metavar="N", help="open at once, at most")
    options = parser.parse_args()
    pings = b"".join(method_call(name, "/", "org.freedesktop.DBus.Peer", "Ping", serial)
                     for serial, name in enumerate(options.service, 2))
    calls = 0

    def stop(*_):
        print(json.dumps({"calls": calls}), flush=True)
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    while True:
        # The bus refuses connections beyond those that it lets one user have.
        links = [link for _ in range(options.connections) if (link := connect(options.socket))]
        for link in links:
            link.sendall(pings)
            link.close()
            calls += len(options.service)


if __name__ == "__main__":
    main()
