# SPDX-License-Identifier: LGPL-2.1-or-later
"""Heads of GGUF files with the keys and shapes of published models, and what their layers keep, by source."""

import struct
from dataclasses import dataclass, field
from itertools import chain
from math import prod

F32, F16, Q4_0, Q8_0, Q4_K, Q6_K, BF16, MXFP4 = 0, 1, 2, 8, 12, 14, 30, 39
BLOCKS = {F32: (1, 4), F16: (1, 2), Q4_0: (32, 18), Q8_0: (32, 34), Q4_K: (256, 144), Q6_K: (256, 210),
          BF16: (1, 2), MXFP4: (32, 17)}
UINT32, FLOAT32, STRING, ARRAY = 4, 6, 8, 9
ALIGNMENT = 32
ALL = None  # layers


@dataclass
class Keeps:
    """What some layers keep: bytes of fp16 for each token, of the last tokens if there is a window, and a state."""

    layers: object
    token_bytes: int = 0
    window: int = 0
    state_bytes: int = 0


@dataclass
class Shape:
    """Of a model. The tensors of a layer are (name, type, dimensions, layers)."""

    architecture: str
    layers: int  # those that decode
    width: int
    vocabulary: int
    keys: dict
    tensors: list
    keeps: list
    source: str  # of the keys and values
    kv_bytes: dict  # by context, as that source states them
    embedding: int = Q4_K
    head: int = Q6_K  # None: the embedding
    drafts: int = 0  # further blocks
    others: list = field(default_factory=list)


def sized(kind, dimensions):
    block, size = BLOCKS[kind]
    return prod(dimensions) // block * size


def tables(shape):
    """All tensors: (layer or None, name, type, dimensions)."""
    yield None, "token_embd.weight", shape.embedding, (shape.width, shape.vocabulary)
    for layer in range(shape.layers + shape.drafts):
        for name, kind, dimensions, layers in shape.tensors:
            if layers is ALL or layer in layers:
                yield layer, f"blk.{layer}.{name}", kind, dimensions
    yield None, "output_norm.weight", F32, (shape.width,)
    if shape.head is not None:
        yield None, "output.weight", shape.head, (shape.width, shape.vocabulary)
    for name, kind, dimensions in shape.others:
        yield None, name, kind, dimensions


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def value_of(value):
    if isinstance(value, str):
        return struct.pack("<I", STRING) + text(value)
    if isinstance(value, float):
        return struct.pack("<If", FLOAT32, value)
    if isinstance(value, list):
        kind, sign = (FLOAT32, "f") if isinstance(value[0], float) else (UINT32, "I")
        return struct.pack(f"<IIQ{len(value)}{sign}", ARRAY, kind, len(value), *value)
    return struct.pack("<II", UINT32, value)


def keys(shape):
    found = {"block_count": shape.layers + shape.drafts, "embedding_length": shape.width, "context_length": 131072,
             "vocab_size": shape.vocabulary, "rope.freq_base": 1e6, "attention.layer_norm_rms_epsilon": 1e-6,
             **shape.keys}
    return {"general.architecture": shape.architecture, "tokenizer.ggml.model": "no_vocab",
            **{f"{shape.architecture}.{name}": value for name, value in found.items()}}


