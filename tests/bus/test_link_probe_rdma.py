# SPDX-License-Identifier: LGPL-2.1-or-later
"""link-probed on a bus: links over RDMA, with a probe that does as it is told, and with the real one where there is no
device. tests/vm has them with devices."""

import os
import signal

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.probe import Keys, Talk, socket_in
from bedlib.waiting import wait_steadily
from link_probe import ACTION, ADDRESS, JOB, LINK_PROBE, OTHER, PEER
from rdma_probe import FIGURES, NET_DEV, PEER_PORT, PORT, RdmaProbe, port
from test_link_probe import INHIBITED, INVALID_ARGS, NO_SUCH_NODE, NOT_JOINED, REFUSALS, connect, probe_link, refused

ABSENT = 2 ** 64 - 1
NO_SUCH_DEVICE = "org.alidade.Error.NoSuchDevice"
WISH = "52444d41"
TLS = "160301"


# What is due


@needs_namespaces
def test_due_link_is_measured_and_shown(make_host):
    service = RdmaProbe(make_host, due=True)
    record = service.wait_rdma_link()
    shown = {name: value for name, value in record.items() if value not in ("", ABSENT, [])}
    assert shown.pop("MeasuredUSec") > 1_700_000_000_000_000 and shown.pop("UpdatedUSec")
    assert shown == {
        "Source": service.own_id, "Sink": PEER, "SourcePort": PORT, "SinkPort": PEER_PORT,
        "Transport": "roce", "UploadBitsPerSecond": 50_000_000, "DownloadBitsPerSecond": 200_000_000,
        "UploadInterval": 0.4, "DownloadInterval": 1.5, "UploadSpread": 2.0, "DownloadSpread": 3.25,
        "RttMinNSec": 40_000, "RttP50NSec": 50_000, "RttP99NSec": 90_000, "JitterNSec": 5_000,
        "MessageBytes": 65536, "QueuePairs": 1, "NegotiatedBitsPerSecond": 1_000_000_000, "Revision": 1}
    arguments, = service.probe.calls("rdma.")
    assert {f"--connect={ADDRESS}", "--port=7461", f"--peer={PEER}", f"--device={PORT}", f"--peer-device={PEER_PORT}",
            "--json", "--progress-fd=3", "--bytes-max=32000000000"} <= set(arguments)
    assert service.probe.calls() == []
    assert service.state.questions[0][1]["Kinds"] == ["Link1.Socket", "Link1.Rdma"]
    service.wait_idle()


@needs_namespaces
def test_machine_without_ports_asks_for_sockets_alone(make_host):
    service = RdmaProbe(make_host, ports=())
    wait_steadily(lambda: service.state.questions, "a question")
    assert service.state.questions[0][1]["Kinds"] == ["Link1.Socket"]


@needs_namespaces
def test_failure_is_reported_by_its_name(make_host):
    """Alone: the state service keeps the figures and counts failures."""
    service = RdmaProbe(make_host)
    assert service.wait_job(service.probe_rdma(), "done", "failed") == "done"
    service.probe.does("refused")
    job = service.probe_rdma()
    assert service.wait_job(job, "done", "failed") == "failed"
    assert service.job(job, "Error") == "refused: the peer is refused"
    record = service.rdma_link()
    assert record["Failure"] == "refused: the peer is refused" and record["FailedUSec"] != ABSENT
    assert {record[name] for name in ("UploadBitsPerSecond", "MeasuredUSec", "Failures")} == {ABSENT}


FAILURES = {
    "crash": "the probe failed: it was ended by signal 6 (Aborted)",
    "garbage": "the probe returned no result",
    "half": "the probe returned no result",
    "flood": "the probe sent too much output",
    "flood-side": "the probe sent too much output",
    "odd": "the probe returned no rates",
    "status": "the probe failed: it ended with status 7",
}


@needs_namespaces
def test_probe_that_misbehaves_costs_its_result_only(make_host):
    service = RdmaProbe(make_host)
    for behaviour, failure in FAILURES.items():
        service.probe.does(behaviour, **FIGURES)
        job = service.probe_rdma()
        assert service.wait_job(job, "done", "failed") == "failed", behaviour
        assert service.job(job, "Error") == failure == service.rdma_link()["Failure"], behaviour
        service.wait_idle()


