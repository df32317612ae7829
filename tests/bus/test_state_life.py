# SPDX-License-Identifier: LGPL-2.1-or-later
"""The state service coming and going: what it keeps, how it starts with what it finds, and how it ends."""

import json
import os
import signal
import time

import pytest

from bedlib import Timeout
from bedlib.fixtures import needs_namespaces
from bedlib.waiting import wait_steadily
from state_service import (ACCESS_DENIED, CLUSTER_POLICY, KINDS, PATH, STATE, Cluster, call, fails_with, full, get,
                           interface, key_for, link_path, local_id, memory, node_id, node_path, pages, start, topology)

SINK = node_id(2)
LOG_CONTROL = (STATE, "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1")
KEPT_KINDS = [kind for kind in KINDS if KINDS[kind].persistent]
MEASURED = 1_700_000_000_000_000
MACHINE_ID = "0123456789abcdef0123456789abcdef"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, whom the log level obeys")


def epoch_of(host):
    """As it is stamped on this node's records."""
    return pages(host, method="GetLocalRecords")[0][0][3]


def kept_file(host):
    return host.state_directory("stated") / "state.json"


def saved(own, epoch=1000, version=1, records=None):
    """A state file, with a record of every kind that is kept."""
    if records is None:
        records = [{"node": own, "kind": kind, "key": key_for(kind, SINK), "epoch": epoch, "seq": number + 1,
                    "updated": MEASURED, "deleted": False, "fields": full(kind, own, key_for(kind, SINK))}
                   for number, kind in enumerate(KEPT_KINDS)]
    return json.dumps({"version": version, "epoch": epoch, "records": records})


@pytest.fixture
def own(make_host):
    """The node id of machines with MACHINE_ID."""
    return local_id(start(make_host, environment={"ALIDADE_MACHINE_ID": MACHINE_ID}))


def start_stated(host, **options):
    """Starts the state service; it has looked after its files once it knows that the name is its own."""
    daemon = host.start_daemon("stated", **options)
    local_id(host)
    return daemon


def start_with(make_host, content, *daemons):
    """A host whose state service finds this file."""
    host = make_host(sysroot=True, bus_policy=CLUSTER_POLICY, environment={"ALIDADE_MACHINE_ID": MACHINE_ID})
    kept_file(host).parent.mkdir()
    kept_file(host).write_bytes(content if isinstance(content, bytes) else content.encode())
    for daemon in daemons:
        host.start_daemon(daemon)
    start_stated(host)
    return host


# What it keeps


def test_dear_results_survive(make_host, own):
    host = start_with(make_host, saved(own))
    for _ in range(2):
        for kind in KEPT_KINDS:
            key = key_for(kind, SINK)
            path = link_path(kind, own, key) if KINDS[kind].is_link else node_path(own)
            found = host.connection().get_all(STATE, path, interface(kind))
            assert found == {**full(kind, own, key), "UpdatedUSec": MEASURED, "Revision": 1}, kind
        host.daemons[-1].stop()
        host.start_daemon("stated")
    # Nobody says yet whether the other end is there.
    assert topology(host).presences() == {"unknown"}
    assert call(host, "GetPresences")[SINK]["State"] == "unknown"
    cluster = Cluster(host)
    cluster.online(SINK)
    wait_steadily(lambda: topology(host).presences() <= {"live", "unmeasured"}, "the links to a node that is there")


def test_what_is_cheap_to_measure_is_not_kept(make_host):
    host = start(make_host, "identityd", "telemetryd")
    with host.objects(STATE, PATH) as tree:
        tree.wait_for_interface(node_path(local_id(host)), interface("Node1.Memory"))
    Cluster(host).take(memory(SINK))
    host.daemons[-1].stop()
    assert json.loads(kept_file(host).read_text())["records"] == []


def test_the_epoch_outruns_a_clock_that_went_back(make_host, own):
    future = int((time.time() + 10 * 3600) * 1e6)
    host = start_with(make_host, saved(own, future))
    epochs = [epoch_of(host)]
    for _ in range(2):
        host.daemons[-1].kill()
        host.wait_for_name(STATE, present=False)
        host.start_daemon("stated")
        epochs.append(epoch_of(host))
    assert epochs == [future + 1, future + 2, future + 3]


def test_the_epoch_of_a_clock_that_was_wrong_is_let_go(make_host, own):
    """Nobody takes records of an epoch further ahead than a day."""
    host = start_with(make_host, saved(own, 2 ** 52))
    assert epoch_of(host) < (time.time() + 3600) * 1e6


