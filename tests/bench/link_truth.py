# SPDX-License-Identifier: LGPL-2.1-or-later
"""The socket probe on links of which the rate is known and which are hard to measure: how often it is wrong without
saying so."""

import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import typing
from pathlib import Path

import link
from requirement import MissingRequirement, need_root

HERE = Path(__file__).resolve().parent
WRONG_PERCENT = 2.0
# As state/link/link-quality.h has them.
DISTURBED_LEAST, DISTURBED_MOST = 2.0, 10.0
UNSTEADY_INTERVAL, UNSTEADY_SPREAD = 25.0, 50.0
# With one of these the figure is said to be that of a host, or of TCP on a link that loses packets.
NOT_THE_LINK = ("receiver", "sender", "application", "loss")
FRAME, PACKET, PAYLOAD = 1514, 1500, 1448  # at an MTU of 1500 with timestamps
BURST_PER_MBIT, BURST_LEAST = 140, 16_000  # bytes; with less a bucket starves, with more it flatters
AT_ONCE = ("chrt", "-f", "1")  # a program that runs before all others
WAYS = {"up": "Upload", "down": "Download"}
# Each network and the two hosts that it joins. Routers a and b have a trunk between them; the wire is a path of its
# own. The first address of a network is that of the first host.
CABLES = {"left": ("left", "a", "198.18.1"), "aside": ("aside", "a", "198.18.2"), "trunk": ("a", "b", "198.18.3"),
          "right": ("b", "right", "198.18.4"), "beside": ("b", "beside", "198.18.5")}
WIRE = "198.18.6"
GATEWAYS = {"left": ("left", "198.18.1.2"), "aside": ("aside", "198.18.2.2"), "a": ("trunk", "198.18.3.2"),
            "b": ("trunk", "198.18.3.1"), "right": ("right", "198.18.4.1"), "beside": ("beside", "198.18.5.1")}
TRANSIT = "198.18.0.0/16"
HOSTS = ("left", "aside", "a", "b", "right", "beside")
RIGHT, BESIDE, ASIDE, RIGHT_BY_WIRE = "198.18.4.2", "198.18.5.2", "198.18.2.1", f"{WIRE}.2"


class Case(typing.NamedTuple):
    """Rates in Mb/s, from the left and from the right."""
    up: float
    down: float
    trunk: tuple = ()  # rates of a second shaper, each way
    congestion: str = "cubic"
    wire: str = ""  # what tun-wire.py does to packets; then there are no routers
    others: str = ""  # other traffic, a method of Campaign
    other_rate: float = 0  # of it
    past: bool = False  # it goes through the trunk, where neither end can see it


CASES = {
    "7/20": Case(7, 20),
    "13.7/95-bbr": Case(13.7, 95, congestion="bbr"),
    "50/190": Case(50, 190),
    "300/411": Case(300, 411),
    "411/940-bbr": Case(411, 940, congestion="bbr"),
    "1000/1500": Case(1000, 1500),
    "2200/2200": Case(2200, 2200),
    "row-95-50": Case(95, 50, trunk=(50, 95)),
    "row-50-95": Case(50, 95, trunk=(95, 50)),
    "row-190-190": Case(190, 190, trunk=(190, 190)),
    "row-940-411": Case(940, 940, trunk=(411, 411)),
    "row-25-15-bbr": Case(25, 25, trunk=(15, 15), congestion="bbr"),
    "row-60-50-bbr": Case(60, 60, trunk=(50, 50), congestion="bbr"),
    "trunk-100-30": Case(1000, 1000, trunk=(100, 100), others="steady", other_rate=30, past=True),
    "trunk-190-60-bbr": Case(1000, 1000, trunk=(190, 190), others="steady", other_rate=60, past=True,
                             congestion="bbr"),
    "trunk-411-120": Case(1000, 1000, trunk=(411, 411), others="steady", other_rate=120, past=True),
    "other-flood-50": Case(50, 50, others="flood"),
    "other-flood-95-bbr": Case(95, 95, others="flood", congestion="bbr"),
    "other-third-50-bbr": Case(50, 50, others="paced", other_rate=15, congestion="bbr"),
    "other-third-95": Case(95, 95, others="paced", other_rate=30),
    "other-tenth-190": Case(190, 190, others="paced", other_rate=15),
    "other-tcp-190": Case(190, 190, others="stream"),
    "loss-0.3": Case(50, 50, wire="0 0.004 0 0.003"),
    "loss-0.3-bbr": Case(50, 50, wire="0 0.004 0 0.003", congestion="bbr"),
    "loss-2": Case(50, 50, wire="0 0.004 0 0.02"),
    "loss-2-far": Case(50, 50, wire="0 0.02 0 0.02"),
    "loss-2-bbr": Case(50, 50, wire="0 0.004 0 0.02", congestion="bbr"),
    "reorder-50": Case(50, 50, wire="0 0.004 0 0 0.02 0.002"),
    "jitter-50": Case(50, 50, wire="0 0.02 0 0 0 0.006"),
    "jitter-loss-20": Case(20, 20, wire="0 0.02 0 0.003 0 0.006"),
}
SHORTEST = {"runs": 1, "seconds": 0, "case": ["50/190"], "load": 0}


