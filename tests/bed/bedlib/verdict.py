# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a daemon must never print, whatever the test was about."""

import os
import re

FORBIDDEN = re.compile(r"ERROR: AddressSanitizer|LeakSanitizer|runtime error:|-CRITICAL \*\*|CRITICAL \*\*:"
                       r"|[Aa]ssertion '.*' failed")


def environment(report_dir):
    """Sanitizers write one file a process, so that reports of activated daemons and of their children are
    found as well; GLib's criticals end the daemon at once."""
    common = f"log_path={report_dir}/report"
    asan = [os.environ.get("ASAN_OPTIONS"), common, "detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1"]
    return {
        "G_DEBUG": "fatal-criticals",
        "ASAN_OPTIONS": ":".join(filter(None, asan)),
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1:halt_on_error=0",
        "LSAN_OPTIONS": "report_objects=1",
    }


def forbidden_lines(text):
    return [line for line in text.splitlines() if FORBIDDEN.search(line)]


def judge(processes, report_dir, allowed=()):
    """Everything wrong with daemons that have all ended, as texts."""
    problems = []
    for process in processes:
        if process.returncode != 0 and not process.excused:
            problems.append(f"{process.name} (pid {process.pid}) ended with {process.returncode}")
        problems += [f"{process.name}: {line}" for line in forbidden_lines(process.log_text())]
    for report in sorted(report_dir.iterdir()):
        problems.append(f"{report.name}:\n{report.read_text(errors='replace')}")
    return [text for text in problems if not any(re.search(pattern, text) for pattern in allowed)]
