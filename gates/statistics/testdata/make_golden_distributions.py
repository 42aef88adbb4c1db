#!/usr/bin/env python3
"""Writes golden_distributions.txt: tails with 50 digits, by mpmath (python3-mpmath).

    python3 make_golden_distributions.py >golden_distributions.txt

Lines: "binomial TRIALS PROBABILITY SUCCESSES POINT LOWER UPPER" and
"normal Z TAIL". The tails are regularized incomplete beta functions, not sums, and
PROBABILITY is the double that the text reads as.
"""

import mpmath

# A tail of 1e-60 is still one less a sum, with 50 digits left.
mpmath.mp.dps = 120


def binomial(trials, probability, successes):
    p = mpmath.mpf(probability)
    point = mpmath.binomial(trials, successes) * p**successes * (1 - p)**(trials - successes)
    upper = mpmath.mpf(1) if successes == 0 else mpmath.betainc(
        successes, trials - successes + 1, 0, p, regularized=True)
    lower = mpmath.mpf(1) if successes == trials else mpmath.betainc(
        trials - successes, successes + 1, 0, 1 - p, regularized=True)
    print("binomial %d %r %d %s %s %s" % (
        trials, probability, successes, *(mpmath.nstr(x, 20) for x in (point, lower, upper))))


def long_binomial(trials, probability, successes):
    """Sums from zero, for so many trials that the beta function's series fails."""
    p = mpmath.mpf(probability)
    term = (1 - p)**trials
    below = mpmath.mpf(0)
    for k in range(successes):
        below += term
        term *= mpmath.mpf(trials - k) / (k + 1) * p / (1 - p)
    print("binomial %d %r %d %s %s %s" % (
        trials, probability, successes,
        *(mpmath.nstr(x, 20) for x in (term, below + term, 1 - below))))


def main():
    for trials in (1, 2, 7, 30, 300, 4000):
        for probability in (0.001, 0.05, 0.1, 0.5, 0.8, 0.99):
            mean = int(trials * probability)
            for successes in sorted({0, 1, mean // 2, mean, mean + 1, min(2 * mean + 3, trials),
                                     trials}):
                if 0 <= successes <= trials:
                    binomial(trials, probability, successes)
    for successes in (0, 900, 1000, 1200, 1500):
        long_binomial(1000000, 0.001, successes)
    long_binomial(100000000, 0.00001, 1100)
    for tenths in range(-80, 381, 7):
        z = tenths / 10
        print("normal %r %s" % (z, mpmath.nstr(mpmath.erfc(mpmath.mpf(z) / mpmath.sqrt(2)) / 2, 20)))


if __name__ == "__main__":
    main()
