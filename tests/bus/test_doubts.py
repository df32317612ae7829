# SPDX-License-Identifier: LGPL-2.1-or-later
"""A member that reports what cannot be true of its devices and links: totals and plans do not believe it."""

import pytest

from bedlib.variants import Typed
from bedlib.waiting import wait_until
from placement import FAR, FAST, GIB, SLOW, link, plan, play
from state_service import STATE, call, get, managed, node_id, node_path, record, start

GPU = "0000:01:00.0"
KIND = "Node1.Doubts"
TWIN = {"Id": GPU, "Class": "gpu", "Name": "NVIDIA A100", "Driver": "nvidia", "DriverVersion": "570",
        "MemoryTotalBytes": 40 * GIB}


def compute(number, seq, **fields):
    return record(number, "Node1.Compute", seq=seq, Devices=[
        {"Id": GPU, "MemoryBandwidthBytesPerSecond": 900 * 10 ** 9, "TflopsFp16": 10.0, "Precision": "fp16", **fields}])


def doubts(host):
    """{node: its figures that are doubted}."""
    return {number: fields["Figures"] for number, fields in call(host, "GetDoubts").items()}


def wait_for_doubts(host, *nodes):
    with host.log_signals(STATE):
        wait_until(lambda: doubts(host).keys() == set(nodes), f"doubts about {nodes} only")
    return doubts(host)


def wait_for_tflops(host, total):
    with host.log_signals(STATE):
        wait_until(lambda: get(host, "TflopsFp16") == total, f"a total of {total} TFLOPS")


def findings(host):
    return [row for row in call(host, "GetFindings") if row["Id"] == "device-rate-implausible"]


@pytest.fixture
def host(make_host):
    return start(make_host, activation=("placementd",))


@pytest.fixture
def cluster(host):
    return play(host)


def test_a_lie_gets_no_layers(host, cluster):
    """2800 TFLOPS, on a card whose own peak is 312."""
    wait_for_tflops(host, 30)
    assert plan(host).layers() == {f"fast/{GPU}": 32} and doubts(host) == {}
    cluster.take(compute(FAST, 2, TflopsFp16=2800.0, PeakTflops=312.0, PeakPrecision="fp16"))
    row, = wait_for_doubts(host, FAST)[FAST]
    assert row == {"Id": f"{GPU} GemmTflops", "Device": GPU, "Field": "GemmTflops", "Reason": "above-peak",
                   "LeftOut": True, "Tflops": 2800.0, "LimitTflops": 312.0}
    found = plan(host)
    assert f"fast/{GPU}" not in found.layers() and found.reason("fast") == "figures-disbelieved"
    text, = (row["Text"] for row in found.left_out if row["Reason"] == "figures-disbelieved")
    assert text == "Its rate of matrix products, 2.80 PFLOPS, is not believed: its own peak is 312 TFLOPS."
    wait_for_tflops(host, 20)
    assert get(host, "TflopsFp16LeftOutReasons")["Disbelieved"] == 1
    row, = findings(host)
    assert (row["Nodes"], row["Severity"], row["Device"], row["Tflops"]) == ([FAST], "warning", GPU, 2800.0)
    # What it reports stays as it is, with the doubt beside it.
    assert call(host, "GetComputes")[FAST]["Devices"][0]["TflopsFp16"] == 2800.0
    assert f"org.alidade.{KIND}" in managed(host)[node_path(FAST)]

    cluster.take(compute(FAST, 3, TflopsFp16=300.0, PeakTflops=312.0, PeakPrecision="fp16"))
    wait_for_doubts(host)
    assert findings(host) == [] and plan(host).layers() == {f"fast/{GPU}": 32}
    assert f"org.alidade.{KIND}" not in managed(host)[node_path(FAST)]


