# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulated hosts with real parts, for tests and benchmarks. Start reading at host.py."""

import gi

gi.require_version("Gio", "2.0")

from .cluster import Cluster  # noqa: E402
from .connection import BusError, Connection  # noqa: E402
from .errors import BedFailure, Timeout, Unavailable  # noqa: E402
from .host import Host  # noqa: E402
from .machine import Machine, can_isolate  # noqa: E402
from .objects import ObjectTree  # noqa: E402
from .parts import Lldpd, NetworkManager, Polkit, Hostnamed  # noqa: E402
from .services import SERVICES, SOURCE, build_dir, interface_xml  # noqa: E402
from .signals import SignalLog  # noqa: E402
from .standin import StandIn  # noqa: E402
from .sysroot import FakeRoot  # noqa: E402
from .waiting import wait_until  # noqa: E402

__all__ = ["BedFailure", "BusError", "Cluster", "Connection", "FakeRoot", "Host", "Hostnamed", "Lldpd",
           "Machine", "NetworkManager", "ObjectTree", "Polkit", "SERVICES", "SOURCE", "SignalLog", "StandIn",
           "Timeout", "Unavailable", "build_dir", "can_isolate", "interface_xml", "wait_until"]
