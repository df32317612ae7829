# SPDX-License-Identifier: LGPL-2.1-or-later
"""Probing, renaming, forgetting and holding off, against services that the test plays."""

import re

import pytest

from bedlib import BusError, wait_until
from bedlib.variants import Typed
from played_cluster import CLUSTER_XML, IDENTITY_XML, ME, PEER, THIRD, node

DENIED = "org.freedesktop.DBus.Error.AccessDenied"
WINDOW = "/org/alidade/Alidade/window/1"
NOBODY_ASKS = "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"


def show_pair(program, sink):
    """The details of the pair of this machine and another, by the menu that its row has."""
    program.open_page(4)
    program.press("ctrl+f")
    program.wait_for("entry", "Search links", "focused")
    program.type(sink)
    program.wait(lambda tree: all(sink in row.text() for row in tree.find("tree table", "Links").find("list").children),
                 "only its rows")
    program.press("Down")
    program.wait(lambda _: (program.focused() or program.read()).role in ("row", "list item", "cell"), "a row")
    program.press("Return")
    program.wait(lambda tree: sink in tree.find(name="Details").text(), "the details")


def probe_now(program, sink="borealis"):
    show_pair(program, sink)
    program.click("button", "Measure Now")


def test_a_link_is_probed_with_progress_and_result(play):
    played = play(probe=True)
    program, probe = played.program, played.probe
    probe_now(program)
    probe.wait_for_job()
    assert probe.calls("ProbeLink")[0].args[0] == PEER
    bar = program.wait_for(name="Measurements in progress")
    assert bar.find("button", re.compile("^Cancel the measurement of ")).name
    probe.tell(State="running", Phase="upload", Progress=0.25)
    program.wait_for_text("25 %")
    probe.tell(Progress=0.75)
    program.wait_for_text("75 %")
    probe.tell(State="done", Progress=1.0, Result={
        "UploadBitsPerSecond": 9_390_000_000, "DownloadBitsPerSecond": 9_120_000_000, "RttP50NSec": 40_000})
    program.wait(lambda tree: all(word in tree.text() for word in ("9.39 Gb/s up", "9.12 Gb/s down", "RTT/2 20.0 µs")),
                 "the result")
    program.wait_gone("progress bar")


def test_a_probe_is_cancelled(play):
    played = play(probe=True)
    probe_now(played.program)
    played.probe.wait_for_job()
    played.probe.tell(State="running", Phase="upload", Progress=0.1)
    played.program.click("button", re.compile("^Cancel the measurement of "))
    wait_until(lambda: played.probe.calls("Cancel"), "Cancel")
    played.program.wait_for_text("was canceled")
    played.program.wait_gone("progress bar")


def test_a_probe_is_cancelled_before_it_starts(play):
    """The window does not wait for it; a probe that begins after all is canceled."""
    played = play(probe=True)
    played.probe.service.late.add("ProbeLink")
    probe_now(played.program)
    wait_until(lambda: played.probe.service.waiting, "the call")
    played.program.click("button", re.compile("^Cancel the measurement of "))
    played.program.wait_for_text("was canceled")
    played.program.wait_gone("progress bar")
    assert played.probe.calls("Cancel") == []
    played.probe.service.answer()
    wait_until(lambda: played.probe.calls("Cancel"), "Cancel")


@pytest.mark.parametrize("error", ["org.freedesktop.DBus.Error.UnknownObject", "org.alidade.Error.New"])
def test_a_probe_that_ends_before_it_is_canceled_has_its_result(play, error):
    played = play(probe=True)

    def end(*_):
        played.probe.tell(State="done", Progress=1.0, Result={"UploadBitsPerSecond": 9_390_000_000})
        raise BusError(error, "The job has ended")

    played.probe.job_handlers["Cancel"] = end
    probe_now(played.program)
    played.probe.wait_for_job()
    played.probe.tell(State="running", Phase="upload", Progress=0.9)
    played.program.click("button", re.compile("^Cancel the measurement of "))
    played.program.wait_for_text("9.39 Gb/s up")
    assert "Cannot measure" not in played.program.read().text()


