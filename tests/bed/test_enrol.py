# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl cluster: beginning, joining, renewing, revoking and leaving, with real ssh and a real mosquitto."""

import hashlib
import json
import os

import pytest

from bedlib.broker import Broker
from bedlib.fixtures import needs_namespaces
from bedlib.network import add_address, add_bridge, add_veth
from bedlib.parts import find_program
from bedlib.pki import Authority
from bedlib.services import client_binary
from enrol_seat import (ADDRESS, DENIED, ERROR, NO_NODE, OK, UNREACHABLE, USAGE, Seat, Ssh, common_name, make_request,
                        openssl, serial, sign_dated)

pytestmark = needs_namespaces


def joined(machine, first, name="second", *words):
    seat = Seat(machine, name)
    join_by_hand(seat, first, *words)
    return seat


def join_by_hand(seat, first, *words):
    request = seat.cluster("join", "--request", *words).stdout
    bundle = first.cluster("sign", *words[:1], text_in=request).stdout
    return seat.cluster("join", "--accept", text_in=bundle)


def serials(first, node):
    """Of the certificates that a node was given."""
    return {path.stem for path in first.path("ca/issued").iterdir() if common_name(path) == node}


def group_of(machine, path):
    lines = (machine.root / "etc/group").read_text().splitlines()
    return next(line.split(":")[0] for line in lines if int(line.split(":")[2]) == path.stat().st_gid)


def mode(path):
    return path.stat().st_mode & 0o7777


# Beginning

def test_keys_and_their_rights(machine, first):
    wanted = {"ca": (0o700, "root"), "ca/ca.key": (0o600, "root"), "node.key": (0o640, "alidade-tls"),
              "broker/broker.key": (0o640, "mosquitto"), "ca.crt": (0o644, "root"), "crl.pem": (0o644, "root"),
              "node.crt": (0o644, "root")}
    found = {name: (mode(first.path(name)), group_of(machine, first.path(name))) for name in wanted}
    assert found == wanted
    assert common_name(first.path("broker/broker.crt")) == f"broker-{first.id}"
    assert first.settings() == {"name": "lab", "brokers": "127.0.0.1", "discovery": "true"}
    assert "cluster=lab" in (first.dir / "avahi/services/alidade.service").read_text()
    assert first.crl_number() == 1


def test_init_again_changes_nothing_and_another_name_is_refused(first):
    before = first.files()
    first.cluster("init", "lab", ADDRESS)
    assert first.files() == before
    refused = first.cluster("init", "other", ADDRESS, code=ERROR)
    assert "This machine is already in cluster lab, created here" in refused.stderr
    assert first.files() == before


def test_init_with_another_address_makes_another_broker_certificate(first):
    first.cluster("init", "lab", "--address=broker.example", ADDRESS)
    text = openssl("x509", "-in", first.path("broker/broker.crt"), "-noout", "-ext", "subjectAltName")
    assert "DNS:broker.example" in text and "IP Address:127.0.0.1" in text
    assert first.settings()["brokers"] == "broker.example", "each broker is in the list once"


@pytest.mark.parametrize("lost", ["ca.crt", "node.crt", "node.key", "broker/broker.crt",
                                  "broker/broker.key", "../alidade.conf.d/50-cluster.conf"])
def test_an_interrupted_init_is_gone_on_with(machine, first, lost):
    """Whatever was not yet written is made, and fits to the rest."""
    key = first.read("ca/ca.key")
    first.path(lost).unlink()
    if lost.endswith(".conf"):
        assert "init was interrupted" in first.cluster("renew", code=ERROR).stderr
    first.cluster("init", "lab", ADDRESS)
    assert first.path(lost).exists() and first.read("ca/ca.key") == key
    openssl("verify", "-CAfile", first.path("ca.crt"), "-CRLfile", first.path("crl.pem"), "-crl_check",
            first.path("node.crt"), first.path("broker/broker.crt"))
    joined(machine, first)


def test_a_lost_list_is_not_replaced_by_an_empty_one(machine, first):
    first.path("crl.pem").unlink()
    refused = first.cluster("init", "lab", ADDRESS, code=ERROR)
    assert "is missing, and with it the list of revoked certificates: copy it from another machine" in refused.stderr
    assert not first.path("crl.pem").exists()


def test_numbers_of_lists_are_never_used_twice(machine, first):
    """Not even where writing the list failed after the number was taken."""
    second = joined(machine, first)
    first.path("ca/crl-number").write_text("7\n")
    first.cluster("revoke", second.id)
    assert first.crl_number() == 8
    first.path("ca/crl-number").unlink()
    first.cluster("revoke", joined(machine, first, "third").id)
    assert first.crl_number() == 9


def test_settings_of_the_administrator_stay(first):
    path = first.config / "alidade.conf.d/50-cluster.conf"
    path.write_text(path.read_text().replace("discovery=true", "discovery=false\nmirror=self"))
    first.cluster("init", "lab", "--address=192.0.2.9")
    assert first.settings() == {"name": "lab", "brokers": "192.0.2.9", "discovery": "false",
                                "mirror": "self"}


@pytest.mark.parametrize("file, text", [("config/alidade.conf.d/50-cluster.conf", "[cluster\nmirror=self\n"),
                                        ("mosquitto/alidade.acl", "# and more\n" * 100000)],
                         ids=["configuration", "rights"])
def test_what_cannot_be_read_is_not_replaced(first, file, text):
    """There may be something in it that an administrator wrote."""
    (first.dir / file).write_text(text)
    refused = first.cluster("init", "lab", ADDRESS, code=ERROR)
    assert f"{first.dir / file}: " in refused.stderr
    assert (first.dir / file).read_text() == text


def test_what_to_do_next_is_as_ssh_takes_it(machine):
    told = Seat(machine, "first").cluster("init", "lab", "--address=2001:db8::1").stdout
    assert told.endswith("alidadectl cluster join USER@2001:db8::1\n")


def test_bad_names_are_refused(machine):
    seat = Seat(machine, "first")
    for name in ("", "Lab", "-lab", "lab/1", "+", "x" * 33, "lab\n"):
        refused = seat.cluster("init", "--", name, code=USAGE)
        assert "not a valid cluster name" in refused.stderr, name
        assert list(seat.config.iterdir()) == [], name


