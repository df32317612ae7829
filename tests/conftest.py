# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a test said that failed and was then run once more; ALIDADE_TEST_AGAIN names a file for their names."""

import fcntl
import os

import pytest

FAILED = pytest.StashKey()

# Files with tests that take from 20 s to minutes, the longest first; all others follow in their order, and these end.
# What is upgraded in test_versions.py is built meanwhile.
FIRST = ["test_state_scale.py", "test_links.py", "test_renewals.py", "test_versions.py",
         "test_state_unread.py", "test_probe_compute.py", "test_state_signals.py", "test_cluster_restarts.py",
         "test_enrol_ansible.py", "test_compute.py", "test_cluster_faults.py", "test_cluster_peers.py",
         "test_enrol_cluster.py", "test_probe_socket.py", "test_cluster_trust.py", "test_state_fabric.py",
         "test_attacks_admin.py", "test_identity.py", "test_alidadectl_links.py", "test_attacks_members.py"]
LAST = ["test_enrol_check.py", "test_enrol.py"]
# Each of their tests wants all processors. Several at once would wait for each other beyond the limits of what they
# attack: one comes after so many others, and waits for the one before.
BUSY = ["test_attacks_wire.py", "test_attacks_broker.py"]
BETWEEN_BUSY = 20


def pytest_collection_modifyitems(items):
    """So that all processes are at work until the end."""
    place = {name: number for number, name in enumerate(FIRST, -len(FIRST))}
    place |= {name: number for number, name in enumerate(LAST, 1)}
    items.sort(key=lambda item: place.get(item.path.name, 0))
    busy = [item for item in items if item.path.name in BUSY]
    others = [item for item in items if item.path.name not in BUSY]
    for number, item in enumerate(busy):
        others.insert(number * BETWEEN_BUSY, item)
    items[:] = others


@pytest.fixture(autouse=True)
def one_at_a_time(request):
    """For tests of the busy files, in whichever processes they run."""
    if request.path.name not in BUSY:
        yield
        return
    with open(__file__, encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScheduling

    class OneByOne(LoadScheduling):
        """Else a process is given many tests at once, among them all those of a file that take minutes."""

        def _send_tests(self, node, num):
            super()._send_tests(node, max(0, min(num, 2 - len(self.node2pending[node]))))

    return OneByOne(config, log)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds to a failure what is printed when its hosts are taken down: the logs of the daemons. A first try is
    reported without its end."""
    report = (yield).get_result()
    if report.when != "teardown" and report.failed:
        item.stash[FAILED] = report
    elif report.when == "teardown" and FAILED in item.stash:
        item.stash[FAILED].sections = report.sections
        del item.stash[FAILED]


def pytest_terminal_summary(terminalreporter, config):
    if hasattr(config, "workerinput"):  # xdist's workers sum up as well
        return
    first_tries = terminalreporter.stats.get("rerun", [])
    for report in first_tries:
        terminalreporter.section(f"first try of {report.nodeid}")
        terminalreporter.line(report.longreprtext)
        for title, text in report.sections:
            terminalreporter.line(f"---- {title}\n{text}")
    names = os.environ.get("ALIDADE_TEST_AGAIN")
    if names:
        with open(names, "a", encoding="utf-8") as file:
            file.writelines(f"{report.nodeid}\n" for report in first_tries)