@needs_namespaces
def test_figures_of_other_ports_are_none(make_host):
    service = RdmaProbe(make_host)
    service.probe.does("good", SourcePort="rxe1.1", SinkPort=PEER_PORT)
    service.wait_job(service.probe_rdma(), "done", "failed")
    record = service.rdma_link()
    assert (record["Failure"], record["UploadBitsPerSecond"]) == ("the probe measured between different ports", ABSENT)


# Jobs


@needs_namespaces
def test_job_from_begin_to_end(make_host):
    service = RdmaProbe(make_host, behaviour="hang")
    job = service.probe_rdma()
    service.host.wait_for_property(LINK_PROBE, job, JOB, "Phase", lambda phase: phase == "upload")
    assert [service.job(job, name) for name in ("Node", "Kind", "Address", "Device", "State")] == [
        PEER, "Link1.Rdma", ADDRESS, PORT, "running"]
    service.probe.does("good", SourcePort=PORT, SinkPort=PEER_PORT)
    service.host.call(LINK_PROBE, job, JOB, "Cancel")
    service.wait_idle()
    job = service.probe_rdma(Port=PORT, PeerPort=PEER_PORT)
    assert service.wait_job(job, "done", "failed") == "done"
    path, = service.job(job, "Paths")
    assert (path["SourcePort"], path["SinkPort"], path["Address"]) == (PORT, PEER_PORT, ADDRESS)
    assert service.job(job, "Result")["UploadBitsPerSecond"] == 50_000_000


@needs_namespaces
def test_each_port_is_measured(make_host):
    service = RdmaProbe(make_host, ports=("rxe0.1", "rxe1.1"), behaviour="refused")
    job = service.probe_rdma()
    assert service.wait_job(job, "failed") == "failed"
    assert [(path["SourcePort"], path["SinkPort"], path["Error"]) for path in service.job(job, "Paths")] == [
        (name, PEER_PORT, "refused: the peer is refused") for name in ("rxe0.1", "rxe1.1")]
    assert {service.rdma_link(name)["Failure"] for name in ("rxe0.1", "rxe1.1")} == {"refused: the peer is refused"}


@needs_namespaces
def test_neighbours_are_chosen(make_host):
    service = RdmaProbe(make_host, ports=("rxe0.1", "rxe1.1"), behaviour="refused")
    own = service.own_id
    service.state.ports[PEER] = [port(name) for name in ("mlx5_0.1", "mlx5_1.1")]
    service.state.segments = [[f"{own} rxe0.1", f"{PEER} mlx5_1.1", "c" * 32 + " mlx5_0.1"],
                              [f"{own} rxe1.1", f"{PEER} mlx5_0.1"]]
    job = service.probe_rdma()
    assert service.wait_job(job, "failed") == "failed"
    assert [(path["SourcePort"], path["SinkPort"]) for path in service.job(job, "Paths")] == [
        ("rxe0.1", "mlx5_1.1"), ("rxe1.1", "mlx5_0.1")]


@needs_namespaces
def test_neighbours_are_chosen_in_a_large_subnet(make_host):
    service = RdmaProbe(make_host, behaviour="refused")
    service.state.ports[PEER] = [port(name) for name in ("mlx5_0.1", "mlx5_1.1")]
    others = [f"{i:032x} mlx5_0.1" for i in range(40_000)]
    service.state.segments = [[f"{service.own_id} rxe0.1", *others, f"{PEER} mlx5_1.1"], [f"{PEER} mlx5_0.1"]]
    job = service.probe_rdma()
    assert service.wait_job(job, "failed") == "failed"
    assert [path["SinkPort"] for path in service.job(job, "Paths")] == ["mlx5_1.1"]


RUBBISH = [
    ("me", {}, INVALID_ARGS), (PEER, {"Address": ADDRESS}, INVALID_ARGS), (PEER, {"Port": True}, INVALID_ARGS),
    (PEER, {"Port": "rxe0"}, INVALID_ARGS), (PEER, {"PeerPort": "../mlx5_0.1"}, INVALID_ARGS),
    (PEER, {"Port": "x" * 80 + ".1"}, INVALID_ARGS), (PEER, {"Port": "rxe7.1"}, NO_SUCH_DEVICE),
    (PEER, {"PeerPort": "mlx5_0.2"}, NO_SUCH_DEVICE), (OTHER, {}, NO_SUCH_DEVICE), ("c" * 32, {}, NO_SUCH_NODE)]