def write(shape, path):
    """Its head is real, its tensors are a hole."""
    entries, offset = [], 0
    for _, name, kind, dimensions in tables(shape):
        entries.append(text(name) + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, kind, offset))
        offset += -(-sized(kind, dimensions) // ALIGNMENT) * ALIGNMENT
    pairs = [text(key) + value_of(value) for key, value in keys(shape).items()]
    head = b"".join(chain([b"GGUF" + struct.pack("<IQQ", 3, len(entries), len(pairs))], pairs, entries))
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(-(-len(head) // ALIGNMENT) * ALIGNMENT + offset)


def attention(width, heads, kv_heads, length, kind, layers=ALL):
    return [("attn_q.weight", kind, (width, heads * length), layers),
            ("attn_k.weight", kind, (width, kv_heads * length), layers),
            ("attn_v.weight", kind, (width, kv_heads * length), layers),
            ("attn_output.weight", kind, (heads * length, width), layers)]


def feed_forward(width, length, kind, layers=ALL, suffix="", experts=(), down=None):
    return [(f"ffn_gate{suffix}.weight", kind, (width, length, *experts), layers),
            (f"ffn_up{suffix}.weight", kind, (width, length, *experts), layers),
            (f"ffn_down{suffix}.weight", down or kind, (length, width, *experts), layers)]


def vectors(names, length, layers=ALL):
    return [(name, F32, (length,), layers) for name in names.split()]


def heads_keys(heads, kv_heads, length, **more):
    return {"attention.head_count": heads, "attention.head_count_kv": kv_heads, "attention.key_length": length,
            "attention.value_length": length, **more}


def gemma3():
    full = range(5, 62, 6)
    return Shape("gemma3", 62, 5376, 262208,
                 heads_keys(32, 16, 128) | {"attention.sliding_window": 1024, "feed_forward_length": 21504},
                 attention(5376, 32, 16, 128, Q4_0) + feed_forward(5376, 21504, Q4_0) +
                 vectors("attn_norm.weight post_attention_norm.weight ffn_norm.weight post_ffw_norm.weight", 5376) +
                 vectors("attn_q_norm.weight attn_k_norm.weight", 128),
                 [Keeps(full, 8192), Keeps(set(range(62)) - set(full), 8192, window=1024)],
                 "Gemma 3 27B: config.json of google/gemma-3-27b-it, every sixth layer attends to all tokens",
                 {4096: 8192 * (10 * 4096 + 52 * 1536), 32768: 8192 * (10 * 32768 + 52 * 1536)},
                 embedding=Q6_K, head=None)


def gpt_oss():
    full = range(1, 24, 2)
    biases = [(f"{name}.bias", F32, (length,), ALL) for name, length in
              {"attn_q": 4096, "attn_k": 512, "attn_v": 512, "attn_output": 2880, "ffn_gate_inp": 32}.items()]
    biases += [(f"ffn_{name}_exps.bias", F32, (2880, 32), ALL) for name in ("gate", "up", "down")]
    return Shape("gpt-oss", 24, 2880, 201088,
                 heads_keys(64, 8, 64) | {"feed_forward_length": 2880, "expert_feed_forward_length": 2880,
                                          "expert_count": 32, "expert_used_count": 4, "attention.sliding_window": 128},
                 attention(2880, 64, 8, 64, Q8_0) + feed_forward(2880, 2880, MXFP4, suffix="_exps", experts=(32,)) +
                 biases + vectors("attn_norm.weight post_attention_norm.weight", 2880) +
                 vectors("attn_sinks.weight", 64) + [("ffn_gate_inp.weight", F32, (2880, 32), ALL)],
                 [Keeps(full, 2048), Keeps(set(range(24)) - set(full), 2048, window=128)],
                 "gpt-oss-20b: the log of llama.cpp, 3090 MiB at 131,072 tokens",
                 {4096: 119537664, 131072: 3240099840}, embedding=Q8_0, head=Q8_0)


def deepseek():
    dense, mixed = range(3), range(3, 61)
    return Shape("deepseek2", 61, 7168, 129280,
                 {"attention.head_count": 128, "attention.head_count_kv": 1, "attention.key_length": 576,
                  "attention.value_length": 512, "attention.key_length_mla": 192, "attention.value_length_mla": 128,
                  "attention.kv_lora_rank": 512, "attention.q_lora_rank": 1536, "rope.dimension_count": 64,
                  "feed_forward_length": 18432, "expert_count": 256, "expert_used_count": 8, "expert_shared_count": 1,
                  "expert_feed_forward_length": 2048, "leading_dense_block_count": 3, "expert_weights_scale": 2.5,
                  "expert_gating_func": 2},
                 [("attn_q_a.weight", Q8_0, (7168, 1536), ALL), ("attn_q_b.weight", Q8_0, (1536, 24576), ALL),
                  ("attn_kv_a_mqa.weight", Q8_0, (7168, 576), ALL), ("attn_k_b.weight", Q8_0, (128, 512, 128), ALL),
                  ("attn_v_b.weight", Q8_0, (512, 128, 128), ALL), ("attn_output.weight", Q8_0, (16384, 7168), ALL),
                  ("ffn_gate_inp.weight", F32, (7168, 256), mixed)] +
                 vectors("attn_norm.weight ffn_norm.weight", 7168) + vectors("attn_q_a_norm.weight", 1536) +
                 vectors("attn_kv_a_norm.weight", 512) + vectors("exp_probs_b.bias", 256, mixed) +
                 feed_forward(7168, 18432, Q4_K, dense) + feed_forward(7168, 2048, Q4_K, mixed, "_exps", (256,)) +
                 feed_forward(7168, 2048, Q4_K, mixed, "_shexp"),
                 [Keeps(ALL, 1152)],
                 "DeepSeek-V3: 576 numbers a token and layer, of the compressed keys and the rotated part",
                 {4096: 287834112, 163840: 11513364480})


def glm():
    mixed = range(1, 47)
    return Shape("glm4moe", 46, 4096, 151552,
                 heads_keys(96, 8, 128) | {"feed_forward_length": 10944, "expert_count": 128, "expert_used_count": 8,
                                           "expert_shared_count": 1, "expert_feed_forward_length": 1408,
                                           "leading_dense_block_count": 1, "nextn_predict_layers": 1,
                                           "rope.dimension_count": 64},
                 attention(4096, 96, 8, 128, Q4_K) + vectors("attn_q.bias", 12288) +
                 vectors("attn_k.bias attn_v.bias", 1024) +
                 vectors("attn_norm.weight post_attention_norm.weight", 4096) +
                 feed_forward(4096, 10944, Q8_0, range(1)) +
                 feed_forward(4096, 1408, Q4_K, mixed, "_exps", (128,), Q8_0) +
                 feed_forward(4096, 1408, Q4_K, mixed, "_shexp", (), Q8_0) +
                 [("ffn_gate_inp.weight", F32, (4096, 128), mixed)] + vectors("exp_probs_b.bias", 128, mixed) +
                 [("nextn.eh_proj.weight", Q4_K, (8192, 4096), [46]),
                  ("nextn.embed_tokens.weight", Q4_K, (4096, 151552), [46]),
                  ("nextn.shared_head_head.weight", Q4_K, (4096, 151552), [46])] +
                 vectors("nextn.enorm.weight nextn.hnorm.weight nextn.shared_head_norm.weight", 4096, [46]),
                 [Keeps(range(46), 4096)],
                 "GLM-4.5-Air: 46 layers with 8 heads of 128; the block for drafts keeps nothing in plain decoding",
                 {4096: 771751936}, drafts=1)


def qwen35():
    full = range(3, 40, 4)
    linear = sorted(set(range(40)) - set(full))
    return Shape("qwen35moe", 40, 2048, 248320,
                 heads_keys(16, 2, 256) | {"expert_count": 256, "expert_used_count": 8,
                                           "expert_feed_forward_length": 512, "expert_shared_feed_forward_length": 512,
                                           "ssm.conv_kernel": 4, "ssm.state_size": 128, "ssm.group_count": 16,
                                           "ssm.time_step_rank": 32, "ssm.inner_size": 4096,
                                           "full_attention_interval": 4, "rope.dimension_count": 64,
                                           "rope.dimension_sections": [11, 11, 10, 0]},
                 vectors("attn_norm.weight post_attention_norm.weight ffn_gate_inp_shexp.weight", 2048) +
                 [("attn_qkv.weight", Q4_K, (2048, 8192), linear), ("attn_gate.weight", Q4_K, (2048, 4096), linear),
                  ("ssm_alpha.weight", F32, (2048, 32), linear), ("ssm_beta.weight", F32, (2048, 32), linear),
                  ("ssm_conv1d.weight", F32, (4, 8192), linear), ("ssm_out.weight", Q4_K, (4096, 2048), linear),
                  ("attn_q.weight", Q4_K, (2048, 8192), full), ("attn_k.weight", Q4_K, (2048, 512), full),
                  ("attn_v.weight", Q6_K, (2048, 512), full), ("attn_output.weight", Q4_K, (4096, 2048), full),
                  ("ffn_gate_inp.weight", F32, (2048, 256), ALL)] +
                 vectors("ssm_a ssm_dt.bias", 32, linear) + vectors("ssm_norm.weight", 128, linear) +
                 vectors("attn_q_norm.weight attn_k_norm.weight", 256, full) +
                 feed_forward(2048, 512, Q4_K, suffix="_exps", experts=(256,)) +
                 feed_forward(2048, 512, Q8_0, suffix="_shexp"),
                 [Keeps(full, 2048), Keeps(linear, state_bytes=4 * (3 * (4096 + 2 * 16 * 128) + 128 * 4096))],
                 "Qwen3.6-35B-A3B: every fourth layer keeps 2 heads of 256, the others 62.81 MiB of state together",
                 {4096: 83886080 + 65863680, 262144: 5368709120 + 65863680})


def deci():
    full = [layer for layer in range(80) if layer % 4 != 3]
    counts = [8 if layer in full else 0 for layer in range(80)]
    return Shape("deci", 80, 8192, 128256,
                 heads_keys([8 * count for count in counts], counts, 128) |
                 {"feed_forward_length": [28672] * 80, "rope.dimension_count": 128},
                 attention(8192, 64, 8, 128, Q4_K, full) + feed_forward(8192, 28672, Q4_K) +
                 vectors("attn_norm.weight", 8192, full) + vectors("ffn_norm.weight", 8192),
                 [Keeps(full, 4096)],
                 "as Llama-3.1-Nemotron-51B: layers without attention keep nothing",
                 {4096: 60 * 4096 * 4096})


def mistral():
    return Shape("llama", 32, 4096, 32000,
                 heads_keys(32, 8, 128) | {"feed_forward_length": 14336, "rope.dimension_count": 128},
                 attention(4096, 32, 8, 128, F16) + feed_forward(4096, 14336, F16) +
                 vectors("attn_norm.weight ffn_norm.weight", 4096), [Keeps(ALL, 4096)],
                 "Mistral-7B-v0.1: llama.cpp does not apply its window of 4096 tokens",
                 {4096: 536870912, 32768: 4294967296}, embedding=F16, head=F16)


MODELS = {"Gemma 3 27B": gemma3(), "gpt-oss-20b": gpt_oss(), "DeepSeek-V3": deepseek(), "GLM-4.5-Air": glm(),
          "Qwen3.6-35B-A3B": qwen35(), "deci": deci(), "Mistral 7B": mistral()}