def test_the_epoch_is_the_clock_where_nothing_was_kept(make_host, own):
    host = start_with(make_host, saved(own, 5))
    assert 1_700_000_000_000_000 < epoch_of(host) < 2 ** 53


def test_many_results_are_sent_anew_in_parts(make_host, own):
    """A node that was installed anew has all it ever measured sent anew; no signal becomes larger for that."""
    records = [{"node": own, "kind": "Link1.Socket", "key": f"{SINK},2001:db8::{number:x}", "epoch": 5,
                "seq": number, "updated": MEASURED, "deleted": False,
                "fields": {"Source": own, "Sink": SINK, "Failure": "x" * 1000}} for number in range(1, 2501)]
    host = start_with(make_host, saved(own, records=records))
    cluster = Cluster(host)
    ahead = epoch_of(host) + 60_000_000
    with cluster.connection.log_signals(STATE, member="RecordsChanged") as log:
        cluster.take(memory(own, epoch=ahead))
        log.wait(lambda signal: len({found[2] for got in log.received for found in got.args[0]}) == 2500)
    sizes = [sum(len(str(found)) for found in signal.args[0]) for signal in log.received]
    assert len(sizes) >= 3 and max(sizes) <= 2 ** 20
    told = [found for signal in log.received for found in signal.args[0]]
    assert len(told) == 2500 and {found[3] for found in told} == {ahead + 1}


DAMAGED = {
    "empty": b"",
    "truncated": None,
    "binary": bytes(range(256)) * 100,
    "not UTF-8": b'{"version": 1, "epoch": 5, "records": [{"node": "\xff"}]}',
    "an array": b"[]",
    "version": saved(SINK, version=2),
    "version as text": saved(SINK, version="1"),
    "epoch as text": json.dumps({"version": 1, "epoch": "5", "records": []}),
    "epoch below zero": json.dumps({"version": 1, "epoch": -5, "records": []}),
    "epoch beyond 2^53": json.dumps({"version": 1, "epoch": 2 ** 60, "records": []}),
    "no records": json.dumps({"version": 1, "epoch": 5}),
    "records of another node": saved(node_id(9)),
    "deep": b'{"version": 1, "epoch": 5, "records": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "endless": b" " * (17 * 1024 * 1024),
}


@pytest.mark.parametrize("damage", [*DAMAGED, "wrong type", "odd key"])
def test_a_damaged_file_is_set_aside(make_host, own, damage):
    content = DAMAGED.get(damage)
    if damage == "truncated":
        content = saved(own)[:-20]
    elif content is None:
        one = json.loads(saved(own))
        one["records"][0].update({"wrong type": {"fields": {"Devices": 5}}, "odd key": {"key": 7}}[damage])
        content = json.dumps(one)
    host = start_with(make_host, content, "identityd")
    daemon = host.daemons[-1]
    assert daemon.log_text().count("is damaged") == 1
    aside = kept_file(host).with_name("state.json.damaged").read_bytes()
    assert aside == (content if isinstance(content, bytes) else content.encode())
    assert call(host, "GetComputes") == {}
    assert json.loads(kept_file(host).read_text())["records"] == []
    with host.objects(STATE, PATH) as tree:
        tree.wait_for_interface(node_path(own), interface("Node1.Identity"))
    daemon.stop()
    start_stated(host)
    assert "is damaged" not in host.daemons[-1].log_text().partition("Stopping")[2]


def test_a_damaged_file_that_cannot_be_set_aside_stays(make_host, own):
    """Item 5: what is there may be worth something yet."""
    host = make_host()
    folder = host.state_directory("stated")
    (folder / "state.json.damaged").mkdir(parents=True)
    (folder / "state.json").write_text("not what it was")
    start_stated(host)
    daemon = host.daemons[-1]
    assert "cannot be renamed to" in daemon.log_text() and "not overwritten" in daemon.log_text()
    daemon.stop()
    assert (folder / "state.json").read_text() == "not what it was"
    (folder / "state.json.damaged").rmdir()
    start_stated(host)
    assert (folder / "state.json.damaged").read_text() == "not what it was"
    assert json.loads((folder / "state.json").read_text())["records"] == []


