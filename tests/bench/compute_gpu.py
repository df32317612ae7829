# SPDX-License-Identifier: LGPL-2.1-or-later
"""The compute probe on a GPU, against what PyTorch (cuBLAS, or its like) reaches there, in turns."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from requirement import MissingRequirement

SECONDS = 3
SHORTEST = {"rounds": 1, "size": 1024}
DEADLINE = 300
TORCH = Path(__file__).with_name("compute-torch.py")
TRANSFERS = {"to_device": "HostToDeviceBytesPerSecond", "to_host": "DeviceToHostBytesPerSecond"}


def run(*command, **environment):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=DEADLINE, env={**os.environ, **environment})


def answer(done):
    """The object that the last line of a program is."""
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        sys.exit(f"{' '.join(done.args)}: {done.stdout}{done.stderr}")
    return json.loads(lines[-1])


def find_gpu(probe):
    devices = answer(run(probe, "--list", "--json"))["Devices"]
    gpus = [device for device in devices if device["Type"] == "gpu"]
    if not gpus:
        names = ", ".join(device["Name"] for device in devices) or "none"
        raise MissingRequirement(f"there is no GPU that OpenCL knows; its devices: {names}")
    return max(gpus, key=lambda device: device.get("ComputeUnits", 0))


def find_torch():
    """A Python that has PyTorch and sees a GPU with it, or None."""
    for python in (os.environ.get("ALIDADE_BENCH_PYTHON"), "python3", sys.executable):
        try:
            if python and run(python, TORCH, "--check").returncode == 0:
                return python
        except FileNotFoundError:
            continue
    return None


def ours(probe, device, size, folder):
    measured = answer(run(probe, f"--device={device['Id']}", "--metric=gemm,read,copy,to-device,to-host",
                          f"--size={size}", f"--seconds-max={SECONDS}", "--json", CACHE_DIRECTORY=folder))
    row, = measured["Devices"]
    if "GemmTflops" not in row:
        sys.exit(f"the probe says: {measured['Errors']}")
    return row


def torch(python, size):
    return answer(run(python, TORCH, f"--size={size}", f"--seconds={SECONDS}"))


def spread(rates):
    return round((max(rates) - min(rates)) / statistics.median(rates) * 100, 2)


def percent(mine, theirs):
    return round(100 * statistics.median(a / b for a, b in zip(mine, theirs, strict=False)), 2)


def sum_up(mine, theirs):
    figures = {"ours_gemm_tflops": [row["GemmTflops"] for row in mine],
               "ours_read_gbps": [row.get("MemoryBandwidthBytesPerSecond", 0) / 1e9 for row in mine],
               "ours_copy_gbps": [row.get("CopyBandwidthBytesPerSecond", 0) / 1e9 for row in mine]}
    # A device that computes in host memory has none of these.
    transfers = [name for name, field in TRANSFERS.items() if all(field in row for row in mine)]
    for name in transfers:
        figures[f"ours_{name}_gbps"] = [row[TRANSFERS[name]] / 1e9 for row in mine]
    for name in ("gemm_tflops", "read_gbps", "copy_gbps", "to_device_gbps", "to_host_gbps") if theirs else ():
        figures[f"torch_{name}"] = [row[name] for row in theirs]
    ratios = {"ours_to_torch_percent": "gemm_tflops", **{f"{name}_percent": f"{name}_gbps" for name in transfers}}
    return {**{name: round(max(values), 2) for name, values in figures.items()},
            **{name: percent(figures[f"ours_{of}"], figures[f"torch_{of}"])
               for name, of in ratios.items() if theirs},
            "spread_percent": spread(figures["ours_gemm_tflops"]),
            "medians": {name: round(statistics.median(values), 2) for name, values in figures.items()}}


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, default=8192, help="rows and columns of the matrices of both")


def main(build, json_only, rounds, size):
    probe = build / "probes/compute/alidade-probe-compute"
    device = find_gpu(probe)
    python = find_torch()
    mine, theirs = [], []
    with tempfile.TemporaryDirectory(prefix="alidade-bench-") as folder:
        for number in range(rounds):
            mine.append(ours(probe, device, size, folder))
            if python:
                theirs.append(torch(python, size))
            if not json_only:
                print(f"round {number + 1} of {rounds}: {mine[-1]} {theirs[-1] if theirs else ''}", flush=True)
    names = ("Name", "Method", "Precision", "Accumulator", "Flags", "ClockHz")
    return {**sum_up(mine, theirs), "torch": bool(python),
            **{name.lower(): mine[-1][name] for name in names if name in mine[-1]}}
