# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl cluster and the cluster service, which the test plays: what it shows, and when it has it read again."""

import os
import signal

import pytest

from bedlib.errors import BedFailure
from bedlib.services import client_binary, interface_xml
from bedlib.standin import StandIn
from bedlib.waiting import wait_steadily
from client import DENIED, ERROR, OK, UNREACHABLE, get_json
from gi.repository import GLib
from terminal import Terminal

CLUSTER = ("org.alidade.Cluster1", "/org/alidade/Cluster1")
NAME, PATH = CLUSTER
ME, PEER = "1" * 32, "2" * 32
YEAR_2100 = 4102444800 * 10 ** 6
UNKNOWN = 2 ** 64 - 1
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as the verbs do")


def text(**values):
    types = {str: "s", bool: "b", int: "t"}
    return {name: GLib.Variant(types[type(value)], value) for name, value in values.items()}


def offset(value):
    return {"ClockOffsetUSec": GLib.Variant("x", value)}


class Played:
    """The cluster service, with two brokers and two nodes."""

    def __init__(self, host, names=None):
        self.reloads = 0
        self.refuses = None
        connection = host.new_connection()
        brokers = [text(Address="first.example", Source="configured", State="connected", Publishing=True,
                        CertificateExpiryUSec=YEAR_2100),
                   text(Address="[2001:db8::2]", Source="avahi", State="refused", Publishing=False,
                        Problem="the broker's certificate\x1b[31m has expired")]
        nodes = [{**text(Id=ME, State="online", SinceUSec=1, RefusedMessages=0, LagUSec=1500), **offset(-2500000)},
                 {**text(Id=PEER, State="duplicate", SinceUSec=1, RefusedMessages=7,
                         Problem="two machines share it"), **offset(-300)}]
        values = {"ClusterName": "lab", "State": "online", "Problem": "", "Instance": "a" * 32, "Mirror": "all",
                  "Mirroring": True, "RefusedMessages": 12, "RefusedSignals": 3, "CertificateExpiryUSec": YEAR_2100}
        self.brokers, self.nodes = brokers, nodes
        if names:
            identities = {node: text(FriendlyName=name) for node, name in names.items()}
            xml = interface_xml("org.alidade.State1")
            StandIn(connection, "/org/alidade/State1", xml, {"org.alidade.State1": {"RefusedRecords": 5}},
                    {"GetIdentities": lambda: (identities,)})
            connection.own("org.alidade.State1")
        self.stand_in = StandIn(connection, PATH, interface_xml(NAME), {NAME: values}, {
            "GetBrokers": lambda: (brokers,), "GetNodes": lambda: (nodes,), "Reload": self.reload})
        connection.own(NAME)

    def reload(self):
        self.reloads += 1
        if self.refuses:
            raise self.refuses


@pytest.fixture
def host(make_host):
    host = make_host(strict_bus=False)
    (host.dir / "mosquitto/conf.d").mkdir(parents=True)
    (host.dir / "mosquitto/mosquitto.conf").write_text(f"include_dir {host.dir}/mosquitto/conf.d\n")
    host.environment.update(ALIDADE_CONFIG_DIR=str(host.dir / "config"), ALIDADE_AVAHI_DIR=str(host.dir / "none"),
                            ALIDADE_MOSQUITTO_DIR=str(host.dir / "mosquitto"),
                            ALIDADE_CLUSTER_STATE_DIR=str(host.dir / "state"))
    return host


def line_of(shown, word):
    return next(line for line in shown.splitlines() if word in line)


def test_status(host):
    Played(host)
    shown = host.alidadectl("cluster").stdout
    assert line_of(shown, "Cluster ").split() == ["Cluster", "lab", "(online)"]
    assert line_of(shown, "Refused ").split() == ["Refused", "12", "messages,", "3", "signals"]
    assert line_of(shown, "first.example").split() == ["first.example", "*", "connected", "configured", "until",
                                                       "2100-01-01"]
    assert "has expired" in line_of(shown, "2001:db8") and "\x1b" not in shown
    assert {"online", "1.50", "ms", "-2.50"} <= set(line_of(shown, ME).split())
    assert "two machines share it" in line_of(shown, PEER) and " 7 " in line_of(shown, PEER)
    assert " -300 µs " in line_of(shown, PEER)


def test_problems_wrap(host):
    """Item 17: a narrow terminal shows all of each, below its broker or node."""
    played = Played(host)
    long = "the broker's certificate is for first.example and not for the address under which it was reached"
    for broker in played.brokers:
        broker["Problem"] = GLib.Variant("s", long)
    for columns in (60, 80, 200):
        shown = host.alidadectl("cluster", "status", "--no-pager", env={"COLUMNS": str(columns)}).stdout
        assert " ".join(shown.split()).count(long) == 2
        assert all(len(line) <= columns for line in shown.splitlines() if "Refused" not in line)


