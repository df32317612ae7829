# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of faults do to the nodes of a cluster, and how they look at what each of them knows."""

import contextlib
import json
import re
import time

from bedlib import network
from bedlib.node import CLUSTER, LINK, STATE

LONG = 60.0
SOCKET = "Link1.Socket"
IDENTITY = "Node1.Identity"
NETWORK = "Node1.Network"


@contextlib.contextmanager
def measured(what, goal):
    """Prints how long the block took: what is aimed at is no reason to fail on a busy machine."""
    begun = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - begun:.3f} s (goal {goal} s)")


def quiet(make_cluster, count=3, brokers=(0, 1), **options):
    """Nodes whose values hold still unless a test changes them."""
    return make_cluster(count, brokers=brokers, sysroot=True, config="[telemetry]\ndisk-interval-s=3600\n",
                        **options)


# Records that change and go

def rename(node, name):
    """Changes a record of the node, as its administrator would."""
    node.call("org.alidade.Identity1", "/org/alidade/Identity1", "org.alidade.Identity1", "SetFriendlyName",
              "s", (name,))


def name_at(observer, node):
    return observer.records(IDENTITY).get((node.id, IDENTITY, ""), [{}])[-1].get("FriendlyName")


def wait_name(cluster, node, name, observers=None):
    """Until these nodes, or all, know the name of the node."""
    observers = observers or cluster.nodes
    cluster.wait_until(lambda: all(name_at(observer, node) == name for observer in observers),
                       lambda: f"{name}: {[name_at(observer, node) for observer in observers]}", LONG)


def link_row(source, sink, deleted):
    fields = {"Source": source.id, "Sink": sink.id, "SinkAddress": sink.address, "SourceInterface": LINK,
              "UploadBitsPerSecond": 10 ** 9}
    return {"node": source.id, "kind": SOCKET, "key": link_key(sink), "epoch": 1, "seq": 1,
            "updated": time.time_ns() // 1000, "deleted": deleted, **({} if deleted else {"fields": fields})}


def link_key(sink):
    return f"{sink.id},{sink.address}"


def keep_result(node, *rows):
    """Nothing measures in the bed, so results are put among what the state service keeps over a restart."""
    node.process("stated").stop()
    path = node.state_directory("stated") / "state.json"
    kept = json.loads(path.read_text())
    places = {(row["kind"], row["key"]) for row in rows}
    others = [row for row in kept["records"] if (row["kind"], row["key"]) not in places]
    path.write_text(json.dumps({**kept, "records": [*others, *rows]}))
    node.restart("stated")


def set_link(source, sink, there=True):
    """A measured link of the node comes or goes."""
    keep_result(source, link_row(source, sink, not there))


def has_link(observer, source, sink):
    row = observer.records(SOCKET).get((source.id, SOCKET, link_key(sink)))
    return row is not None and not row[2]


def wait_link(cluster, source, sink, there=True, observers=None):
    observers = observers or cluster.nodes
    cluster.wait_until(lambda: all(has_link(observer, source, sink) == there for observer in observers),
                       lambda: f"link of {source.name} {'there' if there else 'gone'}: "
                               f"{[has_link(observer, source, sink) for observer in observers]}", LONG)


def without_plugin(broker):
    """The configuration of a broker that does as it likes."""
    return re.sub("^plugin .*$", "", (broker.config / "conf.d/alidade.conf").read_text(), flags=re.MULTILINE)


def add_interface(node, name):
    network.ip(node, "link", "add", name, "type", "bridge")


def has_interface(observer, node, name):
    row = observer.records(NETWORK).get((node.id, NETWORK, ""))
    return row is not None and any(found.get("Id") == name for found in row[3].get("Interfaces", ()))


def wait_interface(cluster, node, name, there=True, observers=None):
    observers = observers or cluster.nodes
    cluster.wait_until(lambda: all(has_interface(observer, node, name) == there for observer in observers),
                       f"{name} of {node.name} {'there' if there else 'gone'}", LONG)


# What a node knows

def known(observer):
    """{(node, kind, key): fields} of all that travels and is not deleted."""
    return {where: fields for where, (_, _, deleted, fields) in observer.records().items()
            if not deleted and where[1] != "Node1.Presence"}


def wait_same(cluster, *nodes):
    """Until these nodes, or all, know the same; a failure tells the difference."""
    one, *others = nodes or cluster.nodes
    for other in others:
        cluster.wait_until(lambda: known(one) == known(other), lambda: difference(one, other), LONG)


def difference(one, other):
    found, also = known(one), known(other)
    places = sorted(place for place in {*found, *also} if found.get(place) != also.get(place))
    return "\n".join(f"{place}: {one.name} has {found.get(place)}\n{other.name} has {also.get(place)}"
                     for place in places)


def joins_late(node):
    """The node knows nothing yet of the cluster but what brokers keep."""
    node.process("clusterd").stop()
    node.restart("stated")
    node.restart("clusterd")


def see(observer, node, state, act=lambda: None):
    """Does something, and returns as soon as clients of the observer are told this state of the node."""
    with observer.log_presences() as log:
        act()
        path = f"{STATE[1]}/node/{node.id}"
        if observer.presence(node) != state:
            log.wait(lambda told: told.path == path and told.args[1].get("State") == state, LONG)


def broker_states(node):
    """{address: state} as the node sees the brokers."""
    return {row["Address"]: row["State"] for row in node.call(*CLUSTER, "GetBrokers")}


def wait_broker(cluster, node, broker, state):
    cluster.wait_until(lambda: broker_states(node).get(broker.address) == state,
                       lambda: f"{state} {broker.address}: {broker_states(node)}", LONG)


def retained_topics(cluster, broker):
    """What the broker keeps, below the name of the cluster."""
    return [topic.split("/", 3)[3] for topic in cluster.retained(broker, "alidade/1/#")]


def keep_values(node, *words):
    """Has the broker of the node keep over a restart what it holds, as no broker does that Alidade set up."""
    path = node.broker.config / "conf.d/alidade.conf"
    path.write_text(path.read_text().replace("persistence false", "\n".join(["persistence true", *words])))
    node.broker.stop()
    node.broker.start()


def standby_was_used(cluster):
    """All is said to the standby, too, since the first broker was away for a moment."""
    first, second = cluster.brokers
    first.broker.kill()
    for node in cluster.nodes:
        cluster.wait_until(lambda: publishing(node) == second.address, "the standby", LONG)
    rename(first, "at the standby")
    wait_name(cluster, first, "at the standby")
    first.broker.start()
    for node in cluster.nodes:
        cluster.wait_until(lambda: publishing(node) == first.address, "the first broker", LONG)


def publishing(node):
    """The address of the broker to which the node publishes."""
    return next((row["Address"] for row in node.call(*CLUSTER, "GetBrokers") if row["Publishing"]), None)
