# SPDX-License-Identifier: LGPL-2.1-or-later
"""The socket probe between two machines, and peers that play one of its sides badly."""

import contextlib
import ctypes
import json
import os
import signal
import socket
import ssl
import struct
import threading

from .errors import BedFailure
from .pki import Authority
from .services import UNDER_TEST
from .waiting import DEADLINE, PATIENCE, wait_steadily

PORT = 7461
CLONE_NEWNET = 0x40000000


def program(version=UNDER_TEST):
    return version.probe("socket")


def json_lines(text):
    found = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found


class Keys:
    """A key for both sides, and certificates of a cluster."""

    def __init__(self, folder):
        self.folder = folder
        self.file = self.write_key("key")
        self.authority = Authority(folder / "ca")

    def write_key(self, name):
        path = self.folder / name
        path.touch(0o600)
        path.write_text(os.urandom(32).hex())
        return path

    def issue(self, node, authority=None):
        """The folder of a node's certificates."""
        authority = authority or self.authority
        folder = self.folder / f"{authority.folder.name}-{node}"
        folder.mkdir()
        authority.issue(folder / "node", node, "clientAuth")
        (folder / "ca.crt").write_text(authority.certificate.read_text())
        authority.write_crl(folder / "crl.pem")
        return folder


class Server:
    """alidade-probe-socket --listen in a machine."""

    def __init__(self, machine, *options, version=UNDER_TEST):
        self.machine = machine
        self.process = machine.spawn([program(version), "--listen", "--json", *options],
                                     f"probe-server-{os.urandom(2).hex()}")
        wait_steadily(lambda: self.process.poll() is not None or "listening" in self.process.log_text(),
                      "the probe to listen")
        self.descriptors = self.count_descriptors()

    def reports(self):
        """What it told of its sessions."""
        return [line for line in json_lines(self.process.log_text()) if "listening" not in line]

    def wait_reports(self, count, deadline=DEADLINE):
        wait_steadily(lambda: len(self.reports()) >= count, f"{count} sessions to end", deadline)
        return self.reports()

    def children(self):
        with open(f"/proc/{self.process.outer_pid}/task/{self.process.outer_pid}/children", encoding="ascii") as told:
            return [int(pid) for pid in told.read().split()]

    def count_descriptors(self):
        with contextlib.suppress(FileNotFoundError):
            return len(os.listdir(f"/proc/{self.process.outer_pid}/fd"))
        return 0

    def check_idle(self):
        """Nothing is left of the sessions that were."""
        wait_steadily(lambda: not self.children(), "the children of the probe to end")
        wait_steadily(lambda: self.count_descriptors() == self.descriptors, "the probe to close what it has opened")


def start(machine, *options, version=UNDER_TEST):
    """Measures; its log has a line for each step, and the result."""
    return machine.spawn([program(version), "--json", "--progress-fd=2", *options],
                         f"probe-client-{os.urandom(2).hex()}")


def result_of(process, deadline=30):
    process.excused = True
    process.wait(deadline)
    lines = json_lines(process.log_text())
    if not lines:
        raise BedFailure(f"no result\n{process.log_text()}")
    assert ("error" in lines[-1]) == (process.returncode != 0)
    return lines[-1]


def measure(machine, *options, **version):
    return result_of(start(machine, *options, **version))


