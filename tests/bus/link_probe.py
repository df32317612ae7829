# SPDX-License-Identifier: LGPL-2.1-or-later
"""The service that measures links under test: a probe that does as it is told, and a state service played."""

import contextlib
import json
import os
import stat
from pathlib import Path

from gi.repository import Gio, GLib

from bedlib import BusError, StandIn, interface_xml, network
from bedlib.node import Clock, node_id
from bedlib.waiting import wait_steadily, wait_until

LINK_PROBE = "org.alidade.LinkProbe1"
PATH = "/org/alidade/LinkProbe1"
JOB = "org.alidade.LinkProbe1.Job"
SOCKET = "org.alidade.Link1.Socket"
STATE = "org.alidade.State1"
ACTION = "org.alidade.link-probe.probe"
PEER, OTHER = "0" * 31 + "a", "0" * 31 + "b"
ADDRESS, OTHER_ADDRESS = "192.0.2.2", "198.51.100.2"

RESULT = {"SinkAddress": ADDRESS, "SourceInterface": "lan0", "UploadBitsPerSecond": 50_000_000,
          "DownloadBitsPerSecond": 200_000_000, "UploadMeanBitsPerSecond": 49_000_000, "RttMinNSec": 40_000,
          "RttP50NSec": 50_000, "RttP99NSec": 90_000, "JitterNSec": 5_000, "Streams": 1,
          "UploadInterval": 0.4, "DownloadInterval": 1.5, "UploadSpread": 2.0, "DownloadSpread": 3.25,
          "UploadLimiter": "network", "DownloadLimiter": "sender", "SinkInterface": "eth7",
          "UploadOtherBitsPerSecond": 1000, "DownloadOtherBitsPerSecond": 0, "Scope": "full",
          "SpotUploadBitsPerSecond": 51_000_000, "SpotDownloadBitsPerSecond": 199_000_000,
          "UploadBytes": 1000, "DownloadBytes": 2000, "UploadSeconds": 1.25, "Method": "median of 50 ms bins"}

# What it does stands in the file "behaviour" beside it; each run leaves its arguments in a file of its own.
PROBE = """#!/usr/bin/python3 -I
import json, os, signal, sys, time
here = os.path.dirname(os.path.abspath(__file__))
with open(here + "/behaviour") as file:
    what, _, result = file.read().partition(" ")
rdma = "rdma." if sys.argv[0].endswith("rdma") else ""
fresh = f"{here}/calls/.{os.getpid()}"
with open(fresh, "w") as file:
    json.dump(sys.argv[1:], file)
os.rename(fresh, f"{here}/calls/{rdma}{os.getpid()}")
given = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])
def say(text):
    os.write(3, text.encode())
def end(text, code=0):
    os.write(1, text.encode())
    sys.exit(code)
def hang():
    while True:
        signal.pause()
if "session-fd" in given:
    if what == "silent":
        hang()
    automatic = what.startswith("automatic-")
    request = '"scope":"%s","automatic":%s' % (what.partition("-")[2] if automatic else "full", str(automatic).lower())
    peer = '"peer":"%s"' % json.loads(result).get("Source", "0" * 31 + "a")
    say('{%s,"port":"rxe0.1",%s}\\n' % (peer, request) if rdma else '{%s}\\n' % peer)
    if what == "shy":
        hang()
    if not rdma:
        say('{%s}\\n' % request)
    answer = os.read(3, 1024).decode()
    with open(f"{here}/calls/answer.{os.getpid()}", "w") as file:
        file.write(answer)
    if answer != "\\n" and not answer.startswith("gids"):
        end("{}\\n", 1)
    if what == "hang":
        hang()
    end("{}\\n")
if what == "crash":
    os.abort()
if what == "hang":
    say('{"phase":"upload","fraction":0.25}\\n')
    hang()
if what == "garbage":
    say("\\x00\\xff{]\\n" * 5)
    end("\\x00nonsense\\n" * 100)
if what == "half":
    end('{"UploadBitsPerSecond":5')
if what == "flood":
    while True:
        os.write(1, b"x" * 4096)
if what == "flood-side":
    say("x" * 4096)
    hang()
if what == "odd":
    end('{"UploadBitsPerSecond":-1,"DownloadBitsPerSecond":"much","UploadLimiter":"moon","RttP50NSec":[1]}\\n')
if what == "status":
    end("", 7)
if what == "working" and "round-trips" not in given:
    end(json.dumps({"error": "round-trips-only", "message": "the other side: work: epoch 7"}) + "\\n", 1)
if what in ("busy", "inhibited", "refused"):
    end(json.dumps({"error": what, "message": "the peer is " + what}) + "\\n", 1)
if what == "family":
    if os.fork() == 0:
        hang()
for phase, fraction in (("rtt", 0.1), ("upload", 0.5), ("download", 0.9)):
    say(json.dumps({"phase": phase, "fraction": fraction}) + "\\n")
end(result + "\\n")
"""


def credentials(host):
    """What the service looks for, and does not read itself."""
    folder = host.dir / "config/cluster"
    folder.mkdir(exist_ok=True)
    for name in ("ca.crt", "crl.pem", "node.crt", "node.key"):
        (folder / name).write_text("")
    return folder


