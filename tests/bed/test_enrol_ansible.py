# SPDX-License-Identifier: LGPL-2.1-or-later
"""The example for Ansible, run by Debian's ansible-core over real ssh."""

import json
import re
import shutil

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.services import SOURCE, client_binary
from enrol_seat import Seat, Ssh, openssl

pytestmark = [needs_namespaces, pytest.mark.skipif(not shutil.which("ansible-playbook"),
                                                   reason="ansible-core is not installed")]
PLAYBOOK = SOURCE / "examples/ansible/cluster.yml"
RECAP = re.compile(r"^(\w+) +: ok=\d+ +changed=(\d+) +unreachable=(\d+) +failed=(\d+)", re.MULTILINE)


class Fleet:
    """Four machines of an inventory, each behind an sshd of its own."""

    def __init__(self, machine):
        self.machine = machine
        self.seats = {name: Seat(machine, name) for name in ("first", "second", "third", "fourth")}
        self.hosts = {}
        for port, (name, seat) in enumerate(self.seats.items(), 2222):
            ssh = Ssh(seat, port)
            ssh.start()
            self.hosts[name] = {"ansible_host": "127.0.0.1", "ansible_port": port, "ansible_user": "root",
                                "ansible_ssh_executable": str(ssh.dir / "bin/ssh"),
                                "ansible_python_interpreter": "/usr/bin/python3"}
        self.hosts["first"]["alidade_addresses"] = ["127.0.0.1"]
        self.hosts["second"] |= {"alidade_addresses": ["192.0.2.2"], "alidade_broker": True}

    def run(self, nodes, *words, check=True):
        """Runs the playbook for the first machine and these."""
        inventory = self.machine.dir / "inventory.json"
        inventory.write_text(json.dumps({"all": {
            "vars": {"alidade_cluster": "lab", "alidade_broker": False, "alidade_addresses": [],
                     "alidadectl": str(client_binary())},
            "children": {"alidade_first": {"hosts": {"first": self.hosts["first"]}},
                         "alidade_nodes": {"hosts": {name: self.hosts[name] for name in nodes}}}}}))
        home = self.machine.dir / "home"
        home.mkdir(exist_ok=True)
        return self.machine.run(
            ["ansible-playbook", "-i", inventory, PLAYBOOK, *words], deadline=240, cwd=home, check=check,
            env={"HOME": home, "ANSIBLE_HOME": home, "ANSIBLE_PIPELINING": "1", "ANSIBLE_NOCOLOR": "1",
                 "ANSIBLE_SSH_ARGS": "-o ControlMaster=no"})

    def play(self, nodes, *words):
        """{host: what was changed there} of a run."""
        done = self.run(nodes, *words)
        found = RECAP.findall(done.stdout)
        assert all(row[2:] == ("0", "0") for row in found), done.stdout
        return {name: int(changed) for name, changed, _, _ in found}

    def fail(self, nodes):
        """All that is said by a run in which a machine fails."""
        done = self.run(nodes, check=False)
        assert any(row[3] != "0" for row in RECAP.findall(done.stdout)), done.stdout
        return done.stdout

    def files(self):
        return {name: seat.files() for name, seat in self.seats.items()}

    def keys(self):
        return {path.read_text() for seat in self.seats.values() for path in seat.dir.rglob("*.key")}


def test_the_playbook_makes_a_cluster(machine):
    """Item 19: all are in after one run, keys stay where they were made, and a second run changes nothing."""
    fleet = Fleet(machine)
    before = fleet.files()
    checked = fleet.play(["second", "third"], "--check")
    assert set(checked) == {"first", "second", "third"} and all(checked.values()) and fleet.files() == before
    assert all(fleet.play(["second", "third"]).values())
    before = fleet.files()
    assert set(fleet.play(["second", "third"]).values()) == {0} and fleet.files() == before
    assert set(fleet.play(["second", "third"], "--check").values()) == {0} and fleet.files() == before
    # One that is added changes itself and the first, which signs.
    added = fleet.play(["second", "third", "fourth"])
    assert (added["second"], added["third"]) == (0, 0) and added["fourth"] > 0
    first = fleet.seats["first"]
    for seat in fleet.seats.values():
        assert seat.settings()["name"] == "lab" and seat.read("ca.crt") == first.read("ca.crt")
        openssl("verify", "-CAfile", first.path("ca.crt"), "-CRLfile", first.path("crl.pem"), "-crl_check",
                seat.path("node.crt"))
    assert first.settings()["brokers"] == fleet.seats["fourth"].settings()["brokers"] == "127.0.0.1;192.0.2.2"
    assert len({seat.id for seat in fleet.seats.values()}) == 4
    assert len(fleet.keys()) == 7, "of the authority, four nodes and two brokers, each on its machine only"
    everything = b"".join(path.read_bytes() for path in (machine.dir / "home").rglob("*") if path.is_file())
    assert b"PRIVATE KEY" not in everything


def test_the_playbook_has_only_addresses_of_the_inventory_signed(machine):
    """A machine that asks for more is refused by name, and no broker joins that has none in the inventory."""
    fleet = Fleet(machine)
    assert all(fleet.play(["third"]).values())
    before = fleet.seats["first"].files()
    fleet.hosts["second"]["alidadectl"] = str(machine.dir / "greedy")
    (machine.dir / "greedy").write_text(
        f'#!/bin/sh\n[ "$3" != --request ] || set -- "$@" --address=first.example\nexec {client_binary()} "$@"\n')
    (machine.dir / "greedy").chmod(0o755)
    assert "asks to be a broker at first.example" in fleet.fail(["second"])
    fleet.hosts["second"] |= {"alidadectl": str(client_binary()), "alidade_addresses": []}
    assert "alidade_addresses is empty" in fleet.fail(["second"])
    assert fleet.seats["first"].files() == before and not fleet.seats["second"].path("node.crt").exists()
