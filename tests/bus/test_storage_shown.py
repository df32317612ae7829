# SPDX-License-Identifier: LGPL-2.1-or-later
"""One record of how fast a node reads models, as a node of a cluster sends it: what each part makes of it."""

import time

import pytest

from bedlib import BusError
from bedlib.waiting import wait_steadily
from client import get_json
from history import NOT_KEPT, get, series
from placement import FAST, GIB, play
from state_service import record, start

HOUR = 3600 * 10 ** 6
RATE = 2_000_000_000
FIGURE = "FileSystems[/srv/models].ReadBytesPerSecond"
NUMBERS = ("--bytes=16G", "--layers=32", "--elements=4096")


def storage(node, at, **fields):
    """What a node sends of the file system with its models, and of one whose disk sleeps."""
    return record(node, "Node1.Storage", seq=at, updated=at, FileSystems=[
        {"Id": "/srv/models", "FileSystemType": "ext4", "Disks": ["nvme0n1"], "Rotational": False, "ModelFiles": 12,
         "ModelBytes": 310 * GIB, **fields},
        {"Id": "/backup", "Disks": ["sda"], "WaitingSinceUSec": at, "WaitingReason": "sda may be asleep"}])


@pytest.fixture
def host(make_host):
    host = start(make_host, activation=("placementd",))
    host.cluster_of_test = play(host)
    host.start_daemon("historyd")
    wait_steadily(lambda: get(host, "Scope"), "the history to begin")
    return host


def is_recorded(host):
    """Not before the service knows the node."""
    try:
        return series(host, FAST, FIGURE, kind="Node1.Storage")
    except BusError as error:
        assert error.name == NOT_KEPT
        return []


@pytest.fixture
def at(host):
    """When the node told what it had measured three hours before."""
    now = time.time_ns() // 1000
    host.cluster_of_test.take(storage(FAST, now, ReadBytesPerSecond=RATE, ReadInterval=1.0, ReadSpread=4.0,
                                      MeasuredUSec=now - 3 * HOUR))
    wait_steadily(lambda: is_recorded(host), "the figure in the history")
    return now


def test_each_program_shows_the_record(host, at):
    text = host.alidadectl("show", "fast", env={"COLUMNS": 200}).stdout
    assert ("Loading: /srv/models (nvme0n1) 2.00 GB/s ±1 %, spread 4 %, 12 models of 310 GiB, measured 3 h ago\n"
            in text), text
    assert "Loading: /backup (sda), not measured: sda may be asleep\n" in text
    assert "ReadBytesPerSecond: 2.00 GB/s\n" in text
    rows = get_json(host, "show", "fast")["Node"]["Node1.Storage"]["FileSystems"]
    assert {row["Id"]: row.get("ReadBytesPerSecond") for row in rows} == {"/srv/models": RATE, "/backup": None}
    assert [row["MeasuredUSec"] for row in rows if "MeasuredUSec" in row] == [at - 3 * HOUR]
    assert "Loading" not in host.alidadectl("show", "slow").stdout, "what is not known"
    # In the history.
    text = host.alidadectl("history", "fast", "--since=-6h").stdout
    assert "\n/srv/models\n" in text and "/backup" not in text
    [line] = [line for line in text.splitlines() if line.startswith("  Loading ")]
    assert line.split()[-5:] == ["2.00", "2.00", "2.00", "2.00", "GB/s"]
    [point] = series(host, FAST, FIGURE, kind="Node1.Storage", since=at - 6 * HOUR, until=at, points=1000)
    assert point["Mean"] == RATE and abs(point["TimeUSec"] - (at - 3 * HOUR)) < HOUR / 10
    # As a metric.
    text = host.alidadectl("metrics").stdout
    name = "alidade_storage_file_system_read_bytes_per_second{"
    found = [line for line in text.splitlines() if line.startswith(name)]
    assert len(found) == 1 and found[0].endswith(f" {RATE}")
    assert f'node="{FAST}"' in found[0] and '="/srv/models"' in found[0]
    assert "sda may be asleep" not in text


def test_plans_say_how_long_loading_takes(host, at):
    place = ("place", *NUMBERS, "--client=fast")
    said = " ".join(host.alidadectl(*place).stdout.split())
    assert ("Loading takes 8.59 s from nvme0n1 of fast, if the model is where most of those known there are: 16.0 GiB "
            "at the measured 2.00 GB/s.") in said
    [note] = [note for note in get_json(host, *place)["Plan"]["Notes"] if note.startswith("Loading")]
    assert note in said
    host.cluster_of_test.take(storage(FAST, at + 1, ReadBytesPerSecond=RATE, Flags=["busy"], MeasuredUSec=at))
    wait_steadily(lambda: "Loading" not in host.alidadectl(*place).stdout, "a note without a figure of its disk alone")
