# SPDX-License-Identifier: LGPL-2.1-or-later
"""The witness, as a user of its own with the capability and the filter of system calls of its unit: what it says of
processes of others, and what it cannot do to them."""

import contextlib
import json
import os
import platform
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from bedlib import build_dir

HERE = Path(__file__).parent
OTHER, WITNESS, TELEMETRY = 65534, 64998, 64999
CAPABILITIES = {"processes": "sys_ptrace", "counters": "perfmon"}
# By source: what may succeed. Addresses of the program's memory are in maps, but never the memory.
CREATE = {"create-by-root", "create-by-folder"}
ALLOWED = {"processes": {"fdinfo"} | CREATE, "counters": {"count"}}
# What a sandbox of networks and namespaces refuses besides, which tests/vm has.
NOT_HERE = {"internet", "netlink", "user-namespace"}

needs_filter = pytest.mark.skipif(
    os.geteuid() != 0 or platform.machine() != "x86_64" or not shutil.which("systemd-analyze")
    or not shutil.which("setpriv"), reason="needs root, setpriv and systemd-analyze on x86_64")


def unit(source):
    return build_dir() / f"services/witness/alidade-witness-{source}.service"


def confined(source, *command, capability=True, filtered=True):
    """The command, as the unit runs it."""
    capabilities = f"-all,+{CAPABILITIES[source]}" if capability else "-all"
    filter_of = ["/usr/bin/python3", HERE / "unit_filter.py", unit(source)] if filtered else []
    return ["setpriv", f"--reuid={WITNESS}", f"--regid={WITNESS}", "--clear-groups", "--no-new-privs",
            f"--inh-caps={capabilities}", f"--ambient-caps={capabilities}", f"--bounding-set={capabilities}",
            *(["prlimit", "--fsize=0"] if filtered and source == "processes" else []), *filter_of, *command]


@pytest.fixture(name="victim")
def fixture_victim():
    """A process of another user, in a folder that is open to all."""
    with subprocess.Popen(["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", "cat"], cwd="/tmp",
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"x")
        process.stdin.flush()
        process.stdout.read(1)
        yield process
        process.stdin.close()
    for tried_path in Path("/tmp").glob("alidade-witness-tried-*"):
        tried_path.rmdir() if tried_path.is_dir() and not tried_path.is_symlink() else tried_path.unlink()


def tried(source, victim, **how):
    done = subprocess.run(confined(source, "/usr/bin/python3", HERE / "witness_tries.py", str(victim.pid), **how),
                          stdout=subprocess.PIPE, text=True, check=True)
    return {name for name, could in map(str.split, done.stdout.splitlines()) if could == "yes"}


@needs_filter
@pytest.mark.parametrize("source", CAPABILITIES)
def test_it_can_do_no_more_than_it_must(source, victim):
    assert tried(source, victim) - NOT_HERE == ALLOWED[source]


def test_its_unit_lets_it_write_nothing():
    assert "LimitFSIZE=0\n" in unit("processes").read_text(encoding="ascii")


@needs_filter
def test_its_filter_is_what_keeps_it_from_other_processes(victim):
    """With its capability alone, it could do all that."""
    could = {"fdinfo", "ptrace", "read-memory", "write-memory", "take-descriptor", "compare", *CREATE}
    could |= {f"{what}-by-root" for what in ("write", "folder", "symbolic-link", "link", "rename", "remove", "mode",
                                             "owner", "size", "pipe", "socket")}
    assert tried("processes", victim, filtered=False) - NOT_HERE | {"compare"} == could
    assert tried("processes", victim, capability=False) - NOT_HERE == set()


