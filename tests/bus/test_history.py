# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidade-historyd: what it records, what it answers, and what may happen to it. Records are played; the state service
is real."""

import signal
import time

import pytest

from bedlib.waiting import wait_steadily
from contract import assert_follows
from history import (ACTION, ALPHA, BETA, FOREVER, HISTORY, NEVER, NOT_KEPT, PATH, SECOND, call, get, link, series, values, wait_for_values)
from state_service import INVALID_ARGS, Cluster, fails_with, local_id, memory, node_id, record, start

NOT_AUTHORIZED = "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"
TOTAL = 10 ** 9  # which is kept without rounding


def now():
    return time.time_ns() // 1000


@pytest.fixture
def host(make_host):
    return start(make_host)


@pytest.fixture
def cluster(host):
    played = Cluster(host)
    played.online(ALPHA, BETA)
    return played


@pytest.fixture
def historyd(host, cluster):
    daemon = host.start_daemon("historyd")
    wait_steadily(lambda: get(host, "Scope") == "all", "the history to begin")
    return daemon


def test_it_follows_its_contract(host, historyd):
    assert_follows(host.connection(), HISTORY, PATH, [HISTORY])
    assert get(host, "Problem") == "" and get(host, "BudgetBytes") == 64 * 2 ** 20
    assert get(host, "LostSamples") == 0 and 0 < get(host, "SizeBytes") < 2 ** 20


def test_records_become_series(host, cluster, historyd):
    start_at = now()
    for step in range(3):
        cluster.take(memory(ALPHA, TOTAL * (step + 1), seq=step + 1, updated=start_at + step * SECOND))
        wait_for_values(host, [TOTAL * (done + 1) for done in range(step + 1)], ALPHA, "TotalBytes",
                        since=start_at - SECOND, until=start_at + 9 * SECOND, points=1000)
    with fails_with(NOT_KEPT):
        call(host, "GetRange")  # nothing is written yet


def test_what_an_offline_node_said_is_unknown(host, cluster, historyd):
    at = now() - 2 * SECOND
    cluster.take(memory(ALPHA, TOTAL, updated=at), link(at, BETA, 10 ** 9))
    rate = {"kind": "Link1.Socket", "key": f"{BETA},192.0.2.2", "since": at - SECOND, "points": 10000}
    wait_for_values(host, [TOTAL], ALPHA, "TotalBytes", since=at - SECOND, until=at + 600 * SECOND, points=10000)
    wait_for_values(host, [10 ** 9], ALPHA, "UploadBitsPerSecond", until=at + 600 * SECOND, **rate)
    assert cluster.presences((ALPHA, "offline", 2, -2 ** 63, 0)) == (1, 0)
    wait_for_values(host, [TOTAL, None], ALPHA, "TotalBytes", since=at - SECOND, until=at + 600 * SECOND, points=10000)
    wait_for_values(host, [10 ** 9, None], ALPHA, "UploadBitsPerSecond", until=at + 600 * SECOND, **rate)


@pytest.mark.parametrize("change, reason", [
    ({"node": "alpha"}, "Node"), ({"node": ""}, "Node"), ({"kind": "Node1.Nothing"}, "Kind"),
    ({"key": "x"}, "Key"), ({"kind": "Link1.Socket"}, "Key"), ({"field": "Nothing"}, "Field"),
    ({"field": ""}, "Field"), ({"field": "Devices[x]"}, "Field"), ({"field": "TotalBytes[x].y"}, "Field"),
    ({"kind": "Node1.Identity", "field": "HostName"}, "Field"), ({"until": 0}, "ToUSec"),
    ({"since": 5, "until": 5}, "ToUSec"), ({"until": NEVER}, "2^53"), ({"points": 0}, "Points"),
    ({"points": 10 ** 9}, "Points"), ({"points": 2 ** 32 - 1}, "Points")])
def test_rubbish(host, historyd, change, reason):
    with fails_with(INVALID_ARGS) as error:
        series(host, **{"node": ALPHA, "field": "TotalBytes", **change})
    assert reason in error.value.message


def test_absurd_ranges_are_answered(host, cluster, historyd):
    cluster.take(memory(ALPHA, TOTAL, updated=now()))
    wait_for_values(host, [TOTAL], ALPHA, "TotalBytes", points=1)
    assert values(host, ALPHA, "TotalBytes", since=0, until=1) == []
    assert values(host, ALPHA, "TotalBytes", points=10000) == [TOTAL]
    assert call(host, "GetEvents", "tt", (0, FOREVER)) == ([], [], False)
    for words in ((5, 5), (9, 5), (0, NEVER)):
        with fails_with(INVALID_ARGS):
            call(host, "GetEvents", "tt", words)


def test_rows_are_series(host, cluster, historyd):
    cluster.take(record(ALPHA, "Node1.Backends", updated=now(), Devices=[
        {"Id": "0000:01:00.0", "Class": "gpu", "MemoryTotalBytes": TOTAL}]))
    wait_for_values(host, [TOTAL], ALPHA, "Devices[0000:01:00.0].MemoryTotalBytes", kind="Node1.Backends", points=1)
    assert values(host, ALPHA, "TotalBytes") == []  # within the scope, but nothing yet


def test_a_scope_of_one_node(make_host):
    host = start(make_host)
    host.write_config("[history]\nhistory=local\n")
    cluster = Cluster(host)
    cluster.online(ALPHA, BETA)
    own, at = local_id(host), now()
    host.start_daemon("historyd")
    wait_steadily(lambda: get(host, "Scope") == "local", "the scope")
    cluster.take(memory(ALPHA, TOTAL, updated=at), link(at, own, 10 ** 9), link(at, BETA, 10 ** 9))
    wait_for_values(host, [10 ** 9], ALPHA, "UploadBitsPerSecond", kind="Link1.Socket", key=f"{own},192.0.2.2",
                    points=1)
    for words in ({"field": "TotalBytes"},
                  {"field": "UploadBitsPerSecond", "kind": "Link1.Socket", "key": f"{BETA},192.0.2.2"}):
        with fails_with(NOT_KEPT):
            series(host, ALPHA, **words)
    assert series(host, own, "TotalBytes") == []


def test_the_scope_of_larger_clusters(host, cluster, historyd):
    cluster.online(*map(node_id, range(1, 18)))
    cluster.take(*(memory(node_id(number), TOTAL, updated=now()) for number in range(1, 18)))
    wait_steadily(lambda: get(host, "Scope") == "local", "the scope to follow the number of nodes")
    host.write_config("[history]\nhistory=all\n")
    historyd.signal(signal.SIGHUP)
    wait_steadily(lambda: get(host, "Scope") == "all", "the configuration")
    host.write_config("[history]\nhistory=everything\nhistory-mb=0\n")
    historyd.signal(signal.SIGHUP)
    wait_steadily(lambda: "it must be auto, all, local or off" in historyd.log_text(), "why it is refused")
    assert "history-mb" in historyd.log_text()
    host.write_config("[history]\nhistory=off\nhistory-mb=1\n")
    historyd.signal(signal.SIGHUP)
    wait_steadily(lambda: get(host, "Scope") == "off", "no history")
    assert get(host, "BudgetBytes") == 2 ** 20


def test_silences(host, historyd):
    until = now() + 3600 * SECOND
    call(host, "Silence", "ssts", (ALPHA, "", until, "moves to another rack"))
    call(host, "Silence", "ssts", (ALPHA, BETA, NEVER, ""))
    first, second = call(host, "GetSilences")
    assert first["Node"] == ALPHA and "Peer" not in first and first["UntilUSec"] == until
    assert first["Reason"] == "moves to another rack" and first["Uid"] == 0
    assert second["Peer"] == BETA and "UntilUSec" not in second and "Reason" not in second
    historyd.kill()
    host.start_daemon("historyd")
    assert call(host, "GetSilences") == [first, second]
    call(host, "Unsilence", "ss", (BETA, ALPHA))
    assert call(host, "GetSilences") == [first]
    with fails_with("org.alidade.Error.NoSuchSilence"):
        call(host, "Unsilence", "ss", (BETA, ALPHA))


@pytest.mark.parametrize("words", [
    ("alpha", "", NEVER, ""), (ALPHA, "beta", NEVER, ""), (ALPHA, ALPHA, NEVER, ""), (ALPHA, "", 5, ""),
    (ALPHA, "", 2 ** 60, ""), (ALPHA, "", NEVER, "x" * 257)])
def test_silences_that_are_refused(host, historyd, words):
    with fails_with(INVALID_ARGS):
        call(host, "Silence", "ssts", words)
    assert call(host, "GetSilences") == []


def test_only_some_may_silence(make_host):
    host = start(make_host, "historyd", polkit=True)
    for words in (("Silence", "ssts", (ALPHA, "", NEVER, "")), ("Unsilence", "ss", (ALPHA, ""))):
        with fails_with(NOT_AUTHORIZED):
            call(host, *words, "daemon")
    assert call(host, "GetSilences", user="daemon") == []
    host.polkit.allow(ACTION, "daemon")
    call(host, "Silence", "ssts", (ALPHA, "", NEVER, ""), "daemon")
    assert call(host, "GetSilences")[0]["Uid"] == 1
