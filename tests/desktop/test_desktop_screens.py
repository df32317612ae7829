# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the program looks. ALIDADE_SCREENSHOTS=dir keeps all pictures there, ALIDADE_GOLDEN=write makes the golden ones
anew from what is seen, for a person to look at before they are committed."""

import atexit
import functools
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import pictures
from bedlib.services import only_without_sanitizers
from bedlib.waiting import wait_steadily
from played_cluster import GIGABIT, ME, NAMES, edge, link, node, node_id

SIZE = {"wide": (1180, 800), "narrow": (360, 720)}
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
    findings = [{"Id": "link-asymmetric", "Severity": "warning", "Nodes": ends, "Names": names,
                 "UploadBitsPerSecond": 3 * GIGABIT, "DownloadBitsPerSecond": 9 * GIGABIT},
                {"Id": "disk-nearly-full", "Severity": "error", "Nodes": [node_id(0)], "Names": [NAMES[0]], "Path": "/",
                 "AvailableBytes": 10 ** 8, "TotalBytes": 10 ** 12}]
    links = {(ME, f"{node_id(b)},192.0.2.{b + 1}"): link(node_id(b), SinkAddress=f"192.0.2.{b + 1}")
             for b in range(1, n)}
    totals = {"Links": len(links), "TflopsFp16": 92.5 * n, "MemoryTotalBytes": n * 128 * 1024 ** 3,
              "MemoryAvailableBytes": n * 60 * 1024 ** 3, "MemoryBandwidthBytesPerSecond": n * 661 * 10 ** 9,
              "MemoryBandwidthOf": "gpu", "TflopsFp16LeftOut": 1 if n > 2 else 0}
    return {"nodes": nodes, "edges": edges, "findings": findings, "links": links, "totals": totals}


def steady_picture(program):
    """Once nothing moves any more: two pictures, one after the other, that are the same."""
    last = None

    def same():
        nonlocal last
        before, last = last, program.picture()
        return before is not None and before.get_pixels() == last.get_pixels()

    wait_steadily(same, "a picture that stands still", 20, 0.2)
    return last


def show(play, n, name, size="wide", scheme=LIGHT, page=1, click=None, **options):
    """A picture of that cluster, kept, and beside the golden one if there shall be one."""
    played = play(**cluster(n), ADW_DEBUG_COLOR_SCHEME=scheme, **options)
    program = played.program
    wide, high = SIZE.get(size, size) if isinstance(size, str) else size

    # Without a window manager, GTK may ask for the size of its own once more after this.
    def has_size():
        played.desktop.screen.resize(program.window, wide, high)
        return program.picture().get_width() == wide

    wait_steadily(has_size, "the size", interval=0.2)
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


@pytest.mark.parametrize("n", [2, 8, 24])
def test_light_and_dark(play, desktop, n):
    light = show(play, n, f"light-{n}")
    assert desktop.end_programs() == []
    dark = show(play, n, f"dark-{n}", scheme=DARK)
    assert brightness(light) > 180 and brightness(dark) < 90
    assert not pictures.are_alike(light, dark)


def test_narrow(play):
    show(play, 8, "narrow", "narrow")


@pytest.mark.parametrize("page, name", [(2, "nodes"), (3, "links"), (4, "findings")])
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


@functools.cache
def locale_folder(name):
    """A folder with that locale, for LOCPATH, or None where it cannot be made."""
    folder = Path(tempfile.mkdtemp(prefix="alidade-locale-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if not shutil.which("localedef"):
        return None
    done = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", folder / f"{name}.UTF-8"], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder if done.returncode == 0 else None


def in_locale(name):
    folder = locale_folder(name)
    if not folder:
        pytest.skip(f"the locale {name} cannot be made here")
    return {"LC_ALL": f"{name}.UTF-8", "LANG": f"{name}.UTF-8", "LOCPATH": str(folder)}


# GLib translates GTK only for languages that the program has, and GTK takes its direction from its translation.
SAME_DOMAIN = "char *textdomain(const char *name) { (void) name; return (char *) \"messages\"; }\n"


def test_right_to_left(play, tmp_path):
    """As in Hebrew, all of it the other way round."""
    only_without_sanitizers("which want to be loaded first")
    if not Path("/usr/share/locale/he/LC_MESSAGES/gtk40.mo").exists() or not shutil.which("cc"):
        pytest.skip("GTK is not translated here, or there is no compiler")
    library = tmp_path / "same-domain.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=SAME_DOMAIN, text=True, check=True)
    picture = show(play, 8, "right-to-left", page=2, LANGUAGE="he", LD_PRELOAD=str(library))
    mirrored, golden = picture.flip(True), pictures.load("nodes")
    assert pictures.difference(mirrored, golden)[1] < pictures.difference(picture, golden)[1]


def test_german(play):
    """Where the program was installed with its translations."""
    played = play(**cluster(8), ADW_DEBUG_COLOR_SCHEME=LIGHT, **in_locale("de_DE"))
    played.desktop.screen.resize(played.program.window, *SIZE["wide"])
    if "Knoten" not in played.program.read().text():
        pytest.skip("the translations of this build are not installed")
    pictures.keep(steady_picture(played.program), "german")


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
    program.open_page(4)
    assert not pictures.are_alike(without, steady_picture(program))
    # What is kept is smaller, and still the same picture.
    assert pictures.are_alike(without, pictures.shrunk(without))


def test_another_font_is_not_noticed(play):
    """As Debian's next release has one."""
    picture = show(play, 8, "other-font", settings="gtk-font-name=DejaVu Sans 10\n")
    assert pictures.are_alike(picture, pictures.load("light-8"))
