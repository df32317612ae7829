#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a pytest file and tells TAP on standard output, so that meson counts each test: run.py FILE"""

import os
import sys
import tempfile

import pytest


class Tap:
    def __init__(self, stream):
        self.stream = stream
        self.count = 0

    def say(self, verdict, report, remark=""):
        self.count += 1
        name = report.nodeid.rpartition("::")[2].replace("#", "")
        print(f"{verdict} {self.count} - {name}{remark}", file=self.stream)

    def pytest_collectreport(self, report):
        if report.failed:
            self.say("not ok", report)

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.say("ok", report, f" # SKIP {report.longrepr[2]}")
        elif report.failed:
            self.say("not ok", report)
        elif report.when == "call":
            self.say("ok", report)

    def pytest_sessionfinish(self):
        print(f"1..{self.count}", file=self.stream, flush=True)


def main(path):
    # pytest's own report goes where meson keeps it beside the TAP.
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print("TAP version 13", file=stream)
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", f"--basetemp={folder}/t", path], plugins=[Tap(stream)]))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main(sys.argv[1])
