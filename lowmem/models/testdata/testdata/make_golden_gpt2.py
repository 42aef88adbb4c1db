#!/usr/bin/env python3
"""Makes testdata/golden_gpt2: a small GPT-2, a prompt, and what comes next.

The expected numbers come from numpy in double precision: for every token of the
prompt the logits after it. PyTorch computes the same in float32
(torch.nn.functional, one thread); its own largest error is stored beside them, as
the measure for the C++ decoder's.

    python3 lowmem/models/testdata/make_golden_gpt2.py lowmem/models/testdata/golden_gpt2

Needs python3-numpy and python3-torch. The checkpoint and the expected numbers come
out the same every time; PyTorch's error may differ between processors.
"""

import math

import numpy
import torch

from golden_model import HIDDEN, Numpy, Torch, Weights, write_golden

LAYERS, HEADS, INTERMEDIATE = 2, 2, 80
VOCABULARY, POSITIONS, TOKENS = 24, 40, 37
EPSILON = 1e-5


def make_weights():
    """Names the weights as public checkpoints do; matrices are transposed."""
    weights = Weights()

    def add_linear(name, inputs, outputs):
        weights.add_linear(name, (inputs, outputs), outputs)

    weights.add("wte.weight", (VOCABULARY, HIDDEN))
    weights.add("wpe.weight", (POSITIONS, HIDDEN))
    for layer in range(LAYERS):
        begin = "h.%d." % layer
        weights.add_norm(begin + "ln_1")
        add_linear(begin + "attn.c_attn", HIDDEN, 3 * HIDDEN)
        add_linear(begin + "attn.c_proj", HIDDEN, HIDDEN)
        weights.add_norm(begin + "ln_2")
        add_linear(begin + "mlp.c_fc", HIDDEN, INTERMEDIATE)
        add_linear(begin + "mlp.c_proj", INTERMEDIATE, HIDDEN)
    weights.add_norm("ln_f")
    return weights


def decode(library, ids):
    """The decoder in terms of a library's operations."""
    weights, linear = library.weights, library.transposed_linear
    states = weights["wte.weight"][ids] + weights["wpe.weight"][: len(ids)]
    features = HIDDEN // HEADS
    for layer in range(LAYERS):
        begin = "h.%d." % layer
        normed = library.norm(states, begin + "ln_1")
        joined = linear(normed, begin + "attn.c_attn")
        query, key, value = (
            joined[:, i * HIDDEN : (i + 1) * HIDDEN] for i in range(3)
        )
        context = []
        for head in range(HEADS):
            part = slice(head * features, (head + 1) * features)
            scores = query[:, part] @ key[:, part].T / math.sqrt(features)
            shares = library.softmax(library.hide_later(scores))
            context.append(shares @ value[:, part])
        states = states + linear(library.stack(context), begin + "attn.c_proj")
        normed = library.norm(states, begin + "ln_2")
        inner = library.activation(linear(normed, begin + "mlp.c_fc"))
        states = states + linear(inner, begin + "mlp.c_proj")
    return library.norm(states, "ln_f") @ weights["wte.weight"].T


def gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + numpy.tanh(inner))


def main():
    weights = make_weights()
    ids = weights.random.integers(0, VOCABULARY, TOKENS)
    config = {
        "activation_function": "gelu_new",
        "layer_norm_epsilon": EPSILON,
        "model_type": "gpt2",
        "n_embd": HIDDEN,
        "n_head": HEADS,
        "n_inner": INTERMEDIATE,
        "n_layer": LAYERS,
        "n_positions": POSITIONS,
        "vocab_size": VOCABULARY,
    }
    exact = decode(Numpy(weights.arrays, EPSILON, gelu), ids)
    by_torch = decode(
        Torch(
            weights.arrays,
            EPSILON,
            lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
        ),
        torch.from_numpy(ids),
    )
    results = {"logits": exact, "ids": ids}
    write_golden(config, weights.arrays, results, exact, by_torch)


if __name__ == "__main__":
    main()
