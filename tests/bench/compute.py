# SPDX-License-Identifier: LGPL-2.1-or-later
"""The compute probe on the processor, against OpenBLAS, CLBlast, clpeak and a native reader, in turns."""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from requirement import need_programs

SIZES = (1024, 2048)
SECONDS = 2  # of each turn
SHORTEST = {"rounds": 1}
OUR_SECONDS = 2 * SECONDS  # half of which the probe may take to choose a kernel
DEADLINE = 900  # of any program; clpeak takes minutes where others are at work
# What OpenBLAS may be told to be; the fastest is its figure. None: as it finds the processor.
CORES = {"x86_64": (None, "HASWELL", "ZEN", "SKYLAKEX", "COOPERLAKE", "SAPPHIRERAPIDS"),
         "aarch64": (None, "NEOVERSEN1", "NEOVERSEV1", "NEOVERSEN2", "CORTEXA76")}
GEMM = ("ours_gemm_gflops", "openblas_gemm_gflops", "clblast_gemm_gflops")


def run(*command, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=DEADLINE, env={**os.environ, **environment})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


class Programs:
    """What takes turns. Caches of compilers last as long as this."""

    def __init__(self, build, folder):
        self.probe = build / "probes/compute/alidade-probe-compute"
        self.peers = build / "tests/bench"
        self.cache = {"CACHE_DIRECTORY": folder, "POCL_CACHE_DIR": folder}
        self.core = None

    def ours(self, *arguments):
        answer = json.loads(run(self.probe, "--device=cpu", "--json", *arguments, **self.cache))
        if answer["Errors"]:
            sys.exit(f"the probe says: {answer['Errors']}")
        return answer["Devices"][0]

    def ours_gemm(self, size):
        answer = self.ours("--metric=gemm", f"--size={size}", f"--seconds-max={OUR_SECONDS}")
        return answer["GemmTflops"] * 1000

    def ours_read(self):
        answer = self.ours("--metric=read", f"--seconds-max={OUR_SECONDS}")
        return answer["MemoryBandwidthBytesPerSecond"] / 1e9

    def openblas(self, size, core=None, seconds=SECONDS):
        core = core or self.core
        answer = run(self.peers / "bench-gemm-peer", f"--size={size}", f"--seconds={seconds}",
                     **({"OPENBLAS_CORETYPE": core} if core else {}))
        return json.loads(answer)["gemm_gflops"]

    def clblast(self, size):
        answer = run(self.peers / "bench-gemm-peer", "--clblast", f"--size={size}", f"--seconds={SECONDS}",
                     **self.cache)
        return json.loads(answer)["gemm_gflops"]

    def native_read(self):
        return json.loads(run(self.peers / "bench-native-read", f"--seconds={SECONDS}"))["read_gbps"]

    def tune_openblas(self):
        """Twice each, since another load may hit any of them. Types that the processor cannot do end it."""
        best = 0
        for core in CORES.get(os.uname().machine, (None,)) * 2:
            try:
                rate = self.openblas(SIZES[0], core, 0.5)
            except SystemExit:
                continue
            if rate > best:
                best, self.core = rate, core


def clpeak(option):
    """The best of its vector widths."""
    output = run("clpeak", "--platform", "0", "--device", "0", option)
    return max(float(rate) for rate in re.findall(r"^ +float[0-9]* +: ([0-9.]+)$", output, re.MULTILINE))


def spread(rates):
    return (max(rates) - min(rates)) / statistics.median(rates) * 100


def rounded(figures):
    return {name: round(figure, 2) for name, figure in figures.items()}


def sum_up_gemm(rates):
    ours, openblas, _ = (rates[name] for name in GEMM)
    pairs = statistics.median(mine / theirs for mine, theirs in zip(ours, openblas, strict=True))
    return {**rounded({name: max(rates[name]) for name in GEMM}),
            **rounded({"spread_percent": spread(ours), "openblas_spread_percent": spread(openblas),
                       "ours_to_openblas_percent": 100 * pairs}),
            "medians": rounded({name: statistics.median(rates[name]) for name in GEMM})}


def turns_of(programs):
    """By size and name; size 0 is what has none."""
    turns = {(0, "ours_read_gbps"): programs.ours_read, (0, "native_read_gbps"): programs.native_read,
             (0, "clpeak_read_gbps"): lambda: clpeak("--global-bandwidth"),
             (0, "clpeak_gflops"): lambda: clpeak("--compute-sp")}
    for size in SIZES:
        for name, turn in zip(GEMM, (programs.ours_gemm, programs.openblas, programs.clblast), strict=True):
            turns[size, name] = lambda turn=turn, size=size: turn(size)
    return turns


def take_turns(programs, rounds, quiet):
    turns = turns_of(programs)
    rates = {key: [] for key in turns}
    for number in range(rounds):
        # Back and forth, so that no one always finds the machine as another left it.
        for key in list(turns)[::-1 if number % 2 else 1]:
            rates[key].append(turns[key]())
            if not quiet:
                print(f"round {number + 1} of {rounds}: n = {key[0]} {key[1]} {rates[key][-1]:.1f}", flush=True)
    return rates


def sum_up(rates):
    gemm = {size: sum_up_gemm({name: rates[size, name] for name in GEMM}) for size in SIZES}
    rest = {name: values for (size, name), values in rates.items() if size == 0}
    figures = {**gemm[SIZES[0]], **rounded({name: max(values) for name, values in rest.items()})}
    figures["medians"].update(rounded({name: statistics.median(values) for name, values in rest.items()}))
    figures["read_spread_percent"] = round(spread(rest["ours_read_gbps"]), 2)
    return {**figures, **{f"at_{size}": gemm[size] for size in SIZES[1:]}}


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=5)


def check_requirements():
    need_programs("clpeak")


def main(build, json_only, rounds):
    with tempfile.TemporaryDirectory(prefix="alidade-bench-") as folder:
        programs = Programs(build, folder)
        start = time.monotonic()
        device = programs.ours()
        seconds = time.monotonic() - start
        programs.tune_openblas()
        rates = take_turns(programs, rounds, json_only)
    return {**sum_up(rates), "seconds": round(seconds, 2), "method": device["Method"],
            "openblas_core": programs.core or "as found"}
