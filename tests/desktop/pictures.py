# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures of the program beside golden ones: alike enough that fonts and toolkits of other versions pass, and that a
missing pane or a wrong colour scheme does not.

Both are made small and grey, in two ways. What a cell of the picture has for a mean tells where panes and colours are;
how much it varies tells where there is something to be seen."""

import os
from pathlib import Path

import gi

gi.require_version("GdkPixbuf", "2.0")

from gi.repository import GdkPixbuf  # noqa: E402

GOLDEN = Path(__file__).with_name("golden")
COLUMNS, ROWS, FINE = 24, 16, 8
# Of 255: a font of another version moves this by 1 or 2, another colour scheme by 200.
MEAN_LIMIT = 6.0
# 0 for the same picture, 1 for two that have nothing in common: other fonts take it to 0.3, a pane that is missing or
# another page to 0.5 and more.
INK_LIMIT = 0.4
KEPT_PIXELS = 320 * 220


def grey(picture):
    """Rows of brightness."""
    data, stride, channels = picture.get_pixels(), picture.get_rowstride(), picture.get_n_channels()
    return [[(data[at] * 3 + data[at + 1] * 6 + data[at + 2]) / 10
             for at in range(row * stride, row * stride + picture.get_width() * channels, channels)]
            for row in range(picture.get_height())]


def small(picture):
    return grey(picture.scale_simple(COLUMNS, ROWS, GdkPixbuf.InterpType.BILINEAR))


def ink(picture):
    """For each cell, how much its brightness varies within it."""
    rows = grey(picture.scale_simple(COLUMNS * FINE, ROWS * FINE, GdkPixbuf.InterpType.BILINEAR))
    return [sum(abs(row[x] - row[x - 1]) for row in rows[top:top + FINE] for x in range(left + 1, left + FINE))
            for top in range(0, ROWS * FINE, FINE) for left in range(0, COLUMNS * FINE, FINE)]


def difference(one, other):
    """(of brightness, of ink) of two pictures, each scaled to the same few cells."""
    cells = [abs(a - b) for row, beside in zip(small(one), small(other)) for a, b in zip(row, beside)]
    inks = list(zip(ink(one), ink(other)))
    return sum(cells) / len(cells), sum(abs(a - b) for a, b in inks) / (sum(max(pair) for pair in inks) or 1)


def are_alike(one, other):
    brightness, inks = difference(one, other)
    return brightness <= MEAN_LIMIT and inks <= INK_LIMIT


def load(name):
    return GdkPixbuf.Pixbuf.new_from_file(str(GOLDEN / f"{name}.png"))


def shrunk(picture):
    """What is kept as golden: few, small files, and still a picture that one can look at."""
    scale = (KEPT_PIXELS / picture.get_width() / picture.get_height()) ** 0.5
    size = (round(length * scale) for length in (picture.get_width(), picture.get_height()))
    return picture.scale_simple(*size, GdkPixbuf.InterpType.BILINEAR)


def keep(picture, name):
    """Writes it where ALIDADE_SCREENSHOTS says; with ALIDADE_GOLDEN=write, the golden one as well."""
    folder = os.environ.get("ALIDADE_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        picture.savev(str(Path(folder) / f"{name}.png"), "png", [], [])
    if os.environ.get("ALIDADE_GOLDEN") == "write" and is_golden(name):
        shrunk(picture).savev(str(GOLDEN / f"{name}.png"), "png", ["compression"], ["9"])


def is_golden(name):
    """Those that are compared; others are for people."""
    return name in ("light-2", "light-8", "light-24", "dark-8", "high-contrast", "narrow", "nodes", "details",
                    "devices", "findings", "matrix", "matrix-dark")
