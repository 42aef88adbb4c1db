#!/usr/bin/env python3
"""Checks that the pages quote a command as it answers.

    COMMAND 2>&1 | check_outputs.py --command=COMMAND [--tree=.] [PAGE...]

In each block of a page (of all that git knows, unless pages are named), the lines
below "$ COMMAND" must be lines of its output, in their order. A line of dots leaves
out any number of lines, dots within a line any characters. Numbers, units of bytes and bars may be others: a
page is not an environment. How columns are filled up does not count.
Exit 1 with file and line of each quoted line that the output does not have, or
if no page quotes the command.
"""

import argparse
import pathlib
import re
import sys

import check_docs

# Parts of a line that differ between runs or machines: numbers, units, bars,
# blanks.
_VARIABLE = (r"-?[0-9][0-9,.]*(?:e[+-][0-9]+)?", r"\b(?:[KMGT]i)?B\b", "[▁-█]+", r"\s+")
_VARIABLE_OR_DOTS = re.compile("|".join((re.escape(check_docs.DOTS),) + _VARIABLE))


def pattern_of(line):
    """Returns a regular expression for the lines that a quoted one stands for."""
    line = line.strip()
    pattern, at = "", 0
    for match in _VARIABLE_OR_DOTS.finditer(line):
        kind = next((kind for kind in _VARIABLE if re.fullmatch(kind, match[0])), ".*")
        pattern += re.escape(line[at:match.start()]) + kind
        at = match.end()
    return re.compile(pattern + re.escape(line[at:]))


def quotes_of(text):
    """Returns (command, [(line number, quoted line)]) of each command in a page's blocks."""
    return [command for line, _, content in check_docs.blocks_of(text)
            for command in check_docs.commands_of(content, line + 1)]


def missing_line(quoted, output):
    """Returns (number, line) of the first line that the output does not have after the others."""
    at = 0
    for number, line in quoted:
        pattern = pattern_of(line)
        found = next((i for i in range(at, len(output)) if pattern.fullmatch(output[i].strip())), None)
        if found is None:
            return number, line
        at = found + 1
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--command", required=True)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    output = sys.stdin.read().splitlines()
    quote_count, faults = 0, []
    for page in args.pages or check_docs.pages_of(args.tree):
        for command, quoted in quotes_of((args.tree / page).read_text()):
            if command != args.command or not quoted:
                continue
            quote_count += 1
            missing = missing_line(quoted, output)
            if missing:
                faults.append("%s:%d: '%s' does not answer so: %s" % (page, missing[0], command, missing[1]))
    if not quote_count:
        faults.append("no page quotes the output of '%s'" % args.command)
    print("\n".join(faults + ["outputs: %d quoted, %d faults" % (quote_count, len(faults))]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
