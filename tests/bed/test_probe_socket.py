# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidade-probe-socket between two machines: real links, real kernels, and peers of ill will."""

import contextlib
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import threading
import time

import pytest

from bedlib import Machine, network
from bedlib.fixtures import needs_namespaces
from bedlib.pki import Authority
from bedlib.probe import (PORT, FalseServer, Keys, Server, call, json_lines, kill, measure, open_data, program,
                          result_of, socket_in, start, wait_phase)
from bedlib.waiting import wait_steadily

LEFT, RIGHT, ASIDE = "192.0.2.1", "192.0.2.2", "192.0.2.3"
A, B, C = "a" * 32, "b" * 32, "c" * 32
SO_RCVBUFFORCE = 33
PAYLOAD = 1448 / 1514  # of what a token bucket counts
ENOUGH = 1 << 26  # bytes, of which those that the kernel has acknowledged and nobody read are no great part
FULL_BYTES = 1 << 20
INSTANT = 10 ** 6  # nanoseconds, in which nobody can have sent that

pytestmark = needs_namespaces


@pytest.fixture
def pair():
    """Two machines and a cable."""
    with Machine("left") as left, Machine("right") as right:
        network.add_veth(left, "eth0", "eth0", right)
        for machine, number in ((left, 1), (right, 2)):
            network.add_address(machine, "eth0", f"192.0.2.{number}/24")
            network.add_address(machine, "eth0", f"fe80::{number}/64")
        yield left, right


@pytest.fixture
def keys(tmp_path):
    return Keys(tmp_path)


def shape(machine, mbit, burst):
    machine.run(["tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", f"{mbit}mbit", "burst", burst,
                 "latency", "20ms"])


# What is measured


def test_each_direction_has_its_own_rate(pair, keys):
    left, right = pair
    shape(left, 50, 16000)
    shape(right, 200, 32000)
    server = Server(right, f"--key-file={keys.file}")
    found = measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    # Other work on the machine may take some; the benchmark of links is there for what is exact.
    assert found["UploadBitsPerSecond"] == pytest.approx(50e6 * PAYLOAD, rel=0.2)
    assert found["DownloadBitsPerSecond"] == pytest.approx(200e6 * PAYLOAD, rel=0.2)
    assert found["SinkAddress"] == RIGHT and found["SourceInterface"] == "eth0"
    assert found["RttMinNSec"] <= found["RttP50NSec"] <= found["RttP99NSec"]
    assert found["LoadedRttP50NSec"] > found["RttMinNSec"]
    assert found["LoadedSeconds"] == pytest.approx(max(found["UploadSeconds"], found["DownloadSeconds"]), abs=0.5)
    assert found["RttSamples"] > 0
    assert found.get("Limiter") in (None, "network", "receiver", "sender", "application")
    assert "Sink" not in found
    report, = server.wait_reports(1)
    assert report["received"] >= found["UploadBytes"] and report["sent"] >= found["DownloadBytes"]
    assert report["address"] == LEFT and report["interface"] == "eth0"
    server.check_idle()


def test_limits_hold(pair, keys):
    left, right = pair
    Server(right, f"--key-file={keys.file}", "--bytes-max=20M", "--streams-max=1")
    found = measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}", "--bytes-max=5M")
    for way in ("Upload", "Download"):
        assert 4_000_000 < found[f"{way}Bytes"] < 6_000_000
        assert found[f"{way}Streams"] == 1
        # So soon over, it was limited by nothing that can be told.
        assert found[f"{way}Bins"] > 0 or f"{way}Limiter" not in found


def test_round_trip_alone(pair, keys):
    left, right = pair
    Server(right, f"--key-file={keys.file}")
    found = measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}", "--rtt-only")
    assert "RttP50NSec" in found and "UploadBitsPerSecond" not in found


def test_fewer_connections_than_the_server_takes(pair, keys):
    """The server judges, and asks for no more than the client takes."""
    left, right = pair
    begun = []

    def play(server, talk):
        server.welcome(talk)
        server.echo(talk)
        begun.append(server.until_begin(talk))

    server = FalseServer(right, RIGHT, keys.issue(B), play)
    measure(left, f"--connect={RIGHT}", f"--identity={keys.issue(A)}", "--streams-max=1")
    server.close()
    assert begun[0]["StreamsMax"] == 1


def test_few_round_trips(pair, keys):
    left, right = pair
    server = Server(right, f"--key-file={keys.file}")
    found = measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}", "--round-trips")
    assert found["Scope"] == "round-trips" and found["RttSamples"] > 0
    assert found["SourceInterface"] == "eth0" and found["SinkInterface"] == "eth0"
    assert "UploadBitsPerSecond" not in found and "SpotUploadBitsPerSecond" not in found
    report, = server.wait_reports(1)
    assert report["bytes"] == 0
    server.check_idle()


def begin_upload(talk, msec):
    """Opens the connection for round trips first, as each client does."""
    talk.say("SocketOpen", Purpose="rtt", Count=1)
    assert len(talk.hear_only("SocketTokens")["Tokens"]) == 1
    talk.say("SocketBegin", Direction="upload", DurationMaxMSec=msec, BytesMax=10 ** 9, StreamsMax=1, MinRttNSec=0)


def test_a_client_that_is_late_to_connect(pair, keys):
    """An upload does not count as one that carries nothing before its first connection could be opened."""
    left, right = pair
    Server(right, f"--identity={keys.issue(B)}")
    talk, _ = call(left, RIGHT, keys.issue(A))
    with talk:
        begin_upload(talk, 100)
        # Nothing is to come: a server that has given up says so after a tenth of a second.
        assert not select.select([talk.tls], [], [], 1)[0]
        talk.say("SocketOpen", Purpose="upload", Count=1)
        assert talk.hear()[0] == "SocketTokens"
        assert talk.hear()[0] == "SocketNoRate"


