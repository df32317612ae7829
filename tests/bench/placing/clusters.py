# SPDX-License-Identifier: LGPL-2.1-or-later
"""Made-up clusters and models, by their number."""

import collections
import math
import random

import llama

SHARES = 1, 0.75, 0.5, 0.35  # of a processor
RATES = 60e6, 800e6  # b/s
ROUND_TRIPS = 0.2e-3, 6e-3  # s
BYTES = 80e6, 200e6  # of all layers
BITS = {"Q4_0": 4.5, "Q8_0": 8.5}  # of a weight
TIGHT = 0.75  # of the clusters: the model fits on few of their hosts alone, or on none
PART = 0.3, 1.1  # of what is needed, that is free on a host of these
ENOUGH = 1.4  # times what is needed, that is free on all of them together
ROOMY = 3

Cluster = collections.namedtuple("Cluster", "shares links model parts")


def log_uniform(source, low, high):
    return math.exp(source.uniform(math.log(low), math.log(high)))


def layer_parameters(model):
    head = model.embedding // model.heads
    return model.embedding * (2 * model.embedding + 2 * head * model.kv_heads + 3 * model.ffn)


def make_model(source):
    embedding = source.choice([768, 1024, 1536])
    heads = embedding // 64
    model = llama.Model(layers=1, embedding=embedding, heads=heads, kv_heads=heads // source.choice([1, 2, 4]),
                        ffn=256 * round(embedding * source.uniform(2.5, 3.5) / 256),
                        vocabulary=source.choice([2048, 8192, 32768]), type=source.choice(sorted(BITS)))
    layer = layer_parameters(model) * BITS[model.type] / 8
    return model._replace(layers=max(4, round(source.uniform(*BYTES) / layer)))


def make(seed, number):
    """parts: of what the model needs on one host alone, that is free on each."""
    source = random.Random(f"{seed} {number}")
    hosts = source.randint(2, 4)
    links = {(one, other): llama.Link(rate := log_uniform(source, *RATES), log_uniform(source, *ROUND_TRIPS),
                                      rate * source.choice([1, 1, 0.5]))
             for one in range(hosts) for other in range(one + 1, hosts)}
    parts = [ROOMY] * hosts
    if source.random() < TIGHT:
        parts = [0]
        while sum(parts) < ENOUGH:
            parts = [source.uniform(*PART) for _ in range(hosts)]
    return Cluster([source.choice(SHARES) for _ in range(hosts)], links, make_model(source), parts)
