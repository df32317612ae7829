# SPDX-License-Identifier: LGPL-2.1-or-later
"""./demo as a newcomer runs it, and as somebody who ends it at a bad moment."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
DEADLINE = 60
BUILD_DEADLINE = 1800  # of all of it, beside other builds
SHELL = SOURCE / "tests/bed/shell"
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

sys.path.insert(0, str(SOURCE / "tests/bed"))
from bedlib.machine import can_isolate  # noqa: E402
from bedlib.services import LITTLE_POCL  # noqa: E402


needs_cluster = pytest.mark.skipif(not can_isolate(), reason="needs root that may make namespaces")


def belonging():
    """Processes of the demo: what was started out of it, or with its run folder in its environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_text()
            text = os.readlink(entry / "exe") + command + (entry / "environ").read_text()
        except OSError:
            continue
        if f"{SOURCE}/build/demo/" in text:
            found.append((entry.name, command.replace("\0", " ")))
    return found


def await_end_of_all(deadline=DEADLINE):
    """What the demo's children have begun ends by itself a moment later."""
    end = time.monotonic() + deadline
    while belonging() and time.monotonic() < end:
        time.sleep(0.05)
    assert belonging() == []


@pytest.fixture(autouse=True)
def nothing_remains():
    yield
    await_end_of_all()
    assert not (SOURCE / "build/demo/run").exists()


