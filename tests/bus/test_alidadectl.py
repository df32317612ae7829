# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl with the real services: identityd, telemetryd and stated, and polkitd where a name is set."""

import contextlib
import json
import re
import signal

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.services import client_binary
from bedlib.waiting import wait_steadily
from client import DENIED, OK, UNREACHABLE, USAGE, Reader, get_json, watch
from played_state import fields, now
from state_service import Cluster, memory, start
from terminal import Terminal

STATE = ("org.alidade.State1", "/org/alidade/State1", "org.alidade.State1")
KINDS = ("Identity", "Memory", "System", "Backends", "Network", "Disk")
ACTION = "org.alidade.identity.set-friendly-name"
KIB = 1024
PEER = f"{0xb2:032x}"
MEMINFO = ("MemTotal: 16384000 kB\nMemFree: 4096000 kB\nMemAvailable: {} kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n")
EVERYTHING = ("identityd", "telemetryd", "stated")


@pytest.fixture
def host(make_host):
    """A machine with made-up hardware, all services running and all told."""
    host = make_host(sysroot=True, daemons=EVERYTHING, strict_bus=False)
    with host.objects(*STATE[:2]) as tree:
        for kind in KINDS:
            tree.wait_for_interface(f"{STATE[1]}/node/{own_id(host)}", f"org.alidade.Node1.{kind}")
    return host


def own_id(host):
    return host.get(*STATE, "NodeId")


def put(host, *records):
    """What the cluster service would bring from other machines: (node, kind, key, fields[, deleted])."""
    connection = host.connection()
    if connection.owner("org.alidade.Cluster1") is None:
        connection.own("org.alidade.Cluster1")
    put.seq += 1
    rows = [(node, kind, key, 1, put.seq, now(), bool(deleted), fields(values))
            for node, kind, key, values, *deleted in records]
    accepted, refused = host.call(*STATE, "PutRecords", "a(ssstttba{sv})", (rows,))
    assert (accepted, refused) == (len(rows), 0)


put.seq = 0


def put_peer(host):
    put(host, (PEER, "Node1.Identity", "", {"FriendlyName": "borealis"}),
        (PEER, "Node1.Memory", "", {"TotalBytes": 64 * KIB ** 3, "AvailableBytes": 16 * KIB ** 3}))


def test_first_call_starts_the_services_and_finds_them_ready(make_host):
    host = make_host(sysroot=True, activation=True)
    found = get_json(host, "status")
    assert found["NodeId"] == own_id(host)
    assert {f"Node1.{kind}" for kind in ("Identity", "Memory", "System", "Network")} <= found["Node"].keys()
    assert found["Node"]["Node1.Memory"]["TotalBytes"] == 16384000 * KIB
    # The totals were read a moment before the records.
    total = wait_steadily(lambda: get_json(host, "status")["Totals"].get("MemoryTotalBytes"), "the totals")
    assert total == 16384000 * KIB


def test_what_is_shown_is_what_the_bus_says(host):
    node = get_json(host, "show", own_id(host))["Node"]
    path = f"{STATE[1]}/node/{own_id(host)}"
    for kind in KINDS:
        told = host.connection().get_all(STATE[0], path, f"org.alidade.Node1.{kind}")
        shown = node[f"Node1.{kind}"]
        assert shown.keys() <= told.keys()
        for name in told.keys() - shown.keys():
            assert told[name] in ("", [], 2 ** 64 - 1, -2 ** 63) or told[name] != told[name], name
        if kind in ("Identity", "Backends", "Network"):
            assert {name: told[name] for name in shown if name not in ("Revision", "UpdatedUSec")} == {
                name: value for name, value in shown.items() if name not in ("Revision", "UpdatedUSec")}
    # By each verb, and to everybody.
    own = own_id(host)
    assert "7.81/15.6 GiB free" in host.alidadectl().stdout
    assert host.alidadectl("nodes").stdout.count("\n") == 2
    assert f"{own}\n" in host.alidadectl("show", own[:6]).stdout
    assert host.alidadectl("findings").returncode == OK
    assert "15.6 GiB" in host.alidadectl("watch", "--once").stdout
    assert host.alidadectl("version").returncode == OK
    for text in (host.alidadectl("status").stdout, host.alidadectl("show", own).stdout):
        assert not re.search(r"[^0-9]0 °C|[^0-9]0 W\b", text), "what this machine lacks is not 0"
    if host.isolated:
        for args in (["status"], ["nodes"], ["findings"], ["watch", "--once"]):
            assert host.alidadectl(*args, user="nobody").returncode == OK
        json.loads(host.alidadectl("nodes", "--json", user="nobody").stdout)


