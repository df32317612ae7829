# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests on simulated hosts with real parts. ALIDADE_BUILD names the build under test."""

from bedlib.fixtures import make_cluster, make_host  # noqa: F401
from enrol_seat import first, machine  # noqa: F401


# In the order of their names otherwise. Tests are handed out by tens, and fewer at the end.
FIRST = ["test_versions.py", "test_probe_compute.py"]  # that take minutes
LAST = ["test_enrol_check.py", "test_enrol.py"]  # that take seconds


def pytest_collection_modifyitems(items):
    """So that all processes are at work until the end."""
    place = {name: number for number, name in enumerate(FIRST, -len(FIRST))}
    place |= {name: number for number, name in enumerate(LAST, 1)}
    items.sort(key=lambda item: place.get(item.path.name, 0))
