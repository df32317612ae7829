# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests on simulated hosts with real parts. ALIDADE_BUILD names the build under test."""

from bedlib.fixtures import make_cluster, make_host  # noqa: F401
from enrol_seat import first, machine  # noqa: F401
