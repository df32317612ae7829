# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl history, with the real state and history services, fed with an hour of a played cluster."""

import csv
import io
import itertools
import json
import re
import signal
import sqlite3
import time

import pytest

from bedlib import BusError
from bedlib.services import client_binary
from bedlib.waiting import wait_steadily
from client import ERROR, NO_NODE, OK, UNREACHABLE, USAGE, get_json, width
from history import ALPHA, BETA, NOT_KEPT, SECOND, get, link, series
from state_service import Cluster, record, start
from terminal import Terminal

MINUTE = 60 * SECOND
GIB = 2 ** 30
TOTAL = 64 * GIB
GAP = range(20, 30)  # minutes ago in which nothing came
BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = {"LC_ALL": "C", "LANG": "C"}
RDMA_KEY = f"mlx5_0.1,{BETA},mlx5_1.1"
LINKS = [(ALPHA, "Link1.Socket", f"{BETA},192.0.2.2"), (BETA, "Link1.Socket", f"{ALPHA},192.0.2.1"),
         (ALPHA, "Link1.Rdma", RDMA_KEY)]


def now():
    return time.time_ns() // 1000


def begin(make_host, config=None):
    host = start(make_host)
    if config:
        host.write_config(config)
    cluster = Cluster(host)
    cluster.online(ALPHA, BETA)
    historyd = host.start_daemon("historyd")
    wait_steadily(lambda: get(host, "Scope"), "the history to begin")
    return host, cluster, historyd


def identity(node, name, at):
    return record(node, "Node1.Identity", updated=at, seq=at, FriendlyName=name)


def count(host, *args, **options):
    """How many points there are; none before the service knows the node."""
    try:
        return len(series(host, *args, **options))
    except BusError as error:
        assert error.name == NOT_KEPT
        return 0


