# SPDX-License-Identifier: LGPL-2.1-or-later
"""The matrix that stands for the picture of more than 24 nodes."""

import pytest

import pictures
from bedlib import BusError
from bedlib.waiting import wait_steadily
from played_cluster import GIGABIT, edge, node, node_id
from test_desktop_screens import DARK, LIGHT, SIZE, steady_picture

GRID = "Rates between all nodes"
# The ends of the scale of rates, which nothing else of the window has.
FAST, SLOW = (253, 231, 37), (68, 1, 84)
EMPTY, SEPARATOR = (242, 242, 242), (0, 0, 0)
# In a window of the usual size, in pixels: the legend is below this, and captions are this near.
LEGEND_FROM, OUTSIDE, ABOVE = 750, 200, 8


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
    program.tab_to(lambda found: found.name.startswith(GRID), "the matrix")


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
    picture = None

    # Without a window manager, GTK may ask for the size of its own once more after this.
    def has_size():
        nonlocal picture
        played.desktop.screen.resize(program.window, *size)
        picture = steady_picture(program)
        return (picture.get_width(), picture.get_height()) == size

    wait_steadily(has_size, "the size", interval=0.2)
    pictures.keep(picture, name)
    if pictures.is_golden(name):
        golden = pictures.load(name)
        assert pictures.are_alike(picture, golden), f"{pictures.difference(picture, golden)} from golden/{name}.png"
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


def cells_box(rows):
    """Where the cells are: the first column and row of a rate, and what comes after the last."""
    places = [(x, y) for y, row in enumerate(rows) for x, pixel in enumerate(row) if pixel in (FAST, SLOW)]
    # The legend below has the colours of all rates between these, too, and the cells are above it.
    across = [x for x, y in places if y < LEGEND_FROM]
    down = [y for _, y in places if y < LEGEND_FROM]
    return min(across), min(down), max(across) + 1, max(down) + 1


@pytest.mark.parametrize("scheme, name", [(LIGHT, "matrix"), (DARK, "matrix-dark")])
def test_segments_have_captions(play, scheme, name):
    """As a picture, light and dark."""
    show(start(play, 16, 1, 9, 4, ADW_DEBUG_COLOR_SCHEME=scheme), SIZE["wide"], name)


@pytest.mark.parametrize("sizes", [(40, 1, 1, 30), (72,)])
def test_captions_are_beside_the_cells(play, sizes):
    """At the left of them and above, never in them; a single segment has none."""
    played = start(play, *sizes, ADW_DEBUG_COLOR_SCHEME=LIGHT)
    rows = rows_of(show(played, SIZE["wide"], f"matrix-captions-{len(sizes)}"))
    left, top, right, bottom = cells_box(rows)
    background = rows[top][left - OUTSIDE]
    for part in ([row[left - OUTSIDE:left] for row in rows[top:bottom]],
                 [row[left:right] for row in rows[top - ABOVE:top]]):
        ink = sum(pixel != background for row in part for pixel in row)
        assert ink > 500 if len(sizes) > 1 else ink == 0, (sizes, ink)
    inside = {pixel for row in rows[top:bottom] for pixel in row[left:right]}
    assert inside <= {FAST, SLOW, EMPTY, SEPARATOR}, inside


def test_segments_are_read(play):
    """Those that have no path between them, in the name of the matrix."""
    played = start(play, 16, 1, 9)
    name = grid(played.program.read()).name
    assert name.endswith(". 3 segments without a path between them: 16 nodes: hall0-00, hall0-01, hall0-02, hall0-03, "
                         "12 more; 1 node: hall1-00; 9 nodes: hall2-00, hall2-01, hall2-02, hall2-03, 5 more"), name
    played.set_graph([*played.edges, *(edge(*ends, GIGABIT) for ends in ((node_id(0), node_id(20)),
                                                                        (node_id(20), node_id(0))))])
    played.program.wait(lambda tree: "2 segments" in grid(tree).name, "segments that are joined")


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
