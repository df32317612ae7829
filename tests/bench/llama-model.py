#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a GGUF file of architecture llama with random weights. Run by llama.py in the root that has gguf and numpy.

All layers have the same weights, because making random ones takes long.
"""

import argparse

import gguf
import numpy

CONTEXT = 4096
BLOCK_ROWS = 1 << 14  # rows of random numbers that are held at a time


def random_tensor(generator, shape, kind):
    """Weights that keep activations at about the same size from layer to layer; shape in the order of numpy."""
    rows, columns = shape
    scale = columns ** -0.5
    parts = [generator.standard_normal((min(BLOCK_ROWS, rows - begin), columns), dtype=numpy.float32) * scale
             for begin in range(0, rows, BLOCK_ROWS)]
    return gguf.quants.quantize(numpy.concatenate(parts), kind)


def zeros(_, shape, kind):
    return numpy.zeros(gguf.quants.quant_shape_to_byte_shape(shape, kind), dtype=numpy.uint8)


def make_layer(make_tensor, generator, options, kind):
    embedding, head = options.embedding, options.embedding // options.heads
    shapes = {"attn_q": (embedding, embedding), "attn_k": (head * options.kv_heads, embedding),
              "attn_v": (head * options.kv_heads, embedding), "attn_output": (embedding, embedding),
              "ffn_gate": (options.ffn, embedding), "ffn_up": (options.ffn, embedding),
              "ffn_down": (embedding, options.ffn)}
    return {name: make_tensor(generator, shape, kind) for name, shape in shapes.items()}


def add_layer(writer, index, tensors, options, kind):
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.{index}.{name}.weight", numpy.ones(options.embedding, dtype=numpy.float32))
    for name, tensor in tensors.items():
        writer.add_tensor(f"blk.{index}.{name}.weight", tensor, raw_dtype=kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    for name, default in (("layers", 6), ("embedding", 2048), ("heads", 16), ("kv-heads", 4), ("ffn", 1024),
                          ("vocabulary", 2048)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--type", default="Q4_0", help="of the matrices, as gguf names it")
    parser.add_argument("--zeros", action="store_true", help="weights of 0, where only their sizes matter")
    options = parser.parse_args()
    make_tensor = zeros if options.zeros else random_tensor
    kind = gguf.GGMLQuantizationType[options.type]
    generator = numpy.random.default_rng(1)

    writer = gguf.GGUFWriter(options.path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(options.embedding)
    writer.add_block_count(options.layers)
    writer.add_feed_forward_length(options.ffn)
    writer.add_head_count(options.heads)
    writer.add_head_count_kv(options.kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(options.embedding // options.heads)
    writer.add_vocab_size(options.vocabulary)
    writer.add_tokenizer_model("no_vocab")

    vocabulary = (options.vocabulary, options.embedding)
    writer.add_tensor("token_embd.weight", make_tensor(generator, vocabulary, kind), raw_dtype=kind)
    writer.add_tensor("output_norm.weight", numpy.ones(options.embedding, dtype=numpy.float32))
    writer.add_tensor("output.weight", make_tensor(generator, vocabulary, kind), raw_dtype=kind)
    layer = make_layer(make_tensor, generator, options, kind)
    for index in range(options.layers):
        add_layer(writer, index, layer, options, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