def test_the_first_data_is_late(pair, keys):
    """As where packets that open a connection get lost: the agreed time ends the upload with a rate all the same."""
    left, right = pair
    Server(right, f"--identity={keys.issue(B)}")
    talk, welcome = call(left, RIGHT, keys.issue(A))
    with talk:
        begin_upload(talk, 4200)
        talk.say("SocketOpen", Purpose="upload", Count=1)
        token = talk.hear_only("SocketTokens")["Tokens"][0]
        # If it counted from the first data, it would not have ended when the server gives up, 3 s after that time.
        assert not select.select([talk.tls], [], [], 3.6)[0]
        with open_data(left, RIGHT, welcome["Port"], token) as data:
            while not select.select([talk.tls], [], [], 0.02)[0]:
                data.sendall(b"x" * 1000)
            assert talk.hear()[0] == "SocketVerdict"


def test_an_upload_is_opened_once(pair, keys):
    """Its time begins then, so a second time would keep the session open, and others out."""
    left, right = pair
    server = Server(right, f"--identity={keys.issue(B)}")
    talk, _ = call(left, RIGHT, keys.issue(A))
    with talk:
        begin_upload(talk, 4200)
        for _ in range(2):
            talk.say("SocketOpen", Purpose="upload", Count=1)
        talk.hear_only("SocketTokens")
        assert talk.hear()[0] == "ProbeAbort"
    server.check_idle()


def test_an_unfinished_spot_check_is_counted(pair, keys):
    left, right = pair
    server = Server(right, f"--identity={keys.issue(B)}")
    talk, welcome = call(left, RIGHT, keys.issue(A))
    with talk:
        talk.say("SocketOpen", Purpose="spot-download", Count=1)
        with open_data(left, RIGHT, welcome["Port"], talk.hear_only("SocketTokens")["Tokens"][0]) as data:
            got = len(data.recv(1000))
            talk.say("SocketBye")
            report, = server.wait_reports(1)
    assert report["sent"] >= got > 0
    server.check_idle()


def test_check_shows_a_changed_link(pair, keys):
    left, right = pair
    shape(left, 1000, 128000)
    shape(right, 50, 16000)
    server = Server(right, f"--key-file={keys.file}")
    common = [f"--connect={RIGHT}", f"--key-file={keys.file}"]
    full = measure(left, *common, "--bytes-max=20M")
    assert full["Scope"] == "full" and ("SpotUploadBitsPerSecond" in full or "SpotReason" in full)
    left.run(["tc", "qdisc", "del", "dev", "eth0", "root"])
    shape(left, 300, 48000)
    # In 10 ms in which other work has the machine there is nothing to tell a rate by.
    for number in range(2, 12):
        check = measure(left, *common, "--check")
        assert check["Scope"] == "check" and "UploadBitsPerSecond" not in check
        report = server.wait_reports(number)[-1]
        assert 0 < report["bytes"] < 3_000_000
        if "SpotReason" not in check:
            break
    # While other work has the machine, the shapers save up a burst: 38 Mb/s of 300 in 10 ms, and 13 of 50.
    assert check["SpotUploadBitsPerSecond"] < 400e6
    assert check["SpotDownloadBitsPerSecond"] < 80e6
    server.check_idle()


def test_no_spot_check_over_a_long_way(pair, keys):
    """A queue that others fill is as long a way."""
    left, right = pair
    shape(left, 0.5, 16000)
    Server(right, f"--key-file={keys.file}")
    with flood(left):
        found = measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}", "--check")
    assert "too long" in found["SpotReason"] and "SpotUploadBitsPerSecond" not in found


@contextlib.contextmanager
def flood(machine, address=RIGHT, rate=None):
    """Datagrams from a machine: b/s, or as many as its link takes, which has all its queue can hold from the start."""
    sending, full, over = socket_in(machine, kind=socket.SOCK_DGRAM), threading.Event(), threading.Event()

    def send():
        begun, sent = time.monotonic(), 0
        while not over.is_set():
            if rate and sent * 8 > rate * (time.monotonic() - begun):
                over.wait(0.005)
                continue
            with contextlib.suppress(OSError):
                sent += sending.sendto(b"x" * 1400, (address, 9))
            if rate or sent > FULL_BYTES:
                full.set()

    thread = threading.Thread(target=send)
    thread.start()
    full.wait()
    yield
    over.set()
    thread.join()
    sending.close()


def test_other_traffic_shows(pair, keys):
    left, right = pair
    for machine in pair:
        shape(machine, 50, 16000)
    Server(right, f"--key-file={keys.file}")
    common = [f"--connect={RIGHT}", f"--key-file={keys.file}"]
    quiet = measure(left, *common)
    with flood(left):
        busy = measure(left, *common)
    for way in ("Upload", "Download"):
        assert quiet[f"{way}OtherBitsPerSecond"] < 2e6
    assert busy["UploadOtherBitsPerSecond"] > 10e6
    assert busy["DownloadOtherBitsPerSecond"] < 2e6


def test_other_traffic_shows_where_the_queue_drops(keys):
    """BBR goes on where a queue drops: what it sends then is more than what the interface lets pass."""
    with Machine("switch") as switch, Machine("left") as left, Machine("right") as right, Machine("aside") as aside:
        network.add_bridge(switch, "br0")
        for machine, address in ((left, LEFT), (right, RIGHT), (aside, ASIDE)):
            network.join_bridge(switch, "br0", machine, "eth0", f"{address}/24")
        if "bbr" not in left.run(["sysctl", "-n", "net.ipv4.tcp_available_congestion_control"]).stdout:
            pytest.skip("the kernel has no BBR")
        network.ip(left, "route", "replace", "192.0.2.0/24", "dev", "eth0", "congctl", "bbr")
        shape(left, 50, 16000)
        Server(right, f"--key-file={keys.file}")
        with flood(left, ASIDE, 15e6):
            found = measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    assert found["UploadBitsPerSecond"] < 45e6
    assert found["UploadOtherBitsPerSecond"] > 6e6


