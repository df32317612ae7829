# SPDX-License-Identifier: LGPL-2.1-or-later
"""First process of a simulated machine: starts, connects and reaps on request, and ends all of it.

Run by machine.py as `python3 -ISB agent.py FD`, once: this process then forks the first process of each machine that
is asked for over that socket, which takes a tenth of what it takes to start Python and unshare(1). Machines outlive it.

All sockets are SOCK_SEQPACKET; each request is one JSON object with descriptors beside it. A machine has a control
socket of its own, and answers each request by one JSON object. When the other end closes, for whatever reason, or
SIGTERM comes, everything started there dies and its directory goes.

The first process is pid 1 of a pid namespace, or, where namespaces are refused, a child subreaper: either way no
process started below it can escape.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import pwd
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import traceback

PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 15, 36
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = (
    0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000)
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 0x4000, 0x40000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1

libc = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def mount(kind, target, flags=0, options=""):
    checked(libc.mount(kind.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()),
            f"mount {target}")


def bring_up_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.Struct("16sh22x")
        found = fcntl.ioctl(any_socket, SIOCGIFFLAGS, request.pack(b"lo", 0))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request.pack(b"lo", request.unpack(found)[1] | IFF_UP))


def set_up(name, machine_id):
    """Its own /etc, host name and machine id, once it has mounts of its own."""
    for target in ("/run/bed/upper", "/run/bed/work", "/run/dbus"):
        os.makedirs(target)
    # The upper half is on a tmpfs: / may be an overlay itself.
    mount("overlay", "/etc", options="lowerdir=/etc,upperdir=/run/bed/upper,workdir=/run/bed/work")
    socket.sethostname(name)
    for path, text in (("/etc/hostname", name), ("/etc/machine-id", machine_id)):
        with open(path, "w", encoding="ascii") as file:
            file.write(f"{text}\n")
    bring_up_loopback()


def mount_own():
    checked(libc.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None), "making mounts private")
    mount("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("tmpfs", "/run", options="mode=0755")
    # faketime names semaphores in it after pids, which are those of other machines as well.
    mount("tmpfs", "/dev/shm", options="mode=1777")
    # So that it shows this network namespace, and read-only, or NetworkManager waits for a udev that is not there.
    mount("sysfs", "/sys", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)


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


def be_first_process(control, request):
    """Of a machine, until that ends."""
    try:
        if request["isolated"]:
            checked(libc.unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET), "unshare")
            # Only a child is in the new pid namespace.
            if os.fork() != 0:
                os._exit(0)
        os.chdir(request["directory"])  # where tests/bed/shell finds its name
        libc.prctl(PR_SET_NAME, b"bed-machine", 0, 0, 0)
        if request["isolated"]:
            mount_own()
            set_up(request["name"], request["machine_id"])
        else:
            libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        wakeup, signalled = os.pipe()
        os.set_blocking(signalled, False)
        signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
        # What is handled here is not ignored by the programs started, though who started the tests may ignore it.
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, lambda *_: None)
        agent = Agent(control)
        own = os.pidfd_open(os.getpid())
    except OSError as error:
        Agent(control).answer({"error": str(error)})
        raise
    agent.answer({"pid": os.getpid()}, [own])
    os.close(own)
    agent.run(wakeup)


def fork_machine(requests, request, fds):
    """A new machine; its directory goes with it."""
    if os.fork() != 0:
        return
    try:
        requests.close()
        os.dup2(fds[1], sys.stderr.fileno())
        os.close(fds[1])
        control = socket.socket(fileno=fds[0])
        os.setsid()
        try:
            be_first_process(control, request)
        finally:
            end_everything()
            shutil.rmtree(request["directory"], ignore_errors=True)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def main():
    requests = socket.socket(fileno=int(sys.argv[1]))
    requests.set_inheritable(False)
    # Children, and theirs, are reaped without wait().
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, fds, _, _ = socket.recv_fds(requests, 1 << 20, 8)
        if not message:
            return
        try:
            fork_machine(requests, json.loads(message), fds)
        except OSError as error:
            with socket.socket(fileno=os.dup(fds[0])) as control, contextlib.suppress(OSError):
                Agent(control).answer({"error": str(error)})
        for fd in fds:
            os.close(fd)


main()
