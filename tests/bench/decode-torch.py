#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a layer of a transformer takes on a GPU in PyTorch, in decoding and in prefill, with random weights in fp16.

Each line is a JSON object."""

import argparse
import collections
import json
import statistics
import sys

try:
    import torch
    from torch.nn import functional
except ImportError:
    sys.exit("PyTorch is not there")

Model = collections.namedtuple("Model", "name layers width inner heads kv_heads length vocabulary")
Layer = collections.namedtuple("Layer", "qkv out gate_up down norm_before norm_after")
MODELS = (Model("1.5B", 28, 1536, 8960, 12, 2, 128, 151936), Model("8B", 32, 4096, 14336, 32, 8, 128, 128256),
          Model("70B", 20, 8192, 28672, 64, 8, 128, 128256))  # a quarter of the layers of the last one
DECODED = (1, 512), (1, 8192), (8, 512), (8, 4096), (32, 512)  # requests at once, tokens of the context of each
PROMPTS = 512, 4096
REPLAYS = 20
FP16 = 2


def weights(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16) * 0.01


def make_layer(of):
    return Layer(weights((of.heads + 2 * of.kv_heads) * of.length, of.width), weights(of.width, of.heads * of.length),
                 weights(2 * of.inner, of.width), weights(of.width, of.inner), weights(of.width), weights(of.width))


def feed_forward(layer, x):
    gate, up = (functional.rms_norm(x, x.shape[-1:], layer.norm_after) @ layer.gate_up.T).chunk(2, -1)
    return x + (functional.silu(gate) * up) @ layer.down.T


def parts(of, layer, x):
    """Queries, keys and values of all rows of x."""
    sizes = [of.heads * of.length, of.kv_heads * of.length, of.kv_heads * of.length]
    return (functional.rms_norm(x, x.shape[-1:], layer.norm_before) @ layer.qkv.T).split(sizes, -1)


def decode(of, layers, head, x, kept):
    n = x.shape[0]
    for layer, (keys, values) in zip(layers, kept):
        q, k, v = parts(of, layer, x)
        keys[:, :, -1:] = k.view(n, of.kv_heads, 1, of.length)
        values[:, :, -1:] = v.view(n, of.kv_heads, 1, of.length)
        seen = functional.scaled_dot_product_attention(q.view(n, of.heads, 1, of.length), keys, values, enable_gqa=True)
        x = feed_forward(layer, x + seen.reshape(n, -1) @ layer.out.T)
    return x @ head.T


def prefill(of, layer, x):
    n = x.shape[0]
    q, k, v = (part.reshape(1, n, -1, of.length).transpose(1, 2) for part in parts(of, layer, x))
    seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return feed_forward(layer, x + seen.transpose(1, 2).reshape(n, -1) @ layer.out.T)


def seconds(work):
    """The median of replays of a graph, so that starting kernels from Python takes no time."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    taken = []
    for _ in range(REPLAYS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        taken.append(start.elapsed_time(end) / 1000)
    return statistics.median(taken)


def time_decoding(of, layers, head, n, context):
    """The time of a layer is that by which half of them is quicker than all."""
    kept = [[weights(n, of.kv_heads, context, of.length) for _ in range(2)] for _ in layers]
    x, half = weights(n, of.width), len(layers) // 2
    whole = seconds(lambda: decode(of, layers, head, x, kept))
    layer = (whole - seconds(lambda: decode(of, layers[:half], head, x, kept[:half]))) / (len(layers) - half)
    return {"requests": n, "context": context, "layer_seconds": layer, "head_seconds": whole - layer * len(layers),
            "layer_bytes": sum(part.nbytes for part in layers[0]) + sum(part.nbytes for part in kept[0]),
            "head_bytes": head.nbytes}


def measure(of):
    layers, head = [make_layer(of) for _ in range(of.layers)], weights(of.vocabulary, of.width)
    for n, context in DECODED:
        yield {"model": of.name, **time_decoding(of, layers, head, n, context)}
    for n in PROMPTS:
        x = weights(n, of.width)
        yield {"model": of.name, "prompt": n, "prefill_seconds": seconds(lambda: prefill(of, layers[0], x)),
               "operations": 2 * n * sum(part.nbytes for part in layers[0]) // FP16}


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU")
    with torch.no_grad():
        for model in MODELS:
            for row in measure(model):
                print(json.dumps(row), flush=True)
            torch.cuda.empty_cache()


main()