def test_bad_addresses_are_refused(machine):
    seat = Seat(machine, "first")
    for address in ("", "a b", "host;other", "192.0.2.300", "host:8883", "-x", "a..b"):
        refused = seat.cluster("init", "lab", f"--address={address}", code=USAGE)
        assert f"--address={address}: " in refused.stderr, address
        assert not seat.path("ca").exists(), address


@pytest.mark.parametrize("others", [True, False])
def test_a_bridge_within_a_machine_is_no_way_to_its_broker(machine, others):
    """As of containers: other machines have one with the same address. It does where there is nothing else."""
    add_bridge(machine, "inner0")
    add_address(machine, "inner0", "172.17.0.1/16")
    if others:
        add_veth(machine, "lan0", "elsewhere0")
        add_address(machine, "lan0", "192.0.2.1/24")
    seat = Seat(machine, "first")
    seat.cluster("init", "lab")
    text = openssl("x509", "-in", seat.path("broker/broker.crt"), "-noout", "-ext", "subjectAltName")
    assert ("172.17.0.1" in text, "192.0.2.1" in text) == (not others, others)
    assert seat.settings()["brokers"] == ("192.0.2.1" if others else "172.17.0.1")


# mosquitto as it is configured

OPEN_MOSQUITTOS = [
    (None, {}, "is not installed: "),
    ("", {}, "does not read"),
    ("port 1883\n", {}, "mosquitto.conf:2: another listener"),
    ("", {"local.conf": "listener 1883 localhost\n"}, "local.conf:1: another listener"),
    ("", {"local.conf": "listener 1883\nallow_anonymous true\n"}, "local.conf:2: a listener of this mosquitto is open"),
    ("", {"a.conf": "allow_anonymous false\n"}, "a.conf:1: allow_anonymous would change the listener"),
    ("", {"z.conf": "allow_anonymous true\n"}, "z.conf:1: allow_anonymous would change the listener"),
    ("", {"z.conf": "  acl_file   /etc/x\n"}, "z.conf:1: acl_file would change the listener"),
    ("", {"z.conf": "per_listener_settings false\n"}, "z.conf:1: per_listener_settings must be true")]


def test_a_mosquitto_that_would_be_open_is_refused(machine):
    for number, (main, others, said) in enumerate(OPEN_MOSQUITTOS):
        seat = Seat(machine, f"seat{number}")
        path = seat.mosquitto / "mosquitto.conf"
        if main is None:
            path.unlink()
        else:
            path.write_text((f"include_dir {seat.mosquitto}/conf.d\n" if others or main else "") + main)
        for name, text in others.items():
            (seat.mosquitto / "conf.d" / name).write_text(text)
        before = sorted(seat.mosquitto.rglob("*"))
        refused = seat.cluster("init", "lab", ADDRESS, code=ERROR)
        assert said in refused.stderr
        assert sorted(seat.mosquitto.rglob("*")) == before, said
        assert not seat.path("ca").exists(), said


def test_a_listener_with_rights_of_its_own_may_stay(machine):
    """Both are served, and what is kept for the other one still is."""
    broker = Broker(machine)
    seat = Seat(machine, "first", broker.config)
    seat.environment["ALIDADE_MOSQUITTO_DIR"] = "/etc/mosquitto"
    (broker.config / "conf.d/local.conf").write_text("listener 1884 127.0.0.1\nacl_file /etc/mosquitto/local.acl\n")
    (broker.config / "local.acl").write_text("topic readwrite home/#\n")
    main = broker.config / "mosquitto.conf"
    main.write_text("per_listener_settings true\n" + main.read_text())
    seat.cluster("init", "lab", ADDRESS)
    broker.start()
    assert listening(machine) == {"8883", "1884"}
    assert seat.publish(f"alidade/1/lab/{seat.id}/x", "one").returncode == 0
    broker.stop()
    assert [path.name for path in broker.data.iterdir()] == ["mosquitto.db"]


def test_limits_of_other_clients_stay(machine):
    """A message of 1.5 MB through the other listener is larger than any packet of the cluster; and what changes for
    others is told."""
    broker = Broker(machine)
    seat = Seat(machine, "first", broker.config)
    seat.environment["ALIDADE_MOSQUITTO_DIR"] = "/etc/mosquitto"
    (broker.config / "local.acl").write_text("user frigate\ntopic readwrite home/#\n")
    machine.run(["mosquitto_passwd", "-b", "-c", "/etc/mosquitto/local.passwords", "frigate", "secret"])
    (broker.config / "local.passwords").chmod(0o644)
    main = broker.config / "mosquitto.conf"
    main.write_text("per_listener_settings true\nmax_packet_size 8000000\nmax_queued_messages 1000\n"
                    "listener 1884 127.0.0.1\nallow_anonymous false\npassword_file /etc/mosquitto/local.passwords\n"
                    "acl_file /etc/mosquitto/local.acl\n" + main.read_text())
    told = seat.cluster("init", "lab", ADDRESS).stdout
    assert "mosquitto.conf:2: max_packet_size stays 8000000, for nodes of the cluster, too" in told
    assert "max_queued_messages becomes 200000 for all clients, instead of 1000 in /etc/mosquitto/mosquitto.conf:3" \
        in told
    broker.start()
    (broker.config / "snapshot").write_bytes(bytes(1500000))
    machine.run(["mosquitto_pub", "-h", "127.0.0.1", "-p", "1884", "-u", "frigate", "-P", "secret", "-q", "1", "-r",
                 "-t", "home/snapshot", "-f", "/etc/mosquitto/snapshot"])
    got = machine.run(["mosquitto_sub", "-h", "127.0.0.1", "-p", "1884", "-u", "frigate", "-P", "secret", "-C", "1",
                       "-W", "60", "-t", "home/snapshot", "-F", "%l"])
    assert got.stdout.strip() == "1500000"


# The broker

@pytest.fixture
def broker(machine):
    return Broker(machine)


@pytest.fixture
def lab(machine, broker):
    """Two nodes, and a mosquitto that runs with what was written."""
    first = Seat(machine, "first", broker.config)
    # As the package has it, so the paths in it are those within the machine.
    first.environment["ALIDADE_MOSQUITTO_DIR"] = "/etc/mosquitto"
    first.cluster("init", "lab", ADDRESS)
    second = joined(machine, first)
    broker.start()
    return first, second


def listening(machine):
    done = machine.run([find_program("ss"), "-Hltn"])
    return {line.split()[3].rpartition(":")[2] for line in done.stdout.splitlines()}


def test_no_other_listener_is_open(machine, lab):
    assert listening(machine) == {"8883"}


