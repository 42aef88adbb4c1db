"""Counts how often memprof suspects a leak in programs whose leaks are known.

  bazel run -c opt //tools/research:leak_rates -- [RUNS [MS [SAMPLING]]]

Each program runs RUNS times (default 10) with another seed, for MS milliseconds
(default 2000), with call sites sampled every SAMPLING bytes (default 64KiB).
Prints a table: the share of runs in which Subject was suspected, the mean
probability in those, and the share in which any other place was.
"""

import json
import os
import subprocess
import sys
import tempfile

LEAKS = ["leak", "leak_tenth", "leak_bursts", "leak_queue"]
KEPT = ["list"]
OTHERS = [
    "list_freed", "table", "load", "cache_oldest", "cache_random",
    "cache_filled", "temporary", "queue", "batches", "buffer"
]


def passes_subject(run, call):
    while call:
        entry = run["calls"][call - 1]
        if "Subject" in run["frames"][entry["frame"]]["function"]:
            return True
        call = entry["parent"]
    return False


def suspicions(memprof, program, way, seed, ms, sampling):
    """The probability of Subject, 0 without one, and how many others."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.json")
        subprocess.run(
            [memprof, f"--sampling={sampling}", f"--json={path}", program, way,
             str(seed), str(ms)],
            check=True, stderr=subprocess.DEVNULL)
        with open(path) as file:
            run = json.load(file)
    probability, others = 0.0, 0
    for leak in run["processes"][0]["suspected_leaks"]:
        if passes_subject(run, leak["call"]):
            probability = max(probability, leak["probability"])
        else:
            others += 1
    return probability, others


def main():
    memprof, program = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    ms = int(sys.argv[4]) if len(sys.argv) > 4 else 2000
    sampling = sys.argv[5] if len(sys.argv) > 5 else "64KiB"
    print("| program | leaks | suspected | mean probability | other places |")
    print("|---|---|---:|---:|---:|")
    for way in LEAKS + KEPT + OTHERS:
        found = [suspicions(memprof, program, way, seed, ms, sampling)
                 for seed in range(1, runs + 1)]
        suspected = [each for each, _ in found if each > 0]
        mean = sum(suspected) / len(suspected) if suspected else 0
        kind = "yes" if way in LEAKS else "kept" if way in KEPT else "no"
        print(f"| {way} | {kind} | {len(suspected)} of {runs} | {mean:.2f} | "
              f"{sum(others > 0 for _, others in found)} of {runs} |",
              flush=True)


if __name__ == "__main__":
    main()
