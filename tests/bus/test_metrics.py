# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl metrics, as Prometheus reads it, against a state service that the test plays."""

import shutil
import subprocess

import pytest

from client import UNREACHABLE, USAGE, OK
from played_state import PATH, PlayedState, fields, now, sample_node

parser = pytest.importorskip("prometheus_client.parser")

ME, PEER, GONE = ("%032x" % number for number in (0xa1, 0xb2, 0xb3))
HOSTILE = 'a"b\\c\n} 1 \x1b[31m\u202e é'
LINK = f"{PATH}/link/socket/{ME}/{PEER}_2c192_2e0_2e2_2e2"
needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")


def presence(state):
    return {"Node1.Presence": {"State": state, "SinceUSec": now()}}


@pytest.fixture
def host(make_host):
    """With a node that has a hostile name, and one that is offline."""
    host = make_host()
    nodes = {ME: sample_node("atlas"), PEER: {**sample_node(HOSTILE), **presence("stale")},
             GONE: {**sample_node("gone"), **presence("offline")}}
    state = PlayedState(host.connection(), ME, nodes, totals={"TflopsFp16": 1.5},
                        findings=[{"Id": "odd", "Severity": "notice", "Text": "Odd"}])
    links = {LINK: {"org.alidade.Link1.Socket": fields({
        "Source": ME, "Sink": PEER, "UploadBitsPerSecond": 8_000_000_000, "MeasuredUSec": 1_700_000_000_500_000})},
        LINK.replace(PEER, GONE): {"org.alidade.Link1.Socket": fields({"UploadBitsPerSecond": 8})}}
    managed = state.handlers["GetManagedObjects"]
    state.handlers["GetManagedObjects"] = lambda: ({**managed()[0], **links},)
    state.own()
    yield host
    state.close()


def samples(text):
    return [sample for family in parser.text_string_to_metric_families(text) for sample in family.samples]


def value(text, metric, /, **labels):
    found, = [sample.value for sample in samples(text)
              if sample.name == metric and labels.items() <= sample.labels.items()]
    return found


def test_metrics(host):
    text = host.alidadectl("metrics").stdout
    assert value(text, "alidade_node_up", node=ME) == 1
    assert value(text, "alidade_node_info", node=ME, name="atlas") == 1
    assert value(text, "alidade_node_up", node=PEER) == 1
    assert value(text, "alidade_presence_info", node=PEER, state="stale") == 1
    assert value(text, "alidade_memory_total_bytes", node=ME) == 64 * 1024 ** 3
    assert value(text, "alidade_link_socket_upload_bytes_per_second", source=ME, sink=PEER, path="192.0.2.2") == 1e9
    assert value(text, "alidade_link_socket_measured_timestamp_seconds", source=ME) == 1_700_000_000.5
    assert value(text, "alidade_cluster_fp16_flops") == 1.5e12
    assert value(text, "alidade_cluster_findings", severity="notice") == 1
    assert value(text, "alidade_cluster_findings_by_id", severity="notice", id="odd") == 1
    # Of an offline node there is only that it is not up.
    found = [sample for sample in samples(text) if GONE in sample.labels.values()]
    assert [(sample.name, sample.value) for sample in found] == [("alidade_node_up", 0), ("alidade_node_info", 1)]
    # Hostile names stay in their label.
    names = {sample.labels["name"] for sample in samples(text) if sample.name == "alidade_node_info" and
             sample.labels["node"] == PEER}
    assert names == {'a"b\\c\ufffd} 1 \ufffd[31m\ufffd é'}
    assert "\x1b" not in text and text.count("\ufffd[31m") == 1, "a new name makes one new series"
    # Nothing comes twice, and nothing is unknown.
    found = samples(text)
    assert len({(sample.name, *sorted(sample.labels.items())) for sample in found}) == len(found) > 40
    assert not [sample for sample in found if sample.value != sample.value]
    assert host.alidadectl("metrics").stdout == text


@needs_promtool
def test_promtool_has_no_objection(host):
    done = subprocess.run(["promtool", "check", "metrics"], input=host.alidadectl("metrics").stdout, text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_without_the_state_service_there_is_nothing(make_host):
    host = make_host()
    done = host.alidadectl("metrics", check=False)
    assert (done.returncode, done.stdout) == (UNREACHABLE, "")
    done = host.alidadectl("metrics", "--json", check=False)
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert host.alidadectl("metrics", "--help").returncode == OK
