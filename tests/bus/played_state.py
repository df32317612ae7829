# SPDX-License-Identifier: LGPL-2.1-or-later
"""A state service played by the test, for what the real one does not do: thousands of nodes, hostile values,
replies of the wrong shape."""

import time

from gi.repository import GLib

from bedlib import BusError, StandIn, interface_xml
from bedlib.variants import Typed, pack

NAME = "org.alidade.State1"
PATH = "/org/alidade/State1"
OBJECT_MANAGER = "org.freedesktop.DBus.ObjectManager"
PROPERTIES = "org.freedesktop.DBus.Properties"
LIMITS_EXCEEDED = "org.freedesktop.DBus.Error.LimitsExceeded"

OBJECT_MANAGER_XML = f"""<node><interface name="{OBJECT_MANAGER}">
  <method name="GetManagedObjects"><arg type="a{{oa{{sa{{sv}}}}}}" direction="out"/></method>
</interface></node>"""

ABSENT = {"t": 2 ** 64 - 1, "x": -2 ** 63, "d": float("nan"), "s": ""}

TOTALS = {"Nodes": 0, "Links": 0, "TflopsFp16": float("nan"), "TflopsFp16LeftOut": 0,
          "MemoryBandwidthBytesPerSecond": ABSENT["t"], "MemoryBandwidthOf": "",
          "MemoryTotalBytes": 128 * 1024 ** 3, "DeviceMemoryTotalBytes": ABSENT["t"], "Hidden": 0,
          "RefusedRecords": 0, "RefusedSignals": 0}


def variant(name, value):
    """The value as the D-Bus type that such a field has."""
    if isinstance(value, (GLib.Variant, Typed)):
        return value
    if isinstance(value, bool):
        return Typed("b", value)
    if isinstance(value, str):
        return Typed("s", value)
    if isinstance(value, float):
        return Typed("d", value)
    if isinstance(value, int):
        return Typed("x" if name.endswith(("MilliCelsius", "OffsetUSec")) else "t", value)
    if value and isinstance(value[0], str):
        return Typed("as", value)
    return Typed("aa{sv}", [fields(row) for row in value])


def fields(values):
    return {name: variant(name, value) for name, value in values.items()}


def now():
    return int(time.time() * 1e6)


def node_path(node_id):
    return f"{PATH}/node/{node_id}"


NO_TOPOLOGY = pack("(ttba(ssa{sv})a(tssssssssa{sv})asat)", (1, 0, True, [], [], [], []))
NO_PAIRS = pack("(ttba(sssa{sv})a(ss))", (1, 0, True, [], []))


