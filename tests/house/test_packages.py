# SPDX-License-Identifier: LGPL-2.1-or-later
"""What packagings repeat of the build: the version, what is needed, the units that are started."""

import re

from tree import SOURCE, read

SPEC = "packaging/rpm/alidade.spec"
# The package that brings mosquitto_plugin.h has no pkg-config file of its own.
TOOLS = {"desktop-file-utils", "gcc", "gettext", "meson", "mosquitto-devel", "python3", "systemd-rpm-macros"}


def test_the_version_is_that_of_meson():
    version = re.search(r"^  version: '([\d.]+)'", read("meson.build"), re.MULTILINE)[1]
    assert re.search(r"^Version: +(\S+)$", read(SPEC), re.MULTILINE)[1] == version
    assert re.search(rf"^\* .* - {re.escape(version)}-\d", read(SPEC), re.MULTILINE)


def test_what_the_rpm_asks_for_is_what_meson_asks_for():
    text = read("meson.build")
    wanted = dict(re.findall(r"^\w+ = dependency\('([\w.-]+)', version: '(>= [\d.]+)'\)", text, re.MULTILINE))
    versions = dict(re.findall(r"'([\w.-]+)': '(>= [\d.]+)'", text))
    needs = re.search(r"^needs = \{.*?^\}", text, re.MULTILINE | re.DOTALL)[0]
    for names in re.findall(r"'\w+': \[([^\]]*)\]", needs):
        wanted |= {name: versions.get(name, "") for name in re.findall(r"'([\w.-]+)'", names)}
    # A part of glib.
    del wanted["gio-2.0"]
    asked = re.findall(r"^BuildRequires: +(?:pkgconfig\(([^)]+)\)|([\w-]+))(?: (>= [\d.]+))?$", read(SPEC),
                       re.MULTILINE)
    assert {name: version for name, _, version in asked if name} == wanted
    assert {tool for _, tool, _ in asked if tool} == TOOLS


def test_the_rpm_knows_all_units():
    installable = {path.name.removesuffix(".in") for path in (SOURCE / "services").glob("*/alidade-*")
                   if "\n[Install]\n" in path.read_text()}
    assert set(re.search(r"^%global units (.*)$", read(SPEC), re.MULTILINE)[1].split()) == installable
