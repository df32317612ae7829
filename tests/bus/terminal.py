# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program on a terminal: a pseudo-terminal, and what a person would see on it."""

import codecs
import fcntl
import os
import pty
import re
import struct
import termios
import unicodedata
from pathlib import Path

from gi.repository import GLib

from bedlib.waiting import DEADLINE, wait_until

SEQUENCE = re.compile(r"\x1b(?:\[([?>]?)([0-9;]*)([A-Za-z@])|\][^\x07]*\x07|[()][AB0]|[=>78cM])")
INCOMPLETE = re.compile(r"\x1b(?:\[[?>]?[0-9;]*|\][^\x07]*|[()]?)?\Z")


def width(char):
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


class Screen:
    """Enough of a terminal for programs that move the cursor, clear and write."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.modes, self.styles, self.bad = set(), set(), []
        self.pictures = 0
        self.row = self.column = 0
        self.cells = [[" "] * columns for _ in range(rows)]

    def resize(self, columns, rows):
        kept = [(line + [" "] * columns)[:columns] for line in self.cells[:rows]]
        self.cells = kept + [[" "] * columns for _ in range(rows - len(kept))]
        self.columns, self.rows = columns, rows

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells).rstrip()

    def lines(self):
        return self.text().split("\n")

    def _newline(self):
        if self.row + 1 < self.rows:
            self.row += 1
        else:
            self.cells = self.cells[1:] + [[" "] * self.columns]

    def _put(self, char):
        wide = width(char)
        if wide == 0:
            return
        if self.column + wide > self.columns:
            if "7-off" in self.modes:
                self.column = self.columns - wide
            else:
                self.column = 0
                self._newline()
        self.cells[self.row][self.column] = char
        if wide == 2:
            self.cells[self.row][self.column + 1] = ""
        self.column += wide

    def _control(self, char):
        if char == "\n":
            self._newline()
        elif char == "\r":
            self.column = 0
        elif char == "\b":
            self.column = max(0, self.column - 1)
        elif char != "\a":
            self.bad.append(char)

    def _clear(self, from_row, from_column):
        for row in range(from_row, self.rows):
            begin = from_column if row == from_row else 0
            self.cells[row][begin:] = [" "] * (self.columns - begin)

    def _obey(self, private, parameters, final):
        numbers = [int(number or 0) for number in parameters.split(";")]
        if final == "m":
            self.styles.add(parameters)
        elif private and numbers == [2026]:
            self.pictures += final == "h"
        elif private and final in "hl":
            self.modes.discard(f"{numbers[0]}-{'off' if final == 'h' else 'on'}")
            self.modes.add(f"{numbers[0]}-{'on' if final == 'h' else 'off'}")
        elif final == "H":
            self.row = min(max(numbers[0], 1), self.rows) - 1
            self.column = min(max((numbers + [1])[1], 1), self.columns) - 1
        elif final == "J":
            self._clear(0, 0) if numbers[0] == 2 else self._clear(self.row, self.column)
        elif final == "K":
            self.cells[self.row][self.column:] = [" "] * (self.columns - self.column)
        else:
            self.bad.append(f"{private}{parameters}{final}")

    def feed(self, text):
        """Returns what is left because its rest has not come yet."""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = SEQUENCE.match(text, at)
                if match:
                    if match[3]:
                        self._obey(match[1], match[2], match[3])
                    at = match.end()
                    continue
                if INCOMPLETE.match(text, at):
                    return text[at:]
                self.bad.append(text[at:at + 8])
            elif text[at] < " " or "\x7f" <= text[at] < "\xa0":
                self._control(text[at])
            else:
                self._put(text[at])
            at += 1
        return ""


class Terminal:
    """Runs a program on a terminal of its own, as a shell would: in the foreground, stopped by Ctrl-Z."""

    def __init__(self, host, argv, columns=100, rows=30, user=None, env=None):
        self.master, slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.screen = Screen(columns, rows)
        self.bytes = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._set_size(columns, rows)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        if user is not None:
            os.fchmod(slave, 0o666)
        self.process = host.spawn(["setsid", "--ctty", "--wait", *argv], user=user, stdin=slave, stdout=slave,
                                  stderr=slave, env={"TERM": "xterm-256color", **(env or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)

    def _set_size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(columns, rows)
        self._set_size(columns, rows)

    def read(self):
        """Takes in what has been written meanwhile."""
        while True:
            try:
                data = os.read(self.master, 65536)
            except (BlockingIOError, OSError):
                return
            self.bytes += len(data)
            self._rest = self.screen.feed(self._rest + self._decoder.decode(data))

    def type(self, keys):
        os.write(self.master, keys.encode())

    def wait_for_no_echo(self):
        """Until a program reads a password; turning the echo off discards what was typed before. Nothing tells
        of it, so this looks again and again."""
        self._look_again(lambda: not termios.tcgetattr(self.slave)[3] & termios.ECHO, "the echo to be off")

    def wait_for_stop(self):
        """Until the kernel has stopped the program; SIGCONT before that would be lost. Only its parent is told."""
        def is_stopped():
            stat = Path(f"/proc/{self.foreground()}/stat").read_text(encoding="utf-8", errors="replace")
            return stat.rpartition(")")[2].split()[0] == "T"
        self._look_again(is_stopped, "the program to be stopped")

    @staticmethod
    def _look_again(predicate, what):
        ticker = GLib.timeout_add(10, lambda: GLib.SOURCE_CONTINUE)
        try:
            wait_until(predicate, what)
        finally:
            GLib.source_remove(ticker)

    def foreground(self):
        """Process group that has the terminal."""
        return os.tcgetpgrp(self.master)

    def signal(self, number):
        os.killpg(self.foreground(), number)

    def hang_up(self):
        os.close(self.slave)
        os.close(self.master)
        self.slave = self.master = -1

    def wait_for(self, predicate, what="the terminal to show it", deadline=DEADLINE):
        """Until predicate(text of the screen) holds."""
        def shown():
            self.read()
            return predicate(self.screen.text())
        return wait_until(shown, lambda: f"{what}; it shows:\n{self.screen.text()}", deadline, [self.master])

    def wait_for_text(self, text, deadline=DEADLINE):
        return self.wait_for(lambda shown: text in shown, repr(text), deadline)

    def wait(self, deadline=DEADLINE):
        """The exit status; what it wrote last is on the screen."""
        def ended():
            self.read()
            return self.process.poll() is not None
        wait_until(ended, f"the end of {self.process}; the terminal shows:\n{self.screen.text()}", deadline,
                   [self.master, *self.process.watched_fds()])
        self.read()
        return self.process.returncode

    def is_restored(self):
        """As the program found it: main screen, cursor, line wrap, echo and whole lines."""
        attributes = termios.tcgetattr(self.slave)
        return (attributes == self.before and "1049-on" not in self.screen.modes
                and "25-off" not in self.screen.modes and "7-off" not in self.screen.modes)
