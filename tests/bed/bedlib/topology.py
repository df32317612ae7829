# SPDX-License-Identifier: LGPL-2.1-or-later
"""The connection graph of a state service, by name."""

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "dbus-interfaces"


def _row_names():
    """{argument: the names of the fields that each of its rows has}, as the interface says."""
    spec = importlib.util.spec_from_file_location("schema", FOLDER / "schema.py")
    schema = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(schema)
    interface, = schema.load(FOLDER / "org.alidade.State1.xml.in")
    return {rows.name: [field.name for field in rows.row_fields[:len(rows.fixed)]]
            for member in interface.members if member.name in ("GetTopology", "GetPairs") for rows in member.rows}


ROW_NAMES = _row_names()


class Topology:
    """What GetTopology() and GetPairs() return, all pages of them: nodes by id, edges, and pairs by both ids, as
    {field: value}. `call` makes a call: call("GetTopology", "tt", (since, after))."""

    def __init__(self, call, since=0):
        self.nodes, self.edges, self.pairs = {}, [], {}
        self.gone_nodes, self.gone_edges, self.gone_pairs = [], [], []
        self.revision, self.whole, self.n_pages = None, None, 0
        by_id = {}
        for nodes, edges, *gone in self._pages(call, "GetTopology", since):
            self.n_pages += 1
            for row in self._rows("Nodes", nodes):
                self.nodes[row["Node"]] = row
            by_id |= {row["Id"]: row for row in self._rows("Edges", edges)}
            self.gone_nodes += gone[0]
            self.gone_edges += gone[1]
        for pairs, gone in self._pages(call, "GetPairs", since):
            for row in self._rows("Pairs", pairs):
                self.pairs[row["Node"], row["Peer"]] = row
            self.gone_pairs += gone
        self.edges = list(by_id.values())

    def _pages(self, call, method, since):
        after = 0
        while True:
            revision, after, whole, *rows = call(method, "tt", (since, after))
            if self.revision is None:
                self.revision, self.whole = revision, whole
            yield rows
            if after == 0:
                return

    @staticmethod
    def _rows(argument, rows):
        for *fixed, others in rows:
            yield {name: value for name, value in zip(ROW_NAMES[argument], fixed, strict=True) if value != ""} | others

    def find(self, source=None, sink=None, **fields):
        """The edges of these."""
        wanted = {**({"Source": source} if source else {}), **({"Sink": sink} if sink else {}), **fields}
        return [edge for edge in self.edges if wanted.items() <= edge.items()]

    def presences(self, **fields):
        """The presences of these edges, each once."""
        return {edge["Presence"] for edge in self.find(**fields)}