def true_rate(case, way):
    """Mb/s of payload on an otherwise idle link; behind a trunk that others use, on what they leave. The wire loses
    packets that have passed the bucket."""
    shapers = [case.up if way == "up" else case.down] + [rate for rate in case.trunk[way == "down":][:1]]
    rate = min(shapers) - (case.other_rate if case.past and way == "up" else 0)
    lost = float((case.wire.split() + ["0"] * 4)[3])
    return rate * (1 - lost) * PAYLOAD / (PACKET if case.wire else FRAME)


class Network:
    """Six network namespaces."""

    def __init__(self):
        self.names = {host: f"ald-truth-{os.getpid()}-{host}" for host in HOSTS}
        self.wire = None

    def ip(self, host, *words):
        link.run("ip", "-n", self.names[host], *words)

    def __enter__(self):
        try:
            for name in self.names.values():
                link.run("ip", "netns", "add", name)
            for cable, (first, second, network) in CABLES.items():
                link.run("ip", "link", "add", cable, "netns", self.names[first], "type", "veth", "peer", "name", cable,
                         "netns", self.names[second])
                for number, host in enumerate((first, second), 1):
                    self.ip(host, "address", "add", f"{network}.{number}/24", "dev", cable)
                    self.ip(host, "link", "set", cable, "up")
            for host in HOSTS:
                self.ip(host, "link", "set", "lo", "up")
                self.set(host, "net.ipv4.ip_forward=1")
            for host, (cable, gateway) in GATEWAYS.items():
                self.ip(host, "route", "add", TRANSIT, "via", gateway, "dev", cable)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.end_wire()
        for name in self.names.values():
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)

    def set(self, host, setting):
        link.run(*self.inside(host, "sysctl", "-q", setting))

    def inside(self, host, *command):
        return ["ip", "netns", "exec", self.names[host], *map(str, command)]

    def shape(self, host, cable, rate):
        link.run(*self.inside(host, "tc", "qdisc", "replace", "dev", cable, "root", "tbf", "rate",
                              f"{round(rate * 1000)}kbit", "burst", round(max(BURST_LEAST, rate * BURST_PER_MBIT)),
                              "latency", "20ms"))

    def unshape(self, host, cable):
        subprocess.run(self.inside(host, "tc", "qdisc", "del", "dev", cable, "root"), capture_output=True, check=False)

    def begin_wire(self, setting):
        # It stands for hardware: no load of the machine holds it up.
        program = [sys.executable, HERE / "tun-wire.py", "wire", self.names["left"], f"{WIRE}.1",
                   "wire", self.names["right"], RIGHT_BY_WIRE]
        self.wire = subprocess.Popen([*AT_ONCE, *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     text=True)
        self.wire.stdin.write(f"{setting}\n")
        self.wire.stdin.flush()
        if [self.wire.stdout.readline() for _ in range(2)] != ["ready\n"] * 2:
            raise SystemExit("the wire has not started")

    def end_wire(self):
        if self.wire:
            self.wire.stdin.close()
            self.wire.wait()
            self.wire.stdout.close()
            self.wire = None

    def choose_congestion(self, host, case):
        """By its routes, since a namespace may set few of them itself."""
        cable, gateway = GATEWAYS[host]
        ways = [[TRANSIT, "via", gateway, "dev", cable]] + ([[f"{WIRE}.0/30", "dev", "wire"]] if case.wire else [])
        for way in ways:
            self.ip(host, "route", "replace", *way, "congctl", case.congestion)

    def arrange(self, case):
        """Makes the link of a case; the address of its right end."""
        self.end_wire()
        for host, cable in (("a", "trunk"), ("b", "trunk")):
            self.unshape(host, cable)
        for host, cable, rate in zip("ab", ("trunk", "trunk"), case.trunk):
            self.shape(host, cable, rate)
        if case.wire:
            self.begin_wire(case.wire)
        for host, rate in (("left", case.up), ("right", case.down)):
            self.shape(host, "wire" if case.wire else host, rate)
            self.choose_congestion(host, case)
        return RIGHT_BY_WIRE if case.wire else RIGHT


@contextlib.contextmanager
def background(*command, ready=None):
    """A program, from when it says that it is ready until it is no longer needed."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE if ready else subprocess.DEVNULL,
                               stderr=subprocess.STDOUT if ready else subprocess.DEVNULL, text=True)
    try:
        if ready and not any(re.search(ready, line) for line in process.stdout):
            raise SystemExit(f"{command[0]} has not started")
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


def traffic(network, case):
    """The other traffic of a case, while it is needed; all of it goes up."""
    sender = [sys.executable, HERE / "link-traffic.py"]
    stack = contextlib.ExitStack()
    if case.others == "steady":
        # A bucket makes it exact, and its long queue has the sender wait. It stands for other machines, which the load
        # of this one does not hold up.
        link.run(*network.inside("aside", "tc", "qdisc", "replace", "dev", "aside", "root", "tbf", "rate",
                                 f"{round(case.other_rate * 1000)}kbit", "burst", BURST_LEAST, "limit", 4_000_000))
        stack.callback(network.unshape, "aside", "aside")
        stack.enter_context(background(*AT_ONCE, *network.inside("aside", *sender, BESIDE), ready="sending"))
    elif case.others == "flood":
        stack.enter_context(background(*network.inside("left", *sender, ASIDE), ready="sending"))
    elif case.others == "paced":
        stack.enter_context(background(*network.inside("left", *sender, ASIDE, f"--rate={case.other_rate * 1e6}"),
                                       ready="sending"))
    elif case.others == "stream":
        stack.enter_context(background(*network.inside("aside", *sender, ASIDE, "--receive"), ready="listening"))
        stack.enter_context(background(*network.inside("left", *sender, ASIDE, "--stream"), ready="sending"))
    return stack


@contextlib.contextmanager
def busy_processes(number):
    with contextlib.ExitStack() as stack:
        for _ in range(number):
            stack.enter_context(background(sys.executable, "-c", "while True: pass"))
        yield


def measure(network, probe, key, address):
    with background(*network.inside("right", probe, f"--listen={address}", f"--key-file={key}", "--once"),
                    ready="Listening"):
        command = network.inside("left", probe, f"--connect={address}", f"--key-file={key}", "--json")
        # One that fails says so in JSON: on a busy machine that is a result, too.
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)


def flags_of(found, way):
    """As the services set them, and what limited the rate if that was not the link."""
    prefix = WAYS[way]
    rate, interval = found[f"{prefix}BitsPerSecond"], found.get(f"{prefix}Interval")
    share = min(max(DISTURBED_LEAST if interval is None else interval, DISTURBED_LEAST), DISTURBED_MOST)
    flags = []
    if found.get(f"{prefix}OtherBitsPerSecond", 0) > rate * share / 100:
        flags.append("disturbed")
    if (interval or 0) > UNSTEADY_INTERVAL or found.get(f"{prefix}Spread", 0) > UNSTEADY_SPREAD:
        flags.append("unsteady")
    if found.get(f"{prefix}Limiter") in NOT_THE_LINK:
        flags.append(found[f"{prefix}Limiter"])
    return flags


def judge(found, case, way):
    """A row of what was found in one direction: right, or wrong and flagged or not."""
    prefix, true = WAYS[way], true_rate(case, way)
    if f"{prefix}BitsPerSecond" not in found:
        return {"way": way, "true": round(true, 2), "reason": found.get(f"{prefix}Reason", found.get("message")),
                "flags": ["unknown"], "wrong": False}
    value = found[f"{prefix}BitsPerSecond"] / 1e6
    interval = found.get(f"{prefix}IntervalBitsPerSecond")
    off = abs(value / true - 1) * 100
    outside = interval is None or abs(value - true) > interval / 1e6
    row = {"way": way, "true": round(true, 2), "rate": round(value, 2), "off_percent": round(off, 2),
           "interval": None if interval is None else round(interval / 1e6, 2),
           "mean": round(found[f"{prefix}MeanBitsPerSecond"] / 1e6, 2), "spread": found.get(f"{prefix}Spread"),
           "other": round(found.get(f"{prefix}OtherBitsPerSecond", 0) / 1e6, 2),
           "streams": found[f"{prefix}Streams"], "limiter": found.get(f"{prefix}Limiter"),
           "seconds": round(found[f"{prefix}Seconds"], 2), "flags": flags_of(found, way)}
    row["wrong"] = off > WRONG_PERCENT and outside
    return row


def text_of(row):
    if "rate" not in row:
        return f"{row['way']} {row['true']}: none ({row['reason']})"
    verdict = ("WRONG" if not row["flags"] else "wrong") if row["wrong"] else "right"
    return (f"{row['way']} {row['true']}: {row['rate']} ±{row['interval']} mean {row['mean']} other {row['other']} "
            f"x{row['streams']} {row['limiter']} {row['seconds']} s {','.join(row['flags']) or 'ok'} {verdict}")


def iperf3(network, address, seconds):
    """Mb/s of the receiver, each way."""
    found = {}
    for way, options in (("up", []), ("down", ["-R"])):
        with background(*network.inside("right", "iperf3", "-s", "-1", "--forceflush"), ready="Server listening"):
            told = json.loads(link.run(*network.inside("left", "iperf3", "-c", address, "-J", "-t", seconds,
                                                       *options)))
        found[way] = round(told["end"]["sum_received"]["bits_per_second"] / 1e6, 2)
    return found


def keep(path, session):
    """Adds what one session found to a file, so that a benchmark of half an hour that is ended has not lost it."""
    if path:
        with open(path, "a", encoding="utf-8") as file:
            print(json.dumps(session), file=file)


def measure_case(network, name, probe, key, options, json_only):
    case, rows, failures, theirs = CASES[name], [], [], {}
    address = network.arrange(case)
    with traffic(network, case):
        for number in range(options["runs"]):
            found = measure(network, probe, key, address)
            if "error" in found:
                failures.append(found["message"])
            new = [] if "error" in found else [judge(found, case, way) for way in WAYS]
            rows += new
            keep(options["keep"], {"case": name, "session": number + 1, "rows": new, "message": found.get("message")})
            if not json_only:
                print(f"{name} {number + 1}: {'; '.join(map(text_of, new)) or found['message']}", flush=True)
        if options["seconds"] and shutil.which("iperf3"):
            theirs = iperf3(network, address, options["seconds"])
            if not json_only:
                print(f"{name}: iperf3 {theirs}", flush=True)
    return sum_up(name, case, rows, theirs, failures), rows


def sum_up(name, case, rows, theirs, failures):
    figures = {"name": name, "failures": failures}
    for way in WAYS:
        mine = [row for row in rows if row["way"] == way]
        known = [row for row in mine if "rate" in row]
        figures[f"true_{way}"] = round(true_rate(case, way), 2)
        figures[f"wrong_{way}"] = sum(row["wrong"] for row in mine)
        figures[f"wrong_unflagged_{way}"] = sum(row["wrong"] and not row["flags"] for row in mine)
        figures[f"flagged_{way}"] = sum(bool(row["flags"]) for row in mine)
        if known:
            figures[f"ours_{way}"] = statistics.median(row["rate"] for row in known)
            figures[f"ours_{way}_worst_off_percent"] = max(row["off_percent"] for row in known)
            figures[f"streams_{way}"] = sorted({row["streams"] for row in known})
            figures[f"limiter_{way}"] = sorted({row["limiter"] or "unknown" for row in known})
        if way in theirs:
            figures[f"iperf3_{way}"] = theirs[way]
            figures[f"iperf3_{way}_off_percent"] = round(abs(theirs[way] / figures[f"true_{way}"] - 1) * 100, 2)
    return figures


def add_arguments(parser):
    parser.add_argument("--runs", type=int, default=8, help="of each case")
    parser.add_argument("--seconds", type=int, default=5, help="of iperf3 once for each case and direction; 0: not")
    parser.add_argument("--load", type=int, default=8, help="busy processes beside it (8)")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    parser.add_argument("--keep", metavar="FILE", help="add the rows of each session to this file as they come")


def check_requirements():
    need_root("for network namespaces")
    if not os.path.exists("/dev/net/tun"):
        raise MissingRequirement("needs /dev/net/tun")


def main(build, json_only, **options):
    probe = build / "probes/socket/alidade-probe-socket"
    measured, rows, by_nobody = [], [], 0
    with tempfile.TemporaryDirectory() as folder, Network() as network, busy_processes(options["load"]):
        key = Path(folder) / "key"
        key.touch(0o600)
        key.write_text(os.urandom(32).hex())
        for name in options["case"] or CASES:
            figures, new = measure_case(network, name, probe, key, options, json_only)
            measured.append(figures)
            rows += new
            case = CASES[name]
            # The acknowledgements of a connection go the other way.
            by_nobody += sum("disturbed" in row["flags"] for row in new if not case.others or case.past
                             or case.others != "stream" and row["way"] == "down")
    known = [row for row in rows if "rate" in row]
    return {"cases": measured, "load": options["load"], "measured": len(rows), "without_rate": len(rows) - len(known),
            "wrong": sum(row["wrong"] for row in rows),
            "wrong_unflagged": sum(row["wrong"] and not row["flags"] for row in rows),
            "flagged": sum(bool(row["flags"]) for row in rows), "disturbed_by_nobody": by_nobody,
            "median_off_percent": round(statistics.median(row["off_percent"] for row in known), 3) if known else None}