def test_a_probe_that_is_gone_when_it_is_canceled_was_canceled(play):
    """The service removes a job some time after its end."""
    played = play(probe=True)
    probe_now(played.program)
    played.probe.wait_for_job()
    played.probe.tell(State="running", Phase="upload", Progress=0.9)
    played.program.wait_for_text("90 %")
    played.probe.job.close()
    played.program.click("button", re.compile("^Cancel the measurement of "))
    text = played.program.wait(lambda tree: next((text for text in tree.texts() if re.search(
        "^The measurement of .* was canceled|^Cannot measure", text)), None), "its end")
    assert "was canceled" in text


def test_a_probe_that_fails_says_why(play):
    played = play(probe=True)
    probe_now(played.program)
    played.probe.wait_for_job()
    played.probe.tell(State="failed", Error="connection refused")
    played.program.wait(lambda tree: any("Cannot measure" in text and "connection refused" in text
                                         for text in tree.texts()), "the reason")


@pytest.mark.parametrize("error, words", [
    (DENIED, "not authorized"), (NOBODY_ASKS, "nothing here can ask for a password"),
    ("org.alidade.Error.Busy", "another probe is running")])
def test_a_refused_probe_is_said_in_words(play, error, words):
    played = play(probe=True)

    def refuse(*_):
        raise BusError(error, "another probe is running; try again")

    played.probe.handlers["ProbeLink"] = refuse
    probe_now(played.program)
    text = played.program.wait(lambda tree: next((text for text in tree.texts() if text.startswith("Cannot measure")
                                                  and words in text), None), words)
    assert "org." not in text and "GDBus" not in text


def test_without_the_service_a_probe_says_what_is_missing(play):
    played = play()
    probe_now(played.program)
    played.program.wait(lambda tree: any("alidade-link-probed" in text and "not running" in text
                                         for text in tree.texts()), "what does not run")


def test_a_service_that_ends_ends_the_job_in_words(play):
    played = play(probe=True)
    probe_now(played.program)
    played.probe.wait_for_job()
    played.probe.tell(State="running", Progress=0.1)
    played.program.wait_for("progress bar")
    played.probe.disown()
    played.program.wait(lambda tree: any(text.startswith("Cannot measure") for text in tree.texts()), "words")
    played.program.wait_gone("progress bar")


# Names

def rename(program, name):
    program.actions("Activate", "sava{sv}", ("set-name", [], {}), path=WINDOW)
    prompt = program.focus_dialog()
    assert prompt.find("text", "Name").is_editable
    program.press("ctrl+a")
    program.type(name)
    program.press("Return")


def test_this_machine_is_renamed(play):
    played = play()
    identity = played.serve(IDENTITY_XML, "Identity1", SetFriendlyName=lambda name: ())
    rename(played.program, "rigel")
    wait_until(lambda: identity.calls, "SetFriendlyName()")
    assert identity.calls[0].args == ("rigel",)
    played.state.update(ME, "Node1.Identity", FriendlyName="rigel")
    played.program.wait_for("button", re.compile("^rigel, "))


def test_a_refused_name_is_said_in_words(play):
    played = play()

    def refuse(_):
        raise BusError(DENIED, "no")

    played.serve(IDENTITY_XML, "Identity1", SetFriendlyName=refuse)
    rename(played.program, "rigel")
    played.program.wait_for_text("Cannot rename this machine: you are not authorized")


# Forgetting

def offline_peer(play, forget):
    """A cluster with a node that is offline, whose details offer to forget it."""
    played = play({ME: node("atlas"), PEER: node("borealis", "offline")})
    cluster = played.serve(CLUSTER_XML, "Cluster1", Forget=lambda found: forget(played, found))
    played.program.click("button", re.compile("^borealis, "))
    played.program.click("button", re.compile("^_?Forget…"))
    played.program.wait_for_text("Forget borealis?")
    return played, cluster


def accept_forgetting(program):
    program.click("button", re.compile("^_?Forget( Forget)?$"))


