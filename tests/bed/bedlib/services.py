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
# For a compute probe on PoCL. Its buffers take a quarter of the memory of the device, which is that of the machine: to
# fill gigabytes takes far longer than to measure.
LITTLE_POCL = {"POCL_MEMORY_LIMIT": "1"}  # GiB


def build_dir():
    """The build directory under test."""
    value = os.environ.get("ALIDADE_BUILD")
    if not value:
        raise Unavailable("ALIDADE_BUILD does not name a build directory")
    return Path(value).resolve()


@dataclass(frozen=True)
class Service:
    """One daemon: its folder below services/, its program and its bus name."""

    folder: str
    program: str
    interface: str
    on_demand: bool = False  # only the bus starts it here

    @property
    def bus_name(self):
        return f"org.alidade.{self.interface}"

    @property
    def path(self):
        return f"/org/alidade/{self.interface}"

    @property
    def binary(self):
        """Of the build under test."""
        return UNDER_TEST.daemon(self.program)

    @property
    def user(self):
        """The user its unit runs it as."""
        return user_of_unit(self.folder)


@functools.cache
def user_of_unit(service_folder):
    for folder in UNDER_TEST.folders():
        for unit in folder.glob(f"services/{service_folder}/*.service*"):
            named = re.search(r"^User=(\S+)$", unit.read_text(), re.MULTILINE)
            if named:
                return named.group(1)
    return f"alidade-{service_folder}"


SERVICES = {service.program: service for service in (
    Service("identity", "identityd", "Identity1"),
    Service("telemetry", "telemetryd", "Telemetry1"),
    Service("link-probe", "link-probed", "LinkProbe1"),
    Service("state", "stated", "State1"),
    Service("cluster", "clusterd", "Cluster1"),
    Service("placement", "placementd", "Placement1", on_demand=True),
    Service("history", "historyd", "History1", on_demand=True),
)}


class Version:
    """What a package of Alidade brings: a build, and the source that it was made of; without arguments, those under
    test."""

    def __init__(self, build=None, source=SOURCE):
        self._build = build
        self.source = source

    @property
    def build(self):
        return self._build or build_dir()

    def folders(self):
        """Source first, then what the build generated."""
        return [self.source] + ([self.build] if self._build or "ALIDADE_BUILD" in os.environ else [])

    def _daemon_path(self, program):
        return self.build / "services" / SERVICES[program].folder / f"alidade-{program}"

    def daemon(self, program):
        found = self._daemon_path(program)
        if not found.exists():
            raise FileNotFoundError(f"{found}: not built")
        return found

    def programs(self, on_demand=False):
        """Those daemons that this build has: those that always run, or those that the bus starts on demand."""
        return [program for program, service in SERVICES.items()
                if service.on_demand == on_demand and self._daemon_path(program).exists()]

    @property
    def client(self):
        return self.build / "clients/alidadectl/alidadectl"

    @property
    def helpers(self):
        """The folder of the programs that telemetryd runs."""
        return self.build / "services/telemetry"

    def probe(self, kind):
        return self.build / f"probes/{kind}/alidade-probe-{kind}"

    @property
    def mosquitto_plugin(self):
        """What mosquitto loads on a broker; it is built without sanitizers."""
        return self.build / "services/broker/alidade-mosquitto.so"

    @functools.cache
    def bus_policies(self):
        return policies_below(self.folders())

    @functools.cache
    def policy_users(self):
        """Users that its bus policies name: they must exist, or dbus-daemon drops the rule."""
        text = "".join(path.read_text() for path in self.bus_policies())
        return sorted(set(re.findall(r'<policy\s+user="([^"]+)"', text)) - {"root"})

    @functools.cache
    def group_members(self):
        """(user, group) of the m lines of sysusers.d: what units rely on to read."""
        text = "".join(path.read_text() for path in self.source.glob("services/*.sysusers"))
        return re.findall(r"^m\s+(\S+)\s+(\S+)", text, re.MULTILINE)

    @functools.cache
    def polkit_policies(self):
        """Its action files; a generated one lies in the build directory."""
        found = {}
        for folder in self.folders():
            for path in sorted(folder.glob("polkit/*.policy")):
                found.setdefault(path.name, path)
        return list(found.values())


UNDER_TEST = Version()


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


def only_without_sanitizers(reason):
    """Skips the test under sanitizers, with which it takes too long, and leaves it to the other run."""
    if sanitized():
        raise Unavailable(f"runs without sanitizers, {reason}")


def client_binary():
    return UNDER_TEST.client


def mosquitto_plugin():
    return UNDER_TEST.mosquitto_plugin


def bus_policies():
    return UNDER_TEST.bus_policies()


def interface_xml(name):
    """The contract's XML of an interface, such as org.alidade.Identity1; that of the state service is made."""
    return next(folder / "dbus-interfaces" / f"{name}.xml" for folder in UNDER_TEST.folders()
                if (folder / "dbus-interfaces" / f"{name}.xml").exists()).read_text()
