#!/usr/bin/env python3
"""Merges lcov tracefiles and prints the share of lines that ran, by package.

    report.py --files=LIST --output=merged.dat

LIST names a tracefile a line. Tests and generated code are not counted.
"""

import argparse
import collections
import pathlib
import re
import sys

_NOT_COUNTED = re.compile(r"^(bazel-out|external|/)|_test\.cc$|_test_program\.cc$|\.pb\.(cc|h)$")


def add_tracefile(text, lines):
    """Adds the DA records of `text` to {source: Counter of line -> runs}."""
    source = None
    for record in text.splitlines():
        if record.startswith("SF:"):
            source = record[3:]
        elif record.startswith("DA:"):
            number, count = record[3:].split(",")[:2]
            lines[source][int(number)] += int(count)


def by_package(lines):
    """Returns {package: (lines that ran, lines)}."""
    totals = collections.defaultdict(lambda: [0, 0])
    for source, counts in lines.items():
        total = totals[str(pathlib.PurePath(source).parent)]
        total[0] += sum(1 for count in counts.values() if count)
        total[1] += len(counts)
    return {package: tuple(total) for package, total in totals.items()}


def tracefile(lines):
    records = []
    for source in sorted(lines):
        records.append("SF:" + source)
        records += ["DA:%d,%d" % item for item in sorted(lines[source].items())]
        records.append("end_of_record")
    return "\n".join(records) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--files", required=True)
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    lines = collections.defaultdict(collections.Counter)
    names = pathlib.Path(args.files).read_text().split("\n")
    for name in filter(None, names):
        add_tracefile(pathlib.Path(name).read_text(), lines)
    lines = {source: counts for source, counts in lines.items()
             if not _NOT_COUNTED.search(source)}
    if not lines:
        sys.exit("coverage: no test left coverage data")
    pathlib.Path(args.output).write_text(tracefile(lines))
    totals = by_package(lines)
    totals["all"] = tuple(map(sum, zip(*totals.values())))
    for package in sorted(totals):
        ran, count = totals[package]
        print("%-40s %6.1f %%  %6d of %d lines" % (package, 100 * ran / count, ran, count))


if __name__ == "__main__":
    main()
