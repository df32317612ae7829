# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where Alidade's programs, policies and interfaces lie, and under which names they serve."""

import functools
import os
import re
from dataclasses import dataclass
from pathlib import Path

from .busconfig import policies_below
from .errors import Unavailable

SOURCE = Path(__file__).resolve().parents[3]


def build_dir():
    """The build directory under test."""
    value = os.environ.get("ALIDADE_BUILD")
    if not value:
        raise Unavailable("ALIDADE_BUILD does not name a build directory")
    return Path(value).resolve()


def mosquitto_plugin():
    """What mosquitto loads on a broker; it is built without sanitizers."""
    return build_dir() / "services/broker/alidade-mosquitto.so"


def search_dirs():
    """Source first, then what the build generated."""
    value = os.environ.get("ALIDADE_BUILD")
    return [SOURCE] + ([Path(value).resolve()] if value else [])


@dataclass(frozen=True)
class Service:
    """One daemon: its folder below services/, its program and its bus name."""

    folder: str
    program: str
    interface: str

    @property
    def bus_name(self):
        return f"org.alidade.{self.interface}"

    @property
    def path(self):
        return f"/org/alidade/{self.interface}"

    @property
    def binary(self):
        found = build_dir() / "services" / self.folder / f"alidade-{self.program}"
        if not found.exists():
            raise FileNotFoundError(f"{found}: not built")
        return found

    @property
    def user(self):
        """The user its unit runs it as."""
        for folder in search_dirs():
            for unit in folder.glob(f"services/{self.folder}/*.service*"):
                named = re.search(r"^User=(\S+)$", unit.read_text(), re.MULTILINE)
                if named:
                    return named.group(1)
        return f"alidade-{self.folder}"


SERVICES = {service.program: service for service in (
    Service("identity", "identityd", "Identity1"),
    Service("telemetry", "telemetryd", "Telemetry1"),
    Service("link-probe", "link-probed", "LinkProbe1"),
    Service("state", "stated", "State1"),
    Service("cluster", "clusterd", "Cluster1"),
)}


def built_programs():
    """Those daemons that this build has."""
    return [program for program, service in SERVICES.items()
            if (build_dir() / "services" / service.folder / f"alidade-{program}").exists()]


@functools.cache
def _has_sanitizers():
    return b"__asan_init" in SERVICES["stated"].binary.read_bytes()


def sanitized():
    """Whether the build under test has sanitizers, with which memory use says nothing. A test that asks is to run once
    more without them: ALIDADE_TEST_PLAIN names a file for the names of such tests."""
    if _has_sanitizers() and "ALIDADE_TEST_PLAIN" in os.environ:
        with open(os.environ["ALIDADE_TEST_PLAIN"], "a", encoding="utf-8") as names:
            names.write(os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0] + "\n")
    return _has_sanitizers()


def client_binary():
    return build_dir() / "clients" / "alidadectl" / "alidadectl"


def bus_policies():
    return policies_below(search_dirs())


def policy_users():
    """Users that Alidade's bus policies name: they must exist, or dbus-daemon drops the rule."""
    text = "".join(path.read_text() for path in bus_policies())
    return sorted(set(re.findall(r'<policy\s+user="([^"]+)"', text)) - {"root"})


def group_members():
    """(user, group) of the m lines of sysusers.d: what units rely on to read."""
    text = "".join(path.read_text() for path in SOURCE.glob("services/*.sysusers"))
    return re.findall(r"^m\s+(\S+)\s+(\S+)", text, re.MULTILINE)


def polkit_policies():
    """Alidade's action files; a generated one lies in the build directory."""
    found = {}
    for folder in search_dirs():
        for path in sorted(folder.glob("polkit/*.policy")):
            found.setdefault(path.name, path)
    return list(found.values())


def interface_xml(name):
    """The contract's XML of an interface, such as org.alidade.Identity1."""
    return (SOURCE / "dbus-interfaces" / f"{name}.xml").read_text()
