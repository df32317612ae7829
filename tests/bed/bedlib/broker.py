# SPDX-License-Identifier: LGPL-2.1-or-later
"""The mosquitto of a simulated host as Debian's package runs it, with the drop-ins of /etc/mosquitto."""

import shutil
import signal

from .errors import BedFailure, Unavailable
from .parts import find_program
from .waiting import DEADLINE, wait_steadily

# As the package has it, but for the log, which the bed keeps.
MOSQUITTO_CONF = """persistence true
persistence_location /var/lib/mosquitto/
log_dest stderr
include_dir /etc/mosquitto/conf.d
"""
CONFIG_DIR = "/etc/mosquitto"
DATA_DIR = "/var/lib/mosquitto"
RUNNING = "running"


class Broker:
    """config and data are the folders of its configuration and of what it keeps, usable from outside."""

    def __init__(self, machine):
        if not machine.isolated:
            raise Unavailable("a broker needs root with the right to make namespaces")
        self.machine = machine
        self.program = find_program("mosquitto")
        self.process = None
        self._starts = 0
        self.config, self.data = machine.dir / "mosquitto/config", machine.dir / "mosquitto/data"
        for folder, target in ((self.config, CONFIG_DIR), (self.data, DATA_DIR)):
            folder.mkdir(parents=True)
            machine.run(["mkdir", "-p", target])
            machine.run(["mount", "--bind", folder, target])
        machine.run(["chown", "mosquitto:", self.data])
        (self.config / "conf.d").mkdir()
        (self.config / "mosquitto.conf").write_text(MOSQUITTO_CONF)

    def start(self, wait=True):
        self._starts += 1
        self.process = self.machine.spawn([self.program, "-c", f"{CONFIG_DIR}/mosquitto.conf"],
                                          f"mosquitto.{self._starts}")
        if wait:
            self.wait_ready()

    def wait_ready(self, deadline=DEADLINE):
        """Returns when it listens."""
        def reached():
            if self.process.poll() is not None:
                raise BedFailure(f"mosquitto ended with {self.process.returncode}\n{self.process.log_text()}")
            return RUNNING in self.process.log_text()
        wait_steadily(reached, "mosquitto", deadline)

    def kill(self):
        """kill -9: what it has not written is lost."""
        self.process.kill()

    def stop(self):
        """SIGTERM: it writes what it keeps and says goodbye."""
        self.process.stop()

    def pause(self):
        self.process.signal(signal.SIGSTOP)

    def resume(self):
        self.process.signal(signal.SIGCONT)

    def forget(self):
        """Loses all it kept, while it does not run."""
        for path in self.data.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
