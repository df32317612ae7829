# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests on simulated hosts with real parts. ALIDADE_BUILD names the build under test."""

from bedlib.fixtures import make_cluster, make_host  # noqa: F401
from enrol_seat import first, machine  # noqa: F401


def pytest_collection_modifyitems(items):
    """The many that take seconds come last, so that no process waits for one that takes a minute in the end."""
    items.sort(key=lambda item: item.path.name == "test_enrol.py")
