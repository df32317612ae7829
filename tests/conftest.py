# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a test said that failed and was then run once more; ALIDADE_TEST_AGAIN names a file for their names."""

import os

import pytest

FAILED = pytest.StashKey()


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