class PlayedState:
    """nodes is {id: {kind: {field: value}}}; change it by set(), update() and remove(), which emit."""

    def __init__(self, connection, node_id, nodes=None, findings=(), totals=None):
        self.connection = connection
        self.nodes = {}
        self.findings = list(findings)
        self.handlers = {
            "GetFindings": lambda: ([fields(row) for row in self.findings],),
            "GetRecords": self._records,
            "DescribeRecords": lambda *_: self._no_descriptions(),
            "Subscribe": lambda: (),
            "Unsubscribe": lambda: (),
            "GetManagedObjects": lambda: (self._managed_objects(),),
            "GetTopology": lambda since, after: NO_TOPOLOGY,
            "GetPairs": lambda since, after: NO_PAIRS,
        }
        self.page = 1000
        for node, kinds in (nodes or {}).items():
            for kind, values in kinds.items():
                self.nodes.setdefault(node, {})[kind] = {"Revision": 1, "UpdatedUSec": now(), **values}
        values = {**TOTALS, "NodeId": node_id, "Nodes": len(self.nodes), **(totals or {})}
        self.state = StandIn(connection, PATH, interface_xml(NAME), {NAME: values}, self.handlers)
        self.state.emit = self._emit
        self.manager = StandIn(connection, PATH, OBJECT_MANAGER_XML, {}, self.handlers)

    def _emit(self, *signal):
        """To all, and to each subscriber."""
        for destination in (None, *{call.sender for call in self.calls("Subscribe")}):
            self.connection.emit(*signal, destination=destination)

    def own(self):
        self.connection.own(NAME)
        return self

    def disown(self):
        self.connection.call_bus("ReleaseName", "s", (NAME,))

    def calls(self, method):
        return [call for call in self.state.calls + self.manager.calls if call.method == method]

    def _managed_objects(self):
        return {node_path(node): {f"org.alidade.{kind}": fields(values) for kind, values in kinds.items()}
                for node, kinds in self.nodes.items()}

    def _records(self, _kind, after, _most):
        ids = sorted(self.nodes)
        begin = int(after or 0)
        records = [(node, kind, "", 1, 1, values["UpdatedUSec"], False,
                    fields({name: value for name, value in values.items() if name not in ("Revision", "UpdatedUSec")}))
                   for node in ids[begin:begin + self.page] for kind, values in self.nodes[node].items()]
        following = begin + self.page
        return records, str(following) if following < len(ids) else ""

    @staticmethod
    def _no_descriptions():
        """Refuses it, as an older service does, so that clients fall back to structs."""
        raise BusError("org.freedesktop.DBus.Error.UnknownMethod", "no such method")

    def refuse_whole_map(self):
        """As the real one does where the reply would be too long."""
        def too_long():
            raise BusError(LIMITS_EXCEEDED, "too long")
        self.handlers["GetManagedObjects"] = too_long

    def set(self, node, kind, values):
        """A record that is new."""
        record = {"Revision": 1, "UpdatedUSec": now(), **values}
        self.nodes.setdefault(node, {})[kind] = record
        self._emit(PATH, OBJECT_MANAGER, "InterfacesAdded", "oa{sa{sv}}",
                   (node_path(node), {f"org.alidade.{kind}": fields(record)}))

    def update(self, node, kind, **values):
        """Fields that change."""
        record = self.nodes[node][kind]
        record.update(values, UpdatedUSec=now())
        self.emit_changed(node, kind, {**values, "UpdatedUSec": record["UpdatedUSec"]})

    def emit_changed(self, node, kind, values, invalidated=()):
        self._emit(node_path(node), PROPERTIES, "PropertiesChanged", "sa{sv}as",
                   (f"org.alidade.{kind}", fields(values), list(invalidated)))

    def remove(self, node, *kinds):
        for kind in kinds:
            del self.nodes[node][kind]
        if not self.nodes[node]:
            del self.nodes[node]
        self.emit_removed(node, *kinds)

    def emit_removed(self, node, *kinds):
        self._emit(PATH, OBJECT_MANAGER, "InterfacesRemoved", "oas",
                   (node_path(node), [f"org.alidade.{kind}" for kind in kinds]))

    def set_totals(self, **values):
        self.state.change(NAME, **values)

    def close(self):
        self.state.close()
        self.manager.close()


GPU = "0000:01:00.0"


def sample_node(name="atlas", **identity):
    """A machine that knows everything about itself."""
    gib = 1024 ** 3
    return {
        "Node1.Identity": {"FriendlyName": name, "ModelId": "ThinkStation P5", "ChipId": "Xeon w5-2565X",
                           "Vendor": "Lenovo", "Chassis": "desktop", "Hypervisor": "",
                           "OperatingSystem": "Debian GNU/Linux 12 (bookworm)", "KernelRelease": "6.1.0-18-amd64",
                           "Architecture": "x86_64", "BootId": "0" * 32, **identity},
        "Node1.Memory": {"TotalBytes": 64 * gib, "AvailableBytes": 16 * gib, "SwapTotalBytes": 0,
                         "SwapAvailableBytes": 0, "PressureSome10": 0.0, "PressureFull10": 0.0},
        "Node1.System": {"CpuUsage": 12.5, "TemperatureMilliCelsius": 45000, "PowerMicroWatts": 65_000_000,
                         "Devices": [{"Id": GPU, "PowerState": "active", "Usage": 33.0, "MemoryUsedBytes": 12 * gib,
                                      "TemperatureMilliCelsius": 61000, "PowerMicroWatts": 220_000_000,
                                      "ClockHz": 2_520_000_000}]},
        "Node1.Backends": {"Devices": [{"Id": GPU, "Class": "gpu", "Name": "RTX 4090", "Vendor": "NVIDIA",
                                        "Driver": "nvidia", "MemoryTotalBytes": 24 * gib, "Unified": False}]},
        "Node1.Network": {"Interfaces": [
            {"Id": "lo", "Type": "loopback", "Addresses": ["127.0.0.1/8", "::1/128"], "Carrier": True},
            {"Id": "eth0", "Type": "ethernet", "HardwareAddress": "52:54:00:12:34:56", "Carrier": True,
             "Addresses": ["192.0.2.1/24", "2001:db8::1/64", "fe80::1/64"],
             "SpeedBitsPerSecond": 25_000_000_000, "Mtu": 9000}], "Neighbours": []},
        "Node1.Disk": {"Paths": [{"Id": "/", "TotalBytes": 400 * gib, "AvailableBytes": 100 * gib}]},
        "Node1.Compute": {"Devices": [{"Id": GPU, "GemmTflops": 165.2, "TflopsFp16": 165.2,
                                       "MemoryBandwidthBytesPerSecond": 940_000_000_000}]},
    }
