# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl devices with 1000 nodes of 8 GPUs, against other clients that read the same state."""

import contextlib
import resource
import statistics
import subprocess
import time

import state

SHORTEST = {"rounds": 1}
GPUS = 8 * 999
PEERS = {
    "nodes_json": ("nodes", "--json"),
    "devices": ("devices",),
    "devices_by_free": ("devices", "--sort=-free"),
    "devices_free": ("devices", "--free=60G"),
    "devices_holders": ("devices", "--holders"),
    "devices_json": ("devices", "--json"),
}
STATE = ("org.alidade.State1", "/org/alidade/State1")


@contextlib.contextmanager
def own_machine(build, environment):
    """The services of the machine itself, without whose figures a client waits two seconds for them."""
    services = [subprocess.Popen([f"{build}/services/{name}"], env=environment, stderr=subprocess.DEVNULL)
                for name in ("identity/alidade-identityd", "telemetry/alidade-telemetryd")]
    try:
        usage = ("busctl", f"--address={environment['ALIDADE_BUS_ADDRESS']}", "get-property", "org.alidade.Telemetry1",
                 "/org/alidade/Telemetry1", "org.alidade.Node1.System", "CpuUsage")
        while subprocess.run(usage, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             check=False).stdout.strip() in (b"", b"d nan"):
            time.sleep(0.1)
        yield
    finally:
        for service in services:
            state.stop(service)


def measured(command, environment):
    """The lines that it prints, its time and its processor time in ms."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout.count(b"\n"), (time.perf_counter() - begin) * 1e3, cpu * 1e3


def measure(build, environment, rounds):
    """All in turn, so that what disturbs one disturbs the others as well."""
    commands = {name: (f"{build}/clients/alidadectl/alidadectl", *words) for name, words in PEERS.items()}
    commands["busctl"] = ("busctl", f"--address={environment['ALIDADE_BUS_ADDRESS']}", "--timeout=60", "call", *STATE,
                          "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    times, cpus, lines = ({name: [] for name in commands} for _ in range(3))
    for _ in range(rounds):
        for name, command in commands.items():
            for found, into in zip(measured(command, environment), (lines, times, cpus)):
                into[name].append(found)
    if lines["devices"][0] <= GPUS:
        raise SystemExit(f"{lines['devices'][0] - 1} devices are listed")
    figures = {f"{name}_ms": round(statistics.median(found), 1) for name, found in times.items()}
    figures |= {f"{name}_cpu_ms": round(statistics.median(found), 1) for name, found in cpus.items()}
    return {**figures, "devices_to_nodes_json": round(figures["devices_ms"] / figures["nodes_json_ms"], 2)}


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=10, help="of all clients (10)")


def main(build, json_only, rounds):
    with state.service(build) as environment:
        with own_machine(build, environment), \
                subprocess.Popen([f"{build}/tests/bench/bench-devices"], env=environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as cluster:
            cluster.stdout.readline()
            figures = measure(build, environment, rounds)
            cluster.stdin.close()
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:32} {figure}")
    return figures
