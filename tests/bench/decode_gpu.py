# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well what the compute probe measures of a GPU tells what layers of a model take there in PyTorch."""

import json
import statistics
import sys
import tempfile
from pathlib import Path

import compute_gpu
from requirement import MissingRequirement

SHORTEST = {}
SCRIPT = Path(__file__).with_name("decode-torch.py")


def fit(rows):
    """seconds = times * ideal + more, by least squares of the relative errors."""
    weight = [1 / seconds**2 for _, seconds in rows]
    total = sum(weight)
    mean = sum(w * ideal for w, (ideal, _) in zip(weight, rows)) / total
    seconds_mean = sum(w * seconds for w, (_, seconds) in zip(weight, rows)) / total
    times = sum(w * (ideal - mean) * (seconds - seconds_mean) for w, (ideal, seconds) in zip(weight, rows)) / \
        sum(w * (ideal - mean)**2 for w, (ideal, _) in zip(weight, rows))
    return times, seconds_mean - times * mean


def main(build, json_only):
    probe = build / "probes/compute/alidade-probe-compute"
    device = compute_gpu.find_gpu(probe)
    python = compute_gpu.find_torch()
    if not python:
        raise MissingRequirement("PyTorch sees no GPU or is not installed")
    with tempfile.TemporaryDirectory(prefix="alidade-bench-") as folder:
        ours = compute_gpu.ours(probe, device, 8192, folder)
    done = compute_gpu.run(python, SCRIPT)
    if done.returncode != 0:
        sys.exit(done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if not json_only:
        print(done.stdout, end="")
    read, product = ours["MemoryBandwidthBytesPerSecond"], ours["GemmTflops"] * 1e12
    layers = [(row["layer_bytes"] / read, row["layer_seconds"]) for row in rows if "layer_seconds" in row]
    times, more = fit(layers)
    errors = [abs(times * ideal + more - seconds) / seconds * 100 for ideal, seconds in layers]
    prefill = [row["operations"] / product / row["prefill_seconds"] for row in rows if "prefill_seconds" in row]
    return {"name": ours["Name"], "memory_efficiency": round(1 / times, 3), "layer_us": round(more * 1e6, 1),
            "error_percent_median": round(statistics.median(errors), 2), "error_percent_most": round(max(errors), 2),
            "compute_efficiency_median": round(statistics.median(prefill), 3),
            "compute_efficiency_least": round(min(prefill), 3),
            "compute_efficiency_most": round(max(prefill), 3)}
