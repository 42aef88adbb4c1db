#!/usr/bin/env python3
"""Runs lowmem's programs on the checkpoints of make_layouts.py and compares.

    python3 run_layouts.py layouts.csv CHECKPOINTS PROGRAMS [LAYOUT...]

PROGRAMS is the folder of lowmem_run and lowmem_embed. A layout that must run does so
if every number lies within TOLERANCE of the largest reference number: activations are
floats for every type of weights, and the reference has the weights as the file rounds
them. A layout that must be refused does so if the program ends with an error, not by a
signal, and its message has the words of the list. Prints a line for each layout and a
table by family; ends with 1 if any layout failed or is missing.

Needs Python's own library only.
"""

import array
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

# Wrong layouts err by more than 0.001; float32 itself errs by some 0.000001 of the
# largest number in these models.
TOLERANCE = 2e-5
SECONDS = 60


class Failure(Exception):
    """A result that is not what the list says."""


def run(command):
    """Returns the program's exit code and its messages."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS,
                          errors="replace")
    return done.returncode, done.stderr.strip() or done.stdout.strip()


def run_to_file(command, path):
    code, message = run(command + ["--output=" + path])
    if code != 0:
        raise Failure("exit code %d: %s" % (code, message))


def read_floats(path):
    values = array.array("f")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    return list(values)


def model_path(folder):
    path = os.path.join(folder, "model.gguf")
    is_alone = os.path.exists(path) and not os.path.exists(folder + "/config.json")
    return path if is_alone else folder


def join(ids):
    return "--ids=" + ",".join(str(i) for i in ids)


def by_ids(row, programs, folder, expected, scratch):
    """Yields what lowmem_run computes for each list of ids."""
    for number, ids in enumerate(expected["ids"]):
        path = os.path.join(scratch, "%d.f32" % number)
        run_to_file([programs + "/lowmem_run", model_path(folder), join(ids)], path)
        yield read_floats(path)


def by_texts(row, programs, folder, expected, scratch):
    """Yields what lowmem_embed computes for each text."""
    lines = os.path.join(scratch, "lines")
    with open(lines, "w") as file:
        file.writelines(text + "\n" for text in expected["texts"])
    command = [programs + "/lowmem_embed", model_path(folder), "--file=" + lines]
    if row["checks"] == "scores":
        command.append("--scores=logits")
        if expected["query"] is not None:
            command.append("--query=" + expected["query"])
    path = os.path.join(scratch, "values.f32")
    run_to_file(command, path)
    values = read_floats(path)
    each = len(values) // len(expected["texts"])
    for number in range(len(expected["texts"])):
        yield values[number * each:(number + 1) * each]


def compare(row, programs, folder):
    """Returns the largest error, relative to the largest reference number."""
    with open(os.path.join(folder, "expected.json")) as file:
        expected = json.load(file)
    compute = by_ids if "ids" in expected else by_texts
    largest = max(abs(x) for values in expected["values"] for x in values)
    error = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        results = list(compute(row, programs, folder, expected, scratch))
    if [len(r) for r in results] != [len(v) for v in expected["values"]]:
        raise Failure("has %s numbers, not %s" % (
            [len(r) for r in results], [len(v) for v in expected["values"]]))
    for result, values in zip(results, expected["values"]):
        for number, exact in zip(result, values):
            difference = abs(number - exact)
            error = max(error, difference if math.isfinite(difference) else math.inf)
    error /= largest
    if not error <= TOLERANCE:
        raise Failure("errs by %.2g of the largest number; float32 of torch errs by %.2g" % (
            error, expected["torch_float32_error"] / largest))
    return error, expected["torch_float32_error"] / largest


def refusal_command(row, programs, folder):
    if row["kind"] in ("encoder", "decoder"):
        return [programs + "/lowmem_run", model_path(folder), "--ids=5,6,7"]
    command = [programs + "/lowmem_embed", model_path(folder), "--text=wab wac"]
    if row["kind"] in ("reranker", "classifier"):
        command.append("--scores=logits")
    return command


def check_refusal(row, programs, folder):
    """Returns the program's message."""
    code, message = run(refusal_command(row, programs, folder))
    if code == 0:
        raise Failure("runs, but must be refused")
    if code < 0:
        raise Failure("was ended by signal %d" % -code)
    # The folder has the layout's name, which may hold the words.
    message = message.replace(folder, "FOLDER")
    missing = [word for word in row["checks"].split() if word not in message]
    if missing or " " not in message:
        raise Failure("the message does not name %s: %s" % (" ".join(missing), message))
    return message.splitlines()[-1]


def family(row):
    """The class without its head, and whether the file is GGUF."""
    name = row["class"]
    for end in ("For", "LMHead", "Model", "TextModel"):
        name = name.split(end)[0]
    return name + (" GGUF" if row["dtype"].startswith("GGUF") else "")


def print_families(errors):
    print("\n%-18s %8s %14s %18s" % ("family", "layouts", "largest error", "torch float32's"))
    for name in sorted(errors):
        pairs = errors[name]
        print("%-18s %8d %14.2g %18.2g" % (
            name, len(pairs), max(p[0] for p in pairs), max(p[1] for p in pairs)))


def main(listed, checkpoints, programs, *names):
    with open(listed, newline="") as file:
        rows = [row for row in csv.DictReader(file) if not names or row["layout"] in names]
    errors, refused, failures = {}, 0, []
    for row in rows:
        folder = os.path.join(checkpoints, row["layout"])
        try:
            if not os.path.isdir(folder):
                raise Failure("was not made")
            if row["outcome"] == "runs":
                error = compare(row, programs, folder)
                errors.setdefault(family(row), []).append(error)
                text = "runs: error %.2g (torch's float32 %.2g)" % error
            else:
                text = "refused: " + check_refusal(row, programs, folder)
                refused += 1
        except (Failure, subprocess.TimeoutExpired, OSError, ValueError) as failure:
            text = "FAILED: %s" % failure
            failures.append(row["layout"])
        print("%-30s %s" % (row["layout"], text), flush=True)
    print_families(errors)
    print("\n%d of %d layouts run with a reference, %d are refused by a sentence, %d fail%s" % (
        sum(map(len, errors.values())), len(rows), refused, len(failures),
        ": " + " ".join(failures) if failures else ""))
    return 1 if failures or not rows else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
