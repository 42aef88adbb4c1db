#!/usr/bin/env python3
"""Makes testdata/layer_goldens.txt: what layers calculate in PyTorch.

    python3 trainer_manager/layers/testdata/make_layer_goldens.py \
        trainer_manager/layers/testdata/layer_goldens.txt

A line has the layer's name, a tensor's and its values: the output, the gradients
of weights and the derivatives of inputs. Inputs, weights and the derivative of the
output are the numbers of `numbers`, which layer_goldens_test.cc has, too. In double
precision. Needs python3-torch 2.5 or later, which has grouped heads, and
python3-transformers.
"""

import sys

import torch
from torch import nn
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb


def numbers(shape, salt):
    """Values from -1.25 to 1.25 in steps of a sixteenth, none twice in a row."""
    count = torch.Size(shape).numel()
    values = [((i * 37 + salt * 11) % 41 - 20) / 16 for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape).requires_grad_()


def turn(x):
    """Rotary positions of two heads of width 4 by transformers' Llama; the rest stays."""
    heads = x[:, :, :8].unflatten(2, (2, 4)).transpose(1, 2)
    angles = torch.outer(torch.arange(x.shape[1], dtype=torch.float64),
                         500.0 ** -(torch.arange(0, 4, 2, dtype=torch.float64) / 4))
    angles = torch.cat((angles, angles), 1)[None]
    turned, _ = apply_rotary_pos_emb(heads, heads, angles.cos(), angles.sin())
    return torch.cat((turned.transpose(1, 2).flatten(2), x[:, :, 8:]), 2)


def attend(x):
    """Causal attention of four heads of width 3, two of which share keys and values."""
    query, key, value = x.unflatten(2, (8, 3)).transpose(1, 2).split((4, 2, 2), 1)
    return nn.functional.scaled_dot_product_attention(
        query, key, value, is_causal=True, enable_gqa=True).transpose(1, 2).flatten(2)


# name, shapes of inputs, shapes of weights, function
LAYERS = [
    ("silu", [(3, 7)], [], nn.functional.silu),
    ("rms_normalization", [(4, 6)], [(6,)],
     lambda x, scale: nn.functional.rms_norm(x, (6,), scale, eps=1e-6)),
    ("global_average_pool", [(2, 3, 4, 5)], [],
     lambda x: nn.functional.adaptive_avg_pool2d(x, 1).flatten(1)),
    ("multiply", [(3, 7), (3, 7)], [], lambda x, y: x * y),
    ("rotary_positions", [(2, 5, 11)], [], turn),
    ("grouped_attention", [(2, 5, 24)], [], attend),
    ("concatenate", [(2, 3, 2, 2), (2, 2, 2, 2)], [],
     lambda x, y: torch.cat((x, y), 1)),
    ("grouped_convolution", [(2, 4, 6, 5)], [(6, 2, 3, 3), (6,)],
     lambda x, w, b: nn.functional.conv2d(x, w, b, stride=2, padding=1, groups=2)),
    ("depthwise_convolution", [(2, 4, 6, 5)], [(4, 1, 3, 3), (4,)],
     lambda x, w, b: nn.functional.conv2d(x, w, b, padding=1, groups=4)),
]


def main():
    with open(sys.argv[1], "w") as out:
        out.write("# Made by make_layer_goldens.py: a layer, a tensor, its values.\n")
        for name, inputs, weights, function in LAYERS:
            x = [numbers(shape, i) for i, shape in enumerate(inputs)]
            w = [numbers(shape, 10 + i) for i, shape in enumerate(weights)]
            output = function(*x, *w)
            output.backward(numbers(output.shape, 20).detach())
            tensors = [("output", output)]
            tensors += [(f"derivative{i}", t.grad) for i, t in enumerate(x)]
            tensors += [(f"gradient{i}", t.grad) for i, t in enumerate(w)]
            for tensor, values in tensors:
                numbers_text = " ".join("%.9g" % v for v in values.flatten().tolist())
                out.write(f"{name} {tensor} {numbers_text}\n")


if __name__ == "__main__":
    main()
