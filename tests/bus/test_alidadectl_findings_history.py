# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl findings, silence and unsilence with the history service: the real one, and one played by the test, which
has thousands of events, and hostile ones."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from bedlib import BusError, StandIn, interface_xml
from bedlib.fixtures import needs_namespaces
from bedlib.services import SOURCE, client_binary
from bedlib.waiting import wait_steadily, wait_until
from client import DENIED, ERROR, NO_NODE, OK, UNREACHABLE, USAGE, Reader, get_json
from history import (ACTION, ALPHA, BETA, HISTORY, NEVER, PATH, SECOND, Hours, Notices, disk, get)
from history import call as call_history
from played_state import fields
from state_service import Cluster, record, start
from terminal import Terminal
from test_alidadectl_played import FINDING, ME, PEER, play  # noqa: F401

NOTIFY = SOURCE / "examples/notify"
SLOW = {"Id": "slower-than-past", "Severity": "warning", "Nodes": [ME, PEER], "Names": ["atlas", "borealis"],
        "Reporter": ME, "UploadBitsPerSecond": 10 ** 9, "PastBitsPerSecond": 10 ** 10,
        "SinceUSec": 1_700_000_000_000_000, "Interface": "eth0", "Address": "192.0.2.2", "Text": "Slower",
        "Remedy": "Look at the cable"}
MINUTE = 60 * SECOND


def now():
    return time.time_ns() // 1000


# Played

class PlayedHistory:
    """events are (row, finding). Its methods do as the contract says, unless a test replaces a handler."""

    def __init__(self, host, page=2000):
        self.host, self.page = host, page
        self.events, self.findings, self.silences = [], [], []
        self.connection = self.standin = None
        self.handlers = {
            "GetEvents": self._events,
            "GetFindings": lambda: ([fields(row) for row in self.findings],),
            "GetSilences": lambda: ([fields(row) for row in self.silences],),
            "Silence": lambda *words: (), "Unsilence": lambda *words: ()}
        self.appear()

    def _events(self, since, until):
        found = [(row, finding) for row, finding in self.events
                 if row["BeganUSec"] < until and row.get("EndedUSec", NEVER) >= since]
        found.sort(key=lambda event: event[0]["BeganUSec"])
        page = found[:self.page]
        return ([fields(row) for row, _ in page], [fields(finding) for _, finding in page], len(found) > self.page)

    def appear(self):
        self.connection = self.host.new_connection()
        self.standin = StandIn(self.connection, PATH, interface_xml(HISTORY), {HISTORY: {
            "Scope": "all", "Problem": "", "BudgetBytes": 1, "SizeBytes": 1, "LostSamples": 0, "LostEntries": 0,
            "RefusedSignals": 0}}, self.handlers)
        self.connection.own(HISTORY)

    def disappear(self):
        self.standin.close()
        self.connection.close()

    def begin(self, event, finding, connection=None, destination=None):
        (connection or self.connection).emit(PATH, HISTORY, "FindingBegan", "tta{sv}", (event, now(), fields(finding)),
                                             destination)

    def end(self, event, finding):
        self.connection.emit(PATH, HISTORY, "FindingEnded", "ttta{sv}", (event, now() - MINUTE, now(), fields(finding)))

    def calls(self, method):
        return [call.args for call in self.standin.calls if call.method == method]


@pytest.fixture
def played(play):  # noqa: F811
    """A host, its played state service and its played history."""
    host, state = play(findings=[FINDING])
    history = PlayedHistory(host)
    yield host, state, history
    history.disappear()


def event(number, began, finding=FINDING, ended=None):
    return {"Event": number, "BeganUSec": began, **({} if ended is None else {"EndedUSec": ended})}, finding


def test_findings_of_both_services(played):
    host, _, history = played
    alone = host.alidadectl("findings").stdout
    history.findings = [SLOW]
    assert get_json(host, "findings")["Findings"] == [FINDING, SLOW]
    text = host.alidadectl("findings").stdout
    assert alone in text and "warning slower-than-past: atlas, borealis\n" in text and "Remedy: Look" not in text
    assert SLOW in get_json(host, "show", "atlas")["Findings"]
    assert "slower-than-past" in host.alidadectl("show", "borealis").stdout
    checked = host.alidadectl("check", "--ignore=service-missing", check=False)
    assert checked.returncode == 1 and "slower-than-past" in checked.stdout


def test_a_history_that_fails_adds_nothing(played):
    host, _, history = played

    def fail():
        raise BusError("org.alidade.Error.NotStored", "x")
    history.handlers["GetFindings"] = fail
    done = host.alidadectl("findings", "--json")
    assert json.loads(done.stdout)["Findings"] == [FINDING] and done.stderr == ""


