#!/usr/bin/env python3
"""The cost of counting: programs under the agent beside the same programs alone.

  bazel run -c opt //profiling/agent:counting_cost -- [--rounds=31] [--only=slots]

All commands of a table run in turn (tools/bench/turns.py). A ratio is of processor
time, to the mean of two bare runs of the same round; the row "bare again" is the
comparison of nothing with nothing: the second of them to the first. Instructions are
counted by stepping (tools/bench/count_instructions.cc) over 1,000 pairs after ten
million others.

Exit status: 0, or 1 if a goal is missed or a command fails.
"""

import argparse
import bisect
import collections
import importlib.util
import os
import platform
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.realpath("tools/bench"))
from turns import interval_text, median_interval, ratios, take_turns, verdict  # noqa: E402

AGENT = os.path.realpath("profiling/agent/agent.so")
LOOP = os.path.realpath("profiling/measuring/allocation_loop_system_malloc")
NETWORK = os.path.realpath("profiling/agent/eigen_network")
STEPPER = os.path.realpath("tools/bench/count_instructions")

JSON = """
import json
rows = [{"number": i, "name": str(i)} for i in range(60000)]
for _ in range(4): json.loads(json.dumps(rows))
"""
SKLEARN = """
import numpy, sklearn.neural_network, sklearn.linear_model
random = numpy.random.RandomState(1)
x = random.rand(4000, 50); y = x @ random.rand(50)
sklearn.linear_model.LinearRegression().fit(x, y)
sklearn.neural_network.MLPRegressor((50, 50), max_iter=20, random_state=1).fit(x, y)
"""
ONE_BLAS_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
                   "PYTHONWARNINGS": "ignore", "PYTHONHASHSEED": "0"}
SAMPLED = 524288


def measured(records, interval=None):
    environment = {"LD_PRELOAD": AGENT, "FOOTPRINT_MEMPROF_FOLDER": records}
    if interval is not None:
        environment["FOOTPRINT_MEMPROF_SAMPLING_INTERVAL"] = str(interval)
    return environment


