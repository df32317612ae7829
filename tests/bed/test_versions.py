# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clusters whose nodes are upgraded one by one: from an earlier commit to what is under test, and from that to a
version whose contract has grown."""

import re
import time

import pytest

from bedlib import Machine, network, other_versions
from bedlib.fixtures import needs_namespaces
from bedlib.node import CLUSTER, STATE
from bedlib.probe import Keys, Server, measure
from bedlib.services import UNDER_TEST
from fault_tools import LONG, SOCKET, keep_result, link_key, link_row, quiet, rename

pytestmark = needs_namespaces
COMPUTE = "Node1.Compute"
PRESENCE = "Node1.Presence"
DIFFER = "versions-differ"
DROPPED = 120.0  # each record is published every 30 s, and twice until a node is sure
GROWN = other_versions.KIND
DEVICE = {"Id": "0000:01:00.0", "GemmTflops": 7.5}  # one that is gone; an hour after it was measured it is dropped
VERBS = (("status",), ("nodes",), ("links",), ("fabric",), ("findings",), ("cluster", "status"),
         ("--json", "status"), ("--json", "nodes"), ("--json", "findings"))


def contract(version):
    """{kind: names of its fields and of those of its rows} of what travels."""
    found = {}
    for path in version.source.glob("dbus-interfaces/org.alidade.*.xml"):
        kind = path.stem.removeprefix("org.alidade.")
        if kind.startswith(("Node1.", "Link1.")) and kind != PRESENCE:
            found[kind] = set(re.findall(r'<property name="(\w+)"|name="org\.alidade\.Row\.(\w+)"', path.read_text()))
            found[kind] = {name or row_name for name, row_name in found[kind]}
    return found


def state_interface(version):
    """In the source, or in what it is made of."""
    path, = version.source.glob("dbus-interfaces/org.alidade.State1.xml*")
    return path.read_text()


def finding_ids(version):
    """Those of GetFindings() that the version knows."""
    text = state_interface(version)
    return set(re.search(r'name="GetFindings".*?Row\.Id\.Enum"\s+value="([^"]*)"', text, re.DOTALL)[1].split())


def only(names, value):
    """What a version reads of a value that has fields which it does not know."""
    if isinstance(value, dict):
        return {name: only(names, inner) for name, inner in value.items() if name in names}
    return [only(names, inner) for inner in value] if isinstance(value, list) else value


def with_rows(records):
    """An observer shows no rows where an older version does not know of any."""
    return {place: (*stamp, {name: value for name, value in fields.items() if value != []})
            for place, (*stamp, fields) in records.items()}


class Upgrade:
    """A cluster whose nodes go from one version to another. The first node has the broker, where the rights are those
    of the version with which its administrator renewed them."""

    def __init__(self, make_cluster, old, new):
        self.old, self.new = old, new
        self.cluster = quiet(make_cluster, brokers=(0,), version=old)
        self.nodes = self.cluster.nodes
        self.contracts = {version: contract(version) for version in (old, new)}
        self.finding_ids = finding_ids(old) & finding_ids(new)
        self.rights = old
        self.cluster.wait_online()
        self._measure()
        self.check_records()
        self.findings = {node: self.found(node) for node in self.nodes}

    def _measure(self):
        """Each node has a result of each sort that is kept over a restart, and a name that is kept as well."""
        self.device = {**DEVICE, "MeasuredUSec": time.time_ns() // 1000}
        for number, node in enumerate(self.nodes):
            sink = self.nodes[number - 1]
            row = {**link_row(node, sink, False), "kind": COMPUTE, "key": "", "fields": {"Devices": [self.device]}}
            keep_result(node, link_row(node, sink, False), row)
            rename(node, f"name of {node.name}")
        self.cluster.wait_online()

    def install(self, node):
        node.install(self.new)
        if node.broker:
            node.alidadectl("cluster", "renew")
            node.broker.stop()
            node.broker.start()
            self.rights = self.new

    def differ(self):
        return len({node.alidadectl("--version").stdout for node in self.nodes}) > 1

    def expected(self, observer, source):
        """{(kind, key): (epoch, seq, deleted, fields)} that the observer is to know of the source."""
        kinds = self.contracts[observer.version]
        if observer is not source:
            kinds = {kind: names for kind, names in kinds.items() if kind in self.contracts[self.rights]}
        return {place: (*stamp, only(kinds[place[0]], fields)) for place, (*stamp, fields) in
                records_of(source, source).items() if place[0] in kinds}

    def lost(self):
        """What some node lacks of another, or has otherwise."""
        found = []
        for source in self.nodes:
            for observer in self.nodes:
                wanted, known = with_rows(self.expected(observer, source)), with_rows(records_of(observer, source))
                found += [f"{observer.name}: {source.name} {place}: {known.get(place)} for {wanted.get(place)}"
                          for place in sorted({*wanted, *known}) if wanted.get(place) != known.get(place)]
        return found

    def check_records(self):
        self.cluster.wait_until(lambda: not self.lost(), lambda: "\n".join(self.lost()), LONG)
        for number, node in enumerate(self.nodes):
            sink = self.nodes[number - 1]
            own = records_of(node, node)
            assert own[SOCKET, link_key(sink)][-1]["UploadBitsPerSecond"] == 10 ** 9
            assert own[COMPUTE, ""][-1]["Devices"] == [self.device]
            assert own["Node1.Identity", ""][-1]["FriendlyName"] == f"name of {node.name}"

    def found(self, observer):
        """The findings of it that both versions know."""
        return sorted((row["Id"], tuple(sorted(row["Nodes"]))) for row in observer.state("GetFindings")
                      if row["Id"] in self.finding_ids)

    def check_findings(self):
        """Those that were there before, and one more while versions differ."""
        differ = [(DIFFER, tuple(sorted(node.id for node in self.nodes)))] if self.differ() else []
        for node in self.nodes:
            wanted = sorted(self.findings[node] + differ)
            self.cluster.wait_until(lambda node=node, wanted=wanted: self.found(node) == wanted, lambda node=node,
                                    wanted=wanted: f"{node.name}: {self.found(node)} for {wanted}", LONG)

    def check_refusals(self):
        """None; kinds that an older version does not know are counted apart, where the broker lets them through."""
        for observer in self.nodes:
            self.cluster.wait_until(lambda observer=observer: passed_over(observer) == self.unknown(observer),
                                    lambda observer=observer: f"{observer.name}: unknown kinds from "
                                    f"{passed_over(observer)} for {self.unknown(observer)}", LONG)
            assert observer.get(*STATE, "RefusedRecords") == 0
            assert observer.get(*CLUSTER, "RefusedMessages") == 0
            for row in observer.call(*CLUSTER, "GetNodes"):
                assert (row["RefusedMessages"], row.get("Problem")) == (0, None), (observer.name, row)

    def unknown(self, observer):
        """The nodes whose kinds the observer does not all know, as far as the broker lets these through."""
        known, passed = set(self.contracts[observer.version]), set(self.contracts[self.rights])
        return {node.id for node in self.nodes if published(node) & passed - known}

    def check_problems(self):
        """A node notices that the broker drops what its rights do not name yet; it takes a while, so one is asked."""
        dropped = {node: lost for node in self.nodes if (lost := published(node) - set(self.contracts[self.rights]))}
        for node, lost in list(dropped.items())[:1]:
            said = [f"does not pass on records of {kind}" for kind in lost]
            self.cluster.wait_until(lambda node=node, said=said: any(words in problem(node) for words in said),
                                    lambda node=node: f"{node.name}: {problem(node)}", DROPPED)
        for node in self.nodes:
            if node not in dropped:
                self.cluster.wait_until(lambda node=node: problem(node) == "",
                                        lambda node=node: f"{node.name}: {problem(node)}", LONG)

    def check(self):
        self.cluster.wait_online(deadline=LONG)
        self.check_records()
        self.check_findings()
        self.check_refusals()

    def check_clients(self, observer, other):
        """Those of both versions show it all, also where the services are of the other one: they are two packages."""
        verbs = [*VERBS, ("show", other.id), ("--json", "show", other.id)]
        if all(has_graph(version) for version in (self.old, self.new)):
            verbs.append(("topology",))
        for version in (self.old, self.new):
            for words in verbs:
                observer.run([version.client, *words])


def has_graph(version):
    """GetTopology() was made anew, with arguments, when it became the connection graph."""
    return 'name="Since"' in state_interface(version)


def records_of(observer, source):
    """{(kind, key): (epoch, seq, deleted, fields)}"""
    return {(kind, key): row for (node, kind, key), row in observer.records().items()
            if node == source.id and kind != PRESENCE}


def published(node):
    """Its kinds. Of what a version knows, some are published only when there is something to say."""
    return {kind for kind, _ in records_of(node, node)}


def passed_over(observer):
    return {row["Id"] for row in observer.call(*CLUSTER, "GetNodes") if "UnknownKinds" in row}


def problem(node):
    return node.get(*CLUSTER, "Problem")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)], ids=["broker-first", "broker-last"])
@pytest.mark.parametrize("name", ["earlier", "next"])
def test_nodes_are_upgraded_one_by_one(make_cluster, name, order):
    other = other_versions.build(name)
    old, new = (other, UNDER_TEST) if name == "earlier" else (UNDER_TEST, other)
    upgrade = Upgrade(make_cluster, old, new)
    nodes = [upgrade.nodes[number] for number in order]
    for node in nodes:
        upgrade.install(node)
        upgrade.check()
        if node is not nodes[1]:
            upgrade.check_problems()
        if node is nodes[0]:
            for observer in nodes[:2]:
                upgrade.check_clients(observer, nodes[2])
    if name == "next":
        assert all((GROWN, "") in records_of(observer, source) for observer in nodes for source in nodes)


def test_a_node_goes_back_to_an_older_version(make_cluster):
    """It keeps what it knows of what the newer one kept, and the others drop what it does not publish any more."""
    upgrade = Upgrade(make_cluster, other_versions.build("next"), UNDER_TEST)
    node, _, other = reversed(upgrade.nodes)
    assert (GROWN, "") in records_of(other, node)
    upgrade.install(node)
    upgrade.check()
    assert "Dropping 1 saved records" in node.process("stated").log_text()
    assert (GROWN, "") in records_of(other, other)


@pytest.mark.parametrize("name", ["earlier", "next"])
def test_link_probes_of_two_versions_measure_each_other(name, tmp_path):
    other, keys = other_versions.build(name), Keys(tmp_path)
    with Machine("left") as left, Machine("right") as right:
        network.add_veth(left, "eth0", "eth0", right)
        for machine, number in ((left, 1), (right, 2)):
            network.add_address(machine, "eth0", f"192.0.2.{number}/24")
        for ours, theirs in ((UNDER_TEST, other), (other, UNDER_TEST)):
            server = Server(right, f"--key-file={keys.file}", "--bytes-max=20M", version=theirs)
            # A busy machine may leave a spot check too little time, and says so; not each time.
            for tries in range(1, 6):
                found = measure(left, "--connect=192.0.2.2", f"--key-file={keys.file}", "--bytes-max=20M",
                                version=ours)
                assert found["UploadBitsPerSecond"] > 0 and found["DownloadBitsPerSecond"] > 0
                assert found["RttSamples"] > 0
                if "SpotUploadBitsPerSecond" in found:
                    break
                assert "too little arrived" in found["SpotReason"]
            assert found["SpotUploadBitsPerSecond"] > 0
            assert all("error" not in report for report in server.wait_reports(tries))
            server.process.stop()
