# SPDX-License-Identifier: LGPL-2.1-or-later
"""What each part of the build asks for: see the options of meson."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tree import SOURCE, build_dir

BASE = {"glib-2.0", "libsystemd", "jansson"}
SERVICES = BASE | {"gio-2.0", "libmnl", "libudev", "OpenCL-Headers", "sqlite3", "zlib"}
# part: (the pkg-config files that it needs, what it installs besides others)
PARTS = {
    "services": (SERVICES, {"/usr/libexec/alidade/alidade-stated", "/units/alidade-stated.service",
                            "/usr/share/man/man5/alidade.conf.5", "/usr/policies/org.alidade.State1.conf"}),
    "administration": (BASE | {"openssl", "libmosquitto"},
                       {"/usr/libexec/alidade/alidade-cluster", "/usr/libexec/alidade/alidade-mosquitto.so"}),
    "clients": (BASE, {"/usr/bin/alidadectl", "/usr/share/man/man1/alidadectl.1"}),
    "desktop": (BASE | {"gtk4", "libadwaita-1"},
                {"/usr/bin/alidade", "/usr/share/applications/org.alidade.Alidade.desktop",
                 "/usr/share/man/man1/alidade.1"}),
    "exporter": (BASE | {"libmicrohttpd"},
                 {"/usr/libexec/alidade/alidade-exporter", "/units/alidade-exporter.socket",
                  "/usr/share/man/man8/alidade-exporter.8"}),
}
# Those that are built with the services only.
PARTS_OF_SERVICES = {
    "cluster": ({"libibverbs", "libmosquitto", "librdmacm", "openssl"},
                {"/usr/libexec/alidade/alidade-clusterd", "/units/alidade-clusterd.service",
                 "/usr/bin/alidade-probe-rdma"}),
    "network-manager": ({"libnm"}, {"/usr/libexec/alidade/alidade-network-nm.so"}),
}
OF_CLIENTS = re.compile(r"(record|state|common|state-client|clients/(common|command-line|alidadectl))/")
# Headers of packages that clients do not need.
FOREIGN = re.compile(r"/usr/include/(.*/)?(CL|infiniband|libmnl|libnm|libudev|mosquitto|rdma/rdma_cma)[^/]*\b")
PLACES = ["-Dsystemdsystemunitdir=/units", "-Ddbuspolicydir=policies", "--prefix=/usr"]


def pkg_config(*arguments):
    return subprocess.run(["pkg-config", *arguments], check=True, capture_output=True, text=True).stdout


def with_what_they_require(names):
    found, fresh = set(), set(names)
    while fresh:
        found |= fresh
        lines = pkg_config("--print-requires", "--print-requires-private", *fresh).splitlines()
        fresh = {line.split()[0] for line in lines} - found
    return found


@pytest.fixture
def libdir(tmp_path):
    """A folder with these pkg-config files and what they require."""
    def folder(names):
        path = pkg_config("--variable=pc_path", "pkg-config").strip()
        made = tmp_path / "pkgconfig"
        made.mkdir()
        for name in with_what_they_require(names):
            there = [Path(where, f"{name}.pc") for where in path.split(":") if Path(where, f"{name}.pc").exists()]
            (made / f"{name}.pc").symlink_to(there[0])
        return made
    return folder


def configure(build, *options, found):
    env = {**os.environ, "PKG_CONFIG_LIBDIR": str(found)}
    return subprocess.run(["meson", "setup", build, SOURCE, *options], env=env, capture_output=True, text=True,
                          check=False)


def installed(build):
    return set(json.loads((build / "meson-info/intro-installed.json").read_text()).values())


@pytest.mark.parametrize("part", PARTS)
def test_each_part_needs_only_its_own(part, tmp_path, libdir):
    wanted, brings = PARTS[part]
    build = tmp_path / "build"
    done = configure(build, "-Dauto_features=disabled", f"-D{part}=enabled", *PLACES, found=libdir(wanted))
    assert done.returncode == 0, done.stdout + done.stderr
    assert brings <= installed(build)
    assert not {path for other, (_, files) in PARTS.items() if other != part for path in files} & installed(build)
    assert re.search(rf"^ +{part} +: yes$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("part", PARTS_OF_SERVICES)
def test_services_are_built_with_and_without(part, tmp_path, libdir):
    wanted, brings = PARTS_OF_SERVICES[part]
    found = libdir(SERVICES | wanted)
    for value in ("enabled", "disabled"):
        done = configure(tmp_path / value, "-Dauto_features=disabled", "-Dservices=enabled", f"-D{part}={value}",
                         *PLACES, found=found)
        assert done.returncode == 0, done.stdout + done.stderr
        assert brings & installed(tmp_path / value) == (brings if value == "enabled" else set())


def test_what_is_auto_is_left_out_where_its_needs_are_missing(tmp_path, libdir):
    done = configure(tmp_path / "build", found=libdir(BASE))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ +services +: no: .*\blibmnl\b.* not found$", done.stdout, re.MULTILINE)
    assert re.search(r"^ +clients +: yes$", done.stdout, re.MULTILINE)


def test_what_is_enabled_is_an_error_where_its_needs_are_missing(tmp_path, libdir):
    done = configure(tmp_path / "build", "-Dadministration=enabled", found=libdir(BASE))
    assert done.returncode != 0
    assert "libmosquitto" in done.stdout


def test_clients_include_nothing_of_other_packages():
    """So that they can be built where those are not installed."""
    deps = subprocess.run(["ninja", "-C", build_dir(), "-t", "deps"], check=True, capture_output=True, text=True).stdout
    found, target = [], ""
    for line in deps.splitlines():
        if line and not line.startswith(" "):
            target = line.split(":")[0]
        elif OF_CLIENTS.match(target) and FOREIGN.match(line.strip()):
            found.append(f"{target} includes {line.strip()}")
    assert "clients/" in deps
    assert found == []


def test_clients_are_linked_with_nothing_of_other_packages():
    words = subprocess.run(["readelf", "-d", build_dir() / "clients/alidadectl/alidadectl"], check=True,
                           capture_output=True, text=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(lib[\w-]+)", words))
    of_the_compiler = {"libc", "libm", "libgcc_s"}
    assert needed <= {"libglib-2", "libjansson", "libsystemd"} | of_the_compiler
