# SPDX-License-Identifier: LGPL-2.1-or-later
"""Daemons that dbus-daemon itself starts, watched as closely as those started by hand.

A generated script stands between dbus-daemon and the daemon: it sets the environment and keeps log, pid
and exit status, which dbus-daemon would not tell.
"""

import os
import select
import shlex
import signal

from .process import Process

SCRIPT = """#!/bin/sh
{exports}
base={base}.$$
sh -c 'echo $$ >"$1.pid"; shift; exec "$@"' sh "$base" {command} >"$base.log" 2>&1
code=$?
echo $code >"$base.fresh"
mv "$base.fresh" "$base.status"
exit $code
"""


def write_launcher(folder, name, argv, environment):
    """The script to name in Exec=."""
    exports = "\n".join(f"export {key}={shlex.quote(str(value))}" for key, value in environment.items())
    path = folder / name
    path.write_text(SCRIPT.format(exports=exports, base=shlex.quote(str(path)),
                                  command=shlex.join(str(word) for word in argv)))
    path.chmod(0o755)
    return path


def pidfd_or_ended(machine, pid):
    """A pidfd, or for a process already gone something just as readable."""
    try:
        return machine.pidfd(pid)
    except OSError:
        return os.memfd_create("ended")


class Activated(Process):
    """One run of an activated daemon, found by the pid file of its launcher."""

    def __init__(self, machine, pid_file):
        self._status_file = pid_file.with_suffix(".status")
        pid, launcher = int(pid_file.read_text()), int(pid_file.stem.rpartition(".")[2])
        super().__init__(pid_file.name.split(".")[0], pid, pidfd_or_ended(machine, pid),
                         pidfd_or_ended(machine, launcher), pid_file.with_suffix(".log"))

    def poll(self):
        if self.returncode is None:
            launcher_ended = bool(select.select([self._status], [], [], 0)[0])
            if self._status_file.exists():
                code = int(self._status_file.read_text())
                self.returncode = 128 - code if code > 128 else code
            elif launcher_ended:
                self.returncode = -signal.SIGKILL
        return self.returncode

    def signal(self, number):
        if self.poll() is None:
            super().signal(number)


class Activations:
    """All runs of all activated daemons of one machine."""

    def __init__(self, machine):
        self.machine = machine
        self.folder = machine.dir / "activated"
        self.folder.mkdir()
        self._known = {}

    def add(self, bus, service, argv, environment):
        bus.add_service(service.bus_name, write_launcher(self.folder, service.program, argv, environment))

    def runs(self, program=None):
        """Oldest first."""
        for path in sorted(self.folder.glob("*.pid"), key=lambda found: found.stat().st_mtime_ns):
            if path not in self._known and path.read_text().strip():
                self._known[path] = Activated(self.machine, path)
        return [run for run in self._known.values() if program in (None, run.name)]

    def close(self):
        for run in self._known.values():
            run.close()
