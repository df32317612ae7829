# SPDX-License-Identifier: LGPL-2.1-or-later
"""Certificates that renew themselves: over years, over real brokers, and not for others."""

import re
import shutil
import subprocess

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.node import CLUSTER, faketime_library
from bedlib.services import client_binary
from bedlib.waiting import wait_steadily
from enrol_seat import ADDRESS, OK, Seat, common_name, openssl, serial

pytestmark = needs_namespaces
DAY = 86400


@pytest.fixture(autouse=True)
def clock_can_be_set():
    faketime_library()


def end_of(path):
    """When a certificate ends, in s."""
    date = openssl("x509", "-in", path, "-noout", "-enddate").partition("=")[2].strip()
    return int(subprocess.run(["date", "-d", date, "+%s"], check=True, capture_output=True, text=True).stdout)


def at_day(day):
    """Before a command: so many days from now. The wrapper of this name shares a semaphore with all others."""
    return ["env", f"LD_PRELOAD={faketime_library()}", f"FAKETIME={day:+}d", "FAKETIME_DONT_FAKE_MONOTONIC=1"]


def join(first, seat, *broker):
    request = seat.cluster("join", "--request", *broker).stdout
    seat.cluster("join", "--accept", text_in=first.cluster("sign", *broker[:1], text_in=request).stdout)


class Fleet:
    """Seats, of which the first signs. What the cluster service carries between them is carried here."""

    def __init__(self, machine, first, others):
        self.machine, self.first, self.others = machine, first, others
        self.log = ""

    def run(self, seats, day):
        """The daily run of these, on that day."""
        lines = [f"export LD_PRELOAD={faketime_library()} FAKETIME=+{day}d FAKETIME_DONT_FAKE_MONOTONIC=1"]
        for seat in seats:
            words = " ".join(f"{name}={value}" for name, value in seat.environment.items())
            lines.append(f"{words} {client_binary()} cluster renew --auto || exit 1")
        self.log += self.machine.run(["sh", "-c", "\n".join(lines)], deadline=300).stdout

    def carry_requests(self, seats):
        inbox = self.first.state / "renewals"
        inbox.mkdir(exist_ok=True)
        for seat in seats:
            if seat.path("renewal").exists():
                shutil.copy(seat.path("renewal"), inbox / f"{seat.id}.pem")

    def carry_answers(self, seats):
        for seat in seats:
            answer = self.first.path(f"renewed/{seat.id}.pem")
            if answer.exists():
                shutil.copy(answer, seat.state / "renewed.pem")

    def pass_day(self, day):
        self.run(self.others, day)
        asking = [seat for seat in self.others if seat.path("renewal").exists()]
        self.carry_requests(asking)
        self.run([self.first], day)
        self.carry_answers(asking)
        if asking:
            self.run(asking, day)


def test_800_days_of_50_nodes(machine):
    """Item 18: nobody does anything for 800 days; no certificate of 50 nodes, two of them brokers, ever ends."""
    first = Seat(machine, "first")
    first.cluster("init", "lab", ADDRESS)
    others = [Seat(machine, f"node{i}") for i in range(49)]
    for seat in others:
        join(first, seat, *(["--broker", "--address=127.0.0.2"] if seat is others[0] else []))
    keys = {seat.name: seat.read("node.key") for seat in others}
    begun = end_of(first.path("node.crt"))
    fleet = Fleet(machine, first, others)
    certificates = [seat.path("node.crt") for seat in (first, others[0], others[-1])]
    certificates += [seat.path("broker/broker.crt") for seat in (first, others[0])]
    ends = {path: end_of(path) for path in certificates}
    for day in range(40, 801, 40):
        assert min(ends.values()) - begun + 397 * DAY > (day + 1) * DAY, day
        before = fleet.log
        fleet.pass_day(day)
        if fleet.log != before:
            ends = {path: end_of(path) for path in certificates}
    assert min(ends.values()) - begun > 403 * DAY
    assert {seat.name: seat.read("node.key") for seat in others} == keys
    assert fleet.log.count("Renewed the certificate of node") == 2 * 49
    assert not any(seat.path("renewal").exists() for seat in others) and not list((first.state / "renewals").iterdir())


