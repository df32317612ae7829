# SPDX-License-Identifier: LGPL-2.1-or-later
"""Alidade's plans for llama.cpp on made-up clusters, against what llama.cpp decides itself and the best host alone."""

import math
import statistics

import llama
from placing import calibration, clusters, measured, planner, runs
from placing.mesh import Mesh

MODEL = "placed.gguf"
RESERVE = 1 << 30  # what the planner leaves alone on each host, beside what the model may take
KINDS = "WeightBytes", "KvBytes", "BufferBytes"
WORSE = 0.95


class Refused(Exception):
    """There is no plan, and why."""


def needed_bytes(model, size, context=runs.CONTEXT):
    """On one host alone, nearly."""
    head = model.embedding // model.heads
    cells = model.layers * context * head * model.kv_heads * 2 * 2
    return size + cells + runs.BATCH * 4 * (3 * model.ffn + 4 * model.embedding + model.vocabulary)


def fits(used, rooms):
    return all(sum(kinds.values()) <= rooms[host] for host, kinds in used.items())


def planned_bytes(report, *kinds):
    """{host: bytes}"""
    return {planner.host_of(stage["Node"]): sum(stage[kind] for kind in kinds)
            for stage in report["Stages"] if stage["Alternative"] == 0}


def make_plan(build, mesh, rooms, path, options):
    """The report, the host of the client, and the options of llama.cpp."""
    known = measured.processors(build, mesh), measured.paths(build, mesh)
    with planner.Planner(build) as plan:
        plan.tell(mesh, *known, [room + RESERVE for room in rooms])
        report = plan.place(path, f"--context={runs.CONTEXT}", f"--set=HostReserveBytes={RESERVE}", *options)
        if "Problem" in report["Plan"]:
            raise Refused(report["Plan"]["Text"])
        words = plan.llama_options(report, path)
    return report, planner.host_of(report["Plan"]["Client"]), words[words.index("--model") + 2:]


def contestants(mesh, rooms, needed, client, words):
    """{name: (host of the client, options)}; the default has the servers only, the best one alone has none."""
    found = {"plan": (client, words), "default": (client, runs.default_options(mesh, client))}
    if alone := [(share, host) for host, share in enumerate(mesh.shares) if rooms[host] >= needed]:
        found["alone"] = max(alone)[1], []
    return found


def drop_repeated(candidates, report):
    """Of candidates, those that run differently: a plan of its client's host alone may be the best one alone."""
    (client, _), alone = candidates["plan"], candidates.get("alone", (None,))[0]
    repeated = alone == client and set(planned_bytes(report, *KINDS)) == {client}
    return {name: candidate for name, candidate in candidates.items() if name != "alone" or not repeated}


def measure(mesh, rooms, candidates, rounds):
    """{name: (ms, bytes)} of those that fit, in turns."""
    found, out = {}, set()
    for turn in range(rounds):
        for name, (client, options) in sorted(candidates.items(), reverse=turn % 2 == 1):
            if name in out:
                continue
            done = runs.run(mesh, client, MODEL, options)
            if name != "plan" and not fits(done.bytes, rooms):
                out.add(name)
                continue
            found.setdefault(name, ([], done.bytes))[0].extend(done.ms)
    return {name: (statistics.median(ms), used) for name, (ms, used) in found.items()}


def bytes_error(planned, logged, *kinds):
    """Percent, of the host with a stage for which it is the most; of all kinds of the log, or of these."""
    return max(100 * abs(size / sum(logged[host].get(kind, 0) for kind in kinds or logged[host]) - 1)
               for host, size in planned.items())


def row_of(cluster, rooms, report, found, repeated):
    """repeated: the best host alone is the plan, and was not measured twice."""
    if repeated:
        found = found | {"alone": found["plan"]}
    rivals = {name: ms for name, (ms, _) in found.items() if name != "plan"}
    ours, used = found["plan"]
    predicted = report["Plan"]["StepNSec"] / 1e6
    lasting, everything = planned_bytes(report, "WeightBytes", "KvBytes"), planned_bytes(report, *KINDS)
    return {"hosts": len(cluster.shares), "stages": len(lasting), "type": cluster.model.type,
            "plan_ms": ours, "predicted_ms": predicted, "err_percent": 100 * (predicted / ours - 1),
            "default_ms": rivals.get("default"), "alone_ms": rivals.get("alone"),
            "speedup": min(rivals.values()) / ours if rivals else None,
            "fits": fits(used, rooms), "bytes_err_percent": bytes_error(everything, used),
            "weights_kv_err_percent": bytes_error(lasting, used, "model", "KV")}


def one(build, root, number, options):
    cluster = clusters.make(options["seed"], number)
    needed = needed_bytes(cluster.model, llama.write_model(root, MODEL, cluster.model))
    rooms = [round(part * needed) for part in cluster.parts]
    with Mesh(cluster.shares, cluster.links) as mesh:
        report, client, words = make_plan(build, mesh, rooms, llama.SOURCE / llama.BUILD / MODEL, options["constants"])
        with runs.servers(mesh):
            candidates = contestants(mesh, rooms, needed, client, words)
            different = drop_repeated(candidates, report)
            found = measure(mesh, rooms, different, options["rounds"])
    return row_of(cluster, rooms, report, found, different != candidates)


def summary(rows, refused):
    if not rows:
        return {"clusters": 0, "clusters_without_plan": refused}
    with_rivals = [row["speedup"] for row in rows if row["speedup"] is not None]
    # Where no rival can run the model, the plan is better by any factor.
    of_all = statistics.median(row["speedup"] or math.inf for row in rows)
    several = [row["speedup"] for row in rows if row["stages"] > 1 and row["speedup"] is not None]
    return {"clusters": len(rows), "clusters_without_plan": refused,
            "clusters_without_rival": len(rows) - len(with_rivals),
            "clusters_with_several_stages": sum(row["stages"] > 1 for row in rows),
            "plans_that_do_not_fit": sum(not row["fits"] for row in rows),
            "prediction_median_err_percent": statistics.median(abs(row["err_percent"]) for row in rows),
            "bytes_err_percent": max(row["bytes_err_percent"] for row in rows),
            "weights_kv_err_percent": max(row["weights_kv_err_percent"] for row in rows),
            "bytes_median_err_percent": statistics.median(row["bytes_err_percent"] for row in rows),
            "measured_speedup_median": statistics.median(with_rivals) if with_rivals else None,
            "measured_speedup_median_of_all": of_all if math.isfinite(of_all) else None,
            "measured_speedup_median_of_several": statistics.median(several) if several else None,
            "worse_than_default": sum(speedup < WORSE for speedup in with_rivals), "rows": rows}


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, 3) if isinstance(value, float) else value


def run(build, number, seed, rounds, told):
    root = llama.make_root()
    (llama.SOURCE / llama.BUILD).mkdir(parents=True, exist_ok=True)
    constants = calibration.measure(build, root)
    told(f"Constants: {constants}")
    options = {"seed": seed, "rounds": rounds, "constants": [f"--set={name}={constants[name]}" for name in constants]}
    rows, refused = [], []
    for index in range(number):
        try:
            rows.append({"cluster": index, **one(build, root, index, options)})
            told(rounded(rows[-1]))
        except Refused as reason:
            refused.append(f"{index}: {reason}")
            told(refused[-1])
    return rounded({**summary(rows, refused), "constants": constants})
