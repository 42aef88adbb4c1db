#!/usr/bin/env python3
"""Makes the golden files of adapters with PyTorch: losses of trainings, and an adapter in
PEFT's files with the outputs that a network has with it.

    python3 trainer_manager/adapters/testdata/make_golden_lora.py \
        trainer_manager/adapters/testdata

Weights and data are the numbers that adapter_goldens_test.cc draws, too. All is calculated
in double precision on one thread; beside the losses stands how far PyTorch's own float32
comes from them. PEFT itself is not needed: the adapters are its formula, and the files
have its names and layouts (peft/utils/save_and_load.py). Needs python3-torch and
python3-safetensors.
"""

import json
import math
import os
import sys

import torch
from safetensors.torch import save_file
from torch import nn

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "../../runtime/testdata"))
import make_golden_losses as golden  # pylint: disable=wrong-import-position

WORDS, POSITIONS, WIDTH, HEADS, INNER, BATCH = 50, 16, 64, 4, 128, 4


class Adapted(nn.Module):
    """A frozen Linear, and pairs of matrices for some thirds of its outputs, or for all."""

    def __init__(self, inputs, outputs, parts, rank, scale):
        super().__init__()
        self.base = nn.Linear(inputs, outputs)
        self.parts = parts
        self.scale = scale
        width = outputs if parts == [None] else outputs // 3
        self.a = nn.ParameterList(torch.zeros(rank, inputs) for _ in parts)
        self.b = nn.ParameterList(torch.zeros(width, rank) for _ in parts)

    def forward(self, x):
        result = self.base(x)
        for part, a, b in zip(self.parts, self.a, self.b):
            added = self.scale * (x @ a.T) @ b.T
            if part is None:
                result = result + added
                continue
            before, after = part * WIDTH, (2 - part) * WIDTH
            result = result + nn.functional.pad(added, (before, after))
        return result


