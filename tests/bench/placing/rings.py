# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ring all-reduces of Open MPI over links of known rates: in the order of Alidade's plan, and in that of the names."""

import itertools
import os
import re
import shlex
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import llama
from placing import measured, planner
from placing.mesh import BENCH, Mesh

BYTES, TIMES, ROUNDS = 512 << 10, 3, 3
FAST, SLOW, ROUND_TRIP = 40e6, 10e6, 0.5e-3  # b/s, s
FAR = 40e-3  # s
OPTIONS = {"plm_rsh_no_tree_spawn": 1, "btl": "tcp,self", "pml": "ob1", "mpi_yield_when_idle": 1,
           "coll_tuned_use_dynamic_rules": 1, "coll_tuned_allreduce_algorithm": 4}
DEADLINE = 120
UNAVOIDABLE = "racks"


def links(hosts, special):
    """Fast ones, but for those of {(one, other): link}."""
    return {pair: special.get(pair, llama.Link(FAST, ROUND_TRIP)) for pair in itertools.combinations(range(hosts), 2)}


def matrices():
    """Each can be gone around without slow links, but not in the order of the names; between racks, all are slow."""
    slow, far = llama.Link(SLOW, ROUND_TRIP), llama.Link(FAST, FAR)
    return {
        "one-slow-link": links(4, {(1, 2): slow}),
        "neighbours-slow": links(5, {(0, 1): slow, (1, 2): slow, (2, 3): slow, (3, 4): slow}),
        "one-way-slow": links(4, {(host, host + 1): llama.Link(SLOW, ROUND_TRIP, FAST) for host in range(3)}),
        "neighbours-far": links(5, {(0, 1): far, (2, 3): far}),
        UNAVOIDABLE: links(4, {(0, 1): slow, (0, 3): slow, (1, 2): slow, (2, 3): slow}),
    }


def write_agent(mesh, folder):
    """What mpirun starts its daemons with, as others do with ssh. It runs on a host, where there are no groups."""
    outside = ["nsenter", f"--target={os.getpid()}", "--mount"]
    cases = "\n".join(
        f"""host{host}) exec {shlex.join([*outside, *mesh.command(host, *named(host), 'sh', '-c')])} "$*" ;;"""
        for host in range(len(mesh.names)))
    agent = folder / "agent"
    agent.write_text(f'#!/bin/sh\nhost=$1\nshift\ncase $host in\n{cases}\nesac\nexit 1\n', encoding="ascii")
    agent.chmod(0o755)
    return agent


def named(host):
    """Runs a command as if the machine had the name of the host."""
    return ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', f"host{host}"]


def all_reduce(mesh, order):
    """Seconds of each, of the rank that took longest. A ring has no begin, and mpirun puts its own host first."""
    order = order[order.index(0):] + order[:order.index(0)]
    with tempfile.TemporaryDirectory() as folder:
        hosts = Path(folder) / "hosts"
        hosts.write_text("".join(f"host{host} slots=1\n" for host in order), encoding="ascii")
        words = [word for name, value in OPTIONS.items() for word in ("--mca", name, value)]
        done = subprocess.run(mesh.command(
            0, *named(0), "mpirun", "--allow-run-as-root", "--hostfile", hosts, "-np", len(order), "--bind-to", "none",
            "--mca", "plm_rsh_agent", write_agent(mesh, Path(folder)), *words,
            "/usr/bin/python3", BENCH / "mpi-all-reduce.py", BYTES, TIMES),
            capture_output=True, text=True, check=False, timeout=DEADLINE, cwd="/")
    ranks = {int(rank): (host, list(map(float, seconds.split()))) for rank, host, seconds
             in re.findall(r"^rank (\d+) (\S+) (.+)$", done.stdout, re.M)}
    if done.returncode != 0 or [ranks[rank][0] for rank in sorted(ranks)] != [f"host{host}" for host in order]:
        raise SystemExit(f"mpirun: {done.stdout}{done.stderr}")
    return [max(times) for times in zip(*(seconds for _, seconds in ranks.values()))]


def planned_order(build, mesh):
    """The hosts in the order of the ranks, and the seconds of an all-reduce."""
    paths = measured.paths(build, mesh)
    with planner.Planner(build) as plan:
        plan.tell(mesh, [None] * len(mesh.names), paths, [planner.GIB] * len(mesh.names))
        return plan.ring(BYTES)


def matrix(build, joined):
    hosts = 1 + max(high for _, high in joined)
    times = {}
    with Mesh([1] * hosts, joined) as mesh:
        order, predicted = planned_order(build, mesh)
        for turn in range(ROUNDS):
            orders = [("plan", order), ("names", list(range(hosts)))]
            for name, ranks in reversed(orders) if turn % 2 else orders:
                times.setdefault(name, []).extend(all_reduce(mesh, ranks))
    plan, names = (statistics.median(times[name]) for name in ("plan", "names"))
    return {"order": order, "plan_ms": round(plan * 1e3, 1), "predicted_ms": round(predicted * 1e3, 1),
            "names_ms": round(names * 1e3, 1), "speedup": round(names / plan, 2)}


def run(build, told):
    if not shutil.which("mpirun"):
        return {"rings_missing": "mpirun is not installed"}
    found = {}
    for name, joined in matrices().items():
        found[name] = matrix(build, joined)
        told(f"{name}: {found[name]}")
    return {"ring_speedup": min(row["speedup"] for name, row in found.items() if name != UNAVOIDABLE), "rings": found}
