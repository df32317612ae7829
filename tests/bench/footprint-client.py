#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client subscribed to the state service: footprint-client.py SOCKET

Tells how many signals have come, as a line of its own for each line on standard input; ends with that.
Written without a D-Bus library, so that it has no memory in common with the services.
"""

import os
import select
import socket
import struct
import sys

BUS = "org.freedesktop.DBus"
STATE = "org.alidade.State1"
METHOD_RETURN, SIGNAL = 2, 4
PATH, INTERFACE, MEMBER, DESTINATION, SIGNATURE = 1, 2, 3, 6, 8


def padded(data, boundary=8):
    return data + bytes(-len(data) % boundary)


def string(text):
    return struct.pack("<I", len(text)) + text.encode() + b"\0"


def field(code, kind, text):
    if kind == "g":
        value = bytes([len(text)]) + text.encode() + b"\0"
    else:
        value = string(text)
    return struct.pack("<BB2s", code, 1, kind.encode() + b"\0") + value


def call(serial, destination, path, interface, member, argument=None):
    body = b"" if argument is None else string(argument)
    fields = [field(PATH, "o", path), field(DESTINATION, "s", destination), field(INTERFACE, "s", interface),
              field(MEMBER, "s", member)] + ([] if argument is None else [field(SIGNATURE, "g", "s")])
    head = b"".join(map(padded, fields[:-1])) + fields[-1]
    return padded(struct.pack("<cBBBIII", b"l", 1, 0, 1, len(body), serial, len(head)) + head) + body


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.received = b""
        self.signals = 0
        self.serial = 0
        self.answered = set()

    def authenticate(self):
        self.socket.sendall(b"\0AUTH EXTERNAL %s\r\n" % str(os.getuid()).encode().hex().encode())
        if not self.socket.recv(4096).startswith(b"OK "):
            sys.exit("the bus refuses this user")
        self.socket.sendall(b"BEGIN\r\n")

    def call(self, *words):
        """Returns when it was answered; an error ends the program."""
        self.serial += 1
        self.socket.sendall(call(self.serial, *words))
        while self.serial not in self.answered:
            self.read()

    def read(self):
        data = self.socket.recv(65536)
        if not data:
            sys.exit("the bus has gone")
        self.received += data
        while (size := self.message_size()) and len(self.received) >= size:
            self.take(self.received[:size])
            self.received = self.received[size:]

    def message_size(self):
        if len(self.received) < 16:
            return 0
        body, _, fields = struct.unpack_from("<III", self.received, 4)
        return 16 + fields + -fields % 8 + body

    def take(self, message):
        kind = message[1]
        if kind == SIGNAL:
            self.signals += 1
        elif kind == METHOD_RETURN:
            self.answered.add(self.serial)
        else:
            sys.exit(f"refused: {message!r}")


def main():
    client = Client(sys.argv[1])
    client.authenticate()
    client.call(BUS, "/org/freedesktop/DBus", BUS, "Hello")
    client.call(STATE, "/org/alidade/State1", STATE, "Subscribe")
    while True:
        ready, _, _ = select.select([client.socket, sys.stdin], [], [])
        if client.socket in ready:
            client.read()
        if sys.stdin in ready:
            if not sys.stdin.readline():
                return
            print(client.signals, flush=True)


main()
