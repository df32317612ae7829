# SPDX-License-Identifier: LGPL-2.1-or-later
"""The desktop program under Xvfb, with a state service that is played, beside an empty window in the same run."""

import contextlib
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from footprint import cpu_seconds, pss_kib, waits, wakeups
from requirement import need_programs
from state import start_bus, stop

SHORTEST = {"seconds": 1, "starts": 1}
FIRST_FRAMES = 5
SETTLE_SECONDS = 5
BURST_PAGES = ("topology", "nodes", "devices", "links")
BURST = 2000
MANY_NODES, MANY_PEERS, MANY_DEVICES = 1000, 8, 8
NODES, PEERS = 24, 12  # each two of them once: a full mesh
PER_NODE = 4  # memory and load, twice a second


def add_arguments(parser):
    parser.add_argument("--seconds", type=int, default=60, help="of each figure that is taken over a time")
    parser.add_argument("--starts", type=int, default=15, help="of the program and of an empty window (15)")


def check_requirements():
    need_programs("Xvfb", "dbus-daemon")


def start_display():
    """Returns the process and the number that it has chosen."""
    read_end, write_end = os.pipe()
    process = subprocess.Popen(["Xvfb", "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-displayfd",
                                str(write_end)], pass_fds=[write_end], stderr=subprocess.DEVNULL)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        return process, pipe.readline().strip()


class Place:
    """A display, a session bus and a bus for the state service."""

    def __init__(self, build):
        self.build = Path(build)
        self.kept = contextlib.ExitStack()

    def program(self, name):
        return self.build / ("clients/desktop/alidade" if name == "alidade" else f"tests/bench/bench-desktop-{name}")

    def _keep(self, process):
        self.kept.callback(stop, process)

    def _start_bus(self, directory):
        directory.mkdir()
        bus, address = start_bus(directory)
        self._keep(bus)
        return address

    def __enter__(self):
        directory = self.kept.enter_context(tempfile.TemporaryDirectory(prefix="alidade-bench-"))
        display, number = start_display()
        self._keep(display)
        # Neither bus can start anything.
        address, session_address = (self._start_bus(Path(directory, name)) for name in ("state", "session"))
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("GTK_", "GDK_", "G_"))},
            "ALIDADE_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": session_address, "DISPLAY": f":{number}",
            "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "HOME": directory, "LC_ALL": "C.UTF-8",
            "GSETTINGS_SCHEMA_DIR": str(self.build / "clients/desktop/data"), "XDG_CONFIG_HOME": directory,
            "XDG_CACHE_HOME": directory, "XDG_RUNTIME_DIR": directory,
        }
        self.environment.pop("WAYLAND_DISPLAY", None)
        return self

    def __exit__(self, *_):
        self.kept.close()


