# SPDX-License-Identifier: LGPL-2.1-or-later
"""The details of nodes and pairs, and where the focus goes when they are opened, change and are closed."""

import re

import pytest

from played_cluster import ME, PEER, THIRD, link, node, nodes_named
from test_desktop_actions import show_pair
from test_desktop_played import wait_closed

COMPONENT = "org.a11y.atspi.Component"
LONG = "a-node-with-quite-a-long-name-" * 12
OFFLINE = {"Id": "node-offline", "Severity": "notice", "Nodes": [PEER], "Names": ["borealis"], "Text": "offline"}
GONE = "This Node Is No Longer Known"


def show_node(program, name):
    program.click("button", re.compile(f"^{name}, "))
    program.wait(lambda tree: name in tree.find(name="Details").text(), f"the details of {name}")


def is_in_details(tree, element):
    return any(one.ref == element.ref for one in tree.find(name="Details").walk())


def tab_to(program, name):
    """Into the details, by keyboard, to what has this name or matches it."""
    program.tab_to(lambda found: re.match(name, found.name) and is_in_details(program.read(), found), name)


DETAILS, NODES = (None, "Details"), ("tree table", "Nodes")


def wait_focus(program, *, name=None, inside=None, role=None):
    """Until what has the focus has such a name and role, and is in such a part."""
    def look(tree):
        part = tree.find(*inside) if inside else tree
        found = part.find_all(role, name, "focused")
        return found and found[-1]

    return program.wait(look, f"the focus on {name or role} in {inside}; it is on {program.focused()}")


def width_of(program, element):
    return program.reader.call(element.ref[1], COMPONENT, "GetSize")[0]


# What they show

def test_a_long_name_leaves_the_width_of_the_pane(play):
    played = play()
    program = played.program
    show_node(program, "borealis")
    before = width_of(program, program.read().find(name="Details"))
    assert before > 0
    played.state.update(PEER, "Node1.Identity", FriendlyName=LONG)
    program.wait(lambda tree: tree.find(name="Details").find_all("label", LONG), "all of the name for a screen reader")
    assert width_of(program, program.read().find(name="Details")) == before


def test_directions_of_a_pair_have_the_names_of_its_ends(play):
    """Also of what the other end has measured, in the same order."""
    links = {(ME, f"{PEER},192.0.2.2"): link(PEER, up=196_000_000, down=48_200_000),
             (PEER, f"{ME},192.0.2.1"): link(ME, up=47_100_000, down=191_000_000, SinkAddress="192.0.2.1")}
    program = play(nodes_named("atlas", "borealis"), links=links).program
    show_pair(program, "borealis")
    words = ("atlas → borealis 196 Mb/s", "atlas → borealis 191 Mb/s", "borealis → atlas 48.2 Mb/s",
             "borealis → atlas 47.1 Mb/s")
    details = program.wait(lambda tree: all(word in tree.find(name="Details").text() for word in words)
                           and tree.find(name="Details"), f"{words}")
    cards = [row for row in details.find_all("list item") if "From " in row.name]
    assert len(cards) == 2
    for card in cards:
        assert card.description.index("atlas → borealis") < card.description.index("borealis → atlas")
    assert not {"Up", "Down"} & {label.name for label in details.find_all("label")}


# The focus

def test_the_focus_goes_to_what_takes_the_place_of_a_node(play):
    played = play()
    program = played.program
    show_node(program, "borealis")
    tab_to(program, "Model")
    wait_focus(program, inside=DETAILS, name="Model")
    played.remove_node(PEER)
    program.wait_for_text(GONE)
    assert wait_focus(program, inside=DETAILS, role="button", name="Close Details").description == GONE
    program.press("Return")
    wait_closed(program, GONE)


def test_the_focus_goes_to_what_takes_the_place_of_a_finding(play):
    played = play()
    program = played.program
    show_node(program, "atlas")
    tab_to(program, "Error: ")
    played.set_findings(played.state.findings[:1])
    left = wait_focus(program, inside=DETAILS, name=re.compile("^Warning: "))
    assert left.role == "list item"
    played.set_findings(())
    wait_focus(program, inside=DETAILS, name="Model")