def test_without_a_history_service(play):  # noqa: F811
    host, _ = play(findings=[FINDING])
    done = host.alidadectl("findings", "--json")
    assert json.loads(done.stdout)["Findings"] == [FINDING] and done.stderr == ""
    for words in (["findings", "--since=-1h"], ["findings", "--follow"], ["silence"], ["silence", "atlas"]):
        done = host.alidadectl(*words, check=False)
        assert done.returncode == UNREACHABLE and HISTORY in done.stderr, words


def test_a_history_that_hangs_adds_nothing(play):  # noqa: F811
    host, _ = play(findings=[FINDING])
    historyd = host.start_daemon("historyd")
    historyd.signal(signal.SIGSTOP)
    try:
        for words in (["findings"], ["show", "atlas"]):
            assert host.alidadectl(*words).stderr == ""
        for timeout in (2, 9):
            done = host.alidadectl("check", "--ignore=service-missing", f"--timeout={timeout}")
            assert (done.stdout, done.stderr) == (
                "OK: no warnings or errors about atlas (alidade-historyd did not answer)\n", "")
        found = get_json(host, "check", "--ignore=service-missing")
        assert found["Ok"] and found["Unanswered"] == ["alidade-historyd"]
    finally:
        historyd.signal(signal.SIGCONT)