def wait_phase(process, phase):
    wait_steadily(lambda: f'"phase":"{phase}"' in process.log_text(), f"the probe to be at {phase}")


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def socket_in(machine, family=socket.AF_INET, kind=socket.SOCK_STREAM, protocol=0):
    """A socket in the network of a machine, for use here."""
    made = []

    def make():
        # Only this thread goes there.
        with open(f"/proc/{machine.outer_pid}/ns/net", encoding="ascii") as net:
            if ctypes.CDLL(None, use_errno=True).setns(net.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        made.append(socket.socket(family, kind, protocol))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    made[0].settimeout(DEADLINE * PATIENCE)
    return made[0]


class Talk:
    """One side of the control connection, which says what it likes."""

    def __init__(self, plain, folder, server):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.load_cert_chain(folder / "node.crt", folder / "node.key")
        context.load_verify_locations(folder / "ca.crt")
        # Node certificates are for clients, which Python minds; who the other is does not matter here.
        context.verify_mode = ssl.CERT_NONE
        if server:
            context.verify_mode = ssl.CERT_OPTIONAL
        self.tls = context.wrap_socket(plain, server_side=server)

    def say(self, name, times=1, **fields):
        """Sends a message; several at once arrive before any patience ends."""
        self.say_text(f"{name} {json.dumps(fields)}", times)

    def say_text(self, text, times=1):
        data = text.encode()
        self.write((struct.pack(">I", len(data)) + data) * times)

    def write(self, data):
        self.tls.sendall(data)

    def hear(self):
        """Name and fields of the next message; None for both if the connection has ended."""
        header = self._read(4)
        body = self._read(struct.unpack(">I", header)[0]) if header else None
        if not body:
            return None, None
        name, fields = body.decode().split(" ", 1)
        return name, json.loads(fields)

    def hear_only(self, name):
        """Fields of the next message of this name; None if the connection has ended."""
        while True:
            heard, fields = self.hear()
            if heard in (None, name):
                return fields

    def _read(self, count):
        data = b""
        while len(data) < count:
            try:
                more = self.tls.recv(count - len(data))
            except (ConnectionError, ssl.SSLError):
                more = b""
            if not more:
                return None
            data += more
        return data

    def close(self):
        self.tls.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def call(machine, address, folder):
    """A client of our own with a session: the talk, and SocketWelcome."""
    plain = socket_in(machine)
    plain.connect((address, PORT))
    talk = Talk(plain, folder, False)
    return talk, talk.hear_only("SocketWelcome")


def open_data(machine, address, port, token):
    data = socket_in(machine)
    data.connect((address, port))
    data.sendall(token.encode())
    return data


class FalseServer:
    """A server of our own: play(server, talk) is called for the one client, in a thread."""

    def __init__(self, machine, address, folder, play):
        self.plain, self.data = socket_in(machine), socket_in(machine)
        for listening, port in ((self.plain, PORT), (self.data, PORT + 1)):
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((address, port))
            listening.listen()
        self.folder, self.play = folder, play
        self.kept = []
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        control = self.plain.accept()[0]
        control.settimeout(DEADLINE * PATIENCE)
        # The client may well have enough of us at any time.
        with contextlib.suppress(OSError, TypeError), Talk(control, self.folder, True) as talk:
            self.play(self, talk)

    def welcome(self, talk, **other):
        talk.say("SocketWelcome", **{"Version": 2, "Port": PORT + 1, "StreamsMax": 8, "DurationMaxMSec": 5000,
                                     "BytesMax": 10 ** 12, **other})

    def let_in(self, talk):
        """Sends the requested token, and accepts the connection."""
        return self._answer(talk, talk.hear_only("SocketOpen"))

    def until_begin(self, talk):
        """Finds no rate in the spot checks, which a long round trip prevents; fields of the SocketBegin after them."""
        while True:
            name, fields = talk.hear()
            if name != "SocketOpen":
                return fields
            data = self._answer(talk, fields)
            if fields["Purpose"] == "spot-upload":
                talk.say("SocketSpotResult", Bytes=0)
            else:
                data.close()

    def _answer(self, talk, asked):
        talk.say("SocketTokens", Tokens=["ab" * 16] * asked["Count"])
        data = self.data.accept()[0]
        data.settimeout(DEADLINE * PATIENCE)
        assert len(data.recv(32, socket.MSG_WAITALL)) == 32
        self.kept.append(data)
        return data

    def echo(self, talk):
        data = self.let_in(talk)

        def run():
            with contextlib.suppress(OSError):
                while got := data.recv(64):
                    data.sendall(got)

        threading.Thread(target=run, daemon=True).start()

    def take(self, data, least):
        """Reads so much of an upload, or somewhat more; how much it was."""
        total = 0
        while total < least and (more := len(data.recv(1 << 20))):
            total += more
        return total

    def close(self):
        self.thread.join(DEADLINE * PATIENCE)
        for one in (self.plain, self.data, *self.kept):
            one.close()
