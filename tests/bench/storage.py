# SPDX-License-Identifier: LGPL-2.1-or-later
"""The storage probe, against fio: the same file, the same blocks, alternately."""

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from requirement import need_programs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bed"))

TOLERANCE = 0.03
# As many whole blocks as the probe reads by default: then it begins where fio does.
MODEL_MIB = 244
BLOCK_MIB, DEPTH = 1, 4
LOOP_MIB = 600
MAKERS = {
    # Otherwise the kernel initializes the rest later.
    "ext4": ("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"),
    "xfs": ("mkfs.xfs", "-q"),
    "btrfs": ("mkfs.btrfs", "-q"),
}
# What a disk in memory may read per second where the kernel limits it, and pairs of it, which take 10 s each. The
# kernel lets a tenth of a second pass at once; at higher rates, that is more than the first eighth of the model.
LIMIT = 50_000_000
LIMITED_PAIRS = 5
CONTROLLERS = (("blkio", "blkio.throttle.read_bps_device", "{} {}"), ("", "io.max", "{} rbps={}"))
SHORTEST = {"pairs": 1}


def add_arguments(parser):
    parser.add_argument("--pairs", type=int, default=15, help="runs of the probe and of fio on each file system (15)")


def check_requirements():
    need_programs("fio")


def probe_rate(build, folder):
    """Bytes per second, and its own interval and spread in percent."""
    done = subprocess.run([f"{build}/probes/storage/alidade-probe-storage", "--json", "--lenient", folder],
                          capture_output=True, text=True, check=False, timeout=600)
    rows = json.loads(done.stdout.splitlines()[-1]).get("FileSystems", [{}])
    if done.returncode != 0 or "ReadBytesPerSecond" not in rows[0]:
        raise RuntimeError(f"no figure: {done.stdout}{done.stderr}")
    return rows[0]


def fio_rate(model):
    words = ["fio", "--name=read", f"--filename={model}", "--readonly", "--direct=1", "--rw=read", f"--bs={BLOCK_MIB}M",
             "--ioengine=libaio", f"--iodepth={DEPTH}", f"--size={MODEL_MIB}M", "--output-format=json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600)
    return json.loads(done.stdout)["jobs"][0]["read"]["bw_bytes"]


def spread_percent(rates):
    return 100 * statistics.pstdev(rates) / statistics.mean(rates)


def compare(build, folder, pairs):
    from bedlib.loop_disk import add_model

    model = add_model(folder, MODEL_MIB)
    ours, theirs, flags = [], [], []
    try:
        for turn in range(pairs):
            # Each goes first as often as the other.
            for which in ("probe", "fio") if turn % 2 == 0 else ("fio", "probe"):
                if which == "fio":
                    theirs.append(fio_rate(model))
                else:
                    row = probe_rate(build, folder)
                    ours.append(row["ReadBytesPerSecond"])
                    flags += row.get("Flags", [])
    finally:
        model.unlink()
    steps = [abs(after / before - 1) for before, after in zip(theirs, theirs[1:])]
    noise = statistics.median(steps) if steps else 0.0
    difference = statistics.median(ours) / statistics.median(theirs) - 1
    verdict = "within" if abs(difference) <= TOLERANCE else "not decidable" if noise > TOLERANCE else "beyond"
    return {"probe_bytes_per_s": round(statistics.median(ours)), "fio_bytes_per_s": round(statistics.median(theirs)),
            "difference_percent": round(100 * difference, 2), "probe_spread_percent": round(spread_percent(ours), 2),
            "fio_spread_percent": round(spread_percent(theirs), 2), "fio_step_percent": round(100 * noise, 2),
            "busy": flags.count("busy"), "unstable": flags.count("unstable"), "verdict": verdict}


@contextlib.contextmanager
def limited(device):
    """Yields whether the kernel limits what this process and its children read from a block device."""
    for name, file, text in CONTROLLERS:
        parent = Path("/sys/fs/cgroup") / name
        group = parent / f"alidade-bench-{os.getpid()}"
        if (parent / "cgroup.procs").exists():
            break
    else:
        yield False
        return
    # "7:blkio:/…", or "0::/…"
    own = next(line.split(":", 2)[2] for line in Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
               if line.split(":")[1] == name)
    group.mkdir()
    try:
        can_limit = (group / file).exists()
        if can_limit:
            number = Path(f"/sys/class/block/{device}/dev").read_text(encoding="ascii").strip()
            (group / file).write_text(text.format(number, LIMIT))
            (group / "cgroup.procs").write_text(str(os.getpid()))
        yield can_limit
    finally:
        (parent / own.lstrip("/") / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


@contextlib.contextmanager
def loop_disks():
    """(name, folder, device) of a file system of each kind, in memory, if this user may."""
    from bedlib.loop_disk import loop_file_system

    with contextlib.ExitStack() as stack:
        made = []
        for kind, make in MAKERS.items():
            if os.geteuid() == 0 and Path("/dev/loop-control").exists() and shutil.which(make[0]):
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm")))
                made.append((f"loop_{kind}", *stack.enter_context(loop_file_system(folder, make, LOOP_MIB))))
        yield made


def main(build, json_only, pairs):
    figures = {}

    def measure(name, place, count):
        figures[name] = compare(build, place, count)
        if not json_only:
            for key, figure in figures[name].items():
                print(f"{name:18} {key:24} {figure}")

    with loop_disks() as disks, tempfile.TemporaryDirectory(dir=build) as folder:
        measure("checkout", folder, pairs)
        for name, place, device in disks:
            measure(name, place, pairs)
            with limited(device) as is_limited:
                if is_limited:
                    measure(f"{name}_limited", place, min(pairs, LIMITED_PAIRS))
    return figures
