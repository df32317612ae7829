# SPDX-License-Identifier: LGPL-2.1-or-later
"""The socket probe against iperf3 and sockperf over veth pairs of known rates, interleaved."""

import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
from pathlib import Path

from requirement import need_root

# Name, and per direction Mb/s and the burst in bytes that shapes truly at it.
SHAPED = {0.1: 16_000, 1: 16_000, 3: 16_000, 37: 16_000, 50: 16_000, 200: 32_000, 300: 48_000, 411: 64_000,
          1000: 128_000, 5000: 640_000}
CASES = {"0.1/0.1": (0.1, 0.1), "1/1": (1, 1), "3/300": (3, 300), "3/300-reno": (3, 300), "37/411": (37, 411),
         "50/200": (50, 200), "1000/300": (1000, 300), "5000/5000": (5000, 5000), "unshaped": None}
# Where the machine's own congestion control does not fill the link (README.md), one that does.
CONGESTION = {"3/300-reno": "reno"}
SHORTEST = {"runs": 1, "seconds": 1, "case": ["unshaped"]}
SLOW = 5  # Mb/s: below, the burst that a bucket begins with is no small part of what 10 s take
SLOW_SECONDS = 30
PEERS = ("iperf3", "sockperf")
PAYLOAD = 1448 / 1514  # of what a token bucket counts, at an MTU of 1500 with timestamps
LEFT, RIGHT = "192.0.2.1", "192.0.2.2"
DEADLINE = 120