def test_a_node_writes_under_its_own_id_only(lab):
    first, second = lab
    own, foreign = (f"alidade/1/lab/{seat.id}/Node1.Identity" for seat in (second, first))
    assert second.publish(own, "own").returncode == 0
    assert second.publish(foreign, "forged").returncode == 0, "3.1.1 acknowledges what it refuses"
    assert second.publish("alidade/1/other/x", "stray").returncode == 0
    assert first.retained("alidade/1/lab/#") == {own: "own"}
    assert second.retained("#") == {own: "own"}


def test_who_has_no_certificate_of_a_node_is_refused(machine, lab):
    first, _ = lab
    Authority(machine.dir / "foreign").issue(first.path("foreign"), first.id, "clientAuth")
    for options in ({"certificate": False}, {"key": "broker/broker"}, {"key": "foreign"}):
        done = first.publish(f"alidade/1/lab/{first.id}/x", "no", **options)
        assert done.returncode != 0, options
        assert first.retained("#") == {}, options


def test_without_tls_nobody_gets_in(machine, lab):
    done = machine.run([find_program("mosquitto_pub"), "-h", "127.0.0.1", "-p", "8883", "-t", "x", "-m", "x"],
                       check=False)
    assert done.returncode != 0


def test_nothing_is_kept_on_disk(lab, broker):
    """Old values would come back as if they were new."""
    first, _ = lab
    assert first.publish(f"alidade/1/lab/{first.id}/x", "old").returncode == 0
    broker.stop()
    assert list(broker.data.iterdir()) == []


def test_who_is_revoked_gets_in_no_more(lab, broker):
    first, second = lab
    topic = f"alidade/1/lab/{second.id}/x"
    assert second.publish(topic, "before").returncode == 0
    first.cluster("revoke", second.id)
    broker.stop()
    broker.start()
    assert second.publish(topic, "after").returncode != 0
    assert first.publish(f"alidade/1/lab/{first.id}/x", "first").returncode == 0


# Joining

def test_join_by_hand(machine, first):
    second = Seat(machine, "second")
    request, bundle = machine.dir / "request", machine.dir / "bundle"
    told = second.cluster("join", "--request", request).stdout
    assert f"cluster sign {request}" in told
    told = first.cluster("sign", request, f"--output={bundle}").stdout
    assert f"join --accept {bundle}" in told
    second.cluster("join", "--accept", bundle)
    assert second.settings() == {"name": "lab", "brokers": "127.0.0.1", "discovery": "true"}
    assert second.id != first.id and second.read("ca.crt") == first.read("ca.crt")
    assert (mode(second.path("node.key")), group_of(machine, second.path("node.key"))) == (0o640, "alidade-tls")
    assert "PRIVATE" not in request.read_text() + bundle.read_text()
    assert not second.path("ca").exists()


@pytest.fixture
def ssh(first):
    made = Ssh(first)
    made.start()
    return made


def test_join_over_ssh_in_one_step_and_again(machine, first, ssh):
    second = Seat(machine, "second")
    second.cluster("join", "root@127.0.0.1", env=ssh.environment(second))
    assert second.read("ca.crt") == first.read("ca.crt")
    key = second.read("node.key")
    second.cluster("join", "root@127.0.0.1", env=ssh.environment(second))
    assert second.read("node.key") == key
    first.cluster("init", "lab", ADDRESS)


def test_join_over_ssh_with_another_key_needs_replace(machine, first, ssh):
    second = Seat(machine, "second")
    second.cluster("join", "root@127.0.0.1", env=ssh.environment(second))
    before, old = second.files(), serial(second.path("node.crt"))
    second.path("node.key").unlink()
    refused = second.cluster("join", "root@127.0.0.1", env=ssh.environment(second), code=ERROR)
    assert "add --replace" in refused.stderr and "did not sign" in refused.stderr
    assert second.files().keys() == before.keys()
    second.cluster("join", "root@127.0.0.1", "--replace", env=ssh.environment(second))
    assert first.crl() == {old} == second.crl()


def test_ssh_that_does_not_get_through(machine, first, ssh):
    second = Seat(machine, "second")
    (ssh.dir / "known_hosts").write_text("")
    refused = second.cluster("join", "root@127.0.0.1", env=ssh.environment(second), code=UNREACHABLE)
    assert "Host key verification failed" in refused.stderr
    assert "Cannot reach root@127.0.0.1 by ssh; without ssh, use alidadectl cluster join --request" in refused.stderr
    refused = second.cluster("join", "-oProxyCommand=touch /tmp/x", env=ssh.environment(second), code=USAGE)
    assert not second.path("node.crt").exists()


@pytest.mark.parametrize("rule, code", [("NOPASSWD: ALL", OK), ("ALL", ERROR)], 
                         ids=["without password", "with password"])
def test_join_over_ssh_by_sudo(machine, first, rule, code):
    """As a user who is root there by sudo only, which has no terminal to ask for a password on."""
    etc = machine.root / "etc"
    machine.add_users(["admin"])
    passwd = (etc / "passwd").read_text()
    (etc / "passwd").write_text(passwd.replace("admin:x", "admin:").replace(
        "/nonexistent:/usr/sbin/nologin", "/:/bin/sh"))
    find_program("sudo")
    kept = " ".join(name for name in first.environment)
    (etc / "sudoers").write_text(f'Defaults env_keep="{kept} PATH"\nDefaults !secure_path\nadmin ALL=(ALL) {rule}\n')
    (etc / "pam.d/sudo").write_text("auth required pam_deny.so\naccount required pam_permit.so\n"
                                    "session required pam_permit.so\n")
    ssh = Ssh(first)
    ssh.start()
    second = Seat(machine, "second")
    done = second.cluster("join", "admin@127.0.0.1", env=ssh.environment(second), code=code)
    if code == OK:
        assert second.read("ca.crt") == first.read("ca.crt")
    else:
        assert "sudo: a password is required" in done.stderr
        assert "If sudo asks for a password there, join with root@HOST" in done.stderr


def test_two_at_once_wait_for_each_other(machine, first):
    """Each is signed, and none of what either wrote is lost."""
    seats = [Seat(machine, f"node{i}") for i in range(8)]
    requests = [machine.dir / f"request{i}" for i in range(8)]
    for seat, request in zip(seats, requests):
        seat.cluster("join", "--request", request)
    running = [machine.spawn([client_binary(), "cluster", "sign", request, f"--output={request}.bundle"],
                             f"sign.{i}", env=first.environment) for i, request in enumerate(requests)]
    assert [process.wait() for process in running] == [OK] * 8
    for seat, request in zip(seats, requests):
        seat.cluster("join", "--accept", f"{request}.bundle")
    assert len({seat.id for seat in seats}) == 8
    assert len(list(first.path("ca/issued").iterdir())) == 10


