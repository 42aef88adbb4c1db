#!/usr/bin/env python3
"""Plants faults into a package's sources and sees whether its tests catch them.

    mutate.py --tree=. PACKAGE

A parser of C++ finds the faults; a sample of them is drawn by `--seed` and judged
by the package's tests: see generated.py. `--only` names the files to sample by a
regular expression, such as those that a change touches. A fault that no test can
see stands, with the reason, in PACKAGE/equivalent_mutations.txt.

The faults go into a copy of the tree with an output root of its own, so neither
the tree nor its build results are touched. Exit 0 when at least 95 % are caught; 1
when fewer are, or when the list of equivalents is stale; 2 when the tests fail
without a fault.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import equivalents

GENERATED_SAMPLE = 200


def copy_tree(tree, copy):
    """Copies committed files and those that could be committed; copies a folder without git as a whole."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."],
        cwd=tree, capture_output=True, text=True)
    if listed.returncode:
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns("bazel-*"))
        return
    # A person's own flags, such as the place of a cache, are not committed.
    for name in set(listed.stdout.split("\0")) - {""} | {"user.bazelrc"}:
        source = tree / name
        if source.is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy / name)


def fresh_copy(tree, output_root):
    # The path is the same each time, so that the output root stays useful
    # between runs.
    copy = pathlib.Path(output_root) / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    copy_tree(tree, copy)
    return copy


def check_equivalents(tree, package):
    """Checks whether the package's list of equivalents fits its sources. Returns the exit code."""
    stale = equivalents.stale_equivalents(tree / package)
    for text in stale:
        print("mutate: " + text, file=sys.stderr)
    return 1 if stale else 0


def plant_generated(tree, package, args, output_root):
    # This needs clang's parser; the check of equivalents does not.
    import generated  # pylint: disable=import-outside-toplevel

    return generated.run(tree, fresh_copy(tree, output_root), package, args)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("want a number above 0, got %s" % text)
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("package")
    parser.add_argument("--tree", default=".")
    parser.add_argument("--output_root", help="folder for Bazel's output root and the copy of the tree")
    parser.add_argument("--check_list", action="store_true", help="only look for stale lines in the list of equivalents")
    parser.add_argument("--sample", type=positive, default=GENERATED_SAMPLE,
                        help="number of faults to plant; default: %d" % GENERATED_SAMPLE)
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("--only", default="", help="plant only into files that match this regular expression")
    parser.add_argument("--again", action="store_true", help="judge known survivors once more")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def main():
    args = parse_arguments()
    tree = pathlib.Path(args.tree).resolve()
    package = args.package.strip("/")
    if args.check_list:
        sys.exit(check_equivalents(tree, package))
    output_root = args.output_root or os.path.join(
        os.environ.get("FOOTPRINT_OUTPUT_USER_ROOT") or os.path.expanduser("~/.cache/bazel"),
        "footprint_mutate", package.replace("/", "_") + "_generated")
    os.makedirs(output_root, exist_ok=True)
    sys.exit(plant_generated(tree, package, args, output_root))


if __name__ == "__main__":
    main()
