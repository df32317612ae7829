# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes, as a job on a node does: START TURNS.

From START (CLOCK_MONOTONIC) on, for so many turns of 2 s, it does steps of about a millisecond, and writes the mean and
the 99th percentile of how long those of each turn took, {"mean_us": […], "p99_us": […]}.
"""

import hashlib
import json
import statistics
import sys
import time

TURN_SECONDS = 2
GUARD_SECONDS = 0.5
STEP_SECONDS = 0.001
BLOCK = bytes(16 << 10)


def step(blocks):
    digest = hashlib.sha256()
    for _ in range(blocks):
        digest.update(BLOCK)
    return digest.digest()


def calibrate():
    """How many blocks a step has. The fastest of many counts: the machine may do other work meanwhile."""
    spans = []
    for _ in range(200):
        begun = time.monotonic()
        step(8)
        spans.append(time.monotonic() - begun)
    return max(1, round(8 * STEP_SECONDS / min(spans)))


def main(start, turns):
    start, turns, blocks = float(start), int(turns), calibrate()
    spans = [[] for _ in range(turns)]
    end = start + turns * TURN_SECONDS
    while (begun := time.monotonic()) < end:
        step(blocks)
        turn, within = divmod(begun - start, TURN_SECONDS)
        # What stops and goes on needs a moment for it.
        if begun >= start and within >= GUARD_SECONDS:
            spans[int(turn)].append((time.monotonic() - begun) * 1e6)
    for found in spans:
        found.sort()
    print(json.dumps({"mean_us": [round(statistics.mean(found), 1) for found in spans],
                      "p99_us": [round(found[int(0.99 * (len(found) - 1))], 1) for found in spans]}))


main(*sys.argv[1:])
