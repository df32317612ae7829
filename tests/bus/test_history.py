# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidade-historyd: what it records, what it answers, and what may happen to it. Records are played; the state service
is real."""

import re
import shutil
import signal
import subprocess
import time

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.journal import JournalSocket
from bedlib.services import SOURCE
from bedlib.waiting import wait_steadily
from contract import assert_follows
from history import (ACTION, ALPHA, BETA, FOREVER, HISTORY, HOUR, NEVER, NOT_KEPT, PATH, SECOND, EverNew, Hours,
                     Notices, call, disk, events, get, link, series, values, wait_for_values)
from state_service import INVALID_ARGS, Cluster, fails_with, local_id, memory, node_id, record, start

DISK = "disk-nearly-full"
SLOWER = "slower-than-past"
GPU = "0000:01:00.0"
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
    since, until = call(host, "GetRange")
    assert start_at - SECOND < since < start_at + 3 * SECOND and until >= start_at


def test_what_an_offline_node_said_is_unknown(host, cluster, historyd):
    at = now() - 2 * SECOND
    cluster.take(memory(ALPHA, TOTAL, updated=at), link(at, BETA, 10 ** 9))
    rate = {"kind": "Link1.Socket", "key": f"{BETA},192.0.2.2", "since": at - SECOND, "points": 10000}
    wait_for_values(host, [TOTAL], ALPHA, "TotalBytes", since=at - SECOND, until=at + 600 * SECOND, points=10000)
    wait_for_values(host, [10 ** 9], ALPHA, "UploadBitsPerSecond", until=at + 600 * SECOND, **rate)
    assert cluster.presences((ALPHA, "offline", 2, -2 ** 63, 0)) == (1, 0)
    wait_for_values(host, [TOTAL, None], ALPHA, "TotalBytes", since=at - SECOND, until=at + 600 * SECOND, points=10000)
    wait_for_values(host, [10 ** 9, None], ALPHA, "UploadBitsPerSecond", until=at + 600 * SECOND, **rate)


RUBBISH = [
    ({"node": "alpha"}, "Node"), ({"node": ""}, "Node"), ({"kind": "Node1.Nothing"}, "Kind"),
    ({"key": "x"}, "Key"), ({"kind": "Link1.Socket"}, "Key"), ({"field": "Nothing"}, "Field"),
    ({"field": ""}, "Field"), ({"field": "Devices[x]"}, "Field"), ({"field": "TotalBytes[x].y"}, "Field"),
    ({"kind": "Node1.Identity", "field": "HostName"}, "Field"), ({"until": 0}, "ToUSec"),
    ({"since": 5, "until": 5}, "ToUSec"), ({"until": NEVER}, "2^53"), ({"points": 0}, "Points"),
    ({"points": 10 ** 9}, "Points"), ({"points": 2 ** 32 - 1}, "Points")]


def test_rubbish(host, historyd):
    for change, reason in RUBBISH:
        with fails_with(INVALID_ARGS, change) as error:
            series(host, **{"node": ALPHA, "field": "TotalBytes", **change})
        assert reason in error.value.message, change


NAME = (ALPHA, "Node1.Memory", "", "TotalBytes")


def several(host, names, since=0, until=FOREVER, points=100):
    return call(host, "GetSeveralSeries", "a(ssss)ttu", (names, since, until, points))


def test_several_series_are_read_at_once(make_host):
    """As GetSeries() returns them, and in the order of their names; what is not recorded is said of each."""
    host = start(make_host)
    host.write_config("[history]\nhistory=local\n")
    cluster = Cluster(host)
    cluster.online(ALPHA, BETA)
    own, at = local_id(host), now()
    host.start_daemon("historyd")
    wait_steadily(lambda: get(host, "Scope") == "local", "the scope")
    cluster.take(link(at, own, 10 ** 9, download=2 * 10 ** 9))
    up, down = ((ALPHA, "Link1.Socket", f"{own},192.0.2.2", f"{way}BitsPerSecond") for way in ("Upload", "Download"))
    wait_steadily(lambda: [len(points) for _, points in several(host, [down, up])] == [1, 1], "samples of both")
    found = several(host, [down, NAME, up, (own, *NAME[1:]), up], points=200)
    assert [kept for kept, _ in found] == [True, False, True, True, True]
    assert [[point["Mean"] for point in points] for _, points in found] == [
        [2 * 10 ** 9], [], [10 ** 9], [], [10 ** 9]]
    assert found[2][1] == series(host, ALPHA, up[3], kind=up[1], key=up[2], points=200)
    assert several(host, []) == []
    assert len(several(host, [up] * 64, points=156)) == 64


RUBBISH_AMONG_SEVERAL = [
    ([NAME] * 65, {}, "Names must be 64 at most"),
    ([NAME] * 64, {"points": 157}, "64 series may have at most 156 each"),
    ([NAME], {"points": 10001}, "Points must be from 1"), ([NAME] * 2, {"points": 5001}, "at most 5000 each"),
    ([NAME, ("alpha", *NAME[1:])], {}, "Names[1]: Node"), ([(ALPHA, "Node1.Nothing", "", "x")], {}, "Names[0]: Kind"),
    ([NAME, NAME, (*NAME[:2], "x", "TotalBytes")], {}, "Names[2]: Key"), ([(*NAME[:3], "Nothing")], {}, "Field"),
    ([("ab", *NAME[1:])] * 70, {}, "Names[0]: Node"), ([], {"points": 0}, "Points"), ([NAME], {"until": 0}, "ToUSec"),
    ([(ALPHA, "Node1.Compute", "", f"Devices[{'x' * 300}].GemmTflops")], {}, "Names[0]: Field")]


def test_rubbish_among_several(host, historyd):
    for names, range_, reason in RUBBISH_AMONG_SEVERAL:
        with fails_with(INVALID_ARGS, (names, range_)) as error:
            several(host, names, **range_)
        assert reason in error.value.message, (names, range_)


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
    wait_steadily(lambda: historyd.log_text().count("Reloaded the configuration") == 2, "the reload")
    assert (get(host, "Scope"), get(host, "BudgetBytes")) == ("all", 64 * 2 ** 20)
    host.write_config("[history]\nhistory=off\nhistory-mb=1\n")
    historyd.signal(signal.SIGHUP)
    wait_steadily(lambda: get(host, "Scope") == "off", "no history")
    assert get(host, "BudgetBytes") == 2 ** 20


def test_a_scope_that_is_none_records_nothing(host, cluster):
    """It may have been meant to be off."""
    host.write_config("[history]\nhistory=of\n")
    historyd = host.start_daemon("historyd")
    wait_steadily(lambda: get(host, "Scope") == "off", "no history")
    assert "alidade.conf:2: [history] history=of refused" in historyd.log_text()


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


REFUSED_SILENCES = [
    ("alpha", "", NEVER, ""), (ALPHA, "beta", NEVER, ""), (ALPHA, ALPHA, NEVER, ""), (ALPHA, "", 5, ""),
    (ALPHA, "", 2 ** 60, ""), (ALPHA, "", NEVER, "x" * 257)]


def test_silences_that_are_refused(host, historyd):
    for words in REFUSED_SILENCES:
        with fails_with(INVALID_ARGS, words):
            call(host, "Silence", "ssts", words)
        assert call(host, "GetSilences") == [], words


def test_only_some_may_silence(make_host):
    host = start(make_host, "historyd", polkit=True)
    for words in (("Silence", "ssts", (ALPHA, "", NEVER, "")), ("Unsilence", "ss", (ALPHA, ""))):
        with fails_with(NOT_AUTHORIZED):
            call(host, *words, "daemon")
    assert call(host, "GetSilences", user="daemon") == []
    host.polkit.allow(ACTION, "daemon")
    call(host, "Silence", "ssts", (ALPHA, "", NEVER, ""), "daemon")
    assert call(host, "GetSilences")[0]["Uid"] == 1


# Events. The service has a clock of its own, which its findings' beginnings and ends wait for.

class Watched:
    """A history service, what it reports, and the cluster that it watches."""

    def __init__(self, host):
        self.host = host
        self.cluster = Cluster(host)
        self.cluster.online(ALPHA, BETA)
        self.hours = Hours(host)
        self.notices = Notices(host)
        self.start()

    def start(self):
        self.historyd = self.host.start_daemon("historyd", env=self.hours.environment)
        wait_steadily(lambda: get(self.host, "Scope") == "all", "the history to begin")

    def fill(self, *nodes):
        self.cluster.take(*(disk(node, 0.001) for node in nodes))

    def wait_for_beginning(self, node, step=10):
        """The arguments of its signal."""
        def reported():
            return next((args for args in self.notices.began if args[-1].get("Nodes") == [node]), None)
        found = self.hours.pass_until(reported, f"the finding about {node} to begin", step)
        get(self.host, "Scope")  # it is answered once the service has also saved that
        return found


@pytest.fixture
def watched(host):
    return Watched(host)


def test_findings_begin_and_end(host, watched):
    at = now()
    watched.fill(ALPHA)
    event, began, finding = watched.wait_for_beginning(ALPHA)
    assert at <= began <= watched.hours.now() - 30 * SECOND
    assert finding["Id"] == DISK and finding["Severity"] == "error" and finding["Path"] == "/"
    assert call(host, "GetEvents", "tt", (0, FOREVER)) == ([{"Event": event, "BeganUSec": began}], [finding], False)
    assert events(host, until=began) == [] and events(host, since=began + HOUR) == [(DISK, False)]
    watched.cluster.take(disk(ALPHA, 0.5))
    (ended,) = watched.hours.pass_until(lambda: watched.notices.ended, "the finding to end", 20)
    assert ended[:2] == (event, began) and ended[3]["Id"] == DISK
    assert began < ended[2] <= watched.hours.now() - 300 * SECOND
    rows, _, _ = call(host, "GetEvents", "tt", (0, FOREVER))
    assert rows == [{"Event": event, "BeganUSec": began, "EndedUSec": ended[2]}]
    assert events(host, since=ended[2] + 1) == []


def test_what_comes_and_goes_is_one_event(host, watched):
    watched.fill(ALPHA)
    event, began, _ = watched.wait_for_beginning(ALPHA)
    watched.cluster.take(disk(ALPHA, 0.5))
    watched.fill(BETA)
    watched.wait_for_beginning(BETA)
    watched.fill(ALPHA)
    watched.cluster.take(disk(BETA, 0.5))
    watched.hours.pass_until(lambda: watched.notices.ended, "the other one to end", 20)
    assert [args[0] for args in watched.notices.began].count(event) == 1 and watched.notices.ended[0][0] != event
    assert events(host) == [(DISK, False), (DISK, True)]
    assert call(host, "GetEvents", "tt", (0, FOREVER))[0][0] == {"Event": event, "BeganUSec": began}


def test_silent_findings_are_reported_when_the_silence_ends(host, watched):
    call(host, "Silence", "ssts", (ALPHA, "", NEVER, ""))
    watched.fill(ALPHA, BETA)
    watched.wait_for_beginning(BETA)
    watched.hours.pass_until(lambda: len(events(host)) == 2, "both events")
    assert watched.notices.nodes() == [[BETA]]
    call(host, "Unsilence", "ss", (ALPHA, ""))
    assert watched.notices.nodes() == [[BETA], [ALPHA]]


def test_a_silence_that_ends_by_itself(host, watched):
    call(host, "Silence", "ssts", (ALPHA, "", watched.hours.now() + 600 * SECOND, ""))
    at = watched.hours.now()
    watched.fill(ALPHA)
    watched.wait_for_beginning(ALPHA, step=30)
    assert watched.hours.now() >= at + 600 * SECOND and call(host, "GetSilences") == []


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_restart_repeats_nothing(host, watched, how):
    watched.fill(ALPHA)
    event, began, _ = watched.wait_for_beginning(ALPHA)
    getattr(watched.historyd, how)()
    watched.start()
    watched.fill(BETA)
    watched.wait_for_beginning(BETA)
    assert watched.notices.nodes() == [[ALPHA], [BETA]] and watched.notices.ended == []
    rows, _, _ = call(host, "GetEvents", "tt", (0, FOREVER))
    assert rows[0] == {"Event": event, "BeganUSec": began} and len(rows) == 2


def test_a_restart_of_the_state_service_repeats_nothing(host, watched):
    watched.fill(ALPHA)
    event, began, _ = watched.wait_for_beginning(ALPHA)
    next(daemon for daemon in host.daemons if daemon.name == "stated").kill()
    host.start_daemon("stated")
    watched.cluster.online(ALPHA, BETA)
    watched.fill(ALPHA, BETA)
    watched.wait_for_beginning(BETA)
    assert watched.notices.nodes() == [[ALPHA], [BETA]] and watched.notices.ended == []
    assert call(host, "GetEvents", "tt", (0, FOREVER))[0][0] == {"Event": event, "BeganUSec": began}


# A member that reports ever new findings

LIAR, OTHER = node_id(3), node_id(4)
NOTICES_AT_ONCE = 20
NOTICE_SECONDS = 300


def of_others(host):
    rows, findings, _ = call(host, "GetEvents", "tt", (0, FOREVER))
    return [(row, finding) for row, finding in zip(rows, findings) if finding.get("Reporter") != LIAR]


@needs_namespaces
def test_ever_new_findings_of_a_member(host):
    """Nothing of others is lost, and what is lost of its own, or not reported one by one, is counted; also if the
    service is killed meanwhile."""
    host.write_config("[history]\nhistory-mb=1\n")
    with JournalSocket(host) as journal:
        watched = Watched(host)
        watched.cluster.online(LIAR, OTHER)
        begun_at = watched.hours.now()
        watched.fill(ALPHA)
        watched.wait_for_beginning(ALPHA)
        watched.cluster.take(disk(ALPHA, 0.5))
        watched.hours.pass_until(lambda: watched.notices.ended, "the finding to end", 20)
        watched.fill(BETA)
        watched.wait_for_beginning(BETA)
        before = of_others(host)
        assert ["EndedUSec" in row for row, _ in before] == [True, False]
        liar = EverNew(watched.cluster, watched.hours, watched.notices, LIAR)
        for _ in range(3):
            liar.round(journal.read)
        assert get(host, "WithheldNotices") > 0 and get(host, "LeftOutFindings") == 0
        reported = liar.reported()
        watched.historyd.kill()
        watched.start()
        for _ in range(3):
            liar.round(journal.read)
        assert reported == 180 and get(host, "LostEvents") > 0
        assert of_others(host) == before
        assert len(call(host, "GetEvents", "tt", (0, FOREVER))[0]) <= 128
        hours = (watched.hours.now() - begun_at) / SECOND / NOTICE_SECONDS
        assert NOTICES_AT_ONCE < len(liar.notices) <= NOTICES_AT_ONCE + hours + 1
        last = liar.notices[-1]
        assert last["LeftOut"] > 40 and last["Id"] == DISK and last["Nodes"] == [LIAR]
        entries = [entry for entry in journal.read() if entry.get("ALIDADE_REPORTER") == LIAR]
        assert len(entries) <= len(liar.notices) + NOTICES_AT_ONCE
        assert journal.wait(ALIDADE_LEFT_OUT=str(last["LeftOut"]), ALIDADE_NODES=LIAR)["MESSAGE"] == last["Text"]
        watched.fill(OTHER)
        watched.wait_for_beginning(OTHER)
        assert [finding["Nodes"] for _, finding in of_others(host)] == [[ALPHA], [BETA], [OTHER]]


# The journal

def catalog(*options, root):
    return subprocess.run(["journalctl", f"--root={root}", *options], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def messages(tmp_path):
    """What journalctl explains of our catalog: {MESSAGE_ID: text}."""
    folder = tmp_path / "usr/lib/systemd/catalog"
    folder.mkdir(parents=True)
    (tmp_path / "var/lib/systemd/catalog").mkdir(parents=True)
    shutil.copy(SOURCE / "services/history/alidade.catalog", folder)
    catalog("--update-catalog", root=tmp_path)
    ids = [line.split()[0] for line in catalog("--list-catalog", root=tmp_path).splitlines()]
    return {name: catalog("--dump-catalog", name, root=tmp_path) for name in ids}


@needs_namespaces
def test_the_journal(host, messages):
    with JournalSocket(host) as journal:
        watched = Watched(host)
        watched.fill(ALPHA)
        event, began, finding = watched.wait_for_beginning(ALPHA)
        entry = journal.wait(ALIDADE_FINDING=DISK)
        assert "Subject: Finding @ALIDADE_FINDING@ began\n" in messages[entry["MESSAGE_ID"]]
        assert entry["PRIORITY"] == "3" and entry["MESSAGE"] == entry["ALIDADE_TEXT"] == finding["Text"]
        assert entry["ALIDADE_REMEDY"] == finding["Remedy"] and entry["ALIDADE_NODES"] == ALPHA
        assert entry["ALIDADE_NAMES"] == finding["Names"][0] and entry["ALIDADE_EVENT"] == str(event)
        assert entry["ALIDADE_BEGAN_USEC"] == str(began) and entry["ALIDADE_ENDED_USEC"] == ""
        assert entry["ALIDADE_SYMPTOMS"] == "0"
        watched.cluster.take(disk(ALPHA, 0.02), disk(BETA, 0.02))
        watched.wait_for_beginning(BETA)
        assert journal.wait(ALIDADE_NODES=BETA)["PRIORITY"] == "4"
        watched.cluster.take(disk(ALPHA, 0.5))
        (ended,) = watched.hours.pass_until(lambda: watched.notices.ended, "the finding to end", 20)
        over = journal.wait(ALIDADE_ENDED_USEC=str(ended[2]))
        assert "Subject: Finding @ALIDADE_FINDING@ ended\n" in messages[over["MESSAGE_ID"]]
        assert over["PRIORITY"] == "5" and over["MESSAGE"] == f"Over: {over['ALIDADE_TEXT']}"
        assert over["ALIDADE_EVENT"] == str(event) and over["ALIDADE_BEGAN_USEC"] == str(began)
        known = {name for name in entry if name.startswith("ALIDADE_")}
        for text in messages.values():
            assert set(re.findall(r"@(\w+)@", text)) <= known
        call(host, "Silence", "ssts", (BETA, "", NEVER, ""))
        before = len(journal.read())
        watched.cluster.take(disk(BETA, 0.5))
        watched.hours.pass_until(lambda: [ended for _, ended in events(host)] == [True, True], "the other one", 20)
        assert not [entry for entry in journal.read()[before:] if "ALIDADE_FINDING" in entry]


@needs_namespaces
def test_a_journal_that_reads_nothing_is_not_waited_for(host):
    with JournalSocket(host) as journal:
        watched = Watched(host)
        journal.fill()
        watched.fill(ALPHA)
        watched.wait_for_beginning(ALPHA)
        assert get(host, "LostEntries") == 1


# Slower than the past

class Results:
    """What probes measured, an hour apart: each reaches the history before the next one is there."""

    def __init__(self, host, cluster, hours=23):
        self.host, self.cluster = host, cluster
        self.measured = now() - hours * HOUR

    def links(self, *rates, sink=BETA, **fields):
        for rate in rates:
            self.cluster.take(link(now(), sink, rate, measured=self.measured, **fields))
            self._wait("UploadBitsPerSecond", kind="Link1.Socket", key=f"{sink},192.0.2.2")

    def devices(self, *rates, **fields):
        for rate in rates:
            at = now()
            self.cluster.take(record(ALPHA, "Node1.Compute", seq=at, updated=at, Devices=[
                {"Id": GPU, "GemmTflops": rate, "MeasuredUSec": self.measured, **fields}]))
            self._wait(f"Devices[{GPU}].GemmTflops", kind="Node1.Compute")

    def _wait(self, field, **options):
        wait_steadily(lambda: series(self.host, ALPHA, field, since=self.measured - SECOND,
                                     until=self.measured + SECOND, **options), "the result to be recorded")
        self.measured += HOUR


def slower(host):
    return call(host, "GetFindings")


def wait_for_slower(host, count=1):
    wait_steadily(lambda: len(slower(host)) == count, lambda: f"{count} findings; there are {slower(host)}")
    return slower(host)


def about(value):
    """Values of the past are rounded to 0.25 %, and times to the minute."""
    return pytest.approx(value, rel=0.003)


def test_links_that_are_slower_than_their_past(host, cluster, historyd):
    results = Results(host, cluster)
    changes = host.log_signals(HISTORY, PATH, HISTORY, "FindingsChanged")
    results.links(*[10 ** 9] * 22)
    since = results.measured
    results.links(6 * 10 ** 8)
    assert slower(host) == [] and changes.received == [], "one result may be chance"
    results.links(5 * 10 ** 8)
    (row,) = wait_for_slower(host)
    changes.wait()
    assert (row["Id"], row["Severity"], row["Nodes"]) == (SLOWER, "warning", [ALPHA, BETA])
    assert row["UploadBitsPerSecond"] == about(6 * 10 ** 8) and row["PastBitsPerSecond"] == about(10 ** 9)
    assert "DownloadBitsPerSecond" not in row and row["Interface"] == "eth0" and row["Address"] == "192.0.2.2"
    assert abs(row["SinceUSec"] - since) <= 60 * SECOND and "slower than its own past" in row["Text"]
    historyd.stop()
    host.start_daemon("historyd")
    assert wait_for_slower(host) == [row]
    results.links(10 ** 9)
    wait_for_slower(host, 0)


def test_devices_that_are_slower_than_their_past(host, cluster, historyd):
    cluster.take(record(ALPHA, "Node1.Backends", updated=now(), Devices=[
        {"Id": GPU, "Class": "gpu", "Name": "RTX 4090", "Driver": "nvidia"}]))
    results = Results(host, cluster)
    results.devices(*[160.0] * 22, 100.0, 100.0)
    (row,) = wait_for_slower(host)
    assert (row["Id"], row["Nodes"], row["Device"], row["DeviceName"], row["Field"]) == (
        SLOWER, [ALPHA], GPU, "RTX 4090", "GemmTflops")
    assert row["Tflops"] == about(100) and row["PastTflops"] == about(160)
    assert SLOWER in host.alidadectl("status", "--json").stdout and "1 warning" in host.alidadectl("status").stdout
    changes = host.log_signals(HISTORY, PATH, HISTORY, "FindingsChanged")
    cluster.take(record(ALPHA, "Node1.Compute", seq=now(), updated=now(), Devices=[]))
    changes.wait()
    assert slower(host) == []


def test_disturbed_results_do_not_count(host, cluster, historyd):
    results = Results(host, cluster)
    results.links(*[10 ** 9] * 20)
    results.links(5 * 10 ** 8, 5 * 10 ** 8, Flags=["disturbed"])
    results.links(5 * 10 ** 8)
    fence = Results(host, cluster)
    fence.links(*[10 ** 9] * 22, 5 * 10 ** 8, 5 * 10 ** 8, sink=node_id(3))
    (row,) = wait_for_slower(host)
    assert row["Nodes"] == [ALPHA, node_id(3)], "of the other link one result alone is slow and counts"
    results.links(5 * 10 ** 8)
    assert sorted(row["Nodes"][1] for row in wait_for_slower(host, 2)) == [BETA, node_id(3)]


def test_unreliable_results_of_devices_do_not_count(host, cluster, historyd):
    """Which flags make one so is in the unit test past-watch."""
    results = Results(host, cluster)
    results.devices(*[160.0] * 20)
    results.devices(100.0, 100.0, Flags=["busy"])
    fence = Results(host, cluster)
    fence.links(*[10 ** 9] * 22, 5 * 10 ** 8, 5 * 10 ** 8)
    (row,) = wait_for_slower(host)
    assert row["Nodes"] == [ALPHA, BETA]


def test_what_is_slower_than_its_past_becomes_an_event(host, watched):
    results = Results(host, watched.cluster)
    results.links(*[10 ** 9] * 22, 5 * 10 ** 8, 5 * 10 ** 8)
    _, _, finding = watched.hours.pass_until(lambda: next(iter(watched.notices.began), None), "the finding")
    assert finding["Id"] == SLOWER and events(host) == [(SLOWER, False)]
