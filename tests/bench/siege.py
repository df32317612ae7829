# SPDX-License-Identifier: LGPL-2.1-or-later
"""What others notice while local users and hosts without a key do all they can to keep services from them."""

import contextlib
import json
import os
import struct
import sys
import time
import traceback
from pathlib import Path

import siege_members
from requirement import need_programs, need_root

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS / "bed"), str(TESTS / "bus")]

SECONDS = 120
NODES = 900
UPDATES_PER_TURN, TURN_SECONDS = 30, 0.1
QUESTION_SECONDS = 0.02
ARRIVE_SECONDS = 20
METHOD_RETURN, SIGNAL = 2, 4
ATTACKER, LEAVER, OTHER = "nobody", "games", "daemon"
DAEMONS = ("identityd", "telemetryd", "link-probed", "stated", "historyd")

LINK_PROBE = ("org.alidade.LinkProbe1", "/org/alidade/LinkProbe1", "org.alidade.LinkProbe1")
JOB = "org.alidade.LinkProbe1.Job"
ENDED = ("done", "failed", "canceled")
SHAPE = (100_000_000, 100_000_000)
OUTSIDER, OUTSIDERS = "10.77.66.254", [f"10.77.66.{i + 1}" for i in range(17)]
OUTSIDERS_FE80 = [f"fe80::66:{i + 1:x}" for i in range(4)]
LEAVING_CONNECTIONS = 100
SHORTEST = {"seconds": 2, "rest_seconds": 1}
# From the end of the siege until the services must be at rest.
CALM_SECONDS = 1
LOCAL_SOURCES = [f"127.0.0.{i + 1}" for i in range(4)]
# More than any number of connections that are open at a time.
REFUSED_AT_FIRST = 200
MEASURED_SECONDS = 120
# The kernel gives each session its own share of the processors, as systemd does with those of users and of the system.
OWN_SHARE = ("setsid",)


class Flood:
    """A way to keep others away, for as long as the siege lasts. step() is called a few times a second; figures() adds
    to those of the siege."""

    def __init__(self, host):
        self.host = host

    def step(self):
        pass

    def figures(self):
        return {}

    def close(self):
        pass


class UnreadAnswers(Flood):
    """GetManagedObjects() over three connections, 20 times a second, of which nobody reads an answer."""

    CONNECTIONS, PER_SECOND = 3, 20

    def __init__(self, host):
        super().__init__(host)
        self.sent, self.begun = 0, time.monotonic()
        self.wires = [connect(host, ATTACKER) for _ in range(self.CONNECTIONS)]

    def step(self):
        from state_service import OBJECT_MANAGER, PATH, STATE, blob

        due = int((time.monotonic() - self.begun) * self.PER_SECOND)
        for self.sent in range(self.sent + 1, due + 1):
            for wire in self.wires:
                wire.try_send(blob(STATE, PATH, OBJECT_MANAGER, "GetManagedObjects", serial=self.sent + 10))

    def close(self):
        for wire in self.wires:
            wire.close()


class StoppedSubscribers(Flood):
    """Eight clients that asked for every signal, by subscription and by match rule, and read none."""

    def __init__(self, host):
        from gi.repository import GLib
        from state_service import DBUS, PATH, STATE, blob

        super().__init__(host)
        self.wires = [connect(host, ATTACKER) for _ in range(8)]
        for wire in self.wires:
            wire.call(blob(*DBUS, "AddMatch", GLib.Variant("(s)", ("type='signal'",))))
            wire.call(blob(STATE, PATH, STATE, "Subscribe"))

    def close(self):
        for wire in self.wires:
            wire.close()


