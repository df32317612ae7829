# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of the services over a private bus. ALIDADE_BUILD names the build under test."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bed"))

from bedlib.fixtures import make_host  # noqa: E402,F401
from exporter import export  # noqa: E402,F401
