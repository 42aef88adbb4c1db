"""What the makers of golden models share: random weights by name, numpy's and
PyTorch's operations, and the files.

Used by make_golden_bert.py and make_golden_gpt2.py; needs python3-numpy and
python3-torch.
"""

import json
import math
import os
import sys

import numpy
import torch

HIDDEN = 32


class Weights:
    """Name -> float32 array, drawn in the order of the calls."""

    def __init__(self):
        self.random = numpy.random.Generator(numpy.random.PCG64(2026))
        self.arrays = {}

    def add(self, name, shape, mean=0.0, deviation=0.25):
        values = mean + deviation * self.random.standard_normal(shape)
        self.arrays[name] = values.astype(numpy.float32)

    def add_linear(self, name, shape, outputs):
        self.add(name + ".weight", shape)
        self.add(name + ".bias", (outputs,), deviation=0.1)

    def add_norm(self, name):
        self.add(name + ".weight", (HIDDEN,), mean=1.0, deviation=0.2)
        self.add(name + ".bias", (HIDDEN,), deviation=0.1)


class Numpy:
    """The operations in double precision; `activation` is the model's."""

    def __init__(self, arrays, epsilon, activation):
        self.weights = {name: x.astype(numpy.float64) for name, x in arrays.items()}
        self.epsilon = epsilon
        self.activation = activation

    def norm(self, x, name):
        centred = x - x.mean(axis=1, keepdims=True)
        variance = (centred * centred).mean(axis=1, keepdims=True)
        scaled = centred / numpy.sqrt(variance + self.epsilon)
        return scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def linear(self, x, name):
        """With the weight as [outputs, inputs]."""
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def transposed_linear(self, x, name):
        return x @ self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def softmax(self, x):
        shares = numpy.exp(x - x.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def hide_later(self, x):
        later = numpy.triu(numpy.ones(x.shape, bool), 1)
        return numpy.where(later, -numpy.inf, x)

    def stack(self, parts):
        return numpy.concatenate(parts, 1)


class Torch:
    """The same operations in PyTorch's float32, on one thread."""

    def __init__(self, arrays, epsilon, activation):
        torch.set_num_threads(1)
        self.weights = {name: torch.from_numpy(x) for name, x in arrays.items()}
        self.epsilon = epsilon
        self.activation = activation

    def norm(self, x, name):
        return torch.nn.functional.layer_norm(
            x,
            (HIDDEN,),
            self.weights[name + ".weight"],
            self.weights[name + ".bias"],
            self.epsilon,
        )

    def linear(self, x, name):
        return torch.nn.functional.linear(
            x, self.weights[name + ".weight"], self.weights[name + ".bias"]
        )

    def transposed_linear(self, x, name):
        return torch.addmm(
            self.weights[name + ".bias"], x, self.weights[name + ".weight"]
        )

    def softmax(self, x):
        return torch.nn.functional.softmax(x, 1)

    def hide_later(self, x):
        return x.masked_fill(torch.ones(x.shape).triu(1).bool(), -math.inf)

    def stack(self, parts):
        return torch.cat(parts, 1)


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


def write_golden(config, arrays, results, exact, by_torch):
    """The checkpoint, and `results` with PyTorch's largest error beside them."""
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    error = numpy.abs(by_torch.numpy() - exact).max()
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file, indent=2)
        file.write("\n")
    write_safetensors(os.path.join(folder, "model.safetensors"), arrays)
    measure = {"torch_float32_error": numpy.array([error], numpy.float64)}
    write_safetensors(
        os.path.join(folder, "expected.safetensors"), {**results, **measure}
    )
    print("PyTorch %s: largest error %.3g" % (torch.__version__, error))
