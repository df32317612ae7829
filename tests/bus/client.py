# SPDX-License-Identifier: LGPL-2.1-or-later
"""Running alidadectl: its exit codes, its JSON, and one that goes on writing."""

import json
import os
import signal
import unicodedata

from bedlib.services import client_binary
from bedlib.waiting import DEADLINE, wait_until
from terminal import Terminal

OK, ERROR, USAGE, UNREACHABLE, NO_NODE, DENIED = range(6)


def get_json(host, *args):
    return json.loads(host.alidadectl(*args, "--json").stdout)


def watch(host, *args, **options):
    return Terminal(host, [client_binary(), "watch", *args], **options)


def width(text):
    """Columns of a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wait_for_picture(terminal):
    """The first one of all that is known; what comes late is waited for with a picture of its own."""
    terminal.wait_for(lambda shown: "q quits" in shown and "Waiting for" not in shown, "a picture")


class Reader:
    """A running alidadectl whose standard output is a pipe that the test may or may not read."""

    def __init__(self, host, *args, env=None):
        self.pipe, theirs = os.pipe()
        os.set_blocking(self.pipe, False)
        try:
            self.process = host.spawn([client_binary(), *args], stdout=theirs, env=env)
        finally:
            os.close(theirs)
        self.lines, self._rest = [], b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.signal(signal.SIGTERM)
            self.process.wait()
        self.close()

    def close(self):
        if self.pipe >= 0:
            os.close(self.pipe)
        self.pipe = -1

    def read(self):
        while True:
            try:
                data = os.read(self.pipe, 1 << 20)
            except BlockingIOError:
                return
            if not data:
                return
            *lines, self._rest = (self._rest + data).split(b"\n")
            self.lines += [line.decode() for line in lines]

    def wait_for_line(self, predicate=lambda line: True, what="a line", deadline=DEADLINE):
        """The first line not taken yet for which it holds; those before it are dropped."""
        def found():
            self.read()
            while self.lines:
                line = self.lines.pop(0)
                if predicate(line):
                    return [line]
            return None
        return wait_until(found, lambda: f"{what}\n{self.process.log_text()}", deadline, [self.pipe])[0]

    def wait_for_event(self, predicate=lambda event: True, **wanted):
        """The first event with these values."""
        def matches(line):
            event = json.loads(line)
            return all(event.get(key) == value for key, value in wanted.items()) and predicate(event)
        return json.loads(self.wait_for_line(matches, f"an event {wanted}"))
