# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables: sorting by pointer and keyboard, and what is copied from them and from findings."""

import re

from bedlib.waiting import wait_steadily
from played_cluster import ABSENT, ME, PEER, THIRD, TRIO_LINKS
from test_alidadectl_links_played import link

GIB = 1024 ** 3
NAMES = ("atlas", "borealis", "cygnus")
FREE = {ME: 16, PEER: 60, THIRD: 4}
BY_NAME = ["atlas", "borealis", "cygnus"]
BY_MEMORY = ["cygnus", "atlas", "borealis"]


def free_text(free):
    return f"{free:.{2 if free < 10 else 1}f}/64.0 GiB free"


def show_nodes(play):
    """The table of nodes, which have different amounts of free memory."""
    played = play()
    for node, free in FREE.items():
        played.state.update(node, "Node1.Memory", AvailableBytes=free * GIB)
    played.program.open_page(2)
    wait_order(played.program, BY_NAME)
    for free in FREE.values():
        played.program.wait_for("label", free_text(free))
    return played


def order(tree):
    names = [row.name.split(",")[0] for row in tree.find("tree table", "Nodes").find("list").children]
    return [name for name in names if name in NAMES]


def wait_order(program, wanted):
    program.wait(lambda tree: order(tree) == wanted, f"the order {wanted}")


def title(program, name):
    return program.wait(lambda tree: tree.find("tree table", "Nodes").find("row").find("label", name), f"{name}")


def wait_clipboard(program, wanted):
    """Until the X server gives the text that the program has put there."""
    seen = None

    def same():
        nonlocal seen
        seen = program.session.screen.clipboard()
        return seen == wanted

    wait_steadily(same, lambda: f"{wanted!r} on the clipboard, where {seen!r} is")


def focus_row(program, name):
    """With Tab to the table, and to its row with the arrow keys."""
    def is_row(element):
        return element.role in ("row", "list item")

    program.tab_to(is_row, "a row")
    for _ in NAMES:
        if program.focused().name.startswith(f"{name},"):
            return
        program.press_and_wait("Down")
    raise LookupError(f"no row of {name} has the focus")


def choose(program, name, key):
    """An item of the open menu, to which this key leads."""
    for _ in range(30):
        found = program.focused()
        if found and found.role == "menu item" and found.name == name:
            program.press("Return")
            return
        program.press_and_wait(key)
    raise LookupError(f"no key leads to {name}")


# Sorting

def test_a_click_on_a_title_sorts_by_its_column(play):
    program = show_nodes(play).program
    program.click_at(title(program, "Memory"))
    wait_order(program, BY_MEMORY)
    # Elsewhere, as two clicks at one place in a short time are a double click, which is another thing.
    program.click_at(title(program, "Memory"), aside=10)
    wait_order(program, BY_MEMORY[::-1])
    program.click_at(title(program, "Name"))
    wait_order(program, BY_NAME)


def test_a_sorted_table_follows_figures_that_change(play):
    played = show_nodes(play)
    played.program.click_at(title(played.program, "Memory"))
    wait_order(played.program, BY_MEMORY)
    played.state.update(THIRD, "Node1.Memory", AvailableBytes=63 * GIB)
    wait_order(played.program, ["atlas", "borealis", "cygnus"])


def sort_by_keyboard(program, column):
    program.press("shift+F10")
    program.wait_for("menu item", "Sort By")
    choose(program, "Sort By", "Up")
    # The first item of a submenu leads back.
    program.wait(lambda _: program.focused().parent != program.read().find("menu item", "Sort By").parent,
                 "the submenu")
    choose(program, column, "Down")


def test_a_table_is_sorted_by_keyboard(play):
    program = show_nodes(play).program
    focus_row(program, "atlas")
    sort_by_keyboard(program, "Memory")
    wait_order(program, BY_MEMORY)
    # The table has the focus again.
    program.wait(lambda _: (program.focused() or program.read()).name == "atlas, online", "the focus of the row")
    sort_by_keyboard(program, "Memory")
    wait_order(program, BY_MEMORY[::-1])


# Columns

def titles(tree, table):
    return [label.name for label in tree.find("tree table", table).find("row").find_all("label")]


