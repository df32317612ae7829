# SPDX-License-Identifier: LGPL-2.1-or-later
"""The source tree, and the build under test."""

import os
import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
# What building and packaging leave in the tree.
MADE = re.compile(r"(build(-.*)?|_build|obj-.*|\.git|__pycache__|\.pytest_cache|\.pc)$")
MADE_BY_PACKAGING = {"debian/.debhelper", "debian/tmp", "debian/alidade", "debian/alidade-desktop",
                     "debian/alidade-exporter", "debian/alidadectl"}


def build_dir():
    return Path(os.environ["ALIDADE_BUILD"])


def files():
    """Every source file, relative to the root."""
    for folder, folders, names in os.walk(SOURCE):
        here = Path(folder).relative_to(SOURCE)
        folders[:] = sorted(name for name in folders
                            if not MADE.match(name) and str(here / name) not in MADE_BY_PACKAGING)
        # In a worktree of git .git is a file.
        yield from sorted(here / name for name in names if name != ".git" and not name.endswith((".pyc", ".substvars")))


def c_files(*tops):
    return [path for path in files() if path.suffix in (".c", ".h") and path.parts[0] in tops]


def read(path):
    return (SOURCE / path).read_text(encoding="utf-8")
