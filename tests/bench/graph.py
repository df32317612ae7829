# SPDX-License-Identifier: LGPL-2.1-or-later
"""The connection graph: what the answer and a change cost, and whether the order of changes matters."""

import json
import subprocess

from ninja_build import make
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


SHORTEST = {"seconds": 1, "orders": "some"}


def add_arguments(parser):
    parser.add_argument("--seconds", type=int, default=60,
                        help="how long signals may go out before the service is at rest (60)")
    parser.add_argument("--orders", choices=("all", "some"), default="all", help="of changes: 10,000, or a few (all)")


def on_bus(build, seconds):
    command = [f"{build}/tests/bench/bench-graph", str(seconds)]
    with service(build) as environment, subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE,
                                                         stdout=subprocess.PIPE) as bench:
        figures = json.loads(bench.stdout.readline())
        figures["bytes_16000_edges"] = answer_bytes(environment["ALIDADE_BUS_ADDRESS"])
        bench.stdin.close()
    return figures


def order_mismatches(build, orders):
    """Of 10,000 random orders, or a few. The test ends at the first graph that differs, and so does this."""
    make(build, "tests/unit/test-graph")
    mode = "slow" if orders == "all" else "quick"
    subprocess.run([f"{build}/tests/unit/test-graph", "-q", "-m", mode, "-p", "/graph/any-order"], check=True,
                   stdout=subprocess.DEVNULL, timeout=600)
    return 0


def main(build, json_only, seconds, orders):
    figures = {**on_bus(build, seconds), "order_mismatches": order_mismatches(build, orders)}
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:32} {figure}")
    return figures
