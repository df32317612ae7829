# SPDX-License-Identifier: LGPL-2.1-or-later
"""A host of a simulated cluster: its identity, its daemons by name, its broker, and what may befall it."""

import hashlib
import hmac
import signal
from pathlib import Path

from . import network
from .broker import Broker
from .connection import PROPERTIES
from .errors import Unavailable
from .host import Host
from .services import SERVICES, UNDER_TEST, only_without_sanitizers
from .waiting import wait_steadily

APP_ID = bytes.fromhex("6d024f1e68ee4c01932314de4590e8f4")
LINK = "eth0"
FAKETIME = "faketime/libfaketimeMT.so.1"
STATE = ("org.alidade.State1", "/org/alidade/State1", "org.alidade.State1")
CLUSTER = ("org.alidade.Cluster1", "/org/alidade/Cluster1", "org.alidade.Cluster1")
PRESENCE = "org.alidade.Node1.Presence"


def node_id(machine_id):
    """What sd_id128_get_machine_app_specific(3) makes of a machine id."""
    digest = bytearray(hmac.new(bytes.fromhex(machine_id), APP_ID, hashlib.sha256).digest()[:16])
    digest[6] = digest[6] & 0x0f | 0x40
    digest[8] = digest[8] & 0x3f | 0x80
    return digest.hex()


def told_states(log):
    """{(node, state)} of what log_presences() has kept."""
    return {(signal.path.rpartition("/")[2], signal.args[1]["State"]) for signal in log.received
            if "State" in signal.args[1]}


def faketime_library():
    only_without_sanitizers("whose malloc() and faketime wait for each other")
    for folder in Path("/usr/lib").glob("*/"):
        if (folder / FAKETIME).exists():
            return folder / FAKETIME
    raise Unavailable("faketime is not installed")


class Clock:
    """A clock for programs of a machine: those with .environment follow set(), also once they run. monotonic: it makes
    time pass for them, as the monotonic clock goes with it."""

    def __init__(self, machine, monotonic=False):
        self._path = machine.dir / "clock"
        self.environment = {"LD_PRELOAD": faketime_library(), "FAKETIME_NO_CACHE": 1,
                            "FAKETIME_DONT_FAKE_MONOTONIC": int(not monotonic), "FAKETIME_TIMESTAMP_FILE": self._path}
        self.set(0)

    def set(self, offset_seconds):
        """Moves it away from the true one."""
        fresh = self._path.with_suffix(".fresh")
        fresh.write_text(f"{offset_seconds:+d}")
        fresh.rename(self._path)