class Places(Flood):
    """Takes the places of Subscribe() with as many connections as the bus lets one user have."""

    CONNECTIONS, PER_SECOND = 200, 1000

    def __init__(self, host):
        super().__init__(host)
        self.wires = [connect(host, ATTACKER) for _ in range(self.CONNECTIONS)]
        self.turn, self.begun = 0, time.monotonic()

    def step(self):
        from state_service import PATH, STATE, blob

        due = int((time.monotonic() - self.begun) * self.PER_SECOND)
        for self.turn in range(self.turn + 1, due + 1):
            self.wires[self.turn % len(self.wires)].try_send(
                blob(STATE, PATH, STATE, "Subscribe", serial=self.turn + 10))

    def close(self):
        for wire in self.wires:
            wire.close()


class Handshakes(Flood):
    """Handshakes with one of two nodes that never end, and connections that say nothing: from 17 addresses and four
    link-local ones of a host on the same wire, and from four loopback addresses by a local user. Meanwhile the other
    node measures its link to that one again and again; a probe that is told to come later, or fails, was refused."""

    def __init__(self, host):
        super().__init__(host)
        self.probes = self.refused = 0
        self.job = self.log = None
        with contextlib.ExitStack() as stack:
            self.source, self.sink = self._make_nodes(stack)
            before = self._refused_sessions()
            self._besiege(stack)
            self._wait(lambda: self._refused_sessions() > before + REFUSED_AT_FIRST, "connections to be refused")
            self.stack = stack.pop_all()

    def _wait(self, predicate, what):
        from bedlib.waiting import wait_steadily

        return wait_steadily(predicate, what, MEASURED_SECONDS)

    def _refused_sessions(self):
        return self.sink.get(*LINK_PROBE, "RefusedSessions")

    def _make_nodes(self, stack):
        """In the order of who measures whom by itself, which is done with before the siege begins."""
        from bedlib import Cluster, Machine, network
        from bedlib.cluster import BRIDGE
        from bedlib.node import LINK

        cluster = stack.enter_context(Cluster(2, links=True, shapes=(SHAPE, SHAPE)))
        self.outsider = stack.enter_context(Machine("outsider", isolated=True))
        network.join_bridge(cluster.switch, BRIDGE, self.outsider, LINK, f"{OUTSIDER}/16")
        for address in OUTSIDERS:
            network.add_address(self.outsider, LINK, f"{address}/16")
        for address in OUTSIDERS_FE80:
            network.add_address(self.outsider, LINK, f"{address}/64")
        cluster.wait_online()
        source, sink = sorted(cluster.nodes, key=lambda found: found.id)
        self._wait(lambda: any(row["Source"] == source.id and "DownloadBitsPerSecond" in row
                               for row in source.state("GetLinks").values()), "the first measurement")
        return source, sink

    def _besiege(self, stack):
        told = self.sink.run(["ip", "-o", "-6", "address", "show", "dev", "eth0", "scope", "link"]).stdout.split()
        own_fe80 = next(word.partition("/")[0] for word in told if word.startswith("fe80:"))
        for machine, target, sources, user in (
                (self.outsider, self.sink.address, OUTSIDERS, None),
                (self.outsider, f"{own_fe80}%eth0", OUTSIDERS_FE80, None),
                (self.sink, "127.0.0.1", LOCAL_SOURCES, ATTACKER)):
            siege = machine.spawn(
                [*OWN_SHARE, "/usr/bin/python3", HERE / "siege-wire.py", target, "--half-open=2", "--silent=4",
                 *(f"--source={source}" for source in sources)], f"siege-{target}", user=user)
            stack.callback(siege.kill)

    def _begin_probe(self):
        from gi.repository import GLib

        options = {"Address": GLib.Variant("s", self.sink.address), "RttOnly": GLib.Variant("b", True)}
        self.log = self.source.log_signals(LINK_PROBE[0], None, "org.freedesktop.DBus.Properties",
                                           "PropertiesChanged", JOB)
        self.job = self.source.call(*LINK_PROBE, "ProbeLink", "sa{sv}", (self.sink.id, options))

    def _end_probe(self, state):
        told = [signal.args[1] for signal in self.log.received if signal.path == self.job]
        self.log.close()
        # Of a job that waits for another one of its own machine no phase is told.
        self.refused += state != "done" or any(
            row.get("State") == "waiting" and row.get("Phase") for row in told)
        self.probes += 1
        self.job = None

    def step(self):
        if self.job is None:
            self._begin_probe()
            return
        state = self.source.get(LINK_PROBE[0], self.job, JOB, "State")
        if state in ENDED:
            self._end_probe(state)

    def figures(self):
        if self.probes == 0:
            raise AssertionError("no probe of a member has ended")
        return {"member_probes_refused": self.refused}

    def close(self):
        self.stack.close()


