# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the program shows of a played cluster, and how it is used by keyboard and by a screen reader."""

import re

from bedlib import wait_until
from played_cluster import ME, PEER, THIRD, TRIO_FINDINGS, edge, node_id, nodes_named

CARD = re.compile(r"^atlas, ")


def card(tree, name):
    return tree.find("button", re.compile(rf"^{re.escape(name)}, "))


def wait_card(program, name, *words, without=(), **options):
    """The card of a node, which says these words."""
    def look(tree):
        text = card(tree, name).text()
        return all(word in text for word in words) and not any(word in text for word in without)

    return program.wait(look, f"the card of {name} with {words} and without {without}", **options)


def wait_closed(program, name):
    """Until the details are about nothing; what is hidden is still there for a screen reader of GTK 4.8."""
    program.wait(lambda tree: not any(name in pane.text() for pane in tree.find_all(name="Details")),
                 "the end of the details")


# The topology

def test_nodes_are_cards_with_name_and_figures(play):
    program = play().program
    for name in ("atlas", "borealis", "cygnus"):
        wait_card(program, name, "online", "16.0/64.0 GiB", "165 TFLOPS", "940 GB/s")


def test_a_node_that_goes_loses_its_figures_and_gets_them_back(play):
    played = play()
    program = played.program
    wait_card(program, "borealis", "165 TFLOPS")
    played.set_presence(PEER, "stale")
    wait_card(program, "borealis", "stale")
    played.set_presence(PEER, "offline")
    wait_card(program, "borealis", "offline", without=("TFLOPS", "GB/s", "GiB free"))
    wait_card(program, "cygnus", "online", "165 TFLOPS")
    played.set_presence(PEER, "online")
    wait_card(program, "borealis", "online", "165 TFLOPS", "940 GB/s", without=("offline",))


def test_a_node_that_comes_has_a_card(play):
    played = play()
    played.add_node(3, "draco")
    wait_card(played.program, "draco", "165 TFLOPS")
    played.remove_node(node_id(3))
    played.program.wait_gone("button", re.compile("^draco, "))


def test_tiles_show_totals_and_what_is_left_out(play):
    played = play()
    program = played.program
    program.wait_for("panel", re.compile("^FP16 Compute: 496 TFLOPS, 1 device left out"))
    program.wait_for("panel", re.compile("^Memory Bandwidth: 2.82 TB/s over GPUs"))
    program.wait_for("panel", re.compile("^Memory: 48.0"))
    played.state.set_totals(TflopsFp16=12.25, TflopsFp16LeftOut=0)
    tile = program.wait_for("panel", re.compile("^FP16 Compute: 12.2 TFLOPS"))
    assert "left out" not in tile.text()
    # Only a cluster that reports its power has a tile of it.
    played.program.wait_gone("panel", re.compile("^Power"))
    played.state.set_totals(PowerMicroWatts=1_840_000_000, NodesPowerUnread=2)
    program.wait_for("panel", re.compile("^Power: 1.84 kW, 2 nodes not counted"))


def test_figures_that_change_are_shown(play):
    played = play()
    wait_card(played.program, "atlas", "16.0/64.0 GiB")
    played.state.update(ME, "Node1.Memory", AvailableBytes=8 * 1024 ** 3)
    wait_card(played.program, "atlas", "8.00/64.0 GiB", without=("16.0",))


RATES = {"9.41 Gb/s", "9.38 Gb/s", "196 Mb/s", "48.2 Mb/s", "97.3 Gb/s", "96.1 Gb/s"}


def test_every_rate_of_the_graph_is_read(play):
    program = play().program
    program.wait(lambda tree: all(rate in tree.text() for rate in RATES), f"{RATES}")


def test_an_edge_without_a_figure_is_read_as_unmeasured(play):
    program = play().program
    program.press("alt+1")
    tree = program.wait_for_text("borealis and cygnus")
    assert tree
    program.wait(lambda tree: any("borealis and cygnus" in text and ("not measured" in text or "unmeasured" in text)
                                  for text in tree.texts()), "an edge that is not measured")


def test_a_graph_that_changes_is_shown(play):
    played = play()
    played.program.wait_for_text("9.41 Gb/s")
    played.set_graph([edge(ME, PEER, 2_350_000_000), edge(PEER, ME, 2_340_000_000)])
    played.program.wait_for_text("2.35 Gb/s")


# Names and the keyboard

