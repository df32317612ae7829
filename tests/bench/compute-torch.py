#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What PyTorch reaches on a GPU: a product of the matrices of the probe in fp16, reading and copying memory, copying
between it and pinned memory of the host."""

import argparse
import json
import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit("PyTorch is not there")

WINDOW_SECONDS = 0.05
SETTLE_SECONDS = 0.5
BYTES = 4 << 30
TRANSFER_BYTES = 256 << 20  # as in probes/compute/memory/buffer-size.h
SEEDS = {"a": 0x9E3779B9, "b": 0x51ED270B}


def operand(name, size):
    """As probes/compute/gemm/gemm-operands.h makes them."""
    mask = 0xFFFFFFFF
    bits = (torch.arange(size * size, device="cuda", dtype=torch.int64) + SEEDS[name]) & mask
    bits = ((bits ^ (bits >> 16)) * 0x7FEB352D) & mask
    bits = ((bits ^ (bits >> 15)) * 0x846CA68B) & mask
    bits ^= bits >> 16
    return (((bits >> 20) - 2048).to(torch.float32) / 2048).to(torch.float16).reshape(size, size)


def window(work, n):
    """Seconds of one of n."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(n):
        work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1000 / n


def measure(work, amount, seconds):
    """The best and the median of windows."""
    window(work, 3)
    n = max(1, round(WINDOW_SECONDS / window(work, 3)))
    for _ in range(round(SETTLE_SECONDS / WINDOW_SECONDS)):
        window(work, n)
    rates = [amount / window(work, n) for _ in range(max(3, round(seconds / WINDOW_SECONDS)))]
    return max(rates), statistics.median(rates)


def gemm(size, seconds):
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    a, b = operand("a", size), operand("b", size)
    c = torch.empty(size, size, device="cuda", dtype=torch.float16)
    return measure(lambda: torch.matmul(a, b, out=c), 2 * size**3 / 1e12, seconds)


def memory(seconds):
    n_bytes = min(BYTES, torch.cuda.mem_get_info()[0] // 4)
    source = torch.randn(n_bytes // 4, device="cuda")
    sink = torch.empty_like(source)
    read = measure(source.sum, source.nbytes / 1e9, seconds)
    return read, measure(lambda: sink.copy_(source), 2 * source.nbytes / 1e9, seconds)


def transfers(seconds):
    """To the device, and back."""
    n_bytes = min(TRANSFER_BYTES, torch.cuda.mem_get_info()[0] // 4)
    host = torch.randn(n_bytes // 4).pin_memory()
    device = torch.empty_like(host, device="cuda")
    to_device = measure(lambda: device.copy_(host, non_blocking=True), host.nbytes / 1e9, seconds)
    return to_device, measure(lambda: host.copy_(device, non_blocking=True), host.nbytes / 1e9, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say by the exit code whether there is a GPU")
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU")
    if options.check:
        return
    product = gemm(options.size, options.seconds)
    read, copy = memory(options.seconds)
    to_device, to_host = transfers(options.seconds)
    print(json.dumps({"gemm_tflops": product[0], "gemm_median_tflops": product[1], "read_gbps": read[0],
                      "copy_gbps": copy[0], "to_device_gbps": to_device[0], "to_host_gbps": to_host[0],
                      "device": torch.cuda.get_device_name()}))


main()
