#!/usr/bin/env python3
"""Makes testdata/golden_bert: a small BERT, an input, and what it gives.

The expected states come from numpy in double precision. PyTorch computes the same
in float32 (torch.nn.functional, one thread); its own largest error is stored
beside them, as the measure for the C++ encoder's.

    python3 lowmem/testdata/make_golden_bert.py lowmem/testdata/golden_bert

Needs python3-numpy and python3-torch. The checkpoint and the expected states come
out the same every time; PyTorch's error may differ between processors.
"""

import json
import math
import os
import sys

import numpy
import torch

LAYERS, HIDDEN, HEADS, INTERMEDIATE = 2, 32, 2, 80
VOCABULARY, POSITIONS, TYPES, TOKENS = 24, 40, 2, 37
EPSILON = 1e-12


def make_weights():
    """Name -> float32 array, as public checkpoints name them."""
    random = numpy.random.Generator(numpy.random.PCG64(2026))
    weights = {}

    def add(name, shape, mean=0.0, deviation=0.25):
        values = mean + deviation * random.standard_normal(shape)
        weights[name] = values.astype(numpy.float32)

    def add_linear(name, rows, columns):
        add(name + ".weight", (rows, columns))
        add(name + ".bias", (rows,), deviation=0.1)

    def add_norm(name):
        add(name + ".weight", (HIDDEN,), mean=1.0, deviation=0.2)
        add(name + ".bias", (HIDDEN,), deviation=0.1)

    add("embeddings.word_embeddings.weight", (VOCABULARY, HIDDEN))
    add("embeddings.position_embeddings.weight", (POSITIONS, HIDDEN))
    add("embeddings.token_type_embeddings.weight", (TYPES, HIDDEN))
    add_norm("embeddings.LayerNorm")
    for layer in range(LAYERS):
        begin = "encoder.layer.%d." % layer
        for name in ("query", "key", "value"):
            add_linear(begin + "attention.self." + name, HIDDEN, HIDDEN)
        add_linear(begin + "attention.output.dense", HIDDEN, HIDDEN)
        add_norm(begin + "attention.output.LayerNorm")
        add_linear(begin + "intermediate.dense", INTERMEDIATE, HIDDEN)
        add_linear(begin + "output.dense", HIDDEN, INTERMEDIATE)
        add_norm(begin + "output.LayerNorm")
    return weights, random


def encode(weights, ids, types, linear, norm, gelu, softmax, stack):
    """The encoder in terms of the library's operations."""
    states = (
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.token_type_embeddings.weight"][types]
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
    )
    states = norm(states, "embeddings.LayerNorm")
    features = HIDDEN // HEADS
    for layer in range(LAYERS):
        begin = "encoder.layer.%d." % layer
        query, key, value = (
            linear(states, begin + "attention.self." + name)
            for name in ("query", "key", "value")
        )
        context = []
        for head in range(HEADS):
            part = slice(head * features, (head + 1) * features)
            scores = query[:, part] @ key[:, part].T / math.sqrt(features)
            context.append(softmax(scores) @ value[:, part])
        states = norm(
            states + linear(stack(context), begin + "attention.output.dense"),
            begin + "attention.output.LayerNorm",
        )
        inner = gelu(linear(states, begin + "intermediate.dense"))
        states = norm(
            states + linear(inner, begin + "output.dense"), begin + "output.LayerNorm"
        )
    return states


def encode_numpy(weights, ids, types):
    """In double precision."""
    wide = {name: values.astype(numpy.float64) for name, values in weights.items()}

    def linear(x, name):
        return x @ wide[name + ".weight"].T + wide[name + ".bias"]

    def norm(x, name):
        centred = x - x.mean(axis=1, keepdims=True)
        variance = (centred * centred).mean(axis=1, keepdims=True)
        scaled = centred / numpy.sqrt(variance + EPSILON)
        return scaled * wide[name + ".weight"] + wide[name + ".bias"]

    def gelu(x):
        erf = numpy.vectorize(math.erf)
        return 0.5 * x * (1 + erf(x / math.sqrt(2)))

    def softmax(x):
        shares = numpy.exp(x - x.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    return encode(
        wide, ids, types, linear, norm, gelu, softmax, lambda x: numpy.concatenate(x, 1)
    )


def encode_torch(weights, ids, types):
    """In PyTorch's float32."""
    torch.set_num_threads(1)
    tensors = {name: torch.from_numpy(values) for name, values in weights.items()}
    functional = torch.nn.functional

    def linear(x, name):
        return functional.linear(x, tensors[name + ".weight"], tensors[name + ".bias"])

    def norm(x, name):
        return functional.layer_norm(
            x, (HIDDEN,), tensors[name + ".weight"], tensors[name + ".bias"], EPSILON
        )

    states = encode(
        tensors,
        torch.from_numpy(ids),
        torch.from_numpy(types),
        linear,
        norm,
        functional.gelu,
        lambda x: functional.softmax(x, 1),
        lambda x: torch.cat(x, 1),
    )
    return states.numpy()


def write_safetensors(path, tensors):
    """Name -> array, in the order given."""
    names = {numpy.float32: "F32", numpy.float64: "F64", numpy.int64: "I64"}
    header, data = {}, b""
    for name, values in tensors.items():
        begin = len(data)
        data += values.tobytes()
        header[name] = {
            "dtype": names[values.dtype.type],
            "shape": list(values.shape),
            "data_offsets": [begin, len(data)],
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    weights, random = make_weights()
    ids = random.integers(0, VOCABULARY, TOKENS)
    types = random.integers(0, TYPES, TOKENS)
    expected = encode_numpy(weights, ids, types)
    error = numpy.abs(encode_torch(weights, ids, types) - expected).max()
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
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file, indent=2)
        file.write("\n")
    write_safetensors(os.path.join(folder, "model.safetensors"), weights)
    write_safetensors(
        os.path.join(folder, "expected.safetensors"),
        {
            "states": expected,
            "ids": ids,
            "token_types": types,
            "torch_float32_error": numpy.array([error], numpy.float64),
        },
    )
    print("PyTorch %s: largest error %.3g" % (torch.__version__, error))


if __name__ == "__main__":
    main()
