# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real system services on a simulated machine: NetworkManager, polkitd, systemd-hostnamed, lldpd."""

import shutil
import signal
from pathlib import Path

from gi.repository import GLib

from .errors import BedFailure, Unavailable
from .objects import ObjectTree
from .waiting import DEADLINE

HOSTNAMED = "/lib/systemd/systemd-hostnamed"
POLKITD = "/usr/lib/polkit-1/polkitd"
POLKIT_ACTIONS = "/usr/share/polkit-1/actions"
POLKIT_RULES = ("/etc/polkit-1/rules.d", "/usr/share/polkit-1/rules.d")

NETWORK_MANAGER_CONF = """[main]
plugins=keyfile
dns=none
rc-manager=unmanaged
hostname-mode=none
no-auto-default=*
auth-polkit=root-only
[logging]
level=INFO
"""


def find_program(*candidates):
    for candidate in candidates:
        found = shutil.which(candidate, path="/usr/sbin:/usr/bin:/sbin:/bin")
        if found:
            return found
    raise Unavailable(f"{candidates[0]} is not installed")


class Part:
    """A service on the machine's system bus, under a well-known name."""

    bus_name = None

    def __init__(self, machine, bus, connection):
        if not machine.isolated:
            raise Unavailable(f"{type(self).__name__} needs root with the right to make namespaces")
        self.machine = machine
        self.bus = bus
        self.connection = connection
        self.process = None
        self.program = self.find()
        self.prepare()

    def find(self):
        raise NotImplementedError

    def prepare(self):
        """What has to lie in place before the first start."""

    def argv(self):
        return [self.program]

    def start(self):
        """Returns when it owns its name, as it must also after a crash."""
        self.process = self.machine.spawn(self.argv(), type(self).__name__,
                                          env={"DBUS_SYSTEM_BUS_ADDRESS": self.bus.address})
        self.connection.wait_for_name(self.bus_name, process=self.process)

    def kill(self):
        """kill -9; returns when the bus has noticed."""
        self.process.kill()
        self.connection.wait_for_name(self.bus_name, present=False)

    def stop(self):
        """SIGTERM; returns when the bus has noticed."""
        self.process.excused = True
        self.process.signal(signal.SIGTERM)
        self.process.wait()
        self.connection.wait_for_name(self.bus_name, present=False)

    def call(self, path, interface, method, signature="", args=(), **options):
        return self.connection.call(self.bus_name, path, interface, method, signature, args, **options)

    def bind(self, folder, target):
        """A directory of our own in place of the system's, in this machine only; made if need be."""
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        if not (self.machine.root / target.lstrip("/")).is_dir():
            raise Unavailable(f"there is no {target}")
        self.machine.run(["mount", "--bind", folder, target])


class NetworkManager(Part):
    """extra_config is appended to NetworkManager.conf."""

    bus_name = "org.freedesktop.NetworkManager"
    path = "/org/freedesktop/NetworkManager"
    device_interface = "org.freedesktop.NetworkManager.Device"
    active_interface = "org.freedesktop.NetworkManager.Connection.Active"
    disconnected = 30

    def __init__(self, machine, bus, connection, extra_config=""):
        self.extra_config = extra_config
        super().__init__(machine, bus, connection)

    def find(self):
        return find_program("NetworkManager")

    def prepare(self):
        folder = self.machine.dir / "network-manager"
        self.bind(folder / "etc", "/etc/NetworkManager")
        self.bind(folder / "lib", "/var/lib/NetworkManager")
        (folder / "etc/NetworkManager.conf").write_text(NETWORK_MANAGER_CONF + self.extra_config)

    def argv(self):
        return [self.program, "--debug"]

    def start(self):
        """It owns its name some milliseconds before it has anything to show."""
        super().start()
        with ObjectTree(self.connection, self.bus_name, "/org/freedesktop") as tree:
            tree.wait_for_interface(self.path, self.bus_name)

    def devices(self):
        """{interface name: object path}"""
        paths = self.call(self.path, self.bus_name, "GetAllDevices")
        return {self.get_device(path, "Interface"): path for path in paths}

    def get_device(self, path, name):
        return self.connection.get(self.bus_name, path, self.device_interface, name)

    def wait_for_device(self, interface, deadline=DEADLINE):
        """The object path of a device, once NetworkManager has it."""
        with self.connection.log_signals(self.bus_name, self.path, self.bus_name, "DeviceAdded") as added:
            found = self.devices().get(interface)
            if found:
                return found
            signal_ = added.wait(lambda s: self.get_device(s.args[0], "Interface") == interface, deadline)
        return signal_.args[0]

    def wait_for_state(self, interface, state, deadline=DEADLINE):
        """Until the device has come as far as this NMDeviceState."""
        self.connection.wait_for_property(self.bus_name, self.wait_for_device(interface), self.device_interface,
                                          "State", lambda now: now >= state, deadline)

    def activate(self, interface, settings, deadline=DEADLINE):
        """Adds a connection ({section: {key: GLib.Variant}}) and returns once it is up on the device."""
        device = self.wait_for_device(interface)
        _, active = self.call(self.path, self.bus_name, "AddAndActivateConnection", "a{sa{sv}}oo",
                              (settings, device, "/"))
        activated = 2
        self.connection.wait_for_property(self.bus_name, active, self.active_interface, "State",
                                          lambda state: state == activated, deadline)
        return device


