#!/usr/bin/env python3
"""Step times and memory of training the reference networks.

The same network is trained by several programs at once that take turns, a step
each, so that a slow moment of the machine falls on all of them; batch 32, SGD, one
thread, warmed up. Ratios of processor time are medians over the rounds, with a
95 % interval; see tools/bench/turns.py for the verdicts.

  plain       nothing is calculated again
  planned     what is cheap is calculated again (the default)
  budget      within a budget, segments are calculated again
  parts       within a smaller one, by micro-batches
  file        within a smaller one, by a file (in the folder for temporary files)
  PyTorch     the same network in PyTorch, where python3-torch is installed

Memory is by how much the resident set grew at most since the model was created;
what is planned is beside it.

Exit status: 0, or 1 if a goal is missed or a program fails; with --must_meet,
unresolved or not measured counts as missed.
"""

import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tools/bench")
from turns import interval_text, median_interval, ratios, take_turns, verdict  # noqa: E402


def budget(byte_count):
    return ["--budget_bytes=%d" % byte_count]


PARTS = ["--micro_batches"]
FILE = ["--swap_folder=" + tempfile.gettempdir()]
# Network -> (steps a round, {program: its flags}).
NETWORKS = {
    "digits": (20, {}),
    "lenet5": (20, {"budget": budget(1200000),
                    "parts": budget(900000) + PARTS}),
    "vgg16": (1, {"budget": budget(80000000)}),
    "resnet18": (1, {"budget": budget(105000000),
                     "file": budget(85000000) + FILE}),
    "transformer": (1, {"budget": budget(26000000),
                        "parts": budget(8000000) + PARTS,
                        "file": budget(13500000) + FILE}),
}
# (measured, baseline, goal)
PAIRS = [("planned", "plain", 1.03), ("budget", "plain", 1.35),
         ("parts", "plain", None), ("file", "plain", None),
         ("planned", "PyTorch", 1.25), ("budget", "PyTorch", None)]
PYTHON = os.environ.get("FOOTPRINT_PYTORCH_PYTHON", "/usr/bin/python3")


class Program:
    """One training, step by step."""

    def __init__(self, argv):
        environment = dict(os.environ, OMP_NUM_THREADS="1",
                           OPENBLAS_NUM_THREADS="1")
        self.argv = argv
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.greeting = self.process.stdout.readline().strip()

    def is_absent(self):
        """Whether it said that what it needs is not installed."""
        return not self.greeting and self.process.wait() == 3

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("step_time: %s ended with status %d" % (
                " ".join(self.argv), self.process.wait()))
        return float(line)

    def step(self):
        self.process.stdin.write("step\n")
        self.process.stdin.flush()
        return self.read()

    def finish(self):
        self.process.stdin.close()
        grown = self.read()
        self.process.wait()
        return grown


def start(network, batch):
    steps, budgets = NETWORKS[network]
    own = ["trainer_manager/programs/training_steps", "--network=" + network,
           "--batch=%d" % batch, "--steps=%d" % steps]
    programs = {
        "plain": Program(own + ["--recompute=false"]),
        "planned": Program(own),
    }
    for name, flags in budgets.items():
        programs[name] = Program(own + flags)
    programs["PyTorch"] = Program(
        [PYTHON, "-B", "trainer_manager/programs/pytorch_steps.py", network, str(batch),
         str(steps)])
    if programs["PyTorch"].is_absent():
        del programs["PyTorch"]
    for name, program in programs.items():
        if not program.greeting.startswith("ready"):
            sys.exit("step_time: %s of %s did not start" % (name, network))
    return programs


def measure(network, batch, rounds):
    """Prints the tables of one network; returns the verdicts."""
    programs = start(network, batch)
    seconds = take_turns(programs, rounds, lambda name, _: programs[name].step())
    print("\n## %s, batch %d, %d rounds\n" % (network, batch, rounds))
    print("| step time | ratio | 95 % interval | goal | verdict |")
    print("|---|---|---|---|---|")
    verdicts = []
    for name, baseline, goal in PAIRS:
        if name not in programs:
            continue
        shown_goal = "" if goal is None else "<= %.2f" % goal
        if baseline not in programs:
            print("| %s / %s | not measured: python3-torch is not installed | | "
                  "%s | |" % (name, baseline, shown_goal))
            verdicts.append("" if goal is None else "not measured")
            continue
        median, low, high = median_interval(ratios(seconds[name], seconds[baseline]))
        verdicts.append(verdict(goal, low, high))
        print("| %s / %s | %.3f | %s | %s | %s |" % (
            name, baseline, median, interval_text(low, high), shown_goal, verdicts[-1]))
    print("\n| memory | resident set grew by, MB | planned, MB | s a step |")
    print("|---|---|---|---|")
    for name, program in programs.items():
        words = program.greeting.split()
        planned = "%.2f" % (int(words[-1]) / 1e6) if words[1] == "planned" else ""
        print("| %s | %.1f | %s | %.5f |" % (
            name, program.finish() / 1e6, planned,
            median_interval(seconds[name])[0]))
    if "PyTorch" in programs:
        print("\n" + programs["PyTorch"].greeting.replace("ready ", ""))
    return verdicts


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--must_meet", action="store_true")
    arguments = parser.parse_args()
    verdicts = []
    for network in arguments.networks.split(","):
        if network not in NETWORKS:
            sys.exit("step_time: no network is named %r" % network)
        verdicts += measure(network, arguments.batch, arguments.rounds)
        sys.stdout.flush()
    bad = {"missed"}
    if arguments.must_meet:
        bad |= {"unresolved", "unresolved (too few rounds)", "not measured"}
    if bad & set(verdicts):
        sys.exit(1)


if __name__ == "__main__":
    main()
