#!/usr/bin/env python3
"""Makes testdata/golden_bert: a small BERT, an input, and what it gives.

The expected states come from numpy in double precision. PyTorch computes the same
in float32 (torch.nn.functional, one thread); its own largest error is stored
beside them, as the measure for the C++ encoder's.

    python3 lowmem/models/testdata/make_golden_bert.py lowmem/models/testdata/golden_bert

Needs python3-numpy and python3-torch. The checkpoint and the expected states come
out the same every time; PyTorch's error may differ between processors.
"""

import torch

import golden_encoder
from golden_encoder import EPSILON, Names, encode, gelu, make_weights
from golden_model import HIDDEN, Numpy, Torch, write_golden

TYPES = 2
NAMES = Names(
    prefix="",
    layer="encoder.layer.%d",
    query="attention.self.query",
    key="attention.self.key",
    value="attention.self.value",
    attention_output="attention.output.dense",
    attention_norm="attention.output.LayerNorm",
    expand="intermediate.dense",
    contract="output.dense",
    output_norm="output.LayerNorm",
)


def main():
    weights = make_weights(NAMES, TYPES)
    ids = weights.random.integers(0, golden_encoder.VOCABULARY, golden_encoder.TOKENS)
    types = weights.random.integers(0, TYPES, golden_encoder.TOKENS)
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": HIDDEN,
        "intermediate_size": golden_encoder.INTERMEDIATE,
        "layer_norm_eps": EPSILON,
        "max_position_embeddings": golden_encoder.POSITIONS,
        "num_attention_heads": golden_encoder.HEADS,
        "num_hidden_layers": golden_encoder.LAYERS,
        "type_vocab_size": TYPES,
        "vocab_size": golden_encoder.VOCABULARY,
    }
    exact = encode(Numpy(weights.arrays, EPSILON, gelu), NAMES, ids, types)
    by_torch = encode(
        Torch(weights.arrays, EPSILON, torch.nn.functional.gelu),
        NAMES,
        torch.from_numpy(ids),
        torch.from_numpy(types),
    )
    results = {"states": exact, "ids": ids, "token_types": types}
    write_golden(config, weights.arrays, results, exact, by_torch)


if __name__ == "__main__":
    main()
