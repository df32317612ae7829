# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidade-exporter with the real state service, the parsers of Prometheus, and clients that mean no good."""

import contextlib
import re
import shutil
import socket
import subprocess
import threading

import pytest

from exporter import OPEN, TEXT, binary, pause_for_new_text
from state_service import KINDS, NODE_KINDS, Cluster, full_record, local_id, memory, node_id, sanitized, start

openmetrics = pytest.importorskip("prometheus_client.openmetrics.parser")
parser = pytest.importorskip("prometheus_client.parser")
pytestmark = pytest.mark.skipif(not binary().exists(), reason="alidade-exporter is not built")

PEER, GONE = node_id(2), node_id(3)
needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")


@pytest.fixture
def host(make_host):
    return start(make_host, "identityd", "telemetryd")


@pytest.fixture
def everything(host):
    """A host that knows each field of each kind, of one other node, and a node that is offline."""
    cluster = Cluster(host)
    own = local_id(host)
    cluster.presences((PEER, "online", 1, -250, 0), (GONE, "offline", 1, 0, 0))
    cluster.take(*(full_record(kind, PEER, seq=place + 1) for place, kind in enumerate(NODE_KINDS)),
                 *(full_record(kind, PEER, own, seq=place + 100) for place, kind in enumerate(KINDS)
                   if KINDS[kind].is_link),
                 memory(GONE))
    return host


def open_samples(text):
    return [sample for family in openmetrics.text_string_to_metric_families(text) for sample in family.samples]


def samples(text):
    return [sample for family in parser.text_string_to_metric_families(text) for sample in family.samples]


def without_times(text):
    return [(sample.name, sorted(sample.labels.items())) for sample in text]


# What it says


def test_both_formats_and_alidadectl_say_the_same_of_everything(everything, export):
    exporter = export(everything)
    # The state service draws its conclusions from new records a little later.
    exporter.wait_for(lambda answer: "configuration-refused" in answer.text and "memory_bandwidth_of" in answer.text,
                      "the findings and totals")
    text, opened = exporter.get(), exporter.get(Accept="application/openmetrics-text;version=1.0.0,*/*;q=0.1")
    assert (text.headers["content-type"], opened.headers["content-type"]) == (TEXT, OPEN)
    assert opened.text.endswith("\n# EOF\n") and "# EOF" not in text.text
    assert without_times(samples(text.text)) == without_times(open_samples(opened.text))
    names = {sample.name for sample in samples(text.text)}
    for wanted in ("alidade_node_up", "alidade_memory_total_bytes", "alidade_link_socket_upload_bytes_per_second",
                   "alidade_link_rdma_rtt_p50_seconds", "alidade_compute_device_fp16_flops",
                   "alidade_membership_refused_publisher_refused_messages_total", "alidade_identity_info",
                   "alidade_cluster_nodes", "alidade_cluster_findings", "alidade_exporter_up_to_date"):
        assert wanted in names, wanted
    ups = {sample.labels["node"]: sample.value for sample in samples(text.text) if sample.name == "alidade_node_up"}
    assert ups == {local_id(everything): 1, PEER: 1, GONE: 0}
    assert sum(GONE in sample.labels.values() for sample in samples(text.text)) == 2
    ours, theirs = without_times(samples(everything.alidadectl("metrics").stdout)), without_times(samples(text.text))
    assert ours == [sample for sample in theirs if not sample[0].startswith("alidade_exporter")]


@needs_promtool
def test_promtool_has_no_objection(everything, export):
    done = subprocess.run(["promtool", "check", "metrics"], input=export(everything).get().text, text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_changes_are_shown(host, export):
    exporter, cluster = export(host), Cluster(host)
    assert PEER not in exporter.get().text
    cluster.take(memory(PEER, 4096))
    cluster.online(PEER)
    found = exporter.wait_for(lambda answer: f'alidade_node_up{{node="{PEER}"}} 1' in answer.text, "the node")
    assert f'alidade_memory_total_bytes{{node="{PEER}"}} 4096' in found.text
    cluster.presences((PEER, "offline", 1, 0, 0))
    exporter.wait_for(lambda answer: f'alidade_node_up{{node="{PEER}"}} 0' in answer.text, "its end")


def test_paths_and_methods(host, export):
    exporter = export(host)
    assert "/metrics" in exporter.get("/").text
    assert exporter.get("/other").status == 404
    assert exporter.get("/metrics?x=1").status == 200
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "NONSENSE"):
        answer = exporter.get(method=method)
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    head = exporter.get(method="HEAD")
    assert (head.status, head.body) == (200, b"") and int(head.headers["content-length"]) > 1000