def test_a_lie_about_memory(host, cluster):
    cluster.take(compute(FAST, 2, MemoryBandwidthTheoreticalBytesPerSecond=800 * 10 ** 9))
    row, = wait_for_doubts(host, FAST)[FAST]
    assert (row["Reason"], row["BytesPerSecond"], row["LimitBytesPerSecond"]) \
        == ("above-theoretical", 900 * 10 ** 9, 800 * 10 ** 9)
    assert plan(host).reason("fast") == "figures-disbelieved"


def test_equal_devices_outvote_a_liar_and_no_member_can_outvote_others(host, cluster):
    honest = [node_id(number) for number in (11, 12, 13)]
    cluster.online(*honest)
    cluster.take(record(FAST, "Node1.Backends", seq=2, Devices=[TWIN]), compute(FAST, 2, TflopsFp16=600.0))
    for number in honest:
        cluster.take(record(number, "Node1.Backends", Devices=[TWIN]), compute(number, 1, TflopsFp16=250.0))
    row, = wait_for_doubts(host, FAST)[FAST]
    assert row["Reason"] == "above-equal-devices" and row["LeftOut"]
    assert (row["LimitTflops"], row["EqualNodes"]) == (250, 3)
    assert plan(host).reason("fast") == "figures-disbelieved"

    # With a single other node, however many devices it claims, it is only a notice, and the figure counts.
    many = [{**TWIN, "Id": f"{number}"} for number in range(8)]
    cluster.presences(*((number, "offline", 5, -2 ** 63, 0) for number in honest))
    cluster.take(record(SLOW, "Node1.Backends", seq=2, Devices=many),
                 record(SLOW, "Node1.Compute", seq=2, Devices=[
                     {"Id": row["Id"], "TflopsFp16": 1.0, "Precision": "fp16"} for row in many]))
    with host.log_signals(STATE):
        wait_until(lambda: doubts(host)[FAST][0]["EqualNodes"] == 1, "the only witness")
    assert doubts(host).keys() == {FAST} and not doubts(host)[FAST][0]["LeftOut"]
    row, = findings(host)
    assert row["Severity"] == "notice" and "such a device on slow" in row["Text"]
    assert all(row["Reason"] != "figures-disbelieved" for row in plan(host).left_out)


def test_nobody_tells_others_what_to_doubt(host, cluster):
    """Such a record is refused like any that never travels."""
    before = get(host, "RefusedRecords")
    put = (FAST, KIND, "", 1, 1, 1_700_000_000_000_000, False, {})
    assert cluster.put(put) == (0, 1)
    assert get(host, "RefusedRecords") == before + 1 and doubts(host) == {}


def test_a_disputed_link_has_the_lower_rate(host, cluster):
    """Each end measured the path to the address of the other one."""
    both = {"LayerBytes": Typed("t", GIB)}
    cluster.take(link(FAST, SLOW, "192.0.2.2", seq=2, rate=10 ** 12))
    rates = {hop["BitsPerSecond"] for hop in plan(host, both, "vllm").hops if hop["Alternative"] == 0}
    assert rates == {10 ** 12}
    cluster.take(link(SLOW, FAST, "192.0.2.1", rate=10 ** 10))
    hops = [hop for hop in plan(host, both, "vllm").hops if hop["Alternative"] == 0]
    assert len(hops) == 2
    for hop in hops:
        assert (hop["BitsPerSecond"], hop["DisputedBitsPerSecond"]) == (10 ** 10, 10 ** 12)
        assert hop["Text"] == "Both ends measured this direction and disagree: 10.0 Gb/s and 1.00 Tb/s; " \
            "the lower rate counts."


def test_a_node_that_has_left_takes_its_doubts_along(host, cluster):
    cluster.take(compute(FAR, 2, TflopsFp16=2800.0, PeakTflops=312.0, PeakPrecision="fp16"))
    wait_for_doubts(host, FAR)
    cluster.presences((FAR, "forgotten", 5, -2 ** 63, 0))
    wait_for_doubts(host)
