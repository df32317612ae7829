# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many machines at once, without hands."""

import re
import shutil

import pytest

from bedlib.fixtures import needs_namespaces
from enrol_seat import ERROR, OK, USAGE, Seat, openssl

pytestmark = needs_namespaces


def test_a_folder_of_requests(machine):
    """Item 19: one command signs all requests of a folder; run again it changes nothing, and signs what has come."""
    first = Seat(machine, "first")
    first.cluster("init", "lab", "--address=127.0.0.1")
    seats = [Seat(machine, f"node{i}") for i in range(4)]
    requests, bundles = machine.dir / "requests", machine.dir / "bundles"
    requests.mkdir()

    def ask(seat):
        (requests / seat.name).write_text(seat.cluster("join", "--request").stdout)

    for seat in seats[:3]:
        ask(seat)
    assert "must name an existing folder" in first.cluster("sign", requests, code=USAGE).stderr
    bundles.mkdir()
    (requests / "a-bad-one").write_text("rubbish")
    told = first.cluster("sign", requests, f"--output={bundles}", code=ERROR)
    assert "3 of 4 requests are answered" in told.stdout and "a-bad-one was not signed" in told.stderr
    (requests / "a-bad-one").unlink()
    before = first.files()
    made = {path.name: path.read_bytes() for path in bundles.iterdir()}
    told = first.cluster("sign", requests, f"--output={bundles}")
    assert told.stdout.count("Kept ") == 3 and first.files() == before
    assert {path.name: path.read_bytes() for path in bundles.iterdir()} == made
    ask(seats[3])
    (bundles / "node0").unlink()
    told = first.cluster("sign", requests, f"--output={bundles}")
    assert told.stdout.count("Kept ") == 2 and "4 of 4" in told.stdout
    for seat in seats:
        seat.cluster("join", "--accept", bundles / seat.name, code=OK)
        assert seat.settings()["name"] == "lab"


PASSPHRASE = "correct horse battery\n"


def test_another_machine_takes_the_place_of_the_first(machine):
    """Item 19: the authority is restored on another machine after the first was destroyed; nodes are let in, and shut
    out, there, and what was revoked meanwhile stays so."""
    first, second, third, fourth = (Seat(machine, name) for name in ("first", "second", "third", "fourth"))
    first.cluster("init", "lab", "--address=127.0.0.1")
    for seat in (second, third):
        bundle = first.cluster("sign", text_in=seat.cluster("join", "--request").stdout).stdout
        seat.cluster("join", "--accept", text_in=bundle)
    backup = machine.dir / "backup"
    assert "fewer than 8 bytes" in first.cluster("backup", backup, text_in="short\n", code=ERROR).stderr
    first.cluster("backup", backup, text_in=PASSPHRASE)
    assert backup.stat().st_mode & 0o777 == 0o600 and "PRIVATE KEY" not in backup.read_text()
    first.cluster("revoke", third.id)
    shutil.copy(first.path("crl.pem"), second.path("crl.pem"))
    revoked = first.crl()
    before = first.files()
    told = first.cluster("restore", backup, text_in=PASSPHRASE).stdout
    assert "already keeps the keys of cluster lab" in told and first.files() == before
    shutil.rmtree(first.dir)

    own = second.read("node.crt")
    refused = second.cluster("restore", backup, text_in="another passphrase\n", code=ERROR)
    assert "wrong passphrase" in refused.stderr and not second.path("ca").exists()
    damaged = machine.dir / "damaged"
    damaged.write_text(backup.read_text().replace("A", "B"))
    second.cluster("restore", damaged, text_in=PASSPHRASE, code=ERROR)
    second.cluster("restore", backup, text_in=PASSPHRASE)
    assert second.crl() == revoked and second.read("node.crt") == own
    assert second.path("ca/ca.key").stat().st_mode & 0o777 == 0o600
    bundle = second.cluster("sign", text_in=fourth.cluster("join", "--request").stdout).stdout
    fourth.cluster("join", "--accept", text_in=bundle)
    second.cluster("revoke", fourth.id)
    assert len(second.crl()) == len(revoked) + 1 and second.crl() > revoked


def test_a_backup_is_for_no_other_cluster(machine):
    """Item 19: a machine of one cluster does not take over another by mistake."""
    first, other, second = (Seat(machine, name) for name in ("first", "other", "second"))
    for seat in (first, other):
        seat.cluster("init", "lab", "--address=127.0.0.1")
    bundle = other.cluster("sign", text_in=second.cluster("join", "--request").stdout).stdout
    second.cluster("join", "--accept", text_in=bundle)
    first.cluster("backup", machine.dir / "backup", text_in=PASSPHRASE)
    before = second.files()
    refused = second.cluster("restore", machine.dir / "backup", text_in=PASSPHRASE, code=ERROR)
    assert "of another cluster" in refused.stderr and second.files() == before


def revoked_in(path):
    """The serials of a revocation list."""
    return set(re.findall("Serial Number: ([0-9A-F]+)", openssl("crl", "-in", path, "-noout", "-text")))


@pytest.fixture
def lost(machine):
    """(seats, backup): the first of them was backed up, has then shut two others out, and is lost."""
    seats = {name: Seat(machine, name) for name in ("first", "second", "third", "fourth", "fresh")}
    first = seats["first"]
    first.cluster("init", "lab", "--address=127.0.0.1")
    for name in ("second", "third", "fourth"):
        bundle = first.cluster("sign", text_in=seats[name].cluster("join", "--request").stdout).stdout
        seats[name].cluster("join", "--accept", text_in=bundle)
    first.cluster("backup", machine.dir / "backup", text_in=PASSPHRASE)
    for name in ("third", "fourth"):
        first.cluster("revoke", seats[name].id)
    return seats, machine.dir / "backup"


def test_who_was_revoked_since_the_backup_stays_so(lost):
    """Item 19: the member that restores has received a list that is newer than that of the backup."""
    seats, backup = lost
    first, second, third = seats["first"], seats["second"], seats["third"]
    (second.state / "crl.pem").write_text(first.read("crl.pem"))
    request = third.cluster("renew", "--request").stdout
    second.cluster("restore", backup, text_in=PASSPHRASE)
    second.cluster("sign", "--renew", text_in=request, code=ERROR)
    second.cluster("revoke", first.id)
    assert second.crl_number() > first.crl_number()
    assert revoked_in(second.path("crl.pem")) > revoked_in(first.path("crl.pem"))


def test_two_authorities_shut_out_what_either_did(lost):
    """Item 19: the list of the lost one comes when the restored one has already made another."""
    seats, backup = lost
    first, fresh = seats["first"], seats["fresh"]
    fresh.cluster("restore", backup, text_in=PASSPHRASE)
    fresh.cluster("revoke", first.id)
    own = revoked_in(fresh.path("crl.pem"))
    (fresh.state / "crl.pem").write_text(first.read("crl.pem"))
    fresh.cluster("install-crl")
    assert fresh.crl_number() > first.crl_number()
    assert revoked_in(fresh.path("crl.pem")) == own | revoked_in(first.path("crl.pem"))
    again = fresh.read("crl.pem")
    fresh.cluster("install-crl")
    assert fresh.read("crl.pem") == again
