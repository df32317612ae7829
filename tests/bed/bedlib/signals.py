# SPDX-License-Identifier: LGPL-2.1-or-later
"""Signals kept as they arrive, so that one sent before the wait is not missed."""

from collections import namedtuple

from gi.repository import Gio

from .variants import unpack
from .waiting import DEADLINE, wait_until

Signal = namedtuple("Signal", "sender path interface member args")


class SignalLog:
    """Everything that matches, from the moment of construction; None matches anything.

    The list is .received; .wait() gives the first one the predicate accepts, old ones included. Setting
    .on_signal takes them elsewhere.
    """

    def __init__(self, connection, sender=None, path=None, interface=None, member=None, arg0=None,
                 flags=Gio.DBusSignalFlags.NONE):
        self.received = []
        self.on_signal = self.received.append
        self.what = f"signal {interface or '*'}.{member or '*'} of {sender or 'anyone'} at {path or '*'}"
        self._gio = connection.gio
        self._subscription = self._gio.signal_subscribe(sender, interface, member, path, arg0,
                                                        flags, self._store)
        # The bus has the match rule once it has answered anything sent after it.
        connection.fence()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _store(self, _connection, sender, path, interface, member, arguments):
        self.on_signal(Signal(sender, path, interface, member, unpack(arguments)))

    def wait(self, predicate=lambda signal: True, deadline=DEADLINE):
        return wait_until(lambda: next(filter(predicate, self.received), None), self.what, deadline)

    def close(self):
        if self._subscription:
            self._gio.signal_unsubscribe(self._subscription)
            self._subscription = 0
