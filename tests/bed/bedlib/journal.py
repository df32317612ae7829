# SPDX-License-Identifier: LGPL-2.1-or-later
"""journald's end of sd_journal_send(3)."""

import contextlib
import os
import socket
import struct

from .waiting import DEADLINE, wait_until


def parse(data):
    """{field: text} of an entry in the native protocol of the journal."""
    entry = {}
    while data:
        line, _, data = data.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            (size,) = struct.unpack_from("<Q", data)
            value, data = data[8:8 + size], data[8 + size + 1:]
        entry[name.decode()] = value.decode()
    return entry


class JournalSocket:
    """Of a host with namespaces of its own; .entries holds what its programs wrote."""

    def __init__(self, host):
        assert host.isolated, "the socket of this machine's journal is not ours"
        path = host.root / "run/systemd/journal/socket"
        path.parent.mkdir(parents=True)
        self.entries = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(str(path))
        path.chmod(0o666)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def fill(self):
        """Leaves no room for what others write, as a journal that has been stopped."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as other:
            with contextlib.suppress(BlockingIOError):
                while True:
                    other.sendto(b"MESSAGE=x\n", self._socket.getsockname())

    def read(self):
        """Takes in what has been written; what is too long for a datagram comes in a file."""
        while True:
            try:
                data, fds, _, _ = socket.recv_fds(self._socket, 1 << 20, 1)
            except BlockingIOError:
                return self.entries
            for fd in fds:
                data = os.pread(fd, os.fstat(fd).st_size, 0)
                os.close(fd)
            self.entries.append(parse(data))

    def wait(self, deadline=DEADLINE, **wanted):
        """The first entry with these fields."""
        def written():
            return next((entry for entry in self.read() if wanted.items() <= entry.items()), None)
        return wait_until(written, lambda: f"{wanted} among {self.entries}", deadline, [self._socket.fileno()])