def test_a_node_becomes_a_broker_later(machine, first):
    second = joined(machine, first)
    request = second.cluster("renew", "--request", "--broker", "--address=192.0.2.2", "--address=2001:db8::2").stdout
    second.cluster("renew", "--accept", text_in=first.cluster("sign", "--renew", "--broker", text_in=request).stdout)
    assert first.settings()["brokers"] == second.settings()["brokers"] == "127.0.0.1;192.0.2.2"
    text = openssl("x509", "-in", second.path("broker/broker.crt"), "-noout", "-ext", "subjectAltName")
    assert "192.0.2.2" in text and "2001:DB8:0:0:0:0:0:2" in text
    assert (second.mosquitto / "conf.d/alidade.conf").exists()


def test_a_broker_moves(machine, first):
    """Under another address it is the same one, in the same place of the list."""
    second = joined(machine, first, "second", "--broker", "--address=192.0.2.2")
    joined(machine, first, "third", "--broker", "--address=192.0.2.3")
    request = second.cluster("renew", "--request", "--address=second.example").stdout
    second.cluster("renew", "--accept", text_in=first.cluster("sign", "--renew", "--broker", text_in=request).stdout)
    assert first.settings()["brokers"] == second.settings()["brokers"] == "127.0.0.1;second.example;192.0.2.3"


def test_what_is_no_file_is_written_to_as_it_is(machine, first):
    """And is not replaced by one: root has the right to do that to /dev/stdout."""
    second = Seat(machine, "second")
    fifo, link, target = (machine.dir / name for name in ("fifo", "link", "target"))
    os.mkfifo(fifo)
    link.symlink_to(target)
    target.write_text("old " * 10000)
    second.cluster("join", "--request", link)
    assert link.is_symlink() and target.read_text().startswith("-----BEGIN CERTIFICATE REQUEST-----")
    reader = machine.spawn(["cat", fifo], "reader")
    first.cluster("sign", link, f"--output={fifo}")
    assert reader.wait() == OK and reader.log_text().startswith("{")
    assert fifo.is_fifo()


def test_a_second_broker(machine, first):
    second = Seat(machine, "second")
    request = second.cluster("join", "--request", "--broker", "--address=192.0.2.2").stdout
    signed = first.cluster("sign", "--broker", text_in=request)
    assert "Signed for its broker at 192.0.2.2" in signed.stderr
    second.cluster("join", "--accept", text_in=signed.stdout)
    assert first.settings()["brokers"] == second.settings()["brokers"] == "127.0.0.1;192.0.2.2"
    assert common_name(second.path("broker/broker.crt")) == f"broker-{second.id}"
    assert mode(second.path("broker/broker.key")) == 0o640
    assert "listener 8883" in (second.mosquitto / "conf.d/alidade.conf").read_text()
    third = joined(machine, first, "third")
    assert third.settings()["brokers"] == "127.0.0.1;192.0.2.2"
    assert not third.path("broker").exists() and not (third.mosquitto / "conf.d/alidade.conf").exists()
    # Revoking the node takes its broker along.
    first.cluster("revoke", second.id[:12])
    assert first.crl() == {serial(second.path("node.crt")), serial(second.path("broker/broker.crt"))}
    assert first.settings()["brokers"] == "127.0.0.1"


def test_a_broker_elsewhere_only(machine):
    first = Seat(machine, "first")
    (first.mosquitto / "mosquitto.conf").unlink()
    told = first.cluster("init", "lab", "--no-broker").stdout
    assert "a cluster needs a broker" in told and not first.path("broker").exists()
    second = joined(machine, first, "second", "--broker", "--address=192.0.2.2")
    assert first.settings()["brokers"] == second.settings()["brokers"] == "192.0.2.2"


def test_join_over_ssh_as_a_broker(machine, first, ssh):
    second = Seat(machine, "second")
    second.cluster("join", "root@127.0.0.1", "--broker", "--address=192.0.2.2", env=ssh.environment(second))
    assert second.path("broker/broker.crt").exists()
    before = second.read("broker/broker.crt")
    second.cluster("renew", "root@127.0.0.1", env=ssh.environment(second))
    assert second.read("broker/broker.crt") != before
    assert first.settings()["brokers"] == "127.0.0.1;192.0.2.2"


# What sign and accept refuse

def test_a_broker_takes_a_word_of_who_signs(machine, first):
    """The rest of the request may be signed; all nodes trust a broker."""
    second = Seat(machine, "second")
    before = first.files()
    asked = second.cluster("join", "--request", "--broker", "--address=192.0.2.2", "--address=b.example")
    assert "cluster sign --broker REQUEST" in asked.stderr
    for words in ((), ("--replace",), ("--renew",)):
        refused = first.cluster("sign", *words, text_in=asked.stdout, code=ERROR)
        assert "at 192.0.2.2, b.example" in refused.stderr and "add --broker" in refused.stderr
        assert refused.stdout == "" and first.files() == before
    second.cluster("join", "--accept", text_in=first.cluster("sign", "--broker", text_in=asked.stdout).stdout)
    assert second.path("broker/broker.crt").exists()


def subject_names(certificate):
    told = openssl("x509", "-in", certificate, "-noout", "-ext", "subjectAltName").splitlines()
    return [name.strip() for name in told[-1].split(",")] if told else []


