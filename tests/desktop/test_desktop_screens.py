# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the program looks. ALIDADE_SCREENSHOTS=dir keeps all pictures there, ALIDADE_GOLDEN=write makes the golden ones
anew from what is seen, for a person to look at before they are committed."""

import gettext
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import pictures
from bedlib import build_dir
from bedlib.services import only_without_sanitizers
from bedlib.waiting import wait_steadily
from played_cluster import GIGABIT, ME, NAMES, edge, link, node, node_id

SIZE = {"wide": (1180, 800), "narrow": (360, 720)}
FRAME_MAX = 20  # of a window without a compositor, both sides together
DARK, LIGHT = "prefer-dark", "prefer-light"
CHASSIS = ("server", "desktop", "laptop", "vm")


def cluster(n):
    """A cluster of n nodes that is the same each time: nodes of all kinds, links of all rates, one node offline."""
    chance = random.Random(n)
    nodes = {}
    for number in range(n):
        name = NAMES[number]
        made = node(name, "offline" if n > 2 and number == 3 else "online")
        total = chance.choice((32, 64, 128, 512)) * 1024 ** 3
        made["Node1.Identity"]["Chassis"] = chance.choice(CHASSIS)
        made["Node1.Memory"] = {"TotalBytes": total, "AvailableBytes": int(total * chance.uniform(0.1, 0.9))}
        made["Node1.Compute"]["Devices"][0].update(
            TflopsFp16=chance.uniform(10, 160), MemoryBandwidthBytesPerSecond=int(chance.uniform(3e11, 1e12)))
        nodes[node_id(number)] = made
    edges = []
    for a in range(n):
        for b in range(a + 1, n):
            rate = int(chance.choice((0.94, 2.35, 9.41, 9.41, 23.5)) * GIGABIT)
            slow = n > 2 and chance.random() < 0.08
            for source, sink, one in ((a, b, rate), (b, a, rate // 3 if slow else rate)):
                if 3 in (a, b) and n > 2:
                    edges.append(edge(node_id(source), node_id(sink), None, Presence="offline"))
                else:
                    edges.append(edge(node_id(source), node_id(sink), None if chance.random() < 0.03 else one))
            if n <= 8 and b == a + 1 and a < 2:
                edges += [edge(node_id(source), node_id(sink), int(97.3 * GIGABIT), Kind="rdma", Transport="roce",
                               RttP50NSec=3400) for source, sink in ((a, b), (b, a))]
    ends = [node_id(0), node_id(min(2, n - 1))]
    names = [NAMES[0], NAMES[min(2, n - 1)]]
    findings = [{"Id": "link-below-negotiated", "Severity": "warning", "Nodes": ends, "Names": names,
                 "UploadBitsPerSecond": 3 * GIGABIT, "NegotiatedBitsPerSecond": 25 * GIGABIT},
                {"Id": "disk-nearly-full", "Severity": "error", "Nodes": [node_id(0)], "Names": [NAMES[0]], "Path": "/",
                 "AvailableBytes": 10 ** 8, "TotalBytes": 10 ** 12}]
    links = {(ME, f"{node_id(b)},192.0.2.{b + 1}"): link(node_id(b), SinkAddress=f"192.0.2.{b + 1}")
             for b in range(1, n)}
    totals = {"Links": len(links), "TflopsFp16": 92.5 * n, "MemoryTotalBytes": n * 128 * 1024 ** 3,
              "MemoryAvailableBytes": n * 60 * 1024 ** 3, "MemoryBandwidthBytesPerSecond": n * 661 * 10 ** 9,
              "MemoryBandwidthOf": "gpu", "TflopsFp16LeftOut": 1 if n > 2 else 0}
    return {"nodes": nodes, "edges": edges, "findings": findings, "links": links, "totals": totals}


def is_laid_out(program, picture):
    """For the size that its window has, but for a frame; the window has a new size before the program knows it."""
    width, height = program.reader.place_of(program.read().children[0])[2:]
    scale = max(1, round(picture.get_width() / max(width, 1)))
    return all(0 <= has - scale * wants < FRAME_MAX * scale
               for has, wants in ((picture.get_width(), width), (picture.get_height(), height)))


def steady_picture(program):
    """Once nothing moves any more: two pictures, one after the other, that are the same."""
    last = None

    def same():
        nonlocal last
        before, last = last, program.picture()
        return before is not None and before.get_pixels() == last.get_pixels() and is_laid_out(program, last)

    wait_steadily(same, "a picture that stands still", 20, 0.2)
    return last


def wait_size(program, wide, high):
    """Until it keeps that size: without a window manager, GTK may ask for the size of its own once more."""
    held = 0

    def has_size():
        nonlocal held
        held = held + 1 if program.picture().get_width() == wide else 0
        if not held:
            program.session.screen.resize(program.window, wide, high)
        return held >= 3

    wait_steadily(has_size, "the size", interval=0.2)


def show(play, n, name, size="wide", scheme=LIGHT, page=1, click=None, **options):
    """A picture of that cluster, kept, and beside the golden one if there shall be one."""
    played = play(**cluster(n), ADW_DEBUG_COLOR_SCHEME=scheme, **options)
    program = played.program
    wide, high = SIZE.get(size, size) if isinstance(size, str) else size

    wait_size(program, wide, high)
    if page != 1:
        program.open_page(page)
    if click:
        program.click("button", re.compile(click))
        wait_steadily(lambda: program.process.poll() is None and program.read().find_all(name=re.compile("^Overview$")),
                      "the details")
    picture = steady_picture(program)
    pictures.keep(picture, name)
    if pictures.is_golden(name):
        golden = pictures.load(name)
        assert pictures.are_alike(picture, golden), f"{pictures.difference(picture, golden)} from golden/{name}.png"
    return picture


def brightness(picture):
    rows = pictures.small(picture)
    return sum(map(sum, rows)) / (pictures.COLUMNS * pictures.ROWS)


@pytest.mark.parametrize("n", [2, 5, 8, 24])
def test_light_and_dark(play, desktop, n):
    light = show(play, n, f"light-{n}")
    assert desktop.end_programs() == []
    dark = show(play, n, f"dark-{n}", scheme=DARK)
    assert brightness(light) > 180 and brightness(dark) < 90
    assert not pictures.are_alike(light, dark)


def test_narrow(play):
    show(play, 8, "narrow", "narrow")


@pytest.mark.parametrize("page, name", [(2, "nodes"), (4, "links"), (5, "findings")])
def test_tables(play, page, name):
    show(play, 8, name, page=page)


def test_details(play):
    show(play, 8, "details", click=f"^{NAMES[1]}, ")


def test_large_text(play):
    """Nearly twice as large; nothing may make the window larger than the screen of a phone for it."""
    picture = show(play, 8, "large-text", settings="gtk-font-name=Cantarell 19\n")
    assert picture.get_width() == SIZE["wide"][0]


def test_high_contrast(play):
    show(play, 8, "high-contrast", ADW_DEBUG_HIGH_CONTRAST="1")


def preloaded(tmp_path, source):
    """As environment: the program with functions of a library that is compiled from this."""
    only_without_sanitizers("which want to be loaded first")
    if not shutil.which("cc"):
        pytest.skip("there is no compiler")
    library = tmp_path / "preloaded.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=source, text=True, check=True)
    return {"LD_PRELOAD": str(library)}


# GLib translates GTK only for languages that the program has, and GTK takes its direction from its translation.
SAME_DOMAIN = "char *textdomain(const char *name) { (void) name; return (char *) \"messages\"; }\n"


def test_right_to_left(play, tmp_path):
    """As in Hebrew, all of it the other way round."""
    if not Path("/usr/share/locale/he/LC_MESSAGES/gtk40.mo").exists():
        pytest.skip("GTK is not translated here")
    picture = show(play, 8, "right-to-left", page=2, LANGUAGE="he", **preloaded(tmp_path, SAME_DOMAIN))
    mirrored, golden = picture.flip(True), pictures.load("nodes")
    assert pictures.difference(mirrored, golden)[1] < pictures.difference(picture, golden)[1]


# The translations of the build, which are installed elsewhere or not at all.
BUILT_TRANSLATIONS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
char *bindtextdomain(const char *domain, const char *folder)
{
        char *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, "bindtextdomain");
        return next(domain, strcmp(domain, "alidade") == 0 ? getenv("TRANSLATIONS") : folder);
}
"""


