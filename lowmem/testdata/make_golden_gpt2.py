#!/usr/bin/env python3
"""Makes testdata/golden_gpt2: a small GPT-2, a prompt, and what comes next.

The expected numbers come from numpy in double precision: for every token of the
prompt the logits after it. PyTorch computes the same in float32
(torch.nn.functional, one thread); its own largest error is stored beside them, as
the measure for the C++ decoder's.

    python3 lowmem/testdata/make_golden_gpt2.py lowmem/testdata/golden_gpt2

Needs python3-numpy and python3-torch. The checkpoint and the expected numbers come
out the same every time; PyTorch's error may differ between processors.
"""

import json
import math
import os
import sys

import numpy
import torch

LAYERS, HIDDEN, HEADS, INTERMEDIATE = 2, 32, 2, 80
VOCABULARY, POSITIONS, TOKENS = 24, 40, 37
EPSILON = 1e-5


def make_weights():
    """Name -> float32 array, as public checkpoints name them."""
    random = numpy.random.Generator(numpy.random.PCG64(2026))
    weights = {}

    def add(name, shape, mean=0.0, deviation=0.25):
        values = mean + deviation * random.standard_normal(shape)
        weights[name] = values.astype(numpy.float32)

    def add_linear(name, inputs, outputs):
        add(name + ".weight", (inputs, outputs))
        add(name + ".bias", (outputs,), deviation=0.1)

    def add_norm(name):
        add(name + ".weight", (HIDDEN,), mean=1.0, deviation=0.2)
        add(name + ".bias", (HIDDEN,), deviation=0.1)

    add("wte.weight", (VOCABULARY, HIDDEN))
    add("wpe.weight", (POSITIONS, HIDDEN))
    for layer in range(LAYERS):
        begin = "h.%d." % layer
        add_norm(begin + "ln_1")
        add_linear(begin + "attn.c_attn", HIDDEN, 3 * HIDDEN)
        add_linear(begin + "attn.c_proj", HIDDEN, HIDDEN)
        add_norm(begin + "ln_2")
        add_linear(begin + "mlp.c_fc", HIDDEN, INTERMEDIATE)
        add_linear(begin + "mlp.c_proj", INTERMEDIATE, HIDDEN)
    add_norm("ln_f")
    return weights, random


def decode(weights, ids, hide, linear, norm, gelu, softmax, stack):
    """The decoder in terms of the library's operations."""
    states = weights["wte.weight"][ids] + weights["wpe.weight"][: len(ids)]
    features = HIDDEN // HEADS
    for layer in range(LAYERS):
        begin = "h.%d." % layer
        joined = linear(norm(states, begin + "ln_1"), begin + "attn.c_attn")
        query, key, value = (
            joined[:, i * HIDDEN : (i + 1) * HIDDEN] for i in range(3)
        )
        context = []
        for head in range(HEADS):
            part = slice(head * features, (head + 1) * features)
            scores = query[:, part] @ key[:, part].T / math.sqrt(features)
            context.append(softmax(hide(scores)) @ value[:, part])
        states = states + linear(stack(context), begin + "attn.c_proj")
        inner = gelu(linear(norm(states, begin + "ln_2"), begin + "mlp.c_fc"))
        states = states + linear(inner, begin + "mlp.c_proj")
    return norm(states, "ln_f") @ weights["wte.weight"].T


def decode_numpy(weights, ids):
    """In double precision."""
    wide = {name: values.astype(numpy.float64) for name, values in weights.items()}

    def linear(x, name):
        return x @ wide[name + ".weight"] + wide[name + ".bias"]

    def norm(x, name):
        centred = x - x.mean(axis=1, keepdims=True)
        variance = (centred * centred).mean(axis=1, keepdims=True)
        scaled = centred / numpy.sqrt(variance + EPSILON)
        return scaled * wide[name + ".weight"] + wide[name + ".bias"]

    def gelu(x):
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return 0.5 * x * (1 + numpy.tanh(inner))

    later = numpy.triu(numpy.ones((len(ids), len(ids)), bool), 1)

    def softmax(x):
        shares = numpy.exp(x - x.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    return decode(
        wide,
        ids,
        lambda x: numpy.where(later, -numpy.inf, x),
        linear,
        norm,
        gelu,
        softmax,
        lambda x: numpy.concatenate(x, 1),
    )


def decode_torch(weights, ids):
    """In PyTorch's float32."""
    torch.set_num_threads(1)
    tensors = {name: torch.from_numpy(values) for name, values in weights.items()}
    functional = torch.nn.functional

    def linear(x, name):
        return torch.addmm(tensors[name + ".bias"], x, tensors[name + ".weight"])

    def norm(x, name):
        return functional.layer_norm(
            x, (HIDDEN,), tensors[name + ".weight"], tensors[name + ".bias"], EPSILON
        )

    later = torch.ones(len(ids), len(ids)).triu(1).bool()
    logits = decode(
        tensors,
        torch.from_numpy(ids),
        lambda x: x.masked_fill(later, -math.inf),
        linear,
        norm,
        lambda x: functional.gelu(x, approximate="tanh"),
        lambda x: functional.softmax(x, 1),
        lambda x: torch.cat(x, 1),
    )
    return logits.numpy()


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
    expected = decode_numpy(weights, ids)
    error = numpy.abs(decode_torch(weights, ids) - expected).max()
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
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file, indent=2)
        file.write("\n")
    write_safetensors(os.path.join(folder, "model.safetensors"), weights)
    write_safetensors(
        os.path.join(folder, "expected.safetensors"),
        {
            "logits": expected,
            "ids": ids,
            "torch_float32_error": numpy.array([error], numpy.float64),
        },
    )
    print("PyTorch %s: largest error %.3g" % (torch.__version__, error))


if __name__ == "__main__":
    main()