def test_a_broker_gets_the_addresses_that_are_allowed(machine, first):
    """Others are refused by name, before anything is written; order and spelling do not matter."""
    second = Seat(machine, "second")
    own = ("--address=SECOND.example.", "--address=2001:DB8:0::2", "--address=xn--Bcher-kva.example")
    request = second.cluster("join", "--request", "--broker", *own).stdout
    before = first.files()
    allowed = ("--broker", "--address=2001:db8::2", "--address=xn--bcher-kva.example")
    for words, refused in ((allowed, "SECOND.example"), (("--broker", "--address=192.0.2.2"), "SECOND.example"),
                           ((*allowed, "--address=second.example.org"), "SECOND.example"),
                           ((*allowed[:2], "--address=second.example"), "xn--Bcher-kva.example"),
                           ((*allowed, "--replace"), "SECOND.example"), ((*allowed, "--renew"), "SECOND.example")):
        told = first.cluster("sign", *words, text_in=request, code=ERROR)
        assert told.stdout == ""
        assert "asks to be a broker at " + refused in told.stderr and "--address does not allow" in told.stderr
        assert first.files() == before
    for words, reason in ((("--address=second.example",), "--address needs --broker"),
                          (("--broker", "--address=a,b"), "--address=a,b: not a valid host name"),
                          (("--broker", "--address=*.example"), "--address=*.example: not a valid host name"),
                          (("--broker", "--address=bücher.example"), "with xn--")):
        assert reason in first.cluster("sign", *words, text_in=request, code=USAGE).stderr
    allowed += ("--address=second.EXAMPLE", "--address=192.0.2.77")
    second.cluster("join", "--accept", text_in=first.cluster("sign", *allowed, text_in=request).stdout)
    assert subject_names(second.path("broker/broker.crt")) == [
        "DNS:SECOND.example", "IP Address:2001:DB8:0:0:0:0:0:2", "DNS:xn--Bcher-kva.example"]


def test_a_certificate_for_more_than_is_allowed_is_not_given_out_again(machine, first):
    second = Seat(machine, "second")
    names = ("--address=second.example", "--address=192.0.2.2")
    request = second.cluster("join", "--request", "--broker", *names).stdout
    second.cluster("join", "--accept", text_in=first.cluster("sign", "--broker", *names, text_in=request).stdout)
    assert "already" in first.cluster("sign", "--broker", *names, text_in=request).stderr
    fewer = second.cluster("renew", "--request", "--broker", names[0]).stdout
    files = machine.dir / "signed"
    files.mkdir()
    (files / "request").write_text(fewer)
    told = first.cluster("sign", "--renew", "--broker", names[0], files / "request", f"--output={files}/bundle")
    assert "Signed for its broker at second.example" in told.stdout
    again = first.cluster("sign", "--renew", "--broker", names[0], files / "request", f"--output={files}/bundle")
    assert "it is the answer to this request" in again.stdout
    told = first.cluster("sign", "--renew", "--broker", names[1], files / "request", f"--output={files}/bundle",
                         code=ERROR)
    assert "asks to be a broker at second.example" in told.stderr
    second.cluster("renew", "--accept", files / "bundle")
    assert subject_names(second.path("broker/broker.crt")) == ["DNS:second.example"]


def test_names_in_a_request_of_another_tool_are_not_signed(machine, first):
    """Of each kind that a certificate can have: the certificate of a node has none."""
    name = hashlib.md5(b"elsewhere").hexdigest()
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout",
            machine.dir / "elsewhere.key", "-out", machine.dir / "elsewhere.csr", "-subj", f"/CN={name}", "-addext",
            "subjectAltName=IP:127.0.0.1,DNS:first.example,DNS:*.example,URI:https://first.example,email:a@b.example",
            "-addext", "extendedKeyUsage=serverAuth")
    bundle = json.loads(first.cluster("sign", "--broker", "--address=192.0.2.2",
                                      text_in=(machine.dir / "elsewhere.csr").read_text()).stdout)
    (machine.dir / "elsewhere.crt").write_text(bundle["Node"])
    assert "Broker" not in bundle and subject_names(machine.dir / "elsewhere.crt") == []
    usage = openssl("x509", "-in", machine.dir / "elsewhere.crt", "-noout", "-ext", "extendedKeyUsage")
    assert "TLS Web Client Authentication" in usage and "Server" not in usage


@pytest.mark.parametrize("address", ["2001:DB8:0::2", "SECOND.example"])
def test_a_broker_does_not_get_the_address_of_another(machine, first, address):
    second = joined(machine, first, "second", "--broker", "--address=second.example", "--address=2001:db8::2")
    third = Seat(machine, "third")
    request = third.cluster("join", "--request", "--broker", "--address=third.example", f"--address={address}").stdout
    before = first.files()
    refused = first.cluster("sign", "--broker", text_in=request, code=ERROR)
    assert f"({second.id}) already has the address {address}" in refused.stderr
    assert "add --replace" in refused.stderr and refused.stdout == "" and first.files() == before
    bundle = first.cluster("sign", "--broker", "--replace", text_in=request).stdout
    third.cluster("join", "--accept", text_in=bundle)
    assert first.crl() == {serial(second.path("broker/broker.crt"))}, "as a node the second one stays"


def test_a_broker_does_not_get_the_address_of_the_first(machine, first):
    request = Seat(machine, "second").cluster("join", "--request", "--broker", ADDRESS).stdout
    for words in ((), ("--replace",)):
        refused = first.cluster("sign", "--broker", *words, text_in=request, code=ERROR)
        assert "which is this machine, already has the address 127.0.0.1" in refused.stderr
    assert first.crl() == set()


def test_one_id_has_one_certificate(machine, first):
    second = Seat(machine, "second")
    request = second.cluster("join", "--request").stdout
    second.cluster("join", "--accept", text_in=first.cluster("sign", text_in=request).stdout)
    again = first.cluster("sign", text_in=request)
    assert json.loads(again.stdout)["Node"] == second.read("node.crt") and "already" in again.stderr
    first.cluster("sign", "--renew", text_in=request)
    refused = first.cluster("sign", text_in=second.cluster("renew", "--request").stdout, code=ERROR)
    assert refused.stdout == "" and "add --renew" in refused.stderr
    other = make_request(machine.dir, second.id)
    refused = first.cluster("sign", text_in=other, code=ERROR)
    assert refused.stdout == "" and "add --replace" in refused.stderr and "systemd-machine-id-setup" in refused.stderr
    first.cluster("sign", "--renew", text_in=other, code=ERROR)
    assert first.crl() == set()
    first.cluster("sign", "--replace", text_in=other)
    assert len(first.crl()) == 2 and serial(second.path("node.crt")) in first.crl()


def test_who_is_no_node_is_not_signed(machine, first):
    before = first.files()
    for name in ("laptop", "broker-" + "a" * 32, "A" * 32, "bridge-site", "0" * 32):
        refused = first.cluster("sign", text_in=make_request(machine.dir, name), code=ERROR)
        assert "The request is refused" in refused.stderr and refused.stdout == "", name
        assert first.files() == before, name


