# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls of org.alidade.History1, and what a history service is fed with."""

import time

from bedlib.node import Clock
from bedlib.waiting import wait_steadily
from state_service import node_id, record

HISTORY, PATH = "org.alidade.History1", "/org/alidade/History1"
ACTION = "org.alidade.history.silence"
NOT_KEPT = "org.alidade.Error.NotKept"
SECOND = 1_000_000
HOUR = 3600 * SECOND
FOREVER = 2 ** 53
NEVER = 2 ** 64 - 1
ALPHA, BETA = node_id(1), node_id(2)


def call(host, method, signature="", args=(), user=None, **options):
    return host.call(HISTORY, PATH, HISTORY, method, signature, args, user, **options)


def get(host, name):
    return host.get(HISTORY, PATH, HISTORY, name)


def series(host, node, field, kind="Node1.Memory", key="", since=0, until=FOREVER, points=100):
    return call(host, "GetSeries", "ssssttu", (node, kind, key, field, since, until, points))


def values(host, node, field, **options):
    """The means of its points; None where it was unknown."""
    return [point.get("Mean") for point in series(host, node, field, **options)]


def wait_for_values(host, expected, node, field, **options):
    """Those of a moment can be one point."""
    wait_steadily(lambda: values(host, node, field, **options) == expected, lambda:
                  f"{expected}; there is {values(host, node, field, **options)}")


def events(host, since=0, until=FOREVER):
    """(id of the finding, whether it has ended), and whether there are more."""
    rows, findings, more = call(host, "GetEvents", "tt", (since, until))
    assert len(rows) == len(findings) and not more
    return [(finding["Id"], "EndedUSec" in row) for row, finding in zip(rows, findings)]


def link(now, sink, upload, *, source=ALPHA, download=10 ** 9, address="192.0.2.2", measured=None, **fields):
    return record(source, "Link1.Socket", seq=now, updated=now, key=f"{sink},{address}", Source=source, Sink=sink,
                  SinkAddress=address, SourceInterface="eth0", UploadBitsPerSecond=upload,
                  DownloadBitsPerSecond=download, MeasuredUSec=measured or now, **fields)


def disk(node, left, path="/"):
    """A file system with this share left, of which the state service finds that it is nearly full."""
    now = time.time_ns() // 1000
    return record(node, "Node1.Disk", seq=now, updated=now, Paths=[
        {"Id": path, "TotalBytes": 10 ** 12, "AvailableBytes": int(10 ** 12 * left)}])


class Hours:
    """The clock of a history service, for which it makes time pass."""

    def __init__(self, host):
        self._clock = Clock(host, monotonic=True)
        self.environment = self._clock.environment
        self._passed = 0

    def now(self):
        return time.time_ns() // 1000 + self._passed * SECOND

    def skip(self, seconds):
        """The service notices at the next call."""
        self._passed += seconds
        self._clock.set(self._passed)

    def pass_until(self, predicate, what, step=10):
        """Seconds by seconds. The predicate must call the service, which notices then."""
        def go_on():
            self.skip(step)
            return predicate()
        return wait_steadily(go_on, what, 60, 0.1)


class EverNew:
    """Findings of a member about itself: each round() fills other file systems of it and waits until all are reported,
    by themselves or by their number. .notices holds what the service has sent of them."""

    def __init__(self, cluster, hours, notices, node, paths=60):
        self._cluster, self._hours, self._all = cluster, hours, notices
        self._node, self._paths, self._rounds = node, paths, 0

    @property
    def notices(self):
        return [finding for *_, finding in self._all.began if finding.get("Reporter") == self._node]

    def reported(self):
        return sum(finding.get("LeftOut", 1) for finding in self.notices)

    def fill(self):
        """How many there have been then."""
        self._rounds += 1
        at = time.time_ns() // 1000
        self._cluster.take(record(self._node, "Node1.Disk", seq=at, updated=at, Paths=[
            {"Id": f"/{self._rounds}/{number}", "TotalBytes": 10 ** 12, "AvailableBytes": 10 ** 9}
            for number in range(self._paths)]))
        return self._rounds * self._paths

    def round(self, meanwhile=lambda: None):
        begun = self.fill()

        def are_reported():
            meanwhile()
            return self.reported() == begun
        self._hours.pass_until(are_reported, lambda: f"{begun} reported; {self.reported()} are", 30)


class Notices:
    """What the service reports: .began and .ended hold the arguments of its signals."""

    def __init__(self, host):
        self._host = host
        self._log = host.log_signals(HISTORY, PATH, HISTORY)

    def _named(self, name):
        get(self._host, "Scope")  # what it has sent before is here then
        return [signal.args for signal in self._log.received if signal.member == name]

    @property
    def began(self):
        return self._named("FindingBegan")

    @property
    def ended(self):
        return self._named("FindingEnded")

    def nodes(self):
        """Of each beginning."""
        return [finding.get("Nodes") for *_, finding in self.began]