@needs_root
def test_a_file_that_cannot_be_read_is_not_damaged(make_host, own, monkeypatch):
    """Item 5: after a change of users, say; once the rights are mended, the results are there again."""
    host = make_host(environment={"ALIDADE_MACHINE_ID": MACHINE_ID})
    folder = host.state_directory("stated")
    folder.mkdir(parents=True)
    (folder / "state.json").write_text(saved(own))
    (folder / "state.json").chmod(0)
    plain = host.daemon_argv("stated")
    with monkeypatch.context() as patch:
        # Root without capabilities is bound to rights as everybody is.
        patch.setattr(host, "daemon_argv", lambda program: ["setpriv", "--bounding-set=-all", *plain])
        host.start_daemon("stated")
    daemon = host.daemons[-1]
    assert "Failed to read the saved results" in daemon.log_text() and "damaged" not in daemon.log_text()
    daemon.stop()
    assert (folder / "state.json").read_text() == saved(own)
    (folder / "state.json").chmod(0o600)
    host.start_daemon("stated")
    assert json.loads((folder / "state.json").read_text())["records"] != []


def mounted(make_host, *options):
    """A host whose state service keeps its results on a small file system of their own."""
    host = make_host(sysroot=True)
    folder = host.state_directory("stated")
    folder.mkdir()
    host.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder])
    host.run(["sh", "-c", f"cd {folder} && cat /dev/zero >filler 2>/dev/null; true"])
    for option in options:
        host.run(["mount", "-o", f"remount,{option}", folder])
    return host, folder


@needs_namespaces
@pytest.mark.parametrize("option", [None, "ro"], ids=["full", "read-only"])
def test_a_directory_that_takes_nothing_is_a_warning(make_host, option):
    host, folder = mounted(make_host, *filter(None, [option]))
    host.start_daemon("identityd")
    daemon = host.start_daemon("stated")
    with host.objects(STATE, PATH) as tree:
        tree.wait_for_interface(node_path(local_id(host)), interface("Node1.Identity"))
    assert daemon.log_text().count("Failed to save results") == 1
    daemon.stop()
    assert host.run(["ls", folder]).stdout == "filler\n"


@needs_namespaces
def test_a_disk_that_is_full_for_a_while_costs_no_results(make_host, own):
    host, folder = mounted(make_host)
    environment = {"ALIDADE_MACHINE_ID": MACHINE_ID}
    host.run(["sh", "-c", f"cd {folder} && rm filler && cat >state.json && cat /dev/zero >filler 2>/dev/null; true"],
             text_in=saved(own))
    daemon = start_stated(host, env=environment)
    assert daemon.log_text().count("Failed to save results: ") == 1
    daemon.stop()
    assert json.loads(host.run(["cat", folder / "state.json"]).stdout) == json.loads(saved(own))

    host.run(["rm", folder / "filler"])
    daemon = host.start_daemon("stated", env=environment)
    assert "will not outlive" not in daemon.log_text()
    found = host.connection().get_all(STATE, node_path(own), interface("Node1.Compute"))
    assert found == {**full("Node1.Compute", own), "UpdatedUSec": MEASURED, "Revision": 1}


def test_a_directory_that_is_not_there_is_a_warning(make_host):
    host = make_host(sysroot=True)
    daemon = host.start_daemon("stated", env={"STATE_DIRECTORY": host.dir / "nowhere"})
    assert local_id(host)
    assert daemon.log_text().count("Failed to save results") == 1


# How it starts and ends


def test_a_taken_name(make_host):
    host = start(make_host)
    assert local_id(host)
    kept = kept_file(host).read_bytes()
    second = host.start_daemon("stated", wait=False)
    assert second.expect_exit() == 1
    assert "Another process owns org.alidade.State1" in second.log_text()
    assert kept_file(host).read_bytes() == kept
    assert local_id(host)


@needs_namespaces
def test_a_name_that_it_may_not_own(make_host):
    host = make_host(sysroot=True, bus_policy=f'<policy context="mandatory"><deny own="{STATE}"/></policy>')
    daemon = host.start_daemon("stated", wait=False)
    assert daemon.expect_exit() == 1
    assert f"Cannot own {STATE}" in daemon.log_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_bus_that_goes_away(make_host, number):
    host = start(make_host, "identityd", "telemetryd")
    assert local_id(host)
    host.bus.process.excused = True
    host.bus.process.signal(number)
    for daemon in host.daemons:
        assert daemon.expect_exit() == 1
        assert "The bus has closed the connection" in daemon.log_text()


def test_no_bus_at_all(make_host):
    host = make_host(sysroot=True)
    daemon = host.start_daemon("stated", env={"ALIDADE_BUS_ADDRESS": "unix:path=/nonexistent/bus"}, wait=False)
    assert daemon.expect_exit() == 1
    assert "Cannot connect to unix:path=/nonexistent/bus" in daemon.log_text()


