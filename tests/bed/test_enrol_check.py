# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl cluster for scripts: asked what it would do, and run a second time."""

import json

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.node import faketime_library
from enrol_seat import ADDRESS, ERROR, OK, UNREACHABLE, USAGE, Seat, Ssh, make_request, serial

pytestmark = needs_namespaces
PASSPHRASE = "correct horse battery\n"
NOTHING = {False: "There was nothing to do", True: "There is nothing to do"}


def tree(machine):
    """All that lies on any seat, with rights and times: what a second run or a check must leave alone."""
    found = {}
    for path in sorted(machine.dir.rglob("*")):
        if path.relative_to(machine.dir).parts[0] != "log":
            st = path.lstat()
            found[path] = (st.st_mode, st.st_uid, st.st_gid, st.st_ino, st.st_mtime_ns,
                           path.read_bytes() if path.is_file() else None)
    return found


class Fleet:
    """The first machine, and one in each state that a verb can find it in."""

    def __init__(self, machine, first):
        self.machine, self.first = machine, first
        self.files = machine.dir / "files"
        for name in ("requests", "bundles"):
            (self.files / name).mkdir(parents=True)

    def seat(self, name="second"):
        return Seat(self.machine, name)

    def asking(self, *words, name="second"):
        seat = self.seat(name)
        seat.cluster("join", "--request", self.files / name, *words)
        return seat

    def signed(self, *words, name="second"):
        seat = self.asking(*words, name=name)
        self.first.cluster("sign", self.files / name, *words[:1], f"--output={self.files}/{name}.bundle")
        return seat

    def joined(self, *words, name="second"):
        seat = self.signed(*words, name=name)
        seat.cluster("join", "--accept", self.files / f"{name}.bundle")
        return seat


BROKER = ("--broker", "--address=192.0.2.2")


def case_init(fleet):
    return fleet.seat(), ["init", "other", ADDRESS], {}


def case_init_without_broker(fleet):
    return fleet.seat(), ["init", "other", "--no-broker"], {}


def case_request(fleet):
    return fleet.seat(), ["join", "--request", fleet.files / "request"], {}


def case_request_of_a_broker(fleet):
    return fleet.seat(), ["join", "--request", fleet.files / "request", *BROKER], {}


def case_accept(fleet):
    return fleet.signed(), ["join", "--accept", fleet.files / "second.bundle"], {}


def case_accept_as_a_broker(fleet):
    return fleet.signed(*BROKER), ["join", "--accept", fleet.files / "second.bundle"], {}


def case_sign(fleet):
    fleet.asking()
    return fleet.first, ["sign", fleet.files / "second", f"--output={fleet.files}/bundle"], {}


def case_sign_a_broker(fleet):
    fleet.asking(*BROKER)
    return fleet.first, ["sign", "--broker", fleet.files / "second", f"--output={fleet.files}/bundle"], {}


def case_sign_another_key(fleet):
    seat = fleet.joined()
    (fleet.files / "other").write_text(make_request(fleet.machine.dir, seat.id))
    return fleet.first, ["sign", "--replace", fleet.files / "other", f"--output={fleet.files}/bundle"], {}


def case_sign_a_folder(fleet):
    for name in ("one", "two"):
        fleet.seat(name).cluster("join", "--request", fleet.files / "requests" / name)
    fleet.joined().cluster("renew", "--request", fleet.files / "requests/second")
    return fleet.first, ["sign", fleet.files / "requests", f"--output={fleet.files}/bundles"], {}


def case_sign_to_renew(fleet):
    fleet.joined().cluster("renew", "--request", fleet.files / "request")
    return fleet.first, ["sign", "--renew", fleet.files / "request", f"--output={fleet.files}/bundle"], {}


def case_sign_a_bridge(fleet):
    fleet.joined(*BROKER).cluster("renew", "--request", fleet.files / "request")
    return fleet.first, ["sign-bridge", "site2", fleet.files / "request", f"--output={fleet.files}/bridge"], {}


def case_request_to_renew(fleet):
    return fleet.joined(), ["renew", "--request", fleet.files / "request"], {}


def case_accept_to_renew(fleet):
    seat = fleet.joined()
    request = seat.cluster("renew", "--request").stdout
    (fleet.files / "bundle").write_text(fleet.first.cluster("sign", "--renew", text_in=request).stdout)
    return seat, ["renew", "--accept", fleet.files / "bundle"], {}


