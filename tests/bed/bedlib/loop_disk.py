# SPDX-License-Identifier: LGPL-2.1-or-later
"""File systems on loop devices, with a file that looks like a model."""

import contextlib
import ctypes
import mmap
import os
import subprocess
from pathlib import Path

MIB = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def loop_file_system(folder, make, mib, options="defaults"):
    """A file system made by the command `make`: yields its mount point and the name of its device."""
    image, point = Path(folder) / "image", Path(folder) / "mount"
    point.mkdir(parents=True)
    with image.open("wb") as file:
        file.truncate(mib * MIB)
    with contextlib.ExitStack() as stack:
        stack.callback(image.unlink)
        device = run("losetup", "--find", "--show", image).strip()
        stack.callback(run, "losetup", "--detach", device)
        run(*make, device)
        run("mount", "-o", options, device, point)
        stack.callback(run, "umount", point)
        yield point, device.rpartition("/")[2]


def add_model(folder, mib, name="model.gguf"):
    """A file that is on the disk and of which nothing is in memory."""
    path = Path(folder) / name
    block = os.urandom(MIB)
    with path.open("wb") as file:
        for _ in range(mib):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    # Of a journal that holds data, the file system writes it later.
    os.sync()
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path


def resident_pages(path):
    """Pages of the file in the page cache; for root and the owner alone."""
    size = path.stat().st_size
    # A mapping changes the access time, too.
    fd = os.open(path, os.O_RDONLY | os.O_NOATIME)
    try:
        with mmap.mmap(fd, size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE) as area:
            held = ctypes.c_char.from_buffer(area)
            vector = (ctypes.c_ubyte * (-(-size // PAGE)))()
            libc = ctypes.CDLL(None, use_errno=True)
            done = libc.mincore(ctypes.c_void_p(ctypes.addressof(held)), ctypes.c_size_t(size), vector)
            del held
            assert done == 0, os.strerror(ctypes.get_errno())
            return sum(state & 1 for state in vector)
    finally:
        os.close(fd)


def written_sectors(device):
    """Since it is there."""
    for line in Path("/proc/diskstats").read_text(encoding="ascii").splitlines():
        words = line.split()
        if words[2] == device:
            return int(words[9])
    raise FileNotFoundError(device)
