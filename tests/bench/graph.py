# SPDX-License-Identifier: LGPL-2.1-or-later
"""The connection graph: what the answer and a change cost, and whether the order of changes matters."""

import json
import subprocess

from state import service


def answer_bytes(address):
    """Of one answer, as it is on the bus."""
    from gi.repository import Gio, GLib

    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    connection = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
    call = Gio.DBusMessage.new_method_call("org.alidade.State1", "/org/alidade/State1", "org.alidade.State1",
                                           "GetTopology")
    call.set_body(GLib.Variant("(tt)", (0, 0)))
    reply, _ = connection.send_message_with_reply_sync(call, Gio.DBusSendMessageFlags.NONE, 30000, None)
    return len(reply.to_blob(Gio.DBusCapabilityFlags.NONE))


def on_bus(build):
    command = [f"{build}/tests/bench/bench-graph"]
    with service(build) as environment, subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE,
                                                         stdout=subprocess.PIPE) as bench:
        figures = json.loads(bench.stdout.readline())
        figures["bytes_16000_edges"] = answer_bytes(environment["ALIDADE_BUS_ADDRESS"])
        bench.stdin.close()
    return figures


def order_mismatches(build):
    """Of 10,000 random orders. The test ends at the first graph that differs, and then the benchmark fails too."""
    subprocess.run(["ninja", "-C", build, "tests/unit/test-graph"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([f"{build}/tests/unit/test-graph", "-q", "-m", "slow", "-p", "/graph/any-order"], check=True,
                   stdout=subprocess.DEVNULL, timeout=600)
    return 0


def main(build, json_only):
    figures = {**on_bus(build), "order_mismatches": order_mismatches(build)}
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:32} {figure}")
    return figures
