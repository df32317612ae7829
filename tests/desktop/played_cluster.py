# SPDX-License-Identifier: LGPL-2.1-or-later
"""A cluster that the test plays, with every kind of edge, and the program that looks at it."""

from bedlib import StandIn
from bedlib.connection import PROPERTIES
from played_link_probe import PlayedLinkProbe
from played_state import PATH, PlayedState, fields, now, sample_node
from test_alidadectl_links_played import edge, encode, link, put_links, topology_of

STATE = "org.alidade.State1"
GIGABIT = 10 ** 9
NAMES = ("atlas", "borealis", "cygnus", "draco", "eridanus", "fornax", "gemini", "hydra", "indus", "lyra", "mensa",
         "norma", "orion", "pavo", "reticulum", "sagitta", "taurus", "ursa", "vela", "virgo", "volans", "scutum",
         "puppis", "pictor")
IDENTITY_XML = """<node><interface name="org.alidade.Identity1">
  <method name="SetFriendlyName"><arg name="Name" type="s" direction="in"/></method></interface></node>"""
CLUSTER_XML = """<node><interface name="org.alidade.Cluster1">
  <method name="Forget"><arg name="NodeId" type="s" direction="in"/></method></interface></node>"""


def node_id(number):
    return f"{number + 0xa1:032x}"


ME, PEER, THIRD = (node_id(number) for number in range(3))


def node(name, presence="online", **more):
    """A machine as others know it."""
    state = {"State": presence, **({"SinceUSec": now() - 400 * 10 ** 6} if presence != "online" else {})}
    return {**sample_node(name), "Node1.Presence": state, **more}


def nodes_named(*names):
    return {node_id(number): node(name) for number, name in enumerate(names)}


TRIO_EDGES = (
    edge(ME, PEER, 9_410_000_000), edge(PEER, ME, 9_380_000_000), edge(ME, THIRD, 196_000_000),
    edge(THIRD, ME, 48_200_000), edge(PEER, THIRD, None), edge(THIRD, PEER, None),
    edge(ME, PEER, 97_300_000_000, Kind="rdma", Transport="roce", SourcePort="mlx5_0.1", SinkPort="mlx5_1.1",
         RttP50NSec=3400),
    edge(PEER, ME, 96_100_000_000, Kind="rdma", Transport="roce", SourcePort="mlx5_1.1", SinkPort="mlx5_0.1",
         RttP50NSec=3400))
TRIO_LINKS = {(ME, f"{PEER},192.0.2.2"): link(PEER),
              (ME, f"{THIRD},192.0.2.3"): link(THIRD, up=196_000_000, down=48_200_000, SinkAddress="192.0.2.3")}
TRIO_FINDINGS = (
    {"Id": "link-asymmetric", "Severity": "warning", "Nodes": [ME, THIRD], "Names": ["atlas", "cygnus"],
     "UploadBitsPerSecond": 196_000_000, "DownloadBitsPerSecond": 48_200_000, "Text": "asymmetric", "Remedy": "look"},
    {"Id": "disk-nearly-full", "Severity": "error", "Nodes": [ME], "Names": ["atlas"], "Path": "/",
     "AvailableBytes": 10 ** 8, "TotalBytes": 10 ** 12, "Text": "full", "Remedy": "delete"})
ABSENT = 2 ** 64 - 1
# What PlayedState does not say of itself.
NO_TOTALS = {"NodesLeftOut": 0, "TflopsFp16LeftOutReasons": {}, "MemoryBandwidthLeftOut": 0,
             "MemoryBandwidthLeftOutReasons": {}, "MemoryAvailableBytes": ABSENT, "DeviceMemoryAvailableBytes": ABSENT,
             "DeviceMemoryUnread": 0, "PowerMicroWatts": ABSENT, "NodesPowerUnread": 0, "NodesPowerOfParts": 0}
TRIO_TOTALS = {"Links": 2, "TflopsFp16": 495.6, "TflopsFp16LeftOut": 1,
               "MemoryBandwidthBytesPerSecond": 2_820_000_000_000, "MemoryBandwidthOf": "gpu",
               "MemoryTotalBytes": 192 * 1024 ** 3, "MemoryAvailableBytes": 48 * 1024 ** 3}


def many_edges(n):
    """Between all pairs of n nodes, with a few that are slow one way."""
    return tuple(edge(node_id(a), node_id(b), 3_000_000_000 if (a * 7 + b) % 11 == 0 and a < b else 9_400_000_000)
                 for a in range(n) for b in range(n) if a != b)


