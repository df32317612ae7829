# SPDX-License-Identifier: LGPL-2.1-or-later
"""The exporter as systemd starts it, with a socket of the test, and a client of it that reads bytes."""

import contextlib
import re
import signal
import socket
import ssl
import time

import pytest

from bedlib.services import build_dir
from bedlib.waiting import DEADLINE, wait_steadily

# Passed as standard input, since the machine of the test passes no other descriptors.
AS_SYSTEMD = "exec 3<&0 0</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\""
TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def binary():
    return build_dir() / "clients/exporter/alidade-exporter"


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        status, *lines = head.decode().split("\r\n")
        self.status = int(status.split()[1])
        self.headers = dict((name.lower(), value) for name, value in (line.split(": ", 1) for line in lines))

    @property
    def text(self):
        return self.body.decode()

    def value(self, metric):
        """Of a sample without labels."""
        return float(re.search(rf"^{metric} (.*)$", self.text, re.MULTILINE)[1])


class Exporter:
    """alidade-exporter on a bus of a host, on a port of its own."""

    def __init__(self, host, environment=None, address="127.0.0.1"):
        self.host = host
        self.socket = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        self.socket.bind((address, 0))
        self.socket.listen(128)
        self.address = (address, self.socket.getsockname()[1])
        self.tls = None
        env = {**host.daemon_environment("stated"), **(environment or {})}
        self.process = host.spawn(["sh", "-c", AS_SYSTEMD, binary()], f"exporter.{len(host.daemons)}", env=env,
                                  stdin=self.socket.fileno())
        self.process.name = "exporter"
        host.daemons.append(self.process)

    def connect(self, timeout=DEADLINE, source=None):
        raw = socket.create_connection(self.address, timeout, source and (source, 0))
        return self.tls.wrap_socket(raw) if self.tls else raw

    def send(self, request, timeout=DEADLINE):
        """All that comes back for these bytes."""
        with contextlib.closing(self.connect(timeout)) as connection:
            connection.sendall(request)
            parts = []
            while part := connection.recv(1 << 16):
                parts.append(part)
            return b"".join(parts)

    def get(self, path="/metrics", method="GET", **headers):
        lines = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "localhost", **headers}.items())
        return Answer(self.send(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode()))

    def wait_for(self, predicate, what):
        found = []

        def is_there():
            found[:] = [self.get()]
            return predicate(found[0])

        wait_steadily(is_there, what)
        return found[0]

    def verify(self, certificate):
        self.tls = ssl.create_default_context(cafile=certificate)
        self.tls.check_hostname = False

    def memory(self):
        """Its resident bytes."""
        with open(f"/proc/{self.process.outer_pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS:"))

    def ticks(self):
        """Its processor time."""
        with open(f"/proc/{self.process.outer_pid}/stat", encoding="ascii") as stat:
            return sum(map(int, stat.read().rpartition(")")[2].split()[11:13]))

    def reload(self):
        self.process.signal(signal.SIGHUP)

    def close(self):
        self.socket.close()


@pytest.fixture
def export():
    """export(host, …): an exporter on its bus."""
    made = []

    def make(host, **options):
        made.append(Exporter(host, **options))
        return made[-1]

    yield make
    for exporter in made:
        exporter.close()


def pause_for_new_text():
    """Texts are written anew each 250 ms at most."""
    time.sleep(0.26)