def hear_signals():
    """A shell cannot catch what was ignored when it began, as SIGHUP is below nohup."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def demo(*arguments):
    # Not our terminal, not our process group: a signal to it is a signal to it alone.
    return subprocess.Popen([SOURCE / "demo", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True, text=True, preexec_fn=hear_signals,
                            env={**os.environ, **LITTLE_POCL})


def end(process, number):
    """Bash ignores an interrupt that arrives after the child of a substitution ends and before Bash waits for it, so a
    second interrupt follows the first if that has no effect."""
    process.send_signal(number)
    if number == signal.SIGINT:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
    process.communicate(timeout=DEADLINE)


def test_once_shows_this_machine():
    with demo("--once") as process:
        out, err = process.communicate(timeout=BUILD_DEADLINE)
    assert process.returncode == 0, err
    assert re.search(r"^Alidade +1 node", out, re.MULTILINE)
    assert os.uname().nodename.partition(".")[0] in out or "now" in out


def test_json_is_one_object_and_nothing_else():
    with demo("--json") as process:
        out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    lines = out.splitlines()
    assert len(lines) == 1
    answer = json.loads(lines[0])
    records = answer["Nodes"][answer["NodeId"]]
    assert {"Node1.Identity", "Node1.Memory", "Node1.System", "Node1.Network"} <= set(records)
    assert records["Node1.Memory"]["TotalBytes"] == 1024 * int(
        re.search(r"^MemTotal: +(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE).group(1))


def test_help_is_what_was_asked_for():
    for arguments in (["--help"], ["cluster", "--help"]):
        with demo(*arguments) as process:
            out, err = process.communicate(timeout=DEADLINE)
        assert (process.returncode, err) == (0, "")
        assert "cluster [COUNT]" in out


@pytest.mark.parametrize("count", ["0", "100", "many"])
def test_a_cluster_has_a_size(count):
    with demo("cluster", count) as process:
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out) == (2, "") and err


@needs_cluster
def test_cluster_shows_each_node():
    with demo("cluster", "3", "--json") as process:
        out, err = process.communicate(timeout=DEADLINE * 5)
    assert process.returncode == 0, err
    nodes = json.loads(out)["Nodes"].values()
    assert sorted(node["Node1.Identity"]["FriendlyName"] for node in nodes) == ["node1", "node2", "node3"]
    for node in nodes:
        assert node["Node1.Memory"]["TotalBytes"] > 0
        assert any(address.startswith("10.77.") for row in node["Node1.Network"]["Interfaces"]
                   for address in row.get("Addresses", []))
        assert node["Node1.Presence"]["State"] == "online"


# What the nodes are given, less what is not payload.
RATES = {("node1", "node2"): 47.8e6, ("node2", "node1"): 191e6, ("node1", "node3"): 47.8e6, ("node3", "node1"): 76.5e6,
         ("node2", "node3"): 76.5e6, ("node3", "node2"): 76.5e6}


@needs_cluster
def test_cluster_measures_its_links():
    with demo("cluster", "3", "--json") as process:
        out, err = process.communicate(timeout=DEADLINE * 5)
    assert process.returncode == 0, err
    assert "Not all links have been measured yet" not in err
    answer = json.loads(out)
    names = {node: records["Node1.Identity"]["FriendlyName"] for node, records in answer["Nodes"].items()}
    links = [link["Link1.Socket"] for link in answer["Links"].values()]
    links = [link for link in links if "UploadBitsPerSecond" in link]
    assert links
    for link in links:
        ends = names[link["Source"]], names[link["Sink"]]
        assert link["UploadBitsPerSecond"] == pytest.approx(RATES[ends], rel=0.2)
        assert link["DownloadBitsPerSecond"] == pytest.approx(RATES[ends[::-1]], rel=0.2)


@needs_cluster
def test_cluster_shows_its_links_over_time():
    with demo("cluster", "2", "--once") as process:
        out, err = process.communicate(timeout=DEADLINE * 5)
    assert process.returncode == 0, err
    assert re.search(r"^Alidade +2 nodes", out, re.MULTILINE)
    history = re.search(r"^(node1 [↔=] node2|node2 [↔=] node1) .*", out, re.MULTILINE | re.DOTALL).group()
    assert re.search(r"^  Up .* Mb/s$", history, re.MULTILINE) and re.search(r"^  RTT/2 .*s$", history, re.MULTILINE)


def folders():
    """Of the hosts of the demo."""
    found = []
    for pid, _ in belonging():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text(encoding="ascii") == "bed-machine\n":
                found.append(Path(os.readlink(f"/proc/{pid}/cwd")))
    return found


def hear(process, pattern, seconds=DEADLINE):
    """Reads what the demo tells until that is in it."""
    told, deadline = b"", time.monotonic() + seconds
    while not re.search(pattern, told):
        assert select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))[0], told.decode()
        more = os.read(process.stdout.fileno(), 65536)
        assert more, f"{told.decode()}\n{process.stderr.read()}"
        told += more


@needs_cluster
def test_a_node_that_is_killed_shows_as_offline():
    with demo("cluster", "3") as process:
        hear(process, rb"Node1.Memory")
        hosts = folders()
        subprocess.run([SHELL, "--kill", "2"], check=True)
        hear(process, rb"offline")
        entered = subprocess.run([SHELL, "1", "alidadectl", "nodes"], check=True, capture_output=True, text=True)
        assert re.search(r"^node2 .*offline", entered.stdout, re.MULTILINE)
        checked = subprocess.run([SHELL, "3", "alidadectl", "check"], capture_output=True, text=True, check=False)
        assert "OK: " in checked.stdout and "service-missing" not in checked.stdout, checked.stdout
        process.terminate()
        process.communicate(timeout=DEADLINE)
    assert hosts and not any(map(Path.exists, hosts))


@needs_cluster
def test_a_model_is_placed_on_simulated_devices():
    with demo("cluster", "3") as process:
        hear(process, rb"(?s)(GemmTflops.*){3}", DEADLINE * 4)
        placed = subprocess.run([SHELL, "2", "alidadectl", "place", "--bytes=1G", "--layers=8", "--elements=1024",
                                 "--json"], capture_output=True, text=True, check=False)
        process.terminate()
        process.communicate(timeout=DEADLINE)
    assert placed.returncode == 0, placed.stderr
    assert "Simulated GPU" in placed.stdout


@needs_cluster
def test_killed_demo_takes_its_cluster_along():
    with demo("cluster", "2") as process:
        hear(process, rb"Node1.Memory")
        hosts = folders()
        process.kill()
        process.wait()
    await_end_of_all()
    assert hosts and not any(map(Path.exists, hosts))
    test_json_is_one_object_and_nothing_else()


@needs_cluster
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("delay", [0.3, 0.6, 1.0])
def test_signal_to_a_cluster_at_any_moment(number, delay):
    with demo("cluster", "2") as process:
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            pass
        end(process, number)
        assert process.returncode in (128 + number, -number)


def test_unknown_option_is_refused():
    with demo("--now") as process:
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out) == (2, "")
    assert "--once" in err


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("delay", [0.02, 0.3, 0.6, 1.0, 2.0])
def test_signal_at_any_moment(number, delay):
    """The moments are not events of ours: that is the point."""
    with demo() as process:
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            pass
        end(process, number)
        assert process.returncode in (128 + number, -number)


def test_killed_demo_takes_its_services_along():
    with demo() as process:
        ready, _, _ = select.select([process.stdout], [], [], DEADLINE)
        assert ready, "monitor tells nothing"
        process.kill()
        process.wait()
    await_end_of_all()
    # The folder remains, and is in nobody's way.
    test_json_is_one_object_and_nothing_else()


def test_one_at_a_time():
    with demo() as first:
        assert select.select([first.stdout], [], [], DEADLINE)[0]
        with demo("--once") as second:
            out, err = second.communicate(timeout=DEADLINE)
        assert (second.returncode, out) == (1, "")
        assert "already" in err
        first.terminate()
        first.communicate(timeout=DEADLINE)


@pytest.mark.parametrize("key, status", [("q", 0), ("\x03", 130)])
def test_live_view_ends_by_key_and_restores_the_terminal(key, status):
    pid, terminal = pty.fork()
    if pid == 0:
        hear_signals()
        os.execve(SOURCE / "demo", ["demo"], {"TERM": "xterm", **os.environ})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    before = termios.tcgetattr(terminal)
    shown = b""
    deadline = time.monotonic() + DEADLINE
    while b"FREE MEMORY" not in shown and time.monotonic() < deadline:
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65536)
    assert b"FREE MEMORY" in shown, shown.decode(errors="replace")
    os.write(terminal, key.encode())
    try:
        while rest := os.read(terminal, 65536):
            shown += rest
    except OSError:  # the other end is closed: it is over
        pass
    _, found = os.waitpid(pid, 0)
    after = termios.tcgetattr(terminal)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(found) == status
    assert b"\x1b[?1049l" in shown or b"\x1b[?1049h" not in shown
    assert after[3] == before[3]