class Played:
    """nodes, edges, links, findings and totals as of PlayedState; by default three nodes with edges of all kinds.

    probe    whether there is a link-probe service as well
    wait     False returns before the program shows the cluster
    args     of the program
    options  of DesktopSession.start_program()
    """

    def __init__(self, host, desktop, nodes=None, *, edges=None, links=None, findings=None, totals=None, probe=False,
                 wait=True, args=(), **options):
        self.host, self.desktop = host, desktop
        trio = nodes is None
        self.nodes = nodes_named("atlas", "borealis", "cygnus") if trio else nodes
        self.edges = TRIO_EDGES if trio and edges is None else edges or ()
        self.links = dict(TRIO_LINKS) if trio and links is None else links or {}
        self.findings = TRIO_FINDINGS if trio and findings is None else findings or ()
        self.totals = {**NO_TOTALS, **(TRIO_TOTALS if trio else {}), "Nodes": len(self.nodes), **(totals or {})}
        self._with_probe, self._wait, self._args, self._options = probe, wait, args, options
        self.state = self.probe = self.program = None
        self.services = []
        self.revision = 7

    def start(self):
        self.state = self.play_state()
        if self._with_probe:
            self.probe = PlayedLinkProbe(self.host.connection()).own()
        self.program = self.start_program(*self._args, **self._options)
        if self._wait:
            self.program.focus()
            if self.nodes:
                self.wait_shown(next(iter(self.nodes.values()))["Node1.Identity"]["FriendlyName"])

    def play_state(self):
        state = PlayedState(self.host.connection(), ME, self.nodes, findings=self.findings, totals=self.totals).own()
        put_links(state, self.links)
        self.set_graph(self.edges, state)
        return state

    def start_program(self, *args, **options):
        return self.desktop.start_program(self.host.bus.address, *args, **options)

    def wait_shown(self, name, **options):
        """The card of a node, or what stands for it."""
        return self.program.wait_for_text(name, **options)

    def set_graph(self, edges, state=None):
        """Sets another graph and emits TopologyChanged."""
        state = state or self.state
        self.edges = edges
        topology, pairs = topology_of(self.nodes, edges)
        state.handlers["GetTopology"] = lambda since, after: topology
        state.handlers["GetPairs"] = lambda since, after: pairs
        if self.state:
            self.tell("TopologyChanged")

    def fail_graph(self, error):
        """From now on the graph cannot be read."""
        def refuse(since, after):
            raise error

        self.state.handlers["GetTopology"] = self.state.handlers["GetPairs"] = refuse
        self.tell("TopologyChanged")

    def tell(self, signal):
        self.revision += 1
        self.state.state.emit(PATH, STATE, signal, "t", (self.revision,))

    def set_findings(self, findings):
        self.state.findings = list(findings)
        self.tell("FindingsChanged")

    def set_presence(self, node, presence):
        """As the state service tells it."""
        since = {"SinceUSec": now() - 40 * 10 ** 6} if presence != "online" else {}
        self.state.update(node, "Node1.Presence", State=presence, **since)

    def add_node(self, number, name):
        """A node that comes; returns its id."""
        found = node_id(number)
        self.nodes[found] = node(name)
        for kind, values in self.nodes[found].items():
            self.state.set(found, kind, values)
        self.set_graph(self.edges)
        return found

    def remove_node(self, found):
        self.state.remove(found, *list(self.state.nodes[found]))
        del self.nodes[found]
        self.set_graph([row for row in self.edges if found not in (row["Source"], row["Sink"])])

    def change_link(self, key, **values):
        """A figure of a link, in the table of links."""
        source, name = key
        path = f"{PATH}/link/socket/{source}/{encode(name)}"
        self.state.connection.emit(path, PROPERTIES, "PropertiesChanged", "sa{sv}as",
                                   ("org.alidade.Link1.Socket", fields(values), []))

    def serve(self, xml, name, **handlers):
        """One more service, of one method."""
        path = f"/org/alidade/{name}"
        service = StandIn(self.host.connection(), path, xml, {}, handlers)
        self.host.connection().own(f"org.alidade.{name}")
        self.services.append(service)
        return service

    def close(self):
        for one in (*self.services, self.probe, self.state):
            if one:
                one.close()
