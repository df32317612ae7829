# SPDX-License-Identifier: LGPL-2.1-or-later
"""The placement solvers: how long they take, how close to the best their results are proven to be, and whether an
exhaustive search and GLPK find the same; how predictions compare with what others have published; and what plans are
worth in llama.cpp and Open MPI on made-up clusters."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHORTEST = {"clusters": 0, "no_rings": True, "no_models": True, "no_published": True, "cases": 1}
LIMIT_S = 300  # for one of them
CLOSE = 1e-6  # GLPK stops at a result that is as close to the best


def run(build, name, *arguments):
    return subprocess.run([f"{build}/tests/bench/bench-placement{name}", *arguments], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def glpk(kind, data):
    """GLPK's verdict (o: the best, f: a solution, n: there is none, u: unknown) and its milliseconds."""
    found = data.with_suffix(".found")
    done = subprocess.run(["glpsol", "--tmlim", str(LIMIT_S), "--model", HERE / f"placement-{kind}.mod",
                           "--data", data, "--write", found], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nglpsol: failed")
    words = next(line.split() for line in found.read_text().splitlines() if line.startswith("s mip "))
    return words[4], float(words[5])


def is_mismatch(found, claimed):
    """Of a solver's milliseconds, None if it has no solution; an undecided program may still find a better one."""
    verdict, ms = found
    if verdict == "f":
        return claimed is None or ms < claimed * (1 - CLOSE)
    if verdict == "u":
        return False
    if claimed is None or verdict == "n":
        return (claimed is None) != (verdict == "n")
    return abs(ms - claimed) > CLOSE * claimed


def compare(folder, number, claimed):
    found = {kind: glpk(kind, folder / f"{kind}-{number}.dat") for kind in ("ring", "star")}
    wrong = [kind for kind in found if is_mismatch(found[kind], claimed[kind])]
    if wrong:
        print(f"Program {number}: GLPK {found}, solvers {claimed}", file=sys.stderr)
    return bool(wrong), all(verdict in "on" for verdict, _ in found.values())


def compare_with_glpk(build, programs):
    if not shutil.which("glpsol"):
        return {"glpk_missing": "glpsol is not installed"}
    with tempfile.TemporaryDirectory(prefix="alidade-bench-") as name:
        folder = Path(name)
        claimed = [json.loads(line) for line in run(build, "-programs", folder, str(programs)).splitlines()]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            compared = list(pool.map(lambda at: compare(folder, *at), enumerate(claimed)))
    decided = [one for one, (_, done) in zip(claimed, compared, strict=True) if done]
    return {"glpk_cases": len(decided), "glpk_mismatches": sum(wrong for wrong, _ in compared),
            "glpk_undecided": programs - len(decided),
            "glpk_hops_take_a_fifth": sum(one["hops_percent"] >= 20 for one in decided)}


def add_arguments(parser):
    parser.add_argument("--clusters", type=int, default=20, metavar="N", help="on which llama.cpp runs (20); 0: none")
    parser.add_argument("--seed", type=int, default=1, help="of these clusters (1)")
    parser.add_argument("--rounds", type=int, default=2, help="of llama.cpp on each (2)")
    parser.add_argument("--cases", type=int, default=100, metavar="N",
                        help="clusters of 1000 nodes; a hundred times as many small ones, two for GLPK (100)")
    parser.add_argument("--no-rings", action="store_true", help="leave Open MPI out")
    parser.add_argument("--no-models", action="store_true", help="leave out models of known shapes")
    parser.add_argument("--no-published", action="store_true", help="leave out results that others have published")
    parser.add_argument("--no-solvers", action="store_true", help="leave the solvers out")


def compare_solvers(build, cases):
    return {**json.loads(run(build, "", str(cases))), **json.loads(run(build, "-exports", str(10 * cases))),
            **json.loads(run(build, "-brute-force", str(100 * cases))), **compare_with_glpk(build, 2 * cases)}


def compare_on_clusters(build, clusters, seed, rounds, rings, models, told):
    if os.geteuid() != 0:
        return {"clusters_missing": "network namespaces need root"}
    from placing import known_models, llama_clusters
    from placing import rings as mpi

    return {**(mpi.run(build, told) if rings else {}), **(known_models.run(build, told) if models else {}),
            **(llama_clusters.run(build, clusters, seed, rounds, told) if clusters else {})}


def compare_bytes(build, models, told):
    from placing import layer_bytes

    if not models or os.geteuid() != 0:
        return layer_bytes.run(build, told, None)
    made = subprocess.run([HERE.parent / "root/make", "llama"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return {**layer_bytes.run(build, told, None), "layer_bytes_llama_missing": made.stderr.strip()}
    return layer_bytes.run(build, told, made.stdout.strip())


def main(build, quiet, clusters, seed, rounds, cases, no_rings, no_models, no_published, no_solvers):
    from placing import large_model, published

    def told(line):
        if not quiet:
            print(line, flush=True)

    figures = large_model.run(build)
    if not no_solvers:
        figures |= compare_solvers(build, cases)
    figures |= compare_bytes(build, not no_models, told)
    for name, value in figures.items():
        told(f"{name:32} {value}")
    if not no_published:
        figures |= published.run(build, told)
    return figures | compare_on_clusters(build, clusters, seed, rounds, not no_rings, not no_models, told)
