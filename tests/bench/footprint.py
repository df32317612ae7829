# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the services take at rest, beside prometheus-node-exporter and collectd on the same machine."""

import array
import contextlib
import json
import mmap
import os
import subprocess
import time
from pathlib import Path

from requirement import need_programs

HOST = Path(__file__).with_name("footprint-host.py")
OURS = ("identityd", "telemetryd", "stated")
SETTLE_SECONDS = 3
SHORTEST = {"seconds": 1}
PRESENT, FRAME = 1 << 63, (1 << 55) - 1
VSYSCALL = 1 << 63
TICKS = os.sysconf("SC_CLK_TCK")


def read(pid, name):
    return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8")


def stat_of(pid):
    """The fields of /proc/PID/stat from the third on."""
    return read(pid, "stat").rpartition(")")[2].split()


def children():
    """{pid: [pids of its children]}"""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                found.setdefault(int(stat_of(entry)[1]), []).append(int(entry))
    return found


def family(pid):
    """A process and all below it: helpers count as the service that runs them."""
    below, found = children(), [pid]
    for member in found:
        found += below.get(member, [])
    return found


def cpu_seconds(pid):
    """Of the process with all threads it ever had, to the nanosecond, and of the children it has buried."""
    buried = sum(int(ticks) for ticks in stat_of(pid)[13:15]) / TICKS
    return time.clock_gettime((~pid << 3) | 2) + buried


def waits(pid):
    """{thread: how often it has waited for something}"""
    found = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError):
            status = read(pid, f"task/{thread}/status")
            found[thread] = int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return found


def pss_kib(pid):
    return int(read(pid, "smaps_rollup").partition("\nPss:")[2].split()[0])


def pages(pid):
    """The page frames that the process maps; only root may know them."""
    found = set()
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
        for line in read(pid, "maps").splitlines():
            start, end = (int(number, 16) // mmap.PAGESIZE for number in line.split()[0].split("-"))
            if start < VSYSCALL // mmap.PAGESIZE:
                entries = array.array("Q", os.pread(pagemap.fileno(), (end - start) * 8, start * 8))
                found.update(entry & FRAME for entry in entries if entry & PRESENT)
    return found


def alone_kib(pids):
    """What these processes take where nothing else maps what they do: PSS flatters whoever has company."""
    return len(set.union(*(pages(member) for pid in pids for member in family(pid)))) * mmap.PAGESIZE // 1024


class Sample:
    def __init__(self, pids):
        self.time = time.monotonic()
        self.cpu = {name: sum(map(cpu_seconds, family(pid))) for name, pid in pids.items()}
        self.waits = {name: {thread: count for member in family(pid) for thread, count in waits(member).items()}
                      for name, pid in pids.items()}


def wakeups(before, after):
    """Of the threads that are still there."""
    return sum(count - before.get(thread, 0) for thread, count in after.items())


def compare(pids, before, after):
    """{name: figures}"""
    passed = after.time - before.time
    return {name: {
        "cpu_percent": 100 * (after.cpu[name] - before.cpu[name]) / passed,
        "pss_kib": sum(map(pss_kib, family(pid))),
        "wakeups_per_s": wakeups(before.waits[name], after.waits[name]) / passed,
    } for name, pid in pids.items()}


def total(figures, names):
    return {figure: sum(figures[name][figure] for name in names) for figure in figures[names[0]]}


def measure(build, seconds, *settings):
    """Figures of all on such a host, all over the same seconds."""
    with subprocess.Popen([HOST, ",".join(settings)], env={**os.environ, "ALIDADE_BUILD": str(build)},
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as host:
        def signals():
            host.stdin.write("\n")
            host.stdin.flush()
            return int(host.stdout.readline())

        pids = json.loads(host.stdout.readline())
        signals()
        time.sleep(SETTLE_SECONDS)
        count, before = signals(), Sample(pids)
        time.sleep(seconds)
        after = Sample(pids)
        figures = compare(pids, before, after)
        figures["ours"] = total(figures, OURS)
        if os.geteuid() == 0:
            figures["ours"]["alone_kib"] = alone_kib([pids[name] for name in OURS])
        figures["client"] = {"signals_per_s": (signals() - count) / (after.time - before.time)}
        host.stdin.close()
    return figures


def rounded(figures):
    if isinstance(figures, dict):
        return {name: rounded(value) for name, value in figures.items()}
    return round(figures, 4) if isinstance(figures, float) else figures


def show(title, figures):
    print(f"\n{title}")
    for name, row in figures.items():
        if "cpu_percent" in row:
            print(f"  {name:16}{row['cpu_percent']:8.3f} %{row['pss_kib'] / 1024:8.2f} MiB PSS"
                  f"{row['wakeups_per_s']:8.1f} wakeups/s")
    if "alone_kib" in figures["ours"]:
        print(f"  {'ours, alone':26}{figures['ours']['alone_kib'] / 1024:8.2f} MiB")
    print(f"  {'client':16}{figures['client']['signals_per_s']:8.2f} signals/s")


def add_arguments(parser):
    parser.add_argument("--seconds", type=int, default=30, help="of each run (30)")


def check_requirements():
    need_programs("prometheus-node-exporter", "collectd")


def main(build, json_only, seconds):
    with_nm = ["network-manager"] if os.geteuid() == 0 else []
    runs = {
        "full_rates": measure(build, seconds, *with_nm, "unrest", "node-exporter", "collectd", "csv"),
        "without_network_manager": measure(build, seconds, "unrest", "collectd"),
        "at_rest": measure(build, seconds, *with_nm, "link-probed"),
    }
    if not json_only:
        for name, figures in runs.items():
            show(name.replace("_", " "), figures)
    first = runs["full_rates"]
    return rounded({**{name: first[name] for name in ("ours", "node_exporter", "collectd")},
                    **runs, "network_manager": bool(with_nm), "cores": os.cpu_count()})
