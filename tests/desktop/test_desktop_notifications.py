# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the program notifies of, read by a notification service that the test plays: none runs without a desktop."""

import pytest

from bedlib import StandIn, wait_until
from bedlib.connection import Connection
from played_cluster import ME, TRIO_FINDINGS

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
XML = f"""<node><interface name="{NAME}">
  <method name="Notify">
    <arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
    <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
    <arg type="a{{sv}}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/>
  </method>
  <method name="CloseNotification"><arg type="u" direction="in"/></method>
</interface></node>"""
DISK = {"Id": "disk-nearly-full", "Severity": "warning", "Nodes": [ME], "Names": ["atlas"], "Path": "/srv",
        "AvailableBytes": 10 ** 9, "TotalBytes": 10 ** 12, "Text": "nearly full", "Remedy": "delete"}


class NotificationService:
    """shown is {id: title} of what is on the screen now."""

    def __init__(self, desktop):
        self.shown, self.given, self.replaced, self.bodies = {}, 0, [], []
        self.connection = Connection(desktop, desktop.bus)
        self.service = StandIn(self.connection, PATH, XML, {},
                               {"Notify": self._notify, "CloseNotification": self._close})
        self.connection.own(NAME)

    def _notify(self, _program, replaces, _icon, title, body, *_):
        self.bodies.append(body)
        if not replaces:
            self.given += 1
        else:
            self.replaced.append(replaces)
        self.shown[replaces or self.given] = title
        return (replaces or self.given,)

    def _close(self, number):
        self.shown.pop(number, None)

    def titles(self):
        return sorted(self.shown.values())

    def close(self):
        self.service.close()
        self.connection.close()


@pytest.fixture
def notifications(desktop):
    service = NotificationService(desktop)
    yield service
    service.close()


def toggle(program, *names):
    for name in names:
        program.actions("Activate", "sava{sv}", (name, [], {}))


def test_a_finding_is_notified_of_once_and_withdrawn_with_its_end(play, notifications):
    """Not those that were there before; one that gets worse takes the place of what was said of it."""
    played = play()
    toggle(played.program, "notify-findings")
    played.set_findings((*TRIO_FINDINGS, DISK))
    wait_until(notifications.titles, "a notification")
    assert len(notifications.shown) == 1 and "/srv" in notifications.titles()[0]
    played.set_findings((*TRIO_FINDINGS, {**DISK, "Severity": "error", "AvailableBytes": 0}))
    wait_until(lambda: notifications.replaced == [1], "the one of the worse finding")
    played.set_findings(TRIO_FINDINGS)
    wait_until(lambda: not notifications.shown, "its end")
    assert notifications.given == 1


def test_no_markup_of_a_peer_is_in_a_body(play, notifications):
    """Other desktops render it there: links, and images that are fetched."""
    played = play()
    toggle(played.program, "notify-findings")
    played.set_findings((*TRIO_FINDINGS, {**DISK, "Path": "/<img src='http://198.51.100.1'>"}))
    wait_until(notifications.titles, "a notification")
    assert "<img" in notifications.titles()[0] and notifications.bodies == [""]
    played.set_findings((*TRIO_FINDINGS, {**DISK, "Path": "/srv"}))
    wait_until(lambda: "/srv" in "".join(notifications.titles()), "another notification")
    assert "/srv" in notifications.bodies[-1]


def test_findings_are_notified_of_without_a_window(play, notifications):
    played = play()
    toggle(played.program, "notify-findings", "run-in-background")
    played.program.press("ctrl+w")
    wait_until(lambda: not played.desktop.screen.windows(), "the end of the window")
    played.set_findings((*TRIO_FINDINGS, DISK))
    wait_until(notifications.titles, "a notification")
    assert played.program.quit() == 0
    played.program.expected_end = True
    wait_until(lambda: not notifications.shown, "its end with the program")


def test_the_end_of_the_program_says_that_nothing_is_held_off_any_more(play, notifications):
    played = play(probe=True)
    played.program.press("ctrl+h")
    played.program.wait_for("button", "Resume")
    played.program.expected_end = True
    played.program.press("ctrl+w")
    played.probe.wait_released()
    wait_until(notifications.titles, "a notification")
    assert notifications.titles() == ["Measurements are no longer held off, as Alidade has ended"]
