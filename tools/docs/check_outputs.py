#!/usr/bin/env python3
"""Checks that the pages quote a command as it answers.

    COMMAND 2>&1 | check_outputs.py --command=COMMAND [--tree=.] [PAGE...]

In each ```console block of a page (of all that git knows, unless pages are named), the lines below "$ COMMAND" must be lines of
its output, in their order. A line of dots leaves out any number of lines, dots
within a line any characters. Numbers, units of bytes and bars may be others: a
page is not an environment. How columns are filled up does not count.
Exit 1 with file and line of each quoted line that the output does not have, or
if no page quotes the command.
"""

import argparse
import pathlib
import re
import sys

import check_docs

# Parts of a line that differ from one run or machine to the next.
_VARIABLE = re.compile(r"\.\.\.|[0-9][0-9,.]*(?:e[+-][0-9]+)?|\b(?:[KMGT]i)?B\b|[▁-█]+|\s+|-(?=[0-9])")
_DOTS = "..."


def pattern_of(line):
    """A regular expression of the lines that a quoted one stands for."""
    pattern, at = "", 0
    for match in _VARIABLE.finditer(line.strip()):
        pattern += re.escape(line.strip()[at:match.start()])
        text = match[0]
        if text == _DOTS:
            pattern += ".*"
        elif text.isspace():
            pattern += r"\s+"
        elif text[0] in "0123456789":
            pattern += r"[0-9][0-9,.]*(?:e[+-][0-9]+)?"
        elif text == "-":
            pattern += "-?"
        elif "▁" <= text[0] <= "█":
            pattern += "[▁-█]+"
        else:
            pattern += "(?:[KMGT]i)?B"
        at = match.end()
    return re.compile(pattern + re.escape(line.strip()[at:]))


def quotes_of(text):
    """(command, [(line number, quoted line)]) of each command in console blocks."""
    quotes, inside = [], False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("```"):
            inside = line.strip() == "```console"
        elif inside and line.startswith("$ "):
            quotes.append((re.sub(r"\s+#.*", "", line[2:]).strip(), []))
        elif inside and quotes and line.strip() not in ("", _DOTS):
            quotes[-1][1].append((number, line))
    return quotes


def missing_line(quoted, output):
    """(number, line) of the first that the output does not have below the others."""
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