class Leaving(Flood):
    """Calls each service from many connections that are closed at once, again and again."""

    def __init__(self, host):
        from bedlib.services import SERVICES

        super().__init__(host)
        self.process = host.spawn(
            [*OWN_SHARE, "/usr/bin/python3", HERE / "siege-leave.py", host.bus.socket,
             f"--connections={LEAVING_CONNECTIONS}", *(SERVICES[daemon].bus_name for daemon in DAEMONS)],
            "siege-leave", user=LEAVER)

    def close(self):
        self.process.stop()
        if json.loads(self.process.log_text())["calls"] == 0:
            raise AssertionError("nobody has called and left")


class EverNewFindings(Flood):
    """A member that reports ever new findings about itself, to a history service of another host, for which hours pass
    meanwhile. Others have had one finding each before: half of them last, the others have ended."""

    OTHERS, PATHS = 10, 60
    # Of their clock, in so many of ours, so that other floods have their turns.
    PASSED_SECONDS, PAUSE_SECONDS = 30, 0.25

    def __init__(self, host):
        from bedlib import Host
        from history import EverNew, Hours, Notices
        from state_service import CLUSTER_POLICY, Cluster

        super().__init__(host)
        with contextlib.ExitStack() as stack:
            self.own = stack.enter_context(Host(sysroot=True, bus_policy=CLUSTER_POLICY))
            self.own.write_config("[history]\nhistory=all\nhistory-mb=1\n")
            self.own.start_daemon("stated")
            self.cluster = Cluster(self.own)
            self.cluster.online(*map(node, range(self.OTHERS + 1)))
            self.hours, self.notices = Hours(self.own), Notices(self.own)
            self.own.start_daemon("historyd", env=self.hours.environment)
            self.before = self._begin_others()
            self.liar = EverNew(self.cluster, self.hours, self.notices, node(self.OTHERS), self.PATHS)
            self.begun_at, self.begun, self.due = self.hours.now(), 0, 0
            self.stack = stack.pop_all()

    def _events(self):
        """{number: whether it has ended}, of others."""
        from history import FOREVER, call

        rows, findings, _ = call(self.own, "GetEvents", "tt", (0, FOREVER))
        return {row["Event"]: "EndedUSec" in row for row, finding in zip(rows, findings)
                if finding.get("Reporter") != node(self.OTHERS)}

    def _begin_others(self):
        from history import disk

        others = [node(number) for number in range(self.OTHERS)]
        self.cluster.take(*(disk(other, 0.001) for other in others))
        self.hours.pass_until(lambda: len(self._events()) == self.OTHERS, "the findings of others to begin")
        self.cluster.take(*(disk(other, 0.5) for other in others[::2]))
        self.hours.pass_until(lambda: sum(self._events().values()) == self.OTHERS // 2, "half of them to end", 30)
        return self._events()

    def step(self):
        """Time passes; once all of the last turn have begun, others take their place."""
        from history import get

        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + self.PAUSE_SECONDS
        self.hours.skip(self.PASSED_SECONDS)
        seen = get(self.own, "WithheldNotices") + sum("LeftOut" not in finding for finding in self.liar.notices)
        if seen >= self.begun:
            self.begun = self.liar.fill()

    def figures(self):
        from bedlib.waiting import wait_steadily
        from history import SECOND, get

        def is_flooded():
            self.step()
            return get(self.own, "LostEvents") > 0
        wait_steadily(is_flooded, "more events than there is room for", MEASURED_SECONDS)
        events = self._events()
        minutes = (self.hours.now() - self.begun_at) / SECOND / 60
        return {"events_of_others_lost": sum(events.get(event) != ended for event, ended in self.before.items()),
                "finding_signals_per_minute": round(len(self.liar.notices) / minutes, 2)}

    def close(self):
        self.stack.close()


# Nodes take their time to come up, so the flood with them begins first.
FLOODS = (Handshakes, EverNewFindings, UnreadAnswers, StoppedSubscribers, Places, Leaving)


def connect(host, user):
    from state_service import Wire

    return Wire(host, user)


def read_answer(wire):
    """Past signals, without a library; whether it is no error."""
    kind = SIGNAL
    while kind == SIGNAL:
        head = wire.read(16)
        body, _, fields = struct.unpack_from("<III", head, 4)
        wire.read(fields + -fields % 8 + body)
        kind = head[1]
    return kind == METHOD_RETURN


def in_child(function, *args):
    """Runs it in a process of its own, so that nothing here delays it; the result is read from the descriptor."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        status = 1
        try:
            text = repr(function(*args)).encode()
            with os.fdopen(theirs, "wb") as out:
                out.write(text)
            status = 0
        except BaseException:  # it must not go on as its parent
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(theirs)
    return pid, ours


def ask(wire, until):
    """Milliseconds that each answer took: of the state service, small and middling ones in turns, and of the
    bus itself."""
    from state_service import DBUS, PATH, PROPERTIES, STATE, blob
    from gi.repository import GLib

    service, bus = [], []
    questions = [(service, blob(STATE, PATH, PROPERTIES, "Get", GLib.Variant("(ss)", (STATE, "Nodes")), serial=7)),
                 (service, blob(STATE, PATH, STATE, "GetProfile", GLib.Variant("(s)", (node(1),)), serial=8)),
                 (bus, blob(*DBUS, "GetId", serial=9))]
    while time.monotonic() < until:
        for latencies, question in questions:
            begun = time.monotonic()
            wire.send(question)
            if not read_answer(wire):
                raise AssertionError("no answer")
            latencies.append((time.monotonic() - begun) * 1e3)
            time.sleep(QUESTION_SECONDS)
    return service, bus


def node(number):
    from state_service import node_id

    return node_id(number + 1)


def update(cluster, until):
    """{node: its last value}"""
    from bedlib.variants import pack
    from state_service import PATH, RECORDS, STATE, blob, memory

    last, seq = {}, 1
    while time.monotonic() < until:
        begun, seq = time.monotonic(), seq + 1
        chosen = [(seq * UPDATES_PER_TURN + n) % NODES for n in range(UPDATES_PER_TURN)]
        records = [memory(node(n), seq, seq=seq, updated=seq) for n in chosen]
        cluster.send(blob(STATE, PATH, STATE, "PutRecords", pack(f"({RECORDS})", (records,)), serial=seq))
        if not read_answer(cluster):
            raise AssertionError("no records were taken")
        last.update({node(n): seq for n in chosen})
        time.sleep(max(0, TURN_SECONDS - (time.monotonic() - begun)))
    return last


def fill(cluster):
    """Each node has a record that changes, and one that makes a map of all of them large."""
    from bedlib.variants import pack
    from state_service import PATH, RECORDS, STATE, blob, memory, record

    interfaces = [{"Id": f"eth{n}", "Addresses": ["x" * 900]} for n in range(10)]
    for first in range(0, NODES, 100):
        records = [found for n in range(first, first + 100) for found in (
            memory(node(n), 1, seq=1), record(node(n), "Node1.Network", seq=1, Interfaces=interfaces))]
        assert cluster.put(blob(STATE, PATH, STATE, "PutRecords", pack(f"({RECORDS})", (records,)))) \
            == (200, 0)


def result_of(pid, descriptor):
    with os.fdopen(descriptor, "rb") as source:
        text = source.read()
    if os.waitpid(pid, 0)[1] != 0:
        raise RuntimeError("a client of the siege failed: the bus or the service left it")
    return eval(text)  # noqa: S307 what our own child wrote


def peak_mib(process):
    status = Path(f"/proc/{process.outer_pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024


def spent_seconds(process):
    """Processor time of all its threads so far."""
    tasks = Path(f"/proc/{process.outer_pid}/task")
    return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks.iterdir()) / 1e9


def resting(daemons, seconds):
    """{program: percent of a core} that each uses while nobody calls it."""
    before = {daemon.name: spent_seconds(daemon) for daemon in daemons}
    begun = time.monotonic()
    time.sleep(seconds)
    lasted = time.monotonic() - begun
    return {daemon.name: 100 * (spent_seconds(daemon) - before[daemon.name]) / lasted for daemon in daemons}


def besiege(host, daemons, cluster, seconds):
    from bedlib.waiting import wait_until
    from state_service import STATE

    seen = {}

    def note(signal):
        if signal.interface == "org.freedesktop.DBus.Properties" and "TotalBytes" in signal.args[1]:
            seen[signal.path.rpartition("/")[2]] = signal.args[1]["TotalBytes"]

    with contextlib.closing(host.new_connection()) as subscriber, \
            subscriber.log_directed(STATE, "PropertiesChanged") as log, contextlib.ExitStack() as stack:
        log.on_signal = note
        subscriber.call(STATE, "/org/alidade/State1", STATE, "Subscribe")
        floods = [stack.enter_context(contextlib.closing(flood(host))) for flood in FLOODS]
        until = time.monotonic() + seconds
        asking = in_child(ask, connect(host, OTHER), until)
        updating = in_child(update, cluster, until)

        def is_over():
            for flood in floods:
                flood.step()
            return time.monotonic() >= until

        wait_until(is_over, "the end of the siege", seconds + 60)
        (latencies, of_bus), last = result_of(*asking), result_of(*updating)
        figures = {name: figure for flood in floods for name, figure in flood.figures().items()}
        with contextlib.suppress(AssertionError):
            wait_until(lambda: all(seen.get(found) == value for found, value in last.items()), "the last values",
                       ARRIVE_SECONDS)
        return {
            "other_client_p99_ms": siege_members.p99(latencies),
            "bus_p99_ms": siege_members.p99(of_bus),
            "updates_lost": sum(seen.get(found) != value for found, value in last.items()),
            "restarts": sum(daemon.poll() is not None for daemon in daemons),
            **figures,
            "bus_rss_mib": round(peak_mib(host.bus.process), 1),
        }


def add_arguments(parser):
    parser.add_argument("--seconds", type=int, default=SECONDS, help=f"how long it lasts ({SECONDS})")
    parser.add_argument("--rest-seconds", type=int, default=10,
                        help="how long the services are watched before it and after it (10)")


def check_requirements():
    need_root("for network namespaces")
    need_programs("mosquitto")


def main(build, json_only, seconds, rest_seconds):
    os.environ["ALIDADE_BUILD"] = str(build)
    from bedlib import Host
    from state_service import CLUSTER_POLICY, WireCluster

    with Host(sysroot=True, bus_policy=CLUSTER_POLICY) as host:
        daemons = [host.start_daemon(program) for program in DAEMONS]
        with WireCluster(host) as cluster:
            fill(cluster)
            before = resting(daemons, rest_seconds)
            figures = besiege(host, daemons, cluster, seconds)
            time.sleep(CALM_SECONDS)
            after = resting(daemons, rest_seconds)
        figures["excess_cpu_percent"] = round(max(after[name] - before[name] for name in after), 3)
        for daemon in daemons:
            daemon.excused = True
    figures |= siege_members.besiege(seconds)
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:24} {figure}")
    return figures
