# SPDX-License-Identifier: LGPL-2.1-or-later
"""The matrix that stands for the picture of more than 24 nodes."""

import pictures
from bedlib import BusError
from bedlib.waiting import wait_steadily
from played_cluster import GIGABIT, edge, node, node_id
from test_desktop_screens import LIGHT, steady_picture

GRID = "Rates between all nodes"
# The ends of the scale of rates, which nothing else of the window has.
FAST, SLOW = (253, 231, 37), (68, 1, 84)


def halls(*sizes):
    """Halls of so many nodes, with paths within each and none between them."""
    nodes, edges, first = {}, [], 0
    for hall, size in enumerate(sizes):
        nodes |= {node_id(first + one): node(f"hall{hall}-{one:02}") for one in range(size)}
        edges += [edge(node_id(first + a), node_id(first + b), (1 if (a + b) % 2 else 10) * GIGABIT)
                  for a in range(size) for b in range(size) if a != b]
        first += size
    return {"nodes": nodes, "edges": tuple(edges), "links": {}}


def focus_grid(program):
    """By keyboard."""
    for _ in range(20):
        before = program.focused()
        if before and before.name.startswith(GRID):
            return
        program.press("Tab")
        program.wait(lambda _, before=before: (program.focused() or before) is not before, "the focus to move")
    raise AssertionError("the matrix is not reached by keyboard")


def rows_of(picture):
    """Rows of colours."""
    data, stride, step = picture.get_pixels(), picture.get_rowstride(), picture.get_n_channels()
    return [[tuple(data[at:at + 3]) for at in range(row * stride, row * stride + picture.get_width() * step, step)]
            for row in range(picture.get_height())]


def grid(tree):
    return next((one for one in tree.walk() if one.name.startswith(GRID)), None)


def start(play, *sizes, **options):
    """The program with a matrix of these halls."""
    played = play(**halls(*sizes), wait=False, **options)
    played.program.focus()
    played.program.wait(grid, "the matrix")
    return played


def show(played, size, name):
    """A picture in a window of this size, kept."""
    program = played.program

    def has_size():
        played.desktop.screen.resize(program.window, *size)
        return program.picture().get_width() == size[0]

    wait_steadily(has_size, "the size", interval=0.2)
    picture = steady_picture(program)
    pictures.keep(picture, name)
    return picture


def test_cells_are_sharp_on_a_screen_with_small_pixels(play):
    """Between two cells there is no third colour, as there is in a picture that was made larger."""
    played = start(play, 26, ADW_DEBUG_COLOR_SCHEME=LIGHT, GDK_SCALE="2")
    sharp = blurred = 0
    for row in rows_of(show(played, (1800, 1150), "matrix-scaled")):
        for one, between, other in zip(row, row[1:], row[2:]):
            if {one, other} == {FAST, SLOW}:
                blurred += between not in (one, other)
                sharp += between in (one, other)
    assert sharp > 1000 and blurred == 0, (sharp, blurred)


def test_a_graph_that_cannot_be_read_hides_no_node(play):
    played = start(play, 26)
    program = played.program
    played.fail_graph(BusError("org.freedesktop.DBus.Error.LimitsExceeded", "too large"))
    program.wait_for_text("The graph of the paths between nodes cannot be read: too large")
    focus_grid(program)
    program.press("Right", "Right")
    program.wait_for_text("hall0-00 → hall0-01: unknown")
    played.set_graph(played.edges)
    program.wait_for_text("hall0-00 → hall0-01: 1.00 Gb/s")
