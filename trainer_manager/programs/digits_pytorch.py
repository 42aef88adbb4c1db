#!/usr/bin/env python3
"""The program of digits_example.cc in PyTorch, for its accuracy.

    python3 digits_pytorch.py DIGITS [SEED]

The same network, rows, optimizer, schedule, early stop and frozen backbone; the
first weights and the order of rows are PyTorch's. Needs python3-torch.
"""

import copy
import math
import pathlib
import sys

import torch
from torch import nn


def factor(step):
    """The share of the rate 3e-3: it grows for 50 steps, then falls by a cosine."""
    if step < 50:
        return (step + 1) / 50
    share = min(step - 50, 1300) / 1300
    last = 1e-5 / 3e-3
    return last + (1 - last) * (1 + math.cos(math.pi * share)) / 2


def evaluate(model, images, labels):
    model.eval()
    with torch.no_grad():
        logits = model(images)
    model.train()
    right = (logits.argmax(1) == labels).float().mean().item()
    return nn.functional.cross_entropy(logits, labels).item(), right


def train(model, trained, held_out):
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    best_loss, best, worse = math.inf, None, 0
    for _ in range(30):
        order = torch.randperm(len(trained[1]))
        for rows in order.split(32):
            loss = nn.functional.cross_entropy(model(trained[0][rows]), trained[1][rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        loss, _ = evaluate(model, *held_out)
        if loss < best_loss:
            best_loss, best, worse = loss, copy.deepcopy(model.state_dict()), 0
        else:
            worse += 1
        if worse >= 8:
            break
    model.load_state_dict(best)
    return evaluate(model, *held_out)[1]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    data = torch.tensor(list(pathlib.Path(sys.argv[1]).read_bytes())).reshape(-1, 65)
    images = (data[:, :64] / 16).reshape(-1, 1, 8, 8)
    labels = data[:, 64]
    rows = len(data) * 4 // 5
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 10))
    trained = images[:rows], labels[:rows]
    held_out = images[rows:], labels[rows:]
    print("accuracy", train(model, trained, held_out))
    for module in model[:6]:
        module.requires_grad_(False)
    nn.init.zeros_(model[7].weight)
    print("accuracy with a new head", train(model, trained, held_out))


if __name__ == "__main__":
    main()
