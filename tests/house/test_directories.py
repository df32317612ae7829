# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is installed names the directories of its build, wherever they are."""

import json
import re
import subprocess

import pytest

from tree import SOURCE

# Where this build puts things; each below a name that nothing else has.
PLACES = {"--prefix": "/opt/elsewhere", "--sysconfdir": "/opt/elsewhere/settings", "--libexecdir": "programs"}
FOREIGN = re.compile(r"/etc/alidade|/usr(/local)?/(bin|sbin|etc|lib|libexec|share)/(doc/)?alidade[\w./-]*")
# What the administrator copies there, as these examples say.
OF_ADMINISTRATORS = {"/usr/local/libexec/alidade-notify-mail", "/usr/local/libexec/alidade-notify-post",
                     "/usr/local/libexec/alidade-notify-", "/usr/local/sbin/alidade-health-check"}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Each text that a build with these directories installs, by where."""
    build = tmp_path_factory.mktemp("directories") / "build"
    subprocess.run(["meson", "setup", build, SOURCE, "-Dtests=false", *(f"{key}={to}" for key, to in PLACES.items())],
                   check=True, capture_output=True)
    installed = json.loads((build / "meson-info/intro-installed.json").read_text())
    targets = json.loads((build / "meson-info/intro-targets.json").read_text())
    custom = {name for target in targets if target["type"] == "custom" for name in target["filename"]}
    made = [name for name in installed if name in custom]
    subprocess.run(["ninja", "-C", build, *(name.removeprefix(f"{build}/") for name in made)], check=True,
                   capture_output=True)
    programs = {name for target in targets if target["type"] != "custom" for name in target["filename"]}
    found = {}
    for source, place in installed.items():
        try:
            if source not in programs:
                found[place] = (SOURCE / source).read_text(encoding="utf-8").replace(r"\-", "-")
        except (UnicodeDecodeError, IsADirectoryError):
            pass  # a translation or a folder
    return found


def test_no_foreign_directory_is_named(texts):
    wrong = {place: found[0] for place, text in texts.items() for found in FOREIGN.finditer(text)
             if found[0] not in OF_ADMINISTRATORS}
    assert wrong == {}


def test_what_renews_certificates_looks_where_the_programs_do(texts):
    conditions = {line.split("=")[1] for place, text in texts.items() if place.endswith("-renewal.service")
                  for line in text.splitlines() if line.startswith("Condition")}
    assert conditions == {"/opt/elsewhere/settings/alidade/cluster/ca.crt",
                          "/opt/elsewhere/programs/alidade/alidade-cluster"}


def test_manual_pages_name_the_directories_of_the_build(texts):
    page = texts["/opt/elsewhere/share/man/man5/alidade.conf.5"]
    assert "/opt/elsewhere/settings/alidade/alidade.conf" in page
    enable = "/opt/elsewhere/share/doc/alidade/examples/rapl/enable"
    assert enable in texts["/opt/elsewhere/share/man/man8/alidade-telemetryd.8"]
    assert enable in texts
    assert "/opt/elsewhere/share/doc/alidade/examples" in texts["/opt/elsewhere/share/man/man1/alidadectl.1"]
