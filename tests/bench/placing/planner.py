# SPDX-License-Identifier: LGPL-2.1-or-later
"""Alidade's own plan for a cluster of which measured figures are played to the state service."""

import json
import os
import shlex
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
GIB = 1 << 30


class Planner:
    """A bus with the state and the placement service, for one cluster."""

    def __init__(self, build):
        os.environ["ALIDADE_BUILD"] = str(build)
        for folder in ("bed", "bus"):
            if str(TESTS / folder) not in sys.path:
                sys.path.insert(0, str(TESTS / folder))
        import state_service
        from bedlib import Host
        self.service = state_service
        self.host = state_service.start(lambda **options: Host(**options).__enter__(), activation=("placementd",))
        self.cluster = state_service.Cluster(self.host)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.host.__exit__(*error)

    def tell(self, mesh, processors, paths, free):
        """Plays what was measured, and the free bytes of each host; None for a processor that was not."""
        ids = [self.service.node_id(index + 1) for index in range(len(processors))]
        self.cluster.online(*ids)
        for index, node in enumerate(ids):
            self.cluster.take(*self._host(mesh, index, node, processors[index], free[index]))
        for (one, other), found in paths.items():
            there = {"UploadBitsPerSecond": found["UploadBitsPerSecond"],
                     "DownloadBitsPerSecond": found["DownloadBitsPerSecond"]}
            back = {"UploadBitsPerSecond": found["DownloadBitsPerSecond"],
                    "DownloadBitsPerSecond": found["UploadBitsPerSecond"]}
            for source, sink, rates in (one, other, there), (other, one, back):
                address = mesh.address(sink, source)
                self.cluster.take(self.service.record(
                    ids[source], "Link1.Socket", key=f"{ids[sink]},{address}", Source=ids[source], Sink=ids[sink],
                    SinkAddress=address, SourceInterface=f"eth{sink}", SinkInterface=f"eth{source}",
                    RttP50NSec=found["RttP50NSec"], MeasuredUSec=found["MeasuredUSec"], **rates))

    def _host(self, mesh, index, node, processor, free):
        known = self.service.KINDS["Node1.Compute"].fields[0].row_fields
        rows = [{field.name: processor[field.name] for field in known if field.name in processor}] if processor else []
        peers = [peer for peer in range(len(mesh.names)) if peer != index]
        record = self.service.record
        return [
            record(node, "Node1.Identity", FriendlyName=f"host{index}", HostName=f"host{index}.example"),
            record(node, "Node1.Memory", TotalBytes=max(free, 64 * GIB), AvailableBytes=free),
            record(node, "Node1.Backends", Devices=[
                {"Id": "cpu", "Class": "cpu", "Name": "CPU", "Unified": True}]),
            record(node, "Node1.Compute", Devices=rows),
            record(node, "Node1.Network", Interfaces=[
                {"Id": f"eth{peer}", "Type": "ethernet", "Addresses": [f"{mesh.address(index, peer)}/30"],
                 "Carrier": True} for peer in peers])]

    def ring(self, size):
        """Plans an all-reduce of this many bytes, a multiple of 1024: the hosts in the order of their ranks, and the
        seconds that it takes."""
        report = self.place("--engine=mpi", f"--message-bytes={size // 1024}KiB")
        return [host_of(stage["Node"]) for stage in report["Stages"] if stage["Alternative"] == 0], \
            report["Plan"]["StepNSec"] / 1e9

    def place(self, *words):
        """The report of alidadectl."""
        done = self.host.alidadectl("place", "--json", *words, check=False)
        if not done.stdout:
            raise SystemExit(f"alidadectl place {' '.join(words)}: {done.stderr}")
        return json.loads(done.stdout)

    def llama_options(self, report, model):
        """Those that the export gives to llama-server, but for what benchmarks of llama.cpp do not know."""
        plan = self.host.dir / "plan.json"
        plan.write_text(json.dumps(report), encoding="utf-8")
        text = self.host.alidadectl("export", "llama.cpp", f"--plan={plan}", f"--model={model}", "--force").stdout
        words = shlex.split(text.replace("\\\n", ""), comments=True)
        words = words[words.index("llama-server") + 1:]
        at = words.index("--cache-ram")
        return words[:at] + words[at + 2:]


def host_of(node):
    """The index of the host with that id, as tell() gives them."""
    return int(node, 16) - 1
