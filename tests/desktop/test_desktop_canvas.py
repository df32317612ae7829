# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes as cards, and what joins them as lines with labels."""

import re

import pytest

import pictures
from bedlib import BusError
from played_cluster import ME, NAMES, PEER, THIRD, TRIO_EDGES, edge, many_edges, node, nodes_named
from test_desktop_screens import wait_size

COMPONENT = "org.a11y.atspi.Component"
OF_PARENT = 2
UNREAD = "The graph of the paths between nodes cannot be read: the graph is <b>too large</b>"
TOO_LARGE = BusError("org.freedesktop.DBus.Error.LimitsExceeded", "the graph is <b>too large</b>")


def width_of_label(program, text):
    """Of the label of a line with this text, as it is on the screen."""
    label = program.wait_for("label", text)
    return program.reader.call(label.ref[1], COMPONENT, "GetExtents", "u", (OF_PARENT,))[2]


def test_words_of_a_line_are_not_cut(play):
    """They are wider than any figure, and each label has the room of its own words."""
    edges = [edge(*ends, None, Kind=kind, Presence=presence)
             for one, other, kind, presence in ((ME, PEER, "rdma", "unmeasured"), (ME, PEER, "socket", "unmeasured"),
                                                (PEER, THIRD, "thunderbolt", "candidate"))
             for ends in ((one, other), (other, one))]
    program = play(edges=edges, links={}, findings=()).program
    words = width_of_label(program, "not measured")
    assert width_of_label(program, "RDMA: not measured") > words * 1.25
    assert width_of_label(program, "cable: possible") > words * 1.05


def test_a_graph_that_cannot_be_read_is_reported(play):
    """Nodes without lines would look as if there were no path between them."""
    played = play()
    program = played.program
    program.wait_for_text("9.41 Gb/s")
    assert "cannot be read" not in program.read().text()
    played.fail_graph(TOO_LARGE)
    program.wait_for_text(UNREAD)
    assert program.read().find_all("button", re.compile("^borealis, "))
    program.wait_gone("label", "9.41 Gb/s")
    played.set_graph(TRIO_EDGES)
    program.wait_for_text("9.41 Gb/s")
    program.wait_gone("label", UNREAD)


LOW = ((360, 380), (669, 394))


@pytest.mark.parametrize("wide, high", LOW)
def test_every_card_is_seen_in_a_low_window(play, wide, high):
    """The view that is fitted shows all of them, however small."""
    names = NAMES[:8]
    program = play(nodes_named(*names), edges=many_edges(8), links={}).program
    wait_size(program, wide, high)

    def places(tree):
        cards = [tree.find("button", re.compile(f"^{name}, ")) for name in names]
        top = sum(program.reader.place_of(tree.find("panel", re.compile("^Memory: ")))[1::2])
        # Their upper left corners: the sizes are those without the zoom.
        return all(0 <= x < wide - 8 and top <= y < high - 8 for x, y, _, _ in map(program.reader.place_of, cards))

    program.wait(places, "all cards below the tiles")


def frame_of(program):
    """A window without a compositor has a frame that is none of its widgets."""
    return (program.picture().get_width() - program.reader.place_of(program.read().find(state="active"))[2]) // 2


def blue_pixels(program, place):
    """How many pixels near this place have the accent colour of the light scheme."""
    picture, frame = program.picture(), frame_of(program)
    left, top, width, high = frame + place[0], frame + place[1], *place[2:]
    data, stride = picture.get_pixels(), picture.get_rowstride()
    pixels = (data[at:at + 3] for y in range(top - 2, top + high + 2)
              for at in range(y * stride + (left - 2) * 3, y * stride + (left + width + 2) * 3, 3))
    return sum(blue > 180 and red < 120 and green < 180 for red, green, blue in pixels)


def go_to(program, name):
    """By Tab, to what has this name or is part of what has it."""
    for _ in range(40):
        before = program.focused()
        if before and name in (before.name, before.description):
            return
        program.press("Tab")
        program.wait(lambda _, before=before: not before or (program.focused() or before).ref != before.ref,
                     "the focus to move")
    raise LookupError(name)


def test_the_focus_is_seen_on_the_buttons_of_the_canvas(play):
    program = play(ADW_DEBUG_COLOR_SCHEME="prefer-light").program
    program.open_page(1)
    for name in ("Zoom Out", "Zoom In", "Show Everything", "Arrange Nodes Anew"):
        place = program.reader.place_of(program.wait_for("button", name))
        assert blue_pixels(program, place) < 20
        go_to(program, name)
        program.wait(lambda _, place=place: blue_pixels(program, place) > 40, f"a ring around {name}")


def point_at(program, x, y):
    """A place of the window, in two steps, since a tooltip needs the pointer to move."""
    frame = frame_of(program)
    for step in (2, 0):
        program.session.screen.point(frame + x + step, frame + y)


@pytest.mark.parametrize("words", ["atlas and borealis over RDMA, live: 97.3 Gb/s to borealis", "cygnus, online"])
def test_what_is_pointed_at_is_explained(play, words):
    """The words that a screen reader reads, as a tooltip; nothing where there is nothing."""
    program = play().program
    program.open_page(1)
    program.wait_for_text(words)
    found = next(one for one in program.read().walk() if words in f"{one.name} {one.description}")
    x, y = program.reader.place_of(program.read().find("panel", re.compile("^Nodes and")))[:2]
    point_at(program, x + 2, y + 2)
    assert program.session.screen.popups() == []
    x, y = program.reader.place_of(found)[:2]
    point_at(program, x + 8, y + 6)
    program.wait(lambda _: program.session.screen.popups(), "a tooltip")
    pictures.keep(program.session.screen.picture(), f"tooltip-{words[:5]}")


def test_a_card_says_what_is_missing(play):
    bare = node("borealis")
    del bare["Node1.Compute"]
    program = play({ME: node("atlas"), PEER: bare}, edges=()).program
    card = program.wait_for("button", re.compile("^borealis, "))
    assert "FP16 compute not measured, memory bandwidth not measured" in card.name
    assert "\u2013" not in card.name
    assert "not measured" not in program.wait_for("button", re.compile("^atlas, ")).name


def test_the_signs_are_explained(play):
    program = play().program
    program.open_page(1)
    go_to(program, "What the Signs Mean")
    program.press("space")
    program.wait(lambda _: program.session.screen.popups(), "the popover")
    signs = program.read().find("list", "What the Signs Mean")
    names = "\n".join(row.name for row in signs.children)
    for word in ("arrow head", "round trip", "sockets", "RDMA", "without IP", "not measured", "offline", "≠",
                 "Triangle", "On a card"):
        assert word in names, word
    program.wait(lambda _: (program.focused() or program.read()).name in names.split("\n"), "the focus on a sign")
    pictures.keep(program.session.screen.picture(), "signs")
    program.press("Escape")
    program.wait(lambda _: not program.session.screen.popups(), "the end of the popover")


def test_a_selected_node_that_comes_back_looks_selected(play):
    played = play(nodes_named("atlas", "borealis"), edges=())
    card = re.compile("^borealis, ")
    played.program.click("button", card)
    played.program.wait_for("button", card, "selected")
    played.remove_node(PEER)
    played.program.wait_gone("button", card)
    played.add_node(1, "borealis")
    played.program.wait_for("button", card, "selected")
