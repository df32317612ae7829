# SPDX-License-Identifier: LGPL-2.1-or-later
"""The details of nodes and pairs, and where the focus goes when they are opened, change and are closed."""

import re

from played_cluster import ME, PEER, link, node, nodes_named
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
    for _ in range(60):
        before = program.focused()
        if before and is_in_details(program.read(), before) and re.match(name, before.name):
            return
        program.press("Tab")
        program.wait(lambda _, before=before: (program.focused() or before) is not before, "the focus to move")
    raise AssertionError(f"Tab never reaches {name}")


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


# The focus

def focus_row(program, name):
    """A row of the table of nodes, by keyboard."""
    program.open_page(2)
    program.press("ctrl+f")
    program.wait_for("entry", "Search nodes", "focused")
    program.type(name)
    program.wait(lambda tree: len(tree.find("tree table", "Nodes").find("list").children) == 1, "only its row")
    program.press("Down")
    wait_focus(program, inside=NODES, name=re.compile(f"^{name}, "))