class Running:
    """A program of which each line is an answer or tells of an event."""

    def __init__(self, place, name, *arguments, **environment):
        self.begun = time.monotonic() * 1e6
        self.process = subprocess.Popen([place.program(name), *map(str, arguments)], text=True,
                                        env={**place.environment, **environment}, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} has ended")
        return line.strip()

    def wait_for(self, event):
        while True:
            found = json.loads(self.line())
            if found["event"] == event:
                return found

    def say(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def ask(self, line, event="done"):
        self.say(line)
        return self.wait_for(event)


@contextlib.contextmanager
def player(place, nodes, peers, *devices):
    with Running(place, "player", nodes, peers, *devices) as running:
        assert running.line() == "ready"
        yield running


def wait_for_snapshot(state):
    assert state.line() == "snapshot"
    time.sleep(SETTLE_SECONDS)


def start_usec(place, name):
    """Until the first frame, as if no other process had wanted the processor: wall time, processor time."""
    with Running(place, name) as running:
        frame = running.wait_for("first-frame")
        return frame["wall"] - running.begun - frame["queued"], frame["cpu"]


def start(place, starts):
    """Both in turns, with nodes to show: what the program does after its first frame does not count."""
    with player(place, NODES, PEERS):
        taken = [(start_usec(place, "frames"), start_usec(place, "empty")) for _ in range(starts)]
    ours, empty = (list(zip(*turns)) for turns in zip(*taken))
    return {"start_to_empty_window_ratio": statistics.median(ours[0]) / statistics.median(empty[0]),
            "start_cpu_to_empty_window_ratio": statistics.median(ours[1]) / statistics.median(empty[1]),
            "start_ms": statistics.median(ours[0]) / 1e3,
            "empty_window_start_ms": statistics.median(empty[0]) / 1e3}


def memory(place):
    """Each alone, since those that share a library share what it takes."""
    with Running(place, "empty") as empty:
        empty.wait_for("first-frame")
        time.sleep(SETTLE_SECONDS)
        before = pss_kib(empty.pid)
    with player(place, NODES, PEERS) as state, Running(place, "alidade") as ours:
        wait_for_snapshot(state)
        pss = pss_kib(ours.pid)
    return {"pss_over_empty_window_kib": pss - before, "empty_window_pss_kib": before}


def load(place, seconds):
    with player(place, NODES, PEERS) as state, Running(place, "alidade") as ours:
        wait_for_snapshot(state)
        state.say(f"{NODES * PER_NODE} 0")
        time.sleep(SETTLE_SECONDS)
        begun, before = time.monotonic(), cpu_seconds(ours.pid)
        time.sleep(seconds)
        return {"cpu_percent_24_nodes": 100 * (cpu_seconds(ours.pid) - before) / (time.monotonic() - begun)}


def thread_names(pid):
    return {thread: Path(f"/proc/{pid}/task/{thread}/comm").read_text(encoding="utf-8").strip()
            for thread in os.listdir(f"/proc/{pid}/task")}


def hidden(place, seconds, way):
    """{thread: wake-ups} while figures change that nobody sees."""
    with player(place, NODES, PEERS) as state, Running(place, "frames") as ours:
        wait_for_snapshot(state)
        state.say(f"{NODES * PER_NODE} 0")
        ours.ask(way)
        time.sleep(SETTLE_SECONDS)
        before = waits(ours.pid)
        time.sleep(seconds)
        after, names = waits(ours.pid), thread_names(ours.pid)
    return {f"{names[thread]} {thread}": wakeups({thread: before.get(thread, 0)}, {thread: count})
            for thread, count in after.items()}


def wakes(place, seconds):
    found = {way: hidden(place, seconds, way) for way in ("hide", "minimize")}
    return {"hidden_wakeups_60s": max(sum(threads.values()) for threads in found.values()) * 60 / seconds,
            "hidden_wakeups_by_thread": found}


def first_frame_usec(place):
    with Running(place, "frames", ALIDADE_BENCH_NODES=str(MANY_NODES)) as ours:
        begun, frame = ours.wait_for("snapshot"), ours.wait_for("nodes-frame")
        return frame["wall"] - begun["wall"] - (frame["queued"] - begun["queued"]), frame["cpu"] - begun["cpu"]


def first_page_frame_usec(place):
    """From the choice of the page of devices, which nobody has opened before, to its first frame."""
    with player(place, MANY_NODES, MANY_PEERS, MANY_DEVICES) as state, Running(place, "frames") as ours:
        wait_for_snapshot(state)
        begun = ours.ask("first devices", "page")
        frame = ours.wait_for("page-frame")
        return frame["wall"] - begun["wall"] - (frame["queued"] - begun["queued"]), frame["cpu"] - begun["cpu"]


def burst(place, page, seconds):
    """The frames of a page, and the rounds of the main loop between them, while figures change."""
    with player(place, MANY_NODES, MANY_PEERS) as state, Running(place, "frames") as ours:
        wait_for_snapshot(state)
        ours.ask(f"page {page}")
        state.say(f"{BURST} 0")
        time.sleep(SETTLE_SECONDS)
        ours.ask("measure", "measure")
        time.sleep(seconds)
        return ours.ask("measure", "measure")


def many(place, seconds):
    with player(place, MANY_NODES, MANY_PEERS):
        frames = [first_frame_usec(place) for _ in range(FIRST_FRAMES)]
    pages = [first_page_frame_usec(place) for _ in range(FIRST_FRAMES)]
    bursts = {page: burst(place, page, seconds) for page in BURST_PAGES}
    return {"first_frame_1000_nodes_ms": statistics.median(wall for wall, _ in frames) / 1e3,
            "first_frame_1000_nodes_cpu_ms": statistics.median(cpu for _, cpu in frames) / 1e3,
            "first_frame_8000_devices_ms": statistics.median(wall for wall, _ in pages) / 1e3,
            "first_frame_8000_devices_cpu_ms": statistics.median(cpu for _, cpu in pages) / 1e3,
            "frame_p999_ms": max(figures["frames_p999"] for figures in bursts.values()) / 1e3,
            "round_p999_ms": max(figures["rounds_p999"] for figures in bursts.values()) / 1e3,
            "bursts": bursts}


def movement(place, seconds):
    """With the labels of all links, and with more nodes; the figures of the links change too."""
    moved, found = 0, {}
    for nodes in (4, 8, NODES):
        with player(place, nodes, nodes // 2) as state, Running(place, "frames") as ours:
            wait_for_snapshot(state)
            ours.ask("measure", "measure")
            state.say(f"{nodes * PER_NODE} {nodes * nodes // 4}")
            time.sleep(seconds)
            found[nodes] = ours.ask("measure", "measure")
            moved = max(moved, found[nodes]["moved_px"])
    return {"moved_px": moved, "labels_that_came_or_went": sum(figures["other_labels"] for figures in found.values()),
            "placed": {nodes: figures["placed"] for nodes, figures in found.items()}}


def labels(place):
    return json.loads(subprocess.run([place.program("labels")], check=True, text=True, timeout=600,
                                     stdout=subprocess.PIPE).stdout)


def rounded(figures):
    if isinstance(figures, dict):
        return {name: rounded(value) for name, value in figures.items()}
    return round(figures, 2) if isinstance(figures, float) else figures


def main(build, json_only, seconds, starts):
    with Place(build) as place:
        figures = {**load(place, seconds), **wakes(place, seconds), **many(place, seconds), **start(place, starts),
                   **memory(place), **labels(place), **movement(place, seconds)}
    figures = rounded(figures)
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:32} {figure}")
    return figures
