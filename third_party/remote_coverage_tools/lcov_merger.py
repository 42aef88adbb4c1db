#!/usr/bin/env python3
"""Merges the coverage data of one test into one lcov tracefile.

`bazel coverage` calls it with --coverage_dir= and --output_file=, and a regular
expression of sources to leave out in each --filter_sources=. It reads what gcov 9
and newer write (*.gcov.json.gz) and lcov tracefiles (*.dat).
"""

import argparse
import collections
import gzip
import json
import pathlib
import re
import sys

# The include prefix of a library is a folder of links to its headers.
_VIRTUAL = re.compile(r"^bazel-out/[^/]+/bin/(.*)/_virtual_includes/[^/]+/[^/]+/\1/")


class Counts:
    """How often each line and each function of each source ran."""

    def __init__(self):
        self.lines = collections.defaultdict(collections.Counter)
        self.functions = collections.defaultdict(collections.Counter)
        self.function_lines = collections.defaultdict(dict)

    def add_line(self, source, number, count):
        self.lines[source][number] += count

    def add_function(self, source, name, line, count):
        self.functions[source][name] += count
        self.function_lines[source][name] = line


def own_name(source):
    """The path in the source tree of a header seen through its include prefix."""
    return _VIRTUAL.sub(lambda match: match[1] + "/", source)


def read_gcov(path, counts):
    with gzip.open(path, "rt") as file:
        document = json.load(file)
    for entry in document["files"]:
        source = own_name(entry["file"])
        for line in entry["lines"]:
            counts.add_line(source, line["line_number"], line["count"])
        for function in entry["functions"]:
            counts.add_function(source, function["name"], function["start_line"],
                                function["execution_count"])


def read_tracefile(path, counts):
    source, lines = None, {}
    for number, record in enumerate(path.read_text().splitlines(), start=1):
        kind, _, rest = record.partition(":")
        fields = rest.split(",")
        try:
            if kind == "SF":
                source, lines = own_name(rest), {}
            elif kind == "DA":
                counts.add_line(source, int(fields[0]), int(fields[1]))
            elif kind == "FN":
                lines[",".join(fields[1:])] = int(fields[0])
            elif kind == "FNDA":
                name = ",".join(fields[1:])
                counts.add_function(source, name, lines[name], int(fields[0]))
        except (KeyError, IndexError, ValueError):
            sys.exit("%s:%d: not a tracefile's record: %s" % (path, number, record))


def write_tracefile(counts, filters, output):
    for source in sorted(counts.lines):
        if any(re.fullmatch(pattern, source) for pattern in filters):
            continue
        output.write("SF:%s\n" % source)
        functions = counts.functions[source]
        for name in sorted(functions):
            output.write("FN:%d,%s\n" % (counts.function_lines[source][name], name))
        for name in sorted(functions):
            output.write("FNDA:%d,%s\n" % (functions[name], name))
        output.write("FNF:%d\nFNH:%d\n" % (len(functions), sum(map(bool, functions.values()))))
        lines = counts.lines[source]
        for number in sorted(lines):
            output.write("DA:%d,%d\n" % (number, lines[number]))
        output.write("LH:%d\nLF:%d\nend_of_record\n" % (sum(map(bool, lines.values())), len(lines)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--coverage_dir", required=True)
    parser.add_argument("--output_file", required=True)
    parser.add_argument("--filter_sources", action="append", default=[])
    # Bazel gives more, about other languages.
    args, _ = parser.parse_known_args()
    counts = Counts()
    folder = pathlib.Path(args.coverage_dir)
    for path in sorted(folder.rglob("*.gcov.json.gz")):
        read_gcov(path, counts)
    for path in sorted(folder.rglob("*.dat")):
        if path.resolve() != pathlib.Path(args.output_file).resolve():
            read_tracefile(path, counts)
    with open(args.output_file, "w") as output:
        write_tracefile(counts, args.filter_sources, output)


if __name__ == "__main__":
    main()
