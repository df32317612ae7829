# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a command under the filter of system calls that a unit describes, where systemd does not run:
unit_filter.py UNIT COMMAND…"""

import ctypes
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_NUMBER, LOAD_ARCHITECTURE = (0x20, 0, 0, 0), (0x20, 0, 0, 4)
ALLOW, REFUSE = (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)  # EPERM
X86_64 = 0xC000003E
NUMBERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


def equals(value, if_so, if_not):
    """Skips so many instructions if the loaded number is this one, or is not."""
    return (0x15, if_so, if_not, value)


def members(name):
    """The system calls of a group, or the one of this name."""
    if not name.startswith("@"):
        return {name}
    listed = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    found = [line.strip() for line in listed.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return set().union(*(members(item) for item in found))


def allowed(unit):
    """What the lines SystemCallFilter= of a unit leave, as systemd.exec(5) says."""
    calls = set(members("@default"))
    for line in re.findall(r"^SystemCallFilter=(.*)$", Path(unit).read_text(encoding="utf-8"), re.MULTILINE):
        named = set().union(*(members(name) for name in line.removeprefix("~").split()))
        calls = calls - named if line.startswith("~") else calls | named
    return calls


def load(calls):
    numbers = dict(re.findall(r"^#define __NR_(\w+) (\d+)$", NUMBERS.read_text(encoding="utf-8"), re.MULTILINE))
    program = [LOAD_ARCHITECTURE, equals(X86_64, 1, 0), REFUSE, LOAD_NUMBER]
    for call in sorted(calls & numbers.keys()):
        program += [equals(int(numbers[call]), 0, 1), ALLOW]
    program.append(REFUSE)
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, head, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    load(allowed(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