@needs_namespaces
def test_rubbish_makes_no_job(make_host):
    service = RdmaProbe(make_host)
    for node, options, name in RUBBISH:
        assert refused(service.probe_rdma, node, **options).name == name, (node, options)
        assert service.call("ListJobs") == [] and service.probe.calls("rdma.") == [], (node, options)


@needs_namespaces
def test_ports_that_are_down_are_for_who_names_them(make_host):
    service = RdmaProbe(make_host)
    service.state.ports[PEER] = [port(PEER_PORT, state="down")]
    assert refused(service.probe_rdma).name == NO_SUCH_DEVICE
    assert service.wait_job(service.probe_rdma(PeerPort=PEER_PORT), "done", "failed") == "done"


@needs_namespaces
def test_node_without_an_address_is_not_reached(make_host):
    service = RdmaProbe(make_host)
    service.state.networks[PEER] = []
    assert refused(service.probe_rdma).name == NO_SUCH_NODE


@needs_namespaces
def test_polkit_decides(make_host):
    service = RdmaProbe(make_host, polkit=True, service_users=True)
    assert refused(service.probe_rdma, user="nobody").name in REFUSALS
    service.host.polkit.allow(ACTION, "daemon")
    assert service.wait_job(service.probe_rdma(user="daemon"), "done", "failed") == "done"


@needs_namespaces
@pytest.mark.parametrize("behaviour", ["busy", "inhibited"])
def test_job_says_why_the_peer_sends_it_away(make_host, behaviour):
    service = RdmaProbe(make_host, behaviour=behaviour)
    job = service.probe_rdma()
    service.host.wait_for_property(LINK_PROBE, job, JOB, "Phase", lambda phase: phase == f"the peer is {behaviour}")
    refused(service.rdma_link)
    service.host.call(LINK_PROBE, job, JOB, "Cancel")


@needs_namespaces
@pytest.mark.parametrize("behaviour", ["busy", "inhibited"])
def test_path_that_the_peer_puts_off_lets_others_have_their_turn(make_host, behaviour):
    service = RdmaProbe(make_host, due=True, behaviour=behaviour)
    service.probe.wait_for_calls(1, "rdma.")
    service.wait_idle()
    refused(service.rdma_link)
    service.process.signal(signal.SIGHUP)
    wait_steadily(lambda: service.state.questions[-1][1]["AvoidPaths"] == [f"{PORT},{PEER},{PEER_PORT}"],
                  "a question about other paths")


# One wire, and who wants it quiet


@needs_namespaces
def test_port_and_interface_are_one_wire(make_host):
    service = RdmaProbe(make_host, behaviour="hang")
    running = service.probe_rdma()
    service.wait_job(running, "running")
    waiting = probe_link(service)
    assert service.job(waiting, "State") == "waiting"
    service.process.signal(signal.SIGHUP)
    wait_steadily(lambda: service.state.questions and "Traffic" in service.state.questions[-1][1] and
                  {PORT, "lan0"} <= set(service.state.questions[-1][1]["Traffic"]), "the question")
    assert {service.state.questions[-1][1]["Traffic"][name] for name in (PORT, "lan0")} == {ABSENT}
    service.host.call(LINK_PROBE, running, JOB, "Cancel")
    service.wait_job(waiting, "running")


@needs_namespaces
@pytest.mark.parametrize("what", ["rdma", "link"])
def test_lock_ends_what_runs_and_refuses_what_comes(make_host, what):
    service = RdmaProbe(make_host, behaviour="hang")
    job = service.probe_rdma()
    service.wait_job(job, "running")
    lock = service.inhibit(what, "trainer", "epoch 7")
    assert service.wait_job(job, "failed") == "failed"
    assert service.job(job, "Error") == "inhibited by trainer: epoch 7"
    error = refused(service.probe_rdma)
    assert (error.name, error.message) == (
        INHIBITED, "Probes of links over RDMA are inhibited by trainer: epoch 7")
    service.wait_idle()
    refused(service.rdma_link)
    os.close(lock)
    service.wait("Inhibited", [])
    service.probe.does("good", SourcePort=PORT, SinkPort=PEER_PORT)
    assert service.wait_job(service.probe_rdma(), "done", "failed") == "done"


