# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls of org.alidade.History1, and what a history service is fed with."""

from bedlib.waiting import wait_steadily
from state_service import node_id, record

HISTORY, PATH = "org.alidade.History1", "/org/alidade/History1"
ACTION = "org.alidade.history.silence"
NOT_KEPT = "org.alidade.Error.NotKept"
SECOND = 1_000_000
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


def link(now, sink, upload, *, source=ALPHA, download=10 ** 9, address="192.0.2.2", **fields):
    return record(source, "Link1.Socket", seq=now, updated=now, key=f"{sink},{address}", Source=source, Sink=sink,
                  SinkAddress=address, SourceInterface="eth0", UploadBitsPerSecond=upload,
                  DownloadBitsPerSecond=download, MeasuredUSec=now, **fields)