def case_renew_what_is_due(fleet):
    seat = fleet.joined(*BROKER)
    environment = {**seat.environment, "LD_PRELOAD": faketime_library(), "FAKETIME": "+350d",
                   "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return seat, ["renew", "--auto"], {"env": environment}


def case_renew_what_is_due_where_it_began(fleet):
    environment = {**fleet.first.environment, "LD_PRELOAD": faketime_library(), "FAKETIME": "+350d",
                   "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return fleet.first, ["renew", "--auto"], {"env": environment}


def case_revoke(fleet):
    return fleet.first, ["revoke", fleet.joined(*BROKER).id], {}


def case_leave(fleet):
    return fleet.joined(*BROKER), ["leave"], {}


def case_leave_with_the_keys(fleet):
    return fleet.first, ["leave", "--force"], {}


def case_install_crl(fleet):
    seat = fleet.joined(*BROKER)
    fleet.first.cluster("revoke", fleet.joined(name="third").id)
    (seat.state / "crl.pem").write_text(fleet.first.read("crl.pem"))
    return seat, ["install-crl"], {}


def case_backup(fleet):
    return fleet.first, ["backup", fleet.files / "backup"], {"text_in": PASSPHRASE}


def case_restore(fleet):
    seat = fleet.joined()
    fleet.first.cluster("backup", fleet.files / "backup", text_in=PASSPHRASE)
    return seat, ["restore", fleet.files / "backup"], {"text_in": PASSPHRASE}


def case_restore_on_a_fresh_machine(fleet):
    fleet.first.cluster("backup", fleet.files / "backup", text_in=PASSPHRASE)
    return fleet.seat(), ["restore", fleet.files / "backup"], {"text_in": PASSPHRASE}


CASES = {name[5:]: case for name, case in list(globals().items()) if name.startswith("case_")}


def changes(seat, words, **options):
    found = json.loads(seat.cluster(*words, "--json", **options).stdout)
    assert found["Check"] == ("--check" in words)
    assert all(set(change) == {"Action", "Object", "Text"} for change in found["Changes"])
    return found["Changes"]


@pytest.fixture
def case(request, machine, first):
    return CASES[request.param](Fleet(machine, first))


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_check_changes_nothing_and_a_second_run_neither(case, machine):
    """Item 19: each verb shows what it would do, in words and as JSON, and then does just that. The second run ends
    with 0, writes no file, restarts nothing, signs nothing, and says so."""
    seat, words, options = case
    before = tree(machine)
    told = seat.cluster(*words, "--check", **options)
    would = changes(seat, [*words, "--check"], **options)
    assert tree(machine) == before
    assert would and [change["Text"] for change in would] == [
        line for line in told.stdout.splitlines() if line.startswith(("Would ", "Afterwards "))]
    assert "Next" not in told.stdout
    done = changes(seat, words, **options)
    assert tree(machine) != before
    kinds = [[(change["Action"], change["Object"]) for change in found] for found in (would, done)]
    # Nobody reads the configuration here, so nobody was asked to.
    kinds[0] = [change for change in kinds[0] if change != ("ask", "org.alidade.Cluster1")]
    assert kinds[0] == kinds[1]
    before = tree(machine)
    told = seat.cluster(*words, **options).stdout
    assert NOTHING[False] in told and "Restart" not in told and "start it" not in told
    assert NOTHING[True] in seat.cluster(*words, "--check", **options).stdout
    assert changes(seat, words, **options) == changes(seat, [*words, "--check"], **options) == []
    assert tree(machine) == before


REFUSED = [
    (["init", "Lab"], USAGE), (["init", "lab", "--address=a b"], USAGE), (["init"], USAGE),
    (["init", "other", ADDRESS], ERROR), (["join"], USAGE), (["join", "root@x"], ERROR),
    (["join", "--request", "--accept"], USAGE), (["sign", "/nonexistent"], ERROR), (["sign", "/dev/null"], ERROR),
    (["sign", "--renew", "--replace"], USAGE), (["sign-bridge", "a/b"], USAGE), (["revoke", "ffff"], 4),
    (["renew", "root@x"], USAGE), (["renew", "--auto", "--broker"], USAGE), (["leave"], ERROR),
    (["backup", "/nonexistent/x"], ERROR), (["restore", "/nonexistent"], ERROR), (["install-crl", "x"], USAGE),
]


def test_check_refuses_what_the_verb_refuses(first, machine):
    """Item 19: the same words, with the same message."""
    before = tree(machine)
    for words, code in REFUSED:
        text = "short\n" if words[0] == "backup" else ""
        refused = [first.cluster(*words, *check, code=code, text_in=text).stderr for check in ([], ["--check"])]
        assert refused[0] == refused[1] and refused[0], words
        assert tree(machine) == before, words


def test_check_over_ssh_asks_nobody(machine, first):
    """Item 19: what another machine would answer is not known; a second join over ssh changes nothing on both."""
    ssh = Ssh(first)
    second = Seat(machine, "second")
    before = tree(machine)
    told = second.cluster("join", "root@127.0.0.1", "--check", env=ssh.environment(second)).stdout
    assert "Would make" in told and "Would ask root@127.0.0.1 to sign" in told and tree(machine) == before
    ssh.start()
    second.cluster("join", "root@127.0.0.1", env=ssh.environment(second))
    before = tree(machine)
    told = second.cluster("join", "root@127.0.0.1", env=ssh.environment(second)).stdout
    assert NOTHING[False] in told and tree(machine) == before
    assert NOTHING[True] in second.cluster("join", "root@x", "--check", env=ssh.environment(second)).stdout


def test_ssh_asks_nothing_without_a_terminal(machine, first):
    """Item 19: it would ask the controlling terminal, which a script may have."""
    ssh, calls = machine.dir / "bin/ssh", machine.dir / "calls"
    ssh.parent.mkdir()
    ssh.write_text(f'#!/bin/sh\necho "$@" >{calls}\nexit 255\n')
    ssh.chmod(0o755)
    second = Seat(machine, "second")
    environment = {**second.environment, "PATH": f"{ssh.parent}:/usr/bin:/bin"}
    second.cluster("join", "root@x", env=environment, code=UNREACHABLE)
    assert "BatchMode=yes" in calls.read_text()


def test_what_acts_each_time(machine, first):
    """Item 19: renew makes new certificates whenever it is run; what is only due is for renew --auto."""
    before = tree(machine)
    assert "Would install" in first.cluster("renew", "--check").stdout and tree(machine) == before
    old = serial(first.path("node.crt"))
    first.cluster("renew")
    assert serial(first.path("node.crt")) != old
    before = tree(machine)
    assert NOTHING[False] in first.cluster("renew", "--auto").stdout and tree(machine) == before


def test_an_old_bundle_does_not_undo_a_renewal(machine, first):
    """Item 19: a script that brings the same bundle again leaves the newer certificate in its place."""
    fleet = Fleet(machine, first)
    seat = fleet.joined()
    request = seat.cluster("renew", "--request").stdout
    environment = {**first.environment, "LD_PRELOAD": faketime_library(), "FAKETIME": "+1d"}
    bundle = first.cluster("sign", "--renew", text_in=request, env=environment).stdout
    seat.cluster("renew", "--accept", text_in=bundle, env={**environment, **seat.environment})
    before = tree(machine)
    told = seat.cluster("join", "--accept", fleet.files / "second.bundle", env={**environment, **seat.environment})
    assert "which is newer" in told.stdout and tree(machine) == before


def test_json_and_what_was_made_do_not_share_standard_output(machine, first):
    seat = Seat(machine, "second")
    assert "--json needs" in seat.cluster("join", "--request", "--json", code=USAGE).stderr
    request = seat.cluster("join", "--request").stdout
    assert "--json needs" in first.cluster("sign", "--json", text_in=request, code=USAGE).stderr
    assert changes(first, ["sign", "--check"], text_in=request)


def test_what_was_interrupted_is_read_later(machine, first):
    """Item 19: where mosquitto could not be restarted, the next run does so although all files are as they shall be."""
    fleet = Fleet(machine, first)
    second = fleet.joined(*BROKER)
    first.cluster("revoke", fleet.joined(name="third").id)
    (second.state / "crl.pem").write_text(first.read("crl.pem"))
    tools, calls = machine.dir / "tools", machine.dir / "calls"
    tools.mkdir()
    machine.run(["mkdir", "-p", "/run/systemd/system", "/etc/mosquitto/conf.d"])
    machine.run(["cp", second.mosquitto / "conf.d/alidade.conf", "/etc/mosquitto/conf.d/"])
    environment = {**second.environment, "ALIDADE_MOSQUITTO_DIR": "",
                   "PATH": f"{tools}:/usr/sbin:/usr/bin:/sbin:/bin"}
    for status, code in ((1, ERROR), (0, OK), (0, OK)):
        (tools / "systemctl").write_text(f"#!/bin/sh\necho $* >>{calls}\nexit {status}\n")
        (tools / "systemctl").chmod(0o755)
        calls.write_text("")
        told = second.cluster("install-crl", env=environment, code=code)
        restarts = calls.read_text().count("try-restart mosquitto.service")
        assert second.crl() == first.crl()
        assert second.path("unfinished").exists() == (code == ERROR)
        expected = 1 if code == ERROR or "nothing to do" not in told.stdout else 0
        assert restarts == expected
    assert "nothing to do" in told.stdout
