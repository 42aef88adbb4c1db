#!/usr/bin/env python3
"""Measures the time from a small edit to the result of the tests that depend on it.

    edit_times.py [--root=OUTPUT_USER_ROOT] [--only=REGULAR_EXPRESSION] [PACKAGE ...]

In each room (a folder with a BUILD) the largest C++ source that a test of the room
depends on gets a constant more, and those tests run. Both are built and run once
before, so what is timed is one edit's own work: Bazel's analysis, compiling,
linking, testing. The constant is taken out again; each has another number, so no cache
knows it. Prints a table for docs/results; exit 1 when a room takes above 60 s.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

PACKAGES = ["base", "memo", "profiling", "lowmem", "trainer_manager", "gates"]
LIMIT_S = 60
# The object file keeps this, so that the linked program is new. Sources that
# Highway compiles for several instruction sets include themselves.
LINE = """#ifndef FOOTPRINT_EDITED
#define FOOTPRINT_EDITED
__attribute__((used)) static const long long edited_at_ns = %dLL;
#endif
"""


def sources_by_size(folder):
    """Returns the room's C++ sources that are not tests, the largest first."""
    found = [path for path in folder.glob("*.cc") if not path.stem.endswith("_test")]
    return sorted(found, key=lambda path: (-path.stat().st_size, path.name))


class Bazel:
    def __init__(self, tree, root):
        self._tree = tree
        self._command = ["bazel"] + (["--output_user_root=" + root] if root else [])

    def query(self, expression, output="label"):
        result = subprocess.run(
            [*self._command, "query", "--noshow_progress", "--output=" + output, expression],
            cwd=self._tree, capture_output=True, text=True)
        return result.stdout.split() if result.returncode == 0 else []

    def test(self, targets):
        """Returns the seconds until the tests' result. The tests must pass."""
        start = time.monotonic()
        subprocess.run(
            [*self._command, "test", "--noshow_progress", "--symlink_prefix=/", *targets],
            cwd=self._tree, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.monotonic() - start


def edited_source(bazel, tree, room):
    """Returns a source and the tests of its room that depend on it; None, [] if there is none."""
    for source in sources_by_size(tree / room):
        tests = bazel.query('kind("_test rule", rdeps(//%s:all, //%s:%s)) except '
                            'attr(tags, "manual|bench", //%s:all)' % (room, room, source.name, room))
        if tests:
            return source, tests
    return None, []


def edit_seconds(bazel, source, tests):
    bazel.test(tests)
    original = source.read_bytes()
    try:
        source.write_bytes(original + (LINE % time.time_ns()).encode())
        return bazel.test(tests)
    finally:
        source.write_bytes(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    parser.add_argument("--root", help="Bazel's --output_user_root")
    parser.add_argument("--tree", default=os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    parser.add_argument("--only", default="", help="rooms to time, by a regular expression")
    args = parser.parse_args()
    tree = pathlib.Path(args.tree).resolve()
    bazel = Bazel(tree, args.root)
    print("| room | source | tests | seconds |\n|---|---|---|---|", flush=True)
    slow = []
    for package in args.packages:
        for room in bazel.query('kind("cc_", //%s/...)' % package, output="package"):
            if not re.search(args.only, room):
                continue
            source, tests = edited_source(bazel, tree, room)
            if source is None:
                print("| %s | no source with a test in its room | 0 | - |" % room, flush=True)
                continue
            try:
                seconds = edit_seconds(bazel, source, tests)
            except subprocess.CalledProcessError:
                print("| %s | %s | %d | a test fails |" % (room, source.name, len(tests)), flush=True)
                slow.append(room)
                continue
            print("| %s | %s | %d | %.1f |" % (room, source.name, len(tests), seconds), flush=True)
            if seconds > LIMIT_S:
                slow.append(room)
    if slow:
        print("edit_times: above %d s or not passing: %s" % (LIMIT_S, " ".join(slow)), file=sys.stderr)
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