def unnamed(tree):
    """Objects that take the focus, or act, without a name, with where they are."""
    found = []

    def look(element, path):
        below = [*path, element.name or element.role]
        names = [one.name for one in element.walk() if one.name]
        # Lists and rows of GTK's own, within a table or an expander that has a name, have none. The value of a combo
        # row is an item of a list without a name.
        is_value = element.role == "list item" and path[-1:] == ["list"] and names
        is_control = element.role in ("button", "toggle button", "check box", "tab", "entry", "text", "list item",
                                      "cell", "menu item", "tree table", "table")
        is_list = element.role in ("list", "row", "scroll pane", "49")
        if "focusable" in element.states and not element.name and not is_value and \
                (is_control or not (names or is_list)):
            found.append(" / ".join(below[-4:]))
        for child in element.children:
            look(child, below)

    look(tree, [])
    return found


def test_nothing_that_takes_the_focus_is_without_a_name(play):
    played = play()
    program = played.program
    for page in (1, 2, 3, 4, 5):
        program.open_page(page)
        program.wait(lambda tree: tree.find_all(state="focusable"), "widgets")
    program.open_page(1)
    program.click("button", CARD)
    program.wait_for("button", "Close Details")
    left = unnamed(program.read())
    assert not left, "\n".join(left)


def walk_by_tab(program, most=80, key="Tab"):
    """What has the focus as one presses Tab, until it comes back to the first."""
    found, seen = [], set()
    for _ in range(most):
        before = program.focused()
        program.press(key)
        program.wait(lambda _, before=before: not before or (program.focused() or before).ref != before.ref,
                     f"the focus to leave {before}")
        now = program.focused()
        if now.ref in seen:
            break
        seen.add(now.ref)
        found.append(now)
    return found


def test_every_card_and_button_is_reached_by_keyboard(play):
    program = play().program
    program.open_page(1)
    names = {element.name for element in walk_by_tab(program)}
    for wanted in ("atlas", "borealis", "cygnus"):
        assert any(name.startswith(f"{wanted}, ") for name in names), names
    # Named or described: a screen reader reads both.
    assert {"Zoom In", "Zoom Out", "Show Everything", "Main Menu", "Hold Off Measurements"} <= names, names


def test_details_of_a_node_by_keyboard(play):
    program = play().program
    program.open_page(1)
    program.tab_to(lambda found: found.name.startswith("borealis, "), "borealis")
    program.press("Return")
    details = program.wait_for(name="Details")
    assert "borealis" in details.text()
    for word in ("ThinkStation P5", "RTX 4090", "Paths to Other Nodes"):
        program.wait(lambda tree, word=word: word in tree.find(name="Details").text(), f"{word} in the details")
    program.press("Escape")
    wait_closed(program, "borealis")


def test_details_of_a_pair_by_keyboard(play):
    """From the table of links, which is what the canvas is for those who do not see it."""
    program = play().program
    program.open_page(4)
    program.press("ctrl+f")
    program.wait_for("entry", "Search links", "focused")
    program.type("borealis")
    program.press("Down")
    program.wait(lambda _: (program.focused() or program.read()).role in ("row", "list item", "cell"), "a row")
    program.press("Return")
    details = program.wait_for(name="Details")
    assert "atlas" in details.text() and "borealis" in details.text()
    for word in ("9.41 Gb/s", "9.38 Gb/s", "97.3 Gb/s", "18.2 µs", "All Paths"):
        program.wait(lambda tree, word=word: word in tree.find(name="Details").text(), f"{word} in the details")
    program.press("Escape")
    wait_closed(program, "borealis")


# Tables

def rows(tree, table):
    """The text of each row of a table, in order."""
    return [row.text() for row in tree.find("tree table", table).find("list").children]


def test_nodes_are_rows_by_name_that_are_filtered(play):
    played = play()
    program = played.program
    played.state.update(PEER, "Node1.Memory", AvailableBytes=60 * 1024 ** 3)
    program.open_page(2)
    program.wait(lambda tree: len(rows(tree, "Nodes")) == 3, "three rows")

    def order(tree):
        return [next(name for name in ("atlas", "borealis", "cygnus") if name in row) for row in rows(tree, "Nodes")]

    assert order(program.read()) == ["atlas", "borealis", "cygnus"]
    program.press("ctrl+f")
    program.wait_for("entry", "Search nodes", "focused")
    program.type("bor")
    program.wait(lambda tree: order(tree) == ["borealis"], "one row")
    program.press("BackSpace", "BackSpace", "BackSpace")
    program.wait(lambda tree: len(order(tree)) == 3, "all rows")


def test_links_are_rows(play):
    played = play()
    program = played.program
    program.open_page(4)
    program.wait(lambda tree: any("9.41 Gb/s" in row and "borealis" in row and "18.2 µs" in row
                                  for row in rows(tree, "Links")), "the row of a link")
    played.change_link((ME, f"{PEER},192.0.2.2"), UploadBitsPerSecond=2_000_000_000)
    program.wait(lambda tree: any("2.00 Gb/s" in row and "20 % of negotiated" in row for row in rows(tree, "Links")),
                 "the new figure and its verdict", 20)