def feed(host, cluster, at):
    """An hour of both: free memory that falls, with a gap; and a link that was measured twice. The state service may
    leave out what is replaced at once, so each sample waits for the one before."""
    cluster.take(identity(ALPHA, "atlas", at), identity(BETA, "borealis", at), record(
        ALPHA, "Node1.Compute", updated=at, seq=at, Devices=[
            {"Id": "cpu", "GemmTflops": 1.5, "MeasuredUSec": at - 30 * MINUTE}]))
    span = {"since": at - 3600 * SECOND, "until": at + SECOND, "points": 1000}
    taken = 0
    for ago in range(59, -1, -1):
        then = at - ago * MINUTE
        if ago not in GAP:
            taken += 1
            cluster.take(record(ALPHA, updated=then, seq=then, TotalBytes=TOTAL, AvailableBytes=(ago + 4) * GIB))
            wait_steadily(lambda: count(host, ALPHA, "AvailableBytes", **span) == taken, "each sample")
        if ago not in (40, 10):
            continue
        rate = (9 if ago == 40 else 1) * 10 ** 9
        cluster.take(
            link(then, BETA, rate, RttP50NSec=36_000, RttMeasuredUSec=then),
            link(then, ALPHA, rate // 2, source=BETA, address="192.0.2.1"),
            record(ALPHA, "Link1.Rdma", updated=then, seq=then, key=RDMA_KEY, Source=ALPHA, Sink=BETA,
                   SourcePort="mlx5_0.1", SinkPort="mlx5_1.1", UploadBitsPerSecond=rate, MeasuredUSec=then))
        for node, kind, key in LINKS:
            wait_steadily(lambda: count(host, node, "UploadBitsPerSecond", kind=kind, key=key, **span) == (
                1 if ago == 40 else 2), "each measurement")


@pytest.fixture
def recorded(make_host):
    """(a host that has recorded an hour, the end of it)"""
    host, cluster, _ = begin(make_host)
    at = now()
    feed(host, cluster, at)
    return host, at


def put_event(host, began, ended, nodes=(ALPHA,), finding="low-memory", severity="warning"):
    """An event of the past, which would take longer than a test to come by."""
    text = json.dumps({"Id": finding, "Severity": severity, "Nodes": list(nodes), "Text": f"{finding} happened"})
    with sqlite3.connect(host.state_directory("historyd") / "history.sqlite", timeout=10) as database:
        database.execute("INSERT INTO events (began, ended, finding, nodes, text) VALUES (?, ?, ?, ?, ?)",
                         (began, ended, finding, " ".join(nodes), text))
    database.close()


def line_of(text, label):
    return next(line for line in text.splitlines() if re.match(rf" *{re.escape(label)} ", line))


def sparkline(text, label):
    """Of a row, by where its header has the times."""
    header = next(line for line in text.splitlines() if line.startswith("FIGURE"))
    begin = re.search(r"\d", header).start()
    return line_of(text, label)[begin:re.search(r" +MIN", header).start()]


REFUSED = [
    ([], "Usage", USAGE), (["nobody"], "No node", NO_NODE), (["atlas", "atlas"], "two different nodes", USAGE),
    (["atlas", "AvailableByte"], "similar: AvailableBytes", USAGE),
    (["atlas", "borealis", "CpuUsage"], "No figure of a link", USAGE),
    (["atlas", "--since=noon"], "--since=noon is not a time such as", USAGE),
    (["atlas", "--since=9999-12-31"], "--since=9999-12-31 is out of range", USAGE),
    (["atlas", "--until", "1h"], "--until=1h", USAGE), (["atlas", "--since=now"], "earlier", USAGE),
    (["atlas", "--since=-1h", "--until=-2h"], "earlier", USAGE), (["atlas", "--json", "--csv"], "exclude", USAGE),
    (["atlas", "--points=5"], "--points needs", USAGE), (["atlas", "--csv", "--points=0"], "from 1 to 10000", USAGE),
    (["atlas", "--columns=x"], 'Unknown column "x"; see alidadectl history --columns=help', USAGE),
    (["atlas", "--sort=-x"], 'Unknown column "x"', USAGE), (["--columns=figure"], "Usage", USAGE),
    (["atlas", "--frobnicate"], "unknown option", USAGE), (["atlas", "--once"], "unknown option", USAGE)]


def test_a_node(recorded):
    host, _ = recorded
    text = host.alidadectl("history", "atlas").stdout
    assert re.match(r"atlas \d{4}-\d\d-\d\d \d\d:\d\d to ", text)
    shown = sparkline(text, "Memory free")
    assert len(shown) == 80 - 48
    assert shown[0] == "█" and shown[-1] == "▁"
    assert re.fullmatch(r"[▄-█]+ {4,6}[▁-▄]+", shown), shown
    assert [BLOCKS.index(block) for block in shown.replace(" ", "")] == sorted(
        (BLOCKS.index(block) for block in shown.replace(" ", "")), reverse=True)
    least, mean, greatest, last, unit = line_of(text, "Memory free").split()[-5:]
    assert (least, greatest, last, unit) == ("4.00", "63.0", "4.00", "GiB")
    assert 30 < float(mean) < 40
    assert "\ncpu\n" in text
    assert len(sparkline(text, "Matrices").strip()) == 1
    assert "Temperature" not in text, "what was never known is not listed"
    assert "Events" not in text
    # Fields by name.
    text = host.alidadectl("history", ALPHA, "SwapTotalBytes", "Node1.Memory", "Devices[cpu].GemmTflops").stdout
    assert [line for line in text.splitlines() if line.startswith("Node1")] == [
        "Node1.Memory", "Node1.Compute Devices[cpu]"]
    assert line_of(text, "SwapTotalBytes").split() == ["SwapTotalBytes", "–", "–", "–", "–"]
    assert "1.50" in line_of(text, "GemmTflops")
    assert "SwapAvailableBytes" not in text, "of several, those that are recorded"
    for figure in ("memory", "Memory", "node1.memory"):
        text = host.alidadectl("history", "atlas", figure).stdout
        assert [line for line in text.splitlines() if line.startswith("Node1")] == ["Node1.Memory"], figure
        assert "63.0" in line_of(text, "AvailableBytes") and "Compute" not in text, figure
    # Of a time in which nothing was recorded there is when the history begins.
    nothing = r"\nNothing was recorded\.\nThe history begins at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\n$"
    for options in [], ["--columns=figure"]:
        text = host.alidadectl("history", "atlas", "--since=-10d", "--until=-9d", *options).stdout
        assert re.search(nothing, text), text
    assert host.alidadectl("history", "atlas", "--since=-10d", "--until=-9d", "--csv").stdout.count("\n") == 1
    for words, reason, status in REFUSED:
        done = host.alidadectl("history", *words, check=False)
        assert done.returncode == status and reason in done.stderr and done.stdout == "", words


def test_links(recorded):
    host, _ = recorded
    text = host.alidadectl("history", "atlas", "borealis").stdout
    assert text.startswith("atlas ↔ borealis ")
    assert [line for line in text.splitlines()[1:] if "→" in line] == [
        "atlas → borealis: socket, 192.0.2.2, eth0", "atlas → borealis: rdma, mlx5_0.1 → mlx5_1.1, mlx5_0.1",
        "borealis → atlas: socket, 192.0.2.1, eth0"]
    ups = [line.split() for line in text.splitlines() if line.startswith("  Up ")]
    assert [line[-5:] for line in ups] == [["1.00", "5.00", "9.00", "1.00", "Gb/s"]] * 2 + [
        ["0.50", "2.50", "4.50", "0.50", "Gb/s"]]
    assert all(len(line[1]) <= 2 for line in ups), "the parts of a day are wide"
    assert line_of(text, "RTT/2").split()[-5:] == ["18.0", "18.0", "18.0", "18.0", "µs"]
    done = host.alidadectl("history", "borealis", "atlas", "RttP50NSec", "--since=-1h").stdout
    assert line_of(done, "RttP50NSec").split()[-2:] == ["36.0", "µs"]
    # Gaps between measurements stay empty.
    text = host.alidadectl("history", "atlas", "borealis", "--since=-1h").stdout
    shown = sparkline(text, "Up")
    assert re.fullmatch(r" {8,11}█ {12,18}▁ {3,6}", shown), shown


def test_no_link(make_host):
    host, cluster, _ = begin(make_host)
    cluster.take(identity(ALPHA, "atlas", now()), identity(BETA, "borealis", now()))
    done = host.alidadectl("history", "atlas", "borealis", check=False)
    assert (done.returncode, done.stdout) == (ERROR, "") and "No link between atlas and" in done.stderr


def test_events_are_marked_and_listed(recorded):
    host, at = recorded
    put_event(host, at - 30 * MINUTE, at - 15 * MINUTE)
    put_event(host, at - 10 * MINUTE, at - 9 * MINUTE, [BETA], "of-another")
    put_event(host, at - 5 * MINUTE, None, [ALPHA, BETA], "of-the-link", "error")
    text = host.alidadectl("history", "atlas", "--until", f"@{at / SECOND:.6f}").stdout
    assert re.fullmatch(r" {15,16}▲─+▼ +▲──?", sparkline(text, "Events")), text
    listed = text.split("BEGAN")[1].splitlines()[1:]
    assert [re.sub(r"\d", "0", line) for line in listed] in (
        ["00:00:00  00:00:00  warning: low-memory happened", "00:00:00  lasts     error: of-the-link happened"],
        ["00-00 00:00:00  00-00 00:00:00  warning: low-memory happened",
         "00-00 00:00:00  lasts           error: of-the-link happened"])
    text = host.alidadectl("history", "atlas", "borealis").stdout
    assert "of-the-link" in text and "low-memory" not in text and "of-another" not in text
    answer = get_json(host, "history", "atlas")
    assert [(event["Finding"]["Id"], event["BeganUSec"], event.get("EndedUSec")) for event in answer["Events"]] == [
        ("low-memory", at - 30 * MINUTE, at - 15 * MINUTE), ("of-the-link", at - 5 * MINUTE, None)]
    assert all(event["Event"] > 0 for event in answer["Events"])
    # In other locales, too.
    text = host.alidadectl("history", "atlas", env=ASCII).stdout
    assert text.isascii()
    assert re.fullmatch(r"[#%*+=]+ {4,6}[=.\-_]+", sparkline(text, "Memory free")), text
    assert re.search(r"\^-+v", sparkline(text, "Events"))


def test_more_events_than_one_reply_has(recorded):
    host, at = recorded
    with sqlite3.connect(host.state_directory("historyd") / "history.sqlite", timeout=10) as database:
        database.executemany(
            "INSERT INTO events (began, ended, finding, nodes, text) VALUES (?, ?, 'x', '', ?)",
            [(at - 3000 + i, at - 2000 + i, json.dumps({"Id": "x", "Nodes": [ALPHA], "Text": "x"}))
             for i in range(2500)])
    database.close()
    assert len(get_json(host, "history", "atlas")["Events"]) == 2500


def test_csv_json_and_columns(recorded):
    host, at = recorded
    text = host.alidadectl("history", "atlas", "--csv", "--since=-70min").stdout
    assert text.count("\n") == text.count("\r\n") > 1
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(rows[0]) == ["time", "node", "kind", "key", "field", "unit", "min", "mean", "max", "count"]
    free = [row for row in rows if row["field"] == "AvailableBytes"]
    assert len(free) == 60 - len(GAP)
    assert {(row["node"], row["kind"], row["key"], row["unit"]) for row in free} == {
        (ALPHA, "Node1.Memory", "", "bytes")}
    assert float(free[-1]["mean"]) == float(free[-1]["min"]) == pytest.approx(4 * GIB, rel=0.003)
    assert free[-1]["count"] == "1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", free[-1]["time"])
    assert {row["field"] for row in rows} == {"AvailableBytes", "Devices[cpu].GemmTflops"}
    links = host.alidadectl("history", "atlas", "borealis", "RttP50NSec", "--csv").stdout
    assert [row["key"] for row in csv.DictReader(io.StringIO(links))] == [f"{BETA},192.0.2.2"] * 2
    answer = get_json(host, "history", "atlas", "borealis", "UploadBitsPerSecond", "--points=7", "--since=-1h")
    assert (answer["NodeId"], answer["PeerId"]) == (ALPHA, BETA)
    assert answer["Names"] == {ALPHA: "atlas", BETA: "borealis"}
    assert answer["ToUSec"] - answer["FromUSec"] == pytest.approx(3600 * SECOND, abs=SECOND)
    assert [(one["Node"], one["Kind"], one["Key"], one["Field"], one["Unit"]) for one in answer["Series"]] == [
        (ALPHA, "Link1.Socket", f"{BETA},192.0.2.2", "UploadBitsPerSecond", "bits per second"),
        (ALPHA, "Link1.Rdma", RDMA_KEY, "UploadBitsPerSecond", "bits per second"),
        (BETA, "Link1.Socket", f"{ALPHA},192.0.2.1", "UploadBitsPerSecond", "bits per second")]
    first, last = answer["Series"][0]["Points"]
    assert first["Mean"] == first["Min"] == first["Max"] == 9 * 10 ** 9 and first["Count"] == 1
    step = -(-(answer["ToUSec"] - answer["FromUSec"]) // 7)
    assert (last["TimeUSec"] - answer["FromUSec"]) % step == 0
    pretty = host.alidadectl("--json=pretty", "history", "atlas").stdout
    assert pretty.count("\n") > 10 and json.loads(pretty)["NodeId"] == ALPHA
    # Rates of links side by side; as numbers, all is in the units of the interfaces.
    names = ("history", "atlas", "borealis", "UploadBitsPerSecond", "RttP50NSec")
    lines = host.alidadectl(*names, "--columns=figure,of,mean,count", "--sort=figure,-mean,of").stdout.splitlines()
    assert [re.split("  +", line.strip()) for line in lines] == [
        ["FIGURE", "OF", "MEAN", "COUNT"],
        ["RttP50NSec", "atlas → borealis: socket, 192.0.2.2, eth0", "36.0 µs", "2"],
        ["RttP50NSec", "atlas → borealis: rdma, mlx5_0.1 → mlx5_1.1, mlx5_0.1", "–", "0"],
        ["RttP50NSec", "borealis → atlas: socket, 192.0.2.1, eth0", "–", "0"],
        ["UploadBitsPerSecond", "atlas → borealis: rdma, mlx5_0.1 → mlx5_1.1, mlx5_0.1", "5.00 Gb/s", "2"],
        ["UploadBitsPerSecond", "atlas → borealis: socket, 192.0.2.2, eth0", "5.00 Gb/s", "2"],
        ["UploadBitsPerSecond", "borealis → atlas: socket, 192.0.2.1, eth0", "2.50 Gb/s", "2"]]
    head, *rows = host.alidadectl("history", "atlas", "--sort=figure").stdout.splitlines()
    assert head.split() == ["FIGURE", "OF", "MIN", "MEAN", "MAX", "LAST"]
    assert [row.split()[:2] for row in rows] == [["Matrices", "cpu"], ["Memory", "free"]] and " atlas " in rows[1]
    columns = "figure,node,kind,key,field,unit,last"
    halved = get_json(host, "history", "atlas", "borealis", f"--columns={columns}", "--sort=-last")["Series"][-1]
    assert halved == {"Figure": "RTT/2", "Node": ALPHA, "Kind": "Link1.Socket", "Key": f"{BETA},192.0.2.2",
                      "Field": "RttP50NSec", "Unit": "nanoseconds", "Last": 36_000}
    assert host.alidadectl("history", "atlas", "Devices[cpu].GemmTflops", "--csv", "--columns=of,max").stdout == (
        "Of,Max\r\nNode1.Compute Devices[cpu],1.5\r\n")


def test_it_fits_the_terminal(recorded):
    host, at = recorded
    put_event(host, at - 30 * MINUTE, at - 15 * MINUTE)
    put_event(host, at - 5 * MINUTE, None, [ALPHA, BETA], "of-the-link")
    for words, columns in itertools.product((["atlas"], ["atlas", "borealis"], ["atlas", "Node1"]), (20, 40, 80, 200)):
        with Terminal(host, [client_binary(), "history", *words, "--no-pager"], columns=columns, rows=400) as terminal:
            terminal.process.wait()
            terminal.read()
            shown = terminal.screen.lines()
        text = host.alidadectl("history", *words, env={"COLUMNS": str(columns)}).stdout
        assert max(map(width, text.splitlines())) <= columns, words
        assert len(shown) == len(text.rstrip("\n").splitlines()), f"a line of {words} was wrapped at {columns}"
        assert not terminal.screen.bad, words


def test_what_was_unknown(make_host):
    host, cluster, _ = begin(make_host)
    at = now()
    cluster.take(record(ALPHA, updated=at - 30 * MINUTE, seq=1, TotalBytes=TOTAL, AvailableBytes=GIB))
    wait_steadily(lambda: count(host, ALPHA, "AvailableBytes", until=at) == 1, "what is known")
    cluster.take(record(ALPHA, updated=at - 10 * MINUTE, seq=2, TotalBytes=TOTAL))
    wait_steadily(lambda: count(host, ALPHA, "AvailableBytes", since=at - 20 * MINUTE, until=at) == 1, "what is not")
    shown = sparkline(host.alidadectl("history", ALPHA, "AvailableBytes").stdout, "AvailableBytes")
    assert shown.strip()[0] == "▄" and shown.strip()[-1] == "·", shown
    shown = host.alidadectl("history", ALPHA, "AvailableBytes", env=ASCII).stdout
    assert sparkline(shown, "AvailableBytes").strip()[-1] == ","


def test_texts_of_others_are_made_safe(make_host):
    host, cluster, _ = begin(make_host)
    at = now()
    bad = "x\x1b[31m\u202e,\"y"
    cluster.take(record(ALPHA, "Node1.Compute", updated=at, seq=1, Devices=[
        {"Id": bad, "GemmTflops": 1.5, "MeasuredUSec": at - MINUTE}]))
    wait_steadily(lambda: count(host, ALPHA, f"Devices[{bad}].GemmTflops", kind="Node1.Compute"), "the figure")
    text = host.alidadectl("history", ALPHA).stdout + host.alidadectl("history", ALPHA, "--csv").stdout
    assert "\x1b" not in text and "\u202e" not in text
    series, = get_json(host, "history", ALPHA)["Series"]
    assert series["Field"] == f"Devices[{bad}].GemmTflops"


def test_no_history_service(make_host):
    host = start(make_host)
    cluster = Cluster(host)
    cluster.online(ALPHA)
    cluster.take(record(ALPHA, updated=now(), TotalBytes=TOTAL))
    done = host.alidadectl("history", ALPHA, check=False)
    assert done.returncode == UNREACHABLE and "alidade-historyd" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("scope, reason", [("off", "history= in alidade.conf is off"), ("local", "use -H to ask")])
def test_what_is_not_kept(make_host, scope, reason):
    host, cluster, _ = begin(make_host, f"[history]\nhistory={scope}\n")
    wait_steadily(lambda: get(host, "Scope") == scope, "the scope")
    cluster.take(record(ALPHA, updated=now(), TotalBytes=TOTAL))
    for words in ([], ["AvailableBytes"], ["--json"], ["--csv"]):
        done = host.alidadectl("history", ALPHA, *words, check=False)
        assert done.returncode == ERROR and reason in done.stderr and done.stdout == "", done


def test_a_service_that_hangs(recorded):
    host, _ = recorded
    historyd = next(daemon for daemon in host.daemons if daemon.name == "historyd")
    historyd.signal(signal.SIGSTOP)
    try:
        done = host.alidadectl("history", "atlas", check=False, deadline=30)
    finally:
        historyd.signal(signal.SIGCONT)
    assert done.returncode == UNREACHABLE
    assert "Waiting for org.alidade.History1" in done.stderr and "alidade-historyd did not answer" in done.stderr


def test_help(make_host):
    done = make_host().alidadectl("history", "--help")
    assert done.returncode == OK and "--since=TIME" in done.stdout and max(map(len, done.stdout.splitlines())) <= 110
