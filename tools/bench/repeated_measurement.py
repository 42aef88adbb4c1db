#!/usr/bin/env python3
"""Counts how often a measurement that should repeat does not.

  repeated_measurement.py --times=1000 RUNNER PROGRAM [ARGUMENT ...]

Measures PROGRAM again and again with profile_runner, each time in three fresh
processes under other address layouts and environment sizes, and compares the
profiles, which hold EXACT metrics only, byte by byte. Prints how many differed from
the first. Exit status: 0 if none did, 1 if any did, 2 if a measurement failed.
"""

import argparse
import collections
import hashlib
import os
import subprocess
import sys
import tempfile
import time


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("runner")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    digests = collections.Counter()
    first = None
    shown = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "profile")
        for number in range(arguments.times):
            result = subprocess.run(
                [arguments.runner, "--label=//repeated:measurement",
                 "--output=" + output, "--samples_output=" + output + ".samples",
                 "--process_count=3", "--timeout_seconds=300", "--"] +
                arguments.program, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            if result.returncode != 0:
                sys.stderr.buffer.write(result.stderr)
                sys.exit(2)
            with open(output, "rb") as profile:
                digest = hashlib.sha256(profile.read()).hexdigest()
            first = first or digest
            digests[digest] += 1
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                print("repeated_measurement: %d of %d, %d differed" %
                      (number + 1, arguments.times,
                       number + 1 - digests[first]), file=sys.stderr)
    differed = arguments.times - digests[first]
    print("%d measurements in %d fresh processes: %d differed from the first" %
          (arguments.times, 3 * arguments.times, differed))
    for digest, count in digests.most_common():
        print("%6d x sha256 %s" % (count, digest))
    sys.exit(1 if differed else 0)


if __name__ == "__main__":
    main()