@pytest.fixture
def fleet(machine):
    first, second = Seat(machine, "first"), Seat(machine, "second")
    first.cluster("init", "lab", ADDRESS)
    join(first, second, "--broker", "--address=192.0.2.2")
    return Fleet(machine, first, [second])


def renewal(fleet, day, *words):
    """What the second machine asks for on that day, made by hand."""
    seat = fleet.others[0]
    return fleet.machine.run([*at_day(day), client_binary(), "cluster", "renew", "--request", *words],
                             env=seat.environment).stdout


@pytest.mark.parametrize("attack", ["another key", "another broker key", "another address", "to join", "too early",
                                    "another node", "revoked", "rubbish"])
def test_nobody_else_renews_by_it(fleet, machine, attack):
    """Item 18: the same node, keys and addresses, near the end, and nothing else is signed without a person."""
    first, second = fleet.first, fleet.others[0]
    day, name = 350, f"{second.id}.pem"
    if attack == "too early":
        day = 300
    if attack == "another key":
        second.path("node.key").rename(second.path("old.key"))
    if attack == "another broker key":
        second.path("broker/broker.key").unlink()
    request = renewal(fleet, day, *(["--broker", "--address=192.0.2.9"] if attack == "another address" else []))
    if attack == "to join":
        request = machine.run([*at_day(day), client_binary(), "cluster", "join", "--request"],
                              env=second.environment).stdout
    if attack == "another node":
        name = f"{'a' * 32}.pem"
    if attack == "revoked":
        first.cluster("revoke", second.id)
    (first.state / "renewals").mkdir()
    (first.state / "renewals" / name).write_text("rubbish" if attack == "rubbish" else request)
    before = set(first.path("ca/issued").iterdir())
    fleet.run([first], day)
    # On that day the authority renews its own two, and keeps its name with them.
    own = {path for path in first.path("ca/issued").iterdir() if path.read_text().endswith(
           (first.read("node.crt"), first.read("broker/broker.crt")))}
    assert set(first.path("ca/issued").iterdir()) - own == before - own
    assert not first.path("renewed").exists() and not list((first.state / "renewals").iterdir())


def test_what_is_received_is_verified(fleet, machine):
    """Item 18: who speaks on the brokers can bring only what the authority has signed for this key, and later."""
    first, second = fleet.first, fleet.others[0]
    third = Seat(machine, "third")
    join(first, third)
    other = Seat(machine, "other")
    other.cluster("init", "lab", ADDRESS)
    before = second.read("node.crt")
    for text in (third.read("node.crt"), other.read("node.crt"), "rubbish", before, ""):
        (second.state / "renewed.pem").write_text(text)
        machine.run([client_binary(), "cluster", "renew", "--auto"], env=second.environment, check=False)
        assert second.read("node.crt") == before


def run_on(seat, day, verb=("renew", "--auto")):
    """The exit status of one run on that day."""
    fake = {"LD_PRELOAD": faketime_library(), "FAKETIME": f"+{day}d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return seat.machine.run([client_binary(), "cluster", *verb], env={**seat.environment, **fake},
                            check=False).returncode


def test_a_link_instead_of_the_folder_of_requests_is_not_followed(fleet, machine):
    """Item 4: root removes nothing that the cluster service, which owns the folder, could not remove."""
    first, victim = fleet.first, machine.dir / "victim"
    victim.mkdir()
    (victim / "file").touch()
    inbox = first.state / "renewals"
    inbox.symlink_to(victim)
    assert run_on(first, 0) != OK
    assert list(victim.iterdir())
    assert run_on(first, 0, ("leave", "--force")) == OK
    assert list(victim.iterdir()) and not inbox.is_symlink() and not first.path("ca").exists()


def test_links_among_what_was_received_are_not_followed(fleet, machine):
    """Item 4: root reads only what the cluster service wrote itself."""
    first, second = fleet.first, fleet.others[0]
    inbox, elsewhere = first.state / "renewals", machine.dir / "elsewhere"
    inbox.mkdir()
    elsewhere.mkdir()
    (elsewhere / "request").write_text(renewal(fleet, 350))
    (inbox / f"{second.id}.pem").symlink_to(elsewhere / "request")
    assert run_on(first, 350) == OK
    assert not first.path(f"renewed/{second.id}.pem").exists() and not list(inbox.iterdir())
    shutil.copy(elsewhere / "request", inbox / f"{second.id}.pem")
    assert run_on(first, 350) == OK
    shutil.copy(first.path(f"renewed/{second.id}.pem"), elsewhere / "answer")
    before = second.read("node.crt")
    (second.state / "renewed.pem").symlink_to(elsewhere / "answer")
    assert run_on(second, 350) != OK and second.read("node.crt") == before
    (second.state / "renewed.pem").unlink()
    shutil.copy(elsewhere / "answer", second.state / "renewed.pem")
    assert run_on(second, 350) == OK and second.read("node.crt") != before