class Probe:
    """The folder that ALIDADE_PROBE_DIR names."""

    def __init__(self, host):
        self.folder = host.dir / "probe"
        (self.folder / "calls").mkdir(parents=True)
        (self.folder / "calls").chmod(0o777)
        self.folder.chmod(0o755)
        self.does("good")
        for name in ("alidade-probe-socket", "alidade-probe-rdma"):
            program = self.folder / name
            program.write_text(PROBE)
            program.chmod(0o755)

    @property
    def environment(self):
        return {"ALIDADE_PROBE_DIR": str(self.folder)}

    def does(self, what, **fields):
        fresh = self.folder / "behaviour.fresh"
        told = {name: value for name, value in {**RESULT, **fields}.items() if value is not None}
        fresh.write_text(f"{what} {json.dumps(told)}")
        fresh.rename(self.folder / "behaviour")

    def calls(self, begin=""):
        """The arguments of every run so far; with "rdma." of the program for that."""
        return [json.loads(path.read_text()) for path in sorted((self.folder / "calls").glob(f"{begin}[0-9]*"))]

    def wait_for_answers(self, count):
        """What sessions were told once it was known with whom they are, sorted."""
        def answers():
            found = [path.read_text() for path in (self.folder / "calls").glob("answer.*")]
            return sorted(found) if len(found) >= count and all(found) else None
        return wait_steadily(answers, f"{count} answers")

    def wait_for_calls(self, count, begin=""):
        wait_steadily(lambda: len(self.calls(begin)) >= count, f"{count} runs of the probe")
        return self.calls(begin)


def row(name, address, **fields):
    return {"Id": GLib.Variant("s", name), "Type": GLib.Variant("s", fields.get("type", "ethernet")),
            "Carrier": GLib.Variant("b", True), "Addresses": GLib.Variant("as", [address]),
            "SpeedBitsPerSecond": GLib.Variant("t", fields.get("speed", 1_000_000_000))}


class State:
    """org.alidade.State1 as far as it is asked: .due is what is due of links, .due_devices of devices, .questions what
    was asked of links, .device_questions of devices, .before_answer called with a node before its profile is given.
    .devices are those of the machine, .usage how busy they are, .processes how many processes compute on them,
    .asleep those that sleep, .system_usec when that was said last, .measured when they were measured;
    .ports are the RDMA ports of nodes by their ids."""

    def __init__(self, host, own_id):
        self.connection = host.new_connection()
        self.due, self.questions = [], []
        self.due_devices, self.device_questions = [], []
        self.devices, self.usage, self.processes = {}, {}, {}
        self.asleep, self.system_usec, self.measured = set(), None, {}
        self.ports, self.segments = {}, []
        self.own_id = own_id
        self.before_answer = lambda node: None
        self.networks = {own_id: [row("lan0", "192.0.2.1/24")],
                         PEER: [row("eth7", f"{ADDRESS}/24")], OTHER: []}
        self.stand_in = StandIn(self.connection, "/org/alidade/State1", interface_xml(STATE), {STATE: {}},
                                {"GetDueProbes": self._get_due, "GetProfile": self._get_profile,
                                 "GetFabric": self._get_fabric})
        self.connection.own(STATE)

    def _get_fabric(self, _node):
        return [], [{"How": GLib.Variant("s", "roce"), "Candidate": GLib.Variant("b", False),
                     "Members": GLib.Variant("as", members)} for members in self.segments]

    def _get_due(self, most, options):
        if options["Kinds"] == ["Node1.Storage"]:
            return ([],)
        if options["Kinds"] == ["Node1.Compute"]:
            self.device_questions.append(options["AvoidDevices"])
            due = [row for row in self.due_devices if row["Address"] not in options["AvoidDevices"]][:most]
            self.due_devices = [row for row in self.due_devices if row not in due]
            return ([{name: GLib.Variant("s", value) for name, value in row.items()} for row in due],)
        self.questions.append((most, options))
        due, self.due = self.due[:most], self.due[most:]
        return ([{name: GLib.Variant("b" if isinstance(value, bool) else "s", value) for name, value in row.items()}
                 for row in due],)

    def _get_profile(self, node):
        self.before_answer(node)
        if node not in self.networks:
            raise BusError("org.alidade.Error.NoSuchNode", "none")
        rows = self.networks[node]
        profile = {"Node1.Network": {"Interfaces": GLib.Variant("aa{sv}", rows)}} if rows else {}
        if node in self.ports:
            profile |= {"Node1.Fabric": {"RdmaPorts": GLib.Variant("aa{sv}", [
                {name: GLib.Variant("as" if isinstance(value, list) else "s", value) for name, value in port.items()}
                for port in self.ports[node]])}}
        if node == self.own_id and self.devices:
            profile |= {"Node1.Backends": {"Devices": GLib.Variant("aa{sv}", [
                {"Id": GLib.Variant("s", name)}
                | {key: GLib.Variant("b" if isinstance(value, bool) else "s", value) for key, value in fields.items()}
                for name, fields in self.devices.items()])}}
            profile |= {"Node1.System": {"Devices": GLib.Variant("aa{sv}", [
                {"Id": GLib.Variant("s", name)}
                | ({"Usage": GLib.Variant("d", self.usage[name])} if name in self.usage else {})
                | ({"ComputeProcesses": GLib.Variant("t", self.processes[name])} if name in self.processes else {})
                | ({"PowerState": GLib.Variant("s", "asleep")} if name in self.asleep else {})
                for name in self.usage.keys() | self.processes.keys() | self.asleep])}}
            if self.measured:
                profile |= {"Node1.Compute": {"Devices": GLib.Variant("aa{sv}", [
                    {"Id": GLib.Variant("s", name), "MeasuredUSec": GLib.Variant("t", usec)}
                    for name, usec in self.measured.items()])}}
            if self.system_usec is not None:
                profile["Node1.System"]["UpdatedUSec"] = GLib.Variant("t", self.system_usec)
        return (profile,)

    def make_device_due(self, device):
        self.due_devices.append({"Kind": "Node1.Compute", "Peer": self.own_id, "Address": device, "Reason": "never"})

    def make_due(self, address=ADDRESS, peer=PEER, **fields):
        """What is due; flags are booleans, all else strings."""
        self.due.append({"Kind": "Link1.Socket", "Peer": peer, "Address": address, "Reason": "never", **fields})