def test_it_ends_cleanly_in_the_midst_of_everything(make_host):
    """Changes wait to be told, a result waits to be kept, questions are under way."""
    host = start(make_host, "identityd", "telemetryd", activation=["identityd"])
    Cluster(host).take(*(memory(node_id(n)) for n in range(1, 400)))
    call(host, "Subscribe")
    host.daemons[-1].stop()
    host.wait_for_name(STATE, present=False)


def test_it_tells_the_service_manager(make_host):
    host = make_host(sysroot=True)
    notify = host.notify_socket()
    daemon = host.start_daemon("stated", env={"NOTIFY_SOCKET": notify.path, "WATCHDOG_USEC": "200000"})
    notify.wait("READY=1")
    assert "WATCHDOG=1" not in notify.lines[:notify.lines.index("READY=1")]
    for _ in range(3):
        notify.lines.clear()
        notify.wait("WATCHDOG=1")
    notify.lines.clear()
    daemon.signal(signal.SIGHUP)
    notify.wait("READY=1")
    assert [line.partition("=")[0] for line in notify.lines if "WATCHDOG" not in line] == [
        "RELOADING", "MONOTONIC_USEC", "READY"]
    daemon.stop()
    notify.wait("STOPPING=1")


def test_it_is_not_ready_without_its_name(make_host):
    host = start(make_host)
    notify = host.notify_socket()
    second = host.start_daemon("stated", env={"NOTIFY_SOCKET": notify.path}, wait=False)
    second.expect_exit(1)
    notify.wait("STOPPING=1")
    assert "READY=1" not in notify.lines


# Configuration


WRONG = {
    "[state]\nmax-nodes=many\n": "[state] max-nodes=many refused: not a whole number (1 to 10000)",
    "[state]\nmax-nodes=0\n": "[state] max-nodes=0 refused: too small (1 to 10000)",
    "[state]\nmax-nodes=10001\n": "[state] max-nodes=10001 refused: too large (1 to 10000)",
    "[state]\nexpiry-h=-1\n": "[state] expiry-h=-1 refused: not a whole number (1 to 8760)",
    "[state]\nexpiry-h=\n": "[state] expiry-h= refused: not a whole number (1 to 8760)",
    "[state]\nmax-node=7\n": "[state] max-node: unknown key",
    "[sate]\nmax-nodes=7\n": "[sate]: unknown group",
    "max-nodes=7\n": "left out: ",
    "[state\n": "left out: ",
    "[state]\nmax-nodes=\\q\n": "[state] max-nodes=\\q refused: ",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_configuration_is_named_and_does_no_harm(make_host, text):
    host = start(make_host, config=text)
    line = 2 if WRONG[text].startswith("[state]") else 1
    assert f"alidade.conf:{line}: {WRONG[text]}" in host.daemons[-1].log_text()
    assert local_id(host)


def test_configuration_is_read_again(make_host):
    host = start(make_host)
    host.write_config("[state]\nexpiry-h=0\n")
    daemon = host.daemons[-1]
    notify_before = daemon.log_text()
    assert "expiry-h" not in notify_before
    daemon.signal(signal.SIGHUP)
    # Signals are handled between messages, so a few answers later at the latest.
    for _ in range(1000):
        if "Reloaded the configuration" in daemon.log_text():
            break
        get(host, "Nodes")
    else:
        raise Timeout("the configuration was not read again")
    assert "[state] expiry-h=0 refused: too small (1 to 8760)" in daemon.log_text()


# LogControl1


def level(host, value=None, user=None):
    connection = host.connection(user)
    if value is None:
        return connection.get(*LOG_CONTROL, "LogLevel")
    return connection.set(*LOG_CONTROL, "LogLevel", "s", value)


@needs_root
def test_the_log_level_is_read_by_all_and_set_by_root(make_host):
    host = start(make_host)
    assert host.connection().get_all(*LOG_CONTROL) == {
        "LogLevel": "info", "LogTarget": "console", "SyslogIdentifier": "alidade-stated"}
    if host.isolated:
        assert level(host, user="nobody") == "info"
        with fails_with(ACCESS_DENIED):
            level(host, "debug", user="nobody")
        with fails_with(ACCESS_DENIED):
            host.connection("nobody").set(*LOG_CONTROL, "LogTarget", "s", "journal")
        assert level(host) == "info"
    level(host, "warning")
    assert level(host) == "warning"
    for wrong in ("loud", "", "x" * 100_000):
        with fails_with("org.freedesktop.DBus.Error.InvalidArgs"):
            level(host, wrong)
    with fails_with("org.freedesktop.DBus.Error.PropertyReadOnly"):
        host.connection().set(*LOG_CONTROL, "SyslogIdentifier", "s", "x")
    assert level(host) == "warning"
