# SPDX-License-Identifier: LGPL-2.1-or-later
"""Services that restart, hang and go, other versions, hostile values, and very many nodes."""

import os
import re

import pytest

from bedlib import BusError
from played_cluster import ME, PEER, Played, THIRD, edge, node, node_id, nodes_named
from played_state import now

PROBLEM = "Try Again"


def wait_problem(program, words, **options):
    """The banner that says that figures are not current."""
    return program.wait(lambda tree: next((text for text in tree.texts() if words in text), None), repr(words),
                        **options)


# The service and the bus

def test_a_service_that_restarts_is_read_again(play):
    played = play()
    played.state.disown()
    wait_problem(played.program, "The state service is not running")
    played.state.close()
    played.nodes[PEER]["Node1.Identity"] = {**played.nodes[PEER]["Node1.Identity"], "FriendlyName": "betelgeuse"}
    played.state = None
    played.state = played.play_state()
    played.program.wait_for("button", re.compile("^betelgeuse, "))
    played.program.wait_gone(name="The state service is not running")


def test_a_program_without_a_service_says_so_and_waits_for_it(make_host, desktop):
    host = make_host()
    program = desktop.start_program(host.bus.address)
    program.wait_for_text("The state service is not running")
    late = Played(host, desktop)
    late.state = late.play_state()
    try:
        program.wait_for("button", re.compile("^atlas, "))
    finally:
        late.close()


def test_figures_are_not_current_while_the_service_is_gone(play):
    """What is shown meanwhile says that it is old."""
    played = play()
    played.state.disown()
    wait_problem(played.program, "not running")
    played.program.click("button", re.compile("^borealis, "))
    played.program.wait_for(name="Details")
    played.program.wait_for_text("The state service is not running")


def test_a_bus_that_goes_is_said_and_one_that_comes_is_used(play):
    played = play()
    host = played.host
    played.state.close()
    host.bus.process.excused = True
    host.bus.process.kill()
    wait_problem(played.program, "has ended")
    host.bus.socket.unlink(missing_ok=True)
    host.bus.start()
    wait_problem(played.program, "not running", deadline=30)
    # Connections of before are dead, and a host would close them only at its end.
    fresh = host.new_connection()
    again = Played(host, played.desktop)
    played.state = None
    again.host = type("OnNewBus", (), {"connection": lambda self: fresh, "bus": host.bus})()
    again.state = again.play_state()
    try:
        played.program.wait_gone(name=re.compile("not running|has ended"))
        played.program.wait_for("button", re.compile("^atlas, "))
    finally:
        again.close()


def test_an_address_that_leads_nowhere_is_said(desktop):
    program = desktop.start_program("unix:path=/nonexistent/bus")
    text = wait_problem(program, "Cannot connect to")
    assert "No such file" in text
    program.wait_for("button", PROBLEM)


def test_a_service_that_answers_with_errors_is_said(play):
    played = play()

    def refuse(*_):
        raise BusError("org.freedesktop.DBus.Error.Failed", "the disk is <b>full</b>")

    played.state.disown()
    wait_problem(played.program, "The state service is not running")
    for method in ("GetManagedObjects", "GetRecords"):
        played.state.handlers[method] = refuse
    played.state.connection.own("org.alidade.State1")
    wait_problem(played.program, "the disk is <b>full</b>")


def test_another_version_with_more_of_everything(play):
    """Kinds, fields, words and findings that a later version may have."""
    nodes = nodes_named("atlas", "borealis")
    for values in nodes.values():
        values["Node1.Psychometry"] = {"Mood": "fine", "Depth": 3}
        values["Node1.Memory"]["Wear"] = 0.5
        values["Node1.Identity"]["Chassis"] = "hovercraft"
        values["Node1.Presence"]["State"] = "dreaming"
    played = play(nodes, findings=[{"Id": "mood-low", "Severity": "grave", "Nodes": [ME], "Names": ["atlas"],
                                    "Text": "The mood of atlas is low.", "Remedy": "Cheer it up.", "Depth": 9}],
                  edges=[edge(ME, PEER, 10 ** 9, Kind="telepathy"), edge(ME, PEER, 2 * 10 ** 9)])
    program = played.program
    played.program.wait_for("button", re.compile("^atlas, "))
    program.open_page(5)
    program.wait(lambda tree: "The mood of atlas is low." in tree.text() and "Cheer it up." in tree.text(),
                 "the words of the other version")
    program.open_page(1)
    program.click("button", re.compile("^atlas, "))
    program.wait(lambda tree: "atlas" in tree.find(name="Details").text(), "the details")


