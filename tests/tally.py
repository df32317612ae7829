#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tells each test of a result file on a line of its own: tally.py PART FILE

The file is a testlog.json of meson, whose tests may tell TAP, or the JUnit XML of pytest. Lines are
"passed PART NAME", "failed PART NAME" and "skipped PART NAME: reason".
"""

import json
import re
import sys
import xml.etree.ElementTree as ET

TAP = re.compile(r"^(not )?ok\b\s*\d*\s*(?:-\s*)?([^#]*?)\s*(?:#\s*(SKIP)\S*\s*(.*))?$", re.IGNORECASE)


# What such a test says is told where it runs.
ELSEWHERE = "runs without sanitizers"


def one_line(text):
    return " ".join(text.split())[:200]


def tap(text):
    for line in text.splitlines():
        found = TAP.match(line)
        if found:
            failed, name, directive, reason = found.groups()
            verdict = "skipped" if directive else "failed" if failed else "passed"
            yield verdict, name, reason or ""


def meson(path):
    with open(path, encoding="utf-8") as log:
        for test in map(json.loads, log):
            name, output = test["name"].rpartition(" / ")[2], test.get("stdout", "")
            rows = list(tap(output)) if re.search(r"^1\.\.\d+", output, re.MULTILINE) else []
            yield from ((verdict, f"{name} {sub}", reason) for verdict, sub, reason in rows)
            if test["result"] == "SKIP" and not rows:
                yield "skipped", name, (test.get("stderr", "").strip().splitlines() or [""])[-1]
            elif test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL"):
                if not any(verdict == "failed" for verdict, _, _ in rows):
                    yield "failed", name, test["result"]
            elif not rows:
                yield "passed", name, ""


def pytest(path):
    for case in ET.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            yield "failed", name, ""
        elif skipped is not None:
            if not skipped.get("message", "").startswith(ELSEWHERE):
                yield "skipped", name, skipped.get("message", "")
        else:
            yield "passed", name, ""


def main(argv):
    if len(argv) != 3:
        sys.exit(__doc__)
    part, path = argv[1:]
    for verdict, name, reason in (meson if path.endswith(".json") else pytest)(path):
        print(one_line(f"{verdict} {part} {name}" + (f": {reason}" if reason else "")))


if __name__ == "__main__":
    main(sys.argv)
