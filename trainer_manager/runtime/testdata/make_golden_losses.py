#!/usr/bin/env python3
"""Makes testdata/golden_losses.txt: losses of small trainings in PyTorch.

    python3 trainer_manager/runtime/testdata/make_golden_losses.py \
        trainer_manager/runtime/testdata/golden_losses.txt

Weights and data are the numbers that golden_losses_test.cc draws, too. Trained
in double precision on one thread, so the file comes out the same everywhere; beside
it stands how far PyTorch's own float32 comes from it. Needs python3-torch.
"""

import math
import sys

import numpy
import torch
from torch import nn


class Draws:
    """Splitmix64, the generator of base/random/random_sequence.h."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state + 0x9e3779b97f4a7c15) % 2**64
        value = self.state
        value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9 % 2**64
        value = (value ^ value >> 27) * 0x94d049bb133111eb % 2**64
        return (value ^ value >> 31) % limit

    def values(self, count, scale):
        """Draws from -1 to 1 in 2,000 steps, times scale, rounded as in float32."""
        drawn = numpy.array([self.below(2001) for _ in range(count)], numpy.float32)
        unit = drawn / numpy.float32(1000) - numpy.float32(1)
        return unit * numpy.float32(scale)


def set_weights(model, draws):
    """Sets the weights in the order and layout of the C++ network."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            fan_in = module.weight[0].numel()
            values = draws.values(module.weight.numel(), fan_in**-0.5)
            if isinstance(module, nn.Linear):
                values = values.reshape(module.weight.T.shape).T
            set_parameter(module.weight, values)
            if module.bias is not None:
                set_parameter(module.bias, draws.values(module.bias.numel(), 0.1))
        elif isinstance(module, nn.BatchNorm2d):
            set_parameter(module.weight, numpy.float32(1) +
                          draws.values(module.weight.numel(), 0.1))
            set_parameter(module.bias, draws.values(module.bias.numel(), 0.1))


def set_parameter(parameter, values):
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(values.reshape(parameter.shape).copy()))


def mlp():
    return nn.Sequential(nn.Linear(13, 50), nn.ReLU(), nn.Linear(50, 50), nn.ReLU(),
                         nn.Linear(50, 1))


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2),
        nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(),
        nn.Linear(84, 10))


def normalized():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
        nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
        nn.Linear(144, 10))


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.05)


def fast_sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.2)


def momentum(parameters):
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=0.001)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=0.004, weight_decay=0.1)


def grouped_adamw(parameters):
    """The last layer learns half as fast, and its weights do not decay."""
    parameters = list(parameters)
    last = {"params": parameters[-2:], "lr": 0.002, "weight_decay": 0.0}
    return torch.optim.AdamW([{"params": parameters[:-2]}, last],
                             lr=0.004, weight_decay=0.1)


def same_rate(_):
    return 1


def warm_cosine(step):
    """Of the rate, from step 0: 20 steps of growth, then a cosine to a fortieth in 150."""
    if step < 20:
        return (step + 1) / 20
    share = min(step - 20, 150) / 150
    return 0.025 + 0.975 * (1 + math.cos(math.pi * share)) / 2


# name, model, optimizer, shape of a batch, steps, factor of the rate in a step,
# numbers of the modules that are frozen
TRAININGS = [
    ("mlp_sgd", mlp, sgd, (32, 13), 200, same_rate),
    ("mlp_adam", mlp, adam, (32, 13), 200, same_rate),
    ("mlp_adamw_warm_cosine", mlp, adamw, (32, 13), 200, warm_cosine),
    ("lenet5_sgd", lenet5, fast_sgd, (8, 1, 28, 28), 200, same_rate),
    ("normalized_momentum", normalized, momentum, (8, 3, 12, 12), 200, same_rate),
    ("frozen_front", normalized, momentum, (8, 3, 12, 12), 200, same_rate, 0, 1),
    ("frozen_middle", normalized, grouped_adamw, (8, 3, 12, 12), 200, warm_cosine, 4, 5),
]


def make_batch(draws, shape, patterns):
    """Rows with the mean of four features, or images of ten noisy patterns."""
    count = int(numpy.prod(shape[1:]))
    if patterns is None:
        rows = draws.values(shape[0] * count, 1.0).reshape(shape)
        labels = ((rows[:, 0] + rows[:, 1]) + (rows[:, 2] + rows[:, 3])) / \
            numpy.float32(4)
        return rows, labels.reshape(-1, 1)
    images, labels = [], []
    for _ in range(shape[0]):
        label = draws.below(10)
        images.append(patterns[label] + draws.values(count, 0.5))
        labels.append(label)
    return numpy.stack(images).reshape(shape), numpy.array(labels)


def freeze(module):
    """A frozen normalization has the statistics of an earlier training."""
    module.requires_grad_(False)
    if isinstance(module, nn.BatchNorm2d):
        places = torch.arange(module.num_features, dtype=torch.float32)
        module.running_mean.copy_(places * 0.0625 - 0.25)
        module.running_var.copy_(places * 0.125 + 0.5)
        module.eval()


def losses(make_model, make_optimizer, shape, steps, rate_factor, frozen, dtype):
    model = make_model().to(dtype)
    draws = Draws(7)
    set_weights(model, draws)
    for number in frozen:
        freeze(model[number])
    patterns = None
    if len(shape) == 4:
        count = int(numpy.prod(shape[1:]))
        patterns = [draws.values(count, 0.5) for _ in range(10)]
    optimizer = make_optimizer(p for p in model.parameters() if p.requires_grad)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate_factor)
    result = []
    for _ in range(steps):
        inputs, labels = make_batch(draws, shape, patterns)
        outputs = model(torch.from_numpy(inputs).to(dtype))
        if patterns is None:
            loss = nn.functional.mse_loss(outputs, torch.from_numpy(labels).to(dtype))
        else:
            loss = nn.functional.cross_entropy(outputs, torch.from_numpy(labels))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        result.append(float(loss))
    return result


def main():
    torch.set_num_threads(1)
    with open(sys.argv[1], "w") as out:
        out.write("# Made by make_golden_losses.py: a training, then its losses.\n")
        for name, model, optimizer, shape, steps, factor, *frozen in TRAININGS:
            training = (model, optimizer, shape, steps, factor, frozen)
            exact = losses(*training, torch.float64)
            rounded = losses(*training, torch.float32)
            worst = max(abs(a - b) / b for a, b in zip(rounded, exact))
            out.write("# %s: PyTorch's float32 is within %.0e\n" % (name, worst))
            out.write(" ".join([name] + ["%.9g" % loss for loss in exact]) + "\n")


if __name__ == "__main__":
    main()
