# SPDX-License-Identifier: LGPL-2.1-or-later
"""The state service under test: its addresses, its records as Python values, and the cluster service played."""

import contextlib
import math
import os
import re
import sys

import pytest
from gi.repository import Gio, GLib

from bedlib import SOURCE, BusError
from bedlib.connection import DBUS, uid_of
from bedlib.services import only_without_sanitizers, sanitized  # noqa: F401
from bedlib.topology import Topology
from bedlib.variants import Typed, pack
from bedlib.waiting import PATIENCE

sys.path.insert(0, str(SOURCE / "dbus-interfaces"))
import schema  # noqa: E402

STATE = "org.alidade.State1"
PATH = "/org/alidade/State1"
CLUSTER = "org.alidade.Cluster1"
PROPERTIES = "org.freedesktop.DBus.Properties"
OBJECT_MANAGER = "org.freedesktop.DBus.ObjectManager"
RECORDS = "a(ssstttba{sv})"
ACCESS_DENIED = "org.freedesktop.DBus.Error.AccessDenied"
INVALID_ARGS = "org.freedesktop.DBus.Error.InvalidArgs"
LIMITS_EXCEEDED = "org.freedesktop.DBus.Error.LimitsExceeded"
NO_SUCH_NODE = "org.alidade.Error.NoSuchNode"
NO_SUCH_KIND = "org.alidade.Error.NoSuchKind"
AMBIGUOUS_NAME = "org.alidade.Error.AmbiguousName"
NOT_SUBSCRIBED = "org.alidade.Error.NotSubscribed"
MEBI = 1024 * 1024



def sent_kinds():
    """{kind: interface} of what nodes send, in the order in which the records of a node are paged."""
    folder = SOURCE / "dbus-interfaces"
    names = re.findall(r"'(org\.alidade\.(?:Node1|Link1)\.\w+\.xml)'", (folder / "meson.build").read_text())
    return {interface.kind: interface for interface in schema.load_all(folder / name for name in names)
            if not interface.is_local}


KINDS = sent_kinds()
NODE_KINDS = [kind for kind in KINDS if not KINDS[kind].is_link]
# From which services the records of this node come.
IDENTITYD_KINDS = ["Node1.Identity"]
TELEMETRYD_KINDS = ["Node1.Processor", "Node1.Memory", "Node1.System", "Node1.Backends", "Node1.Network", "Node1.Disk"]
SOURCE_OF = {**dict.fromkeys(IDENTITYD_KINDS, "Identity1"), **dict.fromkeys(TELEMETRYD_KINDS, "Telemetry1")}

ABSENT = {"t": 2 ** 64 - 1, "x": -2 ** 63, "s": "", "as": []}


def interface(kind):
    return f"org.alidade.{kind}"


def node_id(number):
    """Ids in the order of their numbers."""
    return f"{number:032x}"


def node_path(node):
    return f"{PATH}/node/{node}"


def path_encode(text):
    """sd_bus_path_encode(3)."""
    return "".join(c if c.isascii() and c.isalnum() and not (i == 0 and c.isdigit()) else f"_{ord(c):02x}"
                   for i, c in enumerate(text)) or "_"


def link_path(kind, source, key):
    return f"{PATH}/link/{'socket' if kind == 'Link1.Socket' else 'rdma'}/{source}/{path_encode(key)}"


# Fields


def is_absent(signature, value):
    if signature == "d":
        return not math.isfinite(value)
    return signature in ABSENT and value == ABSENT[signature]


def known(kind, properties):
    """What a map of that record holds: the properties that are there, and when they were updated."""
    types = {field.name: field.type for field in KINDS[kind].fields}
    return {name: value for name, value in properties.items()
            if name == "UpdatedUSec" or name in types and not is_absent(types[name], value)}


def shown(kind, fields):
    """The other way round: the properties of an object whose record has these fields."""
    absent = {**ABSENT, "d": math.nan, "aa{sv}": []}
    return {field.name: fields.get(field.name, absent[field.type]) for field in KINDS[kind].fields}


