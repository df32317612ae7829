# SPDX-License-Identifier: LGPL-2.1-or-later
"""Brokers that Avahi finds on the network, with a real avahi-daemon on each of two hosts."""

import os

import pytest

from bedlib import Machine, build_dir, network, wait_until
from bedlib.avahi import Avahi
from bedlib.fixtures import needs_namespaces
from bedlib.node import CLUSTER
from bedlib.waiting import wait_steadily

pytestmark = needs_namespaces


class Finder:
    """sample-discovery, which looks for the brokers of cluster bed."""

    def __init__(self, host):
        self._output, stdout = os.pipe()
        self.process = host.spawn([build_dir() / "tests/bed/sample-discovery"], "sample-discovery", stdout=stdout,
                                  env={"ALIDADE_SAMPLE_CLUSTER": "bed",
                                       "DBUS_SYSTEM_BUS_ADDRESS": host.system_bus.address,
                                       "ALIDADE_BUS_ADDRESS": host.bus.address})
        os.close(stdout)
        os.set_blocking(self._output, False)
        self.text = ""

    def close(self):
        os.close(self._output)

    def _read(self):
        try:
            while chunk := os.read(self._output, 1 << 16):
                self.text += chunk.decode()
        except BlockingIOError:
            pass

    @property
    def told(self):
        self._read()
        return [set(line.split("\t")[1:]) for line in self.text.splitlines()]

    def wait_for(self, *addresses, after=0, deadline=20):
        """Once these are what is found."""
        wait_until(lambda: set(addresses) in self.told[after:][-1:],
                   lambda: f"{addresses}, not {self.told}\n{self.process.log_text()}", deadline, [self._output])


@pytest.fixture
def net(make_host):
    """Two hosts on a bridge; made(**options) starts Avahi on the second and a finder on the first."""
    with Machine("switch", isolated=True) as switch:
        network.add_bridge(switch, "br0")
        hosts = [make_host(f"host{i}", isolated=True, strict_bus=False) for i in (1, 2)]
        for number, host in enumerate(hosts, 1):
            network.join_bridge(switch, "br0", host, "eth0", f"192.0.2.{number}/24")
        yield hosts


@pytest.fixture
def finder(net):
    finder = Finder(net[0])
    yield finder
    finder.process.stop()
    finder.close()
    for words in ("CRITICAL", "ERROR: ", "WARNING"):
        assert words not in finder.process.log_text()


def avahi(host, **options):
    return Avahi(host, host.system_bus, host.connection(bus=host.system_bus), **options)


def test_found_and_gone(net, finder):
    here, there = (avahi(host, ipv6=False) for host in net)
    there.start()
    here.start()
    finder.wait_for()
    there.announce("bed")
    finder.wait_for("192.0.2.2")
    # Another broker on the same host, and one of another cluster.
    there.announce("other", 8885, "Other on %h", "other")
    there.announce("bed", 8884, "Second on %h", "second")
    finder.wait_for("192.0.2.2", "192.0.2.2:8884")
    there.withdraw("second")
    finder.wait_for("192.0.2.2")
    assert not any("192.0.2.2:8885" in found for found in finder.told)
    there.withdraw()
    finder.wait_for()


def test_avahi_comes_and_goes(net, finder):
    here, there = (avahi(host, ipv6=False) for host in net)
    there.announce("bed")
    there.start()
    here.start()
    finder.wait_for("192.0.2.2")
    before = len(finder.told)
    here.kill()
    here.start()
    finder.wait_for("192.0.2.2", after=before)


def test_link_local(net, finder):
    """Where there are no other addresses, one that means something on one interface only."""
    here, there = (avahi(host, ipv4=False) for host in net)
    there.announce("bed", 8884)
    there.start()
    here.start()
    address = net[1].run(["ip", "-6", "-o", "address", "show", "dev", "eth0", "scope", "link"]).stdout.split()[3]
    finder.wait_for(f"[{address.split('/')[0]}%eth0]:8884")


def test_many(net, finder):
    """No more than the limit is told, however many claim to be brokers."""
    here, there = (avahi(host, ipv6=False) for host in net)
    for number in range(40):
        there.announce("bed", 9000 + number, f"Broker {number:02}", f"broker{number}")
    there.start()
    here.start()
    wait_until(lambda: finder.told and len(finder.told[-1]) == 32, lambda: str(finder.told[-1:]), 30,
               [finder._output])
    assert max(map(len, finder.told)) == 32


def test_node_without_addresses(make_cluster):
    """A node that is told no broker finds the one that its certificate proves to be of the cluster."""
    cluster = make_cluster(2, strict_bus=False, programs=("stated", "clusterd"))
    one, two = cluster.nodes
    one.wait_presence(two, "online")
    drop_in = two.dir / "config/alidade.conf.d/50-cluster.conf"
    drop_in.write_text("[cluster]\nname=bed\ndiscovery=true\n")
    two.reload("clusterd")
    one.wait_presence(two, "stale")
    here, there = (avahi(node, ipv6=False) for node in (two, one))
    # Not every broker of that name is one of ours: nothing listens there.
    there.announce("bed", 8884, "A false one on %h", "false")
    there.announce("bed")
    there.start()
    here.start()
    one.wait_presence(two, "online", deadline=30)

    def rows():
        return {row["Address"]: row for row in two.call(*CLUSTER, "GetBrokers")}

    false = f"{one.address}:8884"
    wait_steadily(lambda: rows().keys() == {one.address, false}, lambda: f"both brokers among {rows()}")
    found = rows()[one.address]
    assert (found["Source"], found["State"], found["Publishing"]) == ("avahi", "connected", True)
    assert rows()[false]["State"] != "connected"