@pytest.mark.parametrize("offload", ("on", "off"))
def test_own_losses_are_no_other_traffic(keys, offload):
    """BBR loses segments in the queue of its interface and in a second one: the interface has counted only those of
    the second one."""
    with Machine("switch") as switch, Machine("left") as left, Machine("right") as right, Machine("aside") as aside:
        network.add_bridge(switch, "br0")
        for machine, address in ((left, LEFT), (right, RIGHT), (aside, ASIDE)):
            network.join_bridge(switch, "br0", machine, "eth0", f"{address}/24")
        if "bbr" not in left.run(["sysctl", "-n", "net.ipv4.tcp_available_congestion_control"]).stdout:
            pytest.skip("the kernel has no BBR")
        network.ip(left, "route", "replace", "192.0.2.0/24", "dev", "eth0", "congctl", "bbr")
        # With one segment at most in a packet nothing is cut later on.
        if offload == "off":
            network.ip(left, "link", "set", "eth0", "gso_max_segs", "1")
        shape(left, 25, 16000)
        network.shape(switch, right.name, 15_000_000)
        Server(right, f"--key-file={keys.file}")
        common = [f"--connect={RIGHT}", f"--key-file={keys.file}"]
        quiet = measure(left, *common)
        with flood(left, ASIDE, 5e6):
            busy = measure(left, *common)
    assert quiet.get("UploadOtherBitsPerSecond", 0) < 0.02 * quiet["UploadBitsPerSecond"]
    assert busy["UploadOtherBitsPerSecond"] == pytest.approx(5e6, rel=0.3)


def test_slow_link(pair, keys):
    left, right = pair
    shape(left, 0.06, 8000)
    shape(right, 50, 16000)
    Server(right, f"--key-file={keys.file}")
    found = result_of(start(left, f"--connect={RIGHT}", f"--key-file={keys.file}"), deadline=60)
    true = 60e3 * PAYLOAD
    assert found["UploadBitsPerSecond"] == pytest.approx(true, rel=0.1 + found["UploadInterval"] / 100)
    assert 0 < found["UploadInterval"] <= 100
    assert found["UploadSeconds"] < 21
    assert found["LoadedRttP50NSec"] < 8e9


def test_nothing_arrives(pair, keys):
    """Only what is short passes: there is a reason instead of a rate, and the other direction is measured."""
    left, right = pair
    shape(left, 10, 600)
    Server(right, f"--key-file={keys.file}")
    common = [f"--connect={RIGHT}", f"--key-file={keys.file}", "--seconds-max=2"]
    found = measure(left, *common)
    assert "UploadBitsPerSecond" not in found and "no complete segment" in found["UploadReason"]
    assert found["DownloadBitsPerSecond"] > 0 and "DownloadReason" not in found
    assert "Upload      unknown: no complete segment" in left.run([program(), *common]).stdout


def test_full_packets_get_lost(keys):
    """Between ends that agree on an MTU of 9000, something passes on no more than 1500 bytes and says nothing."""
    with Machine("switch") as switch, Machine("left") as left, Machine("right") as right:
        network.add_bridge(switch, "br0")
        for machine, address in ((left, LEFT), (right, RIGHT)):
            network.join_bridge(switch, "br0", machine, "eth0", f"{address}/24")
            network.ip(machine, "link", "set", "eth0", "mtu", "9000")
            # The kernel takes packets that are yet to be cut into segments for small ones; a bucket cuts them.
            shape(machine, 50, 16000)
        server = Server(right, f"--identity={keys.issue(B)}")
        common = [f"--connect={RIGHT}", f"--identity={keys.issue(A)}"]
        found = measure(left, *common, "--seconds-max=2")
        server.wait_reports(1)
    assert found["RttP50NSec"] > 0 and found["RttSamples"] >= 200
    for way in ("Upload", "Download"):
        assert f"{way}BitsPerSecond" not in found
        assert "packets of 9000 bytes" in found[f"{way}Reason"] and "MTU of eth0" in found[f"{way}Reason"]


def test_link_local_address(pair, keys):
    left, right = pair
    Server(right, f"--key-file={keys.file}")
    found = measure(left, "--connect=fe80::2%eth0", f"--key-file={keys.file}", "--bytes-max=1M")
    assert found["SinkAddress"] == "fe80::2" and found["SourceInterface"] == "eth0"
    assert found["UploadBytes"] > 0 and found["DownloadBytes"] > 0


def test_device_and_source(pair, keys):
    left, right = pair
    Server(right, f"--key-file={keys.file}")
    common = [f"--connect={RIGHT}", f"--key-file={keys.file}", "--rtt-only"]
    network.add_address(left, "eth0", "192.0.2.9/24")
    assert "error" not in measure(left, *common, "--bind-device=eth0", "--source=192.0.2.9")
    assert measure(left, *common, "--bind-device=eth7")["error"] == "unreachable"
    assert measure(left, *common, "--source=198.51.100.1")["error"] == "unreachable"
    assert "Address family" in measure(left, *common, "--source=fe80::1%eth0")["message"]
    local = ["--connect=fe80::2", f"--key-file={keys.file}", "--rtt-only"]
    assert "fe80::1%eth0" in measure(left, *local)["message"]
    assert "error" not in measure(left, *local, "--bind-device=eth0")
    assert "interface" in measure(left, "--connect=fe80::2%eth7", f"--key-file={keys.file}")["message"]


def test_for_people(pair, keys):
    left, right = pair
    server = right.spawn([program(), "--listen", f"--key-file={keys.file}", "--once"])
    wait_steadily(lambda: "Listening on port 7461" in server.log_text(), "the probe to listen")
    told = left.run([program(), f"--connect={RIGHT}", f"--key-file={keys.file}"]).stdout
    for word in (RIGHT, "by eth0", "Upload", "Download", "Round trip"):
        assert word in told
    assert server.wait() == 0
    assert "from there" in server.log_text()


# Who is whom


