# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attacks on the administration of a cluster: by a local user, and by a request that somebody put together."""

import fcntl
import json
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.node import faketime_library
from bedlib.services import client_binary
from bedlib.waiting import wait_steadily
from enrol_seat import ADDRESS, ERROR, OK, UNREACHABLE, Seat, common_name, make_request, serial

pytestmark = needs_namespaces
BUILD = Path(os.environ["ALIDADE_BUILD"])


@pytest.fixture
def second(machine, first):
    seat = Seat(machine, "second")
    bundle = first.cluster("sign", text_in=seat.cluster("join", "--request").stdout).stdout
    seat.cluster("join", "--accept", text_in=bundle)
    return seat


HOLD = """import fcntl, os, signal, sys
try:
    held = os.open(sys.argv[3], getattr(os, sys.argv[2]))
    {"flock": fcntl.flock, "lockf": fcntl.lockf}[sys.argv[1]](held, fcntl.LOCK_EX)
    print("held", flush=True)
except OSError as error:
    sys.exit(str(error))
signal.pause()
"""


def hold(machine, path, how="flock", user=None, flags="O_RDONLY", program="/usr/bin/python3"):
    """Somebody who locks a file and never lets go; None where that is refused."""
    script = machine.dir / "hold.py"
    script.write_text(HOLD)
    holder = machine.spawn([program, script, how, flags, path], f"holder.{len(machine.processes)}",
                           user=user)
    wait_steadily(lambda: holder.log_text() or holder.poll(), "a lock or a refusal")
    return holder if holder.log_text() == "held\n" else None


# Locks


def test_nobody_can_stop_the_administration(machine, first, second):
    """Item 1: nobody locks all that the administration has, and a stolen key is revoked all the same."""
    paths = [first.config, *first.config.rglob("*")]
    assert any([hold(machine, path, user="nobody") for path in paths]), "what anybody can read can be locked"
    first.cluster("revoke", second.id)
    assert first.crl() == {serial(second.path("node.crt"))}
    lock = first.path("lock")
    assert (stat.S_IMODE(lock.stat().st_mode), lock.stat().st_uid) == (0o600, 0)
    assert hold(machine, lock, user="nobody") is None


def test_who_holds_the_lock_is_named_and_waited_for(machine, first, second):
    """Item 1: another run of root's is waited for, and shown with its process and command."""
    holder = hold(machine, first.path("lock"), "lockf", flags="O_RDWR")
    waiting = machine.spawn([client_binary(), "cluster", "revoke", second.id], "revoke", env=first.environment)
    wait_steadily(lambda: f"Waiting for process {holder.pid} (/usr/bin/python3" in waiting.log_text(),
                  lambda: f"a word about it: {waiting.log_text()}")
    holder.kill()
    assert waiting.wait() == OK
    assert first.crl() == {serial(second.path("node.crt"))}


def test_who_holds_the_lock_has_the_name_that_people_know(machine, first, second):
    """The units run the administration itself, not alidadectl."""
    program = machine.dir / "alidade-cluster"
    program.symlink_to("/usr/bin/python3")
    holder = hold(machine, first.path("lock"), "lockf", flags="O_RDWR", program=program)
    waiting = machine.spawn([client_binary(), "cluster", "revoke", second.id], "revoke", env=first.environment)
    wait_steadily(lambda: f"Waiting for process {holder.pid} (alidadectl cluster {machine.dir}" in waiting.log_text(),
                  lambda: f"a word about it: {waiting.log_text()}")
    holder.kill()
    assert waiting.wait() == OK


def test_a_lock_has_a_time_limit(machine, first, second):
    """Item 1: a run that hangs stops no other for ever; half a minute later that names it and gives up."""
    holder = hold(machine, first.path("lock"), "lockf", flags="O_RDWR")
    refused = first.cluster("revoke", second.id, code=ERROR, deadline=60)
    assert f"Nothing was changed: process {holder.pid} (/usr/bin/python3" in refused.stderr
    assert f"{first.path('lock')}) has been changing {first.path('')}" in refused.stderr
    assert first.crl() == set()
    holder.kill()
    first.cluster("revoke", second.id)


def test_leaving_and_beginning_at_once(machine, first):
    """Item 1: the lock goes with the folder, and those who wait for it begin anew."""
    runs = [machine.spawn([client_binary(), "cluster", *words], f"run.{i}", env=first.environment)
            for i, words in enumerate([("leave", "--force"), ("init", "lab", ADDRESS)] * 4)]
    codes = [run.wait() for run in runs]
    assert set(codes) == {OK}, [run.log_text() for run in runs]
    first.cluster("init", "lab", ADDRESS)
    first.cluster("renew")


