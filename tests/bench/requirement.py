# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a benchmark cannot do without."""

import os
import shutil


class MissingRequirement(Exception):
    """The text says what is not here."""


def need_root(why):
    if os.geteuid() != 0:
        raise MissingRequirement(f"needs root, {why}")


def need_programs(*names):
    missing = [name for name in names if not shutil.which(name)]
    if missing:
        raise MissingRequirement(f"not installed: {', '.join(missing)}")
