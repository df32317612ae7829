# SPDX-License-Identifier: LGPL-2.1-or-later
"""The service manager's end of sd_notify."""

import os
import socket

from .waiting import DEADLINE, wait_until


class NotifySocket:
    """Put .path into NOTIFY_SOCKET; .lines holds what the daemon told, such as READY=1."""

    def __init__(self, path):
        self.path = path
        self.lines = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(str(path))
        os.chmod(path, 0o777)

    def _drain(self):
        while True:
            try:
                self.lines += self._socket.recv(65536).decode().splitlines()
            except BlockingIOError:
                return

    def wait(self, line, deadline=DEADLINE):
        def told():
            self._drain()
            return line in self.lines
        wait_until(told, lambda: f"{line} among {self.lines}", deadline, [self._socket.fileno()])

    def close(self):
        self._socket.close()
        self.path.unlink(missing_ok=True)
