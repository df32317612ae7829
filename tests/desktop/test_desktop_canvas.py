# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes as cards, and what joins them as lines with labels."""

import re

import pytest

from bedlib import BusError
from played_cluster import ME, NAMES, PEER, THIRD, TRIO_EDGES, edge, many_edges, nodes_named
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


def blue_pixels(picture, place):
    """How many pixels near this place have the accent colour of the light scheme."""
    left, top, width, high = place
    data, stride = picture.get_pixels(), picture.get_rowstride()
    pixels = (data[at:at + 3] for y in range(top - 2, top + high + 2)
              for at in range(y * stride + (left - 2) * 3, y * stride + (left + width + 2) * 3, 3))
    return sum(blue > 180 and red < 120 and green < 180 for red, green, blue in pixels)


def test_the_focus_is_seen_on_the_buttons_of_the_canvas(play):
    program = play(ADW_DEBUG_COLOR_SCHEME="prefer-light").program
    program.open_page(1)
    for name in ("Zoom Out", "Zoom In", "Show Everything", "Arrange Nodes Anew"):
        place = program.reader.place_of(program.wait_for("button", name))
        assert blue_pixels(program.picture(), place) < 20
        for _ in range(40):
            before = program.focused()
            if before and before.name == name:
                break
            program.press("Tab")
            program.wait(lambda _, before=before: not before or (program.focused() or before).ref != before.ref,
                         "the focus to move")
        program.wait(lambda _, place=place: blue_pixels(program.picture(), place) > 40, f"a ring around {name}")
