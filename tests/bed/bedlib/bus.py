# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private dbus-daemon on a simulated machine."""

import os
import signal

from .busconfig import session_config, system_config
from .errors import BedFailure
from .waiting import DEADLINE, wait_until

SERVICE_FILE = "[D-BUS Service]\nName={name}\nExec={command}\nUser=root\n"


class Bus:
    """strict: Alidade's policies apply; otherwise any caller reaches any service. extra: more policy XML."""

    def __init__(self, machine, name="bus", policies=(), strict=True, extra=""):
        self.machine = machine
        self.name = name
        self.socket = machine.dir / name
        self.address = f"unix:path={self.socket}"
        self.servicedir = machine.dir / f"{name}-services"
        self.servicedir.mkdir()
        self.config = machine.dir / f"{name}.conf"
        self._strict, self._extra = strict, extra
        self._write_config(policies)
        self.process = None

    def _write_config(self, policies):
        if self.machine.isolated:
            text = system_config(self.socket, self.servicedir, policies, self._extra, self._strict)
        else:
            text = session_config(self.socket, self.servicedir, self._extra)
        self.config.write_text(text)

    def set_policies(self, policies):
        """Those of another version, while it runs."""
        self._write_config(policies)
        self.machine.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")

    def start(self, env=None):
        """Returns once the daemon has told its address, which it does when it listens."""
        ready, theirs = os.pipe()
        try:
            argv = ["dbus-daemon", f"--config-file={self.config}", "--nofork", "--nopidfile",
                    "--print-address=1"]
            self.process = self.machine.spawn(argv, f"dbus-{self.name}", stdout=theirs, env={
                "DBUS_SYSTEM_BUS_ADDRESS": self.address, **(env or {})})
        finally:
            os.close(theirs)
        os.set_blocking(ready, False)

        def told():
            try:
                return [os.read(ready, 4096)]
            except BlockingIOError:
                return None

        try:
            if wait_until(told, "dbus-daemon", fds=[ready]) == [b""]:
                raise BedFailure(f"dbus-daemon did not start:\n{self.process.log_text()}")
        finally:
            os.close(ready)

    def add_service(self, name, command):
        """Makes a name activatable by exec; dbus-daemon looks again when asked for a name it lacks."""
        path = self.servicedir / f"{name}.service"
        path.write_text(SERVICE_FILE.format(name=name, command=command))

    def remove_services(self):
        for path in self.servicedir.glob("*.service"):
            path.unlink()

    def stop(self):
        self.process.excused = True
        self.process.signal(signal.SIGTERM)
        return self.process.wait(DEADLINE)