def test_what_nobody_got_is_forgotten(fleet):
    """Item 18: what cannot be handed out leaves nothing behind that could be mistaken for the newest."""
    first, second = fleet.first, fleet.others[0]
    first.cluster("sign-bridge", "site2", text_in=second.cluster("renew", "--request").stdout)
    assert run_on(first, 350) == OK  # its own
    (first.state / "renewals").mkdir()
    (first.state / "renewals" / f"{second.id}.pem").write_text(renewal(fleet, 350))
    first.path("renewed").write_text("no folder")
    before = set(first.path("ca/issued").iterdir())
    assert run_on(first, 350) != OK
    assert set(first.path("ca/issued").iterdir()) == before


def test_what_cannot_be_removed_does_not_keep_others_waiting(fleet):
    """Item 18: the run fails, so that systemd waits for the next try, but all other requests are signed."""
    first, second = fleet.first, fleet.others[0]
    inbox = first.state / "renewals"
    folders = {inbox / f"{digit * 32}.pem" for digit in "0123456789abcdef"}
    for folder in folders:
        (folder / "more").mkdir(parents=True)
    (inbox / f"{second.id}.pem").write_text(renewal(fleet, 350))
    assert run_on(first, 350) != OK
    assert first.path(f"renewed/{second.id}.pem").exists() and set(inbox.iterdir()) == folders


def test_leave_is_kept_by_nothing_among_the_requests(fleet):
    """Item 4: the cluster service, which owns them, cannot keep a machine in the cluster."""
    first = fleet.first
    more = first.state / "renewals/empty", first.state / "renewals/full/more"
    for folder in more:
        folder.mkdir(parents=True)
    assert run_on(first, 0, ("leave", "--force")) != OK
    assert not first.path("ca").exists() and not first.path("node.key").exists()
    assert not (first.config / "alidade.conf.d/50-cluster.conf").exists() and not more[0].exists()
    more[1].rmdir()
    assert run_on(first, 0, ("leave", "--force")) == OK and not (first.state / "renewals").exists()


def test_requests_are_dropped_where_the_authority_is_gone(fleet):
    """Item 18: systemd starts the unit for as long as the folder has one."""
    second = fleet.others[0]
    (second.state / "renewals").mkdir()
    (second.state / "renewals" / f"{fleet.first.id}.pem").write_text("rubbish")
    assert run_on(second, 0) == OK and not list((second.state / "renewals").iterdir())


def problem(node):
    return node.call(*CLUSTER[:2], "org.freedesktop.DBus.Properties", "Get", "ss", (CLUSTER[2], "Problem"))


def renew(node):
    """What the unit does on this machine."""
    environment = {"ALIDADE_CLUSTER_STATE_DIR": node.state_directory("clusterd")}
    return node.alidadectl("cluster", "renew", "--auto", env=environment).stdout


def found(node, name, of):
    """The text of a finding about a node, as one of the nodes shows it, or None."""
    return next((one["Text"] for one in node.state("GetFindings") if one["Id"] == name and of.id in one["Nodes"]), None)


ENDS = ("certificate-expires", "broker-certificate-expires", "bridge-certificate-expires")


