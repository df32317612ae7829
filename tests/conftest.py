# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a test said that failed and was then run once more; ALIDADE_TEST_AGAIN names a file for their names."""

import os


def pytest_terminal_summary(terminalreporter, config):
    if hasattr(config, "workerinput"):  # xdist's workers sum up as well
        return
    first_tries = terminalreporter.stats.get("rerun", [])
    for report in first_tries:
        terminalreporter.section(f"first try of {report.nodeid}")
        terminalreporter.line(report.longreprtext)
    names = os.environ.get("ALIDADE_TEST_AGAIN")
    if names:
        with open(names, "a", encoding="utf-8") as file:
            file.writelines(f"{report.nodeid}\n" for report in first_tries)
