# SPDX-License-Identifier: LGPL-2.1-or-later
"""What can go wrong in the bed itself."""

import unittest


class Unavailable(unittest.SkipTest):
    """This machine or this user cannot provide a part; pytest shows the test as skipped, with the reason."""


class Timeout(AssertionError):
    """What was waited for did not happen before its deadline."""


class BedFailure(AssertionError):
    """A daemon misbehaved: a sanitizer report, a GLib critical, a bad exit status."""
