#!/usr/bin/env python3
"""Makes testdata/golden_bert: a small BERT, an input, and what it gives.

The expected states come from numpy in double precision. PyTorch computes the same
in float32 (torch.nn.functional, one thread); its own largest error is stored
beside them, as the measure for the C++ encoder's.

    python3 lowmem/testdata/make_golden_bert.py lowmem/testdata/golden_bert

Needs python3-numpy and python3-torch. The checkpoint and the expected states come
out the same every time; PyTorch's error may differ between processors.
"""

import math

import numpy
import torch

from golden_model import HIDDEN, Numpy, Torch, Weights, write_golden

LAYERS, HEADS, INTERMEDIATE = 2, 2, 80
VOCABULARY, POSITIONS, TYPES, TOKENS = 24, 40, 2, 37
EPSILON = 1e-12


def make_weights():
    """As public checkpoints name them."""
    weights = Weights()

    def add_linear(name, rows, columns):
        weights.add_linear(name, (rows, columns), rows)

    weights.add("embeddings.word_embeddings.weight", (VOCABULARY, HIDDEN))
    weights.add("embeddings.position_embeddings.weight", (POSITIONS, HIDDEN))
    weights.add("embeddings.token_type_embeddings.weight", (TYPES, HIDDEN))
    weights.add_norm("embeddings.LayerNorm")
    for layer in range(LAYERS):
        begin = "encoder.layer.%d." % layer
        for name in ("query", "key", "value"):
            add_linear(begin + "attention.self." + name, HIDDEN, HIDDEN)
        add_linear(begin + "attention.output.dense", HIDDEN, HIDDEN)
        weights.add_norm(begin + "attention.output.LayerNorm")
        add_linear(begin + "intermediate.dense", INTERMEDIATE, HIDDEN)
        add_linear(begin + "output.dense", HIDDEN, INTERMEDIATE)
        weights.add_norm(begin + "output.LayerNorm")
    return weights


def encode(library, ids, types):
    """The encoder in terms of a library's operations."""
    weights = library.weights
    states = (
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.token_type_embeddings.weight"][types]
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
    )
    states = library.norm(states, "embeddings.LayerNorm")
    features = HIDDEN // HEADS
    for layer in range(LAYERS):
        begin = "encoder.layer.%d." % layer
        query, key, value = (
            library.linear(states, begin + "attention.self." + name)
            for name in ("query", "key", "value")
        )
        context = []
        for head in range(HEADS):
            part = slice(head * features, (head + 1) * features)
            scores = query[:, part] @ key[:, part].T / math.sqrt(features)
            context.append(library.softmax(scores) @ value[:, part])
        attention = library.linear(
            library.stack(context), begin + "attention.output.dense"
        )
        states = library.norm(
            states + attention, begin + "attention.output.LayerNorm"
        )
        inner = library.activation(
            library.linear(states, begin + "intermediate.dense")
        )
        states = library.norm(
            states + library.linear(inner, begin + "output.dense"),
            begin + "output.LayerNorm",
        )
    return states


def gelu(x):
    erf = numpy.vectorize(math.erf)
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def main():
    weights = make_weights()
    ids = weights.random.integers(0, VOCABULARY, TOKENS)
    types = weights.random.integers(0, TYPES, TOKENS)
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": HIDDEN,
        "intermediate_size": INTERMEDIATE,
        "layer_norm_eps": EPSILON,
        "max_position_embeddings": POSITIONS,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "type_vocab_size": TYPES,
        "vocab_size": VOCABULARY,
    }
    exact = encode(Numpy(weights.arrays, EPSILON, gelu), ids, types)
    by_torch = encode(
        Torch(weights.arrays, EPSILON, torch.nn.functional.gelu),
        torch.from_numpy(ids),
        torch.from_numpy(types),
    )
    results = {"states": exact, "ids": ids, "token_types": types}
    write_golden(config, weights.arrays, results, exact, by_torch)


if __name__ == "__main__":
    main()