@needs_namespaces
def test_lock_of_rdma_leaves_sockets_alone(make_host):
    service = RdmaProbe(make_host)
    lock = service.inhibit("rdma")
    assert service.wait_job(probe_link(service), "done", "failed") == "done"
    service.process.signal(signal.SIGHUP)
    wait_steadily(lambda: service.state.questions and service.state.questions[-1][1]["Kinds"] == ["Link1.Socket"],
                  "a question of sockets alone")
    service.make_rdma_due()
    service.state.make_due()
    service.process.signal(signal.SIGHUP)
    wait_steadily(lambda: not service.state.due, "the answer")
    service.wait_idle()
    assert service.probe.calls("rdma.") == []
    assert service.link()["UploadBitsPerSecond"] == 50_000_000
    os.close(lock)


@needs_namespaces
def test_configuration_ends_it(make_host):
    service = RdmaProbe(make_host, config="[link-probe]\nrdma=false\n")
    assert refused(service.probe_rdma).name == NOT_JOINED
    wait_steadily(lambda: service.state.questions, "a question")
    assert service.state.questions[0][1]["Kinds"] == ["Link1.Socket"]
    before = service.get("RefusedSessions")
    connect(service)(WISH + TLS)
    wait_steadily(lambda: service.get("RefusedSessions") == before + 1, "the refusal")
    assert service.probe.calls("rdma.") == []


# Others that measure their links to this machine


@needs_namespaces
def test_first_bytes_choose_the_program(make_host):
    service = RdmaProbe(make_host, behaviour="hang")
    connect(service)(WISH + TLS)
    arguments, = service.probe.wait_for_calls(1, "rdma.")
    assert {"--session-fd=4", "--report-fd=3", "--ask", "--port=7461", "--json"} <= set(arguments)
    assert service.probe.calls() == []
    service.wait("ActiveProbes", 1)
    # Its port is no other probe's, nor is the interface behind it.
    jobs = [service.probe_rdma(), probe_link(service)]
    assert [service.job(job, "State") for job in jobs] == ["waiting", "waiting"]
    assert len(service.probe.calls("rdma.")) == 1 and service.probe.calls() == []


PEEKING = """import os, sys
with open(os.path.dirname(os.path.abspath(__file__)) + "/seen", "wb") as file:
    file.write(os.read(4, 16))
"""


@needs_namespaces
def test_program_gets_what_comes_after_them(make_host):
    service = RdmaProbe(make_host)
    program = service.probe.folder / "alidade-probe-rdma"
    program.write_text(f"#!/usr/bin/python3 -I\n{PEEKING}")
    seen = service.probe.folder / "seen"
    service.probe.folder.chmod(0o777)
    connect(service)(WISH + TLS)
    wait_steadily(lambda: seen.exists() and seen.read_bytes(), "what was seen")
    assert seen.read_bytes() == bytes.fromhex(TLS)


@needs_namespaces
def test_request_and_hello_may_come_apart(make_host):
    service = RdmaProbe(make_host, behaviour="hang")
    script = "import socket, sys; s = socket.create_connection(('192.0.2.1', 7461)); " \
             "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); s.send(b'RDMA'); " \
             "print('sent', flush=True); sys.stdin.readline(); s.send(bytes.fromhex('160301')); s.recv(1)"
    (theirs, line), (said, saying) = os.pipe(), os.pipe()
    service.host.spawn(["/usr/bin/python3", "-c", script], stdin=theirs, stdout=saying)
    assert os.read(said, 16) == b"sent\n" and service.probe.calls("rdma.") == []
    os.write(line, b"\n")
    service.probe.wait_for_calls(1, "rdma.")
    for fd in (theirs, line, said, saying):
        os.close(fd)


@needs_namespaces
def test_other_first_bytes_cost_no_process(make_host):
    service = RdmaProbe(make_host)
    for first in ("5244", "52444d42160301", WISH + "474554", WISH + WISH + TLS):
        before = service.get("RefusedSessions")
        connect(service)(first).wait()
        assert service.get("RefusedSessions") == before + 1, first
        assert service.probe.calls("rdma.") == service.probe.calls() == [], first