def same(left, right):
    """Equality in which NaN is NaN, whatever holds it."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return left == right


def variants(kind, values):
    """{field: value} as a{sv}, with the types of the contract; what has a type of its own keeps it."""
    return typed(KINDS[kind].fields, values)


def typed(fields, values):
    types = {field.name: field for field in fields}
    return {name: value if isinstance(value, (GLib.Variant, Typed)) else variant(types[name], value)
            for name, value in values.items()}


def variant(field, value):
    if field.type == "aa{sv}":
        value = [typed(field.row_fields, row) for row in value]
    return Typed(field.type, value)


def full(kind, node=None, key="", mark=1):
    """A record of the kind in which every field is there; mark makes it another one."""
    fields = sample(KINDS[kind].fields, mark)
    if KINDS[kind].is_link:
        fields["Source"] = node
        fields["Sink"] = key.split(",")[0 if kind == "Link1.Socket" else 1]
    return fields


def sample(fields, mark):
    return {field.name: sample_value(field, mark + place) for place, field in enumerate(fields)}


def sample_value(field, mark):
    if field.enum:
        return field.enum[mark % len(field.enum)]
    return {"s": f"{field.name} {mark}", "t": mark * 1000, "x": -mark * 1000, "d": mark + 0.5, "b": mark % 2 == 1,
            "as": [f"{mark} a", f"{mark} b"],
            "aa{sv}": [sample(field.row_fields, mark + row) for row in range(2)] if field.row else None}[field.type]


def key_for(kind, sink):
    return {"Link1.Socket": f"{sink},192.0.2.7", "Link1.Rdma": f"mlx5_0.1,{sink},rxe0.1"}.get(kind, "")


def record(node, kind="Node1.Memory", *, key="", epoch=1, seq=1, updated=1_700_000_000_000_000, deleted=False,
           **fields):
    """One element of RECORDS; fields are values of the contract's types, or variants of any."""
    known_kind = kind in KINDS
    return (node, kind, key, epoch, seq, updated, deleted, variants(kind, fields) if known_kind else fields)


def memory(node, total=1000, **envelope):
    return record(node, TotalBytes=total, **envelope)


def full_record(kind, node, sink=None, mark=1, **envelope):
    key = key_for(kind, sink)
    return record(node, kind, key=key, **envelope, **full(kind, node, key, mark))


class Cluster:
    """The cluster service, played by a connection that owns its name."""

    def __init__(self, host, connection=None):
        self.connection = connection or host.new_connection("alidade-cluster" if host.isolated else None)
        self.connection.own(CLUSTER)

    def put(self, *records, **options):
        """How many were accepted, how many refused."""
        return self.connection.call(STATE, PATH, STATE, "PutRecords", RECORDS, (list(records),), **options)

    def presences(self, *presences):
        """The same of (node, state, since, clock offset, announced epoch), and the epoch that the node is at."""
        return self.connection.call(STATE, PATH, STATE, "PutPresences", "a(sstxtt)",
                                    ([(*row, 0) if len(row) == 5 else row for row in presences],))

    def online(self, *nodes):
        """So that they count."""
        assert self.presences(*((node, "online", 1, -2 ** 63, 0) for node in nodes)) == (len(nodes), 0)

    def take(self, *records):
        """Puts records that must all be accepted."""
        assert self.put(*records) == (len(records), 0)

    def refused(self, *records):
        """Puts records that must all be refused, and be counted."""
        before = self.connection.get(STATE, PATH, STATE, "RefusedRecords")
        assert self.put(*records) == (0, len(records))
        assert self.connection.get(STATE, PATH, STATE, "RefusedRecords") == before + len(records)

    def close(self):
        self.connection.close()


# Calls


def call(host, method, signature="", args=(), user=None, **options):
    return host.call(STATE, PATH, STATE, method, signature, args, user, **options)


def topology(host, since=0):
    return Topology(lambda *words: call(host, *words), since)


def get(host, name):
    return host.get(STATE, PATH, STATE, name)


def managed(host, **options):
    return host.call(STATE, PATH, OBJECT_MANAGER, "GetManagedObjects", **options)


def ours(objects):
    """Without the interfaces that sd-bus adds to every object."""
    return {path: {name: properties for name, properties in found.items() if name.startswith("org.alidade.")}
            for path, found in objects.items()}


def local_id(host):
    return get(host, "NodeId")


def pages(host, kind="", size=0, method="GetRecords"):
    """All pages, each a list of records."""
    after, result = "", []
    while True:
        if method == "GetRecords":
            records, after = call(host, method, "sst", (kind, after, size))
        else:
            records, after = call(host, method, "st", (after, size))
        result.append(records)
        if not after:
            return result


@contextlib.contextmanager
def fails_with(name, case=""):
    with pytest.raises(BusError) as error:
        yield error
    assert error.value.name == name, f"{case}: {error.value}"