def test_cluster_members(pair, keys):
    left, right = pair
    a, b = keys.issue(A), keys.issue(B)
    server = Server(right, f"--identity={b}")
    found = measure(left, f"--connect={RIGHT}", f"--identity={a}", f"--peer={B}", "--rtt-only")
    assert found["Sink"] == B
    assert server.wait_reports(1)[0]["peer"] == A


def test_address_of_another_node(pair, keys):
    left, right = pair
    a, b = keys.issue(A), keys.issue(B)
    server = Server(right, f"--identity={b}")
    found = measure(left, f"--connect={RIGHT}", f"--identity={a}", f"--peer={C}")
    assert found["error"] == "wrong-peer"
    server.check_idle()


def test_server_expects_another(pair, keys):
    left, right = pair
    a, b = keys.issue(A), keys.issue(B)
    Server(right, f"--identity={b}", f"--peer={C}")
    assert measure(left, f"--connect={RIGHT}", f"--identity={a}")["error"] == "tls-failed"


@pytest.mark.parametrize("who", ["client", "server"])
def test_revoked(pair, keys, who):
    left, right = pair
    a, b = keys.issue(A), keys.issue(B)
    keys.authority.revoke((a if who == "client" else b) / "node.crt")
    newer = keys.folder / "newer.pem"
    keys.authority.write_crl(newer)
    Server(right, f"--identity={b}", *([f"--crl={newer}"] if who == "client" else []))
    found = measure(left, f"--connect={RIGHT}", f"--identity={a}", *([f"--crl={newer}"] if who == "server" else []))
    assert found["error"] == "tls-failed"
    assert "revoked" in found["message"]


def test_other_cluster(pair, keys):
    left, right = pair
    Server(right, f"--identity={keys.issue(B)}")
    stranger = keys.issue(A, Authority(keys.folder / "other", "other"))
    assert measure(left, f"--connect={RIGHT}", f"--identity={stranger}")["error"] == "tls-failed"


def test_wrong_key(pair, keys):
    left, right = pair
    server = Server(right, f"--key-file={keys.file}")
    found = measure(left, f"--connect={RIGHT}", f"--key-file={keys.write_key('other')}")
    assert found["error"] == "tls-failed" and "differ" in found["message"]
    assert server.wait_reports(1)[0]["error"] == "tls-failed"
    assert measure(left, f"--connect={RIGHT}", f"--identity={keys.issue(A)}")["error"] == "tls-failed"
    server.check_idle()


# Nobody there, or no time


def test_nobody_listens(pair, keys):
    left, _ = pair
    assert measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}")["error"] == "refused"
    assert measure(left, "--connect=203.0.113.1", f"--key-file={keys.file}")["error"] == "unreachable"


@pytest.mark.parametrize("address", ["203.0.113.1", "2001:db8::1"])
def test_a_route_discards(pair, keys, address):
    """Item 17: the kernel calls the address invalid; the route is at fault."""
    left, _ = pair
    network.ip(left, "route", "add", "blackhole", address)
    found = measure(left, f"--connect={address}", f"--key-file={keys.file}")
    assert found["error"] == "unreachable" and "discards what is sent there (blackhole)" in found["message"]


def test_address_answers_nothing(pair, keys):
    left, right = pair
    network.set_up(right, "eth0", False)
    found = measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    assert found["error"] in ("unreachable", "timeout") and found["message"].startswith(f"{RIGHT} port 7461: ")


def test_data_ports_are_closed(pair, keys):
    """As by a firewall that knows of the control connection alone; findings read this message."""
    left, right = pair
    Server(right, f"--key-file={keys.file}")
    network.ip(left, "rule", "add", "to", RIGHT, "ipproto", "tcp", "dport", "7462-7477", "unreachable")
    found = measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    assert found["error"] == "unreachable" and found["message"] == (
        f"{RIGHT} port 7462: Network is unreachable; data connections use TCP ports 7462 to 7477")


def test_port_in_use(pair, keys):
    _, right = pair
    Server(right, f"--key-file={keys.file}")
    again = right.run([program(), "--listen", f"--key-file={keys.file}"], check=False)
    assert again.returncode == 1 and "7461" in again.stderr and "in use" in again.stderr


@pytest.mark.parametrize("kind", ["busy", "inhibited"])
def test_told_off(pair, keys, kind):
    left, right = pair
    Server(right, f"--key-file={keys.file}", f"--{kind}=the link is in use (alice)")
    found = measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    assert found["error"] == kind and "the link is in use (alice)" in found["message"]


def test_one_session_at_a_time(pair, keys):
    left, right = pair
    a, b = keys.issue(A), keys.issue(B)
    Server(right, f"--identity={b}")
    talk, _ = call(left, RIGHT, a)
    with talk:
        assert measure(left, f"--connect={RIGHT}", f"--identity={a}")["error"] == "busy"
    wait_steadily(lambda: "error" not in measure(left, f"--connect={RIGHT}", f"--identity={a}", "--rtt-only"),
                  "the first session to be over")


def test_one_session_is_not_ended_by_the_next(pair, keys):
    left, right = pair
    a, b = keys.issue(A), keys.issue(B)
    server = Server(right, f"--identity={b}", "--once")
    talk, _ = call(left, RIGHT, a)
    assert measure(left, f"--connect={RIGHT}", f"--identity={a}")["error"] == "busy"
    server.wait_reports(1)
    with talk:
        talk.say("SocketOpen", Purpose="rtt", Count=1)
        assert talk.hear_only("SocketTokens")
        talk.say("SocketBye")
    assert server.process.wait() == 0


# Clients of ill will

TLS_BEGIN = b"\x16\x03\x01\x02\x00"
IDLE_EFFORT = {"Busy": 0, "Rwnd": 0, "Sndbuf": 0, "Idle": 0, "Spare": 0, "Lost": 0, "Standing": 0}


def drip(send):
    """A byte a second until nobody takes them any more."""
    with contextlib.suppress(OSError):
        while True:
            send(b"\0")
            time.sleep(1)


