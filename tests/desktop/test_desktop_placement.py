# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page that places models: with the real placement service on a played cluster, and with one that is played."""

import re


import pytest

import pictures
from bedlib import BusError, wait_until
from played_cluster import ME, NAMES, PEER, edge, node, node_id
from test_alidadectl_place import write_model
from test_desktop_screens import DARK, LIGHT, SIZE, steady_picture, wait_size

GIB = 1024 ** 3
GPU = "0000:01:00.0"


def machine(name, presence="online", bandwidth=900, memory=8):
    """A node with a GPU and a processor that is not measured."""
    made = node(name, presence)
    made["Node1.Memory"] = {"TotalBytes": 64 * GIB, "AvailableBytes": 48 * GIB}
    made["Node1.Backends"] = {"Devices": [
        {"Id": GPU, "Class": "gpu", "Name": "NVIDIA GeForce RTX 4090", "Vendor": "NVIDIA Corporation",
         "MemoryTotalBytes": memory * GIB},
        {"Id": "cpu", "Class": "cpu", "Name": "AMD Ryzen 9 7950X", "Unified": True}]}
    made["Node1.System"] = {"Devices": [{"Id": GPU, "MemoryUsedBytes": GIB}]}
    made["Node1.Compute"] = {"Devices": [
        {"Id": GPU, "MemoryBandwidthBytesPerSecond": bandwidth * 10 ** 9, "TflopsFp16": 165.0,
         "MeasuredUSec": 1_700_000_000_000_000}]}
    return made


def cluster(n=3):
    """Each pair is joined, the last node is offline."""
    nodes = {node_id(number): machine(NAMES[number], "offline" if number == n - 1 else "online") for number in range(n)}
    edges = tuple(edge(node_id(a), node_id(b), 9_410_000_000) for a in range(n) for b in range(n) if a != b)
    return {"nodes": nodes, "edges": edges}


@pytest.fixture
def place(play):
    """place(…): the page, with the placement service."""
    def make(n=3, size="wide", **options):
        played = play(**cluster(n), **options)
        played.host.start_daemon("placementd")
        wait_size(played.program, *SIZE[size])
        played.program.press("alt+5")
        played.program.wait_for("tab", "Placement", "selected")
        return played

    return make


def fill(program, name, text):
    """Writes into the row of that name, as a screen reader does it."""
    entry = program.wait(lambda tree: next(one for one in tree.find_all("text", name) if one.is_editable), name)
    program.reader.call(entry.ref[1], "org.a11y.atspi.EditableText", "SetTextContents", "s", (text,))
    return entry


def choose_model(played):
    entry = fill(played.program, "GGUF File or Folder", str(write_model(played.host.dir / "model.gguf")))
    played.program.click_at(entry)
    played.program.press("Return")
    played.program.wait_for_text("Example (llama), 32 layers, 11.1 GiB")


@pytest.mark.parametrize("size, scheme", [("wide", LIGHT), ("narrow", DARK), ("wide", DARK), ("narrow", LIGHT)])
def test_look(place, size, scheme):
    played = place(4, size, ADW_DEBUG_COLOR_SCHEME=scheme)
    program = played.program
    choose_model(played)
    program.press("ctrl+Return")
    program.wait_for_text("tokens/s")
    pictures.keep(steady_picture(program), f"place-{size}-{scheme}-1")
    program.session.screen.resize(program.window, SIZE[size][0], 1880)
    pictures.keep(steady_picture(program), f"place-{size}-{scheme}-2")
    program.session.screen.resize(program.window, *SIZE[size])
    program.click(name="Show on Topology")
    program.wait_for("tab", "Topology", "selected")
    pictures.keep(steady_picture(program), f"place-{size}-{scheme}-3")