def test_what_matters_most_of_a_link_is_in_sight(play):
    """The verdict says what the finding says, and the rates say which way they go."""
    asymmetric = link(THIRD, up=196_000_000, down=48_200_000, SinkAddress="192.0.2.3", NegotiatedBitsPerSecond=ABSENT)
    program = play(links={**TRIO_LINKS, (ME, f"{THIRD},192.0.2.3"): asymmetric}).program
    program.open_page(4)
    program.wait_for("label", "196 Mb/s")
    tree = program.read()
    assert titles(tree, "Links")[:7] == ["From", "To", "Verdict", "From → To", "To → From", "RTT/2", "Age"]
    width = program.place_of(tree.find(state="active"))[2]
    for name in ("Verdict", "Age"):
        left, _, room, _ = program.place_of(tree.find("tree table", "Links").find("row").find("label", name))
        assert left + room < width, name
    [shown] = tree.find("tree table", "Links").find_all("row", re.compile("^atlas to cygnus"))
    assert "asymmetric" in shown.name
    assert "How much the node that measured the link sends to the other in a second" in tree.text()


def test_a_column_without_values_comes_with_the_first(play):
    played = show_nodes(play)
    assert "Alidade" not in titles(played.program.read(), "Nodes")
    played.state.update(PEER, "Node1.Identity", AlidadeVersion="9.8")
    played.program.wait(lambda tree: titles(tree, "Nodes")[-1] == "Alidade", "the column of versions")
    played.program.click_at(title(played.program, "Name"))
    wait_order(played.program, BY_NAME[::-1])


# Selecting

def looks(program):
    """The background of each row, above its text."""
    tree, picture = program.read(), program.picture()
    frame = (picture.get_width() - program.place_of(tree.find(state="active"))[2]) // 2
    pixels, stride, channels = picture.get_pixels(), picture.get_rowstride(), picture.get_n_channels()
    found = {}
    for row in tree.find("tree table", "Nodes").find("list").children:
        left, top, *_ = program.place_of(row)
        at = (frame + top + 4) * stride + (frame + left + 100) * channels
        found[row.name.split(",")[0]] = pixels[at:at + 3]
    return found


def row(program, name):
    rows = program.read().find("tree table", "Nodes").find("list").children
    return next(one for one in rows if one.name.startswith(f"{name},"))


def wait_selected_alone(program, name):
    def alone(tree):
        seen = looks(program)
        others = {look for other, look in seen.items() if other != name}
        return len(others) == 1 and seen[name] not in others and "selected" in row(program, name).states

    program.wait(alone, f"{name} to look selected, and no other row")


def test_only_the_row_with_the_last_menu_looks_selected(play):
    program = show_nodes(play).program
    # GTK 4.8 says this of each menu that opens while the button is down, as menus do.
    program.allowed.append("Broken accounting of active state for widget .*GtkPopoverMenu")
    for name in NAMES:
        program.click_at(row(program, name), button=3)
        program.wait(lambda _: program.session.screen.popups(), "the menu")
        program.press("Escape")
        program.wait(lambda _: not program.session.screen.popups(), "the end of the menu")
        # A click before that would only close the menu.
        program.wait(lambda _: program.focused() and program.focused().name.startswith(name), "the focus in the row")
        wait_selected_alone(program, name)
    program.click_at(row(program, "atlas"))
    wait_selected_alone(program, "atlas")
    program.press("ctrl+c")
    wait_clipboard(program, row_text("atlas", 16))


# Copying

TITLES = ("Name", "State", "Memory", "CPU", "FP16 Compute", "Memory Bandwidth", "Addresses", "GPUs", "GPU Load",
          "Temperature", "Power", "Model", "Processor", "Operating System")


def row_text(name, free):
    return "\t".join((name, "online", free_text(free), "12 %", "165 TFLOPS", "940 GB/s",
                      "192.0.2.1 2001:db8::1", "1", "33 %", "61 °C", "285 W", "Lenovo, ThinkStation P5",
                      "Xeon w5-2565X", "Debian GNU/Linux 12 (bookworm)"))


