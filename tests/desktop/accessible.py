# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a screen reader sees of the program, read whole and at once from the accessibility bus.

libatspi asks for each property of each widget by a call of its own and keeps what it was told; thousands of calls
would take longer than what the tests wait for."""

import contextlib
import re

from bedlib import BusError
from bedlib.waiting import DEADLINE, wait_steadily

ACCESSIBLE = "org.a11y.atspi.Accessible"
CACHE = ("/org/a11y/atspi/cache", "org.a11y.atspi.Cache")
ROOT = "/org/a11y/atspi/accessible/root"
COORD_WINDOW = 1

# Of AT-SPI's enumerations, which only grow.
ROLES = {7: "check box", 8: "check menu item", 16: "dialog", 29: "label", 31: "list", 32: "list item", 33: "menu",
         35: "menu item", 37: "tab", 38: "tab list", 39: "panel", 42: "progress bar", 43: "button",
         45: "radio menu item", 55: "table", 56: "cell", 57: "column header", 61: "text", 62: "toggle button",
         66: "tree table", 69: "window", 75: "application", 79: "entry", 90: "row",
         # Of a group, which GTK 4.8 calls a panel.
         99: "panel"}
STATES = {1: "active", 4: "checked", 8: "enabled", 9: "expandable", 10: "expanded", 11: "focusable", 12: "focused",
          20: "pressed", 23: "selected", 24: "sensitive", 25: "showing", 30: "visible"}
# GTK names a widget that has no name after its type.
TYPE_NAME = re.compile(r"(Gtk|Adw|Ald)[A-Z]\w*")


class Element:
    """One accessible object; its children are in order."""

    def __init__(self, item, position):
        self.ref, _, self.parent, _, self.n_children, self.interfaces, name, role, description, states = item
        self.position = position
        self.name = "" if TYPE_NAME.fullmatch(name) else name
        self.description = description
        self.role = ROLES.get(role, str(role))
        bits = states[0] | states[1] << 32
        self.states = {word for bit, word in STATES.items() if bits >> bit & 1}
        self.children = []

    def __repr__(self):
        return f"<{self.role} {self.name!r}{f' ({self.description!r})' if self.description else ''}>"

    @property
    def is_editable(self):
        return "org.a11y.atspi.EditableText" in self.interfaces

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def find_all(self, role=None, name=None, state=None):
        """Those below it with that role and state whose name is this, or matches this pattern."""
        return [one for one in self.walk() if (role is None or one.role == role)
                and (state is None or state in one.states)
                and (name is None or (one.name == name if isinstance(name, str) else name.search(one.name)))]

    def find(self, role=None, name=None, state=None):
        found = self.find_all(role, name, state)
        if not found:
            raise LookupError(f"no {role or 'object'} {name!r} {state or ''}")
        return found[0]

    def texts(self):
        """All that is read of it, by line."""
        return [text for one in self.walk() for text in (one.name, one.description) if text]

    def text(self):
        return "\n".join(self.texts())




class ScreenReader:
    """Reads the program that has this unique name on the accessibility bus."""

    def __init__(self, connection, program):
        self.connection = connection
        self.program = program

    def call(self, path, interface, method, *arguments, deadline=DEADLINE):
        return self.connection.call(self.program, path, interface, method, *arguments, deadline=deadline)

    def _items(self):
        return {tuple(item[0])[1]: item for item in self.call(*CACHE, "GetItems")}

    def read(self):
        """The tree of now. The cache of the program has a widget once somebody asked for the children of its parent."""
        asked = {ROOT}
        # It does not say how many windows it has.
        self._tell_children(ROOT)
        while True:
            items = self._items()
            tree, unknown = build(items)
            fresh = [path for path in unknown if path not in asked]
            if not fresh:
                return tree
            for path in fresh:
                asked.add(path)
                self._tell_children(path)

    def _tell_children(self, path):
        # It may have gone meanwhile, and the next look does without it.
        with contextlib.suppress(BusError):
            self.call(path, ACCESSIBLE, "GetChildren")

    def do(self, element, action=0):
        """Its action, as a press on a button."""
        self.call(element.ref[1], "org.a11y.atspi.Action", "DoAction", "i", (action,))

    def place_of(self, element):
        """x, y, width and height within its window."""
        return self.call(element.ref[1], "org.a11y.atspi.Component", "GetExtents", "u", (COORD_WINDOW,))

    def text_of(self, element):
        """What is written in an entry."""
        return self.call(element.ref[1], "org.a11y.atspi.Text", "GetText", "ii", (0, -1))

    def wait(self, predicate, what, deadline=DEADLINE):
        """Until predicate(tree) finds something, which is returned."""
        tree = None

        def look():
            nonlocal tree
            tree = self.read()
            return predicate(tree)

        def said():
            return f"{what}; there is:\n" + ("\n".join(tree.texts()) if tree else "nothing")

        return wait_steadily(look, said, deadline, 0.05)

    def wait_for(self, role=None, name=None, state=None, deadline=DEADLINE):
        return self.wait(lambda tree: tree.find(role, name, state), f"{role or 'an object'} {name!r} {state or ''}",
                         deadline)

    def wait_gone(self, role=None, name=None, state=None, deadline=DEADLINE):
        self.wait(lambda tree: not tree.find_all(role, name, state), f"the end of {role or ''} {name!r}", deadline)

    def wait_for_text(self, text, deadline=DEADLINE):
        """Anywhere in a name or description."""
        return self.wait(lambda tree: text in tree.text(), repr(text), deadline)


def build(items):
    """The tree of the rows of a cache, and of which of them not all children are known."""
    elements = {path: Element(item, number) for number, (path, item) in enumerate(items.items())}
    order = {}
    for path, item in items.items():
        order.setdefault(item[2][1], []).append((item[3], path))
    unknown = []

    def attach(path):
        element = elements[path]
        known = [child for _, child in sorted(order.get(path, ()))]
        seen = [child for child in known if "visible" in elements[child].states]
        if len(seen) < element.n_children:
            unknown.append(path)
        element.children = [attach(child) for child in seen]
        return element

    root = elements.get(ROOT) or next(iter(elements.values()))
    return attach(root.ref[1]), unknown