def test_a_copy_of_the_first_machine_is_not_signed(machine, first):
    refused = first.cluster("sign", "--replace", text_in=make_request(machine.dir, first.id), code=ERROR)
    assert "copy of this machine" in refused.stderr


def test_rubbish_is_not_signed(first):
    before = first.files()
    for text in ("", "nonsense", "-----BEGIN CERTIFICATE REQUEST-----\nMII\n", "x" * 300_000,
                 "Broker-Address: a b\n-----BEGIN CERTIFICATE REQUEST-----\n"):
        assert first.cluster("sign", text_in=text, code=ERROR).stdout == "", text[:70]
        assert first.files() == before, text[:70]


def test_a_request_with_a_changed_byte_is_refused(machine, first):
    lines = Seat(machine, "second").cluster("join", "--request").stdout.splitlines(keepends=True)
    lines[3] = lines[3][:10] + ("A" if lines[3][10] != "A" else "B") + lines[3][11:]
    assert "The request is refused" in first.cluster("sign", text_in="".join(lines), code=ERROR).stderr


def test_steps_out_of_order(machine, first):
    second = Seat(machine, "second")
    bundle = first.cluster("sign", text_in=second.cluster("join", "--request").stdout).stdout
    stranger = Seat(machine, "stranger")
    for words in (("renew", "root@x"), ("renew",), ("renew", "--request")):
        assert "not in a cluster" in stranger.cluster(*words, code=ERROR).stderr
    assert "does not have the key" in stranger.cluster("sign", text_in="", code=ERROR).stderr
    assert "does not have the key" in stranger.cluster("revoke", "abc", code=ERROR).stderr
    refused = stranger.cluster("join", "--accept", text_in=bundle, code=ERROR)
    assert "The bundle is refused" in refused.stderr
    refused = first.cluster("join", "root@x", code=ERROR).stderr
    assert "lab was created on this machine, which signs for itself" in refused
    assert "Specify USER@HOST" in stranger.cluster("join", code=USAGE).stderr
    second.path("node.key").unlink()
    refused = second.cluster("join", "--accept", text_in=bundle, code=ERROR)
    assert "No key on this machine" in refused.stderr
    second.cluster("join", "--request")
    refused = second.cluster("join", "--accept", text_in=bundle, code=ERROR)
    assert "does not match the key on this machine" in refused.stderr
    assert not second.path("node.crt").exists()


def test_a_bundle_that_was_tampered_with_is_refused(machine, first):
    second = Seat(machine, "second")
    bundle = json.loads(first.cluster("sign", text_in=second.cluster("join", "--request").stdout).stdout)
    foreign = Authority(machine.dir / "foreign")
    foreign.write_crl(machine.dir / "foreign.crl")
    changed = [{**bundle, **change} for change in (
        {"Cluster": "other"}, {"Ca": foreign.certificate.read_text()},
        {"Crl": (machine.dir / "foreign.crl").read_text()}, {"Brokers": ["a;b"]}, {"AlidadeBundle": 2})]
    before = second.files()
    for text in (json.dumps(bundle)[:-20], "<xml/>", *map(json.dumps, changed)):
        refused = second.cluster("join", "--accept", text_in=text, code=ERROR)
        assert second.files() == before, refused.stderr
    second.cluster("join", "--accept", text_in=json.dumps(bundle))


@pytest.mark.parametrize("start, end, said", [(2090, 2100, "check the clocks"), (2001, 2010, "this machine shows 20")])
def test_a_bundle_of_another_time_is_refused(machine, first, start, end, said):
    """As where one of both clocks is wrong."""
    second = Seat(machine, "second")
    request = second.cluster("join", "--request").stdout
    bundle = json.loads(first.cluster("sign", text_in=request).stdout)
    bundle["Node"] = sign_dated(first, request, start, end)
    refused = second.cluster("join", "--accept", text_in=json.dumps(bundle), code=ERROR)
    assert "The bundle is refused" in refused.stderr and said in refused.stderr
    assert not second.path("node.crt").exists()


def test_an_expired_node_comes_back_by_renewing(machine, first):
    """Its certificate counts no more, so nothing stands in the way of a new one."""
    second = joined(machine, first)
    request = second.cluster("renew", "--request").stdout
    expired = sign_dated(first, request, 2001, 2010)
    second.path("node.crt").write_text(expired)
    first.path(f"ca/issued/{next(iter(serials(first, second.id)))}.crt").write_text(expired)
    assert "expired on 2010-01-01" in second.cluster("status").stdout
    second.cluster("renew", "--accept", text_in=first.cluster("sign", text_in=request).stdout)
    assert "expired" not in second.cluster("status").stdout


def test_a_node_does_not_slip_into_another_cluster(machine, first):
    second = joined(machine, first)
    other = Seat(machine, "other")
    other.cluster("init", "lab", ADDRESS)
    before = second.files()
    bundle = other.cluster("sign", text_in=second.cluster("join", "--request").stdout).stdout
    refused = second.cluster("join", "--accept", text_in=bundle, code=ERROR)
    assert "another cluster" in refused.stderr and "leave" in refused.stderr
    assert second.files() == before
    second.cluster("leave")
    bundle = other.cluster("sign", "--replace", text_in=second.cluster("join", "--request").stdout).stdout
    second.cluster("join", "--accept", text_in=bundle)
    assert second.read("ca.crt") == other.read("ca.crt")


# Later

def test_renew_where_it_began(first):
    old, key = serial(first.path("node.crt")), first.read("node.key")
    broker = serial(first.path("broker/broker.crt"))
    first.cluster("renew")
    assert serial(first.path("node.crt")) != old and serial(first.path("broker/broker.crt")) != broker
    assert first.read("node.key") == key and first.crl() == set()


def test_renew_over_ssh_brings_the_brokers_and_the_list(machine, first, ssh):
    second = joined(machine, first)
    third = joined(machine, first, "third", "--broker", "--address=192.0.2.3")
    fourth = joined(machine, first, "fourth")
    first.cluster("revoke", fourth.id)
    old = serial(second.path("node.crt"))
    second.cluster("renew", "root@127.0.0.1", env=ssh.environment(second))
    assert serial(second.path("node.crt")) != old
    assert second.settings()["brokers"] == "127.0.0.1;192.0.2.3"
    assert second.crl() == {serial(fourth.path("node.crt"))}
    before = serial(third.path("broker/broker.crt"))
    third.cluster("renew", "root@127.0.0.1", env=ssh.environment(third))
    assert serial(third.path("broker/broker.crt")) != before
    assert first.settings()["brokers"] == "127.0.0.1;192.0.2.3"


