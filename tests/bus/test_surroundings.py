# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a service finds where it is started: standard files that are closed, and things that are no files
where its configuration and its state lie."""

import os

import pytest

from bedlib import SERVICES

PROGRAMS = ("identityd", "telemetryd", "link-probed", "stated")


def bound_to_wait(path):
    """A FIFO: whoever opens it as if it were a file never comes back."""
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)


def test_closed_standard_files(make_host):
    """What is opened next would get their numbers, and the log with them."""
    host = make_host(sysroot=True)
    for program in PROGRAMS:
        closed = host.spawn(["sh", "-c", 'exec "$0" <&- >&- 2>&-', *host.daemon_argv(program)], program,
                            env=host.daemon_environment(program))
        host.connection().wait_for_name(SERVICES[program].bus_name, process=closed)
        for number in range(3):
            assert os.readlink(f"/proc/{closed.outer_pid}/fd/{number}") == "/dev/null", program
        closed.stop()


def test_configuration_that_is_no_file(make_host):
    host = make_host(sysroot=True)
    folder = host.dir / "config/alidade.conf.d"
    bound_to_wait(folder / "fifo.conf")
    (folder / "folder.conf").mkdir()
    (folder / "endless.conf").symlink_to("/dev/zero")
    (folder / "large.conf").write_bytes(b"# nothing\n" * 200_000)
    for program in PROGRAMS:
        daemon = host.start_daemon(program)
        for name, reason in (("fifo", "not a regular file"), ("folder", "not a regular file"),
                             ("endless", "not a regular file"), ("large", "too large")):
            assert daemon.log_text().count(f"{name}.conf: left out: {reason}") == 1, program


@pytest.mark.parametrize("make", [bound_to_wait, lambda path: path.mkdir()], ids=["FIFO", "directory"])
def test_state_that_is_no_file(make_host, make):
    host = make_host(sysroot=True)
    folder = host.state_directory("stated")
    folder.mkdir()
    make(folder / "state.json")
    daemon = host.start_daemon("stated")
    assert daemon.log_text().count("state.json is damaged (not a regular file)") == 1
    assert (folder / "state.json").is_file()
