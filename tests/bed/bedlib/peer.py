# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client of a cluster's broker with the certificate of a node, that says whatever it is told, byte for byte."""

import ctypes
import socket
import ssl
import struct
import threading

from .errors import BedFailure
from .waiting import DEADLINE, PATIENCE

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, PINGRESP = 1, 2, 3, 4, 8, 9, 12, 13
CLEAN, WILL, WILL_RETAIN = 0x02, 0x04 | 0x08, 0x20


def socket_in(machine):
    """A TCP socket of that machine's network, made by a thread that goes there."""
    made = []

    def make():
        with open(f"/proc/{machine.outer_pid}/ns/net", "rb") as network:
            if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), 0) == 0:
                made.append(socket.socket(socket.AF_INET, socket.SOCK_STREAM))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    if not made:
        raise BedFailure(f"cannot enter the network of {machine.name}")
    return made[0]


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack(">H", len(raw)) + raw


def packet(kind, flags, body):
    length, size = len(body), bytearray()
    while True:
        length, low = divmod(length, 128)
        size.append(low | (0x80 if length else 0))
        if not length:
            return bytes([kind << 4 | flags]) + bytes(size) + body


class Peer:
    """Connected once made, or the exception tells why not. keys: PATH.crt and PATH.key, instead of the node's;
    will: (topic, payload). It reads only while it waits for something."""

    def __init__(self, node, broker, keys=None, will=None, timeout=DEADLINE):
        folder = node.dir / "config/cluster"
        keys = keys or folder / "node"
        context = ssl.create_default_context(cafile=folder / "ca.crt")
        context.check_hostname = False
        context.load_cert_chain(keys.with_suffix(".crt"), keys.with_suffix(".key"))
        self.messages = []
        self._mid = 0
        self._rest = b""
        plain = socket_in(node)
        try:
            plain.settimeout(timeout * PATIENCE)
            plain.connect((broker.address, 8883))
            self._link = context.wrap_socket(plain)
        except BaseException:
            plain.close()
            raise
        try:
            self._say_hello(node.id, will)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Without a good-bye, so that its will is done."""
        self._link.close()

    def _say_hello(self, name, will):
        flags, body = CLEAN, text(name)
        if will:
            flags |= WILL | WILL_RETAIN
            body += text(will[0]) + text(will[1])
        self.send(packet(CONNECT, 0, text("MQTT") + bytes([4, flags, 0, 0]) + body))
        answer = self._read_until(CONNACK)
        if answer[1] != 0:
            raise ConnectionRefusedError(f"code {answer[1]}")

    def send(self, raw):
        self._link.sendall(raw)

    def _read_until(self, kind, mid=None):
        """The body of the next packet of this kind; messages that come meanwhile are kept."""
        while True:
            found, flags, body = self._read_packet()
            if found == PUBLISH:
                self._take(flags, body)
            if found == kind and (mid is None or body[:2] == mid):
                return body

    def _read_exactly(self, count):
        while len(self._rest) < count:
            chunk = self._link.recv(1 << 16)
            if not chunk:
                raise ConnectionResetError("the broker closed the connection")
            self._rest += chunk
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken

    def _read_packet(self):
        first, = self._read_exactly(1)
        length = shift = 0
        while True:
            low, = self._read_exactly(1)
            length |= (low & 0x7f) << shift
            shift += 7
            if not low & 0x80:
                return first >> 4, first & 0x0f, self._read_exactly(length)

    def _take(self, flags, body):
        end = 2 + struct.unpack(">H", body[:2])[0]
        topic, qos = body[2:end].decode(), flags >> 1 & 3
        if qos:
            self.send(packet(PUBACK, 0, body[end:end + 2]))
        self.messages.append((topic, body[end + 2 if qos else end:], bool(flags & 1)))

    def publish(self, topic, payload=b"", retain=False, qos=0):
        """With QoS 1 it returns when the broker has it, which tells nothing of whom it is passed on to."""
        self._mid = self._mid % 0xffff + 1
        mid = struct.pack(">H", self._mid)
        payload = payload if isinstance(payload, bytes) else payload.encode()
        self.send(packet(PUBLISH, qos << 1 | retain, text(topic) + (mid if qos else b"") + payload))
        if qos:
            self._read_until(PUBACK, mid)

    def subscribe(self, *filters, qos=1):
        body = b"".join(text(name) + bytes([qos]) for name in filters)
        self.send(packet(SUBSCRIBE, 2, b"\0\1" + body))
        self._read_until(SUBACK)

    def wait_message(self, predicate):
        """The first (topic, payload, retained) for which it is true, of those that came and that come."""
        seen = 0
        while True:
            for message in self.messages[seen:]:
                seen += 1
                if predicate(*message):
                    return message
            found, flags, body = self._read_packet()
            if found == PUBLISH:
                self._take(flags, body)

    def fence(self):
        """Returns when all has come that the broker had for it, with QoS 0, when this was called."""
        self.send(packet(PINGREQ, 0, b""))
        self._read_until(PINGRESP)
