# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a history service has recorded, and silence, with a service that the test plays."""

import re

import pytest

from bedlib import BusError, wait_until
from bedlib.waiting import wait_steadily
from history import ALPHA, get, values
from played_cluster import ME, PEER, THIRD, TRIO_FINDINGS
from played_history import HISTORY, HOUR, PATH, PlayedHistory
from played_state import GPU, now, sample_node
from state_service import Cluster, record as record_of, start
from test_desktop_actions import DENIED, show_pair
from test_desktop_details import show_node
from test_desktop_faults import wait_left_alone, wait_problem
from test_desktop_notifications import DISK, notifications, toggle  # noqa: F401
from test_desktop_tables import choose as choose_item

GIB = 1024 ** 3
KEY = f"{PEER},192.0.2.2"
SERIES = {
    (PEER, "Node1.Memory", "", "AvailableBytes"): [16 * GIB] * 10 + [None] * 5 + [32 * GIB],
    (PEER, "Node1.System", "", "CpuUsage"): [10, 30],
    (PEER, "Node1.System", "", f"Devices[{GPU}].PowerMicroWatts"): [200_000_000],
    (PEER, "Node1.Compute", "", f"Devices[{GPU}].GemmTflops"): [160],
    (ME, "Link1.Socket", KEY, "UploadBitsPerSecond"): [10 ** 9],
    (ME, "Link1.Socket", KEY, "DownloadBitsPerSecond"): [2 * 10 ** 9],
    (ME, "Link1.Socket", KEY, "RttP50NSec"): [40_000]}
SLOWER = {"Id": "slower-than-past", "Severity": "warning", "Nodes": [ME, PEER], "Names": ["atlas", "borealis"],
          "UploadBitsPerSecond": 10 ** 9, "PastBitsPerSecond": 9 * 10 ** 9, "SinceUSec": 1_700_000_000_000_000,
          "Text": "slower", "Remedy": ""}
SLOWER_DOWN = {name: value for name, value in SLOWER.items() if name != "UploadBitsPerSecond"} | {
    "DownloadBitsPerSecond": 2 * 10 ** 9}
DIFFERING = {"Id": "os-versions-differ", "Severity": "warning", "Nodes": [ME, THIRD], "Names": ["atlas", "cygnus"],
             "Values": ["Debian 12", "Debian 13"], "Text": "other systems", "Remedy": "update"}


@pytest.fixture
def record(play):
    """record(series): a played cluster whose machine has a history service."""
    def make(series=None, **options):
        played = play(wait=False, **options)
        history = PlayedHistory(played.host.connection(), SERIES if series is None else series).own()
        played.services.append(history)
        played.program.focus()
        played.wait_shown("atlas")
        return played, history

    return make


def history_of(tree):
    return tree.find("panel", "History")


def toggle_in(tree, group, name):
    """Its role is another one in later versions of GTK."""
    return next((one for one in tree.find("panel", group).find_all(name=name, state="focusable")), None)


def choose(program, group, name):
    program.do(program.wait(lambda tree: toggle_in(tree, group, name), name))


def rows_of(tree):
    """{name: its values}"""
    return {row.name: row.description for row in history_of(tree).find_all("list item")}


# Figures over time

def test_figures_of_a_node_are_shown(record):
    played, history = record()
    show_node(played.program, "borealis")
    rows = played.program.wait(lambda tree: len(rows_of(tree)) == 4 and rows_of(tree), "four rows")
    assert rows == {"Memory free": "min 14.4 GiB, mean 29.1 GiB, max 35.2 GiB", "CPU": "min 9 %, mean 30 %, max 33 %",
                    "Power, RTX 4090": "min 180 W, mean 200 W, max 220 W",
                    "Matrices, RTX 4090": "min 144 TFLOPS, mean 160 TFLOPS, max 176 TFLOPS"}
    (_, since, until, points), = history.calls("GetSeveralSeries")
    assert until - since == HOUR and points <= 100


GPUS = [f"0000:{number:02x}:00.0" for number in range(16)]


def rich_node(name):
    """With 16 GPUs, each of which is known and measured."""
    made = sample_node(name)
    for kind in ("Node1.Backends", "Node1.System", "Node1.Compute"):
        made[kind]["Devices"] = [{**made[kind]["Devices"][0], "Id": gpu} for gpu in GPUS]
    for number, row in enumerate(made["Node1.Backends"]["Devices"]):
        row["Name"] = f"GPU {number}"
    return made


@pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])
def test_figures_of_a_large_node_are_read_with_few_calls(record, is_old):
    """An older service is asked for one after the other."""
    figures = [("Node1.System", "Usage"), ("Node1.Compute", "GemmTflops")]
    played, history = record({(PEER, kind, "", f"Devices[{gpu}].{field}"): [number + 1]
                              for number, gpu in enumerate(GPUS) for kind, field in figures},
                             nodes={ME: sample_node("atlas"), PEER: rich_node("borealis")})
    history.is_old = is_old
    show_node(played.program, "borealis")
    rows = played.program.wait(lambda tree: len(rows_of(tree)) == 32 and rows_of(tree), "a row for each figure")
    assert rows["Load, GPU 15"] == "min 14 %, mean 16 %, max 18 %"
    several, single = history.calls("GetSeveralSeries"), history.calls("GetSeries")
    assert len(several) == (1 if is_old else 3)
    asked = [name[:4] for name in single] if is_old else [name for names, *_ in several for name in names]
    assert len(set(asked)) == len(asked) == 4 + 16 * 9


def test_the_last_day_is_chosen_for_all_details(record):
    played, history = record()
    program = played.program
    show_node(program, "borealis")
    program.wait(lambda tree: len(rows_of(tree)) == 4, "four rows")
    choose(program, "Period", "Day")
    wait_until(lambda: any(until - since == 24 * HOUR for _, since, until, _ in history.calls("GetSeveralSeries")),
               "a day")
    show_node(program, "atlas")
    program.wait(lambda tree: "pressed" in toggle_in(tree, "Period", "Day").states, "the day")
    program.wait_for_text("Nothing was recorded in the last day.")


def test_figures_of_a_link_are_shown_with_both_directions(record):
    """And half of the round trip, as elsewhere."""
    played, _ = record()
    show_pair(played.program, "borealis")
    rows = played.program.wait(lambda tree: len(rows_of(tree)) == 3 and rows_of(tree), "three rows")
    place = "From atlas: 192.0.2.2"
    assert rows == {f"atlas → borealis, {place}": "min 900 Mb/s, mean 1.00 Gb/s, max 1.10 Gb/s",
                    f"borealis → atlas, {place}": "min 1.80 Gb/s, mean 2.00 Gb/s, max 2.20 Gb/s",
                    f"RTT/2, {place}": "min 18.0 µs, mean 20.0 µs, max 22.0 µs"}


def test_one_line_says_that_there_is_no_service(play):
    program = play().program
    show_node(program, "borealis")
    program.wait_for_text("The history cannot be read: alidade-historyd is not running")
    assert not rows_of(program.read())


@pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])
def test_one_line_says_that_a_node_is_not_recorded(record, is_old):
    """An older service refuses one figure, and is not asked for the others."""
    played, history = record()
    history.refuses, history.is_old = PEER, is_old
    show_node(played.program, "borealis")
    played.program.wait_for_text("No history of this node is kept.")
    assert (len(history.calls("GetSeveralSeries")), len(history.calls("GetSeries"))) == (1, is_old)


def test_an_answer_of_the_wrong_shape_is_said(record):
    played, history = record()
    history.handlers["GetSeveralSeries"] = lambda names, *_: ([(True, [])] * (len(names) - 1),)
    show_node(played.program, "borealis")
    played.program.wait_for_text("The history cannot be read: ")
    assert len(history.calls("GetSeveralSeries")) == 1


def test_the_service_itself_is_read(make_host, desktop):
    host = start(make_host)
    cluster = Cluster(host)
    cluster.online(ALPHA)
    host.start_daemon("historyd")
    wait_steadily(lambda: get(host, "Scope") == "all", "the history to begin")
    cluster.take(record_of(ALPHA, "Node1.Identity", FriendlyName="atlas", updated=now()),
                 record_of(ALPHA, TotalBytes=64 * GIB, AvailableBytes=16 * GIB, updated=now()))
    wait_steadily(lambda: values(host, ALPHA, "AvailableBytes"), "a sample")
    program = desktop.start_program(host.bus.address)
    program.focus()
    show_node(program, "atlas")
    program.wait(lambda tree: rows_of(tree) == {"Memory free": "16.0 GiB"}, "its history")


# Findings