def test_nobody_can_stop_the_compute_probe(tmp_path):
    """Item 1: nobody locks the program, which all can read; the service measures all the same."""
    vendors, cache = tmp_path / "vendors", tmp_path / "cache"
    program = shutil.copy(BUILD / "probes/compute/alidade-probe-compute", tmp_path)
    library = shutil.copy(BUILD / "tests/unit/libfake-compute-icd.so", tmp_path / "good@Fake.so")
    vendors.mkdir()
    cache.mkdir()
    (vendors / "good.icd").write_text(f"{library}\n", encoding="ascii")
    environment = {**os.environ, "OCL_ICD_VENDORS": str(vendors), "CACHE_DIRECTORY": str(cache),
                   "TMPDIR": str(tmp_path)}
    held = os.open(program, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    done = subprocess.run([program, "--json", "--metric=read", "--seconds-max=0.1"], env=environment, check=False,
                          capture_output=True, text=True)
    assert "another alidade-probe-compute" not in done.stdout
    assert json.loads(done.stdout.splitlines()[-1])["Devices"]
    lock = cache / ".lock"
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600
    os.close(held)


# Files in folders of other users


@pytest.fixture
def theirs(machine):
    """A folder of nobody's, as nobody's home is, and a file of root's that nobody would like to have changed."""
    folder, precious = machine.dir / "theirs", machine.dir / "precious"
    folder.mkdir()
    shutil.chown(folder, "nobody")
    precious.write_text("precious")
    return folder, precious


def as_nobody(machine, *argv):
    machine.run([*argv], user="nobody")


def write_there(first, second, path, kind, **options):
    """What root does in a folder of another user, by each verb that writes a file."""
    if kind == "request":
        return second.cluster("renew", "--request", path, **options)
    request = second.cluster("renew", "--request").stdout
    return first.cluster("sign", "--renew", f"--output={path}", text_in=request, **options)


def test_a_link_of_another_user_is_not_followed(machine, first, second, theirs):
    """Item 4: root writes into a folder of nobody's, who has put a link to a file of root's there, or one anywhere on
    the way there."""
    folder, precious = theirs
    as_nobody(machine, "ln", "-s", precious, folder / "file")
    as_nobody(machine, "ln", "-s", precious.parent, folder / "below")
    for kind in ("request", "bundle"):
        refused = write_there(first, second, folder / "file", kind, code=ERROR)
        assert "is not a regular file, and other users can write to its folder" in refused.stderr, kind
        refused = write_there(first, second, folder / "below/precious", kind, code=ERROR)
        assert "theirs/below/precious" in refused.stderr, kind
        assert precious.read_text() == "precious", kind


def test_a_pipe_of_another_user_is_not_waited_for(machine, first, second, theirs):
    """Item 4: nobody reads it, and root would wait with the lock in its hands."""
    folder, _ = theirs
    as_nobody(machine, "mkfifo", folder / "file")
    write_there(first, second, folder / "file", "bundle", code=ERROR)


def test_a_file_of_another_user_is_replaced(machine, first, second, theirs):
    """Item 4: nobody's own file, which may have other names, is not written to; a new one takes its place."""
    folder, _ = theirs
    as_nobody(machine, "sh", "-c", f"echo old >{folder}/file; ln {folder}/file {folder}/other")
    write_there(first, second, folder / "file", "bundle")
    assert (folder / "file").read_text().startswith("{") and (folder / "other").read_text() == "old\n"
    assert (folder / "file").stat().st_uid == 0 and sorted(path.name for path in folder.iterdir()) == ["file", "other"]


# Requests


def broker_seat(machine, first, name="second", address="192.0.2.2"):
    """A node with a broker, both signed by the first machine."""
    seat = Seat(machine, name)
    request = seat.cluster("join", "--request", "--broker", f"--address={address}").stdout
    seat.cluster("join", "--accept", text_in=first.cluster("sign", "--broker", text_in=request).stdout)
    return seat


def split(request):
    """The parts of a request as 0.1 made it, and as any text may hold them."""
    return re.findall(r"-----BEGIN CERTIFICATE REQUEST-----.*?-----END CERTIFICATE REQUEST-----\n", request, re.DOTALL)


def spliced(machine, seat, request):
    """What the attacker makes of somebody's request: the node's own part, and a broker's with a key of his."""
    head = "Broker-Address: evil.example\n"
    return head + split(request)[0] + make_request(machine.dir, seat.id)


def brokers_of(first, seat):
    """The certificates that were signed for the broker, or bridges, of a node."""
    return {path.name for path in first.path("ca/issued").iterdir()
            if common_name(path) in (f"broker-{seat.id}", "bridge-site2")}


def test_a_spliced_request_is_not_signed(machine, first):
    """Item 9: an old request of a node, and beside it one of a broker with the attacker's key."""
    seat = broker_seat(machine, first)
    request = seat.cluster("renew", "--request").stdout
    before = brokers_of(first, seat)
    for words in (("sign", "--renew", "--broker"), ("sign", "--broker"), ("sign-bridge", "site2")):
        for text in (spliced(machine, seat, request), request + make_request(machine.dir, seat.id)):
            refused = first.cluster(*words, text_in=text, code=ERROR)
            assert "The request is refused" in refused.stderr and refused.stdout == "", words
        assert brokers_of(first, seat) == before, words


def test_words_beside_a_request_say_nothing(machine, first):
    """Item 9: addresses count only where the key of the node has signed them."""
    seat = Seat(machine, "second")
    request = seat.cluster("join", "--request", "--broker", "--address=192.0.2.2").stdout
    told = first.cluster("sign", "--broker", text_in=f"Broker-Address: evil.example\n{request}").stderr
    assert "Signed for its broker at 192.0.2.2\n" in told and "evil" not in told


def test_another_broker_key_takes_a_word(machine, first):
    """Item 9: who has the key of a node, but not that of its broker, does not get a broker by renewing."""
    seat = broker_seat(machine, first)
    old = serial(seat.path("broker/broker.crt"))
    seat.path("broker/broker.key").unlink()
    request = seat.cluster("renew", "--request").stdout
    for words in (("sign", "--renew", "--broker"), ("sign-bridge", "site2")):
        refused = first.cluster(*words, text_in=request, code=ERROR)
        assert "The request is refused" in refused.stderr and refused.stdout == ""
    assert "add --replace" in first.cluster("sign", "--renew", "--broker", text_in=request, code=ERROR).stderr
    seat.cluster("renew", "--accept", text_in=first.cluster("sign", "--replace", "--broker", text_in=request).stdout)
    assert first.crl() == {old}
    first.cluster("sign-bridge", "site2", text_in=seat.cluster("renew", "--request").stdout)


def test_what_could_not_be_written_was_not_signed(machine, first):
    """Item 4: a refused output is not preceded by words that the request was signed."""
    seat = Seat(machine, "second")
    before = set(first.path("ca/issued").iterdir())
    told = first.cluster("sign", "--output=/proc/bundle", text_in=seat.cluster("join", "--request").stdout, code=ERROR)
    assert "Signed" not in told.stdout + told.stderr and "/proc/bundle" in told.stderr
    assert set(first.path("ca/issued").iterdir()) == before


def test_leave_is_kept_by_nothing_that_the_service_left(machine, first):
    """Item 4: what cannot be removed keeps no key; an empty folder goes."""
    seat = Seat(machine, "second")
    bundle = first.cluster("sign", text_in=seat.cluster("join", "--request").stdout).stdout
    seat.cluster("join", "--accept", text_in=bundle)
    (seat.state / "crl.pem").mkdir()
    (seat.state / "renewed.pem/more").mkdir(parents=True)
    seat.cluster("leave", code=ERROR)
    assert not seat.path("node.key").exists() and not (seat.state / "crl.pem").exists()
    (seat.state / "renewed.pem/more").rmdir()
    seat.cluster("leave")
    assert not seat.path("").exists() and not (seat.state / "renewed.pem").exists()


def test_what_could_not_be_recorded_is_not_handed_out(machine, first):
    """Item 19: what the authority does not know to have signed it could never revoke."""
    seat = Seat(machine, "second")
    requests, bundles, issued = machine.dir / "requests", machine.dir / "bundles", first.path("ca/issued")
    requests.mkdir()
    bundles.mkdir()
    for name in ("1", "2"):
        (requests / name).write_text(seat.cluster("join", "--request").stdout)
    machine.run(["mount", "-t", "tmpfs", "-o", "size=4k", "full", issued])
    machine.run(["sh", "-c", f"head -c 4096 /dev/zero >{issued}/.full"])
    told = first.cluster("sign", requests, f"--output={bundles}", code=ERROR)
    machine.run(["umount", issued])
    assert told.stderr.count("was not signed") == 2 and not list(bundles.iterdir())


def test_a_closed_standard_output_is_no_other_file(machine, first):
    """Item 4: what is opened next must not be taken for it."""
    seat = Seat(machine, "second")
    (machine.dir / "request").write_text(seat.cluster("join", "--request").stdout)
    before = set(first.path("ca/issued").iterdir())
    done = machine.run(["sh", "-c", f"{client_binary()} cluster sign {machine.dir}/request >&-"],
                       env=first.environment, check=False)
    assert done.returncode == ERROR and "Cannot write the output" in done.stderr
    assert first.read("lock") == "" and set(first.path("ca/issued").iterdir()) == before


def test_a_backup_follows_no_link_of_others(machine, first):
    """Item 4: as with --output=."""
    others, victim = machine.dir / "others", machine.dir / "victim"
    victim.mkdir()
    others.mkdir()
    (others / "link").symlink_to(victim)
    os.chown(others, 65534, 65534)
    first.cluster("backup", others / "link/file", text_in="passphrase\n", code=ERROR)
    assert not list(victim.iterdir())
    first.cluster("backup", victim / "file", text_in="passphrase\n")
    assert stat.S_IMODE((victim / "file").stat().st_mode) == 0o600


def test_names_of_files_do_not_reach_the_terminal_raw(machine, first):
    """Item 5: nor do they make changes vanish from JSON."""
    seat = Seat(machine, "second")
    requests, bundles = machine.dir / "requests", machine.dir / "bundles"
    requests.mkdir()
    bundles.mkdir()
    (requests / "a\033]0;owned\007").write_text(seat.cluster("join", "--request").stdout)
    told = first.cluster("sign", requests, f"--output={bundles}")
    assert not set("\033\007") & set(told.stdout + told.stderr) and "Signed for node" in told.stdout
    path = os.fsdecode(os.fsencode(machine.dir) + b"/b\xff")
    found = json.loads(first.cluster("backup", path, "--json", text_in="passphrase\n").stdout)
    assert [change["Action"] for change in found["Changes"]] == ["write"]


def test_nothing_is_revoked_for_an_output_that_cannot_be(machine, first):
    """Item 9: a folder instead of a file is seen before anything is signed, published or shut out."""
    seat = Seat(machine, "second")
    request = seat.cluster("join", "--request", "--broker", "--address=192.0.2.7").stdout
    before = first.files()
    first.cluster("sign", "--broker", f"--output={machine.dir}", text_in=request, code=ERROR)
    assert first.files() == before
    first.cluster("sign", "--broker", "--check", f"--output={machine.dir}", text_in=request, code=ERROR)


def test_old_requests_expire(machine, first):
    """Item 9: one that was kept for later, or made by a clock that is wrong."""
    faketime_library()
    seat = Seat(machine, "second")
    for days, code, said in ((-8, ERROR, "a request is valid for 7 days"), (-6, OK, "Signed for"),
                             (2, ERROR, "check the clocks")):
        made = machine.run(["faketime", "-f", f"{days:+}d", client_binary(), "cluster", "join", "--request"],
                           env=seat.environment).stdout
        assert said in first.cluster("sign", "--renew", text_in=made, code=code).stderr


def test_only_who_was_here_renews(machine, first):
    """Item 9: what a request is for is signed, too: to renew, or to join."""
    seat = Seat(machine, "second")
    other = Seat(machine, "elsewhere")
    other.cluster("init", "lab", ADDRESS)
    bundle = other.cluster("sign", text_in=seat.cluster("join", "--request").stdout).stdout
    seat.cluster("join", "--accept", text_in=bundle)
    request = seat.cluster("renew", "--request").stdout
    refused = first.cluster("sign", "--renew", text_in=request, code=ERROR)
    assert "asks to renew a certificate, but none was ever signed here for its key" in refused.stderr
    assert refused.stdout == ""


# Words for each wrong step


def test_renewing_is_called_so(machine, first, second):
    """Item 17: what renews names renew, whichever step fails or comes next."""
    asked = second.cluster("renew", "--request")
    assert "cluster renew --accept" in asked.stderr and "join" not in asked.stderr
    bundle = machine.dir / "bundle"
    told = first.cluster("sign", "--renew", f"--output={bundle}", text_in=asked.stdout).stdout
    assert f"cluster renew --accept {bundle}" in told and "join" not in told
    ssh = machine.dir / "bin/ssh"
    ssh.parent.mkdir()
    ssh.write_text("#!/bin/sh\nexit 255\n")
    ssh.chmod(0o755)
    environment = {**second.environment, "PATH": f"{ssh.parent}:{os.environ['PATH']}"}
    refused = second.cluster("renew", "root@first", env=environment, code=UNREACHABLE)
    assert "cluster renew --request" in refused.stderr and "renew --accept" in refused.stderr
    assert "join" not in refused.stderr


def test_joining_twice_is_noticed(second):
    """Item 17: who is a member is told so."""
    assert "is already in cluster lab" in second.cluster("join", "--request").stderr


def test_a_machine_without_a_cluster_is_told_what_to_do(machine):
    """Item 17: status says how to begin one, or to enter one."""
    shown = Seat(machine, "stranger").cluster("status").stdout
    assert "alidadectl cluster init NAME" in shown and "alidadectl cluster join USER@HOST" in shown


def test_an_address_that_leads_elsewhere_is_noticed(machine):
    """Item 17: a note only, for others may know more."""
    for address, said in (("127.0.0.1", None), ("192.0.2.77", "is not an address of this machine"),
                          ("nowhere.invalid", "does not resolve here")):
        one, other = Seat(machine, f"one-{address}"), Seat(machine, f"other-{address}")
        for told in (one.cluster("init", "lab", f"--address={address}").stderr,
                     other.cluster("join", "--request", "--broker", f"--address={address}").stderr):
            assert (f"Note: {address} {said}" in told) if said else "Note:" not in told, address


def test_revoking_tells_what_is_left_to_do(first, second):
    """Item 17: where it cannot restart mosquitto, the node is not shut out yet."""
    told = first.cluster("revoke", second.id).stdout
    assert f"({second.id}) is revoked here as soon as mosquitto is restarted, and on the other nodes as soon as" in told
    assert f"Next, once it is offline: alidadectl forget {second.id}" in told


# Removing the package


@pytest.fixture
def packaged(machine):
    """A machine whose cluster lies where the package has it; and what runs a script of the package there."""
    machine.run(["sh", "-c", "mount -t tmpfs none /var/lib && mount -t tmpfs none /var/cache &&"
                 " mkdir -p /etc/mosquitto/conf.d /etc/avahi/services /var/lib/alidade/cluster &&"
                 " echo include_dir /etc/mosquitto/conf.d >/etc/mosquitto/mosquitto.conf"])
    scripts = Path(__file__).resolve().parents[2] / "debian"

    def files():
        folders = ["/etc/alidade", "/etc/mosquitto", "/etc/avahi", "/etc/systemd", "/var/lib/alidade"]
        return set(machine.run(["find", *folders, "-type", "f"], check=False).stdout.splitlines())
    others = files()
    return lambda name, verb: machine.run(["sh", scripts / f"alidade.{name}", verb]).stderr, lambda: files() - others


def run_packaged(machine, *words, text_in=None):
    environment = {"ALIDADE_BUS_ADDRESS": "unix:path=/nonexistent", "ALIDADE_CONFIG_DIR": "/etc/alidade",
                   "ALIDADE_MACHINE_ID": "1" * 32}
    return machine.run([client_binary(), "cluster", *words], env=environment, text_in=text_in)


def test_removing_the_package_closes_the_port(machine, packaged):
    """Item 16: without a leave before; the key of the authority stays, and is named with what removes it."""
    run, files = packaged
    run_packaged(machine, "init", "lab", ADDRESS)
    written = {"/etc/mosquitto/conf.d/alidade.conf", "/etc/avahi/services/alidade.service",
               "/etc/systemd/system/mosquitto.service.d/alidade.conf"}
    assert written <= files()
    assert "alidadectl cluster leave" in run("prerm", "remove")
    assert "port 8883" in run("postrm", "remove")
    left = files()
    assert not written & left
    assert {"/etc/alidade/cluster/node.key", "/etc/alidade/cluster/ca/ca.key"} <= left
    told = run("postrm", "purge")
    assert "/etc/alidade/cluster" in told and "ca/ca.key" in told and "rm -r /etc/alidade/cluster" in told
    assert {path for path in files() if "/issued/" not in path} == {
        f"/etc/alidade/cluster/{name}" for name in ("ca/ca.key", "ca/crl-number", "ca.crt", "crl.pem")}
    # After the package is there again, the cluster is begun where it ended.
    run_packaged(machine, "init", "lab", ADDRESS)
    assert "/etc/mosquitto/conf.d/alidade.conf" in files()


def test_purging_a_node_leaves_no_key(machine, first, packaged):
    """Item 16: of a machine that has joined, all goes."""
    run, files = packaged
    request = run_packaged(machine, "join", "--request", "--broker", ADDRESS.replace("127.0.0.1", "192.0.2.9")).stdout
    run_packaged(machine, "join", "--accept", text_in=first.cluster("sign", "--broker", text_in=request).stdout)
    assert "/etc/alidade/cluster/node.key" in files()
    run("postrm", "remove")
    run("postrm", "purge")
    assert files() == set()
