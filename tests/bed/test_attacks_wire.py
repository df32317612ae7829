# SPDX-License-Identifier: LGPL-2.1-or-later
"""What hosts without a key, local users, and members can do to those who measure links (issue 12: 6, 7 and 11)."""

from pathlib import Path

import pytest
from gi.repository import GLib

from bedlib import network
from bedlib.fixtures import needs_namespaces
from bedlib.probe import program
from bedlib.services import sanitized
from bedlib.waiting import wait_steadily

pytestmark = needs_namespaces
LINK_PROBE = ("org.alidade.LinkProbe1", "/org/alidade/LinkProbe1", "org.alidade.LinkProbe1")
JOB = "org.alidade.LinkProbe1.Job"
SIEGE = Path(__file__).parents[1] / "bench/siege-wire.py"
ENDED = ("done", "failed", "canceled")
MBIT = 1_000_000
SHAPES = ((25 * MBIT, 100 * MBIT), (50 * MBIT, 150 * MBIT), (200 * MBIT, 15 * MBIT))
# Of a job that does not give up before; a measurement at these rates takes some seconds.
ONE_JOB = 120.0


@pytest.fixture
def three(make_cluster):
    """Two nodes that know each other, in the order of who measures whom by itself, and a third machine."""
    cluster = make_cluster(3, links=True, shapes=SHAPES)
    cluster.wait_online()
    source, sink, third = sorted(cluster.nodes, key=lambda node: node.id)
    # Now the sink knows where it is, which it otherwise learns within 15 s.
    assert probe(source, sink, Address=sink.address, RttOnly=True) == ("done", "")
    return source, sink, third


def probe(node, peer, **options):
    told = {name: GLib.Variant("b" if isinstance(value, bool) else "s", value) for name, value in options.items()}
    path = node.call(*LINK_PROBE, "ProbeLink", "sa{sv}", (peer.id, told))
    state = node.wait_for_property(LINK_PROBE[0], path, JOB, "State", lambda state: state in ENDED, deadline=ONE_JOB)
    return state, node.get(LINK_PROBE[0], path, JOB, "Error")


def refused(node):
    return node.get(*LINK_PROBE, "RefusedSessions")


def children(node):
    pid = node.process("link-probed").outer_pid
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()


def fe80_of(node):
    told = network.ip(node, "-o", "-6", "address", "show", "dev", "eth0", "scope", "link").split()
    return next(word.partition("/")[0] for word in told if word.startswith("fe80:"))


def add_sources(machine, count, make):
    """Addresses of a machine, each of its own."""
    found = [make(i) for i in range(count)]
    for address in found:
        network.add_address(machine, "eth0", f"{address}/{64 if ':' in address else 16}")
    return found


def besiege(machine, target, sources, *options, user=None):
    words = [f"--source={source}" for source in sources]
    # A process starts a tenth as fast with sanitizers, and each connection takes one.
    words += ["--per-second=20"] if sanitized() else []
    return machine.spawn(["/usr/bin/python3", SIEGE, target, *words, *options], "siege", user=user)


def check_member_gets_in(source, sink, before):
    """While the siege goes on, and has been refused more than any number of its connections at a time."""
    wait_steadily(lambda: refused(sink) > before + 8, "some to be refused", 60.0)
    if sanitized():
        # Each of these connections starts a program, which takes both processors then; the member's own waits for TLS
        # for as long as without sanitizers.
        wait_steadily(lambda: probe(source, sink, Address=sink.address, RttOnly=True) == ("done", ""),
                      "the member to get in", 30.0)
    else:
        for _ in range(3):
            assert probe(source, sink, Address=sink.address, RttOnly=True) == ("done", "")
    assert len(children(sink)) <= 20


def test_half_open_handshakes_of_a_local_user(three):
    """6: from four loopback addresses, as nobody."""
    source, sink, _ = three
    siege = besiege(sink, "127.0.0.1", [f"127.0.0.{i}" for i in range(1, 5)], "--half-open=2", "--silent=0",
                    user="nobody")
    check_member_gets_in(source, sink, refused(sink))
    siege.kill()


def test_half_open_handshakes_from_link_local_addresses(three):
    """6: from four of them, which a host makes up."""
    source, sink, third = three
    sources = add_sources(third, 4, lambda i: f"fe80::66:{i + 1:x}")
    siege = besiege(third, f"{fe80_of(sink)}%eth0", sources, "--half-open=2", "--silent=0")
    check_member_gets_in(source, sink, refused(sink))
    siege.kill()


def test_silent_connections(three):
    """6: from 17 addresses."""
    source, sink, third = three
    sources = add_sources(third, 17, lambda i: f"10.77.66.{i + 1}")
    siege = besiege(third, sink.address, sources, "--half-open=0", "--silent=4")
    check_member_gets_in(source, sink, refused(sink))
    siege.kill()


def test_half_open_handshakes_for_rdma(three):
    """7: those that ask for RDMA take no place of others either."""
    source, sink, third = three
    sources = add_sources(third, 4, lambda i: f"10.77.66.{i + 1}")
    siege = besiege(third, sink.address, sources, "--half-open=2", "--silent=0", "--rdma")
    check_member_gets_in(source, sink, refused(sink))
    siege.kill()


# Measures the same node without end, and at once again where it is told to come later.
LOOP = 'while :; do "$@" > /dev/null; done'


def test_member_that_measures_without_end(three):
    """11: two loops, with a key of the cluster; the jobs of another one have their turn."""
    source, sink, third = three
    command = [program(), "--json", f"--connect={sink.address}", f"--identity={third.dir}/config/cluster",
               "--seconds-max=3"]
    loops = [third.spawn(["/bin/bash", "-c", LOOP, "loop", *command], f"loop-{i}") for i in range(2)]
    sink.wait_for_property(*LINK_PROBE, "ActiveProbes", lambda active: active > 0, deadline=ONE_JOB)
    for _ in range(2):
        assert probe(source, sink, Address=sink.address) == ("done", "")
    for loop in loops:
        loop.kill()
