#!/usr/bin/env python3
"""Step times and memory of training the reference networks.

The same network is trained by several programs at once that take turns, a step
each, so that a slow moment of the machine falls on all of them; batch 32, SGD unless
--optimizer says adam, one thread, warmed up. Ratios of processor time are medians
over the rounds, with a 95 % interval; see tools/bench/turns.py for the verdicts.

  plain       nothing is calculated again
  planned     what is cheap is calculated again (the default)
  budget      within a budget, segments are calculated again
  parts       within a smaller one, by micro-batches
  file        within a smaller one, by a file (in the folder for temporary files)
  PyTorch     the same network in PyTorch, if $FOOTPRINT_PYTORCH_PYTHON, else
              /usr/bin/python3, has it; where it cannot be asked, the table says by
              which command it was asked and what that answered
  NNTrainer   the same network in NNTrainer, likewise, if $FOOTPRINT_NNTRAINER names a
              folder with it, see nntrainer_steps.sh; only VGG16 and ResNet-18

With another optimizer, or with --head_only, which freezes all layers but the last,
there are no goals, and the programs with a budget are left out.

Memory is by how much the resident set grew at most since the model was created;
what is planned is beside it, and so are the growth's ratios to those of the peers.

With --threads, the programs are others:

  one         planned, on one thread; as many copies at once as several has
              threads, since a thread is slower beside another on its core
  several     planned, on so many threads
  wall        the same as several, timed by the time that passes
  PyTorch     on so many threads, timed by the time that passes

The time of one and several is the processor time of the busiest thread.

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
         ("planned", "PyTorch", 1.25), ("budget", "PyTorch", None),
         ("planned", "NNTrainer", None)]
# Network -> its last layer, for --head_only.
HEADS = {"digits": "fc3", "lenet5": "fc3", "vgg16": "fc2", "resnet18": "fc",
         "transformer": "logits"}
PYTHON = os.environ.get("FOOTPRINT_PYTORCH_PYTHON", "/usr/bin/python3")


class Program:
    """One training, step by step."""

    def __init__(self, argv, threads=1):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads),
                           OPENBLAS_NUM_THREADS=str(threads))
        self.argv = argv
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        stderr=self.errors, env=environment)
        self.greeting = self.process.stdout.readline().strip()

    def why_absent(self):
        """Returns the command and its output if it did not start, else an empty text."""
        if self.greeting.startswith("ready"):
            return ""
        self.process.stdin.close()
        status = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().strip().split("\n")[-1]
        return "`%s` ended with status %d: %s" % (" ".join(self.argv), status, said)

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            sys.exit("step_time: %s ended with status %d: %s" % (
                " ".join(self.argv), self.process.wait(), self.errors.read()[-2000:]))
        return float(line)

    def ask(self):
        self.process.stdin.write("step\n")
        self.process.stdin.flush()

    def step(self):
        self.ask()
        return self.read()

    def finish(self):
        self.process.stdin.close()
        grown = self.read()
        self.process.wait()
        return grown


class Copies:
    """Several copies of one training that do their steps at the same time."""

    def __init__(self, argv, count):
        self.programs = [Program(argv) for _ in range(count)]
        self.greeting = self.programs[0].greeting

    def why_absent(self):
        return "".join(program.why_absent() for program in self.programs)

    def step(self):
        """Returns the mean of the copies' times."""
        for program in self.programs:
            program.ask()
        return sum(program.read() for program in self.programs) / len(self.programs)

    def finish(self):
        return [program.finish() for program in self.programs][0]


def pairs(threads):
    """Returns the pairs of a table. Two threads should take 1/1.8 of one's time, others in proportion."""
    if threads == 1:
        return PAIRS
    return [("several", "one", 1 / (0.9 * threads)), ("wall", "PyTorch", 1.1)]


def start_peer(argv, threads):
    """Returns the program, or the reason why it cannot run; the other is None or empty."""
    try:
        program = Program(argv, threads)
    except OSError as error:
        return None, "`%s` cannot be run: %s" % (" ".join(argv), error.strerror)
    why = program.why_absent()
    return (None, why) if why else (program, "")


