# SPDX-License-Identifier: LGPL-2.1-or-later
"""The witness of processes, played: what it answers, and what it was asked."""

import contextlib
import json
import os
import socket
import threading


class PlayedWitness:
    """A socket in a folder for ALIDADE_WITNESS_DIRECTORY. answer is a dictionary, bytes as they are, or None to
    hang."""

    def __init__(self, folder, answer):
        self.folder, self.answer, self.requests = folder, answer, []
        folder.mkdir(exist_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(os.fspath(folder / "processes"))
        self._listener.listen()
        self._connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError):
            while packet := connection.recv(65536):
                self.requests.append(json.loads(packet))
                answer = self.answer
                if answer is not None:
                    connection.send(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    def close(self):
        """It is killed, and not started again."""
        for end in (self._listener, *self._connections):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        (self.folder / "processes").unlink(missing_ok=True)
