# SPDX-License-Identifier: LGPL-2.1-or-later
"""First process of a simulated machine: starts, connects and reaps on request, and ends all of it.

Run by machine.py as `python3 -ISB agent.py CONTROL-FD DIRECTORY`. The control socket is SOCK_SEQPACKET;
each request is one JSON object with descriptors beside it, each answered by one JSON object. When the
other end closes, for whatever reason, or SIGTERM comes, everything started here dies and DIRECTORY goes.

It is pid 1 of a pid namespace, or, where namespaces are refused, a child subreaper: either way no
process started below it can escape.
"""

import ctypes
import json
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36


def identity(user):
    """Keyword arguments of Popen for a user name, nothing for None."""
    if user is None:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid,
            "extra_groups": os.getgrouplist(user, entry.pw_gid)}


def become(user):
    who = identity(user)
    if who:
        os.setgroups(who["extra_groups"])
        os.setgid(who["group"])
        os.setuid(who["user"])


class Agent:
    def __init__(self, control):
        self.control = control
        self.children = {}  # pid → (Popen, status descriptor)

    def answer(self, reply, fds=()):
        socket.send_fds(self.control, [json.dumps(reply).encode()], list(fds))

    def spawn(self, request, fds):
        stdin, stdout, stderr, status = fds
        child = subprocess.Popen(request["argv"], env=request["env"], cwd=request["cwd"], stdin=stdin,
                                 stdout=stdout, stderr=stderr, **identity(request["user"]))
        self.children[child.pid] = (child, os.dup(status))
        pidfd = os.pidfd_open(child.pid)
        self.answer({"pid": child.pid}, [pidfd])
        os.close(pidfd)

    def connect(self, request, fds):
        """A process of the wanted user connects, hands the socket over and lives as long as its lifeline:
        the peer then sees the credentials of a real, living process inside the machine."""
        pid = os.fork()
        if pid != 0:
            return
        try:
            become(request["user"])
            link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            link.connect(request["path"])
            self.answer({"pid": os.getpid()}, [link.fileno()])
            link.close()
            self.control.close()
            # Ours no more: when the other end closes it, it is closed.
            os.write(fds[0], b"c")
            os.read(fds[0], 1)
        except OSError as error:
            self.answer({"error": str(error)})
        finally:
            os._exit(0)

    def pidfd(self, request, _fds):
        pidfd = os.pidfd_open(request["pid"])
        self.answer({"pid": request["pid"]}, [pidfd])
        os.close(pidfd)

    def serve(self, message, fds):
        request = json.loads(message)
        handler = {"spawn": self.spawn, "connect": self.connect, "pidfd": self.pidfd}[request["op"]]
        try:
            handler(request, fds)
        except (OSError, KeyError, subprocess.SubprocessError) as error:
            self.answer({"error": str(error)})
        finally:
            for fd in fds:
                os.close(fd)

    def reap(self):
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if found is None:
                return
            known = self.children.pop(found.si_pid, None)
            if known is None:
                os.waitpid(found.si_pid, 0)
                continue
            child, status = known
            try:
                os.write(status, str(child.wait()).encode())
            except OSError:
                pass  # nobody waits for this one any more
            os.close(status)

    def run(self, wakeup):
        while True:
            ready, _, _ = select.select([self.control, wakeup], [], [])
            if wakeup in ready:
                if signal.SIGTERM in os.read(wakeup, 4096):
                    return
                self.reap()
            if self.control in ready:
                try:
                    message, fds, _, _ = socket.recv_fds(self.control, 1 << 20, 8)
                except ConnectionError:
                    return
                if not message:
                    return
                self.serve(message, fds)


def own_children():
    """Pids whose parent is this process, from /proc: the kernel may lack /proc/…/children."""
    mine = os.getpid()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as stat:
                    fields = stat.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == mine:
                yield int(entry)


def end_everything():
    """Killing a child hands us its children in turn; when none is left, nothing is left."""
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        if os.getpid() == 1:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
        else:
            for pid in own_children():
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def main():
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    if os.getpid() != 1:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wakeup, signalled = os.pipe()
    os.set_blocking(signalled, False)
    signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
    # What is handled here is not ignored by the programs started, though who started the tests may ignore it.
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda *_: None)
    agent = Agent(control)
    own = os.pidfd_open(os.getpid())
    agent.answer({"pid": os.getpid()}, [own])
    os.close(own)
    try:
        agent.run(wakeup)
    finally:
        end_everything()
        shutil.rmtree(sys.argv[2], ignore_errors=True)


main()
