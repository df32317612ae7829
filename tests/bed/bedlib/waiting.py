# SPDX-License-Identifier: LGPL-2.1-or-later
"""Waiting for events on GLib's main context, always with a deadline."""

import os
import time

from gi.repository import GLib

from .errors import Timeout

# Multiplies every deadline: sanitizers and loaded machines need more of it.
PATIENCE = float(os.environ.get("ALIDADE_TEST_PATIENCE", "1"))
DEADLINE = 10.0
LOOK_AGAIN_MSEC = 500
PAUSE_MAX = 2.0


def wait_until(predicate, what, deadline=DEADLINE, fds=()):
    """Returns the first true value of predicate(), asked again after every event on the main context, and now and
    then without: a predicate that makes calls may itself have taken the event that it should be asked again for.
    One that looks something up which is not there yet (LookupError, or StopIteration of next()) has not come true.

    fds wake it too when readable; predicate() must then read them, or the loop spins.
    """
    expired = []

    def expire():
        expired.append(True)
        return GLib.SOURCE_REMOVE

    context = GLib.MainContext.default()
    timer = GLib.timeout_add(int(deadline * PATIENCE * 1000), expire)
    watches = [GLib.timeout_add(LOOK_AGAIN_MSEC, lambda: GLib.SOURCE_CONTINUE)]
    watches += [GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, fd, GLib.IOCondition.IN | GLib.IOCondition.HUP,
                                     lambda *_: GLib.SOURCE_CONTINUE) for fd in fds]
    try:
        while True:
            absent = None
            try:
                value = predicate()
                if value:
                    return value
            except (LookupError, StopIteration) as error:
                absent = error
            if expired:
                awaited = what() if callable(what) else what
                raise Timeout(f"waited {deadline * PATIENCE:g} s in vain for {awaited}") from absent
            context.iteration(True)
    finally:
        for source in watches + ([] if expired else [timer]):
            GLib.source_remove(source)


def wait_steadily(predicate, what, deadline=DEADLINE, interval=0.02):
    """As wait_until(), for conditions that raise no event: asks again and again, and at the end. It takes no more than
    a quarter of the time for that, unless a pause would be so long that what lasts for some seconds is missed."""
    due, end = 0, time.monotonic() + deadline * PATIENCE - 0.01

    def ask():
        nonlocal due
        begun = time.monotonic()
        if begun < min(due, end):
            return None
        try:
            return predicate()
        finally:
            ended = time.monotonic()
            due = ended + max(interval, min(3 * (ended - begun), PAUSE_MAX)) - interval / 2

    timer = GLib.timeout_add(max(1, int(interval * 1000)), lambda: GLib.SOURCE_CONTINUE)
    try:
        return wait_until(ask, what, deadline)
    finally:
        GLib.source_remove(timer)
