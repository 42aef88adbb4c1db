#!/usr/bin/env python3
"""Plants the faults of planted_faults.txt, one in the parser of each fuzz target.

    tools/fuzz/plant_faults.py --tree=COPY

For a copy of the tree, or one that git restores: a fuzzer that does not find its fault within minutes,
from the one file of its corpus that the list names, looks at nothing. Prints
TARGET and SEED of each. Exit 1, and no file is changed: a text does not stand
once where the list says.
"""

import argparse
import pathlib
import sys

LIST = pathlib.Path(__file__).resolve().with_name("planted_faults.txt")


def faults_of(text):
    """Returns (target, seed, file, old, new) of each line that is not a comment."""
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    faults = [tuple(line.split("\t")) for line in lines]
    for line, fault in zip(lines, faults):
        if len(fault) != 5:
            raise ValueError("five fields with tabs between, not: " + line)
    return faults


def changed(faults, read):
    """Returns the new texts by file, each read by `read`. Raises ValueError if a fault is out of date."""
    texts = {}
    for target, _, file, old, new in faults:
        text = texts.get(file) or read(file)
        if text.count(old) != 1:
            raise ValueError("%s: %r stands %d times in %s, not once"
                             % (target, old, text.count(old), file))
        texts[file] = text.replace(old, new)
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", required=True, type=pathlib.Path)
    options = parser.parse_args()
    faults = faults_of(LIST.read_text())
    try:
        texts = changed(faults, lambda file: (options.tree / file).read_text())
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for file, text in texts.items():
        (options.tree / file).write_text(text)
    for target, seed, *_ in faults:
        print(target, seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
