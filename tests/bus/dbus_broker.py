# SPDX-License-Identifier: LGPL-2.1-or-later
"""dbus-broker in the place of dbus-daemon."""

import shutil
import socket

import pytest
from gi.repository import Gio, GLib

from bedlib import wait_until

needs_dbus_broker = pytest.mark.skipif(
    not all(map(shutil.which, ("dbus-broker-launch", "systemd-socket-activate"))),
    reason="dbus-broker is not installed")

# For tests that hold on either bus.
BUSES = ["dbus-daemon", pytest.param("dbus-broker", marks=needs_dbus_broker)]


class DBusBroker:
    """A dbus-broker on the machine of a host, to stand in the place of its bus; it starts nobody."""

    name = "broker"

    def __init__(self, host):
        self.socket = host.dir / "broker"
        self.address = f"unix:path={self.socket}"
        config = host.dir / "broker.conf"
        config.write_text(host.bus.config.read_text().replace(str(host.bus.socket), str(self.socket)))
        # It insists on a journal.
        host.run(["mkdir", "-p", "/run/systemd/journal"])
        self._journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._journal.bind(str(host.root / "run/systemd/journal/socket"))
        # A journal that reads nothing stops it.
        self.log = ""
        self._log_file = host.dir / "log" / "broker-journal.log"
        self._reader = GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self._journal.fileno(), GLib.IOCondition.IN,
                                             self._on_log)
        monitor = Gio.File.new_for_path(str(host.dir / "log")).monitor_directory(Gio.FileMonitorFlags.NONE)
        monitor.set_rate_limit(0)
        monitor.connect("changed", lambda *_: None)  # wakes who waits
        # Its socket file is there before it listens.
        server = host.spawn(["systemd-socket-activate", "-E", "DBUS_SYSTEM_BUS_ADDRESS", "-l", self.socket,
                             "dbus-broker-launch", f"--config-file={config}", "--scope=system"])
        wait_until(lambda: "Listening on" in server.log_text(), "the socket of dbus-broker")
        host.run(["chmod", "666", self.socket])

    def _on_log(self, *_):
        self.log += self._journal.recv(65536).decode(errors="replace")
        self._log_file.write_text(self.log)
        return True

    def remove_services(self):
        """As those of the bed's own bus when its daemons are to stop."""

    def close(self):
        GLib.source_remove(self._reader)
        self._journal.close()
