# SPDX-License-Identifier: LGPL-2.1-or-later
"""What packagings repeat of the build: the version, what is needed, the units that are started."""

import re

from tree import SOURCE, read

SPEC = "packaging/rpm/alidade.spec"
# The package that brings mosquitto_plugin.h has no pkg-config file of its own.
TOOLS = {"desktop-file-utils", "gcc", "gettext", "meson", "mosquitto-devel", "python3", "systemd-rpm-macros"}


METAINFO = "clients/desktop/data/org.alidade.Alidade.metainfo.xml.in"


def test_the_version_is_that_of_meson():
    version = re.search(r"^  version: '([\d.]+)'", read("meson.build"), re.MULTILINE)[1]
    assert re.search(r"^Version: +(\S+)$", read(SPEC), re.MULTILINE)[1] == version
    assert re.search(rf"^\* .* - {re.escape(version)}-\d", read(SPEC), re.MULTILINE)
    assert re.match(r"alidade \(([\d.]+)\)", read("debian/changelog"))[1] == version
    assert re.search(r"^## ([\d.]+)$", read("NEWS.md"), re.MULTILINE)[1] == version
    assert re.search(r'<release version="([\d.]+)"', read(METAINFO))[1] == version


def services():
    """The folders of the daemons, as people call them."""
    return {path.parent.name.replace("-", " ") for path in (SOURCE / "services").glob("*/alidade-*d.8")}


def listed(text):
    """The items of "a, b, c and d"."""
    return {item for part in text.split(",") for item in re.split(r"\band\b", " ".join(part.split()))} - {"", " "}


def test_descriptions_list_all_services():
    for path in (SPEC, "debian/control"):
        words = re.search(r"This package contains the services: ([^;]*);", read(path))[1]
        assert {item.strip() for item in listed(words)} == services(), path


def test_readme_lists_all_services():
    row = re.search(r"^\| services/ \| (.*) \|$", read("README.md"), re.MULTILINE)[1]
    others = {"common", "broker", "witness"}
    assert {name.replace("-", " ") for name in re.findall(r"`([\w-]+)/`", row)} == services() | others


def test_readme_lists_all_packages():
    packages = re.findall(r"^Package: (\S+)$", read("debian/control"), re.MULTILINE)
    row = re.search(r"^\| debian/, packaging/ \| (.*) \|$", read("README.md"), re.MULTILINE)[1]
    assert re.findall(r"`(alidade[\w-]*)`", row) == packages


def test_readme_lists_all_pages_of_the_window():
    titles = re.findall(r'add_page\(\s*window,.*?_\("(\w+)"\)', read("clients/desktop/window.c"), re.DOTALL)
    words = re.search(r"in a window with (\w+) pages: (.*?)\.\s", read("README.md"), re.DOTALL)
    assert re.findall(r"\b[A-Z]\w+", words[2]) == titles
    assert words[1] == ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"][len(titles)]


def test_readme_lists_all_verbs():
    """All that do something; completion has one of its own, whose name begins with a line."""
    table = re.search(r"^static const AldVerb verbs\[\] = \{(.*?)^\};", read("clients/alidadectl/alidadectl.c"),
                      re.MULTILINE | re.DOTALL)[1]
    verbs = set(re.findall(r'^ +\{ "([a-z][\w-]*)", ', table, re.MULTILINE)) - {"help", "version"}
    named = set(re.findall(r"alidadectl (?:-H \S+ )?([a-z][\w-]*)", read("README.md")))
    assert verbs and verbs - named == set()


def test_what_the_rpm_asks_for_is_what_meson_asks_for():
    text = read("meson.build")
    wanted = dict(re.findall(r"^\w+ = dependency\('([\w.-]+)', version: '(>= [\d.]+)'\)", text, re.MULTILINE))
    versions = dict(re.findall(r"'([\w.-]+)': '(>= [\d.]+)'", text))
    needs = re.search(r"^needs = \{.*?^\}", text, re.MULTILINE | re.DOTALL)[0]
    for names in re.findall(r"'[\w-]+': \[([^\]]*)\]", needs):
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
