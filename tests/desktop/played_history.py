# SPDX-License-Identifier: LGPL-2.1-or-later
"""A history service that the test plays."""

from bedlib import BusError, StandIn, interface_xml
from played_state import fields

HISTORY, PATH = "org.alidade.History1", "/org/alidade/History1"
NOT_KEPT = "org.alidade.Error.NotKept"
PROPERTIES = {"Scope": "all", "Problem": "", "BudgetBytes": 10 ** 8, "SizeBytes": 10 ** 6, "LostSamples": 0,
              "LostEntries": 0, "RefusedSignals": 0}
HOUR = 3600 * 10 ** 6


class PlayedHistory:
    """series is {(node, kind, key, field): values}, one for each point, None for one without any; the last value goes
    on. events is a list of (began, ended or None, finding) in the order of the beginnings; a reply has no more of them
    than page. refuses is the node of which nothing is kept. is_old: it has no GetSeveralSeries()."""

    def __init__(self, connection, series=None):
        self.connection = connection
        self.series = series or {}
        self.findings, self.silences, self.events = [], [], []
        self.refuses, self.is_old = None, False
        self.page = 2000
        self.handlers = {"GetSeries": self._series, "GetSeveralSeries": self._several,
                         "GetEvents": self._events,
                         "GetFindings": lambda: ([fields(row) for row in self.findings],),
                         "GetSilences": lambda: ([fields(row) for row in self.silences],),
                         "Silence": self._silence, "Unsilence": self._unsilence}
        self.service = StandIn(connection, PATH, interface_xml(HISTORY), {HISTORY: PROPERTIES}, self.handlers)

    def own(self):
        self.connection.own(HISTORY)
        return self

    def disown(self):
        self.connection.call_bus("ReleaseName", "s", (HISTORY,))

    def calls(self, method):
        return [call.args for call in self.service.calls if call.method == method]

    def tell(self, signal):
        self.service.emit(PATH, HISTORY, signal, "", ())

    def _series(self, node, kind, key, field, since, until, points):
        if node == self.refuses:
            raise BusError(NOT_KEPT, "This machine does not record this node or link")
        values = self.series.get((node, kind, key, field))
        if not values:
            return ([],)
        values = values + [values[-1]] * (points - len(values))
        step = (until - since) // points
        return ([fields({"TimeUSec": since + i * step, "Count": 2, **(
            {"Min": value * 0.9, "Mean": float(value), "Max": value * 1.1} if value is not None else {})})
                 for i, value in enumerate(values[:points])],)

    def _several(self, names, since, until, points):
        if self.is_old:
            raise BusError("org.freedesktop.DBus.Error.UnknownMethod", "No such method")
        assert len(names) <= 64 and len(names) * points <= 10000
        return ([(False, []) if name[0] == self.refuses else (True, *self._series(*name, since, until, points))
                 for name in names],)

    def _events(self, since, until):
        lasting = [(number, *one) for number, one in enumerate(self.events, 1)
                   if one[0] < until and (one[1] or until) >= since]
        page = lasting[:self.page]
        times = [fields({"Event": number, "BeganUSec": began, **({"EndedUSec": ended} if ended else {})})
                 for number, began, ended, _ in page]
        return times, [fields(finding) for *_, finding in page], len(page) < len(lasting)

    def _silence(self, node, peer, until, reason):
        never = {} if until == 2 ** 64 - 1 else {"UntilUSec": until}
        self.silences.append({"Node": node, **({"Peer": peer} if peer else {}), "BeganUSec": 1, **never, "Uid": 0,
                              **({"Reason": reason} if reason else {})})
        self.tell("SilencesChanged")

    def _unsilence(self, node, peer):
        self.silences = [row for row in self.silences if (row["Node"], row.get("Peer", "")) != (node, peer)]
        self.tell("SilencesChanged")

    def close(self):
        self.service.close()
