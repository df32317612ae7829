# SPDX-License-Identifier: LGPL-2.1-or-later
"""Bytes of each device in plans for models whose layers differ, against the tensors and sources of model_shapes.py, and
against llama-fit-params of llama.cpp, with a server for each device."""

import json
import re
import subprocess
from contextlib import ExitStack

import llama
from placing import model_shapes
from placing.model_shapes import ALL, MODELS

UBATCH, STEP = 512, 256  # llama.cpp adds a batch to windows, and rounds cells up
# Weights, keys and values, and buffers of each server, in MiB.
PRINTED = re.compile(r"^RPC\d+ (\d+) (\d+) (\d+) *$", re.MULTILINE)
MIB = 1 << 20
NAME = "layer-bytes.gguf"
ADDRESS, PORT, SERVERS = "127.0.0.1", 51052, 2
KINDS = "weights", "kv", "buffers"


def cells(tokens):
    return -(-tokens // STEP) * STEP


def kv_of(shape, layer, context):
    """By the shape alone."""
    total = 0
    for some in shape.keeps:
        if some.layers is ALL or layer in some.layers:
            tokens = min(cells(context), cells(some.window + UBATCH)) if some.window else cells(context)
            total += some.token_bytes * tokens + some.state_bytes
    return total


def weights_of(shape, first, end, is_ring):
    """Of layers, and of the head; a ring also has the embedding, and the rest, with the first layer."""
    total = 0
    for layer, name, kind, dimensions in model_shapes.tables(shape):
        is_head = name == "output.weight" or (name == "token_embd.weight" and shape.head is None)
        size = model_shapes.sized(kind, dimensions)
        if layer is not None:
            total += size if first <= layer < end and layer < shape.layers else 0
            continue
        total += size if is_head and end == shape.layers else 0
        total += size if is_ring and name != "output.weight" and first == 0 else 0
    return total


def error(found, right):
    return 100 * abs(found - right) / right if right else 100.0 * (found > 0)


def stage_errors(shape, context, stages, is_ring):
    for stage in stages:
        end = stage["first"] + stage["layers"]
        yield error(stage["weights"], weights_of(shape, stage["first"], end, is_ring))
        yield error(stage["kv"], sum(kv_of(shape, layer, context) for layer in range(stage["first"], end)))


class Servers:
    """RPC servers on this machine."""

    def __init__(self, root):
        self.root, self.stack = root, ExitStack()

    def __enter__(self):
        with self.stack:
            for port in range(PORT, PORT + SERVERS):
                self.start(port)
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def start(self, port):
        process = self.stack.enter_context(subprocess.Popen(
            llama.inside(self.root, "stdbuf", "-oL", llama.RPC_SERVER, "-H", ADDRESS, "-p", port, "-t", 1),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        self.stack.callback(process.kill)  # what runs in the root ends with it
        if not any("endpoint" in line for line in process.stdout):
            raise SystemExit(f"{llama.RPC_SERVER} has not started")

    def allocated(self, shape, context, stages):
        """Bytes that llama.cpp would allocate on the server of each stage."""
        # The output counts as a layer, and so do the blocks for drafts.
        parts = llama.tensor_split([stage["layers"] for stage in stages])
        parts[-1] += shape.drafts
        endpoints = ",".join(f"{ADDRESS}:{PORT + index}" for index in range(len(parts)))
        done = subprocess.run(
            llama.inside(self.root, "llama-fit-params", "-m", llama.model_path(NAME), "-c", context, "-fitp", "on",
                         "--flash-attn", "on", "--rpc", endpoints, "-ngl", sum(parts),
                         "-ts", ",".join(map(str, parts))),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=llama.DEADLINE)
        found = [[int(number) * MIB for number in row] for row in PRINTED.findall(done.stdout)]
        if len(found) != len(parts):
            raise SystemExit(f"llama-fit-params: {done.stdout[-2000:]}")
        return found


def compare(build, shape, context, path, servers):
    """The greatest error against the shape, and the greatest against llama.cpp with what each counts."""
    done = subprocess.run([f"{build}/tests/bench/bench-layer-bytes", path, str(context)], check=True,
                          stdout=subprocess.PIPE, text=True)
    plans = json.loads(done.stdout)
    errors = [error(sum(kv_of(shape, layer, context) for layer in range(shape.layers)), shape.kv_bytes[context])]
    compared = []
    for name, stages in plans.items():
        errors += stage_errors(shape, context, stages, name == "ring")
        if servers and name != "ring":
            for stage, printed in zip(stages, servers.allocated(shape, context, stages), strict=True):
                planned = [stage[kind] for kind in KINDS]
                compared.append((error(sum(planned), sum(printed)), planned, printed))
    return max(errors), max(compared, default=None)


def run(build, told, root):
    """root: of llama.cpp, None: what it would allocate is not compared."""
    path = llama.SOURCE / llama.BUILD / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    worst, allocated = 0.0, []
    with ExitStack() as stack:
        servers = stack.enter_context(Servers(root)) if root else None
        stack.callback(path.unlink, missing_ok=True)
        for name, shape in MODELS.items():
            model_shapes.write(shape, path)
            for context in shape.kv_bytes:
                err, compared = compare(build, shape, context, path, servers)
                told(f"{name}, {context} tokens: {err:.3f} %, {compared}")
                worst = max(worst, err)
                allocated += [compared[0]] if compared else []
    return {"layer_bytes_err_percent": round(max([worst, *allocated]), 3), "layer_bytes_cases": len(allocated)}