def garbage_first(left, folder):
    plain = socket_in(left)
    plain.connect((RIGHT, PORT))
    # It may be refused before all of it is sent.
    with contextlib.suppress(ConnectionError):
        plain.sendall(TLS_BEGIN + b"\0" * 100_000)
    return plain


def garbage_later(left, folder):
    talk, _ = call(left, RIGHT, folder)
    talk.write(b"\xff" * 5000)
    return talk


def no_json(left, folder):
    talk, _ = call(left, RIGHT, folder)
    talk.write(b"\0\0\0\4nope")
    return talk


def out_of_turn(left, folder):
    talk, _ = call(left, RIGHT, folder)
    talk.say("SocketOpen", Purpose="upload", Count=1)
    assert talk.hear_only("ProbeAbort")["Reason"] == "protocol"
    return talk


def too_many_connections(left, folder):
    talk, _ = call(left, RIGHT, folder)
    talk.say("SocketBegin", Direction="download", DurationMaxMSec=1000, BytesMax=1000, StreamsMax=8, MinRttNSec=0)
    for _ in range(3):
        talk.say("SocketOpen", Purpose="download", Count=8)
    assert talk.hear_only("ProbeAbort")["Reason"] == "limit"
    return talk


def sends_nothing(left, folder):
    talk, welcome = call(left, RIGHT, folder)
    talk.say("SocketBegin", Direction="upload", DurationMaxMSec=1000, BytesMax=1000, StreamsMax=8, MinRttNSec=0)
    talk.say("SocketOpen", Purpose="upload", Count=1)
    token = talk.hear_only("SocketTokens")["Tokens"][0]
    data = open_data(left, RIGHT, welcome["Port"], token)
    assert talk.hear_only("ProbeAbort")["Reason"] == "timeout"
    data.close()
    return talk


def stops_within_upload(left, folder):
    talk, welcome = call(left, RIGHT, folder)
    talk.say("SocketBegin", Direction="upload", DurationMaxMSec=5000, BytesMax=10 ** 9, StreamsMax=8, MinRttNSec=0)
    talk.say("SocketOpen", Purpose="upload", Count=1)
    data = open_data(left, RIGHT, welcome["Port"], talk.hear_only("SocketTokens")["Tokens"][0])
    data.sendall(b"x" * 100_000)
    data.close()
    assert talk.hear_only("ProbeAbort")["Reason"] == "aborted"
    return talk


def sends_too_much(left, folder):
    talk, welcome = call(left, RIGHT, folder)
    talk.say("SocketBegin", Direction="upload", DurationMaxMSec=5000, BytesMax=10 ** 6, StreamsMax=8, MinRttNSec=0)
    talk.say("SocketOpen", Purpose="upload", Count=1)
    data = open_data(left, RIGHT, welcome["Port"], talk.hear_only("SocketTokens")["Tokens"][0])
    with contextlib.suppress(ConnectionError), data:
        while True:
            data.sendall(b"x" * 1_000_000)
    assert talk.hear_only("SocketVerdict")["Bytes"] >= 10 ** 6
    talk.say("SocketBye")
    return talk


def never_stops_talking(left, folder):
    talk, _ = call(left, RIGHT, folder)
    talk.say("SocketBegin", Direction="upload", DurationMaxMSec=5000, BytesMax=10 ** 9, StreamsMax=8, MinRttNSec=0)
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        talk.say("SocketEffort", 10_000, **IDLE_EFFORT)
    return talk


def speaks_slowly(left, folder):
    """A byte now and then buys no more time than none."""
    talk, _ = call(left, RIGHT, folder)
    talk.write(b"\0\0\x0f\xff")
    drip(talk.write)
    return talk


def shakes_hands_slowly(left, folder):
    plain = socket_in(left)
    plain.connect((RIGHT, PORT))
    plain.sendall(TLS_BEGIN)
    drip(plain.sendall)
    return plain


def replays_token(left, folder):
    talk, welcome = call(left, RIGHT, folder)
    talk.say("SocketOpen", Purpose="rtt", Count=1)
    token = talk.hear_only("SocketTokens")["Tokens"][0]
    first = open_data(left, RIGHT, welcome["Port"], token)
    first.sendall(b"ping")
    assert first.recv(4) == b"ping"
    for text in (token, "0" * 32, "x" * 32):
        second = open_data(left, RIGHT, welcome["Port"], text)
        with contextlib.suppress(ConnectionError):
            assert second.recv(4) == b""
        second.close()
    first.sendall(b"pong")
    assert first.recv(4) == b"pong"
    first.close()
    talk.say("SocketBye")
    return talk


@pytest.mark.parametrize("attack, error", [
    (garbage_first, "tls-failed"), (garbage_later, "protocol"), (no_json, "protocol"), (out_of_turn, "protocol"),
    (too_many_connections, "limit"), (sends_nothing, "timeout"), (stops_within_upload, "aborted"),
    (sends_too_much, None), (never_stops_talking, "limit"), (speaks_slowly, "timeout"),
    (shakes_hands_slowly, "timeout"), (replays_token, None),
], ids=lambda value: getattr(value, "__name__", str(value)).replace("_", "-"))
def test_bad_client(pair, keys, attack, error):
    left, right = pair
    a, b = keys.issue(A), keys.issue(B)
    server = Server(right, f"--identity={b}")
    ended = attack(left, a)
    report, = server.wait_reports(1)
    assert report.get("error") == error
    # Between two looks no more than a part of a second comes.
    assert report["received"] < 500_000_000
    ended.close()
    server.check_idle()
    assert "error" not in measure(left, f"--connect={RIGHT}", f"--identity={a}", "--rtt-only")