# Until the cluster service brings its own.
CLUSTER_POLICY = f"""<policy user="alidade-cluster"><allow own="{CLUSTER}"/></policy>"""


def start(make_host, *daemons, **options):
    """A host with the state service, and what else is asked for."""
    host = make_host(**{"sysroot": True, "bus_policy": CLUSTER_POLICY, **options})
    for daemon in (*daemons, "stated"):
        host.start_daemon(daemon)
    return host


def memory_of(process):
    """Resident bytes of a process, now."""
    with open(f"/proc/{process.outer_pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    raise AssertionError(f"{process} has no memory")


# Many records


class Wire:
    """A connection of its own making that sends messages made beforehand: GDBus would spend longer on marshalling
    them than the service on taking them in. It reads only when asked to."""

    def __init__(self, host, user=None):
        self._unsent = b""
        self._socket, self._lifeline = host.connect(host.bus.socket, user)
        self._socket.settimeout(60 * PATIENCE)
        uid = str(uid_of(host, user) if user else os.geteuid())
        self._socket.sendall(b"\0AUTH EXTERNAL " + uid.encode().hex().encode() + b"\r\n")
        assert self._socket.recv(1000).startswith(b"OK ")
        self._socket.sendall(b"BEGIN\r\n")
        self.unique_name = self.call(blob(*DBUS, "Hello")).unpack()[0]

    def fileno(self):
        return self._socket.fileno()

    def send(self, message):
        self._socket.sendall(message)

    def try_send(self, message):
        """Sends it as far as the bus takes it now; while it takes nothing, what comes next is not sent at all."""
        self._unsent = self._unsent or message
        self._socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            self._unsent = self._unsent[self._socket.send(self._unsent):]
        self._socket.settimeout(60 * PATIENCE)

    def read(self, size):
        """So many bytes."""
        parts = []
        while size > 0:
            parts.append(self._socket.recv(min(size, MEBI)))
            assert parts[-1], "the bus has closed the connection"
            size -= len(parts[-1])
        return b"".join(parts)

    def message(self):
        """The next one of any type."""
        head = self.read(16)
        return Gio.DBusMessage.new_from_blob(
            head + self.read(Gio.DBusMessage.bytes_needed(head) - len(head)), Gio.DBusCapabilityFlags.NONE)

    def reply(self):
        """The body of the next reply, past whatever else arrives before it."""
        while True:
            message = self.message()
            if message.get_message_type() == Gio.DBusMessageType.ERROR:
                raise BusError(message.get_error_name(), message.get_arg0())
            if message.get_message_type() == Gio.DBusMessageType.METHOD_RETURN:
                return message.get_body()

    def call(self, message):
        self.send(message)
        return self.reply()

    def signals_until(self, is_last):
        """All signals up to the one for which is_last() is true."""
        messages = []
        while not messages or not is_last(messages[-1]):
            message = self.message()
            if message.get_message_type() == Gio.DBusMessageType.SIGNAL:
                messages.append(message)
        return messages

    def close(self):
        if self._lifeline >= 0:
            self._socket.close()
            os.close(self._lifeline)
            self._lifeline = -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def blob(destination, path, name, member, body=None, serial=1):
    """The bytes of a method call; calls under way at the same time need serials of their own."""
    message = Gio.DBusMessage.new_method_call(destination, path, name, member)
    message.set_serial(serial)
    if body is not None:
        message.set_body(body)
    return message.to_blob(Gio.DBusCapabilityFlags.NONE)


class Batches:
    """PutRecords calls for the records of `count` nodes each: made once, then the ids in it are replaced.

    make(id) gives the records of one node.
    """

    def __init__(self, make, count):
        records = [found for number in range(count) for found in make(self.node(-1, number))]
        self.size = len(records)
        self._blob = blob(STATE, PATH, STATE, "PutRecords", pack(f"({RECORDS})", (records,)))

    @staticmethod
    def node(batch, number):
        """The nodes of a batch share the first 24 digits of their ids."""
        return f"{batch % 2 ** 96:024x}{number:08x}"

    def message(self, batch):
        return self._blob.replace(b"f" * 24, f"{batch:024x}".encode())


class WireCluster(Wire):
    """The cluster service, for many records."""

    def __init__(self, host):
        super().__init__(host, "alidade-cluster" if host.isolated else None)
        assert self.call(blob(*DBUS, "RequestName", GLib.Variant("(su)", (CLUSTER, 4)))).unpack() == (1,)

    def put(self, message):
        return self.call(message).unpack()
