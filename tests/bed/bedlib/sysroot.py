# SPDX-License-Identifier: LGPL-2.1-or-later
"""A root directory with a made-up proc/, sys/ and etc/, for ALIDADE_SYSROOT."""

import os
from pathlib import Path

# The least that any Linux shows; a test adds the hardware it is about.
BASELINE = {
    "proc/meminfo": "MemTotal:       16384000 kB\nMemFree:         4096000 kB\nMemAvailable:    8192000 kB\n"
                    "SwapTotal:       2048000 kB\nSwapFree:        2048000 kB\n",
    "proc/stat": "cpu  1000 0 500 8000 100 0 0 0 0 0\ncpu0 1000 0 500 8000 100 0 0 0 0 0\n"
                 "btime 1700000000\n",
    "proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Bed CPU\n",
    "proc/uptime": "100.00 80.00\n",
    "proc/loadavg": "0.10 0.20 0.30 1/100 1000\n",
    "proc/sys/kernel/osrelease": "6.1.0-bed\n",
    "proc/sys/kernel/hostname": "bed\n",
    "proc/sys/kernel/random/boot_id": "00112233-4455-6677-8899-aabbccddeeff\n",
    "etc/os-release": 'PRETTY_NAME="Bed Linux 1"\nID=bed\nVERSION_ID="1"\n',
    "etc/machine-id": "00112233445566778899aabbccddeeff\n",
}


class FakeRoot:
    """Paths are relative to it. Changes are seen at once; files are replaced whole, never half-written."""

    def __init__(self, folder, baseline=True):
        self.dir = Path(folder)
        self.dir.mkdir(parents=True, exist_ok=True)
        for top in ("proc", "sys", "etc"):
            (self.dir / top).mkdir(exist_ok=True)
        if baseline:
            self.write_all(BASELINE)

    def write(self, path, content, mode=0o644):
        """content is text or bytes."""
        target = self.dir / path
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{target.name}.fresh")
        fresh.write_bytes(content if isinstance(content, bytes) else content.encode())
        fresh.chmod(mode)
        fresh.rename(target)
        return target

    def write_all(self, files, below=""):
        """{path: content}, all below one directory."""
        for path, content in files.items():
            self.write(os.path.join(below, path), content)

    def link(self, path, target):
        """A symbolic link, as sysfs has them for drivers and buses; target as it shall read."""
        place = self.dir / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(target)

    def mkdir(self, path):
        (self.dir / path).mkdir(parents=True, exist_ok=True)

    def remove(self, path):
        """A file, a link or a whole directory."""
        place = self.dir / path
        if place.is_dir() and not place.is_symlink():
            for below in place.iterdir():
                self.remove(below.relative_to(self.dir))
            place.rmdir()
        else:
            place.unlink(missing_ok=True)