def test_without_the_state_service_it_says_why_and_it_recovers(host, export):
    exporter = export(host)
    assert exporter.get().status == 200
    stated = next(daemon for daemon in host.daemons if daemon.name == "stated")
    stated.stop()
    lost = exporter.wait_for(lambda answer: answer.status == 503, "the loss")
    assert "state service" in lost.text
    host.start_daemon("stated")
    back = exporter.wait_for(lambda answer: answer.status == 200, "the return")
    assert back.value("alidade_exporter_state_losses_total") >= 1


def test_without_a_bus_it_waits_for_one(host, export, tmp_path):
    """Without spinning."""
    exporter = export(host, environment={"ALIDADE_BUS_ADDRESS": f"unix:path={tmp_path}/bus"})
    lost = exporter.get()
    assert lost.status == 503 and "No such file" in lost.text
    before = exporter.ticks()
    pause_for_new_text()
    assert exporter.get().status == 503
    assert exporter.ticks() - before < 10
    path = re.match(r"unix:path=([^,;]+)", host.bus.address)[1]
    (tmp_path / "bus").symlink_to(path)
    exporter.wait_for(lambda answer: answer.status == 200, "the bus")


# Clients that mean no good


GARBAGE = (b"\x00" * 4096, b"\xff\xfe" * 999, b"GET /metrics\r\n\r\n", b"GET  HTTP/9.9\r\n\r\n",
           b"\x16\x03\x01\x02\x00",
           b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
           b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
           b"POST /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
           b"GET /%00%zz/../metrics HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")


def test_garbage(host, export):
    exporter = export(host)
    assert exporter.get().status == 200
    for rubbish in GARBAGE:
        with contextlib.suppress(OSError):
            with contextlib.closing(exporter.connect(timeout=0.5)) as connection:
                connection.sendall(rubbish)
                connection.shutdown(socket.SHUT_WR)
                assert b"alidade_node_up" not in connection.recv(1 << 16) or rubbish.startswith(b"GET /metrics")
        assert exporter.get().status == 200


def test_half_open_connections_starve_nobody(host, export):
    exporter = export(host)
    with contextlib.ExitStack() as stack:
        for number in range(150):
            connection = stack.enter_context(contextlib.closing(exporter.connect()))
            connection.sendall(b"GET /metrics HT" if number % 2 else b"")
            if number % 10 == 0:
                assert exporter.get().status == 200
        pause_for_new_text()
        answer = exporter.get()
        assert answer.status == 200 and answer.value("alidade_exporter_ended_connections_total") > 0
        assert answer.value("alidade_exporter_connections") <= 70


def test_slow_readers_starve_nobody_and_are_bounded(everything, export):
    exporter = export(everything)
    exporter.get()
    before = exporter.memory()
    with contextlib.ExitStack() as stack:
        for _ in range(60):
            connection = stack.enter_context(contextlib.closing(exporter.connect()))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert exporter.get().status == 200
    if not sanitized():
        assert exporter.memory() - before < 8 * 1024 * 1024


def test_a_thousand_scrapes_are_few_texts(host, export):
    exporter = export(host)
    exporter.get()
    pause_for_new_text()
    before = exporter.get().value("alidade_exporter_renderings_total")
    errors = []

    def scrape():
        for _ in range(250):
            try:
                assert exporter.get().status == 200
            except (OSError, AssertionError) as error:
                errors.append(error)

    threads = [threading.Thread(target=scrape) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    pause_for_new_text()
    after = exporter.get()
    assert after.value("alidade_exporter_requests_total") >= 1000
    took = [sample.value for sample in samples(after.text) if sample.name == "alidade_exporter_rendering_seconds"]
    assert took and after.value("alidade_exporter_renderings_total") - before < 1000