# Values

LONG = "n" * 4096
MARKUP = "<b>bold</b> & <span size='999999'>x</span>"
RTL = "\u05e9\u05dc\u05d5\u05dd \u0639\u0642\u062f\u0629"
EMOJI = "\U0001f680\U0001f468\u200d\U0001f469\u200d\U0001f467 node"
CONTROL = "\x1b]0;owned\x07\x1b[2J\u202egnp\u2066\x9b31m\n\r\tx" + "\u200b" * 50
HOSTILE = {"long": LONG, "markup": MARKUP, "rtl": RTL, "emoji": EMOJI, "control": CONTROL, "percent": "100%s%n_x__y"}


def visit_everything(program, card):
    """All pages, the details of the node on that card, and its row's menu."""
    for page in (2, 3, 4, 5, 1):
        program.open_page(page)
    program.click("button", card)
    program.wait_for(name="Details")
    for page in (2, 3, 4, 5):
        program.open_page(page)


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_are_shown_as_text(play, kind):
    evil = HOSTILE[kind]
    nodes = {ME: node(evil), PEER: node("borealis", **{"Node1.Disk": {"Paths": [
        {"Id": evil, "TotalBytes": 10, "AvailableBytes": 5}]}})}
    for name in ("ModelId", "ChipId", "Vendor", "OperatingSystem", "KernelRelease", "Chassis"):
        nodes[PEER]["Node1.Identity"] = {**nodes[PEER]["Node1.Identity"], name: evil}
    nodes[PEER]["Node1.Backends"]["Devices"][0]["Name"] = evil
    nodes[PEER]["Node1.Network"]["Interfaces"][1].update(Id=evil, Addresses=[evil])
    played = play(nodes, wait=False, findings=[
        {"Id": "disk-nearly-full", "Severity": "error", "Nodes": [ME], "Names": [evil], "Path": evil,
         "AvailableBytes": 1, "TotalBytes": 100, "Text": evil, "Remedy": evil}],
        edges=[edge(ME, PEER, 10 ** 9, SourcePort=evil, SinkPort=evil, SinkAddress=evil),
               edge(PEER, ME, None, Problem=evil, Reason=evil)],
        links={(ME, f"{PEER},x"): {"Sink": PEER, "SinkAddress": evil, "SourceInterface": evil, "Failure": evil,
                                   "FailedUSec": now(), "SinkInterfaceType": evil}})
    program = played.program
    program.focus()
    visit_everything(program, re.compile("^borealis, "))
    text = program.read().text()
    if kind in ("markup", "rtl", "percent"):
        assert evil in text
    # Nothing that a terminal, a line or the direction of text would follow.
    for sign in "\x1b\x07\x9b\u202e\u2066\r":
        assert sign not in text, f"{sign!r} in {[one for one in program.read().texts() if sign in one][:3]}"


HUGE, NAN = 2 ** 64 - 2, float("nan")


