# SPDX-License-Identifier: LGPL-2.1-or-later
"""In place of ssh: the bus of another machine, on standard input and output, whose state service has ever more to say.

    endless_remote.py nodes|strings|rows|descriptions|graph|signals
"""

import contextlib
import functools
import itertools
import json
import os
import struct
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "bed")]

from gi.repository import Gio, GLib  # noqa: E402

from bedlib.variants import Typed, pack  # noqa: E402

STATE, PATH, OWNER = "org.alidade.State1", "/org/alidade/State1", ":1.2"
RECORDS = "a(ssstttba{sv})s"
TOPOLOGY = "(ttba(ssa{sv})a(tssssssssa{sv})asat)"
PAIRS = "(ttba(sssa{sv})a(ss))"
MARK = "deadbeef"
MANY, EDGES, SIGNALS = 1000, 4000, 10
METHOD_RETURN, ERROR, SIGNAL, NO_REPLY = 2, 3, 4, 1
FIELDS = {"path": (1, "o"), "interface": (2, "s"), "member": (3, "s"), "error_name": (4, "s"), "reply": (5, "u"),
          "sender": (7, "s"), "signature": (8, "g")}


def marshal(variant):
    """The body of a message, without its header."""
    message = Gio.DBusMessage.new_signal("/", "a.b", "C")
    message.set_body(variant)
    blob = message.to_blob(Gio.DBusCapabilityFlags.NONE)
    fields, = struct.unpack_from("<I", blob, 12)
    return blob[16 + fields + -fields % 8:]


def envelope(kind, body, **fields):
    """A message around a body that was made before."""
    out = b""
    for name, value in fields.items():
        code, signature = FIELDS[name]
        out += bytes(-len(out) % 8) + bytes((code, 1)) + signature.encode() + b"\0"
        if signature == "u":
            out += struct.pack("<I", value)
        else:
            text = value.encode()
            out += (bytes((len(text),)) if signature == "g" else struct.pack("<I", len(text))) + text + b"\0"
    head = struct.pack("<cBBBIII", b"l", kind, NO_REPLY, 1, len(body), 1, len(out))
    return head + out + bytes(-len(out) % 8) + body


def node(number):
    return f"{MARK}{number:024x}"


def update(number, fields):
    return (node(number), "Node1.Memory", "", 1, 1, 1, False, fields)


def page_of_records(fields, count=MANY):
    return marshal(pack(f"({RECORDS})", ([update(n, fields) for n in range(count)], "more")))


def page_of_descriptions():
    line = {"kind": "Node1.Memory", "epoch": 1, "seq": 1, "updated": 1, "fields": {"TotalBytes": 1}}
    lines = "".join(json.dumps({"node": node(number), **line}) + "\n" for number in range(MANY))
    return marshal(GLib.Variant("(say)", ("more", lines.encode())))


def page_of_edges():
    edges = [(n, node(0), node(1), "socket", f"port{n}", *(letter * 1000 for letter in "abcd"), {})
             for n in range(EDGES)]
    return marshal(pack(TOPOLOGY, (1, 0, True, [], edges, [], [])))


NO_RECORDS = marshal(pack(f"({RECORDS})", ([], "")))
NO_TOPOLOGY = marshal(pack(TOPOLOGY, (1, 0, True, [], [], [], [])))
NO_PAIRS = marshal(pack(PAIRS, (1, 0, True, [], [])))
NO_FINDINGS = marshal(pack("(aa{sv})", ([],)))
PAGES = {
    "nodes": lambda: page_of_records({"TotalBytes": Typed("t", 1)}),
    "strings": lambda: page_of_records({f"New{n}": Typed("s", "x" * 16000) for n in range(20)}, 50),
    "rows": lambda: page_of_records({f"New{n}": Typed("aa{sv}", [{}] * 8000) for n in range(20)}, 10),
    "descriptions": page_of_descriptions,
    "graph": page_of_edges,
    "signals": lambda: page_of_records({}, 1),
}


