#!/usr/bin/env python3
"""Programs that take turns: rounds, medians, and intervals of ratios.

    times = take_turns(["plain", "counted"], rounds, lambda name, number: run(name))
    median, low, high = median_interval(ratios(times["counted"], times["plain"]))
    verdict(1.05, low, high)  # "met", "missed" or "unresolved"

A slow moment of the machine falls on all of them, and a ratio is one of the same
round. The interval is one of 95 % for the median from order statistics, which
assumes nothing about how times are distributed.

As a program, reads lines of two numbers, a baseline and what is measured, and
prints the median of each, the median of their ratios and the interval's ends:

    turns.py <times
"""

import math
import sys


def take_turns(names, rounds, run):
    """Returns {name: [run(name, number) of each round]}; a result of None is left out."""
    found = {name: [] for name in names}
    for number in range(rounds):
        # The order alternates, so that no program always follows the same one.
        for name in list(names)[::-1 if number % 2 else 1]:
            result = run(name, number)
            if result is not None:
                found[name].append(result)
    return found


def median_interval(values):
    """Returns the median and a 95 % interval for it; None, None if there are too few values."""
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


def ratios(measured, baseline):
    """Returns the ratios of the rounds that both took part in, which are the first ones."""
    return [a / b for a, b in zip(measured, baseline)]


def verdict(goal, low, high):
    """Returns the verdict of an interval on the goal to be at most so much; "" without a goal."""
    if goal is None:
        return ""
    if low is None:
        return "unresolved (too few rounds)"
    if high <= goal:
        return "met"
    return "missed" if low > goal else "unresolved"


def interval_text(low, high, digits=3):
    return "" if low is None else "%.*f to %.*f" % (digits, low, digits, high)


def main():
    pairs = [[float(word) for word in line.split()] for line in sys.stdin]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        sys.exit("turns: want lines of two numbers, a baseline and what is measured")
    baseline, measured = zip(*pairs)
    median, low, high = median_interval(ratios(measured, baseline))
    print("%g %g %.3f %s %s" % (
        median_interval(baseline)[0], median_interval(measured)[0], median,
        "-" if low is None else "%.3f" % low, "-" if high is None else "%.3f" % high))


if __name__ == "__main__":
    main()
