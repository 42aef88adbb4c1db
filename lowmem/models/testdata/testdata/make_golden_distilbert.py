#!/usr/bin/env python3
"""Makes testdata/golden_distilbert: a small DistilBERT, an input, and what it gives.

The expected states come from numpy in double precision. PyTorch computes the same
in float32 (torch.nn.functional, one thread); its own largest error is stored
beside them, as the measure for the C++ encoder's.

    python3 lowmem/models/testdata/make_golden_distilbert.py \\
        lowmem/models/testdata/golden_distilbert

Needs python3-numpy and python3-torch. The checkpoint and the expected states come
out the same every time; PyTorch's error may differ between processors.
"""

import torch

import golden_encoder
from golden_encoder import EPSILON, Names, encode, gelu, make_weights
from golden_model import HIDDEN, Numpy, Torch, write_golden

NAMES = Names(
    prefix="distilbert.",
    layer="transformer.layer.%d",
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    attention_output="attention.out_lin",
    attention_norm="sa_layer_norm",
    expand="ffn.lin1",
    contract="ffn.lin2",
    output_norm="output_layer_norm",
)


def main():
    weights = make_weights(NAMES, types=0)
    ids = weights.random.integers(0, golden_encoder.VOCABULARY, golden_encoder.TOKENS)
    config = {
        "model_type": "distilbert",
        "activation": "gelu",
        "dim": HIDDEN,
        "hidden_dim": golden_encoder.INTERMEDIATE,
        "max_position_embeddings": golden_encoder.POSITIONS,
        "n_heads": golden_encoder.HEADS,
        "n_layers": golden_encoder.LAYERS,
        "sinusoidal_pos_embds": False,
        "vocab_size": golden_encoder.VOCABULARY,
    }
    exact = encode(Numpy(weights.arrays, EPSILON, gelu), NAMES, ids)
    by_torch = encode(
        Torch(weights.arrays, EPSILON, torch.nn.functional.gelu),
        NAMES,
        torch.from_numpy(ids),
    )
    results = {"states": exact, "ids": ids}
    write_golden(config, weights.arrays, results, exact, by_torch)


if __name__ == "__main__":
    main()