def run(*command, timeout=DEADLINE, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=timeout, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


class Link:
    """Two network namespaces and a veth pair between them; rates in Mb/s, up being from the left."""

    def __init__(self, rates, congestion=None):
        self.names = [f"ald-link-{os.getpid()}-{side}" for side in "lr"]
        self.rates = rates
        self.congestion = congestion

    def __enter__(self):
        left, right = self.names
        for name in self.names:
            run("ip", "netns", "add", name)
        run("ip", "link", "add", "eth0", "netns", left, "type", "veth", "peer", "name", "eth0", "netns", right)
        for index, address in enumerate((LEFT, RIGHT)):
            run("ip", "-n", self.names[index], "address", "add", f"{address}/24", "dev", "eth0")
            run("ip", "-n", self.names[index], "link", "set", "eth0", "up")
            if self.congestion:
                run(*self.inside(index, "sysctl", "-q", f"net.ipv4.tcp_congestion_control={self.congestion}"))
            if self.rates:
                rate = self.rates[index]
                run("ip", "netns", "exec", self.names[index], "tc", "qdisc", "add", "dev", "eth0", "root", "tbf",
                    "rate", f"{round(rate * 1000)}kbit", "burst", SHAPED[rate], "latency", "20ms")
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)

    def inside(self, side, *command):
        return ["ip", "netns", "exec", self.names[side], *map(str, command)]

    @contextlib.contextmanager
    def server(self, ready, *command):
        """A server on the right, until it says that it is ready and as long as it is needed."""
        process = subprocess.Popen(self.inside(1, *command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        try:
            for line in process.stdout:
                if re.search(ready, line):
                    break
            else:
                raise SystemExit(f"{command[0]} has not started")
            yield
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()

    def measure(self, *command):
        return run(*self.inside(0, *command))


def alone(end, *command):
    """On a processor of its own, as the two ends of a real link are: else whoever shares one answers sooner."""
    processors = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(processors[end % len(processors)]), *command]


def ours_rtt(link, probe, key):
    with link.server("Listening", *alone(1, probe, f"--listen={RIGHT}", f"--key-file={key}", "--once")):
        found = json.loads(link.measure(*alone(0, probe, f"--connect={RIGHT}", f"--key-file={key}", "--rtt-only",
                                               "--json")))
    return found["RttP50NSec"] / 1e3


def ours(link, probe, key):
    with link.server("Listening", probe, f"--listen={RIGHT}", f"--key-file={key}", "--once"):
        found = json.loads(link.measure(probe, f"--connect={RIGHT}", f"--key-file={key}", "--json"))
    if missing := [way for way in ("Upload", "Download") if f"{way}BitsPerSecond" not in found]:
        raise SystemExit("; ".join(f"{way}: {found.get(f'{way}Reason', found)}" for way in missing))
    return {"up": found["UploadBitsPerSecond"], "down": found["DownloadBitsPerSecond"],
            "up_mean": found["UploadMeanBitsPerSecond"], "down_mean": found["DownloadMeanBitsPerSecond"],
            "up_interval": found.get("UploadInterval"), "down_interval": found.get("DownloadInterval"),
            "up_seconds": found["UploadSeconds"], "down_seconds": found["DownloadSeconds"],
            "bytes": found["UploadBytes"] + found["DownloadBytes"],
            "congestion": found["Congestion"],
            "limiter": "/".join(found.get(f"{way}Limiter", "unknown") for way in ("Upload", "Download")),
            "streams": f"{found['UploadStreams']}/{found['DownloadStreams']}"}


def iperf3(link, seconds):
    found = {"seconds": 0, "bytes": 0}
    for name, options in (("up", []), ("down", ["-R"])):
        with link.server("Server listening", "iperf3", "-s", "-1", "--forceflush"):
            told = json.loads(link.measure("iperf3", "-c", RIGHT, "-J", "-t", seconds, *options))["end"]
        found[name] = told["sum_received"]["bits_per_second"]
        found["seconds"] += told["sum_received"]["seconds"]
        found["bytes"] += told["sum_received"]["bytes"]
    return found


def sockperf(link):
    with link.server("listen", *alone(1, "sockperf", "server", "--tcp", "-i", RIGHT, "-p", 7500)):
        told = link.measure(*alone(0, "sockperf", "ping-pong", "--tcp", "-i", RIGHT, "-p", 7500, "-m", 64, "-t", 2,
                                   "--full-rtt"))
    return float(re.search(r"percentile 50\.000 =\s+([0-9.]+)", told).group(1))


def error_percent(values, true):
    """The median of what is off, without sign, and the worst."""
    errors = sorted(abs(value / true - 1) * 100 for value in values)
    return round(statistics.median(errors), 3), round(errors[-1], 3)


def spread_percent(values):
    return round((max(values) - min(values)) / statistics.median(values) * 100, 3)


def median_of(rows, key):
    return statistics.median(row[key] for row in rows)


def covered(rows, way, true):
    """Of each run, whether its interval holds what is true; an interval that is not known does not."""
    return [row[f"{way}_interval"] is not None and
            abs(row[way] - true) <= row[way] * row[f"{way}_interval"] / 100 for row in rows]


def add_direction(case, way, rate, mine, theirs):
    """The figures of one direction; which of its runs are covered."""
    values, others = [row[way] for row in mine], [row[way] for row in theirs]
    case[f"ours_{way}_bits_per_second"] = statistics.median(values)
    case[f"repeat_spread_{way}_percent"] = spread_percent(values)
    if others:
        case[f"iperf3_{way}_bits_per_second"] = round(statistics.median(others))
        case[f"ours_to_iperf3_{way}_percent"] = round(
            statistics.median(a / b for a, b in zip(values, others)) * 100, 1)
    if not rate:
        return []
    case[f"true_{way}"] = round(rate * 1e6 * PAYLOAD)
    for who, what in (("ours", values), ("iperf3", others)):
        if what:
            median, worst = error_percent(what, case[f"true_{way}"])
            case[f"{who}_{way}_err_percent"] = median
            case[f"{who}_{way}_worst_err_percent"] = worst
    found = covered(mine, way, case[f"true_{way}"])
    case[f"interval_{way}_covers"] = f"{sum(found)}/{len(found)}"
    return found


def sum_up(name, rates, mine, theirs, own_rtts, rtts):
    """The figures of a case; which of its runs are covered."""
    case, found = {"name": name}, []
    for index, way in enumerate(("up", "down")):
        found += add_direction(case, way, rates and rates[index], mine, theirs)
    case |= {
        "ours_seconds": round(statistics.median(row["up_seconds"] + row["down_seconds"] for row in mine), 3),
        "ours_longest_direction_seconds": round(max(max(row["up_seconds"], row["down_seconds"]) for row in mine), 3),
        "ours_bytes": median_of(mine, "bytes"), "ours_rtt_p50_us": round(statistics.median(own_rtts), 1),
        "repeat_spread_percent": max(case["repeat_spread_up_percent"], case["repeat_spread_down_percent"]),
        **{key: sorted({row[key] for row in mine}) for key in ("congestion", "limiter", "streams")}}
    if theirs:
        case |= {"iperf3_seconds": round(median_of(theirs, "seconds"), 3), "iperf3_bytes": median_of(theirs, "bytes")}
    if rtts:
        case["peer_rtt_p50_us"] = round(statistics.median(rtts), 1)
    return case, found


def measure_case(name, rates, probe, key, options, json_only):
    mine, theirs, own_rtts, rtts = [], [], [], []
    seconds = max(options["seconds"], SLOW_SECONDS if rates and min(rates) < SLOW else 0)
    with Link(rates, CONGESTION.get(name)) as link:
        turns = [lambda: mine.append(ours(link, probe, key)), lambda: own_rtts.append(ours_rtt(link, probe, key))]
        if shutil.which("iperf3"):
            turns.append(lambda: theirs.append(iperf3(link, seconds)))
        if shutil.which("sockperf"):
            turns.append(lambda: rtts.append(sockperf(link)))
        for number in range(options["runs"]):
            # Who begins changes, so that no one always finds the machine as another left it.
            first = number % len(turns)
            for turn in turns[first:] + turns[:first]:
                turn()
            if not json_only:
                print(f"{name} {number + 1}: {mine[-1]} rtt {own_rtts[-1]} iperf3 {theirs[-1:]} sockperf {rtts[-1:]}",
                      flush=True)
    return sum_up(name, rates, mine, theirs, own_rtts, rtts)


def add_arguments(parser):
    parser.add_argument("--runs", type=int, default=5, help="of each case")
    parser.add_argument("--seconds", type=int, default=10, help="of iperf3, each direction")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")


def check_requirements():
    need_root("for network namespaces")


def main(build, json_only, **options):
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder) / "key"
        key.touch(0o600)
        key.write_text(os.urandom(32).hex())
        probe = build / "probes/socket/alidade-probe-socket"
        measured = [measure_case(name, CASES[name], probe, key, options, json_only)
                    for name in options["case"] or CASES]
    pooled = [one for _, found in measured for one in found]
    covers = {"interval_covers_percent": round(statistics.mean(pooled) * 100, 1)} if pooled else {}
    return {"cases": [case | covers for case, _ in measured],
            "missing": [name for name in PEERS if not shutil.which(name)]}
