# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long it takes to read what a model file of 400 GB says of itself."""

import struct
import subprocess
import tempfile
from pathlib import Path

LAYERS, LENGTH, HIDDEN, VOCABULARY, KV = 126, 16384, 53248, 128256, 1024  # Llama 3.1 405B
Q8_0, BLOCK, BLOCK_BYTES = 8, 32, 34
UINT32, STRING, ARRAY = 4, 8, 9
ROUNDS = 9


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def keys():
    """Its hyperparameters and its words."""
    numbers = {"llama.block_count": LAYERS, "llama.embedding_length": LENGTH, "llama.feed_forward_length": HIDDEN,
               "llama.context_length": 131072, "llama.attention.head_count": 128, "llama.attention.head_count_kv": 8,
               "llama.vocab_size": VOCABULARY}
    found = [text("general.architecture") + struct.pack("<I", STRING) + text("llama")]
    found += [text(name) + struct.pack("<II", UINT32, value) for name, value in numbers.items()]
    for name, count in ("tokens", VOCABULARY), ("merges", 2 * VOCABULARY):
        found.append(text(f"tokenizer.ggml.{name}") + struct.pack("<IIQ", ARRAY, STRING, count) +
                     b"".join(text(f"word {index}") for index in range(count)))
    return found


def shapes():
    found = {"token_embd.weight": (LENGTH, VOCABULARY), "output.weight": (LENGTH, VOCABULARY)}
    for index in range(LAYERS):
        layer = {"attn_q": (LENGTH, LENGTH), "attn_k": (LENGTH, KV), "attn_v": (LENGTH, KV),
                 "attn_output": (LENGTH, LENGTH), "ffn_gate": (LENGTH, HIDDEN), "ffn_up": (LENGTH, HIDDEN),
                 "ffn_down": (HIDDEN, LENGTH)}
        found |= {f"blk.{index}.{name}.weight": shape for name, shape in layer.items()}
    return found


def write(path):
    """Its head is real, its tensors are a hole."""
    tensors, pairs, offset = shapes(), keys(), 0
    parts = [b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)), *pairs]
    for name, shape in tensors.items():
        parts.append(text(name) + struct.pack("<IQQIQ", 2, *shape, Q8_0, offset))
        offset += shape[0] * shape[1] // BLOCK * BLOCK_BYTES
    head = b"".join(parts)
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + 32 - len(head) % 32 + offset)


def run(build):
    with tempfile.TemporaryDirectory(prefix="alidade-bench-") as folder:
        path = Path(folder) / "large.gguf"
        write(path)
        size = path.stat().st_size
        done = subprocess.run([f"{build}/tests/bench/bench-model-head", path, str(ROUNDS)], check=True,
                              stdout=subprocess.PIPE, text=True)
    return {"gguf_400gb_ms": float(done.stdout), "gguf_400gb_bytes": size}