def test_what_is_slower_than_its_past_stands_among_the_findings(record):
    """Whoever else says that it has changed is not believed."""
    played, history = record()
    program = played.program
    program.open_page(5)
    wait_until(lambda: history.calls("GetFindings"), "the first reading")
    reader = played.state.calls("Subscribe")[0].sender
    history.findings = [SLOWER]
    played.state.connection.emit(PATH, HISTORY, "FindingsChanged", "", (), destination=reader)
    played.set_findings(TRIO_FINDINGS[:1])
    program.wait_gone(name=re.compile("disk-nearly-full"))
    assert len(history.calls("GetFindings")) == 1
    history.tell("FindingsChanged")
    program.wait_for_text("has been slower than its own past")
    program.wait_for_text("2 warnings")
    history.disown()
    program.wait(lambda tree: "slower than its own past" not in tree.text(), "its end with the service")


def test_what_is_slower_goes_with_a_service_that_goes_unseen(record):
    played, history = record()
    history.findings = [SLOWER]
    history.tell("FindingsChanged")
    played.program.open_page(5)
    played.program.wait_for_text("slower than its own past")
    window = played.program.window
    played.desktop.screen.minimize(window)
    wait_left_alone(played)
    history.disown()
    played.desktop.screen.restore(window)
    played.program.wait(lambda tree: "slower than its own past" not in tree.text(), "its end with the service")


def test_what_is_slower_is_notified_of_if_it_is_new(record, notifications):  # noqa: F811
    """Not what the service knows when it comes, nor what it finds again, one by one, after it was away."""
    played, history = record()
    program = played.program
    toggle(program, "notify-findings")
    program.open_page(5)

    def come_with(*findings):
        history.disown()
        program.wait(lambda tree: "slower than its own past" not in tree.text(), "its end with the service")
        history.findings, n = list(findings), len(history.calls("GetFindings"))
        history.own()
        wait_until(lambda: len(history.calls("GetFindings")) > n, "its findings to be read")

    come_with(SLOWER)
    program.wait_for_text("slower than its own past")
    come_with()
    history.findings = [SLOWER]
    history.tell("FindingsChanged")
    program.wait_for_text("slower than its own past")
    history.findings = [SLOWER, SLOWER_DOWN]
    history.tell("FindingsChanged")
    wait_until(notifications.titles, "a notification")
    assert notifications.given == 1 and "2.00 Gb/s from borealis to atlas" in notifications.titles()[0]
    history.findings = [SLOWER]
    history.tell("FindingsChanged")
    wait_until(lambda: not notifications.shown, "its end")
    history.findings = [SLOWER, SLOWER_DOWN]
    history.tell("FindingsChanged")
    wait_until(notifications.titles, "a notification of what comes again while the service is there")


