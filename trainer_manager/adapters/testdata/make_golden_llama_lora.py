#!/usr/bin/env python3
"""Makes the golden losses of LoRA on a small Llama with transformers' own code.

    python3 trainer_manager/adapters/testdata/make_golden_llama_lora.py \
        trainer_manager/adapters/testdata/golden_llama_lora.txt

Weights and data are the numbers that llama_adapters_test.cc draws, too. The model is
transformers' LlamaForCausalLM in double precision on one thread; its RMS normalization,
softmax and angles round to float32 on the way, so that code gets the model's type here.
Beside the losses stands how far float32 comes from them. Needs python3-torch and
python3-transformers.
"""

import os
import sys

import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama import modeling_llama

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "../../runtime/testdata"))
sys.path.insert(0, FOLDER)
import make_golden_losses as golden  # pylint: disable=wrong-import-position

WORDS, POSITIONS, WIDTH, BATCH, STEPS, RANK, SCALE = 50, 16, 64, 4, 200, 8, 16 / 8
CONFIG = LlamaConfig(
    vocab_size=WORDS, hidden_size=WIDTH, intermediate_size=96, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=POSITIONS,
    rms_norm_eps=1e-6, tie_word_embeddings=False, use_cache=False)
LINEAR = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
          "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")


class Adapted(nn.Module):
    """A frozen Linear and a pair of matrices beside it, by LoRA's formula."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.zeros(RANK, base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, x):
        return self.base(x) + SCALE * (x @ self.a.T) @ self.b.T


def keep_type():
    """Replaces what rounds to float32 whatever the model's type is."""
    def normalize(self, x):
        return self.weight * x * (x.square().mean(-1, True) + self.variance_epsilon).rsqrt()

    def turn(self, x, position_ids):
        pairs = torch.arange(0, self.inv_freq.numel(), dtype=torch.float64)
        speeds = 10000.0 ** -(pairs / self.inv_freq.numel())
        angles = position_ids[..., None].double() * speeds
        angles = torch.cat((angles, angles), -1)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)

    def attend(module, query, key, value, _mask, **_others):
        groups = module.num_key_value_groups
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        return nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=True).transpose(1, 2), None

    modeling_llama.LlamaRMSNorm.forward = normalize
    modeling_llama.LlamaRotaryEmbedding.forward = turn
    modeling_llama.eager_attention_forward = attend


def set_linear(module, draws):
    values = draws.values(module.weight.numel(), module.in_features**-0.5)
    golden.set_parameter(module.weight, values.reshape(module.weight.T.shape).T)


def adapt(model, draws):
    """Sets the weights in the order of the C++ network, then the adapters' A; B is zero."""
    golden.set_parameter(model.model.embed_tokens.weight, draws.values(WORDS * WIDTH, 0.5))
    for layer in model.model.layers:
        for name in LINEAR:
            set_linear(layer.get_submodule(name), draws)
    set_linear(model.lm_head, draws)
    model.requires_grad_(False)
    adapted = []
    for layer in model.model.layers:
        for name in ("q_proj", "v_proj"):
            made = Adapted(getattr(layer.self_attn, name)).to(model.dtype)
            setattr(layer.self_attn, name, made)
            golden.set_parameter(made.a, draws.values(made.a.numel(), WIDTH**-0.5))
            adapted += [made.a, made.b]
    return adapted


def make_tokens(draws):
    """A row counts on by its own step; the label is the next word."""
    rows = []
    for _ in range(BATCH):
        first, step = draws.below(WORDS), 1 + draws.below(3)
        rows.append([(first + step * i) % WORDS for i in range(POSITIONS + 1)])
    rows = torch.tensor(rows)
    return rows[:, :-1], rows[:, 1:]


def train(dtype):
    model = LlamaForCausalLM._from_config(CONFIG, attn_implementation="eager").to(dtype)
    draws = golden.Draws(7)
    adapted = adapt(model, draws)
    optimizer = torch.optim.AdamW(adapted, lr=0.004, weight_decay=0.1)
    losses = []
    for _ in range(STEPS):
        tokens, labels = make_tokens(draws)
        logits = model(tokens).logits
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    torch.set_num_threads(1)
    published = train(torch.float32)
    keep_type()
    exact = train(torch.float64)
    worst = max(abs(a - b) / b for a, b in zip(published, exact))
    with open(sys.argv[1], "w") as out:
        out.write("# Made by make_golden_llama_lora.py: losses. transformers' unchanged code "
                  "in float32 is\n# within %.0e of them.\n" % worst)
        out.write(" ".join("%.9g" % loss for loss in exact) + "\n")


if __name__ == "__main__":
    main()