def test_renew_by_hand(machine, first):
    second = joined(machine, first)
    old = serial(second.path("node.crt"))
    asked = second.cluster("renew", "--request")
    assert "sign --renew" in asked.stderr
    second.cluster("renew", "--accept", text_in=first.cluster("sign", "--renew", text_in=asked.stdout).stdout)
    assert serial(second.path("node.crt")) != old and first.crl() == set()


def test_an_older_bundle_does_not_bring_back_who_was_revoked(machine, first):
    second, third = joined(machine, first), joined(machine, first, "third")
    bundle = first.cluster("sign", "--renew", text_in=second.cluster("renew", "--request").stdout).stdout
    first.cluster("revoke", third.id)
    second.path("crl.pem").write_text(first.read("crl.pem"))
    second.cluster("renew", "--accept", text_in=bundle)
    assert second.crl() == {serial(third.path("node.crt"))}


def test_revoke(machine, first):
    second = joined(machine, first)
    assert "No certificate of ffff is known" in first.cluster("revoke", "ffff", code=NO_NODE).stderr
    # A few digits may be meant as a name that another node had until now, such as "cafe".
    for digits in (1, 4, 7):
        refused = first.cluster("revoke", second.id[:digits], code=NO_NODE)
        assert "at least the first 8 digits" in refused.stderr
    assert first.crl() == set()
    assert "this machine" in first.cluster("revoke", first.id, code=ERROR).stderr
    first.cluster("revoke", second.id[:8])
    assert first.crl() == {serial(second.path("node.crt"))} and first.crl_number() == 2
    before = first.read("crl.pem")
    assert "no longer has a valid certificate" in first.cluster("revoke", second.id).stdout
    assert first.read("crl.pem") == before
    request = second.cluster("renew", "--request").stdout
    for words in ((), ("--renew",), ("--replace",)):
        refused = first.cluster("sign", *words, text_in=request, code=ERROR)
        assert "The key of this request was revoked" in refused.stderr
    second.cluster("leave")
    join_by_hand(second, first)


def test_install_crl(machine, first):
    second, third = joined(machine, first), joined(machine, first, "third")
    assert "nothing to install" in second.cluster("install-crl").stdout
    first.cluster("revoke", third.id)
    (second.state / "crl.pem").write_text(first.read("crl.pem"))
    told = second.cluster("install-crl").stdout
    assert "number 2, 1 certificate revoked" in told and "mosquitto" not in told
    assert second.read("crl.pem") == first.read("crl.pem")
    assert "which is not older" in second.cluster("install-crl").stdout
    assert "Restart mosquitto" not in second.cluster("install-crl").stdout


def test_install_crl_on_a_broker_restarts_it(machine, first):
    second = joined(machine, first, "second", "--broker", "--address=192.0.2.2")
    third = joined(machine, first, "third")
    first.cluster("revoke", third.id)
    (second.state / "crl.pem").write_text(first.read("crl.pem"))
    assert "Restart mosquitto" in second.cluster("install-crl").stdout


def test_install_crl_sees_what_comes_meanwhile(machine, first):
    """While it restarts the broker nobody watches for the next list."""
    second = joined(machine, first, "second", "--broker", "--address=192.0.2.2")
    for name in ("third", "fourth"):
        first.cluster("revoke", joined(machine, first, name).id)
        (machine.dir / f"{name}.pem").write_text(first.read("crl.pem"))
    (second.state / "crl.pem").write_text((machine.dir / "third.pem").read_text())
    tools, calls = machine.dir / "tools", machine.dir / "calls"
    tools.mkdir()
    (tools / "systemctl").write_text(f"#!/bin/sh\necho $* >>{calls}\n"
                                     f"cp {machine.dir}/fourth.pem {second.state}/crl.pem\n")
    (tools / "systemctl").chmod(0o755)
    machine.run(["mkdir", "-p", "/run/systemd/system", "/etc/mosquitto/conf.d"])
    machine.run(["cp", second.mosquitto / "conf.d/alidade.conf", "/etc/mosquitto/conf.d/"])
    second.cluster("install-crl", env={**second.environment, "ALIDADE_MOSQUITTO_DIR": "",
                                       "PATH": f"{tools}:/usr/sbin:/usr/bin:/sbin:/bin"})
    assert second.read("crl.pem") == first.read("crl.pem") and second.crl_number() == 3
    assert calls.read_text().splitlines() == ["reset-failed mosquitto.service", "try-restart mosquitto.service"] * 2


def test_install_crl_takes_no_other_list(machine, first):
    """Who can write to the state directory of the cluster service cannot let anybody in again."""
    second, third = joined(machine, first), joined(machine, first, "third")
    old = first.read("crl.pem")
    first.cluster("revoke", third.id)
    (second.state / "crl.pem").write_text(first.read("crl.pem"))
    second.cluster("install-crl")
    path, before = second.state / "crl.pem", second.read("crl.pem")

    def link():
        first.cluster("revoke", second.id)
        path.symlink_to(first.path("crl.pem"))

    for kind, make in {"forged": lambda: Authority(machine.dir / "foreign").write_crl(path),
                       "older": lambda: path.write_text(old), "rubbish": lambda: path.write_text("no list"),
                       "folder": path.mkdir, "fifo": lambda: os.mkfifo(path),
                       "large": lambda: path.write_text("x" * (2 << 20)), "link": link}.items():
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
        make()
        second.cluster("install-crl", code=0 if kind == "older" else ERROR)
        assert second.read("crl.pem") == before, kind


def test_leave(machine, first):
    second = joined(machine, first, "second", "--broker", "--address=192.0.2.2")
    (second.state / "crl.pem").write_text(first.read("crl.pem"))
    own = second.id
    told = second.cluster("leave").stdout
    assert f"revoke {own}" in told
    assert set(second.files()) == {"mosquitto/mosquitto.conf"}
    again = second.cluster("leave").stdout
    assert "not in a cluster" in again and "Removed" not in again
    refused = first.cluster("leave", code=ERROR)
    assert "keeps the key of cluster lab" in refused.stderr and "Nothing was removed" in refused.stderr
    assert first.path("ca/ca.key").exists()
    first.cluster("leave", "--force")
    assert set(first.files()) == {"mosquitto/mosquitto.conf"}
    first.cluster("init", "other", ADDRESS)


# Who may, and what happens when nothing can be written

