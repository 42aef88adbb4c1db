#!/usr/bin/env python3
"""Trains the adapters of lora_bert.cc in PyTorch, with recomputation of each layer.

    lora_pytorch.py FOLDER [STEPS]

FOLDER has the checkpoint of a BertModel. Needs torch and transformers. One thread.
For each step the script prints the loss and the time, and at the end the largest
resident set. The words, the labels and the adapters' initial values are drawn, so
the losses differ from those of lora_bert.
"""

import re
import sys
import time

import torch
from torch import nn
from transformers import BertModel

RANK = 8
CLASSES = 2


class LoraLinear(nn.Module):
    """A linear layer of the checkpoint and a trained product of two small matrices."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.first = nn.Linear(base.in_features, RANK, bias=False)
        self.second = nn.Linear(RANK, base.out_features, bias=False)
        nn.init.zeros_(self.second.weight)

    def forward(self, rows):
        return self.base(rows) + self.second(self.first(rows))


def peak_mb():
    with open("/proc/self/status", encoding="ascii") as status:
        return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1)) * 1024 / 1e6


def main():
    folder = sys.argv[1]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = BertModel.from_pretrained(folder, add_pooling_layer=False,
                                      hidden_dropout_prob=0.0,
                                      attention_probs_dropout_prob=0.0)
    model.requires_grad_(False)
    for layer in model.encoder.layer:
        attention = layer.attention.self
        attention.query = LoraLinear(attention.query)
        attention.value = LoraLinear(attention.value)
    model.gradient_checkpointing_enable({"use_reentrant": False})
    model.train()
    head = nn.Linear(model.config.hidden_size, CLASSES)
    trained = [p for p in (*model.parameters(), *head.parameters()) if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=0.001)
    shape = (1, model.config.max_position_embeddings)
    for step in range(1, steps + 1):
        words = torch.randint(0, model.config.vocab_size, shape)
        types = torch.randint(0, 2, shape)
        labels = torch.randint(0, CLASSES, shape)
        begin = time.time()
        optimizer.zero_grad(set_to_none=True)
        states = model(input_ids=words, token_type_ids=types).last_hidden_state
        loss = nn.functional.cross_entropy(head(states).flatten(0, 1), labels.flatten())
        loss.backward()
        optimizer.step()
        print("step %d: loss %.9g, %.2f s" % (step, loss.item(), time.time() - begin),
              flush=True)
    print("PyTorch %s: the largest resident set was %.1f MB" % (torch.__version__, peak_mb()))


if __name__ == "__main__":
    main()
