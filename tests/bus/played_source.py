# SPDX-License-Identifier: LGPL-2.1-or-later
"""The services that measure, played."""

from bedlib import StandIn, interface_xml
from state_service import PROPERTIES, interface, path_encode, shown, variants

UPDATED = 1_700_000_000_000_000
LINK_PROBE = "org.alidade.LinkProbe1"
LINK_PROBE_PATH = "/org/alidade/LinkProbe1"
# Until the service that measures links brings its own.
LINK_PROBE_POLICY = f"""<policy user="root"><allow own="{LINK_PROBE}"/></policy>
<policy context="default"><allow send_destination="{LINK_PROBE}"/></policy>"""
OBJECT_MANAGER = "org.freedesktop.DBus.ObjectManager"
OBJECT_MANAGER_XML = f"""<node><interface name="{OBJECT_MANAGER}">
  <method name="GetManagedObjects"><arg type="a{{oa{{sa{{sv}}}}}}" direction="out"/></method>
</interface></node>"""
KIND = "Link1.Socket"


class Source:
    """A source played: an interface of it is exported with its first record."""

    def __init__(self, host, name="Telemetry1"):
        self.name, self.path = f"org.alidade.{name}", f"/org/alidade/{name}"
        self.connection = host.new_connection()
        self.exported = {}

    def own(self):
        self.connection.own(self.name)
        return self

    def export(self, kind, updated=UPDATED, **fields):
        name = interface(kind)
        values = {**shown(kind, fields), "Revision": 1, "UpdatedUSec": updated}
        self.exported[name] = StandIn(self.connection, self.path, interface_xml(name), {name: values})
        return self

    def send(self, kind, updated=UPDATED, **fields):
        self.exported[interface(kind)].change(interface(kind), **fields, UpdatedUSec=updated)

    def send_raw(self, kind, values):
        self.connection.emit(self.path, PROPERTIES, "PropertiesChanged", "sa{sv}as", (interface(kind), values, []))


class LinkProbe:
    """The service that measures links: an object for each result."""

    def __init__(self, host):
        self.connection = host.new_connection()
        self.exported = {}
        self._manager = StandIn(self.connection, LINK_PROBE_PATH, OBJECT_MANAGER_XML, {},
                                {"GetManagedObjects": lambda: (self._objects(),)})

    def own(self):
        self.connection.own(LINK_PROBE)
        return self

    def _objects(self):
        return {path: self._properties(standin) for path, standin in self.exported.items()}

    @staticmethod
    def _properties(standin):
        return {interface(kind): variants(kind, {name: value for name, value in standin.values[interface(kind)].items()
                                                 if name not in ("Revision", "UpdatedUSec")})
                for kind in (KIND, "Link1.Rdma") if interface(kind) in standin.values}

    def tell(self, source, sink, address, announced=True, **fields):
        """A result: an object that is new, or says something else from now on."""
        self._tell(KIND, f"{sink},{address}", announced,
                   {"Source": source, "Sink": sink, "SinkAddress": address, **fields})

    def _tell(self, kind, key, announced, fields):
        path, name = f"{LINK_PROBE_PATH}/link/{path_encode(key)}", interface(kind)
        record = {**shown(kind, fields), "Revision": 1, "UpdatedUSec": UPDATED}
        if path in self.exported:
            self.exported[path].change(name, **record)
            return
        self.exported[path] = StandIn(self.connection, path, interface_xml(name), {name: record})
        if announced:
            self.connection.emit(LINK_PROBE_PATH, OBJECT_MANAGER, "InterfacesAdded", "oa{sa{sv}}",
                                 (path, self._properties(self.exported[path])))

    def tell_rdma(self, source, source_port, sink, sink_port, **fields):
        """The same over RDMA."""
        self._tell("Link1.Rdma", f"{source_port},{sink},{sink_port}", True,
                   {"Source": source, "Sink": sink, "SourcePort": source_port, "SinkPort": sink_port, **fields})

    def change(self, sink, address, **fields):
        """Only what is named is in the signal."""
        path = f"{LINK_PROBE_PATH}/link/{path_encode(f'{sink},{address}')}"
        self.exported[path].change(interface(KIND), **fields)

    def withdraw(self, sink, address):
        path = f"{LINK_PROBE_PATH}/link/{path_encode(f'{sink},{address}')}"
        self.exported.pop(path).close()
        self.connection.emit(LINK_PROBE_PATH, OBJECT_MANAGER, "InterfacesRemoved", "oas", (path, [interface(KIND)]))

    def close(self):
        self.connection.close()