def start(network, batch, threads, optimizer, trained):
    """Returns the programs by name, and by name why others cannot run."""
    steps, budgets = NETWORKS[network]
    own = ["trainer_manager/programs/training_steps", "--network=" + network,
           "--batch=%d" % batch, "--steps=%d" % steps, "--optimizer=" + optimizer]
    if trained == "head":
        own.append("--train_only=" + HEADS[network])
    if threads > 1:
        several = own + ["--threads=%d" % threads]
        programs = {
            "one": Copies(own + ["--time=thread"], threads),
            "several": Program(several + ["--time=thread"]),
            "wall": Program(several + ["--time=wall"]),
        }
    else:
        programs = {
            "plain": Program(own + ["--recompute=false"]),
            "planned": Program(own),
        }
        if (optimizer, trained) == ("sgd", "all"):
            for name, flags in budgets.items():
                programs[name] = Program(own + flags)
    for name, program in programs.items():
        why = program.why_absent()
        if why:
            sys.exit("step_time: %s of %s did not start: %s" % (name, network, why))
    numbers = [str(batch), str(steps)]
    peers = {"PyTorch": [PYTHON, "-B", "trainer_manager/programs/pytorch_steps.py", network,
                         *numbers, str(threads), optimizer, trained]}
    if threads == 1 and network in ("vgg16", "resnet18"):
        peers["NNTrainer"] = ["trainer_manager/programs/nntrainer_steps.sh", network,
                              *numbers, optimizer, trained]
    absent = {}
    for name, argv in peers.items():
        program, why = start_peer(argv, threads)
        if why:
            absent[name] = why
        else:
            programs[name] = program
    return programs, absent


def print_memory(programs, seconds):
    grown = {name: program.finish() for name, program in programs.items()}
    peers = [name for name in ("PyTorch", "NNTrainer") if name in programs]
    print("\n| memory | resident set grew by, MB | planned, MB | s a step |%s" % "".join(
        " of %s's |" % peer for peer in peers))
    print("|---|---|---|---|%s" % ("---|" * len(peers)))
    for name, program in programs.items():
        words = program.greeting.split()
        planned = "%.2f" % (int(words[2]) / 1e6) if words[1] == "planned" else ""
        print("| %s | %.1f | %s | %.5f |%s" % (
            name, grown[name] / 1e6, planned, median_interval(seconds[name])[0],
            "".join(" %.3f |" % (grown[name] / grown[peer]) for peer in peers)))
    print()
    for name, program in programs.items():
        print("%s: %s" % (name, program.greeting.replace("ready ", "")))


def measure(network, batch, rounds, threads, optimizer, trained):
    """Prints the tables of one network; returns the verdicts."""
    programs, absent = start(network, batch, threads, optimizer, trained)
    seconds = take_turns(programs, rounds, lambda name, _: programs[name].step())
    print("\n## %s, batch %d, %s, %s trained, %d rounds, %d thread%s\n" % (
        network, batch, optimizer, trained, rounds, threads, "s" if threads > 1 else ""))
    print("| step time | ratio | 95 % interval | goal | verdict |")
    print("|---|---|---|---|---|")
    verdicts = []
    for name, baseline, goal in pairs(threads):
        if name not in programs or baseline not in (*programs, *absent):
            continue
        if (optimizer, trained) != ("sgd", "all"):
            goal = None
        shown_goal = "" if goal is None else "<= %.2f" % goal
        if baseline not in programs:
            print("| %s / %s | not measured: %s | | %s | |" % (
                name, baseline, absent[baseline].replace("|", "/"), shown_goal))
            verdicts.append("" if goal is None else "not measured")
            continue
        median, low, high = median_interval(ratios(seconds[name], seconds[baseline]))
        verdicts.append(verdict(goal, low, high))
        print("| %s / %s | %.3f | %s | %s | %s |" % (
            name, baseline, median, interval_text(low, high), shown_goal, verdicts[-1]))
    print_memory(programs, seconds)
    return verdicts


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--threads", type=int, default=1,
                        help="threads of each program; with several, the table is of them")
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--head_only", action="store_true",
                        help="freeze all layers but the last")
    parser.add_argument("--must_meet", action="store_true")
    arguments = parser.parse_args()
    if arguments.threads < 1:
        parser.error("--threads is %d; at least 1 is needed" % arguments.threads)
    verdicts = []
    for network in arguments.networks.split(","):
        if network not in NETWORKS:
            sys.exit("step_time: no network is named %r" % network)
        verdicts += measure(network, arguments.batch, arguments.rounds, arguments.threads,
                            arguments.optimizer, "head" if arguments.head_only else "all")
        sys.stdout.flush()
    bad = {"missed"}
    if arguments.must_meet:
        bad |= {"unresolved", "unresolved (too few rounds)", "not measured"}
    if bad & set(verdicts):
        sys.exit(1)


if __name__ == "__main__":
    main()
