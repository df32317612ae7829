# SPDX-License-Identifier: LGPL-2.1-or-later
"""The placement solvers: how long they take, and how close to the best their results are proven to be."""

import json
import subprocess


def main(build, quiet):
    done = subprocess.run([f"{build}/tests/bench/bench-placement"], check=True, stdout=subprocess.PIPE, text=True)
    figures = json.loads(done.stdout)
    if not quiet:
        for name, value in figures.items():
            print(f"{name:28} {value}")
    return figures