@needs_namespaces
def test_held_off_machine_tells_who_wants_to_measure(make_host):
    service = RdmaProbe(make_host)
    lock = service.inhibit("rdma", "trainer", "epoch 7")
    connect(service)(WISH + TLS)
    assert service.probe.wait_for_answers(1) == ["inhibited trainer: epoch 7\n"]
    os.close(lock)


@needs_namespaces
def test_second_session_over_a_port_is_told_to_come_later(make_host):
    service = RdmaProbe(make_host, behaviour="hang")
    connect(service)(WISH + TLS)
    service.wait("ActiveProbes", 1)
    connect(service)(WISH + TLS)
    assert service.probe.wait_for_answers(2) == [f"busy another probe uses {PORT}\n", "gids fe80::1\n"]
    # No more than two may come from one place at a time.
    wait_steadily(lambda: len(service.children()) == 1, "the end of the second")
    connect(service)(TLS)
    assert service.probe.wait_for_answers(3) == [
        "busy another probe uses lan0\n", f"busy another probe uses {PORT}\n", "gids fe80::1\n"]


@needs_namespaces
def test_addresses_behind_the_ports_of_a_node_are_known(make_host):
    """Issue 12, 7: with iWARP data goes to an address."""
    service = RdmaProbe(make_host)
    service.state.ports[PEER] = [{**port(PEER_PORT), "Interface": "eth7"}]
    connect(service)(WISH + TLS)
    assert service.probe.wait_for_answers(1) == [f"gids fe80::1 ::ffff:{ADDRESS}\n"]


@needs_namespaces
def test_port_that_others_use_is_busy(make_host):
    service = RdmaProbe(make_host)
    counters = f"{service.sys}/counters"

    def carry(sent):
        service.host.sysroot.write("proc/net/dev", NET_DEV)
        service.host.sysroot.write(f"{counters}/port_rcv_data", "0\n")
        service.host.sysroot.write(f"{counters}/port_xmit_data", f"{sent}\n")
        asked = len(service.state.questions)
        service.process.signal(signal.SIGHUP)
        wait_steadily(lambda: len(service.state.questions) > asked, "the next question")
        return service.state.questions[-1][1].get("Traffic", {})

    carry(0)
    sent = [10 ** 12]

    def is_told():
        sent[0] += 10 ** 12
        return carry(sent[0]).get(PORT, 0) > 10 ** 9

    wait_steadily(is_told, "the rate of the port")
    assert service.state.questions[-1][1]["Traffic"]["lan0"] > 10 ** 9
    connect(service)(WISH + TLS)
    answer, = service.probe.wait_for_answers(1)
    assert answer.startswith(f"busy {PORT} is in use, with ")


# The real program


@needs_namespaces
def test_machine_without_the_device_says_so(make_host):
    service = RdmaProbe(make_host, due=True, real=True)
    record = service.wait_rdma_link()
    assert record["Failure"].startswith(("no-device: ", "no-such-device: "))
    assert (record["SourcePort"], record["SinkPort"], record["UploadBitsPerSecond"]) == (PORT, PEER_PORT, ABSENT)
    job = service.probe_rdma()
    assert service.wait_job(job, "done", "failed") == "failed"
    assert service.job(job, "Error") == record["Failure"]
    assert service.rdma_link()["FailedUSec"] > record["FailedUSec"]


def meet(service, folder):
    """A client of our own, which begins as the program does: the talk."""
    plain = socket_in(service.host)
    plain.connect(("192.0.2.1", 7461))
    plain.sendall(bytes.fromhex(WISH))
    return Talk(plain, folder, False)


@needs_namespaces
def test_peer_learns_that_there_is_no_such_port(make_host):
    service = RdmaProbe(make_host, real=True)
    (service.host.dir / "keys").mkdir()
    keys = Keys(service.host.dir / "keys")
    for path in keys.issue(service.own_id).iterdir():
        (service.host.dir / "config/cluster" / path.name).write_bytes(path.read_bytes())
    folder, before = keys.issue(PEER), service.get("RefusedSessions")
    # More often than strangers may.
    for _ in range(10):
        with meet(service, folder) as talk:
            talk.say("RdmaHello", Version=3, Port=PORT, Manager=False)
            answer = talk.hear_only("ProbeAbort")
        assert answer["Reason"].startswith("no-") and "no RDMA device rxe0" in answer["Text"]
        service.wait_idle()
    assert service.get("RefusedSessions") == before + 10