def processor_seconds(argv, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, env=dict(os.environ, **environment), check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def times_table(title, argv, environment, goals, rounds, records):
    """Prints a table of ratios; returns the verdicts."""
    rows = {
        "bare": {},
        "bare again": {},
        "exact peak": measured(records),
        "sites, one in 512 KiB": measured(records, SAMPLED),
    }

    def run(name, _):
        seconds = processor_seconds(argv, dict(environment, **rows[name]))
        for record in os.listdir(records):
            os.unlink(os.path.join(records, record))
        return seconds

    seconds = take_turns(rows, rounds, run)
    means = [(a + b) / 2 for a, b in zip(seconds["bare"], seconds["bare again"])]
    print("\n### %s\n" % title)
    print("| command | rounds | median ratio | 95 % interval | ratio of minima | goal | verdict |")
    print("|---|---|---|---|---|---|---|")
    verdicts = []
    for name in rows:
        if name == "bare":
            continue
        baseline = seconds["bare"] if name == "bare again" else means
        median, low, high = median_interval(ratios(seconds[name], baseline))
        least = min(seconds["bare"] if name == "bare again" else
                    seconds["bare"] + seconds["bare again"])
        goal = goals.get(name)
        verdicts.append(verdict(goal, low, high))
        print("| %s | %d | %.3f | %s | %.3f | %s | %s |" % (
            name, len(seconds[name]), median, interval_text(low, high), min(seconds[name]) / least,
            "" if goal is None else "%.2f" % goal, verdicts[-1]))
    print("\nbare: %.3f s of processor time, median of %d" % (
        median_interval(seconds["bare"])[0], rounds), flush=True)
    return verdicts


class Symbols:
    """Names of the functions in a file, by offset."""

    def __init__(self, path):
        listed = "".join(
            subprocess.run(["nm", "-C", *flags, path], capture_output=True,
                           text=True, check=False).stdout for flags in ([], ["-D"]))
        found = [line.split(None, 2) for line in listed.splitlines()]
        self.functions = sorted({(int(words[0], 16), words[2]) for words in found
                                 if len(words) == 3 and words[1] in "tTwWi"})
        headers = subprocess.run(["readelf", "-lW", path], capture_output=True,
                                 text=True, check=False).stdout
        self.segments = [
            [int(word, 16) for word in (words[1], words[2], words[4])]
            for words in map(str.split, headers.splitlines())
            if words and words[0] == "LOAD"]

    def name(self, offset):
        for file_offset, address, size in self.segments:
            if file_offset <= offset < file_offset + size:
                offset += address - file_offset
                break
        index = bisect.bisect(self.functions, (offset, "\x7f")) - 1
        return self.functions[index][1] if index >= 0 else "?"


def count_instructions(threads, kind, environment, pairs):
    """Instructions a pair, and of them by function."""
    output = subprocess.run(
        [STEPPER, str(threads), "env"] + ["%s=%s" % item for item in environment.items()] +
        [LOOP, str(threads), "10", kind, str(pairs)],
        check=True, capture_output=True, text=True).stdout
    total, functions, symbols = 0, collections.Counter(), {}
    for words in map(str.split, output.splitlines()):
        if len(words) == 1:
            total += int(words[0])
        elif os.path.exists(words[0]):
            path = words[0]
            symbols.setdefault(path, Symbols(path))
            functions[symbols[path].name(int(words[1], 16))] += int(words[2])
    divisor = pairs * threads
    return total / divisor, {name: count / divisor for name, count in functions.items()}


def short(name):
    return (name.split("(")[0] if name.startswith("footprint::") else name).replace(
        "footprint::profiling_internal::", "") or name


def instructions_table(kind, threads, pairs, records, goal):
    bare, bare_functions = count_instructions(threads, kind, {}, pairs)
    print("\n### Instructions a pair: %s, %d thread(s)\n" % (kind, threads))
    print("| | instructions | ratio | goal | verdict |\n|---|---|---|---|---|")
    print("| bare | %.1f | 1.000 | | |" % bare)
    verdicts = []
    for name, interval in (("exact peak", None), ("sites, one in 512 KiB", SAMPLED)):
        count, functions = count_instructions(
            threads, kind, measured(records, interval), pairs)
        own_goal = goal if interval is None else None
        verdicts.append(verdict(own_goal, count / bare, count / bare))
        print("| %s | %.1f | %.3f | %s | %s |" % (
            name, count, count / bare, own_goal or "", verdicts[-1]))
        added = {n: c for n, c in functions.items()
                 if c >= 0.05 and short(n) not in map(short, bare_functions)}
        print("| of these | %s | | | |" % ", ".join(
            "%s %.1f" % (short(n), c)
            for n, c in sorted(added.items(), key=lambda item: -item[1])))
    return verdicts


def heaptrack_table(records, rounds):
    argv = [LOOP, "1", "1", "slots"]
    rows = {
        "every allocation's site": (argv, measured(records, 0)),
        "heaptrack": (["heaptrack", "--output", records + "/heaptrack"] + argv, {}),
        "the C library's malloc": (argv, {}),
    }

    def run(name, _):
        return processor_seconds(*rows[name])

    seconds = take_turns(rows, rounds, run)
    print("\n### Every allocation, 1 million pairs of slots, one thread\n")
    print("| command | seconds of processor time, least of %d |\n|---|---|" % rounds)
    for name in rows:
        print("| %s | %.2f |" % (name, min(seconds[name])))
    slower = min(seconds["every allocation's site"]) >= min(seconds["heaptrack"])
    return ["missed" if slower else "met"]


def processor():
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--stepped_pairs", type=int, default=1000)
    parser.add_argument("--only", default="", help="measure only slots, mixed, programs or heaptrack")
    arguments = parser.parse_args()
    print("processor: %s, %d in use; %d rounds" % (
        processor(), os.cpu_count(), arguments.rounds))
    verdicts = []
    with tempfile.TemporaryDirectory() as records:
        for kind, pairs in (("mixed", "8"), ("slots", "10")):
            if arguments.only not in ("", kind):
                continue
            for threads, goal in ((1, 1.35), (2, 1.5)):
                verdicts += times_table(
                    "%s, %d thread(s), %s million pairs each" % (kind, threads, pairs),
                    [LOOP, str(threads), pairs, kind], {},
                    {"exact peak": goal, "sites, one in 512 KiB": goal},
                    arguments.rounds, records)
                verdicts += instructions_table(
                    kind, threads, arguments.stepped_pairs, records, goal)
        if arguments.only in ("", "programs"):
            for title, argv, environment in (
                    ("A network in Eigen", [NETWORK], {}),
                    ("json in Python", ["/usr/bin/python3", "-c", JSON], ONE_BLAS_THREAD),
                    ("scikit-learn", ["/usr/bin/python3", "-c", SKLEARN], ONE_BLAS_THREAD)):
                if "sklearn" in argv[-1] and not importlib.util.find_spec("sklearn"):
                    print("\n%s is not installed: not measured" % title)
                    continue
                verdicts += times_table(
                    title, argv, environment,
                    {"exact peak": 1.10, "sites, one in 512 KiB": 1.10},
                    arguments.rounds, records)
        if arguments.only in ("", "heaptrack"):
            verdicts += heaptrack_table(records, 3)
    sys.exit("missed" in verdicts)


if __name__ == "__main__":
    main()
