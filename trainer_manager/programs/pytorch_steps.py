#!/usr/bin/env python3
"""Times the steps of training_steps.cc in PyTorch: the same networks.

    pytorch_steps.py vgg16 32 1 2 adam head

The numbers are the rows of a batch, the steps that each line of input asks for, and
the threads. After them come the optimizer (sgd or adam) and the trained layers (all,
or head, the last one); sgd and all if nothing is said. With one thread the times are
of the processor, with several those that pass. PyTorch's settings are those that
take the least memory without more time: ReLU in place, gradients set to none. Exit
status 3 where this Python cannot import PyTorch; standard error says why.
"""

import re
import sys
import time

try:
    import torch
    from torch import nn
except ImportError as error:
    print("%s: cannot import torch: %s" % (sys.executable, error), file=sys.stderr)
    sys.exit(3)


def digits():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(True),
                         nn.Linear(512, 512), nn.ReLU(True), nn.Linear(512, 10))


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2),
        nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(),
        nn.Linear(84, 10))


def vgg16():
    layers, channels = [], 3
    for stage in ([64] * 2, [128] * 2, [256] * 3, [512] * 3, [512] * 3):
        for outputs in stage:
            layers += [nn.Conv2d(channels, outputs, 3, padding=1), nn.ReLU(True)]
            channels = outputs
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 256),
                         nn.BatchNorm1d(256), nn.ReLU(True), nn.Linear(256, 100))


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.shortcut = nn.Identity()
        if stride != 1:
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
        self.first = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs), nn.ReLU(True),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False))
        self.second = nn.Sequential(nn.BatchNorm2d(outputs), nn.ReLU(True))

    def forward(self, x):
        return self.second(self.first(x) + self.shortcut(x))


def resnet18():
    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64),
              nn.ReLU(True)]
    channels = 64
    for outputs in (64, 128, 256, 512):
        stride = 1 if outputs == channels else 2
        layers += [ResidualBlock(channels, outputs, stride),
                   ResidualBlock(outputs, outputs, 1)]
        channels = outputs
    return nn.Sequential(*layers, nn.AvgPool2d(4), nn.Flatten(),
                         nn.Linear(512, 100))


class TransformerLayer(nn.Module):
    """Pre-norm, four causal heads of width 32."""

    def __init__(self, places):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(128), nn.LayerNorm(128)
        self.qkv, self.projection = nn.Linear(128, 384), nn.Linear(128, 128)
        self.forward_parts = nn.Sequential(nn.Linear(128, 512), nn.GELU(),
                                           nn.Linear(512, 128))
        mask = torch.triu(torch.ones(places, places, dtype=torch.bool), 1)
        self.register_buffer("mask", mask)

    def forward(self, x):
        batch, places, width = x.shape
        query, key, value = self.qkv(self.norm1(x)).reshape(
            batch, places, 3, 4, 32).permute(2, 0, 3, 1, 4)
        scores = (query @ key.transpose(-1, -2)) * 32**-0.5
        weights = scores.masked_fill_(self.mask, float("-inf")).softmax(-1)
        mixed = (weights @ value).transpose(1, 2).reshape(batch, places, width)
        x = x + self.projection(mixed)
        return x + self.forward_parts(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1000, 128)
        self.position = nn.Parameter(torch.randn(64, 128) * 0.02)
        self.layers = nn.Sequential(
            TransformerLayer(64), TransformerLayer(64), nn.LayerNorm(128),
            nn.Linear(128, 1000))

    def forward(self, tokens):
        return self.layers(self.embedding(tokens) + self.position).flatten(0, 1)


def status_bytes(field):
    with open("/proc/self/status") as status:
        return 1024 * int(re.search(field + r":\s+(\d+)", status.read()).group(1))


def blas():
    """The library that PyTorch's matrix products come from."""
    with open("/proc/self/maps") as maps:
        names = re.findall(r"\S*/(lib(?:open)?blas\S*|libmkl_core\S*)", maps.read())
    return ",".join(sorted(set(names))) or "its own"


def main():
    name = sys.argv[1]
    batch, steps, threads = (int(word) for word in sys.argv[2:5])
    optimizer_name, trained = sys.argv[5:] or ("sgd", "all")
    torch.set_num_threads(threads)
    # With several threads, processor time would count those that wait, too.
    clock = time.process_time if threads == 1 else time.perf_counter
    torch.manual_seed(1)
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")  # the high-water mark begins anew
    begin_bytes = status_bytes("VmRSS")
    model = {"digits": digits, "lenet5": lenet5, "vgg16": vgg16,
             "resnet18": resnet18, "transformer": Transformer}[name]()
    weights = sum(weight.numel() for weight in model.parameters())
    if trained == "head":
        head = [module for module in model.modules() if isinstance(module, nn.Linear)][-1]
        model.requires_grad_(False)
        # A frozen normalization uses its running statistics.
        model.eval()
        head.requires_grad_(True)
    rule, rate = {"sgd": (torch.optim.SGD, 0.01),
                  "adam": (torch.optim.Adam, 0.001)}[optimizer_name]
    optimizer = rule([weight for weight in model.parameters() if weight.requires_grad],
                     lr=rate)
    if name == "transformer":
        inputs = torch.randint(0, 100, (batch, 64))
        labels = inputs.flatten()
    else:
        shape = {"digits": (784,), "lenet5": (1, 28, 28)}.get(name, (3, 32, 32))
        inputs = torch.rand(batch, *shape) * 2 - 1
        labels = torch.randint(0, 100 if shape == (3, 32, 32) else 10, (batch,))

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()

    step()
    print("ready PyTorch", torch.__version__, "with", blas(), "weights", weights,
          flush=True)
    for _line in sys.stdin:
        begin = clock()
        for _ in range(steps):
            step()
        print((clock() - begin) / steps, flush=True)
    print(status_bytes("VmHWM") - begin_bytes, flush=True)


if __name__ == "__main__":
    main()