class Node(Host):
    """Made by Cluster. own_clock: set_clock() works on its daemons; "all": it makes time pass for them, as the
    monotonic clock goes with it. gpu: the number of the driver in tests/device that plays its only device of OpenCL,
    which is measured. Other options are those of Host."""

    def __init__(self, number, cluster, *, own_clock=False, gpu=None, **options):
        version = options.get("version", UNDER_TEST)
        super().__init__(f"node{number}", isolated=True,
                         **{"activation": version.programs(on_demand=True), **options})
        self.cluster = cluster
        self.number = number
        self.address = f"10.77.{number // 256}.{number % 256}"
        self.id = node_id(self.machine_id)
        self.broker = None
        self._own_clock = own_clock
        self._gpu = gpu
        self._clock = None
        self._switch = None
        self._crashed = False

    def _find_programs(self):
        """Those that its daemons and its broker run; the probes are built in folders of their own."""
        for kind in ("socket", "rdma", *(["compute"] if self._gpu else [])):
            link = self.dir / "probes" / f"alidade-probe-{kind}"
            link.parent.mkdir(exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(self.version.probe(kind))
        plugin = self._extra_environment.get("ALIDADE_MOSQUITTO_PLUGIN", self.version.mosquitto_plugin)
        self.environment.update(ALIDADE_MOSQUITTO_PLUGIN=str(plugin), ALIDADE_SYSTEMD_DIR=str(self.dir / "systemd"))

    def start(self):
        super().start()
        self._find_programs()
        self._add_devices()
        if self._own_clock:
            self._clock = Clock(self, self._own_clock == "all")

    def _add_devices(self):
        # Loading PoCL takes longer than the rest of the start, and nodes that measured the processors they share would
        # measure each other.
        self._vendors.mkdir(exist_ok=True)
        if self._gpu:
            driver = self.version.build / f"tests/device/simulated-gpu-{self._gpu}.so"
            (self._vendors / "simulated.icd").write_text(f"{driver}\n")
        else:
            drop_in = self.dir / "config/alidade.conf.d/bed.conf"
            drop_in.parent.mkdir(exist_ok=True)
            drop_in.write_text("[link-probe]\ncompute=false\n")

    @property
    def _vendors(self):
        return self.dir / "opencl-vendors"

    def plug_in(self, switch, bridge):
        self._switch = switch
        network.join_bridge(switch, bridge, self, LINK)
        if self.nm:
            # It takes addresses away that come while it takes the device over; later ones it leaves alone.
            self.nm.wait_for_state(LINK, self.nm.disconnected)
        network.add_address(self, LINK, f"{self.address}/16")

    def add_broker(self):
        self.broker = Broker(self)

    def daemon_environment(self, program):
        return {"ALIDADE_LIBEXEC_DIR": self.version.helpers, "ALIDADE_PROBE_DIR": self.dir / "probes",
                "OCL_ICD_VENDORS": self._vendors, **super().daemon_environment(program)}

    def daemon_argv(self, program):
        argv = super().daemon_argv(program)
        if self._clock:
            # For the daemon alone: a semaphore made before its user changed would be another's.
            argv[-1:-1] = ["env", *(f"{name}={value}" for name, value in self._clock.environment.items())]
        return argv

    # Its daemons; the newest run of each counts

    def start_daemons(self, programs=None):
        """All that are built, at once; wait_ready() awaits them."""
        for program in self.version.programs() if programs is None else programs:
            self.start_daemon(program, wait=False)

    def wait_ready(self):
        for program in dict.fromkeys(daemon.name for daemon in self.daemons):
            self.wait_ready_daemon(program, self.process(program))

    def process(self, program):
        return next(daemon for daemon in reversed(self.daemons) if daemon.name == program)

    def kill(self, program):
        """kill -9; returns when the bus has noticed."""
        self.process(program).kill()
        self.wait_for_name(SERVICES[program].bus_name, present=False)

    def pause(self, program):
        self.process(program).signal(signal.SIGSTOP)

    def resume(self, program):
        self.process(program).signal(signal.SIGCONT)

    def reload(self, program):
        self.process(program).signal(signal.SIGHUP)

    def restart(self, program):
        """Ends it in order, if it still runs, and starts it anew."""
        if self.process(program).poll() is None:
            self.process(program).stop()
        self.wait_for_name(SERVICES[program].bus_name, present=False)
        return self.start_daemon(program)

    def install(self, version):
        """As the package of another version does it: those of its daemons that run end in order, and the same of that
        version start with what they kept, with the same keys and the same configuration."""
        running = [daemon.name for daemon in self.daemons if daemon.poll() is None]
        for program in reversed(running):
            self.process(program).stop()
            self.wait_for_name(SERVICES[program].bus_name, present=False)
        self.version = version
        self.add_users(version.policy_users())
        self.add_members(version.group_members())
        self._find_programs()
        self._tell_shell()
        self.bus.set_policies(version.bus_policies())
        self.start_daemons(running)
        self.wait_ready()

    # What may befall it

    def cut(self):
        """Its cable is out."""
        network.set_up(self._switch, self.name, False)

    def mend(self):
        network.set_up(self._switch, self.name)

    def set_clock(self, offset_seconds):
        """Moves the realtime clock that its daemons see, those that run too, away from the true one."""
        self._clock.set(offset_seconds)

    def crash(self):
        """All of it dies at once, and nothing of it comes back."""
        self._crashed = True
        signal.pidfd_send_signal(self._agent_pidfd, signal.SIGTERM)
        for process in self.processes:
            process.excused = True
            process.wait()
        # Our connections to its bus would keep its network.
        network.delete_link(self._switch, self.name)

    def _stop_daemons(self):
        return [] if self._crashed else super()._stop_daemons()

    # What it knows of the cluster

    def state(self, method, signature="", args=(), **options):
        """A call of the state service."""
        return self.call(*STATE, method, signature, args, **options)

    def records(self, kind=""):
        """{(node, kind, key): (epoch, seq, deleted, fields)} of all that this node knows."""
        found, after = {}, ""
        while True:
            page, after = self.state("GetRecords", "sst", (kind, after, 0))
            found.update({tuple(row[:3]): (row[3], row[4], row[6], row[7]) for row in page})
            if not after:
                return found

    def digest(self, kind=""):
        """(count, digest) of all that this node knows."""
        return tuple(self.state("GetDigest", "s", (kind,)))

    def log_presences(self):
        """Keeps each state of presence that clients are told from now on; see told_states()."""
        return self.connection().log_signals(STATE[0], None, PROPERTIES, "PropertiesChanged", PRESENCE)

    def has_broker(self):
        return any(row["State"] == "connected" for row in self.call(*CLUSTER, "GetBrokers"))

    def presence(self, other):
        """The word for another node, or None where it is not known."""
        rows = self.records("Node1.Presence")
        return rows.get((other.id, "Node1.Presence", ""), [{}])[-1].get("State")

    def wait_presence(self, other, state, **options):
        wait_steadily(lambda: self.presence(other) == state,
                      lambda: f"{other.name} {state} as {self.name} sees it (now {self.presence(other)})",
                      **options)
