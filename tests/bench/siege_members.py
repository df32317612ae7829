# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a member of the cluster, or a host at the exporter's port, can take from others: samples of the history, metrics
and scrapes. Each case has services of its own and gives {figure: value}; siege.py has the helpers."""

import contextlib
import ssl
import subprocess
import time
from pathlib import Path

TURN_SECONDS = 0.1
QUESTION_SECONDS = 0.05
ARRIVE_SECONDS = 30
OTHERS = 30
ROWS_PER_TURN = 100
LIAR = 1000
TOKEN = "a-token-of-sixteen-bytes-or-more"
SOURCES = [f"127.0.0.{n}" for n in range(2, 10)]


def p99(latencies):
    ordered = sorted(latencies)
    return round(ordered[int(len(ordered) * 0.99)], 2)


def node(number):
    from state_service import node_id

    return node_id(number + 1)


def put_records(cluster, records, serial):
    from bedlib.variants import pack
    from state_service import PATH, RECORDS, STATE, blob

    message = blob(STATE, PATH, STATE, "PutRecords", pack(f"({RECORDS})", (records,)), serial=serial)
    if cluster.put(message) != (len(records), 0):
        raise AssertionError("not all records were taken")


def put_online(cluster):
    """All nodes, since of others there are neither metrics nor samples."""
    from bedlib.variants import pack
    from state_service import PATH, STATE, blob

    rows = [(node(n), "online", 1, -2 ** 63, 0, 0) for n in (*range(OTHERS), LIAR)]
    message = blob(STATE, PATH, STATE, "PutPresences", pack("(a(sstxtt))", (rows,)))
    if cluster.put(message) != (len(rows), 0):
        raise AssertionError("not all nodes are online")


def disk_of_liar(turn, rows):
    """Paths that nobody has heard of before."""
    from state_service import record

    return record(node(LIAR), "Node1.Disk", seq=turn, updated=time.time_ns() // 1000, Paths=[
        {"Id": f"/{turn}/{n}", "TotalBytes": 1000, "AvailableBytes": turn % 1000} for n in range(rows)])


def flood(cluster, until, rows):
    """The liar has new rows in each turn, of which all others have a new figure."""
    from state_service import memory, record

    turn = 1
    while time.monotonic() < until:
        begun, turn = time.monotonic(), turn + 1
        put_records(cluster, [
            disk_of_liar(turn, rows),
            record(node(LIAR), "Node1.Identity", seq=turn, updated=turn, FriendlyName=f"name {turn}"),
            *(memory(node(n), turn, seq=turn, updated=time.time_ns() // 1000) for n in range(OTHERS))], turn)
        time.sleep(max(0, TURN_SECONDS - (time.monotonic() - begun)))
    return turn


def ask_history(wire, until):
    """Milliseconds that each answer about another node took."""
    from gi.repository import GLib
    from history import FOREVER, HISTORY, PATH
    from siege import read_answer
    from state_service import blob

    latencies, turn = [], 0
    while time.monotonic() < until:
        arguments = (node(turn % OTHERS), "Node1.Memory", "", "TotalBytes", 0, FOREVER, 100)
        begun, turn = time.monotonic(), turn + 1
        wire.send(blob(HISTORY, PATH, HISTORY, "GetSeries", GLib.Variant("(ssssttu)", arguments), serial=turn))
        read_answer(wire)  # it may not know the series yet
        latencies.append((time.monotonic() - begun) * 1e3)
        time.sleep(QUESTION_SECONDS)
    return latencies


@contextlib.contextmanager
def services(*names):
    from bedlib import Host
    from state_service import CLUSTER_POLICY, WireCluster

    with Host(sysroot=True, bus_policy=CLUSTER_POLICY) as host:
        daemons = [host.start_daemon(name) for name in names]
        with WireCluster(host) as cluster:
            put_online(cluster)
            yield host, daemons, cluster
        for daemon in daemons:
            daemon.excused = True


def history_flood(seconds):
    """Rows that are ever new become samples and series of the history."""
    from bedlib.waiting import wait_until
    from history import values
    from siege import OTHER, connect, in_child, result_of

    with services("stated", "historyd") as (host, daemons, cluster):
        until = time.monotonic() + seconds
        asking = in_child(ask_history, connect(host, OTHER), until)
        flood(cluster, until, ROWS_PER_TURN)
        latencies = result_of(*asking)

        def missing():
            return sum(not values(host, node(n), "TotalBytes") for n in range(OTHERS))

        with contextlib.suppress(AssertionError):
            wait_until(lambda: missing() == 0, "the series of the others", ARRIVE_SECONDS)
        return {"history_p99_ms": p99(latencies), "history_others_lost": missing(),
                "history_restarts": sum(daemon.poll() is not None for daemon in daemons)}


def is_complete(answer):
    """Whether it has a figure of each of the others."""
    return answer.status == 200 and all(
        f'alidade_memory_total_bytes{{node="{node(n)}"}}' in answer.text for n in range(OTHERS))


def scrape(exporter, until, headers):
    """Milliseconds of each scrape, and how many lacked an end, or a figure of another node."""
    latencies, lost = [], 0
    while time.monotonic() < until:
        begun = time.monotonic()
        try:
            answer = exporter.get(**headers)
            whole = len(answer.body) == int(answer.headers["content-length"])
            lost += not (whole and is_complete(answer))
        except OSError:
            lost += 1
        latencies.append((time.monotonic() - begun) * 1e3)
        # Texts are written anew four times a second, and an address has 8 handshakes a second.
        time.sleep(0.25)
    return latencies, lost


@contextlib.contextmanager
def exporting(host, cluster):
    """An exporter that knows all nodes, and its process among the others."""
    from exporter import Exporter
    from state_service import memory

    put_records(cluster, [memory(node(n), 1, seq=1) for n in range(OTHERS)], 1)
    exporter = Exporter(host)
    try:
        yield exporter
    finally:
        exporter.close()
        exporter.process.excused = True


def scraped(prefix, result, processes):
    latencies, lost = result
    return {f"{prefix}_p99_ms": p99(latencies), f"{prefix}_others_lost": lost,
            f"{prefix}_restarts": sum(process.poll() is not None for process in processes)}


def metrics_flood(seconds):
    """Rows and names that are ever new become metrics."""
    from siege import in_child, result_of

    with services("stated") as (host, daemons, cluster), exporting(host, cluster) as exporter:
        exporter.wait_for(is_complete, "all nodes")
        until = time.monotonic() + seconds
        scraping = in_child(scrape, exporter, until, {})
        flood(cluster, until, 10 * ROWS_PER_TURN)
        return scraped("metrics", result_of(*scraping), [*daemons, exporter.process])


def make_certificate(folder):
    certificate, key = Path(folder, "exporter.crt"), Path(folder, "exporter.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc",
                    "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=exporter", "-addext",
                    "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
    key.chmod(0o600)
    return certificate, key


def exporter_door(seconds):
    """Hosts without the token begin handshakes, connect and say nothing."""
    from bedlib.waiting import wait_steadily
    from siege import HERE, in_child, result_of

    with services("stated") as (host, daemons, cluster):
        certificate, key = make_certificate(host.dir)
        token = Path(host.dir, "token")
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        host.write_config(f"[exporter]\ntls-certificate={certificate}\ntls-key={key}\ntoken-file={token}\n")
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with exporting(host, cluster) as exporter:
            exporter.tls = ssl.create_default_context(cafile=certificate)
            exporter.tls.check_hostname = False
            wait_steadily(lambda: is_complete(exporter.get(**headers)), "all nodes")
            siege = host.spawn(
                ["/usr/bin/python3", HERE / "siege-wire.py", "127.0.0.1", f"--port={exporter.address[1]}",
                 "--half-open=10", "--silent=10", *(f"--source={source}" for source in SOURCES)], "siege-exporter")
            try:
                until = time.monotonic() + seconds
                result = result_of(*in_child(scrape, exporter, until, headers))
            finally:
                siege.kill()
            return scraped("exporter", result, [*daemons, exporter.process])


CASES = (history_flood, metrics_flood, exporter_door)


def besiege(seconds):
    return {name: figure for case in CASES for name, figure in case(seconds).items()}