class Remote:
    def __init__(self, mode):
        self.mode = mode
        self.page = PAGES[mode]()
        self.turn = itertools.count(1)
        self.input = sys.stdin.buffer

    def authenticate(self):
        asked = b""
        while not asked.endswith(b"BEGIN\r\n"):
            asked += self.input.read(1)
        answer = b"DATA\r\nOK " + b"1" * 32 + b"\r\n"
        self.send(answer + (b"ERROR\r\n" if b"NEGOTIATE_UNIX_FD" in asked else b""))

    def send(self, data):
        while data:
            data = data[os.write(sys.stdout.fileno(), data):]

    def read(self):
        head = self.input.read(16)
        if len(head) < 16:
            raise BrokenPipeError
        rest = self.input.read(Gio.DBusMessage.bytes_needed(head) - len(head))
        return Gio.DBusMessage.new_from_blob(head + rest, Gio.DBusCapabilityFlags.NONE)

    def anew(self, body):
        """With other ids and numbers than before."""
        return body.replace(MARK.encode(), f"{next(self.turn):08x}".encode())

    def edges(self):
        """The next page of the graph, which names another one after it."""
        turn = next(self.turn)
        body = bytearray(self.page)
        struct.pack_into("<QQI", body, 0, 1, turn, True)
        for n, at in enumerate(self.edge_places):
            struct.pack_into("<Q", body, at, turn * EDGES + n)
        return self.anew(bytes(body))

    @functools.cached_property
    def edge_places(self):
        """Where the number of each edge is: before the length of the id of its source."""
        source = struct.pack("<I", 32) + node(0).encode()
        places, start = [], 0
        for _ in range(EDGES):
            start = self.page.index(source, start)
            places.append(start - 8)
            start += len(source)
        return places

    def answer(self, member):
        """The signature and the body of the reply; None: there is no such method."""
        if member == "DescribeRecords":
            return ("say", self.anew(self.page)) if self.mode == "descriptions" else None
        if member in ("Hello", "GetNameOwner"):
            return "s", marshal(GLib.Variant("(s)", (OWNER,)))
        if member == "StartServiceByName":
            return "u", marshal(GLib.Variant("(u)", (2,)))
        if member == "GetAll":
            return "a{sv}", marshal(pack("(a{sv})", ({"Hidden": Typed("t", 1)},)))
        if member == "GetRecords":
            return RECORDS, NO_RECORDS if self.mode == "graph" else self.anew(self.page)
        if member == "GetFindings":
            return "aa{sv}", NO_FINDINGS
        if member == "GetTopology":
            return TOPOLOGY[1:-1], self.edges() if self.mode == "graph" else NO_TOPOLOGY
        if member == "GetPairs":
            return PAIRS[1:-1], NO_PAIRS
        return "", b""

    def send_signals(self):
        fields = {"org.alidade.Node1.Memory": {f"New{n}": Typed("aa{sv}", [{}] * 8000) for n in range(5)}}
        body = marshal(pack("(oa{sa{sv}})", (f"{PATH}/node/{node(0)}", fields)))
        for _ in range(SIGNALS):
            self.send(envelope(SIGNAL, self.anew(body), path=PATH, interface="org.freedesktop.DBus.ObjectManager",
                               member="InterfacesAdded", sender=OWNER, signature="oa{sa{sv}}"))

    def serve(self):
        self.authenticate()
        while True:
            call = self.read()
            if call.get_message_type() != Gio.DBusMessageType.METHOD_CALL:
                continue
            if self.mode == "signals" and call.get_member() == "GetRecords":
                self.send_signals()
            answer = self.answer(call.get_member())
            sender = OWNER if call.get_path() == PATH else "org.freedesktop.DBus"
            fields = {"reply": call.get_serial(), "sender": sender}
            if answer is None:
                self.send(envelope(ERROR, b"", **fields, error_name="org.freedesktop.DBus.Error.UnknownMethod"))
                continue
            signature, body = answer
            self.send(envelope(METHOD_RETURN, body, **fields, **({"signature": signature} if signature else {})))


def main():
    for stream in (sys.stdin, sys.stdout):
        os.set_blocking(stream.fileno(), True)
    with contextlib.suppress(BrokenPipeError):
        Remote(sys.argv[1]).serve()


if __name__ == "__main__":
    main()
