# SPDX-License-Identifier: LGPL-2.1-or-later
"""The exporter with 1000 nodes: what a scrape takes, whether Prometheus has an objection, and its memory."""

import contextlib
import shutil
import socket
import statistics
import subprocess
import time
import urllib.request
from pathlib import Path

import state

SHORTEST = {"rounds": 1}
NODES = 999  # and the one of the state service itself
# As systemd: the socket is descriptor 3.
AS_SYSTEMD = 'exec 3<&0 0</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0"'
RENDERED_SECONDS = 0.25
BUFFER_BYTES = 64 * 1024 * 1024


@contextlib.contextmanager
def exporter(build, environment):
    """The process, and where it listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = subprocess.Popen(["sh", "-c", AS_SYSTEMD, f"{build}/clients/exporter/alidade-exporter"],
                                   stdin=listener, env=environment, stderr=subprocess.DEVNULL)
        try:
            yield process, "http://127.0.0.1:%i/metrics" % listener.getsockname()[1]
        finally:
            state.stop(process)


def scrape(url, buffer):
    """The text, and how long it took in ms until it was in the buffer."""
    before = time.perf_counter()
    with urllib.request.urlopen(url, timeout=60) as answer:
        length = 0
        while count := answer.readinto(memoryview(buffer)[length:]):
            length += count
    took = (time.perf_counter() - before) * 1e3
    return bytes(buffer[:length]), took


def pss_kib(process):
    for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise SystemExit("no Pss")


def promtool(text):
    """None where it is not installed."""
    if not shutil.which("promtool"):
        return None
    return subprocess.run(["promtool", "check", "metrics"], input=text, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def wait_for_all(url, buffer):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if scrape(url, buffer)[0].count(b"\nalidade_node_up{") >= NODES:
                return
        time.sleep(0.3)
    raise SystemExit("the exporter does not have all nodes")


def cpu_ms(process):
    """What its one thread has taken so far."""
    return time.clock_gettime((~process.pid << 3) | 2) * 1e3


def measure(process, url, cluster, buffer, rounds):
    """Each scrape comes after as many changes as 1000 nodes send in a second."""
    changed, unchanged, cpu = [], [], []
    for _ in range(rounds):
        cluster.stdin.write("\n")
        cluster.stdin.flush()
        cluster.stdout.readline()
        time.sleep(2 * RENDERED_SECONDS)
        before = cpu_ms(process)
        changed.append(scrape(url, buffer)[1])
        cpu.append(cpu_ms(process) - before)
        unchanged.append(scrape(url, buffer)[1])
    text, _ = scrape(url, buffer)
    return {"scrape_1000_nodes_ms": round(statistics.median(changed), 1),
            "scrape_1000_nodes_most_ms": round(max(changed), 1),
            "scrape_cpu_ms": round(statistics.median(cpu), 1),
            "scrape_unchanged_ms": round(statistics.median(unchanged), 1),
            "samples": sum(not line.startswith(b"#") for line in text.splitlines()),
            "bytes": len(text), "promtool_ok": promtool(text), "pss_kib": pss_kib(process)}


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=20, help="of changes and scrapes (20)")


def main(build, json_only, rounds):
    with state.service(build) as environment, exporter(build, environment) as (process, url):
        with subprocess.Popen([f"{build}/tests/bench/bench-exporter"], env=environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as cluster:
            cluster.stdout.readline()
            buffer = bytearray(BUFFER_BYTES)
            wait_for_all(url, buffer)
            figures = measure(process, url, cluster, buffer, rounds)
            cluster.stdin.close()
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:32} {figure}")
    return figures
