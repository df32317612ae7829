# SPDX-License-Identifier: LGPL-2.1-or-later
"""link-probed gives way to a unit that uses the processors, by a tree of control groups that the test plays."""

import contextlib
import math
import os
import signal
import time

import pytest
from gi.repository import GLib

from bedlib import BusError
from bedlib.fixtures import needs_namespaces
from bedlib.waiting import wait_steadily
from compute_probe import GPU, ComputeProbe
from link_probe import LINK_PROBE, PATH

POLICY = "org.alidade.Node1.ProbePolicy"
STEP = 15  # seconds between two readings
WINDOW = 4 * STEP  # in which a unit is judged
SHARE = 0.75
SWITCH = "[link-probe]\nyield-to-processors={}\n"
NAMES = "[telemetry]\nshare-processes=units\n"
DAY = 24 * 3600

pytestmark = needs_namespaces


class BusyMachine(ComputeProbe):
    """A machine on which ollama.service can use three quarters of the processors."""

    def __init__(self, make_host, switch="true", **options):
        self.seconds, self.used = 0, 0.0
        self.begun = time.monotonic()
        super().__init__(make_host, own_clock=True, joined=True, config=SWITCH.format(switch) + NAMES,
                         before=lambda host: self.write(), **options)

    def write(self):
        used = round(self.used * 1_000_000)
        for group in ("", "system.slice/", "system.slice/ollama.service/"):
            self.host.sysroot.write(f"sys/fs/cgroup/{group}cpu.stat", f"usage_usec {used}\nuser_usec {used}\n")

    def tick(self, seconds=STEP):
        """Lets the service look at the machine again, that much later, and waits until it has."""
        asked = len(self.state.questions)
        self.clock.set(self.seconds)
        self.process.signal(signal.SIGHUP)
        wait_steadily(lambda: len(self.state.questions) > asked, "a question")
        self.seconds += seconds

    def work(self, ticks=6, share=SHARE):
        for _ in range(ticks):
            self.write()
            self.tick()
            self.used += STEP * share * len(os.sched_getaffinity(0))

    def work_until(self, condition, ticks=40):
        """Returns the row of the processors once it fulfils that."""
        for _ in range(ticks):
            self.work(1)
            with contextlib.suppress(BusError):  # nothing was said of them yet
                row = self.rows().get("cpu")
                if row and condition(row):
                    return row
        raise AssertionError("no such row")

    def reasons(self, name="ollama.service"):
        """Those that are true by now: true time passes as well, which makes the window longer and the share less."""
        least = math.floor(100 * SHARE * WINDOW / (WINDOW + time.monotonic() - self.begun))
        return {f"{name} uses {percent} % of the processors" for percent in range(least, round(100 * SHARE) + 1)}

    def policy(self):
        return self.host.connection().get_all(LINK_PROBE, PATH, POLICY)


@pytest.fixture(name="busy")
def _busy(make_host):
    made = []

    def make(**options):
        made.append(BusyMachine(make_host, **options))
        return made[-1]
    yield make
    for service in made:
        service.processors.end()


def refusal(service, device):
    with pytest.raises(BusError) as error:
        service.probe_compute(device)
    return error.value


def test_unit_that_uses_the_processors_is_work(busy):
    service = busy()
    service.work()
    wait_steadily(lambda: service.policy().get("Links") == "round-trips", "the policy")
    policy = service.policy()
    reason = policy["Reason"].removeprefix("work: ")
    assert reason in service.reasons() and policy["BusySinceUSec"] > 1_700_000_000_000_000
    if os.geteuid() == 0:
        error = refusal(service, "cpu")
        assert error.name == "org.alidade.Error.Busy"
        assert str(error).endswith(f"{reason}; use the option Force to measure anyway")
        assert service.wait_job(service.probe_compute(GPU), "done", "failed") == "done"
        forced = service.probe_compute("cpu", Force=GLib.Variant("b", True))
        assert service.wait_job(forced, "done", "failed") == "done"
    service.work(share=0)
    wait_steadily(lambda: service.policy().get("Links") == "full", "the policy")
    assert service.policy()["Reason"] == "" and service.policy()["BusySinceUSec"] == 2 ** 64 - 1


def test_switch_ends_the_rule(busy):
    service = busy(switch="false")
    service.work()
    assert service.policy()["Links"] == "full"
    service.host.write_config(SWITCH.format("true"))
    service.work()
    wait_steadily(lambda: service.policy().get("Links") == "round-trips", "the policy")
    assert service.policy()["Reason"].removeprefix("work: ") in service.reasons("one unit")
    service.host.write_config(SWITCH.format("false"))
    service.tick()
    wait_steadily(lambda: service.policy().get("Links") == "full", "the policy")


def test_first_measurement_waits_for_a_day(busy):
    service = busy(due=["cpu"], usage=SHARE)
    service.work()
    row = service.work_until(lambda row: row.get("WaitingReason") in service.reasons())
    assert row["WaitingSinceUSec"] > 1_700_000_000_000_000 and service.runs() == []
    service.state.make_device_due("cpu")
    service.seconds += DAY // 2
    service.used += DAY // 2 * SHARE * len(os.sched_getaffinity(0))
    service.work(6)
    assert service.runs() == []
    service.seconds += DAY // 2
    service.used += DAY // 2 * SHARE * len(os.sched_getaffinity(0))
    row = service.work_until(lambda row: "GemmTflops" in row)
    words, = service.runs()
    assert "--give-way" not in words and row["Flags"] == ["unstable", "busy"]
