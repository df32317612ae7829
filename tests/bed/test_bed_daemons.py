# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the bed runs Alidade's daemons and what it notices about them, proven with a sample daemon."""

import subprocess
from pathlib import Path

import pytest

from bedlib import BedFailure, BusError, Host
from bedlib.fixtures import needs_namespaces

IDENTITY = "org.alidade.Identity1"
STATE = "org.alidade.State1"
PEER = "org.freedesktop.DBus.Peer"


def compile_sample(folder, *flags):
    flags += tuple(subprocess.run(["pkg-config", "--cflags", "--libs", "libsystemd"], check=True,
                                  capture_output=True, text=True).stdout.split())
    binary = folder / "services/identity/alidade-identityd"
    binary.parent.mkdir(parents=True)
    source = Path(__file__).with_name("sample-daemon.c")
    subprocess.run(["gcc", "-std=gnu17", "-Wall", "-g", "-o", binary, source, *flags], check=True)
    (folder / "services/state").mkdir()
    (folder / "services/state/alidade-stated").hardlink_to(binary)
    return folder


@pytest.fixture(scope="module")
def plain_build(tmp_path_factory):
    return compile_sample(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def sanitized_build(tmp_path_factory):
    return compile_sample(tmp_path_factory.mktemp("sanitized"), "-fsanitize=address,undefined")


@pytest.fixture
def build(plain_build, monkeypatch):
    monkeypatch.setenv("ALIDADE_BUILD", str(plain_build))


@pytest.fixture
def sanitized(sanitized_build, monkeypatch):
    monkeypatch.setenv("ALIDADE_BUILD", str(sanitized_build))


def ping(host, name=IDENTITY):
    host.call(name, "/", PEER, "Ping")


def test_started_by_hand(build):
    with Host(daemons=["identityd"]) as host:
        ping(host)
        assert "state in" in host.daemons[0].log_text()
        host.daemons[0].stop()
        host.wait_for_name(IDENTITY, present=False)


def test_tells_when_it_is_ready(build, make_host):
    host = make_host()
    notify = host.notify_socket()
    host.start_daemon("identityd", env={"NOTIFY_SOCKET": notify.path}, wait=False)
    notify.wait("READY=1")
    assert host.connection().owner(IDENTITY)


@pytest.mark.parametrize("isolated", [pytest.param(True, marks=needs_namespaces), False])
def test_activated_killed_and_activated_again(build, make_host, isolated):
    host = make_host(isolated=isolated, activation=["identityd"])
    assert host.connection().owner(IDENTITY) is None
    ping(host)
    first = host.activated("identityd")
    assert first.pid == host.connection().call_bus("GetConnectionUnixProcessID", "s", (IDENTITY,))
    assert first.kill() == -9
    host.wait_for_name(IDENTITY, present=False)
    ping(host)
    second = host.activated("identityd")
    assert second.pid != first.pid
    assert "serves" in second.log_text()
    second.stop()


@needs_namespaces
def test_runs_as_its_own_user(build, make_host):
    host = make_host(daemons=["identityd"], activation=["stated"], service_users=True,
                     bus_policy='<policy context="default"><allow own_prefix="org.alidade"/>'
                                '<allow send_destination="org.alidade.State1"/></policy>')
    ping(host, STATE)
    uids = [host.connection().call_bus("GetConnectionUnixUser", "s", (name,)) for name in (IDENTITY, STATE)]
    assert 0 not in uids and uids[0] != uids[1]
    assert host.state_directory("stated").stat().st_uid == uids[1]


def test_one_that_cannot_start_is_told_with_its_log(build):
    with Host() as host:
        with pytest.raises(BedFailure, match="ended before it owned(.|\n)*Identity1: "):
            host.start_daemon("identityd", env={"ALIDADE_BUS_ADDRESS": "unix:path=/nonexistent"})
        assert host.daemons[0].expect_exit(1) == 1


def test_an_end_that_was_expected_is_no_failure(build):
    with Host(daemons=["identityd"]) as host:
        assert host.start_daemon("identityd", wait=False).expect_exit() == 1


@pytest.mark.parametrize("by", ["hand", "activation"])
@pytest.mark.parametrize("vice, verdict", [("failure", "ended with 3"), ("critical", "GLib-CRITICAL")])
def test_vices_are_noticed(build, vice, verdict, by):
    host = Host(environment={"SAMPLE_VICE": vice}, activation=by == "activation",
                daemons=["identityd"] if by == "hand" else ())
    with pytest.raises(BedFailure, match=verdict):
        with host:
            ping(host)
    assert not host.dir.exists()


@pytest.mark.parametrize("by", ["hand", "activation"])
@pytest.mark.parametrize("vice, verdict", [
    ("leak", "LeakSanitizer: detected memory leaks"), ("overflow", "runtime error: signed integer overflow"),
    ("overrun", "AddressSanitizer: heap-buffer-overflow"), ("", None)])
def test_sanitizer_reports_are_noticed(sanitized, vice, verdict, by):
    host = Host(environment={"SAMPLE_VICE": vice}, activation=by == "activation",
                daemons=["identityd"] if by == "hand" else ())
    if verdict is None:
        with host:
            ping(host)
        return
    with pytest.raises(BedFailure, match=verdict):
        with host:
            ping(host)


def test_an_unexpected_death_is_noticed(build):
    with pytest.raises(BedFailure, match="ended with -6"):
        with Host(daemons=["identityd"]) as host:
            host.daemons[0].signal(6)
            host.wait_for_name(IDENTITY, present=False)


def test_one_that_will_not_stop_is_ended_and_told(build, monkeypatch):
    monkeypatch.setattr("bedlib.host.STOP_DEADLINE", 0.2)
    with pytest.raises(BedFailure, match="in vain for the end of <identityd"):
        with Host(daemons=["identityd"], environment={"SAMPLE_VICE": "deaf"}) as host:
            ping(host)


def test_allowed_problems_do_not_fail(build):
    with Host(daemons=["identityd"], environment={"SAMPLE_VICE": "critical"}) as host:
        host.allowed_problems.append("made up")


def test_without_activation_an_absent_service_is_an_error(build, make_host):
    host = make_host()
    with pytest.raises(BusError) as caught:
        ping(host)
    assert caught.value.name == "org.freedesktop.DBus.Error.ServiceUnknown"
