# SPDX-License-Identifier: LGPL-2.1-or-later
"""Several mosquitto brokers on one machine, each with a port and a configuration of its own, and a program that
does with them what clusterd does."""

import os
import signal

from .enrolment import ACL, BROKER_CONF
from .parts import find_program
from .services import build_dir
from .waiting import wait_steadily, wait_until

# The bed's node alone is on the machine, so its files need not be shared by groups.
OWN_CONF = """user root
persistence false
log_dest stderr
"""


class Mosquitto:
    """address is where it listens; the certificate is PATH.crt with PATH.key."""

    def __init__(self, machine, authority, certificate, port, address="127.0.0.1", acl=ACL, extra=""):
        self.machine, self.port, self.address = machine, port, address
        self.program = find_program("mosquitto")
        self.folder = machine.dir / f"mosquitto.{port}.{address}"
        (self.folder / "broker").mkdir(parents=True)
        (self.folder / "broker/broker.crt").write_bytes(certificate.with_suffix(".crt").read_bytes())
        (self.folder / "broker/broker.key").write_bytes(certificate.with_suffix(".key").read_bytes())
        (self.folder / "ca.crt").write_bytes(authority.certificate.read_bytes())
        authority.write_crl(self.folder / "crl.pem")
        (self.folder / "acl").write_text(acl.format(name="bed"))
        (self.folder / "mosquitto.conf").write_text(
            OWN_CONF + extra + BROKER_CONF.format(config=self.folder)
            .replace("listener 8883", f"listener {port} {address}")
            .replace("/etc/mosquitto/alidade.acl", str(self.folder / "acl")))
        self.process = None
        self._starts = 0

    @property
    def name(self):
        host = f"[{self.address}]" if ":" in self.address else self.address
        return host if self.port == 8883 else f"{host}:{self.port}"

    def start(self):
        self._starts += 1
        self.process = self.machine.spawn([self.program, "-c", self.folder / "mosquitto.conf"],
                                          f"{self.folder.name}.{self._starts}")
        wait_steadily(lambda: "running" in self.process.log_text() or self.process.poll() is not None,
                      "mosquitto")
        assert self.process.poll() is None, self.process.log_text()
        return self

    def kill(self):
        self.process.kill()

    def pause(self):
        self.process.signal(signal.SIGSTOP)

    def resume(self):
        self.process.signal(signal.SIGCONT)


class SampleBrokers:
    """sample-brokers with the certificates of a folder; its events are lists of words."""

    def __init__(self, machine, folder, node, **environment):
        stdin, self._commands = os.pipe()
        self._output, stdout = os.pipe()
        self.process = machine.spawn([build_dir() / "tests/bed/sample-brokers", folder, node],
                                     f"sample-brokers.{node[:4]}.{len(machine.processes)}",
                                     env=environment, stdin=stdin, stdout=stdout)
        os.close(stdin)
        os.close(stdout)
        os.set_blocking(self._output, False)
        self.node = node
        self.events = []
        self._rest = b""

    def close(self):
        for fd in (self._commands, self._output):
            os.close(fd)

    def tell(self, *words):
        os.write(self._commands, "\t".join(map(str, words)).encode() + b"\n")

    def _read(self):
        try:
            while chunk := os.read(self._output, 1 << 16):
                *lines, self._rest = (self._rest + chunk).split(b"\n")
                self.events += [line.decode().split("\t") for line in lines]
        except BlockingIOError:
            pass

    def wait_for(self, *words, after=0, deadline=15):
        """The number of the first event that begins with these words, at `after` or later."""
        def found():
            self._read()
            for number, event in enumerate(self.events[after:], after):
                if event[:len(words)] == [str(word) for word in words]:
                    return [number]
            return None
        return wait_until(found, lambda: f"{words} among {self.events[after:][-40:]}\n"
                          f"{self.process.log_text()}", deadline, [self._output])[0]

    def ask(self, *command, answer):
        """The event that answers a command."""
        self._read()
        seen = len(self.events)
        self.tell(*command)
        return self.events[self.wait_for(answer, after=seen)]

    def rows(self):
        """{address: (source, state, publishing, expiry, problem)}"""
        self._read()
        seen = len(self.events)
        self.tell("rows")
        begin, end = self.wait_for("asked", after=seen), self.wait_for("rows", after=seen)
        return {row[1]: tuple(row[2:]) for row in self.events[begin + 1:end]}

    def wait_row(self, address, state, problem="", deadline=15):
        """Once the last told state of this address is this, with such words in its problem."""
        def found():
            self._read()
            last = [event for event in self.events if event[0] == "row" and event[1] == address][-1:]
            return last and last[0][3] == state and problem in last[0][6]
        wait_until(found, lambda: f"{address} {state} {problem!r} among {self.events[-40:]}", deadline,
                   [self._output])
