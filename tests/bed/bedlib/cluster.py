# SPDX-License-Identifier: LGPL-2.1-or-later
"""Several hosts on one bridge that form a cluster: nodes, brokers, and the network between them."""

import sys
import time

from . import network
from .enrolment import enrol
from .errors import BedFailure
from .machine import Machine
from .node import LINK, Node
from .peer import Peer
from .pki import Authority
from .waiting import wait_steadily

BRIDGE = "br0"
CATCH_UP = 20.0
READER = "e" * 32


class Cluster:
    """Use it as a context manager, or by the fixture make_cluster. Nodes are numbered from 0 here; their
    names and addresses from 1 (node1, 10.77.0.1).

    brokers   which nodes run mosquitto; all nodes have them in this order in their configuration
    enrolled  False leaves the nodes without certificates; else .first keeps the keys of the cluster
    links     whether link-probed runs, which keeps the machine busy for some seconds for each pair of nodes
    shapes    what each node sends and receives, in bits per second, before it measures anything
    programs  the daemons to start, instead of all that are built
    options   of every node, as of Node and Host; options_of={1: {…}} for one of them
    """

    def __init__(self, count=3, brokers=(0,), *, name="bed", enrolled=True, links=False, shapes=(),
                 programs=None, options_of=None, **options):
        options.setdefault("service_users", True)
        self.name = name
        self.switch = Machine("switch", isolated=True)
        self.nodes = [Node(i + 1, name, **{**options, **(options_of or {}).get(i, {})}) for i in range(count)]
        self.brokers = [self.nodes[i] for i in brokers]
        self.first = None
        self.start_seconds = None
        self._enrolled = enrolled
        self._shapes = shapes
        self._programs = programs
        self._links = links

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def start(self):
        begun = time.monotonic()
        self.switch.start()
        network.add_bridge(self.switch, BRIDGE)
        for node in self.nodes:
            node.start()
            node.plug_in(self.switch, BRIDGE)
        for node, shape in zip(self.nodes, self._shapes):
            self.shape(node, *shape)
        for node in self.brokers:
            node.add_broker()
        if self._enrolled:
            self.first = enrol(self)
            for node in self.brokers:
                node.broker.start(wait=False)
        for node in self.nodes:
            node.start_daemons(self._programs_of(node))
        for node in self.nodes:
            node.wait_ready()
        if self._enrolled:
            for node in self.brokers:
                node.broker.wait_ready()
        self.start_seconds = time.monotonic() - begun

    def _programs_of(self, node):
        if self._programs is not None:
            return self._programs
        return [name for name in node.version.programs() if self._links or name != "link-probed"]

    def close(self):
        """Takes all down, and then tells of whatever misbehaved."""
        problems = []
        for machine in (*reversed(self.nodes), self.switch):
            try:
                machine.close()
            except BedFailure as failure:
                problems.append(str(failure))
        if problems:
            raise BedFailure("\n".join(problems))

    def logs(self):
        return "".join(node.logs() for node in self.nodes if node.dir is not None)

    def __exit__(self, kind, error, trace):
        if kind is not None:
            print(self.logs(), file=sys.stderr)
        try:
            self.close()
        except BedFailure:
            if kind is None:
                raise

    def ca_files(self):
        """Paths of the certificate and key of its authority."""
        folder = self.first.dir / "config/cluster"
        return folder / "ca.crt", folder / "ca/ca.key"

    # The network

    def shape(self, node, up, down):
        """What the node sends and what it receives goes at these rates from now on, in bits per second."""
        network.shape(node, LINK, up)
        network.shape(self.switch, node.name, down)

    def partition(self, *groups):
        """Each group of nodes reaches its own members only; who is in none of them stays where it is."""
        for number, group in enumerate(groups, 1):
            network.add_bridge(self.switch, f"part{number}", [node.name for node in group])

    def heal(self):
        """All on one bridge again."""
        for node in self.nodes:
            network.ip(self.switch, "link", "set", node.name, "master", BRIDGE)
        for link in (self.switch.root / "sys/class/net").glob("part*"):
            network.delete_link(self.switch, link.name)

    # What brokers and nodes know

    def retained(self, broker, topic):
        """{topic: payload} of what the broker keeps below that filter, told to somebody with a certificate of his
        own: of two clients with that of a node the broker puts one out."""
        keys = self.first.dir / "reader"
        if not keys.with_suffix(".crt").exists():
            Authority(self.first.dir / "reader-ca", existing=self.ca_files()).issue(keys, READER, "clientAuth")
        with Peer(broker, broker, keys) as reader:
            reader.subscribe(topic, qos=0)
            reader.fence()
            return {name: payload.decode() for name, payload, kept in reader.messages if kept}

    def wait_presence(self, observer, node, state, **options):
        observer.wait_presence(node, state, **options)

    def wait_online(self, nodes=None, deadline=CATCH_UP):
        """Each of these nodes sees each other one online, and listens: who was away for a moment stays online."""
        nodes = nodes or self.nodes
        for observer in nodes:
            wait_steadily(observer.has_broker, lambda node=observer: f"{node.name} to reach a broker", deadline, 0.05)
            for node in nodes:
                observer.wait_presence(node, "online", deadline=deadline)

    def wait_until(self, predicate, what, deadline=CATCH_UP):
        """For what is asked of several nodes."""
        return wait_steadily(predicate, what, deadline, 0.05)

    def wait_digest_equal(self, kind="", nodes=None, deadline=CATCH_UP):
        """All these nodes know the same; returns the digest. Memory and System hold still only where the
        nodes have a sysroot of their own."""
        nodes = nodes or self.nodes

        def equal():
            digests = {node.digest(kind) for node in nodes}
            return digests.pop() if len(digests) == 1 else None

        return wait_steadily(equal, lambda: f"equal digests: {[node.digest(kind) for node in nodes]}",
                             deadline, 0.1)