def test_a_row_is_copied(play):
    program = show_nodes(play).program
    focus_row(program, "borealis")
    program.press("ctrl+c")
    program.wait_for_text("Row copied")
    wait_clipboard(program, row_text("borealis", 60))


def test_rows_are_copied_with_their_titles(play):
    program = show_nodes(play).program
    focus_row(program, "atlas")
    program.press("ctrl+a", "ctrl+c")
    program.wait_for_text("3 rows copied")
    wait_clipboard(program, "".join(f"{line}\n" for line in (
        "\t".join(TITLES), row_text("atlas", 16), row_text("borealis", 60), row_text("cygnus", 4))))


ERROR = "Error: / on atlas has only 95.4 MiB of 931 GiB left.\nFree space below / on atlas.\ndisk-nearly-full: atlas\n"
WARNING = ("Warning: The link from atlas to cygnus is asymmetric: 196 Mb/s from atlas to cygnus, 48.2 Mb/s from cygnus "
           "to atlas.\nCompare the duplex modes, offload settings and load of both ends.\n"
           "link-asymmetric: atlas, cygnus\n")


def copy_buttons(tree):
    return [one for one in tree.find("list", "Findings").find_all("button") if "Copy Finding" in one.texts()]


def test_a_finding_is_copied(play):
    program = play().program
    program.open_page(5)
    program.do(program.wait(lambda tree: len(copy_buttons(tree)) == 2 and copy_buttons(tree)[1], "two findings"))
    program.wait_for_text("Finding copied")
    wait_clipboard(program, WARNING)


def test_a_finding_is_copied_by_keyboard(play):
    program = play().program
    program.open_page(5)
    program.wait(lambda tree: len(copy_buttons(tree)) == 2, "two findings")
    # What can be pressed in a row takes the focus rather than the row.
    while (program.focused() or program.read()).description != "Copy Finding":
        program.press_and_wait("Tab")
    program.press_and_wait("Down")
    program.press("ctrl+c")
    program.wait_for_text("Findings copied")
    wait_clipboard(program, WARNING)
    program.press("shift+Up", "ctrl+c")
    wait_clipboard(program, f"{ERROR}\n{WARNING}")


def test_a_finding_with_the_focus_alone_is_copied(play):
    program = play().program
    program.open_page(5)
    program.wait(lambda tree: len(copy_buttons(tree)) == 2, "two findings")
    program.tab_to(lambda found: found.description == "Copy Finding", "the button that copies")
    assert not program.read().find("list", "Findings").find_all("list item", state="selected")
    program.press("ctrl+c")
    program.wait_for_text("Findings copied")
    wait_clipboard(program, ERROR)


def test_a_row_with_the_focus_alone_is_copied(play):
    program = show_nodes(play).program
    focus_row(program, "atlas")
    assert not program.read().find("tree table", "Nodes").find_all("row", state="selected")
    program.press("ctrl+c")
    program.wait_for_text("Row copied")
    wait_clipboard(program, row_text("atlas", 16))


def test_all_findings_that_are_shown_are_copied(play):
    program = play().program
    program.open_page(5)
    program.click("button", "Copy All")
    program.wait_for_text("Findings copied")
    wait_clipboard(program, f"{ERROR}\n{WARNING}")
    program.do(program.read().find("panel", "Severity").find(name="Warnings"))
    program.wait(lambda tree: len(copy_buttons(tree)) == 1, "one finding")
    program.click("button", "Copy All")
    wait_clipboard(program, WARNING)


# Searching

def test_a_button_opens_the_search(play):
    program = show_nodes(play).program
    program.click(name="Search")
    program.wait(lambda _: (program.focused() or program.read()).is_editable, "the focus of the search")
    program.type("borea")
    wait_order(program, ["borealis"])
    program.press("Escape")
    wait_order(program, BY_NAME)
    program.wait(lambda tree: "pressed" not in tree.find(name="Search").states, "the button to follow")


def test_the_keys_of_tables_are_listed(play):
    program = play().program
    program.press("ctrl+question")
    for key in ("Search in a table", "Select another row", "Show the details", "Copy the selected rows"):
        program.wait_for_text(key)