def test_earlier_findings_are_listed(record):
    played, history = record()
    program = played.program
    began = now() - 2 * HOUR
    history.events = [(began - 48 * HOUR, began - 40 * HOUR, {**DISK, "Path": "/old"}),
                      (began, began + HOUR // 10, DISK), (began + HOUR, None, SLOWER)]
    program.open_page(5)
    choose(program, "Time", "Last Day")
    tree = program.wait(lambda tree: ", lasted 6 min" in tree.text() and tree, "the end of one")
    assert "/srv" in tree.text() and "/old" not in tree.text() and "2 warnings" in tree.text()
    first, second = (text for text in tree.texts() if text.startswith("Began "))
    assert first.endswith(", has not ended") and ", ended " in second
    choose(program, "Time", "Last Week")
    program.wait_for_text("/old")
    choose(program, "Time", "Now")
    program.wait(lambda tree: "Began " not in tree.text() and "asymmetric" in tree.text(), "those of now")


def paths_of(tree):
    """Of full disks, as they are listed."""
    rows = tree.find("list", "Findings").find_all("list item", re.compile(r"^/\d+ on "))
    return [row.name[1:].partition(" ")[0] for row in rows]


def test_earlier_findings_are_read_page_by_page(record):
    """The last one first, as long as there are not too many."""
    played, history = record()
    program, began = played.program, now() - 2 * HOUR
    history.page = 3
    history.events = [(began + i, began + i if i else None, {**DISK, "Path": f"/{i}"}) for i in range(5)]
    program.open_page(5)
    choose(program, "Time", "Last Day")
    program.wait(lambda tree: paths_of(tree) == ["4", "3", "2", "1", "0"], "all of them")
    assert "last ones are missing" not in program.read().text()


def test_earlier_findings_that_are_too_many_are_said(record):
    """And not any more when none can be read."""
    played, history = record()
    program, began = played.program, now() - 2 * HOUR
    history.page = 2
    history.events = [(began + i, began + i, {**DISK, "Path": f"/{i}"}) for i in range(20)]
    program.open_page(5)
    choose(program, "Time", "Last Day")
    program.wait_for_text("The last ones are missing.")
    assert paths_of(program.read()) == ["5", "4", "3", "2", "1", "0"]
    history.disown()
    choose(program, "Time", "Last Week")
    program.wait_for_text("The history cannot be read: alidade-historyd is not running")
    assert "last ones are missing" not in program.read().text()


def test_earlier_findings_that_cannot_be_read_are_said(play):
    program = play().program
    program.open_page(5)
    choose(program, "Time", "Last Week")
    program.wait_for_text("The history cannot be read: alidade-historyd is not running")


def test_findings_of_now_are_not_shown_as_earlier_ones(play):
    """Though nothing can be read."""
    played = play()
    program, bus = played.program, played.host.bus
    program.open_page(5)
    program.wait_for("list item", re.compile("asymmetric"))
    played.state.close()
    played.state = None
    bus.process.excused = True
    bus.process.kill()
    wait_problem(program, "has ended")
    assert program.read().find_all("list item", re.compile("asymmetric"))
    choose(program, "Time", "Last Day")
    program.wait_for_text("Waiting for the history service")
    assert not program.read().find_all("list item", re.compile("asymmetric"))


# Silence

def warnings_of(tree):
    """{name: whether it is marked as silenced}, in the details."""
    return {row.name: row.description.startswith("Silenced")
            for row in tree.find_all("list item", re.compile("^Warning: "))}


def open_menu(program, item):
    """Of the details."""
    program.click_at(program.wait_for("button", "Actions"))
    program.wait_for("menu item", item)
    choose_item(program, item, "Down")


def test_findings_of_a_node_are_silent_until_that_is_stopped(record, notifications):  # noqa: F811
    played, history = record()
    program = played.program
    toggle(program, "notify-findings")
    show_node(program, "atlas")
    open_menu(program, "Silence Findings…")
    program.focus_dialog()
    program.type("repair")
    program.click("button", re.compile("^_?Silence( Silence)?$"))
    wait_until(lambda: history.calls("Silence"), "Silence()")
    node, peer, until, reason = history.calls("Silence")[0]
    assert (node, peer, reason) == (ME, "", "repair") and abs(until - now() - HOUR) < HOUR // 10
    program.wait_for_text(": repair")
    program.open_page(5)
    program.wait_for_text("Silenced")
    played.set_findings((*TRIO_FINDINGS, DISK))
    program.wait_for_text("/srv")
    assert not notifications.titles()
    program.focus()
    open_menu(program, "Stop Silencing")
    wait_until(lambda: history.calls("Unsilence") == [(ME, "")], "Unsilence()")
    wait_until(lambda: any("/srv" in title for title in notifications.titles()), "a notification of what lasts")
    played.set_findings(TRIO_FINDINGS)
    wait_until(lambda: not notifications.shown, "its end")


def test_findings_of_a_link_are_silenced(record):
    """But not what else concerns both of its nodes."""
    played, history = record()
    program = played.program
    played.set_findings((*TRIO_FINDINGS, DIFFERING))
    show_pair(program, "cygnus")
    open_menu(program, "Silence Findings…")
    program.focus_dialog()
    program.click("button", re.compile("^_?Silence( Silence)?$"))
    wait_until(lambda: history.calls("Silence"), "Silence()")
    assert history.calls("Silence")[0][:2] == (ME, THIRD)
    program.wait(lambda tree: any(text.startswith("Silenced until ") for text in tree.texts()), "the silence")
    show_node(program, "atlas")
    marks = program.wait(lambda tree: len(found := warnings_of(tree)) == 2 and any(found.values()) and found,
                         "a mark at the finding about the link")
    assert {"asymmetric" in name: silenced for name, silenced in marks.items()} == {True: True, False: False}


def test_a_refused_silence_is_said_in_words(record):
    played, history = record()

    def refuse(*_):
        raise BusError(DENIED, "Not allowed: org.alidade.history.silence")

    history.handlers["Silence"] = refuse
    show_node(played.program, "borealis")
    open_menu(played.program, "Silence Findings…")
    played.program.focus_dialog()
    played.program.click("button", re.compile("^_?Silence( Silence)?$"))
    played.program.wait_for_text("Cannot silence findings about borealis: you are not authorized")
