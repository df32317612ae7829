# SPDX-License-Identifier: LGPL-2.1-or-later
"""A simulated machine: its own namespaces, first process, host name, machine id, /run and /etc."""

import contextlib
import functools
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

from .errors import BedFailure, Unavailable
from .process import Process, pid_of
from .waiting import DEADLINE, PATIENCE

AGENT = Path(__file__).with_name("agent.py")
PYTHON = ["/usr/bin/python3", "-I", "-S", "-B"]
STDERR = 2
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@functools.cache
def can_isolate():
    """Whether this user may make the namespaces of a machine."""
    if os.geteuid() != 0:
        return False
    trial = ["unshare", "-m", "-n", "-u", "-i", "-p", "--fork", "--mount-proc", "true"]
    return subprocess.run(trial, stderr=subprocess.DEVNULL, check=False).returncode == 0


@functools.cache
def agent_template():
    """The process that forks the first process of each machine, and the socket to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        return subprocess.Popen([*PYTHON, AGENT, str(theirs.fileno())], cwd="/", stdin=subprocess.DEVNULL,
                                pass_fds=[theirs.fileno()], start_new_session=True), ours


class Finished:
    """Result of Machine.run()."""

    def __init__(self, argv, returncode, stdout, stderr):
        self.argv = argv
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr


class Machine:
    """isolated=None takes namespaces where it may have them; True insists, False does without."""

    def __init__(self, name="machine", isolated=None):
        self.name = name
        self.isolated = can_isolate() if isolated is None else isolated
        if self.isolated and not can_isolate():
            raise Unavailable("needs root with the right to make namespaces")
        self.environment = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": "/nonexistent"}
        self.processes = []
        self.machine_id = uuid.uuid4().hex
        self.dir = self.outer_pid = None
        self._control = self._agent_pidfd = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        self.dir = Path(tempfile.mkdtemp(prefix="alidade-bed-"))
        self.dir.chmod(0o755)
        (self.dir / "log").mkdir()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            request = {"directory": str(self.dir), "isolated": self.isolated, "name": self.name,
                       "machine_id": self.machine_id}
            _, template = agent_template()
            socket.send_fds(template, [json.dumps(request).encode()], [theirs.fileno(), STDERR])
        _, (self._agent_pidfd,) = self._receive()
        self.outer_pid = pid_of(self._agent_pidfd)

    def close(self):
        if self._control is not None:
            self._control.close()
            if self._agent_pidfd is not None:
                # It ends when nothing of the machine is left.
                ended = select.poll()
                ended.register(self._agent_pidfd, select.POLLIN)
                ended.poll()
                os.close(self._agent_pidfd)
            for process in self.processes:
                process.poll()
                process.close()
            self._control = None
        if self.dir is not None:
            shutil.rmtree(self.dir, ignore_errors=True)

    def keep_across_exec(self):
        """The machine lives on when this process becomes another program, and ends with that."""
        self._control.set_inheritable(True)

    @property
    def root(self):
        """The machine's file system, usable from outside: host.root / "etc/machine-info"."""
        return Path(f"/proc/{self.outer_pid}/root") if self.isolated else Path("/")

    def add_users(self, names):
        """Makes these users exist, known inside this machine only."""
        known = {line.split(":")[0] for line in (self.root / "etc/passwd").read_text().splitlines()}
        fresh = [name for name in names if name not in known]
        with open(self.root / "etc/passwd", "a", encoding="utf-8") as passwd, \
                open(self.root / "etc/group", "a", encoding="utf-8") as group:
            for uid, name in enumerate(fresh, 61000 + len(known)):
                passwd.write(f"{name}:x:{uid}:{uid}::/nonexistent:/usr/sbin/nologin\n")
                group.write(f"{name}:x:{uid}:\n")

    def add_members(self, members):
        """(user, group) pairs; makes the groups that are not there."""
        groups = [line.split(":") for line in (self.root / "etc/group").read_text().splitlines()]
        for user, name in members:
            group = next((group for group in groups if group[0] == name), None)
            if group is None:
                group = [name, "x", str(62000 + len(groups)), ""]
                groups.append(group)
            group[3] = ",".join(dict.fromkeys(filter(None, [*group[3].split(","), user])))
        (self.root / "etc/group").write_text("".join(":".join(group) + "\n" for group in groups))

    def _receive(self):
        self._control.settimeout(DEADLINE * PATIENCE)
        message, fds, _, _ = socket.recv_fds(self._control, 1 << 20, 8)
        if not message:
            raise BedFailure(f"the first process of {self.name} is gone")
        answer = json.loads(message)
        if "error" in answer:
            raise OSError(answer["error"])
        return answer, fds

    def _ask(self, request, fds=()):
        socket.send_fds(self._control, [json.dumps(request).encode()], list(fds))
        return self._receive()

    def spawn(self, argv, name=None, user=None, env=None, stdin=None, stdout=None, stderr=None, cwd="/"):
        """Starts a program; its output goes to log/NAME.log unless descriptors are given."""
        if user is not None and os.geteuid() != 0:
            raise Unavailable("needs root to act as another user")
        argv = [str(word) for word in argv]
        name = name or os.path.basename(argv[0])
        log = self.dir / "log" / f"{name}.log"
        with contextlib.ExitStack() as stack:
            def opened(path, flags):
                fd = os.open(path, flags | os.O_CLOEXEC, 0o644)
                stack.callback(os.close, fd)
                return fd

            status, theirs = os.pipe()
            stack.callback(os.close, theirs)
            stdin = opened("/dev/null", os.O_RDONLY) if stdin is None else stdin
            output = None
            if stdout is None or stderr is None:
                output = opened(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            request = {"op": "spawn", "argv": argv, "user": user, "cwd": str(cwd),
                       "env": {**self.environment, **{k: str(v) for k, v in (env or {}).items()}}}
            try:
                answer, (pidfd,) = self._ask(request, [stdin, output if stdout is None else stdout,
                                                       output if stderr is None else stderr, theirs])
            except BaseException:
                os.close(status)
                raise
        process = Process(name, answer["pid"], pidfd, status, log if output is not None else None)
        self.processes.append(process)
        return process

    def run(self, argv, user=None, env=None, text_in=None, check=True, deadline=DEADLINE, cwd="/"):
        """Runs a program to its end; with check, a failure is an exception that shows its output."""
        def memory(content=b""):
            fd = os.memfd_create("bed")
            os.write(fd, content)
            os.lseek(fd, 0, os.SEEK_SET)
            return os.fdopen(fd, "rb")

        with memory((text_in or "").encode()) as stdin, memory() as stdout, memory() as stderr:
            process = self.spawn(argv, None, user, env, stdin.fileno(), stdout.fileno(), stderr.fileno(), cwd)
            try:
                process.wait(deadline)
            finally:
                if process.poll() is None:
                    process.kill()
                self.processes.remove(process)
                process.close()
            stdout.seek(0)
            stderr.seek(0)
            done = Finished(argv, process.returncode, stdout.read().decode(errors="replace"),
                            stderr.read().decode(errors="replace"))
        if check and done.returncode != 0:
            raise BedFailure(f"{argv} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def pidfd(self, pid):
        """A pidfd for a pid as the machine counts them."""
        _, (pidfd,) = self._ask({"op": "pidfd", "pid": pid})
        return pidfd

    def connect(self, path, user=None):
        """A connected stream socket whose peer credentials are those of a process of that user inside the
        machine, and the descriptor whose closing ends that process."""
        lifeline, theirs = socket.socketpair()
        with theirs, lifeline:
            _, (link,) = self._ask({"op": "connect", "path": str(path), "user": user}, [theirs.fileno()])
            lifeline.settimeout(DEADLINE * PATIENCE)
            lifeline.recv(1)
            return socket.socket(fileno=link), lifeline.detach()