def focus_row(program, name):
    """A row of the table of nodes, by keyboard."""
    program.open_page(2)
    program.press("ctrl+f")
    program.wait_for("entry", "Search nodes", "focused")
    program.type(name)
    program.wait(lambda tree: len(tree.find("tree table", "Nodes").find("list").children) == 1, "only its row")
    program.press("Down")
    wait_focus(program, inside=NODES, name=re.compile(f"^{name}, "))


def test_the_focus_returns_from_the_details_to_the_row(play):
    program = play().program
    focus_row(program, "borealis")
    program.press("Return")
    program.wait(lambda tree: "ThinkStation" in tree.find(name="Details").text(), "the details")
    tab_to(program, "Model")
    wait_focus(program, inside=DETAILS, name="Model")
    program.press("Escape")
    wait_closed(program, "ThinkStation")
    wait_focus(program, inside=NODES, name=re.compile("^borealis, "))


def test_in_a_narrow_window_the_focus_goes_into_the_details_and_back(play):
    played = play()
    program, screen = played.program, played.desktop.screen
    screen.resize(program.window, 400, 700)
    program.wait(lambda _: program.picture().get_width() == 400, "another size")
    focus_row(program, "borealis")
    program.press("Return")
    wait_focus(program, inside=DETAILS)
    program.press("Escape")
    wait_closed(program, "ThinkStation")
    wait_focus(program, inside=NODES, name=re.compile("^borealis, "))


def test_the_menu_of_a_row_gives_the_focus_back(play):
    program = play().program
    focus_row(program, "borealis")
    program.press("shift+F10")
    program.wait_for("menu item", "Details")
    wait_focus(program, role="menu item")
    program.press("Escape")
    wait_focus(program, inside=NODES, name=re.compile("^borealis, "))


# Names

def test_another_machine_cannot_be_renamed_and_the_pane_says_how(play):
    program = play().program
    show_node(program, "atlas")
    assert "sensitive" in program.wait_for("button", "Rename").states
    program.press("Escape")
    wait_closed(program, "ThinkStation")
    show_node(program, "borealis")
    button = program.wait(lambda tree: next((one for one in tree.find_all("button", "Rename") if one.description),
                                            None), "the hint")
    assert "sensitive" not in button.states and "connect to it" in button.description
    assert program.actions("Describe", "s", ("set-name-there",), "/org/alidade/Alidade/window/1")[0] is False


@pytest.mark.parametrize("cluster, advised", [("lab", False), (None, True)])
def test_a_machine_that_is_in_no_cluster_is_told_how_to_join(play, cluster, advised):
    membership = {"ClusterName": cluster} if cluster else {"CertificateExpiryUSec": 2 ** 64 - 1}
    program = play({ME: node("atlas", **{"Node1.Membership": membership})}, links={}, edges=()).program
    program.open_page(4)
    program.wait_for_text("No Links")
    text = program.read().text()
    assert ("alidadectl cluster join" in text) == advised
    assert ("Links appear when" in text) != advised


# Forgetting

def test_what_is_forgotten_is_what_the_details_show(play):
    """And not what they showed before."""
    nodes = {ME: node("atlas"), PEER: node("borealis", "offline"), THIRD: node("cygnus", "offline")}
    program = play(nodes, links={}, edges=()).program
    for name in ("borealis", "cygnus"):
        show_node(program, name)
        program.click("button", re.compile("^_?Forget…"))
        program.wait_for_text(f"Forget {name}?")
        program.press("Escape")
        program.wait(lambda tree, name=name: f"Forget {name}?" not in tree.text(), "the end of the prompt")


# Times

def test_times_of_findings_are_local_and_an_offline_node_can_be_forgotten(play):
    since = 1_795_684_424 * 10 ** 6  # 2026-11-26 09:13:44 UTC
    played = play({ME: node("atlas"), PEER: node("borealis", "offline")}, findings=[{**OFFLINE, "SinceUSec": since}],
                  TZ="+05:30")
    program = played.program
    program.open_page(5)
    found = program.wait(lambda tree: "has been offline since" in tree.text() and tree.find("list", "Findings"),
                         "the finding")
    assert "14:43:44" in found.text() and "UTC" not in found.text()
    program.do(found.find("button", re.compile("Forget…")))
    program.wait_for_text("Forget borealis?")