class LinkProbe:
    """A machine with an interface lan0, the service, its probe and its state service. own_clock: .clock is that of the
    service, for which it makes time pass."""

    def __init__(self, make_host, due=(), joined=True, behaviour="good", own_clock=False, **options):
        self.host = make_host(**options)
        self.clock = Clock(self.host, monotonic=True) if own_clock else None
        if self.host.isolated:
            network.add_veth(self.host, "lan0", "far0")
            network.add_address(self.host, "lan0", "192.0.2.1/24")
        self.probe = Probe(self.host)
        self.probe.does(behaviour)
        if joined:
            credentials(self.host)
        self.own_id = node_id(self.host.machine_id if self.host.isolated else
                              Path("/etc/machine-id").read_text(encoding="ascii").strip())
        self.state = State(self.host, self.own_id)
        for address in due:
            self.state.make_due(address)
        self.process = None
        self.start()

    def start(self):
        clock = self.clock.environment if self.clock else {}
        self.process = self.host.start_daemon("link-probed", env={**self.probe.environment, **clock})

    def restart(self):
        self.process.stop()
        self.start()

    def call(self, method, signature="", args=(), user=None):
        return self.host.call(LINK_PROBE, PATH, LINK_PROBE, method, signature, args, user=user)

    def get(self, name):
        return self.host.get(LINK_PROBE, PATH, LINK_PROBE, name)

    def wait(self, name, value):
        return self.host.wait_for_property(LINK_PROBE, PATH, LINK_PROBE, name, lambda found: found == value)

    def job(self, path, name):
        return self.host.get(LINK_PROBE, path, JOB, name)

    def wait_job(self, path, *states):
        return self.host.wait_for_property(LINK_PROBE, path, JOB, "State", lambda state: state in states)

    def record(self, key, interface):
        path = f"{PATH}/link/" + "".join(c if c.isalnum() and (i or c.isalpha()) else f"_{ord(c):02x}"
                                         for i, c in enumerate(key))
        return self.host.connection().get_all(LINK_PROBE, path, interface)

    def link(self, address=ADDRESS, peer=PEER):
        """The record of a path."""
        return self.record(f"{peer},{address}", SOCKET)

    def inhibit(self, what="link", who="test", why="the test says so", user=None):
        """The lock, as a file descriptor."""
        connection = self.host.connection(user)
        message = Gio.DBusMessage.new_method_call(LINK_PROBE, PATH, LINK_PROBE, "Inhibit")
        message.set_body(GLib.Variant("(sss)", (what, who, why)))
        return receive_lock(connection, message)

    def children(self):
        """Processes below that of the service, ended ones included."""
        pid = self.process.outer_pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return file.read().split()

    def files(self):
        """How many descriptors it has, without those of files, which it opens for a moment to read them."""
        folder, count = f"/proc/{self.process.outer_pid}/fd", 0
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                count += not stat.S_ISREG(os.stat(f"{folder}/{name}").st_mode)
        return count

    def wait_files(self, count):
        wait_steadily(lambda: self.files() == count, f"all but {count} descriptors to be closed")

    def wait_idle(self):
        self.wait("ActiveProbes", 0)
        wait_steadily(lambda: not self.children(), "the end of all children")


def receive_lock(connection, message):
    done = []
    connection.gio.send_message_with_reply(message, Gio.DBusSendMessageFlags.NONE, 30_000, None,
                                           lambda _, result: done.append(result))
    wait_until(lambda: done, "the lock")
    reply = connection.gio.send_message_with_reply_finish(done[0])
    if reply.get_message_type() == Gio.DBusMessageType.ERROR:
        raise BusError(reply.get_error_name(), reply.get_arg0())
    # Taken from the message, which would close its own only when it is collected.
    lock, = reply.get_unix_fd_list().steal_fds()
    return lock