VERBS_OF_ROOT = [("init", "lab"), ("join", "root@x"), ("join", "--request"), ("join", "--accept"), ("sign",),
                 ("revoke", "a" * 32), ("renew",), ("leave", "--force"), ("install-crl",)]


def test_nobody_may(machine, first):
    before = first.files()
    for words in VERBS_OF_ROOT:
        refused = first.cluster(*words, user="nobody", code=DENIED)
        assert "Only root can do this" in refused.stderr, words
        assert first.files() == before, words


def test_anybody_may_read_the_status(first):
    told = first.cluster("status", user="nobody").stdout
    assert "The cluster service does not answer" in told and "number 1, 0 revoked" in told
    found = json.loads(first.cluster("status", "--json", user="nobody").stdout)
    assert found["Running"] is False
    assert found["Files"]["ClusterName"] == "lab" and found["Files"]["Brokers"] == ["127.0.0.1"]
    assert found["Files"]["NodeId"] == first.id and found["Files"]["CertificateExpiryUSec"] > 0


def fill(machine, folder, size):
    machine.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "tmpfs", folder])


def test_a_full_disk_loses_nothing(machine):
    """However far init gets, what is there is whole, and it is gone on with once there is room."""
    seat = Seat(machine, "first")
    # The folder is seen by the machine alone, so everything is asked of it there.
    fill(machine, seat.config, "128k")
    inside = machine.root / str(seat.config).lstrip("/")
    told = set()
    for kept in range(128, -4, -4):
        (inside / "ballast").write_bytes(b"\0" * max(kept, 0) * 1024)
        done = machine.run([client_binary(), "cluster", "init", "lab", ADDRESS], env=seat.environment, check=False)
        told.add((done.returncode, "No space left on device" in done.stderr))
        for path in inside.rglob("*"):
            assert not path.is_file() or path.name in ("ballast", "lock") or path.stat().st_size > 0, path
    assert told == {(1, True), (0, False)}


def test_a_full_disk_costs_no_revocation(machine, first):
    """What cannot be written is not half there: the old list stays, and is whole."""
    second = joined(machine, first)
    before, files = first.crl_number(), sorted(first.files())
    inside = machine.root / str(first.path("crl.pem").parent).lstrip("/")
    machine.run(["cp", "-a", f"{first.path('')}", machine.dir / "kept"])
    fill(machine, first.path(""), "128k")
    machine.run(["cp", "-a", f"{machine.dir}/kept/.", first.path("")])
    machine.run(["sh", "-c", f"cat /dev/zero >{first.path('ballast')} || :"])
    old = (inside / "crl.pem").read_text()
    refused = first.cluster("revoke", second.id, code=ERROR)
    assert "No space left on device" in refused.stderr
    assert (inside / "crl.pem").read_text() == old and before == 1
    (inside / "ballast").unlink()
    first.cluster("revoke", second.id)
    assert (inside / "crl.pem").read_text() != old
    assert sorted(first.files()) == files


def test_usage(first):
    assert 'Unknown command "cluster frobnicate"' in first.cluster("frobnicate", code=USAGE).stderr
    assert "--force cannot be used with cluster status" in first.cluster("status", "--force", code=USAGE).stderr
    assert "--host cannot be used with cluster renew" in first.cluster("renew", "-H", "x", code=USAGE).stderr
    first_joined = joined(first.machine, first)
    assert "this machine has none" in first_joined.cluster("renew", "root@x", ADDRESS, code=USAGE).stderr
    assert "cannot be combined" in first.cluster("join", "--request", "--accept", code=USAGE).stderr
    assert "Usage: alidadectl cluster revoke NODE" in first.cluster("revoke", code=USAGE).stderr
    assert "--broker" in first.cluster("--help").stdout


# Bridges of sites

def test_a_bridge_is_signed_for_a_broker_that_is_in(machine, first):
    second = joined(machine, first, "second", "--broker", "--address=192.0.2.2")
    request = second.cluster("renew", "--request").stdout
    certificate, refused = machine.dir / "bridge.crt", {}
    first.cluster("sign-bridge", "site2", f"--output={certificate}", text_in=request)
    assert common_name(certificate) == "bridge-site2"
    for name, text in (("no broker", joined(machine, first, "third").cluster("renew", "--request").stdout),
                       ("not joined", Seat(machine, "other").cluster("join", "--request", "--broker").stdout),
                       ("rubbish", "x")):
        refused[name] = first.cluster("sign-bridge", "site3", text_in=text, code=ERROR).stderr
    assert "is not from a broker" in refused["no broker"] and "has not joined" in refused["not joined"]
    assert "not a valid site name" in first.cluster("sign-bridge", "a/b", text_in=request, code=USAGE).stderr
    rights = (first.mosquitto / "alidade.acl").read_text()
    assert rights.endswith("user bridge-site2\ntopic readwrite alidade/1/lab/#\n")
    first.cluster("sign-bridge", "site2", text_in=request)
    first.cluster("init", "lab", ADDRESS)
    assert (first.mosquitto / "alidade.acl").read_text() == rights
    (first.mosquitto / "alidade.acl").write_text(rights.strip())
    first.cluster("sign-bridge", "site4", text_in=request)
    assert (first.mosquitto / "alidade.acl").read_text() == rights + rights[rights.index("user "):].replace("2", "4")
    first.cluster("revoke", "bridge-site2")
    assert first.crl() == {serial(certificate)}, "the second run made no other"


def test_a_site_has_one_bridge(machine, first):
    second = joined(machine, first, "second", "--broker", "--address=192.0.2.2")
    third = joined(machine, first, "third", "--broker", "--address=192.0.2.3")
    one = first.cluster("sign-bridge", "site2", text_in=second.cluster("renew", "--request").stdout).stdout
    request = third.cluster("renew", "--request").stdout
    assert "--replace" in first.cluster("sign-bridge", "site2", text_in=request, code=ERROR).stderr
    first.cluster("sign-bridge", "site2", "--replace", text_in=request)
    (machine.dir / "one.crt").write_text(one)
    assert first.crl() == {serial(machine.dir / "one.crt")}


def test_a_machine_installed_anew_loses_its_bridge(machine, first):
    second = joined(machine, first, "second", "--broker", "--address=192.0.2.2")
    first.cluster("sign-bridge", "site2", text_in=second.cluster("renew", "--request").stdout)
    first.cluster("sign", "--replace", text_in=make_request(machine.dir, second.id))
    assert len(first.crl()) == 3
