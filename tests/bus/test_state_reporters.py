# SPDX-License-Identifier: LGPL-2.1-or-later
"""A member that publishes false or very many findings: what others report is still there, and what it says of this
machine does not make it unwell."""

import json

import pytest

from bedlib.waiting import wait_until
from played_source import LINK_PROBE_POLICY, Source
from state_service import (CLUSTER_POLICY, KINDS, STATE, Cluster, call, key_for, local_id, node_id, record, start,
                           typed)

LIAR, HONEST = node_id(1), node_id(2)
PER_ID = 100
GIB = 1024 ** 3


@pytest.fixture
def host(make_host):
    return start(make_host, "identityd", "telemetryd")


@pytest.fixture
def cluster(host):
    cluster = Cluster(host)
    cluster.take(*(record(node, "Node1.Identity", FriendlyName=name) for node, name in
                   ((LIAR, "liar"), (HONEST, "honest"))))
    cluster.online(LIAR, HONEST)
    return cluster


def found(host, name):
    return [row for row in call(host, "GetFindings") if row["Id"] == name]


def disks(node, number):
    return record(node, "Node1.Disk", Paths=[{"Id": f"/{n:03}", "TotalBytes": 1000 * GIB, "AvailableBytes": 20 * GIB}
                                            for n in range(number)])


def check(host, *options):
    done = host.alidadectl("check", "--ignore=service-missing,disk-nearly-full,clock-not-set", *options, check=False)
    return done.returncode, done.stdout


def test_many_findings_of_one_member_hide_no_others(host, cluster):
    cluster.take(disks(LIAR, PER_ID + 50), disks(HONEST, 3))
    rows = found(host, "disk-nearly-full")
    assert [row["Path"] for row in rows if row["Nodes"] == [HONEST]] == ["/000", "/001", "/002"]
    assert {row["Reporter"] for row in rows if row["Nodes"] == [HONEST]} == {HONEST}
    own = [row for row in rows if row["Nodes"] == [LIAR] and "LeftOut" not in row]
    assert len(own) == PER_ID - 3
    left_out, = [row for row in rows if "LeftOut" in row]
    assert (left_out["Reporter"], left_out["Nodes"], left_out["LeftOut"]) == (LIAR, [LIAR], 53)
    assert left_out["Text"] == "53 more disk-nearly-full findings that liar reports are left out."
    shown = host.alidadectl("findings").stdout
    assert "/002 on honest" in shown and "53 more disk-nearly-full findings that liar reports" in " ".join(
        shown.split())
    listed = json.loads(host.alidadectl("findings", "--json").stdout)["Findings"]
    assert {row["Reporter"] for row in listed if row["Id"] == "disk-nearly-full"} >= {LIAR, HONEST}


def test_a_broker_reports_few_nodes(host, cluster):
    """A hundred accusations of a refused member do not hide the row that names it."""
    accused = [{"Id": node_id(1000 + n), "KeptBytes": 1, "RefusedMessages": 1} for n in range(PER_ID)]
    cluster.take(record(LIAR, "Node1.Membership", RefusedPublishers=accused),
                 record(HONEST, "Node1.Membership",
                        RefusedPublishers=[{"Id": LIAR, "KeptBytes": GIB, "RefusedMessages": 9}]))
    assert len(call(host, "GetMemberships")[LIAR]["RefusedPublishers"]) == 8
    rows = found(host, "broker-refuses-node")
    assert sorted(row["Reporter"] for row in rows) == [LIAR] * 8 + [HONEST]
    assert [row["Nodes"] for row in rows if row["Reporter"] == HONEST] == [[LIAR, HONEST]]


def test_an_accusation_does_not_make_a_machine_unwell(host, cluster):
    own = local_id(host)
    assert check(host)[0] == 0
    cluster.take(record(LIAR, "Link1.Socket", key=key_for("Link1.Socket", own), Source=LIAR, Sink=own, FailedUSec=6,
                        Failure="no answer"),
                 record(LIAR, "Node1.Membership", RefusedPublishers=[
                     {"Id": own, "KeptBytes": GIB, "RefusedMessages": 9}]))
    assert {row["Reporter"] for row in call(host, "GetFindings") if own in row.get("Nodes", [])
            and row["Severity"] == "warning"} == {LIAR}
    assert check(host)[0] == 0
    code, line = check(host, "--others")
    assert code == 1 and line.count("(reported by liar)") == 2, line


CARD = {"Id": "0000:01:00.0", "Class": "gpu", "Name": "NVIDIA A100", "Driver": "nvidia", "DriverVersion": "570",
        "MemoryTotalBytes": 40 * GIB}


def rows(kind, *devices):
    field, = (field for field in KINDS[kind].fields if field.name == "Devices")
    return [typed(field.row_fields, row) for row in devices]


def test_low_figures_of_others_do_not_make_a_machine_unwell(make_host):
    """Three members state a quarter of what the card of this machine delivers, as that of equal cards."""
    host = start(make_host, "identityd", bus_policy=CLUSTER_POLICY + LINK_PROBE_POLICY)
    cluster, own, liars = Cluster(host), local_id(host), [node_id(number) for number in (11, 12, 13)]
    Source(host).export("Node1.Backends", Devices=rows("Node1.Backends", CARD)).own()
    Source(host, "LinkProbe1").export("Node1.Compute", Devices=rows("Node1.Compute", {
        "Id": CARD["Id"], "TflopsFp16": 240.0, "Precision": "fp16"})).own()
    with host.log_signals(STATE):
        wait_until(lambda: own in call(host, "GetComputes") and own in call(host, "GetBackends"), "the card")
    before = check(host)
    assert before[0] == 0, before

    def lie(number):
        cluster.online(liars[number])
        cluster.take(record(liars[number], "Node1.Backends", Devices=[CARD]),
                     record(liars[number], "Node1.Compute", Devices=[
                         {"Id": CARD["Id"], "TflopsFp16": 60.0, "Precision": "fp16"}]))

        def accused():
            return [row for row in found(host, "device-rate-implausible") if row.get("EqualNodes") == number + 1]
        with host.log_signals(STATE):
            wait_until(accused, f"what {number + 1} of them contradict")
        row, = accused()
        assert row["Nodes"] == [own]
        return row

    row = lie(0)
    assert (row["Severity"], row["Reporter"]) == ("notice", liars[0])
    assert check(host, "--severity=notice")[1].count("device-rate-implausible") == 0
    assert "Reporter" not in lie(1)
    row = lie(2)
    assert row["Severity"] == "warning" and "Reporter" not in row
    assert check(host) == before
    code, line = check(host, "--others")
    assert code == 1 and "device-rate-implausible" in line, line
