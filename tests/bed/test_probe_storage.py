# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidade-probe-storage on file systems of loop devices: it fills no page cache, writes nothing and gives way."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from bedlib.loop_disk import add_model, loop_file_system, resident_pages, run, written_sectors
from bedlib.waiting import wait_steadily

BUILD = Path(os.environ["ALIDADE_BUILD"])
PROGRAM = BUILD / "probes/storage/alidade-probe-storage"
MODEL_MIB = 96
NOBODY = 65534

# Otherwise the kernel initializes the rest later.
EXT4 = ("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0")
MAKERS = {
    "ext4": (EXT4, 200),
    "xfs": (("mkfs.xfs", "-q"), 400),
    "btrfs": (("mkfs.btrfs", "-q"), 400),
}

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/loop-control").exists(),
                                reason="needs root and loop devices")


@contextlib.contextmanager
def file_system(folder, kind, options="defaults"):
    make, mib = MAKERS[kind]
    if not shutil.which(make[0]):
        pytest.skip(f"{make[0]} is not installed")
    with loop_file_system(folder, make, mib, options) as made:
        yield made


def probe(*arguments, status=0, user=None):
    words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
    done = subprocess.run([*words, PROGRAM, "--json", "--lenient", *arguments], capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == status, done
    return json.loads(done.stdout.splitlines()[-1])


def only_row(result):
    row, = result["FileSystems"]
    return row


def only_error(result):
    error, = result["Errors"]
    return error["error"]


@pytest.mark.parametrize("kind", MAKERS)
def test_reads_around_the_page_cache_and_writes_nothing(kind, tmp_path):
    with file_system(tmp_path, kind) as (point, device):
        model = add_model(point, MODEL_MIB)
        before, written = model.stat(), written_sectors(device)
        assert resident_pages(model) == 0
        row = only_row(probe("--bytes=64M", point))
        assert resident_pages(model) == 0
        assert (model.stat().st_atime_ns, written_sectors(device)) == (before.st_atime_ns, written)
        assert (row["Id"], row["FileSystemType"], row["Disks"]) == (str(point), kind, [device])
        assert (row["ModelFiles"], row["ModelBytes"]) == (1, MODEL_MIB << 20)
        assert row["ReadBytesPerSecond"] > 0
        assert row["AttemptBytes"] == 61 << 20
        # The first eighth, and up to three blocks that ended together with the last of it, do not count.
        assert 50 << 20 <= row["ReadBytes"] <= 53 << 20


@pytest.mark.parametrize("kind, options", [("ext4", "data=journal"), ("btrfs", "compress-force=zstd")])
def test_no_figure_where_the_kernel_would_fill_the_page_cache(kind, options, tmp_path):
    with file_system(tmp_path, kind, options) as (point, _):
        model = add_model(point, MODEL_MIB)
        result = probe(point, status=1)
        assert only_error(result) == "page-cache"
        assert "ReadBytesPerSecond" not in only_row(result) and only_row(result)["ModelFiles"] == 1
        assert resident_pages(model) == 0


def test_compressed_file_on_btrfs_without_the_option(tmp_path):
    with file_system(tmp_path, "btrfs", "compress-force=zstd") as (point, _):
        model = Path(point) / "model.gguf"
        model.write_bytes(bytes(MODEL_MIB << 20))
        os.sync()
        run("mount", "-o", "remount,compress=no", point)
        # The cache is emptied.
        with model.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        probe(point, status=1)
        assert resident_pages(model) == 0


def test_overlay_and_memory_have_no_figure(tmp_path):
    for name in ("lower", "upper", "work", "overlay", "tmpfs"):
        (tmp_path / name).mkdir()
    with contextlib.ExitStack() as stack:
        run("mount", "-t", "tmpfs", "tmpfs", tmp_path / "tmpfs")
        stack.callback(run, "umount", tmp_path / "tmpfs")
        add_model(tmp_path / "lower", 64)
        add_model(tmp_path / "tmpfs", 64)
        run("mount", "-t", "overlay", "overlay", "-o",
            f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper,workdir={tmp_path}/work", tmp_path / "overlay")
        stack.callback(run, "umount", tmp_path / "overlay")
        result = probe(tmp_path / "overlay", tmp_path / "tmpfs", status=1)
        assert [error["error"] for error in result["Errors"]] == ["unknown-disk", "unknown-disk"]
        assert all("ReadBytesPerSecond" not in row for row in result["FileSystems"])


def test_mount_below_is_not_entered(tmp_path):
    with file_system(tmp_path / "a", "ext4") as (outer, _):
        (outer / "inner").mkdir()
        run("mount", "-t", "tmpfs", "tmpfs", outer / "inner")
        try:
            add_model(outer / "inner", 64)
            assert only_error(probe("--list", outer)) == "no-model"
        finally:
            run("umount", outer / "inner")


def test_loop_device_is_no_disk(tmp_path):
    with file_system(tmp_path, "ext4") as (point, _):
        add_model(point, 64)
        done = subprocess.run([PROGRAM, "--json", point], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and only_error(json.loads(done.stdout)) == "memory"


def test_other_users_do_not_change_access_times(tmp_path):
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent.owner() == "root" and str(parent).startswith("/tmp/"):
            parent.chmod(0o755)
    with file_system(tmp_path, "ext4") as (point, _):
        model = add_model(point, MODEL_MIB)
        os.utime(model, (1, 1))
        assert only_error(probe(point, status=1, user=NOBODY)) == "access-time"
        assert model.stat().st_atime == 1
        run("mount", "-o", "remount,ro", point)
        assert only_row(probe(point, user=NOBODY))["ReadBytesPerSecond"] > 0
        assert model.stat().st_atime == 1


# A single process: once it has been waited for, nothing keeps the file system busy.
READER = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
block, at = mmap.mmap(-1, 1 << 20), 0
while True:
    n = os.preadv(file, [block], at)
    at = at + n if n else 0
"""


def test_gives_way_to_other_programs(tmp_path):
    with file_system(tmp_path, "ext4") as (point, _):
        model = add_model(point, MODEL_MIB)
        with subprocess.Popen(["/usr/bin/python3", "-c", READER, model]) as other:
            try:
                result = probe("--give-way", point, status=1)
                assert only_error(result) == "busy"
                # What was read counts all the same.
                assert "AttemptBytes" in only_row(result) and "MeasuredUSec" not in only_row(result)
                assert "busy" in only_row(probe(point))["Flags"]
            finally:
                other.kill()


def test_signal_ends_it(tmp_path):
    with file_system(tmp_path, "ext4") as (point, _):
        add_model(point, MODEL_MIB)
        with subprocess.Popen([PROGRAM, "--json", "--lenient", point], stdout=subprocess.PIPE, text=True) as program:
            status = Path(f"/proc/{program.pid}/status")
            # It watches the disk for a second from then on.
            wait_steadily(lambda: int(status.read_text(encoding="ascii").partition("SigBlk:")[2].split()[0], 16)
                          & 1 << signal.SIGTERM - 1, "SIGTERM is blocked")
            program.send_signal(signal.SIGTERM)
            result = json.loads(program.communicate(timeout=600)[0])
        assert program.returncode == 1 and only_error(result) == "aborted"