def test_silent_findings_are_marked(played):
    host, _, history = played
    until = now() + 60 * MINUTE
    history.findings = [SLOW]
    history.silences = [{"Node": ME, "Peer": PEER, "BeganUSec": now(), "UntilUSec": until, "Uid": 0}]
    shown = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(until // SECOND - 5 * 3600))
    text = host.alidadectl("findings", env={"TZ": "<-05>5"}).stdout
    assert f"slower-than-past: atlas, borealis (silenced until {shown})\n" in text
    assert f"until {shown}" in host.alidadectl("findings", "--columns=silenced", env={"TZ": "<-05>5"}).stdout
    assert "rdma-unusable: borealis\n" in text
    one, two = get_json(host, "findings")["Findings"]
    assert one == FINDING and two == {**SLOW, "Silence": history.silences[0]}
    history.silences.append({"Node": PEER, "BeganUSec": now(), "Uid": 0})
    text = host.alidadectl("show", "borealis").stdout
    assert "slower-than-past: atlas, borealis (silenced until stopped)\n" in text
    assert "rdma-unusable: borealis (silenced until stopped)\n" in text


def test_past_findings(played):
    host, _, history = played
    began = now() - 90 * MINUTE
    named = {**FINDING, "Names": ["old name\x1b"]}
    history.events = [event(2, began + MINUTE, SLOW), event(1, began, named, began + 22 * MINUTE)]
    whole = get_json(host, "findings", "--since=-2h")
    assert whole == {"Events": [{**row, "Finding": finding} for row, finding in reversed(history.events)]}
    assert history.calls("GetEvents")[-1][1] == 2 ** 53
    head, first, sentence, second, *_ = host.alidadectl("findings", "--since=-2h").stdout.splitlines()
    assert head.split() == ["BEGAN", "ENDED", "LASTED", "FINDING"]
    assert re.fullmatch(r"\S+ \S+  \S+ \S+  22 min       warning rdma-unusable: old name.*", first), first
    assert "\x1b" not in first and sentence == "    RDMA cannot be used here"
    assert re.fullmatch(r"\S+ \S+  lasts                1 h 29 min   warning slower-than-past: atlas, borealis", second)
    host.alidadectl("findings", f"--since=@{began // SECOND}", "--until=-1h")
    since, until = history.calls("GetEvents")[-1]
    assert since == began // SECOND * SECOND and abs(until - (now() - 60 * MINUTE)) < MINUTE
    history.events = []
    assert host.alidadectl("findings", "--since=yesterday").stdout == "No findings in that time.\n"


def test_columns_of_findings(played):
    host, _, history = played
    history.findings = [SLOW]
    history.silences = [{"Node": PEER, "BeganUSec": now(), "Uid": 0}]
    lines = host.alidadectl("findings", "--columns=severity,id,nodes,silenced", "--sort=-id").stdout.splitlines()
    assert [re.split("  +", line.strip()) for line in lines] == [
        ["SEVERITY", "FINDING", "NODES", "SILENCED"],
        ["warning", "slower-than-past", "atlas, borealis", "until stopped"],
        ["warning", "rdma-unusable", "borealis", "until stopped"]]
    assert get_json(host, "findings", "--columns=id,nodes,reporter,left-out", "--sort=id")["Findings"] == [
        {"Id": "rdma-unusable", "Names": "borealis"},
        {"Id": "slower-than-past", "Names": "atlas, borealis", "Reporter": ME}]
    until = now() + 60 * MINUTE
    history.silences = [{"Node": ME, "Peer": PEER, "BeganUSec": now(), "UntilUSec": until, "Uid": 0}]
    assert get_json(host, "findings", "--columns=id,silenced", "--sort=id")["Findings"] == [
        {"Id": "rdma-unusable"}, {"Id": "slower-than-past", "SilencedUntilUSec": until}]
    csv = ("findings", "--csv", "--columns=id,silenced", "--sort=silenced")
    assert host.alidadectl(*csv).stdout.splitlines() == [
        "Id,SilencedUntilUSec", f"slower-than-past,{until}", "rdma-unusable,"]
    history.silences.append({"Node": PEER, "BeganUSec": now(), "Uid": 0})
    assert get_json(host, "findings", "--columns=silenced")["Findings"] == [{"SilencedUntilUSec": "infinity"}] * 2
    assert [line.split(",")[1] for line in host.alidadectl(*csv).stdout.splitlines()[1:]] == ["infinity"] * 2
    assert host.alidadectl("findings", "--csv", "--columns=id,nodes,severity").stdout.splitlines() == [
        "Id,Names,Severity", "rdma-unusable,borealis,warning", 'slower-than-past,"atlas, borealis",warning']
    text = host.alidadectl("findings", "--sort=-id").stdout
    assert re.findall("^warning ([a-z-]+):", text, re.MULTILINE) == ["slower-than-past", "rdma-unusable"]
    assert "    RDMA cannot be used here\n    Remedy: Plug in a cable\n" in text, "as without --sort"


def test_columns_of_past_findings(played):
    host, _, history = played
    began = now() - 90 * MINUTE
    history.events = [event(1, began, ended=began + 22 * MINUTE), event(2, began + MINUTE, SLOW)]
    past = ("findings", "--since=-2h")
    lines = host.alidadectl(*past, "--columns=lasted,ended,id", "--sort=-lasted").stdout.splitlines()
    assert [line.split()[-1] for line in lines] == ["FINDING", "slower-than-past", "rdma-unusable"]
    assert re.fullmatch(r" *1 h 29 min +lasts  slower-than-past", lines[1]), lines[1]
    assert re.fullmatch(r" *22 min  \S+ \S+  rdma-unusable", lines[2]), lines[2]
    listed = get_json(host, *past, "--columns=id,began,ended,lasted", "--sort=-ended,-began")["Events"]
    assert 89 * MINUTE <= listed[1].pop("LastedUSec") < 90 * MINUTE
    assert listed == [
        {"Id": "rdma-unusable", "BeganUSec": began, "EndedUSec": began + 22 * MINUTE, "LastedUSec": 22 * MINUTE},
        {"Id": "slower-than-past", "BeganUSec": began + MINUTE}], "what has not ended comes last"
    head = host.alidadectl(*past, "--csv").stdout.splitlines()[0]
    assert head == "BeganUSec,EndedUSec,LastedUSec,Severity,Id,Names,Text"
    assert get_json(host, *past)["Events"][0]["Finding"] == FINDING, "records, without columns"


def test_a_history_that_begins_later(played):
    """No findings before then does not mean that all was well."""
    host, _, history = played
    began = now() // SECOND * SECOND - 60 * MINUTE
    history.handlers["GetRange"] = lambda: (began, now())
    line = time.strftime("The history begins at %Y-%m-%d %H:%M:%S.\n", time.localtime(began // SECOND))

    def listed(*options):
        return host.alidadectl("findings", *options).stdout
    assert listed("--since=-2h") == "No findings in that time.\n" + line
    assert listed("--since=-2d", "--until=-1d") == "No findings in that time.\n" + line
    assert listed("--since=-30min") == "No findings in that time.\n"
    history.events = [event(1, began + MINUTE)]
    assert listed("--since=-2h").endswith("\n" + line)
    history.events.append(event(2, began - MINUTE))
    assert "history" not in listed("--since=-2h")
    assert len(get_json(host, "findings", "--since=-2h")["Events"]) == 2


def test_many_past_findings(played):
    host, _, history = played
    history.page = 40
    began = now() - 1000 * MINUTE
    history.events = [event(number, began + number * MINUTE, ended=None if number % 10 == 0 else began + 900 * MINUTE)
                      for number in range(19)]
    history.events += [event(number, began + number * MINUTE, ended=began + (number + 1) * MINUTE)
                       for number in range(19, 300)]
    found = get_json(host, "findings", "--since=-2d")["Events"]
    assert [row["Event"] for row in found] == list(range(300))


def test_more_at_once_than_a_page(played):
    host, _, history = played
    history.page = 20
    history.events = [event(number, 10 ** 15 + number) for number in range(30)]
    done = host.alidadectl("findings", "--since=-1h", "--json")
    assert [row["Event"] for row in json.loads(done.stdout)["Events"]] == list(range(20))
    assert "some are missing" in done.stderr


def test_odd_replies(played):
    host, _, history = played
    for rows, findings in (([{}], []), ([{"Event": 1}], [{}]), ([], [{}])):
        history.handlers["GetEvents"] = lambda since, until: (
            [fields(row) for row in rows], [fields(row) for row in findings], False)
        done = host.alidadectl("findings", "--since=-1h", "--json", check=False)
        if len(rows) == len(findings):
            assert json.loads(done.stdout) == {"Events": []}, rows
        else:
            assert done.returncode == ERROR and "does not match the interface" in done.stderr, rows


def test_a_history_that_is_off(played):
    host, _, history = played
    history.standin.values[HISTORY]["Scope"] = "off"
    done = host.alidadectl("findings", "--since=-1h")
    assert done.stdout == "No findings in that time.\n" and "switched off" in done.stderr


REFUSED = [
    (["--since=whenever"], "whenever"), (["--since=1900-01-01"], "is out of range"),
    (["--until=-1h"], "--until needs --since"),
    (["--since=-1h", "--until=-2h"], "later than"), (["--follow", "--until=now"], "--follow"),
    (["--since=-1h", "--until=never"], "never"), (["now"], "Usage"), (["--since"], "--since"),
    (["--columns=id,x"], 'Unknown column "x"; see alidadectl findings --columns=help'),
    (["--sort=x"], 'Unknown column "x"'), (["--since=-1h", "--sort=x"], 'Unknown column "x"'),
    (["--follow", "--sort=id"], "--follow prints no table"), (["--csv", "--json"], "exclude each other")]


def test_command_lines_that_are_refused(played):
    host, *_ = played
    for words, reason in REFUSED:
        done = host.alidadectl("findings", *words, check=False)
        assert done.returncode == USAGE and reason in done.stderr and done.stdout == "", words


# Following

def test_following_as_json(played):
    host, _, history = played
    history.events = [event(1, 5, ended=9), event(2, now() - MINUTE, SLOW)]
    with Reader(host, "findings", "-f", "--json") as reader:
        assert reader.wait_for_event(Change="listed") == {
            "Change": "listed", **history.events[1][0], "Finding": SLOW}
        reader.wait_for_event(Change="synced")
        history.begin(3, FINDING)
        began = reader.wait_for_event(Change="began")
        assert began["Event"] == 3 and began["Finding"] == FINDING and "EndedUSec" not in began
        history.end(3, FINDING)
        ended = reader.wait_for_event(Change="ended")
        assert ended["Event"] == 3 and ended["EndedUSec"] - ended["BeganUSec"] >= MINUTE
        reader.process.signal(signal.SIGINT)
        assert reader.process.wait() == OK


def test_following_survives_a_restart(played):
    host, _, history = played
    with Reader(host, "findings", "--follow", "--json") as reader:
        reader.wait_for_event(Change="synced")
        history.disappear()
        reader.wait_for_event(Change="lost")
        history.appear()
        reader.wait_for_event(Change="synced")
        history.begin(4, FINDING)
        assert reader.wait_for_event(Change="began")["Event"] == 4


def test_only_the_service_is_followed(played):
    host, _, history = played
    with Reader(host, "findings", "--follow", "--json") as reader:
        reader.wait_for_event(Change="synced")
        forger = host.new_connection()
        (follower,) = {call.sender for call in history.standin.calls if call.method == "GetEvents"}
        history.begin(66, FINDING, forger)
        history.begin(66, FINDING, forger, follower)
        forger.emit("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                    (HISTORY, "", forger.unique_name), follower)
        history.begin(66, FINDING, forger, follower)
        forger.fence()
        history.begin(5, FINDING)
        assert reader.wait_for_event()["Event"] == 5


def test_following_on_a_terminal(played):
    host, _, history = played
    with Terminal(host, [client_binary(), "findings", "--follow"], columns=120) as terminal:
        terminal.wait_for_text("BEGAN")
        history.begin(5, FINDING)
        terminal.wait_for(lambda shown: re.search(r"began +\S+ \S+ +warning rdma-unusable: ", shown), "the beginning")
        history.end(5, FINDING)
        terminal.wait_for(lambda shown: re.search(r"\d  1 min +warning rdma-unusable: ", shown), "the end")
        history.disappear()
        terminal.wait_for_text("The history service disappeared")
        history.appear()
        terminal.wait_for_text("The history service is back")
        terminal.type("\x03")
        assert terminal.wait() == OK


def test_a_reader_that_is_gone_ends_it(played):
    host, _, history = played
    with Reader(host, "findings", "--follow", "--json") as reader:
        reader.wait_for_event(Change="synced")
        reader.close()
        history.begin(1, FINDING)
        assert reader.process.wait() == OK


def test_odd_signals_are_skipped(played):
    host, _, history = played
    with Reader(host, "findings", "--follow", "--json") as reader:
        reader.wait_for_event(Change="synced")
        history.connection.emit(PATH, HISTORY, "FindingBegan", "s", ("x",))
        history.connection.emit(PATH, HISTORY, "FindingEnded", "tta{sv}", (1, 2, fields(FINDING)))
        history.begin(NEVER, {"Id": "from\nlater", "Severity": "odd", "Text": "a\x1bb"})
        found = reader.wait_for_event()
        assert found["Change"] == "began" and "Event" not in found and found["Finding"]["Text"] == "a\x1bb"


# Silences

def test_silencing(played):
    host, _, history = played
    assert host.alidadectl("silence", "atlas").stdout == (
        'Findings about atlas are silent until "alidadectl unsilence"\n')
    assert history.calls("Silence")[-1] == (ME, "", NEVER, "")
    done = host.alidadectl("silence", "--for=2h", "--reason=moves", "borealis", ME).stdout
    assert re.fullmatch(
        r"Findings about the links between borealis and atlas are silent until 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\n", done)
    node, peer, until, reason = history.calls("Silence")[-1]
    assert (node, peer, reason) == (PEER, ME, "moves") and abs(until - now() - 120 * MINUTE) < MINUTE
    assert host.alidadectl("unsilence", "atlas", "borealis").stdout == (
        "Findings about the links between atlas and borealis are reported again\n")
    assert history.calls("Unsilence")[-1] == (ME, PEER)
    gone = f"{7:032x}"
    host.alidadectl("unsilence", gone)
    assert history.calls("Unsilence")[-1] == (gone, "")
    for words in (["silence", gone], ["silence", "atlas", "nobody"], ["unsilence", "nobody"]):
        done = host.alidadectl(*words, check=False)
        assert done.returncode == NO_NODE and "No node is called" in done.stderr
    assert len(history.calls("Silence")) == 2


def test_a_silence_of_an_unknown_node_ends(played):
    """It is called as in the list; more digits tell two of them apart."""
    host, _, history = played
    gone, other = "abcdef01" + 24 * "2", "abcdef01" + 24 * "3"
    history.silences = [{"Node": PEER, "Peer": gone, "BeganUSec": now(), "Uid": 0},
                        {"Node": gone, "BeganUSec": now(), "Uid": 0}]
    shown = host.alidadectl("silence").stdout.splitlines()[-1].split()[0]
    for words, ids in (([shown], (gone, "")), ([gone[:11]], (gone, "")), (["borealis", shown], (PEER, gone)),
                       ([shown, "atlas"], (gone, ME))):
        host.alidadectl("unsilence", *words)
        assert history.calls("Unsilence")[-1] == ids
    history.silences.append({"Node": other, "BeganUSec": now(), "Uid": 0})
    host.alidadectl("unsilence", other[:9])
    assert history.calls("Unsilence")[-1] == (other, "")
    n = len(history.calls("Unsilence"))
    for word in (shown, gone[:4], "12345678"):
        assert host.alidadectl("unsilence", word, check=False).returncode == NO_NODE
    assert len(history.calls("Unsilence")) == n


REFUSED_SILENCES = [
    ["silence", "atlas", "borealis", "atlas"], ["unsilence"], ["silence", "--for=2h"], ["silence", "--reason=x"],
    ["silence", "atlas", "--for=soon"], ["silence", "atlas", "--for=0"], ["silence", "atlas", "--for=9999999y"],
    ["silence", "atlas", "--reason=" + "x" * 257], ["silence", "atlas", "--json"], ["unsilence", "atlas", "--for=1h"],
    ["silence", "atlas", "atlas"]]


def test_silences_that_are_refused(played):
    host, _, history = played
    for words in REFUSED_SILENCES:
        done = host.alidadectl(*words, check=False)
        assert done.returncode == USAGE and done.stderr, words
        assert not history.calls("Silence") + history.calls("Unsilence"), words


def test_the_usage_is_that_of_the_help(played):
    host, *_ = played
    for words in (["silence", "atlas", "borealis", "atlas"], ["unsilence"]):
        usage = host.alidadectl(words[0], "--help").stdout.split("\n\n")[0].splitlines()
        done = host.alidadectl(*words, check=False)
        assert done.stderr.splitlines() == [f"alidadectl: {line}" for line in usage] and "[OPTION…]" in usage[0], words


def test_a_duration_needs_a_unit(played):
    """Somebody who writes --for=2 may mean hours: 2 seconds would replace a silence that lasts."""
    host, _, history = played
    done = host.alidadectl("silence", "atlas", "--for=2", check=False)
    assert done.returncode == USAGE and not history.calls("Silence")
    assert done.stderr == "alidadectl: --for=2 has no unit: write 2h or 2s, for example\n"
    done = host.alidadectl("findings", "--since=-2", check=False)
    assert done.returncode == USAGE and done.stderr == "alidadectl: --since=-2 has no unit, such as -2h or -2s\n"


def test_errors_of_the_service_are_shown(played):
    host, _, history = played

    def refuse(*words):
        raise BusError("org.alidade.Error.NoSuchSilence", "There is no such silence")
    history.handlers["Unsilence"] = refuse
    done = host.alidadectl("unsilence", "atlas", "borealis", check=False)
    assert done.returncode == ERROR
    assert done.stderr == ("alidadectl: Cannot end the silence of the links between atlas and borealis: "
                           "There is no such silence\n")


def test_listing_silences(played):
    host, _, history = played
    assert host.alidadectl("silence").stdout == "Nothing is silent.\n"
    assert get_json(host, "silence") == {"Silences": []}
    history.silences = [
        {"Node": ME, "BeganUSec": now(), "Uid": 0, "Reason": "moves\nto \x1b another rack"},
        {"Node": PEER, "Peer": f"{7:032x}", "BeganUSec": now(), "UntilUSec": now() + MINUTE, "Uid": 4_000_000}]
    head, first, second = host.alidadectl("silence").stdout.splitlines()
    assert head.split() == ["NODE", "LINKS", "TO", "UNTIL", "USER", "REASON"]
    assert re.fullmatch(r"atlas +further notice +root +moves.to . another rack", first), first
    assert re.fullmatch(r"borealis +00000000 +\S+ \S+ +4000000 *", second), second
    assert get_json(host, "silence")["Silences"] == history.silences


# Real

class Real:
    """The state service, a history service with a clock of its own, and two machines with names."""

    def __init__(self, make_host, **options):
        self.host = start(make_host, **options)
        self.cluster = Cluster(self.host)
        self.cluster.online(ALPHA, BETA)
        at = now()
        self.cluster.take(record(ALPHA, "Node1.Identity", seq=at, updated=at, FriendlyName="alpha"),
                          record(BETA, "Node1.Identity", seq=at, updated=at, FriendlyName="beta"))
        self.hours = Hours(self.host)
        self.notices = Notices(self.host)
        self.start()

    def start(self):
        self.historyd = self.host.start_daemon("historyd", env=self.hours.environment)
        wait_steadily(lambda: get(self.host, "Scope") == "all", "the history to begin")

    def wait_for(self, change, reader):
        """The next line of this kind, while time passes."""
        def printed():
            get(self.host, "Scope")
            reader.read()
            found = [json.loads(line) for line in reader.lines]
            return next((line for line in found if line["Change"] == change), None)
        found = self.hours.pass_until(printed, f"a line {change}", 20)
        reader.lines.clear()
        return found


@needs_namespaces
def test_real_findings_begin_and_end(make_host):
    real = Real(make_host)
    host = real.host
    with Reader(host, "findings", "--follow", "--json") as reader:
        reader.wait_for_event(Change="synced")
        real.cluster.take(disk(ALPHA, 0.001))
        began = real.wait_for("began", reader)
        assert began["Finding"]["Nodes"] == [ALPHA]
        listed = get_json(host, "findings", "--since=-1h")["Events"]
        assert [{**row, "Change": "began"} for row in listed] == [began]
        real.historyd.kill()
        reader.wait_for_event(Change="lost")
        real.start()
        reader.wait_for_event(Change="synced")
        real.cluster.take(disk(ALPHA, 0.5))
        ended = real.wait_for("ended", reader)
    assert ended["Event"] == began["Event"] and ended["BeganUSec"] == began["BeganUSec"]
    (row,) = get_json(host, "findings", "--since=-1h")["Events"]
    assert {**row, "Change": "ended"} == ended
    text = host.alidadectl("findings", "--since=-1h").stdout
    assert re.search(r"error disk-nearly-full: alpha\n    ", text)


@needs_namespaces
def test_real_silences(make_host):
    real = Real(make_host, polkit=True)
    host = real.host
    done = host.alidadectl("silence", "alpha", user="nobody", check=False)
    assert done.returncode == DENIED and "Cannot silence alpha" in done.stderr
    host.polkit.allow(ACTION, "nobody")
    host.alidadectl("silence", "alpha", "--for=1d", "--reason=repair", user="nobody")
    host.alidadectl("silence", "beta", "alpha")
    assert [(row["Node"], row.get("Peer"), row.get("Reason")) for row in call_history(host, "GetSilences")] == [
        (ALPHA, None, "repair"), (BETA, ALPHA, None)]
    listed = host.alidadectl("silence", "--json", user="nobody").stdout
    assert json.loads(listed)["Silences"] == call_history(host, "GetSilences")
    real.cluster.take(disk(ALPHA, 0.001))
    wait_steadily(lambda: "disk-nearly-full: alpha (silenced until " in host.alidadectl("findings").stdout, "the mark")
    host.alidadectl("unsilence", "alpha", "beta")
    host.alidadectl("unsilence", "alpha", user="nobody")
    assert host.alidadectl("silence").stdout == "Nothing is silent.\n"
    done = host.alidadectl("unsilence", "alpha", check=False)
    assert done.returncode == ERROR and "Cannot end the silence of alpha" in done.stderr


@needs_namespaces
def test_silence_asks_on_a_terminal(make_host):
    """As test_set_name_asks_on_a_terminal()."""
    host = Real(make_host, polkit=True).host
    agent = host.dir / "bin" / "pkttyagent"
    agent.parent.mkdir()
    agent.write_text('#!/bin/sh\n[ "$*" = "--notify-fd 3 --fallback" ] && exec /usr/bin/pkttyagent --notify-fd 3\n')
    agent.chmod(0o755)
    with Terminal(host, [client_binary(), "silence", "alpha"], columns=160, user="nobody",
                  env={"PATH": f"{agent.parent}:/usr/bin:/bin"}) as terminal:
        terminal.wait_for_text(f"AUTHENTICATING FOR {ACTION}")
        terminal.wait_for_no_echo()
        terminal.type("wrong\n")
        assert terminal.wait(30) == DENIED
    assert call_history(host, "GetSilences") == []


# The example that mails or posts

needs_jq = pytest.mark.skipif(not os.path.exists("/usr/bin/jq"), reason="jq is not installed")
EVIL = {"Id": "rdma-unusable", "Severity": "error", "Nodes": [PEER], "Names": ["a\r\nBcc: mallory@example.org\n\n.\nb"],
        "Text": "Größe\n.\nx", "Remedy": "Plug"}
LINES = "".join(json.dumps(line) + "\n" for line in (
    {"Change": "listed", "Event": 1, "BeganUSec": 1, "Finding": EVIL}, {"Change": "synced"},
    {"Change": "began", "Event": 2, "BeganUSec": 1_700_000_000_000_000, "Finding": EVIL}, {"Change": "lost"},
    {"Change": "ended", "Event": 2, "BeganUSec": 1_700_000_000_000_000, "EndedUSec": 1_700_000_060_000_000,
     "Finding": {"Id": "odd"}}))


@pytest.fixture
def sendmail(tmp_path):
    """A folder with a program of this name, which keeps each mail in mail.N."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "sendmail"
    program.write_text('#!/bin/sh\n[ "$*" = "-i -t" ] || exit 64\nn=$(ls "${0%/*}" | wc -l)\ncat >"${0%/*}/new"\n'
                       'mv "${0%/*}/new" "${0%/*}/mail.$n"\n')
    program.chmod(0o755)
    return folder


def run_notify(name, **environment):
    return subprocess.run([NOTIFY / f"notify-{name}"], input=LINES, text=True, capture_output=True, check=False,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", **environment}, timeout=60)


@needs_jq
def test_notices_are_mailed(sendmail):
    done = run_notify("mail", PATH=f"{sendmail}:/usr/bin:/bin", NOTIFY_MAIL_TO="ada@example.org")
    assert (done.returncode, done.stderr) == (0, "")
    first, second = (path.read_text() for path in sorted(sendmail.glob("mail.*")))
    head, body = first.split("\n\n", 1)
    assert head.splitlines()[:2] == ["To: ada@example.org", "Subject: Alidade: a  Bcc: mallory@example.org  . b: "
                                     "rdma-unusable began (error)"]
    assert not re.search("^Bcc", first, re.MULTILINE) and not re.search(r"^\.$", first, re.MULTILINE)
    assert body.startswith("Größe") and "\nRemedy: Plug\n" in body and "Began: 2023-11-14T22:13:20Z\n" in body
    assert "Subject: Alidade: odd ended (notice)\n" in second and "\n\nOver: odd\n" in second
    assert "Ended: 2023-11-14T22:14:20Z\n" in second


def command_lines():
    """Of all processes, as any user can read them."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_bytes().replace(b"\0", b" ").decode(errors="replace")


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.visible.extend(line for line in command_lines() if line.startswith("curl "))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.append((self.path, dict(self.headers), json.loads(body)))
        self.send_response(self.server.codes.pop(0) if self.server.codes else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def hook():
    server = HTTPServer(("127.0.0.1", 0), Hook)
    server.posted, server.codes, server.visible = [], [], []
    server.url = f"http://127.0.0.1:{server.server_port}/hook?a=b"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@needs_jq
def test_notices_are_posted(hook):
    done = run_notify("post", NOTIFY_URL=hook.url, NOTIFY_HEADER='Authorization: Bearer a "b\\n')
    assert (done.returncode, done.stderr) == (0, "")
    path, headers, first = hook.posted[0]
    assert path == "/hook?a=b" and headers["Authorization"] == 'Bearer a "b\\n'
    assert hook.visible and not any("Bearer" in line or "hook" in line for line in hook.visible)
    assert headers["Content-Type"] == "application/json"
    assert first == json.loads(LINES.splitlines()[2]) and hook.posted[1][2] == json.loads(LINES.splitlines()[4])
    assert len(hook.posted) == 2


@needs_jq
def test_what_cannot_be_posted_is_logged(hook):
    hook.codes = [404]
    done = run_notify("post", NOTIFY_URL=hook.url)
    assert done.returncode == 0 and 'Not posted: {"Change":"began"' in done.stderr and len(hook.posted) == 2
    for name in ("post", "mail"):
        assert run_notify(name).returncode != 0, "without a setting"


@needs_jq
def test_the_unit_runs_them(played, sendmail):
    host, _, history = played
    unit = (NOTIFY / "alidade-notify.service").read_text()
    (command,) = re.findall(r"^ExecStart=/bin/sh -c '(.*)'$", unit, re.MULTILINE)
    command = command.replace("$$", "$").replace("/usr/local/libexec/alidade-notify-", f"{NOTIFY}/notify-")
    environment = dict(line.split("=", 1) for line in (NOTIFY / "alidade-notify.conf").read_text().splitlines()
                       if not line.startswith("#") and line)
    process = host.spawn(["/bin/sh", "-c", command], "notify", env={
        **environment, "PATH": f"{sendmail}:{client_binary().parent}:/usr/bin:/bin"})
    wait_until(lambda: history.calls("GetEvents"), "alidadectl to follow")
    mails = []

    def mailed():
        """A mail comes once alidadectl has everything that it waits for."""
        history.begin(1, FINDING)
        mails.extend(sendmail.glob("mail.*"))
        return mails
    wait_steadily(mailed, lambda: f"a mail\n{process.log_text()}")
    assert "To: root\nSubject: Alidade: rdma-unusable began (warning)\n" in mails[0].read_text()
    history.connection.close()
    process.kill()


@needs_jq
def test_scripts_are_clean():
    if os.path.exists("/usr/bin/shellcheck"):
        subprocess.run(["shellcheck", NOTIFY / "notify-mail", NOTIFY / "notify-post"], check=True)
    user, = re.findall(r"^u (\S+) ", (NOTIFY / "alidade-notify.sysusers").read_text(), re.MULTILINE)
    assert f"\nUser={user}\n" in (NOTIFY / "alidade-notify.service").read_text(), "no other program runs as its user"
    unit = subprocess.run(["systemd-analyze", "verify", "--man=no", NOTIFY / "alidade-notify.service"],
                          capture_output=True, text=True, check=False)
    assert "Unknown" not in unit.stderr and "not supported" not in unit.stderr