def test_other_nodes_and_links(host):
    put_peer(host)
    put(host, (PEER, "Link1.Socket", f"{own_id(host)},192.0.2.1",
               {"Source": PEER, "Sink": own_id(host), "SinkAddress": "192.0.2.1",
                "UploadBitsPerSecond": 9_410_000_000, "RttP50NSec": 18_200}))
    whole = get_json(host, "watch", "--once")
    assert whole["Nodes"].keys() == {own_id(host), PEER}
    link, = whole["Links"].values()
    assert link["Link1.Socket"]["UploadBitsPerSecond"] == 9_410_000_000
    assert get_json(host, "show", "borealis")["Links"] == whole["Links"]
    assert "16.0/64.0 GiB" in host.alidadectl("nodes").stdout


def test_nodes_beyond_the_objects(make_host):
    host = make_host(sysroot=True, daemons=EVERYTHING, strict_bus=False, config="[state]\nmax-nodes=3\n")
    ids = [f"{number:032x}" for number in range(1, 9)]
    put(host, *((node, "Node1.Memory", "", {"TotalBytes": KIB}) for node in ids))
    host.wait_for_property(*STATE, "Hidden", lambda hidden: hidden > 0)
    assert get_json(host, "nodes")["Nodes"].keys() == {*ids, own_id(host)}


def test_monitor_follows(host):
    with Reader(host, "monitor", "--json") as reader:
        reader.wait_for_event(Event="synced")
        host.sysroot.write("proc/meminfo", MEMINFO.format(1024000))
        reader.wait_for_event(lambda event: event["Fields"].get("AvailableBytes") == 1024000 * KIB,
                              Event="changed", NodeId=own_id(host), Kind="Node1.Memory")
        put_peer(host)
        reader.wait_for_event(Event="added", NodeId=PEER, Kind="Node1.Memory")
        put(host, (PEER, "Node1.Memory", "", {}, True))
        reader.wait_for_event(Event="removed", NodeId=PEER, Kind="Node1.Memory")
        # Over a crash of the service, too.
        host.daemons[-1].kill()
        reader.wait_for_event(Event="lost")
        host.start_daemon("stated")
        reader.wait_for_event(Event="synced")
        host.sysroot.write("proc/meminfo", MEMINFO.format(2048000))
        reader.wait_for_event(lambda event: event["Fields"].get("AvailableBytes") == 2048000 * KIB,
                              NodeId=own_id(host), Kind="Node1.Memory")


def test_watch_says_that_the_service_hangs(host):
    """Else old figures would be taken for current ones: a service that hangs sends no signal of that."""
    service = host.daemons[-1]
    with watch(host) as terminal:
        terminal.wait_for_text("7.81/15.6 GiB")
        service.signal(signal.SIGSTOP)
        terminal.wait_for_text("Waiting for the state service", deadline=45)
        service.signal(signal.SIGCONT)
        terminal.wait_for(lambda shown: "Waiting" not in shown)


def test_watch_follows(host):
    with watch(host) as terminal:
        terminal.wait_for_text("7.81/15.6 GiB")
        host.sysroot.write("proc/meminfo", MEMINFO.format(1024000))
        terminal.wait_for_text("0.98/15.6 GiB")
        put_peer(host)
        terminal.wait_for_text("borealis")
        host.daemons[-1].kill()
        terminal.wait_for_text("Waiting for the state service")
        host.start_daemon("stated")
        terminal.wait_for(lambda shown: "Waiting" not in shown and "borealis" not in shown)
        terminal.type("q")
        assert terminal.wait() == OK
        assert terminal.is_restored()


# set-name

@needs_namespaces
@contextlib.contextmanager
def stopped(process):
    process.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.signal(signal.SIGCONT)


def test_what_gives_no_answer_is_named_and_given_up(host):
    asked = [("identityd", "org.alidade.Identity1", ["set-name", "x"]), ("stated", STATE[0], ["status"]),
             ("stated", STATE[0], ["monitor", "--json"])]
    with stopped(host.daemons[0]), stopped(host.daemons[-1]):
        asking = [host.spawn([client_binary(), *args], args[0]) for _, _, args in asked]
        for process in asking:
            process.expect_exit(UNREACHABLE, 30)
    for (daemon, name, _), process in zip(asked, asking):
        waiting, given_up = process.log_text().splitlines()
        assert waiting == f"alidadectl: Waiting for {name}"
        assert f"alidade-{daemon} did not answer" in given_up and f"systemctl status alidade-{daemon}" in given_up


def test_a_bus_that_gives_no_answer_is_given_up(make_host):
    host = make_host()
    with stopped(host.bus.process):
        done = host.alidadectl(check=False, deadline=30)
    assert done.returncode == UNREACHABLE
    assert "Waiting for unix:path=" in done.stderr and "no answer; it is stopped or overloaded" in done.stderr