class Block(nn.Module):
    def __init__(self, make_linear):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.qkv = make_linear("qkv", WIDTH, 3 * WIDTH)
        self.projection = make_linear("projection", WIDTH, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.fc1 = make_linear("fc1", WIDTH, INNER)
        self.fc2 = make_linear("fc2", INNER, WIDTH)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        scores = scores.masked_fill(torch.ones_like(scores[0, 0]).triu(1).bool(), -math.inf)
        x = x + self.projection((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        return x + self.fc2(nn.functional.gelu(self.fc1(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, make_linear):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.position = nn.Parameter(torch.zeros(POSITIONS, WIDTH))
        self.layer1 = Block(make_linear)
        self.layer2 = Block(make_linear)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.position
        return self.head(self.norm(self.layer2(self.layer1(x))))


def set_linear(module, draws):
    values = draws.values(module.weight.numel(), module.in_features**-0.5)
    golden.set_parameter(module.weight, values.reshape(module.weight.T.shape).T)
    golden.set_parameter(module.bias, draws.values(module.bias.numel(), 0.1))


def set_weights(model, draws):
    """In the order of the C++ network: the base, then the adapters' A; B is zero."""
    golden.set_parameter(model.embedding.weight, draws.values(WORDS * WIDTH, 0.5))
    golden.set_parameter(model.position, draws.values(POSITIONS * WIDTH, 0.1))
    adapted = []
    for block in (model.layer1, model.layer2):
        for name in ("norm1", "qkv", "projection", "norm2", "fc1", "fc2"):
            module = getattr(block, name)
            if isinstance(module, Adapted):
                adapted.append(module)
                module = module.base
            if isinstance(module, nn.LayerNorm):
                continue  # ones and zeros
            set_linear(module, draws)
    set_linear(model.head, draws)
    for module in adapted:
        for a in module.a:
            golden.set_parameter(a, draws.values(a.numel(), a.shape[1]**-0.5))


def freeze(model, trains_head):
    for name, parameter in model.named_parameters():
        is_adapter = ".a." in name or ".b." in name
        parameter.requires_grad_(is_adapter or (trains_head and name.startswith("head.")))


def query_and_value(rank, scale):
    def make(name, inputs, outputs):
        if name != "qkv":
            return nn.Linear(inputs, outputs)
        return Adapted(inputs, outputs, [0, 2], rank, scale)
    return make


def all_linear(rank, scale):
    return lambda name, inputs, outputs: Adapted(inputs, outputs, [None], rank, scale)


def make_tokens(draws):
    """A row counts on by its own step; the label is the next word."""
    rows = []
    for _ in range(BATCH):
        first, step = draws.below(WORDS), 1 + draws.below(3)
        rows.append([(first + step * i) % WORDS for i in range(POSITIONS + 1)])
    rows = torch.tensor(rows)
    return rows[:, :-1], rows[:, 1:]


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=0.004, weight_decay=0.1)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1)


# name, linear layers, optimizer, whether the head is trained besides, steps
TRAININGS = [
    ("query_and_value_adamw", query_and_value(8, 16 / 8), adamw, False, 200),
    ("all_stabilized_sgd", all_linear(4, 8 / math.sqrt(4)), sgd, True, 200),
]


def train(make_linear, make_optimizer, trains_head, steps, dtype):
    model = Model(make_linear).to(dtype)
    draws = golden.Draws(7)
    set_weights(model, draws)
    freeze(model, trains_head)
    optimizer = make_optimizer([p for p in model.parameters() if p.requires_grad])
    losses = []
    for _ in range(steps):
        tokens, labels = make_tokens(draws)
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses


def write_adapter(folder):
    """An adapter as PEFT saves it, with the head, and the outputs of one batch."""
    model = Model(query_and_value(4, 8 / 4)).double()
    draws = golden.Draws(7)
    set_weights(model, draws)
    tensors = {}
    for name in ("layer1", "layer2"):
        module = getattr(model, name).qkv
        for part, a, b in zip("qv", module.a, module.b):
            golden.set_parameter(b, draws.values(b.numel(), 0.25))
            key = "base_model.model.%s.%s_proj.lora_" % (name, part)
            tensors[key + "A.weight"] = a.detach().float().contiguous()
            tensors[key + "B.weight"] = b.detach().float().contiguous()
    set_linear(model.head, draws)
    for name, parameter in model.head.named_parameters():
        tensors["base_model.model.head." + name] = parameter.detach().float().contiguous()
    save_file(tensors, os.path.join(folder, "adapter_model.safetensors"), {"format": "pt"})
    with open(os.path.join(folder, "adapter_config.json"), "w") as out:
        json.dump({"base_model_name_or_path": "golden", "bias": "none", "peft_type": "LORA",
                   "r": 4, "lora_alpha": 8, "lora_dropout": 0.05, "use_rslora": False,
                   "use_dora": False, "rank_pattern": {}, "alpha_pattern": {},
                   "target_modules": ["q_proj", "v_proj"], "modules_to_save": ["head"],
                   "task_type": "CAUSAL_LM"}, out, indent=2, sort_keys=True)
        out.write("\n")
    with torch.no_grad():
        return model(make_tokens(draws)[0]).flatten()[::50]


def main():
    torch.set_num_threads(1)
    folder = sys.argv[1]
    with open(os.path.join(folder, "golden_lora.txt"), "w") as out:
        out.write("# Made by make_golden_lora.py: a training, then its losses.\n")
        for name, *training in TRAININGS:
            exact = train(*training, torch.float64)
            rounded = train(*training, torch.float32)
            worst = max(abs(a - b) / b for a, b in zip(rounded, exact))
            out.write("# %s: PyTorch's float32 is within %.0e\n" % (name, worst))
            out.write(" ".join([name] + ["%.9g" % loss for loss in exact]) + "\n")
        os.makedirs(os.path.join(folder, "adapter"), exist_ok=True)
        outputs = write_adapter(os.path.join(folder, "adapter"))
        out.write("# The first output of each position, with the adapter in the folder.\n")
        out.write(" ".join(["outputs"] + ["%.9g" % value for value in outputs]) + "\n")


if __name__ == "__main__":
    main()
