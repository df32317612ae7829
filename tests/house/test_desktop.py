# SPDX-License-Identifier: LGPL-2.1-or-later
"""The data of the desktop program: its name and icons, and what a sandbox lets it talk to."""

import configparser
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tree import SOURCE, c_files, read

ID = "org.alidade.Alidade"
DATA = SOURCE / "clients/desktop/data"
MANIFEST = f"packaging/flatpak/{ID}.yml"
THEME = Path("/usr/share/icons/Adwaita")
SVG = "{http://www.w3.org/2000/svg}"


def own_c_files():
    return [path for path in c_files("clients") if path.parts[1] == "desktop"]


def used_icons():
    return {name for path in own_c_files() for name in re.findall(r'"([a-z][a-z-]*-symbolic)"', read(path))}


def ini(path):
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read(path, encoding="utf-8")
    return parser


def test_it_has_one_name_everywhere():
    assert ini(DATA / f"{ID}.service.in")["D-BUS Service"]["Name"] == ID
    assert ini(DATA / f"{ID}.desktop.in")["Desktop Entry"]["Icon"] == ID
    metainfo = ET.parse(DATA / f"{ID}.metainfo.xml.in")
    assert (metainfo.findtext("id"), metainfo.findtext("launchable")) == (ID, f"{ID}.desktop")
    schema = ET.parse(DATA / f"{ID}.gschema.xml").find("schema")
    path = "/" + ID.replace(".", "/")
    assert (schema.get("id"), schema.get("path")) == (ID, f"{path}/")
    assert ET.parse(DATA / "alidade.gresource.xml").find("gresource").get("prefix") == path
    assert re.search(r"^id: (.*)$", read(MANIFEST), re.MULTILINE)[1] == ID


def test_the_latest_release_is_the_version_of_meson():
    version = re.search(r"^  version: '([\d.]+)'", read("meson.build"), re.MULTILINE)[1]
    assert ET.parse(DATA / f"{ID}.metainfo.xml.in").find("releases/release").get("version") == version


def test_icons_of_the_program_are_compiled_in():
    listed = [element.text for element in ET.parse(DATA / "alidade.gresource.xml").iter("file")]
    icons = [name for name in listed if name.startswith("icons/")]
    assert icons == sorted(str(path.relative_to(DATA)) for path in (DATA / "icons/scalable").rglob("*.svg"))
    assert {name for name in used_icons() if name.startswith("alidade-")} <= {Path(name).stem for name in icons}


@pytest.mark.skipif(not THEME.exists(), reason="adwaita-icon-theme is not installed")
def test_other_icons_are_in_the_theme():
    others = {name for name in used_icons() if not name.startswith("alidade-")}
    assert others <= {path.stem for path in THEME.rglob("*.svg")}


@pytest.mark.parametrize("path", sorted((DATA / "icons").rglob("*-symbolic.svg")), ids=lambda path: path.stem)
def test_symbolic_icons_can_take_any_color(path):
    """GTK sets the color of what is filled, and of nothing else."""
    root = ET.parse(path).getroot()
    assert root.get("viewBox") == "0 0 16 16"
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {"svg", "title", "g", "path", "rect", "circle"}
    assert {element.get("fill") for element in root.iter()} == {None, "#2e3436"}
    assert not any(name in element.attrib for element in root.iter() for name in ("style", "stroke", "opacity"))


def test_settings_that_are_used_are_in_the_schema():
    keys = {key.get("name") for key in ET.parse(DATA / f"{ID}.gschema.xml").iter("key")}
    used = {key for path in own_c_files() for key in re.findall(r'g_settings_\w+\([^;"]*?"([a-z-]+)"', read(path))}
    assert used <= keys


def test_the_sandbox_lets_it_talk_to_its_services():
    names = dict(re.findall(r'#define (ALD_\w+_NAME) "([\w.]+)"', read("common/bus-names.h")))
    used = {names[word] for path in own_c_files() + c_files("state-client")
            for word in re.findall(r"\bALD_\w+_NAME\b", read(path)) if word in names}
    assert used and used <= set(re.findall(r"--system-talk-name=(\S+)", read(MANIFEST)))


@pytest.mark.skipif(not shutil.which("flatpak-builder"), reason="flatpak-builder is not installed")
def test_flatpak_builder_accepts_the_manifest(tmp_path):
    # It makes a folder where it runs.
    done = subprocess.run(["flatpak-builder", "--show-manifest", SOURCE / MANIFEST], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_manual_page_names_every_option():
    text = read("clients/desktop/alidade.1").replace("\\-", "-")
    options = re.findall(r'\{ "([a-z-]+)", (?:0|\'.\'), \d+, G_OPTION_ARG', read("clients/desktop/application.c"))
    assert options and all(f"--{option}" in text for option in options)


@pytest.mark.skipif(not shutil.which("man"), reason="man is not installed")
def test_manual_page_is_clean():
    page = SOURCE / "clients/desktop/alidade.1"
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], capture_output=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""}, check=True)
    assert done.stderr == b""