def test_a_node_that_is_offline_is_forgotten(play):
    """And the details of it are closed, though it may go before the call has ended."""
    played, cluster = offline_peer(play, lambda played, found: played.remove_node(found))
    program = played.program
    accept_forgetting(program)
    wait_until(lambda: [call.args for call in cluster.calls] == [(PEER,)], "Forget()")
    program.wait_for_text("borealis is hidden until it is heard again")
    program.wait_gone("button", re.compile("^borealis, "))
    program.wait(lambda tree: "Nothing Selected" in tree.find(name="Details").text(), "the end of the details")


def test_details_of_a_node_that_goes_by_itself_stay(play):
    played, _ = offline_peer(play, lambda played, found: None)
    played.program.press("Escape")
    played.remove_node(PEER)
    played.program.wait(lambda tree: "This Node Is No Longer Known" in tree.find(name="Details").text(),
                        "what has become of the node")


@pytest.mark.parametrize("change, words", [
    (lambda played: played.remove_node(PEER), "borealis is not known any more"),
    (lambda played: played.set_presence(PEER, "online"), "borealis is online; only a node that is offline")])
def test_a_node_that_changes_during_the_prompt_is_not_forgotten(play, change, words):
    played, cluster = offline_peer(play, lambda played, found: None)
    change(played)
    played.program.wait_gone("button", re.compile("^borealis, .*offline"))
    accept_forgetting(played.program)
    played.program.wait_for_text(words)
    assert not cluster.calls


def test_a_node_that_is_online_is_not_forgotten(play):
    played = play()
    cluster = played.serve(CLUSTER_XML, "Cluster1", Forget=lambda found: ())
    played.program.actions("Activate", "sava{sv}", ("forget", [Typed("s", PEER)], {}),
                           path=WINDOW)
    played.program.wait_for_text("borealis is online; only a node that is offline can be forgotten")
    assert not cluster.calls


def test_what_is_said_last_is_seen_at_once(play):
    """However much was said before it."""
    program = play().program
    for node in (PEER,) * 10 + (THIRD,):
        program.actions("Activate", "sava{sv}", ("forget", [Typed("s", node)], {}), path=WINDOW)
    program.wait_for_text("cygnus is online; only a node that is offline can be forgotten")


# Long texts

def test_a_long_text_scrolls_in_its_dialog(play):
    program = play().program
    program.actions("Activate", "sava{sv}", ("tell", [Typed("s", "a reason " * 444)], {}), path=WINDOW)
    assert "a reason a reason" in program.focus_dialog().text()
    assert 250 < program.picture().get_height() < 600


# Holding off

def is_held_off(program):
    """What the switch of the window shows."""
    return program.actions("Describe", "s", ("hold-off",), path=WINDOW)[2][0]


def test_holding_off_takes_a_lock_and_gives_it_back(play):
    played = play(probe=True)
    program, probe = played.program, played.probe
    program.press("ctrl+h")
    wait_until(lambda: probe.locks, "a lock")
    _, what, who, _ = probe.locks[0]
    assert set(what.split(":")) == {"compute", "rdma", "link", "storage"} and who == "Alidade"
    assert probe.is_held()
    wait_until(lambda: is_held_off(program), "the switch")
    program.click("button", "Resume")
    probe.wait_released()


def test_a_program_that_is_killed_holds_nothing_off(play):
    played = play(probe=True)
    played.program.press("ctrl+h")
    wait_until(lambda: played.probe.locks, "a lock")
    assert played.probe.is_held()
    played.program.kill()
    played.probe.wait_released()


def test_a_lock_is_given_back_when_the_program_quits(play):
    played = play(probe=True)
    played.program.press("ctrl+h")
    wait_until(lambda: played.probe.locks, "a lock")
    played.program.expected_end = True
    assert played.program.quit() == 0
    played.probe.wait_released()


def test_a_refused_lock_is_said_in_words(play):
    played = play(probe=True)

    def refuse(*_):
        raise BusError("org.freedesktop.DBus.Error.LimitsExceeded", "there are too many locks")

    played.probe.handlers["Inhibit"] = refuse
    played.program.press("ctrl+h")
    played.program.wait_for_text("Cannot hold off measurements: there are too many locks")
    assert not is_held_off(played.program)
