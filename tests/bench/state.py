# SPDX-License-Identifier: LGPL-2.1-or-later
"""The state service: what a merge and a plan cost, what a node takes, and how it serves its clients."""

import contextlib
import json
import os
import subprocess
import tempfile
from pathlib import Path

SHORTEST = {"changes": 3}
BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={directory}/bus</listen>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_type="method_return"/>
    <allow send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="signal"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
  </policy>
</busconfig>
"""


def start_bus(directory):
    config = Path(directory, "bus.conf")
    config.write_text(BUS_CONFIG.format(directory=directory), encoding="utf-8")
    read_end, write_end = os.pipe()
    bus = subprocess.Popen(["dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile",
                            f"--print-address={write_end}"], pass_fds=[write_end], stderr=subprocess.DEVNULL)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        address = pipe.readline().strip()
    return bus, address


def stop(process):
    process.terminate()
    process.wait(timeout=10)


@contextlib.contextmanager
def service(build):
    """A state service on a bus of its own: the environment that leads there."""
    with tempfile.TemporaryDirectory(prefix="alidade-bench-") as directory:
        bus, address = start_bus(directory)
        environment = {**os.environ, "ALIDADE_BUS_ADDRESS": address, "STATE_DIRECTORY": directory,
                       "ALIDADE_MACHINE_ID": "b" * 32}
        # As its unit does.
        tuned = {**environment, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
        stated = subprocess.Popen([f"{build}/services/state/alidade-stated"], env=tuned,
                                  stderr=subprocess.DEVNULL)
        try:
            yield environment
        finally:
            stop(stated)
            stop(bus)


def add_arguments(parser):
    parser.add_argument("--changes", type=int, default=1500,
                        help="that go from a source to a client; of anything else at most as many (1500)")


def on_bus(build, changes):
    with service(build) as environment:
        figures = json.loads(subprocess.run([f"{build}/tests/bench/bench-bus", str(changes)], env=environment,
                                            check=True, text=True, timeout=120, stdout=subprocess.PIPE).stdout)
    figures["snapshot_to_plain_map"] = round(figures["snapshot_1000_nodes_ms"] / figures["plain_map_ms"], 2)
    figures["source_to_bare_p99"] = round(
        figures["source_to_client_p99_us"] / figures["bare_source_to_client_p99_us"], 2)
    figures["put_to_read_percent"] = round(100 * figures["put_records_per_s"] / figures["read_only_records_per_s"])
    return figures


def main(build, json_only, changes):
    merge = json.loads(subprocess.run([f"{build}/tests/bench/bench-merge"], check=True, text=True, timeout=120,
                                      stdout=subprocess.PIPE).stdout)
    plan = json.loads(subprocess.run([f"{build}/tests/bench/bench-plan"], check=True, text=True, timeout=120,
                                     stdout=subprocess.PIPE).stdout)
    client = json.loads(subprocess.run([f"{build}/tests/bench/bench-client"], check=True, text=True, timeout=120,
                                       stdout=subprocess.PIPE).stdout)
    flood = json.loads(subprocess.run([f"{build}/tests/bench/bench-flood"], check=True, text=True, timeout=120,
                                      stdout=subprocess.PIPE).stdout)
    figures = {**merge, **plan, **client, **flood, **on_bus(build, changes)}
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:32} {figure}")
    return figures
