# SPDX-License-Identifier: LGPL-2.1-or-later
"""The constants of the cost model for processors, as measured on one host alone: there is no cluster, and no model of
those that are placed.

Each is from two models that differ in their number of layers only, so that what a step costs besides does not count.
"""

import statistics

import llama
from placing import measured, runs
from placing.clusters import BITS, layer_parameters
from placing.mesh import Mesh

NAME = "calibration.gguf"
ROUNDS = 3
FEW, MANY = 6, 18
# Layers with next to no weights; and more than caches hold, with the most and with the fewest bytes for a weight.
THIN = llama.Model(embedding=256, heads=4, kv_heads=4, ffn=256, vocabulary=2048)
READING = llama.Model(embedding=1280, heads=20, kv_heads=10, ffn=3328, vocabulary=2048, type="Q8_0")
COMPUTING = READING._replace(type="Q4_0")


# Servers of llama.cpp take weights as they are, clients rearrange some types of them.
AS_IT_IS = ["-nr"]


def median_ms(mesh, options):
    return statistics.median(ms for _ in range(ROUNDS) for ms in runs.run(mesh, 0, NAME, options).ms)


def layer_seconds(root, mesh, model, options):
    """What one more layer takes."""
    ms = {}
    for layers in [FEW, MANY]:
        llama.write_model(root, NAME, model._replace(layers=layers))
        ms[layers] = median_ms(mesh, options)
    return (ms[MANY] - ms[FEW]) / (MANY - FEW) / 1e3


def server_seconds(root, mesh):
    """What a step takes longer if a server on the same host computes it."""
    llama.write_model(root, NAME, THIN._replace(layers=FEW))
    with runs.servers(mesh):
        return (median_ms(mesh, ["--rpc", f"127.0.0.1:{llama.PORT}"]) - median_ms(mesh, AS_IT_IS)) / 1e3


def measure(build, root):
    """The constants by name, as alidadectl place --set takes them."""
    devices = []
    with Mesh([1, 1], {(0, 1): llama.Link()}) as mesh:
        devices.append(measured.processor(build, mesh, 0))
        thin = layer_seconds(root, mesh, THIN, AS_IT_IS)
        reading = layer_seconds(root, mesh, READING, AS_IT_IS)
        devices.append(measured.processor(build, mesh, 0))
        computing = layer_seconds(root, mesh, COMPUTING, AS_IT_IS)
        rearranged = layer_seconds(root, mesh, COMPUTING, [])
        server = server_seconds(root, mesh)
        devices.append(measured.processor(build, mesh, 0))
    flops = statistics.median(device["GemmTflops"] for device in devices) * 1e12
    rate = statistics.median(device["MemoryBandwidthBytesPerSecond"] for device in devices)
    size = layer_parameters(READING) * BITS["Q8_0"] / 8
    operations = 2 * layer_parameters(COMPUTING)
    return {"LayerNSec": round(thin * 1e9),
            "ProcessorMemoryEfficiency": round(size / rate / (reading - thin), 3),
            "ProcessorComputeEfficiency": round(operations / flops / (computing - thin), 3),
            "ClientComputeEfficiency": round(operations / flops / (rearranged - thin), 3),
            "StarServerNSec": round(server * 1e9)}