# Findings

def test_findings_have_a_badge_words_and_a_remedy(play):
    played = play()
    program = played.program
    program.wait(lambda tree: "2" in tree.find("tab", "Findings").texts(), "a badge of 2")
    program.open_page(5)
    found = program.wait_for("list", "Findings")
    assert "cygnus" in found.text() and "Error" in found.text() and "Warning" in found.text()
    # The worst comes first, and each says what to do.
    assert [("atlas" in one.text(), len(one.text()) > 60) for one in found.children] == [(True, True)] * 2
    assert "Error" in found.children[0].text()
    played.set_findings(TRIO_FINDINGS[:1])
    program.wait(lambda tree: "1" in tree.find("tab", "Findings").texts(), "a badge of 1")
    played.set_findings(())
    program.wait_for_text("No Findings")


def shown_findings(tree):
    return [row.name for row in tree.find("list", "Findings").children]


def severities(tree):
    """{name: button}; its role is another one in later versions of GTK."""
    return {one.name: one for one in tree.find("panel", "Severity").find_all(state="focusable")}


def wait_pressed(program, name):
    program.wait(lambda tree: [found for found, one in severities(tree).items() if "pressed" in one.states] == [name],
                 f"{name} to be pressed")


def choose_severity(program, name):
    program.do(severities(program.read())[name])
    wait_pressed(program, name)


def test_findings_are_shown_by_severity(play):
    played = play()
    program = played.program
    program.open_page(5)
    program.wait(lambda tree: len(shown_findings(tree)) == 2, "all findings")
    wait_pressed(program, "All")
    assert list(severities(program.read())) == ["All", "Errors", "Warnings"]
    choose_severity(program, "Errors")
    program.wait(lambda tree: ["95.4 MiB" in name for name in shown_findings(tree)] == [True], "the error")
    choose_severity(program, "Warnings")
    program.wait(lambda tree: ["asymmetric" in name for name in shown_findings(tree)] == [True], "the warning")
    # Those that come and go are filtered, too.
    played.set_findings(TRIO_FINDINGS[1:])
    program.wait_for_text("No Warnings")
    program.wait_for_text("1 other finding is hidden")
    played.set_findings(TRIO_FINDINGS)
    program.wait(lambda tree: len(shown_findings(tree)) == 1, "the warning")
    played.set_findings(())
    program.wait_for_text("No Findings")


def test_a_severity_is_chosen_by_keyboard_and_searched(play):
    played = play(findings=TRIO_FINDINGS[:1] * 3)
    program = played.program
    program.open_page(5)
    program.wait_for("list", "Findings")
    for _ in range(20):
        if (program.focused() or program.read()).name == "Errors":
            break
        before = program.focused()
        program.press("Tab")
        program.wait(lambda _, before=before: not before or (program.focused() or before).ref != before.ref,
                     "the focus to move")
    program.press("space")
    wait_pressed(program, "Errors")
    program.wait_for_text("No Errors")
    program.press("ctrl+f")
    program.wait_for("entry", "Search findings", "focused")
    program.type("atlas")
    program.wait_for_text("Only errors are searched")


def test_the_chosen_severity_is_kept_while_the_program_runs(play):
    played = play()
    program = played.program
    for action in ("notify-findings", "run-in-background"):
        program.actions("Activate", "sava{sv}", (action, [], {}))
    program.open_page(5)
    choose_severity(program, "Warnings")
    program.press("ctrl+w")
    wait_until(lambda: not played.desktop.screen.windows(), "the end of the window")
    program.actions("Activate", "sava{sv}", ("show-findings", [], {}))
    wait_pressed(program, "Warnings")
    program.wait(lambda tree: len(shown_findings(tree)) == 1, "the warning")


def test_a_finding_leads_to_the_details_of_its_nodes(play):
    program = play().program
    program.open_page(5)
    program.wait_for("list", "Findings")
    program.click("button", "atlas, cygnus")
    program.wait(lambda tree: all(word in tree.find(name="Details").text() for word in ("atlas", "cygnus", "196 Mb/s")),
                 "the details of the pair")


def test_who_is_alone_is_told_what_is_missing(play):
    played = play(nodes_named("atlas"), links={}, edges=())
    program = played.program
    wait_card(program, "atlas", "165 TFLOPS")
    program.open_page(4)
    program.wait_for_text("No Links")
    assert THIRD not in program.read().text()
