# SPDX-License-Identifier: LGPL-2.1-or-later
"""A process inside a simulated machine, held by its pidfd."""

import os
import signal

from .errors import BedFailure
from .waiting import DEADLINE, wait_until


def pid_of(pidfd):
    """The pid of a pidfd in our own pid namespace, whatever the process calls itself."""
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as info:
        for line in info:
            if line.startswith("Pid:"):
                return int(line.split()[1])
    return -1


class Process:
    """pid is the number inside the machine, outer_pid the one outside; returncode is as in subprocess."""

    def __init__(self, name, pid, pidfd, status, log=None):
        self.name = name
        self.pid = pid
        self.outer_pid = pid_of(pidfd)
        self.log = log
        self.returncode = None
        self.excused = False
        self._pidfd = pidfd
        self._status = status
        os.set_blocking(status, False)

    def __repr__(self):
        return f"<{self.name} pid {self.pid} returncode {self.returncode}>"

    def poll(self):
        """The return code, or None while it runs."""
        if self.returncode is None:
            try:
                told = os.read(self._status, 16)
            except BlockingIOError:
                return None
            # An unannounced end of file: the whole machine was taken down.
            self.returncode = int(told) if told else -signal.SIGKILL
        return self.returncode

    def watched_fds(self):
        return [self._status]

    def wait(self, deadline=DEADLINE):
        wait_until(lambda: self.poll() is not None, f"the end of {self}", deadline, self.watched_fds())
        return self.returncode

    def signal(self, number):
        try:
            signal.pidfd_send_signal(self._pidfd, number)
        except ProcessLookupError:
            pass

    def stop(self, deadline=DEADLINE):
        """SIGTERM; every daemon must answer with a clean exit."""
        self.signal(signal.SIGTERM)
        code = self.wait(deadline)
        if code != 0:
            self.excused = True
            raise BedFailure(f"{self.name} ended with {code} after SIGTERM\n{self.log_text()}")
        return code

    def kill(self):
        """kill -9, on purpose: its exit status is not held against it."""
        self.excused = True
        self.signal(signal.SIGKILL)
        return self.wait()

    def expect_exit(self, code=None, deadline=DEADLINE):
        """Waits for an end that the test wants: with this code, or with any failure."""
        self.excused = True
        found = self.wait(deadline)
        if found != code if code is not None else found <= 0:
            raise BedFailure(f"{self.name} ended with {found}, not {code or 'a failure'}\n{self.log_text()}")
        return found

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log and self.log.exists() else ""

    def close(self):
        for fd in (self._pidfd, self._status):
            os.close(fd)
        self._pidfd = self._status = -1
