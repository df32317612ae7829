# SPDX-License-Identifier: LGPL-2.1-or-later
"""link-probed on a machine with RDMA ports: as far as sysfs and the records of both nodes tell, and with a probe that
does as it is told."""

from gi.repository import GLib

from bedlib.services import build_dir
from link_probe import ADDRESS, LINK_PROBE, PATH, PEER, LinkProbe

RDMA = "org.alidade.Link1.Rdma"
PORT, PEER_PORT = "rxe0.1", "mlx5_0.1"
NET_DEV = "Inter-|\n face |\n    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
FIGURES = {"SourcePort": PORT, "SinkPort": PEER_PORT, "MessageBytes": 65536, "QueuePairs": 1, "Mtu": 1024,
           "NegotiatedBitsPerSecond": 1_000_000_000}


def port(name, state="active", gids=("0 rocev2 fe80::1 lan0",)):
    return {"Id": name, "LinkLayer": "ethernet", "State": state, "Gids": list(gids), "Interface": "lan0"}


class RdmaProbe(LinkProbe):
    """.sys is the folder of the port in sysfs; real: alidade-probe-rdma itself measures."""

    sys = "sys/class/infiniband/rxe0/ports/1"

    def __init__(self, make_host, ports=(PORT,), due=False, behaviour="good", real=False, **options):
        self.ports, self.rdma_due, self.does, self.real = ports, due, behaviour, real
        super().__init__(make_host, sysroot=True, **options)

    def start(self):
        if not self.process:
            sysroot = self.host.sysroot
            sysroot.write("proc/net/dev", NET_DEV)
            for name in self.ports:
                folder = "sys/class/infiniband/{}/ports/{}".format(*name.rsplit(".", 1))
                sysroot.write(f"{folder}/rate", "1 Gb/sec (1X SDR)\n")
                sysroot.write(f"{folder}/gid_attrs/ndevs/0", "lan0\n")
            self.probe.does(self.does, **FIGURES)
            if self.real:
                program = self.probe.folder / "alidade-probe-rdma"
                program.unlink()
                program.symlink_to(build_dir() / "probes/rdma/alidade-probe-rdma")
            self.state.ports = {self.own_id: [port(name) for name in self.ports], PEER: [port(PEER_PORT)]}
            if self.rdma_due:
                self.make_rdma_due()
        super().start()

    def make_rdma_due(self, source_port=PORT, address=ADDRESS):
        self.state.due.append({"Kind": "Link1.Rdma", "Peer": PEER, "Address": address, "Reason": "never",
                               "SourcePort": source_port, "SinkPort": PEER_PORT})

    def probe_rdma(self, node=PEER, user=None, **options):
        given = {name: GLib.Variant("b" if isinstance(value, bool) else "s", value)
                 for name, value in options.items()}
        return self.call("ProbeRdma", "sa{sv}", (node, given), user=user)

    def rdma_link(self, source_port=PORT):
        return self.record(f"{source_port},{PEER},{PEER_PORT}", RDMA)

    def wait_rdma_link(self):
        self.host.objects(LINK_PROBE, PATH).wait(
            lambda objects: any(RDMA in found for found in objects.values()))
        return self.rdma_link()
