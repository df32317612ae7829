# SPDX-License-Identifier: LGPL-2.1-or-later
"""avahi-daemon of a simulated host: it needs the host's system bus and a network that carries multicast."""

from .parts import Part, find_program

CONF = """[server]
use-ipv4={ipv4}
use-ipv6={ipv6}
use-iff-running=no
[wide-area]
enable-wide-area=no
[publish]
publish-hinfo=no
publish-workstation=no
[rlimits]
"""

SERVICE = """<?xml version="1.0" standalone='no'?>
<!DOCTYPE service-group SYSTEM "avahi-service.dtd">
<service-group>
  <name replace-wildcards="yes">{name}</name>
  <service>
    <type>_secure-mqtt._tcp</type>
    <port>{port}</port>
    <txt-record>cluster={cluster}</txt-record>
  </service>
</service-group>
"""


class Avahi(Part):
    """What it announces lies in services/, as on any host; it notices a change by itself."""

    bus_name = "org.freedesktop.Avahi"

    def __init__(self, machine, bus, connection, ipv4=True, ipv6=True):
        self.ipv4, self.ipv6 = ipv4, ipv6
        super().__init__(machine, bus, connection)

    def find(self):
        return find_program("avahi-daemon")

    def prepare(self):
        self.conf = self.machine.dir / "avahi.conf"
        self.conf.write_text(CONF.format(ipv4="yes" if self.ipv4 else "no", ipv6="yes" if self.ipv6 else "no"))
        self.services = self.machine.root / "etc/avahi/services"
        self.services.mkdir(parents=True, exist_ok=True)

    def argv(self):
        return [self.program, "--no-drop-root", "--no-chroot", "--no-rlimits", "-f", self.conf]

    def announce(self, cluster, port=8883, name="Alidade on %h", file="alidade"):
        (self.services / f"{file}.service").write_text(SERVICE.format(cluster=cluster, port=port, name=name))

    def withdraw(self, file="alidade"):
        (self.services / f"{file}.service").unlink()