class Witness:
    """A running one on a socket of its own, which the test has made as systemd would."""

    def __init__(self, folder, source, sysroot=None, **how):
        self.path = f"{folder}/{source}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(self.path)
            listener.listen()
            os.chown(self.path, TELEMETRY, 0)
            start = f'exec 3<&{listener.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"'
            command = confined(source, build_dir() / "services/witness/alidade-witness", source, **how)
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                ["bash", "-c", start, "bash", *command], pass_fds=[listener.fileno()],
                env={**os.environ, **({"ALIDADE_SYSROOT": sysroot} if sysroot else {})})

    def close(self):
        self.process.terminate()
        self.process.wait()

    def dial(self, user=TELEMETRY):
        """A connection as of this user."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(60)
        os.seteuid(user)
        try:
            connection.connect(self.path)
        finally:
            os.seteuid(0)
        return connection

    def ask(self, request):
        with self.dial() as connection:
            connection.send(json.dumps(request).encode())
            return json.loads(connection.recv(1 << 20))


@pytest.fixture(name="folder")
def fixture_folder():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield folder


@pytest.fixture(name="witness")
def fixture_witness(folder):
    with contextlib.ExitStack() as stack:
        yield lambda *arguments, **how: stack.enter_context(contextlib.closing(Witness(folder, *arguments, **how)))


@pytest.fixture(name="with_gpu")
def fixture_with_gpu(folder, victim):
    """A process of another user, and a GPU, without which no process is read but those that are named."""
    device = Path(folder, "root/sys/class/drm/renderD128/device")
    device.mkdir(parents=True)
    (device / "driver").symlink_to("../xe")
    Path(folder, "root/proc").mkdir()
    for name in (str(victim.pid), "self"):
        Path(folder, "root/proc", name).symlink_to(f"/proc/{name}")
    return f"{folder}/root"


def named(answer, pid):
    return next(row for row in answer["Processes"] if row["Id"] == str(pid))


@needs_filter
def test_it_reads_the_processes_of_others(witness, victim, with_gpu):
    answer = witness("processes", with_gpu).ask({"Pids": [str(victim.pid)]})
    assert {"Program": "cat", "Uid": OTHER, "User": "nobody"}.items() <= named(answer, victim.pid).items()
    # Nothing was hidden from it, unless the machine is a container.
    if os.readlink("/proc/self/ns/pid") == "pid:[4026531836]":
        assert answer["Complete"] is True


@needs_filter
def test_without_its_capability_it_says_that_it_has_not_read_all(witness, victim, with_gpu):
    answer = witness("processes", with_gpu, capability=False).ask({"Pids": [str(victim.pid)]})
    assert named(answer, victim.pid)["Program"] == "cat"
    assert answer["Complete"] is False


@needs_filter
def test_counters_of_a_device_that_is_not_there(witness):
    assert witness("counters").ask({"Ids": ["0000:7f:1f.7"]}) == {"Devices": [{"Id": "0000:7f:1f.7"}]}


@needs_filter
@pytest.mark.parametrize("source", CAPABILITIES)
def test_only_telemetryd_is_answered(witness, source):
    running = witness(source)
    with running.dial(0) as root:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            root.send(b'{"Ids":["0000:03:00.0"]}')
        with contextlib.suppress(ConnectionResetError):
            assert root.recv(100) == b""
    for user in (OTHER, WITNESS):
        with pytest.raises(PermissionError):
            running.dial(user)
    assert running.ask({"Ids": ["0000:03:00.0"], "Pids": []})


@needs_filter
def test_rubbish_is_closed_and_silence_is_borne(witness):
    running = witness("processes")
    silent = [running.dial() for _ in range(8)]
    for rubbish in (b"{", b"\0" * 1000, b"[" * 16000, b'{"Pids":"1"}', b" " * 20000):
        with running.dial() as connection:
            connection.send(rubbish)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(100) == b""
    assert "Complete" in running.ask({})
    assert running.process.poll() is None
    for connection in silent:
        connection.close()


def test_it_is_started_by_its_socket_only():
    for arguments in ([], ["processes"], ["counters"], ["other"]):
        done = subprocess.run([build_dir() / "services/witness/alidade-witness", *arguments], check=False,
                              stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and done.stderr
