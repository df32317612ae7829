# SPDX-License-Identifier: LGPL-2.1-or-later
"""A simulated host: a machine with a bus, the real system services it asks for, and Alidade's daemons."""

import contextlib
import json
import os
import signal
import sys

from . import verdict
from .activation import Activations
from .bus import Bus
from .connection import Connection, passwd_entry
from .errors import BedFailure, Timeout, Unavailable
from .machine import Machine
from .notify import NotifySocket
from .objects import ObjectTree
from .parts import Hostnamed, NetworkManager, Polkit
from .services import SERVICES, UNDER_TEST
from .sysroot import FakeRoot
from .waiting import DEADLINE

STOP_DEADLINE = 5.0


class Host(Machine):
    """Use it as a context manager; leaving it stops all daemons and fails if one of them misbehaved.

    network_manager  True, or text appended to NetworkManager.conf
    polkit           True, or {name: JavaScript} of first rules
    hostnamed        True, or {KEY: value} of /etc/machine-info
    daemons          programs started by hand at once, in order: ("identityd", "stated")
    activation       True, or the programs that the bus may start itself
    sysroot          True for a FakeRoot with a baseline, or a FakeRoot; None for the real /proc and /sys
    config           text of alidade.conf
    environment      more variables for the daemons
    service_users    run each daemon as the user of its unit instead of as root
    strict_bus       False lets everything through, so that a daemon's own refusals can be tested
    bus_policy       more XML for the bus configuration
    own_bus          True gives Alidade a bus apart from the system bus of NetworkManager and hostnamed
    version          a Version, where it is not that under test
    """

    def __init__(self, name="host", *, isolated=None, network_manager=False, polkit=False, hostnamed=False,
                 daemons=(), activation=False, sysroot=None, config="", environment=None,
                 service_users=False, strict_bus=True, bus_policy="", own_bus=False, version=UNDER_TEST):
        if network_manager or polkit or hostnamed or service_users:
            if isolated is False:
                raise Unavailable("the real system services need a machine with namespaces")
            isolated = True
        super().__init__(name, isolated)
        self._wanted = {"network_manager": network_manager, "polkit": polkit, "hostnamed": hostnamed}
        self._first_daemons = daemons
        self.version = version
        everything = (*version.programs(), *version.programs(on_demand=True))
        self._activation = everything if activation is True else tuple(activation or ())
        self._service_users = service_users
        self._strict_bus = strict_bus
        self._bus_policy = bus_policy
        self._own_bus = own_bus
        self._config = config
        self._extra_environment = dict(environment or {})
        self._connections = {}
        self._notify_sockets = []
        self.sysroot = sysroot
        self.cluster = None  # its name, where the host is a node of one
        self.daemons = []
        self.activations = None
        self.bus = self.system_bus = None
        self.nm = self.polkit = self.hostnamed = None
        self.allowed_problems = []

    # Coming up

    def start(self):
        super().start()
        for folder in ("config", "state", "runtime", "reports"):
            (self.dir / folder).mkdir()
        (self.dir / "reports").chmod(0o1777)
        self.write_config(self._config)
        if self.sysroot is True:
            self.sysroot = FakeRoot(self.dir / "sysroot")
        if self.isolated:
            self.add_users(dict.fromkeys([*self.version.policy_users(), *(s.user for s in SERVICES.values())]))
            self.add_members(self.version.group_members())
        self._start_buses()
        self._start_parts()
        for program in self._first_daemons:
            self.start_daemon(program)

    def _start_buses(self):
        self.bus = Bus(self, "bus", self.version.bus_policies(), self._strict_bus, self._bus_policy)
        self.system_bus = Bus(self, "system-bus") if self._own_bus else self.bus
        self.environment["DBUS_SYSTEM_BUS_ADDRESS"] = self.system_bus.address
        self.environment["ALIDADE_BUS_ADDRESS"] = self.bus.address
        self.environment["ALIDADE_CONFIG_DIR"] = str(self.dir / "config")
        self._tell_shell()
        self.activations = Activations(self)
        for program in self._activation:
            service = SERVICES[program]
            self.activations.add(self.bus, service, self.daemon_argv(program),
                                 self.daemon_environment(program))
        for bus in {self.bus, self.system_bus}:
            bus.start()

    def _tell_shell(self):
        """What tests/bed/shell needs, which finds a host by its first process."""
        environment = dict(self.environment)
        with contextlib.suppress(Unavailable):
            environment["PATH"] = f"{self.version.client.parent}:{environment['PATH']}"
        (self.dir / "host.json").write_text(json.dumps({"name": self.name, "cluster": self.cluster,
                                                        "environment": environment}))

    def _start_parts(self):
        system = (self, self.system_bus, self.connection(bus=self.system_bus))
        if self._wanted["hostnamed"]:
            info = self._wanted["hostnamed"]
            self.hostnamed = Hostnamed(*system, info if isinstance(info, dict) else None)
            self.hostnamed.start()
        if self._wanted["polkit"]:
            rules = self._wanted["polkit"]
            self.polkit = Polkit(self, self.bus, self.connection(), self.version.polkit_policies(),
                                 rules if isinstance(rules, dict) else None)
            self.polkit.start()
        if self._wanted["network_manager"]:
            extra = self._wanted["network_manager"]
            self.nm = NetworkManager(*system, extra if isinstance(extra, str) else "")
            self.nm.start()

    # Alidade's daemons

    def write_config(self, text):
        """alidade.conf; a running daemon reads it again on SIGHUP."""
        (self.dir / "config/alidade.conf").write_text(text)

    def _leave_the_load_alone(self):
        """The machine of the tests is busy with other tests, which would keep probes away; unless the test sets the
        key itself. Earlier versions do not know it."""
        key, drop_in = "yield-to-processors", self.dir / "config/alidade.conf.d/05-bed.conf"
        if key in self._config or key not in (self.version.source / "services/alidade.conf").read_text():
            drop_in.unlink(missing_ok=True)
            return
        drop_in.parent.mkdir(exist_ok=True)
        drop_in.write_text(f"[link-probe]\n{key}=false\n")

    def state_directory(self, program):
        return self.dir / "state" / program

    def daemon_argv(self, program):
        binary, user = self.version.daemon(program), SERVICES[program].user
        if not self._service_users:
            return [binary]
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", binary]

    def daemon_environment(self, program):
        """What systemd and the test set for this daemon; makes its directories."""
        if program == "link-probed":
            self._leave_the_load_alone()
        result = {**verdict.environment(self.dir / "reports"),
                  "DBUS_SYSTEM_BUS_ADDRESS": self.system_bus.address,
                  "ALIDADE_BUS_ADDRESS": self.bus.address,
                  "ALIDADE_CLUSTER_STATE_DIR": self.state_directory("clusterd")}
        for variable, folder in (("STATE_DIRECTORY", "state"), ("RUNTIME_DIRECTORY", "runtime")):
            result[variable] = self.dir / folder / program
            result[variable].mkdir(exist_ok=True)
            if self._service_users:
                entry = passwd_entry(self, SERVICES[program].user)
                os.chown(result[variable], entry.pw_uid, entry.pw_gid)
        if self.sysroot is not None:
            result["ALIDADE_SYSROOT"] = self.sysroot.dir
        return {**result, **self._extra_environment}

    def start_daemon(self, program, args=(), env=None, wait=True):
        """Starts a daemon by hand and, unless told otherwise, waits for its bus name."""
        process = self.spawn([*self.daemon_argv(program), *args], f"{program}.{len(self.daemons)}",
                             env={**self.daemon_environment(program), **(env or {})})
        process.name = program
        self.daemons.append(process)
        if wait:
            self.wait_ready_daemon(program, process)
        return process

    def wait_ready_daemon(self, program, process):
        """A service may still write files when it owns its name, but before it answers."""
        name = SERVICES[program].bus_name
        self.connection().wait_for_name(name, process=process)
        self.connection().call(name, "/", "org.freedesktop.DBus.Peer", "Ping")

    def notify_socket(self):
        """For start_daemon(…, env={"NOTIFY_SOCKET": socket.path})."""
        fresh = NotifySocket(self.dir / f"notify.{len(self._notify_sockets)}")
        self._notify_sockets.append(fresh)
        return fresh

    def activated(self, program):
        """The newest run of a daemon that the bus started."""
        runs = self.activations.runs(program)
        if not runs:
            raise BedFailure(f"the bus has not started {program}")
        return runs[-1]

    def alidadectl(self, *args, user=None, check=True, **options):
        return self.run([self.version.client, *args], user=user, check=check, **options)

    # The bus

    def connection(self, user=None, bus=None):
        """The connection of that user to Alidade's bus (or another), made when first asked for."""
        bus = bus or self.bus
        key = (bus.name, user)
        if key not in self._connections:
            self._connections[key] = self.new_connection(user, bus)
        return self._connections[key]

    def new_connection(self, user=None, bus=None):
        """One more connection, the caller's to close; none outlives the host."""
        if user is not None and not self.isolated:
            raise Unavailable("needs root with the right to make namespaces to act as another user")
        fresh = Connection(self, bus or self.bus, user)
        self._connections[fresh] = fresh
        return fresh

    def call(self, destination, path, interface, method, signature="", args=(), user=None, **options):
        return self.connection(user).call(destination, path, interface, method, signature, args, **options)

    def get(self, destination, path, interface, name, user=None):
        return self.connection(user).get(destination, path, interface, name)

    def wait_for_name(self, name, present=True, deadline=DEADLINE):
        return self.connection().wait_for_name(name, present, deadline)

    def wait_for_property(self, destination, path, interface, name, predicate=lambda value: True,
                          deadline=DEADLINE):
        return self.connection().wait_for_property(destination, path, interface, name, predicate, deadline)

    def wait_for_signal(self, sender, path, interface, member, predicate=lambda signal: True,
                        deadline=DEADLINE):
        return self.connection().wait_for_signal(sender, path, interface, member, predicate, deadline)

    def log_signals(self, sender=None, path=None, interface=None, member=None, arg0=None):
        return self.connection().log_signals(sender, path, interface, member, arg0)

    def objects(self, destination, path):
        """A live copy of what that ObjectManager exports."""
        return ObjectTree(self.connection(), destination, path)

    def forge(self, destination, path, interface, member, signature="", args=(), user="nobody"):
        """A directed signal from someone who has no business sending it; handled by the bus on return."""
        connection = self.connection(user)
        connection.emit(path, interface, member, signature, args, destination)
        connection.fence()

    # Going down

    def close(self):
        problems = []
        if self.activations is not None:
            problems = self._stop_daemons()
            self.activations.close()
        for connection in self._connections.values():
            connection.close()
        for notify in self._notify_sockets:
            notify.close()
        self.activations, self._connections, self._notify_sockets = None, {}, []
        super().close()
        if problems:
            raise BedFailure(f"on {self.name}:\n" + "\n".join(problems))

    def _stop_daemons(self):
        """SIGTERM to every daemon, however started, and the verdict on all of them."""
        self.bus.remove_services()
        problems = []
        # An activation may still be under way while the first ones stop; hence until none is left.
        while True:
            everyone = self.daemons + self.activations.runs()
            running = [daemon for daemon in everyone if daemon.poll() is None]
            if not running:
                return problems + verdict.judge(everyone, self.dir / "reports", self.allowed_problems)
            for daemon in reversed(running):
                daemon.signal(signal.SIGTERM)
            for daemon in running:
                try:
                    daemon.wait(STOP_DEADLINE)
                except Timeout as timeout:
                    problems.append(str(timeout))
                    daemon.kill()

    def logs(self):
        """Everything that anything on this host printed."""
        paths = [*sorted((self.dir / "log").glob("*.log")), *sorted((self.dir / "activated").glob("*.log"))]
        return "".join(f"---- {path.name} of {self.name}\n{path.read_text(errors='replace')}\n"
                       for path in paths if path.stat().st_size)

    def __exit__(self, kind, error, trace):
        if kind is not None and self.dir is not None:
            print(self.logs(), file=sys.stderr)
        try:
            self.close()
        except BedFailure:
            if kind is None:
                raise
