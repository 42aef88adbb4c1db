#!/usr/bin/env python3
"""Measures the ratio of the processor times of two rows of a benchmark.

The program, which uses Google Benchmark, runs again and again; each run gives one
ratio to each pair of rows, so that a slow moment of the machine falls on both. The
table shows the median and its 95 % interval, as paired_ratio.py does.

A file of JSON says what to compare:

  {"argv": ["./get_benchmark", "--benchmark_min_time=0.02"],
   "pairs": [
     {"row": "BM_Get", "baseline": "BM_Load", "at_most": 5},
     {"row": "BM_LookUp", "baseline": "BM_Get", "at_least": 20}]}

A goal is met when the far end of the interval meets it, missed when its near end
misses it, and else unresolved. A row that the program does not have is listed as
not measured, with the command and no goal met. The first line names the processor, which the
figures are of; the last ones name the goals that it misses.

Exit status: 0; 1 if everything was measured and a goal is missed on this
processor; 2 if nothing can be said: the program fails or the file is wrong. With
--must_meet, unresolved or not measured counts as missed.
"""

import argparse
import json
import subprocess
import sys

from turns import interval_text, median_interval, verdict as at_most_verdict


def fail(words):
    print("row_ratio: " + words, file=sys.stderr)
    sys.exit(2)


def processor():
    """Returns the processor's model, and its widest vectors."""
    try:
        with open("/proc/cpuinfo") as file:
            facts = dict(line.split(":", 1) for line in file.read().split("\n\n")[0].split("\n")
                         if ":" in line)
    except OSError:
        return "unknown"
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    flags = facts.get("flags", "").split()
    vectors = [name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags]
    return ", ".join([facts.get("model name", "unknown")] + vectors[:1])


def run_once(argv):
    """Returns row name -> processor time of an iteration."""
    try:
        result = subprocess.run(
            argv + ["--benchmark_format=json"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        fail("%s: %s" % (argv[0], error))
    if result.returncode != 0:
        fail("%s failed with status %d: %s" % (
            " ".join(argv), result.returncode,
            result.stderr.decode(errors="replace")[-2000:]))
    rows = {}
    for row in json.loads(result.stdout)["benchmarks"]:
        if row.get("error_occurred"):
            fail("%s: %s" % (row["name"], row["error_message"]))
        rows[row["name"]] = row["cpu_time"]
    return rows


def verdict(pair, low, high):
    """Returns the verdict of the interval on the pair's goal."""
    if "at_least" in pair and low is not None:
        return at_most_verdict(-pair["at_least"], -high, -low)
    return at_most_verdict(pair.get("at_most", pair.get("at_least")), low, high)


def shown_goal(pair):
    if "at_most" in pair:
        return "<= %g" % pair["at_most"]
    return ">= %g" % pair["at_least"] if "at_least" in pair else ""


def print_table(argv, pairs, runs):
    print("| row | to | rounds | ratio | 95 % interval | goal | verdict |")
    print("|---|---|---|---|---|---|---|")
    verdicts = []
    for pair in pairs:
        ratios = [run[pair["row"]] / run[pair["baseline"]] for run in runs
                  if pair["row"] in run and pair["baseline"] in run]
        if not ratios:
            verdicts.append("not measured" if shown_goal(pair) else "")
            missing = [row for row in (pair["row"], pair["baseline"])
                       if not any(row in run for run in runs)]
            print("| %s | %s | 0 | not measured: `%s` has no row %s | | %s | |" % (
                pair["row"], pair["baseline"], " ".join(argv), " and no row ".join(missing),
                shown_goal(pair)))
            continue
        median, low, high = median_interval(ratios)
        verdicts.append(verdict(pair, low, high))
        print("| %s | %s | %d | %.2f | %s | %s | %s |" % (
            pair["row"], pair["baseline"], len(ratios), median, interval_text(low, high, 2),
            shown_goal(pair), verdicts[-1]))
    return verdicts


def print_rows(runs):
    print("\n| row | ns, median | fastest |\n|---|---|---|")
    for name in runs[0]:
        times = [run[name] for run in runs if name in run]
        print("| %s | %.2f | %.2f |" % (name, median_interval(times)[0], min(times)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", help="JSON file, or - for standard input")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--must_meet", action="store_true")
    arguments = parser.parse_args()
    try:
        text = (sys.stdin if arguments.plan == "-" else open(arguments.plan)).read()
        plan = json.loads(text)
        argv, pairs = plan["argv"], plan["pairs"]
        _ = [(pair["row"], pair["baseline"]) for pair in pairs]
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail("%s: %r" % (arguments.plan, error))
    runs = [run_once(argv) for _ in range(arguments.rounds)]
    print("Processor: %s\n" % processor())
    verdicts = print_table(argv, pairs, runs)
    print_rows(runs)
    good = ("", "met") if arguments.must_meet else (
        "", "met", "unresolved", "unresolved (too few rounds)", "not measured")
    bad = ["%s to %s: %s, goal %s" % (pair["row"], pair["baseline"], v, shown_goal(pair))
           for pair, v in zip(pairs, verdicts) if v not in good]
    if bad:
        print("\nNot met on this processor:\n" + "\n".join(bad))
        sys.exit(1)


if __name__ == "__main__":
    main()