class Polkit(Part):
    """polkitd with the actions and rules of the test alone."""

    bus_name = "org.freedesktop.PolicyKit1"
    path = "/org/freedesktop/PolicyKit1/Authority"
    interface = "org.freedesktop.PolicyKit1.Authority"

    def __init__(self, machine, bus, connection, policies=(), rules=None):
        self.policies = [Path(policy) for policy in policies]
        self.first_rules = dict(rules or {})
        super().__init__(machine, bus, connection)

    def find(self):
        return find_program(POLKITD, "/usr/libexec/polkitd", "/usr/lib/polkitd")

    def prepare(self):
        folder = self.machine.dir / "polkit"
        self.actions, self.rules = folder / "actions", folder / "rules"
        self.bind(self.actions, POLKIT_ACTIONS)
        self.bind(self.rules, POLKIT_RULES[0])
        self.bind(folder / "no-rules", POLKIT_RULES[1])
        for policy in self.policies:
            shutil.copy(policy, self.actions)
        for name, script in self.first_rules.items():
            self._write_rule(name, script)

    def argv(self):
        return [self.program, "--no-debug"]

    def _write_rule(self, name, script):
        # Renamed into place: polkitd reads when it sees the file, not when we have finished it.
        fresh = self.rules.with_name("fresh")
        fresh.write_text(script)
        fresh.chmod(0o644)
        fresh.rename(self.rules / f"{name}.rules")

    def set_rule(self, name, script):
        """Adds or replaces NAME.rules (JavaScript); returns when polkitd has loaded it."""
        with self.connection.log_signals(self.bus_name, self.path, self.interface, "Changed") as changed:
            self._write_rule(name, script)
            changed.wait()

    def allow(self, action, user):
        """A rule that lets one user do one action."""
        self.set_rule(f"50-{user}", f"""polkit.addRule(function(action, subject) {{
            if (action.id == "{action}" && subject.user == "{user}")
                return polkit.Result.YES;
        }});\n""")

    def check(self, action, unique_name):
        """(authorized, challenge) of the connection with that unique name, asked as root."""
        authorized, challenge, _ = self.connection.call_raw(
            self.bus_name, self.path, self.interface, "CheckAuthorization",
            check_arguments(action, unique_name)).unpack()[0]
        return authorized, challenge


def check_arguments(action, unique_name):
    subject = ("system-bus-name", {"name": GLib.Variant("s", unique_name)})
    return GLib.Variant("((sa{sv})sa{ss}us)", (subject, action, {}, 0, ""))


class Hostnamed(Part):
    """systemd-hostnamed over the machine's own /etc; it ends when idle and is activated again."""

    bus_name = "org.freedesktop.hostname1"
    path = "/org/freedesktop/hostname1"

    def __init__(self, machine, bus, connection, machine_info=None):
        self.machine_info = machine_info or {}
        super().__init__(machine, bus, connection)

    def find(self):
        return find_program(HOSTNAMED, "/usr/lib/systemd/systemd-hostnamed")

    def prepare(self):
        if self.machine_info:
            self.write_machine_info(self.machine_info)
        # For its Varlink socket, of systemd 257; it does not make the machine one that systemd has booted.
        (self.machine.root / "run/systemd").mkdir(exist_ok=True)
        self.bus.add_service(self.bus_name, self.program)

    def write_machine_info(self, values):
        """/etc/machine-info as an administrator would write it; hostnamed emits nothing for that."""
        lines = "".join(f'{key}="{value}"\n' for key, value in values.items())
        (self.machine.root / "etc/machine-info").write_text(lines)

    def set_pretty_name(self, name):
        self.call(self.path, self.bus_name, "SetPrettyHostname", "sb", (name, False))


class Lldpd:
    """An LLDP neighbour: lldpd on one interface of a machine that needs no bus."""

    def __init__(self, machine, interface, description="bed switch"):
        self.machine = machine
        self.process = None
        self.argv = [find_program("lldpd"), "-d", "-I", interface, "-S", description,
                     "-u", machine.dir / "lldpd.socket", "-O", self._config()]

    def _config(self):
        path = self.machine.dir / "lldpd.conf"
        path.write_text("configure lldp tx-interval 1\n")
        return path

    def start(self):
        (self.machine.root / "run/lldpd").mkdir(mode=0o755, exist_ok=True)
        self.process = self.machine.spawn(self.argv, "lldpd")
        if self.process.poll() is not None:
            raise BedFailure(f"lldpd ended\n{self.process.log_text()}")