def left_in_english(tree, translations):
    """What is shown as it is in the source, although there is a translation."""
    return sorted({text for text in tree.texts() if translations.gettext(text) != text})


@pytest.mark.parametrize("size", SIZE)
def test_german(play, tmp_path, size):
    folder = build_dir() / "po"
    translations = gettext.translation("alidade", folder, ["de"])
    played = play(**cluster(8), ADW_DEBUG_COLOR_SCHEME=LIGHT, LANGUAGE="de", TRANSLATIONS=str(folder),
                  **preloaded(tmp_path, BUILT_TRANSLATIONS))
    program = played.program
    wide, high = SIZE[size]
    wait_size(program, wide, high)
    for number, title in enumerate(("Topologie", "Knoten", "Geräte", "Verbindungen", "Befunde", "Platzierung"), 1):
        program.press(f"alt+{number}")
        program.wait_for("tab", title, "selected")
        pictures.keep(steady_picture(program), f"german-{size}-{number}")
        assert left_in_english(program.read(), translations) == []
    program.press("alt+5")
    program.wait_for_text("1 Fehler, 1 Warnung")
    assert program.picture().get_width() == wide


# The measure itself

def test_a_missing_pane_is_noticed(play):
    """Else the comparison would prove nothing."""
    played = play(**cluster(8))
    program = played.program
    played.desktop.screen.resize(program.window, *SIZE["wide"])
    wait_steadily(lambda: program.picture().get_width() == SIZE["wide"][0], "the size")
    without = steady_picture(program)
    program.click("button", re.compile(f"^{NAMES[1]}, "))
    program.wait_for(name="Details")
    with_details = steady_picture(program)
    assert pictures.are_alike(without, without) and pictures.are_alike(with_details, with_details)
    assert not pictures.are_alike(without, with_details)
    program.open_page(5)
    assert not pictures.are_alike(without, steady_picture(program))
    # What is kept is smaller, and still the same picture.
    assert pictures.are_alike(without, pictures.shrunk(without))


def test_another_font_is_not_noticed(play):
    """As Debian's next release has one."""
    picture = show(play, 8, "other-font", settings="gtk-font-name=DejaVu Sans 10\n")
    assert pictures.are_alike(picture, pictures.load("light-8"))
