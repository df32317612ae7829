#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lets the processes of a control group run for a share of the time only: host-throttle.py GROUP SHARE

It stops them for the rest of each period. The kernel's own quota looks at the time that was used at each tick only,
which is longer than a layer takes, and lets a process make up later for what it took too much. Periods are of random
length, because steps of a model would fall into step with equal ones. It ends with its input.
"""

import os
import random
import select
import sys
import time

PERIODS = 0.001, 0.004  # s: shorter than what a stage of a model takes; longer than stopping and starting does


def main():
    group, share = sys.argv[1], float(sys.argv[2])
    state = os.open(f"{group}/cgroup.freeze", os.O_WRONLY)
    due = time.monotonic()
    try:
        while not select.select([sys.stdin], [], [], 0)[0]:
            period = random.uniform(*PERIODS)
            for frozen, part in (b"0", share), (b"1", 1 - share):
                os.pwrite(state, frozen, 0)
                due += part * period
                time.sleep(max(0, due - time.monotonic()))
    finally:
        os.pwrite(state, b"0", 0)


if __name__ == "__main__":
    main()
