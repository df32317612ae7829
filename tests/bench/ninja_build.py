# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds what a benchmark runs."""

import fcntl
import subprocess
import sys
from pathlib import Path


def quietly(*command):
    """What a build says is of interest only where it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{' '.join(map(str, command))}: failed")


def make(build, *targets):
    """Several benchmarks of one build may run at once, and ninja must not."""
    with open(Path(build) / "benchmarks.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        quietly("ninja", "-C", build, *targets)
