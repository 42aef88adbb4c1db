"""Counts how often the true bytes of a call site lie within two sigma of memprof's figure.

    sampling_confidence.py MEMPROF KNOWN_PEAK_PROGRAM [RUNS]

Runs the program's `sites` under memprof at the default rate. The sampler draws the same
numbers in each run, which makes runs repeat; here each run spends some of them first. A row of known bytes for each site, and the
share of all. Exit 1: it is below 95 %, or a site is missed by more than 3 % on average.
"""

import concurrent.futures
import json
import math
import os
import re
import subprocess
import sys
import tempfile

REQUIRED_SHARE = 0.95


def sites_of_run(memprof, program, earlier_count):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "run.json")
        subprocess.run([memprof, "--json=" + report, program, "sites", str(earlier_count)],
                       check=True, stderr=subprocess.DEVNULL)
        with open(report) as file:
            process = json.load(file)["processes"][0]
    found = {}
    for site in process["sites"]:
        size_and_count = re.search(r"HoldSite<(\d+), (\d+)>", site["function"])
        if size_and_count:
            key = tuple(map(int, size_and_count.groups()))
            found[key] = (site["at_peak_bytes"], site["at_peak_sigma_bytes"])
    return found


def main():
    memprof, program = (os.path.abspath(path) for path in sys.argv[1:3])
    run_count = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda i: sites_of_run(memprof, program, 13 * i),
                             range(run_count)))
    keys = sorted({key for run in runs for key in run})
    inside_count = 0
    worst_bias = 0
    print("| block | blocks | true bytes | mean of %d runs | rms error | mean sigma |"
          " within 2 sigma |" % run_count)
    print("|---|---|---|---|---|---|---|")
    for size, count in keys:
        true_bytes = size * count
        # A site of which nothing was sampled is not there: 0, and no sigma.
        values = [run.get((size, count), (0, 0)) for run in runs]
        inside = sum(abs(value - true_bytes) <= 2 * sigma for value, sigma in values)
        inside_count += inside
        mean = sum(value for value, _ in values) / run_count
        error = math.sqrt(sum((value - true_bytes) ** 2 for value, _ in values) / run_count)
        sigma = sum(sigma for _, sigma in values) / run_count
        # The mean of so many runs may be off by three of its own deviations.
        worst_bias = max(worst_bias, abs(mean / true_bytes - 1)
                         - 3 * error / true_bytes / math.sqrt(run_count))
        print("| %d B | %d | %d | %.0f (%+.1f %%) | %.1f %% | %.1f %% | %.1f %% |" % (
            size, count, true_bytes, mean, 100 * (mean / true_bytes - 1),
            100 * error / true_bytes, 100 * sigma / true_bytes, 100 * inside / run_count))
    share = inside_count / (run_count * len(keys))
    print("\nWithin two sigma: %.1f %% of %d values." % (100 * share, run_count * len(keys)))
    sys.exit(0 if share >= REQUIRED_SHARE and worst_bias <= 0.03 else 1)


if __name__ == "__main__":
    main()
