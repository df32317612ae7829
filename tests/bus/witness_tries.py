# SPDX-License-Identifier: LGPL-2.1-or-later
"""What somebody who has taken over a witness would try with a process of another user: witness_tries.py PID
prints one line for each try, "NAME yes" or "NAME no"."""

import ctypes
import os
import socket
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
# Numbers on x86_64.
CALLS = {"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "perf_event_open": 298,
         "pidfd_open": 434, "pidfd_getfd": 438, "process_madvise": 440, "unshare": 272, "setns": 308, "mount": 165,
         "bpf": 321, "setuid": 105, "kill": 62}
PTRACE_SEIZE, CLONE_NEWUSER = 0x4206, 0x10000000


def call(name, *arguments):
    done = LIBC.syscall(ctypes.c_long(CALLS[name]), *(argument if isinstance(argument, ctypes.Array)
                                                      else ctypes.c_long(argument) for argument in arguments))
    if done < 0:
        raise OSError(ctypes.get_errno(), name)
    return done


def vector(address, size):
    return (ctypes.c_ulong * 2)(address, size)


def stack_of(pid):
    """Its last word, which is zero."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
        return next(int(line.split()[0].split("-")[1], 16) for line in maps if "[stack]" in line) - 8


def move(name, pid):
    buffer = ctypes.create_string_buffer(8)
    call(name, pid, vector(ctypes.addressof(buffer), 8), 1, vector(stack_of(pid), 8), 1, 0)


def read(path):
    with open(path, "rb") as file:
        return file.read(64)


def write(path):
    with open(path, "wb"):
        pass


def write_through(path):
    """By a new file, which remains where unlink() is refused."""
    with open(path, "wb", buffering=0) as file:
        file.write(b"x")


def created(path, change):
    """Changes a new file."""
    write(path)
    change(path)


def bind(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(path)


def tries_outside(pid):
    """Through folders of another process, which lead out of the own file systems."""
    place = f"/proc/{pid}/root/tmp/alidade-witness-tried-{os.getpid()}"
    return {
        "create-by-root": lambda: write(f"{place}-root"),
        "create-by-folder": lambda: write(f"/proc/{pid}/cwd/alidade-witness-tried-{os.getpid()}"),
        "write-by-root": lambda: write_through(f"{place}-write"),
        "folder-by-root": lambda: os.mkdir(f"{place}-folder"),
        "symbolic-link-by-root": lambda: os.symlink("x", f"{place}-symbolic"),
        "link-by-root": lambda: created(f"{place}-of", lambda path: os.link(path, f"{place}-link")),
        "rename-by-root": lambda: created(f"{place}-from", lambda path: os.rename(path, f"{place}-to")),
        "remove-by-root": lambda: created(f"{place}-removed", os.unlink),
        "mode-by-root": lambda: created(f"{place}-mode", lambda path: os.chmod(path, 0o777)),
        "owner-by-root": lambda: created(f"{place}-owner", lambda path: os.chown(path, os.getuid(), os.getgid())),
        "size-by-root": lambda: created(f"{place}-size", lambda path: os.truncate(path, 0)),
        "pipe-by-root": lambda: os.mkfifo(f"{place}-pipe"),
        "socket-by-root": lambda: bind(f"{place}-socket"),
    }


def counters():
    attributes = ctypes.create_string_buffer(128)
    attributes[4] = 128  # its size, of software events
    attributes[0] = 1
    return attributes


def tries(pid):
    return {
        "fdinfo": lambda: read(f"/proc/{pid}/fdinfo/0"),
        "descriptors": lambda: os.listdir(f"/proc/{pid}/fd"),
        "environment": lambda: read(f"/proc/{pid}/environ"),
        "memory": lambda: read(f"/proc/{pid}/mem"),
        "ptrace": lambda: call("ptrace", PTRACE_SEIZE, pid, 0, 0),
        "read-memory": lambda: move("process_vm_readv", pid),
        "write-memory": lambda: move("process_vm_writev", pid),
        "take-descriptor": lambda: call("pidfd_getfd", call("pidfd_open", pid, 0), 0, 0),
        "compare": lambda: call("kcmp", pid, pid, 0, 0, 0),
        "count": lambda: call("perf_event_open", counters(), pid, -1, -1, 0),
        "shadow": lambda: read("/etc/shadow"),
        "kill": lambda: call("kill", pid, 0),
        "become-root": lambda: call("setuid", 0),
        "bpf": lambda: call("bpf", 0, 0, 0),
        "write": lambda: write("/etc/alidade-witness-tried"),
        **tries_outside(pid),
        # Without a sandbox of networks and namespaces, these are open to all.
        "internet": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
        "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
        "user-namespace": lambda: call("unshare", CLONE_NEWUSER),
    }


def succeeds(attempt):
    try:
        attempt()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    for what, attempt in tries(int(sys.argv[1])).items():
        print(what, "yes" if succeeds(attempt) else "no", flush=True)
