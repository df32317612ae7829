# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines that start from one image, and those that have no disk, by the commands of alidade-cluster(7)."""

import contextlib
import json
import re
import shutil

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.machine import Machine
from bedlib.node import node_id
from bedlib.services import SOURCE, client_binary
from enrol_seat import Seat, common_name, openssl, serial

pytestmark = needs_namespaces
MANUAL = SOURCE / "clients/cluster/alidade-cluster.7"
PREPARE = """
mount -t tmpfs none /var/lib
mount -t tmpfs none /var/cache
rm -rf /etc/alidade /etc/mosquitto
mkdir -p /var/lib/alidade /var/lib/dbus /var/cache/alidade /etc/alidade /etc/mosquitto/conf.d
echo "include_dir /etc/mosquitto/conf.d" >/etc/mosquitto/mosquitto.conf
"""


def documented(heading):
    """The examples of a section of the manual, as one would type or write them."""
    section = re.split(rf"^\.SS {heading}$", MANUAL.read_text(), flags=re.MULTILINE)[1].split("\n.SS ")[0]
    found = re.findall(r"^\.EX\n(.*?)^\.EE$", section, re.MULTILINE | re.DOTALL)
    return [example.replace("\\-", "-").replace("\\(aq", "'") for example in found]


COMMANDS, FSTAB = documented("Images and diskless nodes")


class Node:
    """A machine whose files lie where the packages have them."""

    def __init__(self, stack, name, machine_id=None):
        self.machine = Machine(name, isolated=True)
        if machine_id:
            self.machine.machine_id = machine_id
        stack.enter_context(self.machine)
        self.machine.add_members([("root", "alidade-tls")])
        self.machine.run(["sh", "-ec", PREPARE])

    def sh(self, script, **options):
        environment = {"ALIDADE_BUS_ADDRESS": "unix:path=/nonexistent", "ALIDADE_CONFIG_DIR": "/etc/alidade",
                       "PATH": f"{client_binary().parent}:/usr/sbin:/usr/bin:/sbin:/bin"}
        return self.machine.run(["sh", "-ec", script], env=environment, **options).stdout

    def path(self, name):
        return self.machine.root / "etc/alidade/cluster" / name

    @property
    def status(self):
        return json.loads(self.sh("alidadectl cluster status --json"))["Files"]

    def join(self, first, *words):
        request = self.sh(" ".join(["alidadectl cluster join --request", *words]))
        bundle = first.cluster("sign", *words[:1], text_in=request).stdout
        return self.sh("alidadectl cluster join --accept", text_in=bundle)


@pytest.fixture
def stack():
    with contextlib.ExitStack() as opened:
        yield opened


def keys(node):
    return {path.read_text() for path in (node.machine.root / "etc/alidade").rglob("*.key")}


def test_nodes_of_one_image_are_different_ones(stack, machine, first):
    """Item 19: of a machine that is a node and a broker, the documented commands make an image without anything that is
    its own; two machines that start from it have other ids and keys, and both join."""
    model = Node(stack, "model")
    model.join(first, "--broker", "--address=192.0.2.9")
    model.sh("mkdir -p /var/lib/alidade/identity; echo name >/var/lib/alidade/identity/friendly-name")
    own_id, own_keys = model.status["NodeId"], keys(model)
    assert len(own_keys) == 2
    for _ in range(2):  # what is an image already stays as it is
        model.sh("\n".join(line.removeprefix("# ") for line in COMMANDS.splitlines()))
    image = machine.dir / "image"
    image.mkdir()
    model.sh(f"cp -a --parents /etc/machine-id /etc/alidade /etc/mosquitto {image}")
    assert not model.machine.run(["sh", "-c", "ls -A /var/lib/alidade /var/cache/alidade /var/lib/dbus"],
                                 check=False).stdout.replace("/var/lib/dbus:", "").strip()
    text = b"".join(path.read_bytes() for path in image.rglob("*") if path.is_file()).decode()
    assert "PRIVATE KEY" not in text and "CERTIFICATE" not in text and "192.0.2" not in text
    assert (image / "etc/machine-id").read_text() == ""

    nodes = [Node(stack, f"copy{i}") for i in range(2)]
    for node in nodes:
        # The first boot: systemd fills the machine id, here from the kernel's source of random numbers.
        node.sh(f"rm -rf /etc/alidade /etc/mosquitto; cp -a {image}/etc/. /etc; test ! -s /etc/machine-id;"
                " tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id")
        assert "ClusterName" not in node.status
        node.join(first)
    ids = {own_id, *(node.status["NodeId"] for node in nodes)}
    assert len(ids) == 3 and not keys(nodes[0]) & keys(nodes[1]) and not own_keys & (keys(nodes[0]) | keys(nodes[1]))
    assert {common_name(node.path("node.crt")) for node in nodes} == ids - {own_id}


def test_a_node_without_a_disk_is_the_same_after_each_boot(stack, machine, first):
    """Item 19: with the documented lines of fstab; all else is empty when it starts again."""
    persistent = machine.dir / "persistent"
    for folder in ("config", "state"):
        (persistent / "alidade" / folder).mkdir(parents=True)
    machine_id = "5" * 32

    def boot(name):
        node = Node(stack, name, machine_id)
        node.sh("cat >/run/fstab", text_in=FSTAB.replace("/persist/", f"{persistent}/"))
        node.sh("mount --all --fstab /run/fstab")
        return node

    one = boot("boot1")
    assert one.status["NodeId"] == node_id(machine_id) and "ClusterName" not in one.status
    one.join(first)
    other = Seat(machine, "other")
    bundle = first.cluster("sign", text_in=other.cluster("join", "--request").stdout).stdout
    other.cluster("join", "--accept", text_in=bundle)
    first.cluster("revoke", other.id)
    one.sh(f"mkdir /var/lib/alidade/cluster; cp {first.path('crl.pem')} /var/lib/alidade/cluster")
    before, number, key = one.status, serial(one.path("node.crt")), keys(one)
    one.machine.close()

    two = boot("boot2")
    assert two.status == before and serial(two.path("node.crt")) == number and keys(two) == key
    assert two.status["NodeId"] == node_id(machine_id) and two.status["ClusterName"] == "lab"
    assert "1 certificate revoked" in two.sh("alidadectl cluster install-crl")
    assert "There was nothing to do" in two.join(first)
    openssl("verify", "-CAfile", two.path("ca.crt"), "-CRLfile", two.path("crl.pem"), "-crl_check",
            two.path("node.crt"))
    shutil.rmtree(persistent)
    assert "ClusterName" not in Node(stack, "boot3", machine_id).status, "nothing else keeps it"