def test_absurd_figures(play):
    nodes = {ME: node("atlas"), PEER: node("borealis"), THIRD: node("cygnus")}
    nodes[ME]["Node1.Memory"] = {"TotalBytes": 0, "AvailableBytes": HUGE}
    nodes[PEER]["Node1.Memory"] = {"TotalBytes": HUGE, "AvailableBytes": HUGE}
    nodes[THIRD]["Node1.Memory"] = {"TotalBytes": 1, "AvailableBytes": HUGE}
    for found, figure in ((ME, -1.0), (PEER, 1e308), (THIRD, float("inf"))):
        nodes[found]["Node1.System"] = {"CpuUsage": figure, "TemperatureMilliCelsius": 2 ** 62, "PowerMicroWatts": HUGE,
                                        "Devices": [{"Id": "0000:01:00.0", "Usage": figure, "MemoryUsedBytes": HUGE,
                                                     "TemperatureMilliCelsius": -2 ** 62, "ClockHz": HUGE}]}
        nodes[found]["Node1.Compute"] = {"Devices": [{"Id": "0000:01:00.0", "TflopsFp16": figure,
                                                      "MemoryBandwidthBytesPerSecond": HUGE, "MeasuredUSec": HUGE}]}
        nodes[found]["Node1.Presence"] = {"State": "online", "SinceUSec": HUGE}
    played = play(nodes, totals={"Nodes": HUGE, "TflopsFp16": 1e308, "TflopsFp16LeftOut": HUGE,
                                 "MemoryTotalBytes": HUGE, "MemoryAvailableBytes": HUGE,
                                 "MemoryBandwidthBytesPerSecond": HUGE},
                  edges=[edge(ME, PEER, HUGE, RttP50NSec=HUGE, MeasuredUSec=HUGE), edge(PEER, ME, 1, RttP50NSec=1),
                         edge(ME, THIRD, HUGE, Presence="?")],
                  links={(ME, f"{PEER},x"): {"Sink": PEER, "UploadBitsPerSecond": HUGE, "DownloadBitsPerSecond": 1,
                                             "RttP50NSec": HUGE, "JitterNSec": HUGE, "MeasuredUSec": HUGE,
                                             "UploadInterval": NAN, "DownloadInterval": 1e308}})
    for name in ("atlas", "borealis", "cygnus"):
        visit_everything(played.program, re.compile(f"^{name}, "))
        played.program.open_page(1)
    text = played.program.read().text().lower()
    assert not re.search(r"\b-?nan\b|\binf\b|-1\.00? %", text)


# Very many

def test_a_thousand_nodes_come_and_go_at_once(play):
    played = play(nodes_named("atlas"), links={}, edges=())
    program = played.program
    many = {node_id(number): node(f"n{number:04}") for number in range(1, 1000)}
    for found, kinds in many.items():
        for kind, values in kinds.items():
            played.state.set(found, kind, values)
    program.open_page(2)
    program.press("ctrl+f")
    program.wait_for("entry", "Search nodes", "focused", deadline=30)
    program.type("n0999")
    program.wait(lambda tree: [row for row in tree.find("tree table", "Nodes").find("list").children
                               if "n0999" in row.text()], "the last of them", 30)
    for found, kinds in many.items():
        played.state.remove(found, *kinds)
    program.press("ctrl+a", "BackSpace")
    program.wait(lambda tree: len(tree.find("tree table", "Nodes").find("list").children) == 1, "one node", 30)
    program.open_page(1)
    program.wait_for("button", re.compile("^atlas, "))


# Not seen

def wait_left_alone(played):
    """Until the program has left the bus, so that nothing reaches it and nothing comes from it."""
    asked = played.state.state.calls + played.state.manager.calls
    played.host.wait_for_name(asked[-1].sender, present=False)
    names = played.host.connection().call_bus("ListNames")
    return [name for name in names if name.startswith(":")]


def test_nothing_is_read_while_minimized(play):
    played = play()
    window = played.program.window
    played.desktop.screen.minimize(window)
    names = wait_left_alone(played)
    # Changes that would make it read, were it there.
    played.state.update(ME, "Node1.Memory", AvailableBytes=8 * 1024 ** 3)
    for signal in ("TopologyChanged", "FindingsChanged"):
        played.tell(signal)
    played.host.connection().fence()
    assert [name for name in played.host.connection().call_bus("ListNames") if name.startswith(":")] == names
    played.desktop.screen.restore(window)
    played.program.wait_for("button", re.compile("^atlas, .*8.00/64.0"))


def test_what_was_read_before_is_not_current_when_it_is_seen_again(play):
    """A service that went while the window was minimized is reported when it is restored."""
    played = play()
    window = played.program.window
    played.desktop.screen.minimize(window)
    played.state.disown()
    played.desktop.screen.restore(window)
    wait_problem(played.program, "not running")


# Files and programs

def test_a_program_without_its_schema_runs(play):
    played = play(GSETTINGS_SCHEMA_DIR="/nonexistent")
    played.program.wait_for("button", re.compile("^atlas, "))
    assert os.access(played.host.bus.socket, os.F_OK)
