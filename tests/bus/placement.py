# SPDX-License-Identifier: LGPL-2.1-or-later
"""A cluster of played records to place models on, and the calls of org.alidade.Placement1."""

from gi.repository import Gio, GLib

from bedlib.variants import Typed, pack
from bedlib.waiting import wait_until
from state_service import Cluster, node_id, record

PLACEMENT, PATH = "org.alidade.Placement1", "/org/alidade/Placement1"
GIB = 2 ** 30
MEASURED = 1_700_000_000_000_000
FAST, SLOW, FAR = node_id(1), node_id(2), node_id(3)
WORKLOAD = {"Layers": Typed("t", 32), "LayerBytes": Typed("t", GIB // 2), "ActivationElements": Typed("t", 4096)}


def node(number, name, *, free=64 * GIB, bandwidth=100, tflops=10.0, memory=24 * GIB, used=0, measured=True):
    """The records of a node with a GPU of its own memory and a processor."""
    rates = {"MemoryBandwidthBytesPerSecond": bandwidth * 10 ** 9, "TflopsFp16": tflops, "MeasuredUSec": MEASURED}
    slow = {**rates, "MemoryBandwidthBytesPerSecond": 20 * 10 ** 9, "TflopsFp16": 0.5}
    return [
        record(number, "Node1.Identity", FriendlyName=name, HostName=f"{name}.example"),
        record(number, "Node1.Memory", TotalBytes=free, AvailableBytes=free),
        record(number, "Node1.Backends", Devices=[
            {"Id": "0000:01:00.0", "Class": "gpu", "Name": "GPU", "Vendor": "NVIDIA Corporation",
             "MemoryTotalBytes": memory},
            {"Id": "cpu", "Class": "cpu", "Name": "CPU", "Unified": True}]),
        record(number, "Node1.System", Devices=[{"Id": "0000:01:00.0", "MemoryUsedBytes": used}]),
        record(number, "Node1.Compute", Devices=[{"Id": "0000:01:00.0", **rates}, {"Id": "cpu", **slow}]
               if measured else [])]


def link(source, sink, address, rate=10 ** 10, rtt=100_000, down=None, port="eth0", seq=1):
    """With port None, the interfaces are unknown."""
    ports = {"SourceInterface": port, "SinkInterface": port} if port else {}
    return record(source, "Link1.Socket", seq=seq, key=f"{sink},{address}", Source=source, Sink=sink,
                  SinkAddress=address, **ports, UploadBitsPerSecond=rate, DownloadBitsPerSecond=down or rate,
                  RttP50NSec=rtt, MeasuredUSec=MEASURED)


def network(number, *addresses, **envelope):
    return record(number, "Node1.Network", **envelope, Interfaces=[
        {"Id": f"eth{place}", "Type": "ethernet", "Addresses": [f"{address}/24"], "Carrier": True}
        for place, address in enumerate(addresses)])


def play(host):
    """Two GPUs joined by 10 Gb/s, and one that nobody has measured a path to."""
    played = Cluster(host)
    played.online(FAST, SLOW, FAR)
    played.take(*node(FAST, "fast", bandwidth=900), *node(SLOW, "slow", bandwidth=100), *node(FAR, "far"),
                network(FAST, "192.0.2.1"), network(SLOW, "192.0.2.2"), network(FAR, "192.0.2.3"),
                link(FAST, SLOW, "192.0.2.2"))
    return played


class Plan:
    """What Plan() returns, by the names of its arguments."""

    def __init__(self, returned):
        (self.plan, self.stages, self.hops, self.alternatives, self.left_out, self.sensitivities,
         self.constants) = returned

    def layers(self):
        return {f"{stage['NodeName']}/{stage['Device']}": stage["Layers"] for stage in self.stages
                if stage["Alternative"] == 0}

    def reason(self, name, device="0000:01:00.0"):
        return next(row["Reason"] for row in self.left_out
                    if row.get("NodeName") == name and row.get("Device") == device)


def call(host, workload=None, user=None, **options):
    return host.call(PLACEMENT, PATH, PLACEMENT, "Plan", "a{sv}a{sv}", ({**WORKLOAD, **(workload or {})}, options),
                     user)


def plan(host, workload=None, engine="llama.cpp", **options):
    return Plan(call(host, workload, Engine=Typed("s", engine), **options))


class Asked:
    """A call of Plan() that is under way."""

    def __init__(self, connection, engine="llama.cpp"):
        self.outcome = None
        self._connection = connection
        connection.gio.call(PLACEMENT, PATH, PLACEMENT, "Plan",
                            pack("(a{sv}a{sv})", (WORKLOAD, {"Engine": Typed("s", engine)})), None,
                            Gio.DBusCallFlags.NONE, 60000, None, self._done)

    def _done(self, _, result):
        try:
            self._connection.gio.call_finish(result)
            self.outcome = "planned"
        except GLib.Error as error:
            self.outcome = Gio.DBusError.get_remote_error(error)

    def wait(self):
        wait_until(lambda: self.outcome, "the end of a call of Plan()")
        return self.outcome
