#!/usr/bin/env python3
"""Measures the ratio of commands' processor times to that of a baseline command.

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
first so many rounds only. A command whose program is not on the PATH is listed as
not measured, with the command, and so is not passed over.

Exit status: 0, or 1 if a goal is missed, a command fails or the file is wrong; with
--must_meet, unresolved counts as missed.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time

from turns import interval_text, median_interval, ratios, take_turns, verdict


def processor_seconds(command):
    """Runs a command. Returns its user and system time, with that of its children."""
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


def measure(plan, rounds):
    """Returns the seconds of each round by command name."""
    commands = {c["name"]: c for c in plan["commands"] if shutil.which(c["argv"][0])}
    begin = shown = time.monotonic()

    def run(name, number):
        nonlocal shown
        if number >= commands[name].get("rounds", rounds):
            return None
        if time.monotonic() - shown > 2:
            shown = time.monotonic()
            print("paired_ratio: round %d of %d, %.0f s" % (
                number + 1, rounds, shown - begin), file=sys.stderr)
        return processor_seconds(commands[name])

    return take_turns(commands, rounds, run)


def print_table(plan, seconds):
    print("| command | rounds | ratio to %s | 95 %% interval | goal | verdict |"
          % plan["baseline"])
    print("|---|---|---|---|---|---|")
    verdicts = []
    baseline = seconds[plan["baseline"]]
    for command in plan["commands"]:
        name = command["name"]
        goal = command.get("goal")
        shown_goal = "" if goal is None else "<= %.3f" % goal
        if name not in seconds:
            print("| %s | 0 | not measured: `%s` cannot be run, there is no program %s "
                  "on the PATH | | %s | |" % (
                      name, " ".join(command["argv"]), command["argv"][0], shown_goal))
            verdicts.append("missed" if goal is not None else "")
            continue
        median, low, high = median_interval(ratios(seconds[name], baseline))
        verdicts.append(verdict(goal, low, high))
        print("| %s | %d | %.3f | %s | %s | %s |" %
              (name, len(seconds[name]), median, interval_text(low, high), shown_goal,
               verdicts[-1]))
    median, _, _ = median_interval(baseline)
    print("\nbaseline %s: %.3f s of processor time, median of %d" %
          (plan["baseline"], median, len(baseline)))
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
    seconds = measure(plan, arguments.rounds)
    if plan["baseline"] not in seconds:
        sys.exit("paired_ratio: the baseline cannot be run")
    verdicts = print_table(plan, seconds)
    bad = ("missed", "unresolved", "unresolved (too few rounds)")
    if any(v in (bad if arguments.must_meet else bad[:1]) for v in verdicts):
        sys.exit(1)


if __name__ == "__main__":
    main()
