# SPDX-License-Identifier: LGPL-2.1-or-later
"""What plans say that models of known shapes take on each of three hosts, against what llama.cpp allocates."""

import statistics

import llama
from placing import llama_clusters, runs
from placing.mesh import Mesh

NAME = "known.gguf"
CONTEXT = 4096
HOSTS = 3
PART = 0.45  # of what a model needs, that is free on each host
MODELS = {
    "TinyLlama 1.1B": llama.Model(22, 2048, 32, 4, 5632, 32000, "Q8_0"),
    "Llama 3.2 3B": llama.Model(28, 3072, 24, 8, 8192, 128256, "Q4_0"),
    "Llama 2 7B": llama.Model(32, 4096, 32, 32, 11008, 32000, "Q4_0"),
    "Llama 3.1 8B": llama.Model(32, 4096, 32, 8, 14336, 128256, "Q4_0"),
}


def one(build, root, mesh, model):
    size = llama.write_model(root, NAME, model, zeros=True)
    rooms = [round(PART * llama_clusters.needed_bytes(model, size, CONTEXT))] * HOSTS
    report, client, words = llama_clusters.make_plan(build, mesh, rooms, llama.SOURCE / llama.BUILD / NAME,
                                                     [f"--context={CONTEXT}"])
    with runs.servers(mesh):
        logged = runs.run(mesh, client, NAME, words).bytes
    planned = llama_clusters.planned_bytes(report, *llama_clusters.KINDS)
    return {"planned": planned, "logged": {host: sum(logged[host].values()) for host in planned},
            "err_percent": llama_clusters.bytes_error(planned, logged)}


def run(build, told):
    root, rows = llama.make_root(), {}
    with Mesh([1] * HOSTS, {(0, 1): llama.Link(), (0, 2): llama.Link(), (1, 2): llama.Link()}) as mesh:
        for name, model in MODELS.items():
            rows[name] = one(build, root, mesh, model)
            told(f"{name}: {rows[name]}")
    errors = [row["err_percent"] for row in rows.values()]
    return {"known_models_bytes_err_percent": round(max(errors), 3),
            "known_models_bytes_median_err_percent": round(statistics.median(errors), 3), "known_models": rows}
