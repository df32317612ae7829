# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes as cards, and what joins them as lines with labels."""

import re

from bedlib import BusError
from played_cluster import ME, PEER, THIRD, TRIO_EDGES, edge

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