def test_more_connections_than_agreed(pair, keys):
    left, right = pair
    Server(right, f"--identity={keys.issue(B)}", "--streams-max=1")
    talk, welcome = call(left, RIGHT, keys.issue(A))
    talk.say("SocketBegin", Direction="download", DurationMaxMSec=5000, BytesMax=10 ** 9, StreamsMax=8, MinRttNSec=0)
    tokens = []
    for _ in range(2):
        talk.say("SocketOpen", Purpose="download", Count=1)
        tokens += talk.hear_only("SocketTokens")["Tokens"]
    with talk, open_data(left, RIGHT, welcome["Port"], tokens[0]) as first:
        assert first.recv(1)
        with open_data(left, RIGHT, welcome["Port"], tokens[1]) as second, contextlib.suppress(ConnectionError):
            assert second.recv(1) == b""


def test_flood_of_data_connections(pair, keys):
    """Who has no token only takes the place of another who has none."""
    left, right = pair
    shape(right, 50, 16000)
    server = Server(right, f"--key-file={keys.file}")
    client = start(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    wait_phase(client, "upload")
    session, = server.children()
    strangers = []
    for _ in range(100):
        strangers.append(socket_in(left))
        strangers[-1].setblocking(False)
        strangers[-1].connect_ex((RIGHT, PORT + 1))
    wait_phase(client, "download")
    with contextlib.suppress(FileNotFoundError):
        assert len(os.listdir(f"/proc/{session}/fd")) < 32
    assert "error" not in result_of(client)
    for stranger in strangers:
        stranger.close()
    server.check_idle()


def connect_strangers(left, begin):
    """Twelve connections, each of which sends no more than that."""
    strangers = [socket_in(left) for _ in range(12)]
    for stranger in strangers:
        stranger.connect((RIGHT, PORT))
        # It may be refused at once.
        with contextlib.suppress(ConnectionError):
            stranger.sendall(begin)
    return strangers


def test_silent_clients(pair, keys):
    """Who says nothing costs no process, and others not their turn for long."""
    left, right = pair
    a, b = keys.issue(A), keys.issue(B)
    server = Server(right, f"--identity={b}")
    strangers = connect_strangers(left, b"")
    wait_steadily(lambda: "error" not in measure(left, f"--connect={RIGHT}", f"--identity={a}", "--rtt-only"),
                  "a client to have its turn")
    server.check_idle()
    assert [report.get("error") for report in server.reports()] == [None]
    for stranger in strangers:
        assert not stranger.recv(1)
        stranger.close()


def test_other_protocols(pair, keys):
    """They cost no process either."""
    left, right = pair
    server = Server(right, f"--identity={keys.issue(B)}")
    for begin in (b"GET / HTTP/1.0\r\n\r\n", b"\0", b"RDMA" + TLS_BEGIN):
        stranger = socket_in(left)
        stranger.connect((RIGHT, PORT))
        stranger.sendall(begin)
        with contextlib.suppress(ConnectionError):
            assert not stranger.recv(1)
        stranger.close()
    server.check_idle()
    assert not server.reports()


def test_unauthenticated_clients(pair, keys):
    """Two of one address have a process at the same time, and make room after half a second."""
    left, right = pair
    a, b = keys.issue(A), keys.issue(B)
    server = Server(right, f"--identity={b}")
    strangers = connect_strangers(left, TLS_BEGIN)
    wait_steadily(lambda: len(server.children()) == 2, "two to have a process")
    wait_steadily(lambda: "error" not in measure(left, f"--connect={RIGHT}", f"--identity={a}", "--rtt-only"),
                  "a client to have its turn")
    server.wait_reports(3, deadline=30)
    assert {report.get("error") for report in server.reports()} <= {None, "aborted", "timeout"}
    server.check_idle()
    for stranger in strangers:
        stranger.close()


# Servers of ill will


def never_answers(server, talk):
    talk.hear()


def other_version(server, talk):
    server.welcome(talk, Version=3)
    talk.hear()


def version_1(_, talk):
    """Its messages were JSON alone."""
    talk.say_text(json.dumps({"type": "welcome", "version": 1, "port": PORT + 1, "streams": 8, "msec": 5000,
                              "bytes": 1000}))
    talk.hear()


def invalid_token(server, talk):
    """It would be written to whatever listens at the port."""
    server.welcome(talk)
    talk.hear_only("SocketOpen")
    talk.say("SocketTokens", Tokens=["GET / HTTP/1.0 with 32 characters"[:32]])
    talk.hear_only("ProbeAbort")


def says_nonsense(server, talk):
    talk.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    talk.hear()


def never_echoes(server, talk):
    server.welcome(talk)
    server.let_in(talk)
    talk.hear_only("ProbeAbort")


def never_judges(server, talk):
    server.welcome(talk, DurationMaxMSec=1000)
    server.echo(talk)
    server.until_begin(talk)
    server.take(server.let_in(talk), 10 ** 12)


def judge(talk, bits_per_second, got, mean=1):
    talk.say("SocketVerdict", Streams=1, Bytes=got, MeanBitsPerSecond=mean, DurationNSec=INSTANT, Bins=1,
             Limiter="network", BitsPerSecond=bits_per_second)


def lie(talk, *figures):
    judge(talk, *figures)
    talk.hear_only("ProbeAbort")


def claims_more_bytes(server, talk):
    server.welcome(talk)
    server.echo(talk)
    server.until_begin(talk)
    data = server.let_in(talk)
    lie(talk, 1000, 100 * server.take(data, ENOUGH))


def claims_fewer_bytes(server, talk):
    server.welcome(talk)
    server.echo(talk)
    server.until_begin(talk)
    lie(talk, 1000, server.take(server.let_in(talk), ENOUGH) // 10)


def claims_a_mean(server, talk):
    server.welcome(talk)
    server.echo(talk)
    server.until_begin(talk)
    lie(talk, 1000, server.take(server.let_in(talk), ENOUGH), 10 ** 15)


def claims_a_rate(server, talk):
    server.welcome(talk)
    server.echo(talk)
    server.until_begin(talk)
    data = server.let_in(talk)
    lie(talk, 10 ** 14, server.take(data, ENOUGH))


def claims_more_in_a_spot_check(server, talk):
    server.welcome(talk)
    server.echo(talk)
    got = server.take(server.let_in(talk), 100_000)
    talk.say("SocketSpotResult", Bytes=got + 10 ** 9, BitsPerSecond=1000)
    talk.hear_only("ProbeAbort")


def claims_a_rate_in_a_spot_check(server, talk):
    server.welcome(talk)
    server.echo(talk)
    got = server.take(server.let_in(talk), 100_000)
    talk.say("SocketSpotResult", Bytes=got, BitsPerSecond=10 ** 15)
    talk.hear_only("ProbeAbort")


def never_ends_a_spot_check(server, talk):
    server.welcome(talk)
    server.echo(talk)
    server.let_in(talk)
    talk.hear_only("ProbeAbort")


def odd_interface(server, talk):
    server.welcome(talk, Interface="../../etc")
    talk.hear()


def closes_upload(server, talk):
    server.welcome(talk)
    server.echo(talk)
    server.until_begin(talk)
    server.let_in(talk).close()
    talk.close()


def more_streams_than_agreed(server, talk):
    server.welcome(talk, StreamsMax=1)
    server.echo(talk)
    server.until_begin(talk)
    server.let_in(talk)
    talk.say("SocketMore", Tokens=["cd" * 16] * 8)
    talk.hear_only("ProbeAbort")


def echoes_slowly(server, talk):
    server.welcome(talk)
    data = server.let_in(talk)
    data.recv(64)
    drip(data.sendall)


def until_download(server, talk):
    """All is well until then: the connection that the data shall come on."""
    server.welcome(talk)
    server.echo(talk)
    server.until_begin(talk)
    judge(talk, 1000, server.take(server.let_in(talk), ENOUGH))
    return server.let_in(talk)


def sends_nothing_back(server, talk):
    until_download(server, talk)
    talk.hear_only("ProbeAbort")


def stops_within_download(server, talk):
    until_download(server, talk).sendall(b"x" * 100_000)
    talk.hear_only("ProbeAbort")


def closes_download(server, talk):
    until_download(server, talk).close()
    talk.hear_only("ProbeAbort")


def never_ends_download(server, talk):
    """Sends on, whatever it is told."""
    data = until_download(server, talk)
    with contextlib.suppress(ConnectionError):
        while True:
            data.sendall(b"x" * 1_000_000)
    talk.hear_only("ProbeAbort")


def talks_through_download(server, talk):
    until_download(server, talk)
    talk.say("SocketEffort", 10_000, **IDLE_EFFORT)


@pytest.mark.parametrize("play, error", [
    (never_answers, "timeout"), (other_version, "protocol"), (version_1, "protocol"),
    (invalid_token, "protocol"), (says_nonsense, "protocol"), (never_echoes, "timeout"),
    (never_judges, "timeout"), (claims_more_bytes, "protocol"), (claims_a_rate, "protocol"),
    (claims_more_in_a_spot_check, "protocol"), (claims_a_rate_in_a_spot_check, "protocol"),
    (never_ends_a_spot_check, "timeout"), (odd_interface, "protocol"),
    (claims_fewer_bytes, "protocol"), (claims_a_mean, "protocol"), (echoes_slowly, "timeout"),
    (closes_upload, "aborted"), (more_streams_than_agreed, "protocol"), (sends_nothing_back, "timeout"),
    (stops_within_download, "timeout"), (closes_download, "aborted"), (never_ends_download, "timeout"),
    (talks_through_download, "limit"),
], ids=lambda value: getattr(value, "__name__", value).replace("_", "-"))
def test_bad_server(pair, keys, play, error):
    left, right = pair
    a, b = keys.issue(A), keys.issue(B)
    server = FalseServer(right, RIGHT, b, play)
    found = measure(left, f"--connect={RIGHT}", f"--identity={a}", f"--peer={B}")
    assert found["error"] == error, found
    server.close()


@pytest.mark.parametrize("who", ["client", "server"])
def test_version_1(pair, keys, who):
    """Both sides say so at once."""
    left, right = pair
    if who == "server":
        server = FalseServer(right, RIGHT, keys.issue(B), version_1)
        found = measure(left, f"--connect={RIGHT}", f"--identity={keys.issue(A)}")
        server.close()
    else:
        server = Server(right, f"--identity={keys.issue(B)}")
        talk, _ = call(left, RIGHT, keys.issue(A))
        talk.say_text(json.dumps({"type": "open", "purpose": "rtt", "count": 1}))
        assert talk.hear_only("ProbeAbort")["Reason"] == "protocol"
        found, = server.wait_reports(1)
        talk.close()
    assert found["error"] == "protocol" and "version 2 of the protocol" in found["message"]


@pytest.mark.parametrize("fields, error, words", [
    ({"Reason": "busy", "Text": "the link is in use"}, "busy", "the other side: the link is in use"),
    ({"Reason": "too-hot", "Text": "95 °C", "Degrees": 95}, "aborted", "the other side: 95 °C"),
    ({"Reason": "limit", "Text": "\x1b[2J"}, "limit", "the other side: limit"),
], ids=["known", "newer", "unprintable"])
def test_refusal(pair, keys, fields, error, words):
    left, right = pair
    server = FalseServer(right, RIGHT, keys.issue(B), lambda _, talk: talk.say("ProbeAbort", **fields))
    found = measure(left, f"--connect={RIGHT}", f"--identity={keys.issue(A)}")
    server.close()
    assert (found["error"], found["message"]) == (error, words)


# The end of either side at any time


@pytest.mark.parametrize("phase", ["rtt", "upload", "download"])
def test_client_is_killed(pair, keys, phase):
    left, right = pair
    shape(right, 50, 16000)
    server = Server(right, f"--key-file={keys.file}")
    client = start(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    wait_phase(client, phase)
    client.kill()
    assert "error" in server.wait_reports(1)[0]
    server.check_idle()
    assert "error" not in measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}", "--rtt-only")


@pytest.mark.parametrize("phase", ["rtt", "upload", "download"])
def test_session_is_killed(pair, keys, phase):
    left, right = pair
    server = Server(right, f"--key-file={keys.file}")
    client = start(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    wait_phase(client, phase)
    session, = server.children()
    kill(session)
    assert result_of(client)["error"] in ("aborted", "timeout")
    server.check_idle()
    assert "error" not in measure(left, f"--connect={RIGHT}", f"--key-file={keys.file}", "--rtt-only")


def test_server_is_killed_with_its_session(pair, keys):
    left, right = pair
    server = Server(right, f"--key-file={keys.file}")
    client = start(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    wait_phase(client, "upload")
    session, = server.children()
    server.process.kill()
    assert result_of(client)["error"] in ("aborted", "timeout")
    wait_steadily(lambda: subprocess.run(["kill", "-0", str(session)], capture_output=True, check=False).returncode,
                  "the session to die with its parent")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_client_is_stopped(pair, keys, number):
    left, right = pair
    server = Server(right, f"--key-file={keys.file}")
    client = start(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    wait_phase(client, "upload")
    client.signal(number)
    assert result_of(client)["error"] == "aborted"
    assert server.wait_reports(1)[0]["error"] == "aborted"
    server.check_idle()


def test_interrupt_leaves_what_was_measured(pair, keys):
    left, right = pair
    Server(right, f"--key-file={keys.file}")
    client = left.spawn([program(), f"--connect={RIGHT}", f"--key-file={keys.file}", "--progress-fd=2"])
    client.excused = True
    wait_phase(client, "upload")
    client.signal(signal.SIGINT)
    assert client.wait() == 1
    told = client.log_text()
    assert "Round trip" in told and "Upload" not in told and "stopped by a signal" in told


def test_server_is_stopped(pair, keys):
    left, right = pair
    server = Server(right, f"--key-file={keys.file}")
    client = start(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    wait_phase(client, "download")
    server.process.signal(signal.SIGTERM)
    assert server.process.wait() == 0
    assert result_of(client)["error"] == "aborted"


def test_cable_is_pulled(pair, keys):
    """The address vanishes within a measurement."""
    left, right = pair
    server = Server(right, f"--key-file={keys.file}")
    client = start(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    wait_phase(client, "upload")
    network.delete_address(right, "eth0", f"{RIGHT}/24")
    assert result_of(client, deadline=60)["error"] in ("timeout", "aborted")
    server.wait_reports(1, deadline=60)
    server.check_idle()


# As the daemon runs it


def serve_accepted(machine, folder, *options):
    """A responder for the next connection, in a process that gets it accepted, and what it will report."""
    listening = socket_in(machine)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((RIGHT, PORT))
    listening.listen()
    ended = []

    def accept():
        connection = listening.accept()[0]
        connection.settimeout(None)
        theirs = connection.fileno()
        with subprocess.Popen(
                ["nsenter", f"--net=/proc/{machine.outer_pid}/ns/net", program(), f"--session-fd={theirs}",
                 f"--identity={folder}", "--report-fd=1", *options],
                pass_fds=[theirs], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            connection.close()
            listening.close()
            # It would be killed when the thread ends that started it: PR_SET_PDEATHSIG in prctl(2).
            ended.append((process, *process.communicate()))

    thread = threading.Thread(target=accept)
    thread.start()

    def report():
        thread.join(30)
        (process, told, complaints), = ended
        # The first comes as soon as it is known who it is.
        assert told.startswith('{"peer"'), f"{told}, status {process.returncode}: {complaints}"
        begun, result = map(json.loads, told.splitlines())
        assert begun == {"peer": A}
        return process.returncode, result

    return report


def test_accepted_connection(pair, keys):
    left, right = pair
    report = serve_accepted(right, keys.issue(B))
    found = measure(left, f"--connect={RIGHT}", f"--identity={keys.issue(A)}", "--bytes-max=1M")
    code, told = report()
    assert "error" not in found, found
    assert code == 0 and told["interface"] == "eth0" and told["peer"] == A
    assert told["bytes"] >= found["UploadBytes"] + found["DownloadBytes"]


def test_accepted_connection_is_refused(pair, keys):
    left, right = pair
    report = serve_accepted(right, keys.issue(B), "--inhibited=games")
    found = measure(left, f"--connect={RIGHT}", f"--identity={keys.issue(A)}")
    assert report()[1]["error"] == "inhibited"
    assert found["error"] == "inhibited"


def test_progress(pair, keys):
    left, right = pair
    Server(right, f"--key-file={keys.file}")
    client = start(left, f"--connect={RIGHT}", f"--key-file={keys.file}")
    result_of(client)
    told = [line for line in json_lines(client.log_text()) if "phase" in line]
    phases = [line["phase"] for line in told]
    assert sorted(set(phases), key=phases.index) == ["connect", "rtt", "upload", "download"]
    assert all(0 <= line["fraction"] <= 1 for line in told)


@pytest.mark.parametrize("host, protocol", [(RIGHT, 0x0800), ("fe80::2%eth0", 0x86dd)], ids=["ipv4", "ipv6"])
def test_data_is_marked_as_lower_effort(pair, keys, host, protocol):
    left, right = pair
    seen = socket_in(right, socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(protocol))
    seen.bind(("eth0", protocol))
    seen.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    seen.setblocking(False)
    Server(right, f"--key-file={keys.file}")
    measure(left, f"--connect={host}", f"--key-file={keys.file}", "--bytes-max=1M")
    classes = set()
    with contextlib.suppress(BlockingIOError):
        while packet := seen.recv(65536):
            # The control connection has only short ones.
            if len(packet) > 10_000:
                classes.add(packet[1] if protocol == 0x0800 else (packet[0] << 8 | packet[1]) >> 4 & 0xff)
    seen.close()
    assert {value & 0xfc for value in classes} == {0x04}