@pytest.mark.parametrize("mirror", ["all", "self"])
def test_an_end_is_shown_by_every_node_until_it_is_renewed(make_cluster, mirror):
    """Item 18: certificates of a node, of its broker and of the bridge of that end within 30 days; those of a machine
    that is a broker no longer are of no interest."""
    cluster = make_cluster(3, brokers=(0, 1), config=f"[cluster]\nmirror={mirror}\n")
    cluster.wait_online()
    one, two, three = cluster.nodes
    folder = two.dir / "config/cluster"
    files = [folder / "node.crt", folder / "broker/broker.crt", folder / "broker/bridge.crt"]
    ago = [*at_day(-380), client_binary(), "cluster"]
    request = two.run([*ago, "renew", "--request"]).stdout
    bundle = one.run([*ago, "sign", "--renew", "--broker"], text_in=request).stdout
    two.alidadectl("cluster", "renew", "--accept", text_in=bundle)
    old = {serial(files[0]), serial(files[1])}
    # What it joined with was signed today, and so was never there.
    for issued in (one.dir / "config/cluster/ca/issued").iterdir():
        if common_name(issued) in (two.id, f"broker-{two.id}") and serial(issued) not in old:
            issued.unlink()
    files[2].write_text(one.run([*ago, "sign-bridge", "site2"], text_in=request).stdout)
    two.alidadectl("cluster", "renew", "--accept", text_in=bundle)
    two.reload("clusterd")
    drop_in = two.broker.config / "conf.d/alidade.conf"

    def await_ends(wanted):
        for node in cluster.nodes:
            wait_steadily(lambda node=node: [name for name in ENDS if found(node, name, two)] == list(wanted),
                          lambda node=node: f"{wanted} at {node.name}: {node.state('GetFindings')}", 30)

    await_ends(ENDS)
    drop_in.rename(drop_in.with_suffix(".away"))
    two.reload("clusterd")
    await_ends(ENDS[:1])
    drop_in.with_suffix(".away").rename(drop_in)
    two.reload("clusterd")
    await_ends(ENDS)
    for node in cluster.nodes:
        for name in ENDS:
            text = wait_steadily(lambda node=node, name=name: found(node, name, two),
                                 lambda node=node: f"{name} at {node.name}: {node.state('GetFindings')}", 30)
            assert re.search(r"expires in 1[67] d\b", text)
            assert found(node, name, three) is None
    assert "expires in 1" in " ".join(three.alidadectl("watch", "--once").stdout.split())
    renew(two)
    wait_steadily(lambda: list((one.state_directory("clusterd") / "renewals").glob("*")), "the request", 20)
    renew(one)
    wait_steadily((two.state_directory("clusterd") / "renewed.pem").exists, "the answer", 20)
    before = [end_of(path) for path in files]
    renew(two)
    assert all(end_of(path) > end + 300 * DAY for path, end in zip(files, before))
    assert common_name(files[2]) == "bridge-site2"
    await_ends(())


def test_over_the_brokers(make_cluster):
    """Item 18: the cluster services carry the request and its answer, and use what is installed."""
    cluster = make_cluster(3)
    cluster.wait_online()
    one, two, three = cluster.nodes
    ago = [*at_day(-380), client_binary(), "cluster"]
    request = two.run([*ago, "renew", "--request"]).stdout
    bundle = one.run([*ago, "sign", "--renew"], text_in=request).stdout
    two.alidadectl("cluster", "renew", "--accept", text_in=bundle)
    certificate = two.dir / "config/cluster/node.crt"
    old, end = serial(certificate), end_of(certificate)
    # That which it joined with was signed today, and so was never there.
    for issued in (one.dir / "config/cluster/ca/issued").iterdir():
        if common_name(issued) == two.id and serial(issued) != old:
            issued.unlink()
    wait_steadily(lambda: "was not renewed" in problem(two), lambda: f"a warning: {problem(two)}", 20)
    renew(two)
    inbox = one.state_directory("clusterd") / "renewals"
    wait_steadily(lambda: inbox.exists() and list(inbox.iterdir()), "the request", 20)
    assert not (three.state_directory("clusterd") / "renewals").exists()
    assert f"Renewed the certificate of node {two.id}" in renew(one)
    wait_steadily((two.state_directory("clusterd") / "renewed.pem").exists, "the answer", 20)
    assert not (three.state_directory("clusterd") / "renewed.pem").exists()
    renew(two)
    assert serial(certificate) != old and end_of(certificate) > end + 300 * DAY
    wait_steadily(lambda: not problem(two), lambda: f"no warning: {problem(two)}", 20)
    assert not (two.dir / "config/cluster/renewal").exists()
    cluster.wait_online()
    assert f"alidade/1/bed/{two.id}/renewal" not in cluster.retained(one, "alidade/1/bed/#")
