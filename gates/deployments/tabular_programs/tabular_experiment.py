"""The tabular experiment in Python, stage by stage, for memprof to measure.

    tabular_experiment.py --library=sklearn --model=linear --features=10 --rows=1000

Imports, generates a table, writes it, loads it, fits, saves the model, and
predicts with the saved model, as native_experiment does in C++. Data are freed
as soon as no later stage needs them. Files are in a temporary folder, which is
removed at the end.
"""

import argparse
import os
import pickle
import sys
import tempfile

import footprint

HIDDEN_UNITS = 50


def parse_flags():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", choices=["sklearn", "torch"], required=True)
    parser.add_argument("--model", choices=["linear", "network"], required=True)
    parser.add_argument("--features", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--epochs", type=int, default=2)
    flags = parser.parse_args()
    if min(flags.features, flags.rows, flags.epochs) < 1:
        parser.error("--features, --rows and --epochs must be above 0")
    return flags


def generate_table(numpy, flags):
    """Returns rows of features and, last, a linear function of them with noise."""
    random = numpy.random.default_rng(1)
    table = random.uniform(-1, 1, (flags.rows, flags.features + 1))
    coefficients = random.uniform(-1, 1, flags.features)
    table[:, -1] *= 0.1
    table[:, -1] += table[:, :-1] @ coefficients
    return table


class Sklearn:
    """scikit-learn's linear regression, and its perceptron."""

    def __init__(self, flags):
        self.flags = flags
        if flags.model == "linear":
            from sklearn.linear_model import LinearRegression
            self.make = LinearRegression
        else:
            from sklearn.neural_network import MLPRegressor
            self.make = lambda: MLPRegressor(
                (HIDDEN_UNITS, HIDDEN_UNITS), batch_size=min(64, flags.rows),
                max_iter=flags.epochs, tol=0, random_state=1)

    def fit(self, features, target):
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ignores that it has not converged
            return self.make().fit(features, target)

    def save(self, model, path):
        with open(path, "wb") as file:
            pickle.dump(model, file)

    def predict(self, path, features):
        with open(path, "rb") as file:
            return pickle.load(file).predict(features)


class Torch:
    """PyTorch: least squares, and a network with two hidden layers."""

    def __init__(self, flags):
        import torch
        self.torch = torch
        self.flags = flags
        torch.manual_seed(1)
        torch.set_num_threads(1)

    def make(self):
        linear, relu = self.torch.nn.Linear, self.torch.nn.ReLU
        if self.flags.model == "linear":
            return linear(self.flags.features, 1)
        return self.torch.nn.Sequential(
            linear(self.flags.features, HIDDEN_UNITS), relu(),
            linear(HIDDEN_UNITS, HIDDEN_UNITS), relu(),
            linear(HIDDEN_UNITS, 1))

    def fit(self, features, target):
        torch = self.torch
        model = self.make()
        x = torch.from_numpy(features)
        y = torch.from_numpy(target)
        if self.flags.model == "linear":
            # An additional column of ones gives the intercept.
            ones = torch.ones((len(x), 1), dtype=x.dtype)
            solution = torch.linalg.lstsq(torch.cat([x, ones], 1), y[:, None])
            with torch.no_grad():
                model.weight.copy_(solution.solution[:-1].T)
                model.bias.copy_(solution.solution[-1])
            return model
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(self.flags.epochs):
            for rows in torch.randperm(len(x)).split(64):
                optimizer.zero_grad()
                predicted = model(x[rows].float())[:, 0]
                loss = ((predicted - y[rows].float()) ** 2).mean()
                loss.backward()
                optimizer.step()
        return model

    def save(self, model, path):
        self.torch.save(model.state_dict(), path)

    def predict(self, path, features):
        model = self.make()
        model.load_state_dict(self.torch.load(path))
        with self.torch.no_grad():
            return model(self.torch.from_numpy(features).float())[:, 0].numpy()


def run(flags, folder):
    table_path = os.path.join(folder, "table.npy")
    model_path = os.path.join(folder, "model")
    with footprint.stage("imports"):
        import numpy
        library = {"sklearn": Sklearn, "torch": Torch}[flags.library](flags)
    with footprint.stage("datagen"):
        table = generate_table(numpy, flags)
    with footprint.stage("write"):
        numpy.save(table_path, table)
    del table
    with footprint.stage("load"):
        table = numpy.load(table_path)
    with footprint.stage("fit"):
        model = library.fit(table[:, :-1], table[:, -1])
    with footprint.stage("save"):
        library.save(model, model_path)
    del model
    with footprint.stage("inference"):
        predictions = library.predict(model_path, table[:, :-1])
    residual = float(((predictions - table[:, -1]) ** 2).sum())
    total = float(((table[:, -1] - table[:, -1].mean()) ** 2).sum())
    print("R^2 %.4f of the rows that it learned from" % (1 - residual / total))


def main():
    flags = parse_flags()
    with tempfile.TemporaryDirectory() as folder:
        run(flags, folder)


if __name__ == "__main__":
    sys.exit(main())
