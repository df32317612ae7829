# SPDX-License-Identifier: LGPL-2.1-or-later
"""Services that do not do their work are findings: one that sends nothing any more, and a history that is not
written."""

import signal

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.waiting import wait_steadily
from history import SECOND, Hours, get
from state_service import call, local_id, start

IDENTITY, IDENTITY_PATH = "org.alidade.Identity1", "/org/alidade/Identity1"


def found(host, name):
    return [row for row in call(host, "GetFindings") if row["Id"] == name]


def test_a_telemetry_service_that_hangs(make_host):
    """For its services 150 s pass at once. The call of the predicate wakes the one that goes on sending."""
    host = make_host(sysroot=True)
    hours = Hours(host)
    _, telemetryd, _ = (host.start_daemon(name, env=hours.environment)
                        for name in ("identityd", "telemetryd", "stated"))
    own = local_id(host)
    wait_steadily(lambda: own in call(host, "GetMemories"), "the first figures")

    def check():
        done = host.alidadectl("check", "--ignore=service-missing", check=False, env=hours.environment)
        return done.returncode, done.stdout

    def seen():
        return host.alidadectl("nodes", env=hours.environment).stdout.splitlines()[1].split()[1]

    def silent():
        host.get(IDENTITY, IDENTITY_PATH, IDENTITY, "RefusedSignals")
        return found(host, "service-silent")

    assert silent() == [] and seen() == "live" and check()[0] == 0
    begun = hours.now()
    telemetryd.signal(signal.SIGSTOP)
    (row,) = hours.pass_until(silent, "the finding")
    assert (row["Service"], row["Nodes"], row["Severity"]) == ("alidade-telemetryd", [own], "warning")
    assert "SinceUSec" in row and "alidade-telemetryd" in row["Text"]
    # Not before another service has sent as much later, which identityd does every 30 s.
    hours.pass_until(lambda: silent() and seen() != "live", "the age of the figures")
    assert 2 <= int(seen()) <= (hours.now() - begun) // (60 * SECOND) + 1  # minutes ago
    code, line = check()
    assert code == 1 and line.count("\n") == 1 and "service-silent: alidade-telemetryd on " in line
    assert 'id="service-silent"' in host.alidadectl("metrics", env=hours.environment).stdout
    telemetryd.signal(signal.SIGCONT)
    wait_steadily(lambda: silent() == [] and seen() == "live", "the end of the finding")
    assert check()[0] == 0


def mount_small_disk(host):
    folder = host.state_directory("historyd")
    folder.mkdir(exist_ok=True)
    host.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", folder])
    return folder


@needs_namespaces
@pytest.mark.parametrize("fault, begin, end, reason", [
    ("full", "head -c 1M /dev/zero >filler", "rm filler", "disk is full"),
    ("read-only", "mount -o remount,ro .", "mount -o remount,rw .", "read-only")])
def test_a_history_that_cannot_write(make_host, fault, begin, end, reason):
    host = start(make_host, "identityd", "telemetryd")
    folder = mount_small_disk(host)
    host.run(["sh", "-c", f"cd {folder} && {begin}"], check=False)
    assert found(host, "history-not-written") == []
    host.start_daemon("historyd")
    wait_steadily(lambda: found(host, "history-not-written"), f"the finding of a history that is {fault}")
    (row,) = found(host, "history-not-written")
    assert row["Nodes"] == [local_id(host)] and reason in row["Reason"] and row["Reason"] == get(host, "Problem")
    done = host.alidadectl("check", "--ignore=service-missing", check=False)
    assert done.returncode == 1 and "history-not-written: " in done.stdout and done.stdout.count("\n") == 1
    metric = 'alidade_cluster_findings_by_id{severity="warning",id="history-not-written"} 1'
    assert metric in host.alidadectl("metrics").stdout.splitlines()
    host.run(["sh", "-c", f"cd {folder} && {end}"])
    wait_steadily(lambda: found(host, "history-not-written") == [], "its end", 30)
    assert get(host, "Problem") == ""
    assert "history-not-written" not in host.alidadectl("metrics").stdout


def test_a_history_service_that_has_left(make_host):
    """What it reported is not known any more."""
    host = start(make_host)
    folder = host.state_directory("historyd")
    folder.parent.mkdir(exist_ok=True)
    folder.mkdir()
    (folder / "history.sqlite").mkdir()
    historyd = host.start_daemon("historyd")
    wait_steadily(lambda: found(host, "history-not-written"), "the finding")
    historyd.stop()
    wait_steadily(lambda: found(host, "history-not-written") == [], "its end")
