# SPDX-License-Identifier: LGPL-2.1-or-later
"""Services that do not do their work are findings."""

import signal

from bedlib.waiting import wait_steadily
from history import Hours
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
    telemetryd.signal(signal.SIGSTOP)
    (row,) = hours.pass_until(silent, "the finding")
    assert (row["Service"], row["Nodes"], row["Severity"]) == ("alidade-telemetryd", [own], "warning")
    assert "SinceUSec" in row and "alidade-telemetryd" in row["Text"]
    assert seen() == "2"  # minutes ago
    code, line = check()
    assert code == 1 and line.count("\n") == 1 and "service-silent: alidade-telemetryd on " in line
    assert 'id="service-silent"' in host.alidadectl("metrics", env=hours.environment).stdout
    telemetryd.signal(signal.SIGCONT)
    wait_steadily(lambda: silent() == [] and seen() == "live", "the end of the finding")
    assert check()[0] == 0