def test_set_name(make_host):
    host = make_host(sysroot=True, daemons=EVERYTHING, polkit=True)
    with Reader(host, "monitor", "--json") as reader:
        reader.wait_for_event(Event="synced")
        assert host.alidadectl("set-name", "Ada's big box").stdout == (
            'This machine is now called "Ada\'s big box"\n')
        reader.wait_for_event(lambda event: event["Fields"].get("FriendlyName") == "Ada's big box",
                              Kind="Node1.Identity")
    assert get_json(host, "show", "Ada's big box")["NodeId"] == own_id(host)
    assert host.alidadectl("set-name", "").stdout == "Removed the friendly name of this machine\n"
    assert host.alidadectl("set-name", "a\nb", check=False).returncode not in (OK, DENIED, USAGE)
    # Others need the right.
    before = get_json(host, "status")["Node"]["Node1.Identity"].get("FriendlyName")
    for args in (["set-name", "Mallory"], ["set-name", "Mallory", "--no-ask-password"]):
        done = host.alidadectl(*args, user="nobody", check=False)
        assert done.returncode == DENIED and done.stderr
    assert get_json(host, "status")["Node"]["Node1.Identity"].get("FriendlyName") == before
    host.polkit.allow(ACTION, "nobody")
    assert host.alidadectl("set-name", "Bob", user="nobody").returncode == OK


@needs_namespaces
def test_set_name_fails_closed_without_polkit(make_host):
    host = make_host(sysroot=True, daemons=EVERYTHING)
    done = host.alidadectl("set-name", "Mallory", user="nobody", check=False)
    assert done.returncode == DENIED


@needs_namespaces
def test_set_name_asks_on_a_terminal(make_host):
    """polkit's own text agent does the asking; here it is answered wrongly. polkitd uses a --fallback agent only
    for who is in a session of logind, which this host has not, so the agent is run without that option."""
    host = make_host(sysroot=True, daemons=EVERYTHING, polkit=True)
    agent = host.dir / "bin" / "pkttyagent"
    agent.parent.mkdir()
    agent.write_text('#!/bin/sh\n[ "$*" = "--notify-fd 3 --fallback" ] && exec /usr/bin/pkttyagent --notify-fd 3\n')
    agent.chmod(0o755)
    argv = [client_binary(), "set-name", "Mallory"]
    env = {"PATH": f"{agent.parent}:/usr/bin:/bin"}
    with Terminal(host, argv, columns=160, user="nobody", env=env) as terminal:
        terminal.wait_for_text(f"AUTHENTICATING FOR {ACTION}")
        terminal.wait_for_text("Password:")
        terminal.wait_for_no_echo()
        terminal.type("wrong\n")
        assert terminal.wait(30) == DENIED
        assert terminal.is_restored()
    with Terminal(host, [*argv, "--no-ask-password"], columns=160, user="nobody", env=env) as terminal:
        assert terminal.wait() == DENIED
        assert "AUTHENTICATING" not in terminal.screen.text()


# Presence


def test_presence_that_the_cluster_service_puts(make_host):
    """Online, stale, gone offline, and only the age again once that service has ended."""
    host = start(make_host, *EVERYTHING[:-1])
    cluster = Cluster(host)
    own = own_id(host)
    cluster.take(memory(PEER, 16 * KIB ** 3, updated=now() + 3600 * 1_000_000 - 2_000_000))
    cluster.presences((own, "online", now(), 0, 0), (PEER, "stale", now(), 3600 * 1_000_000, 0))
    shown = host.alidadectl("nodes").stdout
    assert re.search(r" online +", shown) and re.search(rf"{PEER[:8]}\S* +stale( for \d+ s)? ", shown)
    assert re.search("^ +Seen: online$", host.alidadectl("status").stdout, re.MULTILINE)
    assert "clock-skew" in host.alidadectl("findings").stdout
    with Reader(host, "monitor", "--json") as reader:
        reader.wait_for_event(Event="synced")
        cluster.presences((PEER, "offline", now(), 3600 * 1_000_000, 0))
        reader.wait_for_event(lambda event: event.get("Fields", {}).get("State") == "offline", Kind="Node1.Presence")
        assert get_json(host, "nodes")["Nodes"][PEER]["Node1.Presence"]["State"] == "offline"
        cluster.presences((PEER, "forgotten", 0, 0, 0))
        reader.wait_for_event(Event="removed", Kind="Node1.Memory", NodeId=PEER)
        cluster.close()
        reader.wait_for_event(Event="removed", Kind="Node1.Presence", NodeId=own)
    assert "Seen: live\n" in host.alidadectl("status").stdout
