#!/usr/bin/env python3
"""How many times the processor time of a baseline command other commands take.

The commands run in turn, again and again, so that a slow moment of the machine
falls on all of them. Each round gives one ratio to the baseline; the table shows
their median and a 95 % interval of the median from order statistics, which
assumes nothing about how times are distributed.

A file of JSON says what to run:

  {"baseline": "bare",
   "commands": [
     {"name": "bare", "argv": ["./loop"], "environment": {"A": "1"}},
     {"name": "counted", "argv": ["./counted_loop"], "goal": 1.05}]}

A goal is met when the far end of the interval is at most the goal, missed when
its near end is above it, and else unresolved. A command with "rounds" runs in the
first so many rounds only. A command whose program is not installed is listed as
not measured, and so is not passed over.

Exit status: 0, or 1 if a goal is missed, a command fails or the file is wrong; with
--must_meet, unresolved counts as missed.
"""

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import time


def processor_seconds(command):
    """Runs a command; returns its user and system time, that of children too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = dict(os.environ, **command.get("environment", {}))
    result = subprocess.run(
        command["argv"], env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        sys.exit("paired_ratio: %s failed with status %d: %s" % (
            " ".join(command["argv"]), result.returncode,
            result.stderr.decode(errors="replace")[-2000:]))
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def median_interval(values):
    """The median and a 95 % interval for it, by order statistics."""
    ordered = sorted(values)
    count = len(ordered)
    median = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    # The largest k such that P(Binomial(count, 1/2) < k) <= 2.5 %.
    tail = 0.0
    k = 0
    while k < count:
        tail += math.comb(count, k) / 2.0**count
        if tail > 0.025:
            break
        k += 1
    if k == 0:
        return median, None, None
    return median, ordered[k - 1], ordered[count - k]


def verdict(goal, low, high):
    if goal is None:
        return ""
    if low is None:
        return "unresolved (too few rounds)"
    if high <= goal:
        return "met"
    return "missed" if low > goal else "unresolved"


def measure(plan, rounds, progress):
    """Ratios to the baseline by command name."""
    commands = [c for c in plan["commands"] if shutil.which(c["argv"][0])]
    ratios = {c["name"]: [] for c in commands}
    baseline_seconds = []
    shown = time.monotonic()
    for number in range(rounds):
        seconds = {}
        # Alternate the order, so that no command always follows the same one.
        for command in commands if number % 2 == 0 else commands[::-1]:
            if number < command.get("rounds", rounds):
                seconds[command["name"]] = processor_seconds(command)
        baseline_seconds.append(seconds[plan["baseline"]])
        for name, value in seconds.items():
            ratios[name].append(value / seconds[plan["baseline"]])
        if progress and time.monotonic() - shown > 2:
            shown = time.monotonic()
            print("paired_ratio: round %d of %d" % (number + 1, rounds),
                  file=sys.stderr)
    return ratios, baseline_seconds


def print_table(plan, ratios, baseline_seconds):
    print("| command | rounds | ratio to %s | 95 %% interval | goal | verdict |"
          % plan["baseline"])
    print("|---|---|---|---|---|---|")
    verdicts = []
    for command in plan["commands"]:
        name = command["name"]
        goal = command.get("goal")
        shown_goal = "" if goal is None else "<= %.3f" % goal
        if name not in ratios:
            print("| %s | 0 | not measured: %s is not installed | | %s | |" %
                  (name, command["argv"][0], shown_goal))
            verdicts.append("missed" if goal is not None else "")
            continue
        median, low, high = median_interval(ratios[name])
        interval = "" if low is None else "%.3f to %.3f" % (low, high)
        verdicts.append(verdict(goal, low, high))
        print("| %s | %d | %.3f | %s | %s | %s |" %
              (name, len(ratios[name]), median, interval, shown_goal,
               verdicts[-1]))
    median, _, _ = median_interval(baseline_seconds)
    print("\nbaseline %s: %.3f s of processor time, median of %d" %
          (plan["baseline"], median, len(baseline_seconds)))
    return verdicts


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
        names = [c["name"] for c in plan["commands"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit("paired_ratio: %s: %s" % (arguments.plan, error))
    if plan.get("baseline") not in names:
        sys.exit("paired_ratio: no command is named as the baseline, %r" %
                 plan.get("baseline"))
    if len(set(names)) != len(names):
        sys.exit("paired_ratio: two commands have one name")
    ratios, baseline_seconds = measure(plan, arguments.rounds, True)
    if plan["baseline"] not in ratios:
        sys.exit("paired_ratio: the baseline cannot be run")
    verdicts = print_table(plan, ratios, baseline_seconds)
    bad = ("missed", "unresolved", "unresolved (too few rounds)")
    if any(v in (bad if arguments.must_meet else bad[:1]) for v in verdicts):
        sys.exit(1)


if __name__ == "__main__":
    main()