def test_nodes_are_sorted_by_name(host):
    """Item 17: those without a name come last."""
    Played(host, {PEER: "atlas"})
    shown = host.alidadectl("cluster", "status").stdout
    assert shown.index(PEER) < shown.rindex(ME)


def test_refused_records_are_shown(host):
    """Item 17: also what the state service refused of what came from others."""
    Played(host, {PEER: "atlas"})
    shown = host.alidadectl("cluster", "status").stdout
    assert line_of(shown, "Refused ").split(maxsplit=1)[1] == "12 messages, 5 records, 3 signals"
    assert get_json(host, "cluster", "status")["State"] == {"RefusedRecords": 5}


def test_long_durations_are_in_hours_and_days(host):
    """Item 17: a clock that is off by an hour, or a year, is not so many seconds."""
    played = Played(host)
    played.nodes[0].update(offset(-3600 * 10 ** 6))
    played.nodes[1].update(offset(365 * 86400 * 10 ** 6))
    shown = host.alidadectl("cluster", "status").stdout
    assert " -1 h " in line_of(shown, ME) and " +365 d " in line_of(shown, PEER)


def test_status_says_what_it_waits_for(host):
    """Item 22: the names of nodes come from the state service, which may hang."""
    Played(host)
    stated = host.start_daemon("stated")
    stated.signal(signal.SIGSTOP)
    status = host.spawn([client_binary(), "cluster", "status"], "status")
    wait_steadily(lambda: "alidadectl: Waiting for org.alidade.State1" in status.log_text(),
                  lambda: f"a word about it: {status.log_text()}")
    stated.signal(signal.SIGCONT)
    assert status.wait() == OK and "two machines share it" in status.log_text()


def test_status_as_json_is_what_the_bus_says(host):
    Played(host)
    found = get_json(host, "cluster", "status")
    assert found["Running"] is True and found["Cluster"]["ClusterName"] == "lab"
    assert [broker["Address"] for broker in found["Brokers"]] == ["first.example", "[2001:db8::2]"]
    assert found["Nodes"][0] == {"Id": ME, "State": "online", "SinceUSec": 1, "RefusedMessages": 0, "LagUSec": 1500,
                                 "ClockOffsetUSec": -2500000}
    assert "NodeId" in found["Files"]


def test_status_without_the_service_tells_what_the_files_say(host):
    shown = host.alidadectl("cluster", "status")
    assert shown.stdout.startswith("The cluster service does not answer (")
    assert "Cluster      none" in shown.stdout
    found = get_json(host, "cluster", "status")
    assert found["Running"] is False and "Cluster" not in found


def test_status_of_another_machine_does_not_tell_of_the_files_here(host):
    done = host.alidadectl("-H", "nowhere.invalid", "cluster", "status", check=False)
    assert done.returncode == UNREACHABLE and done.stdout == ""


@needs_root
def test_changes_are_read_by_the_service(host):
    played = Played(host)
    told = host.alidadectl("cluster", "init", "lab").stdout
    assert played.reloads == 1 and f"Asked {NAME} to reload" in told
    host.alidadectl("cluster", "renew")
    assert played.reloads == 2


@needs_root
def test_a_service_that_does_not_read_is_told_of(host):
    played = Played(host)
    played.refuses = BedFailure("the key is not that of the certificate")
    done = host.alidadectl("cluster", "init", "lab", check=False)
    assert done.returncode == ERROR and "the key is not that of the certificate" in done.stderr


@needs_root
def test_a_service_that_is_not_there_is_not_started_for_it(host):
    told = host.alidadectl("cluster", "init", "lab").stdout
    assert "alidade-clusterd is not running: start it" in told


@needs_root
@pytest.mark.parametrize("answer, code", [("no", ERROR), ("", ERROR), ("yes", OK)])
def test_leave_asks_for_the_key(host, answer, code):
    host.alidadectl("cluster", "init", "lab")
    key = host.dir / "config/cluster/ca/ca.key"
    with Terminal(host, [client_binary(), "cluster", "leave"]) as terminal:
        terminal.wait_for_text("Remove it? [yes/no]")
        assert key.exists()
        host.alidadectl("cluster", "install-crl")  # does not wait for the answer
        terminal.type(f"{answer}\r")
        assert terminal.wait() == code
    assert key.exists() == (code != OK)


def test_who_is_not_root_is_told_so(host):
    if os.geteuid() == 0:
        done = host.alidadectl("cluster", "leave", user="nobody", check=False)
    else:
        done = host.alidadectl("cluster", "leave", check=False)
    assert done.returncode == DENIED and "Only root" in done.stderr
