#!/usr/bin/env python3
"""Lists the headers that do not say what a caller must know.

    contracts.py [--tree=.]

The comments of each header that is not a test's, those above the include guard
and those of its declarations, must hold
  example    a line indented by three blanks or more that ends as code does, with
             one of ; { } ) > or a comma, or is an #include; or the word "example"
  ownership  a word of WORDS: who owns, how long something must live, or that
             nothing is kept (pure, no state, a value)
  threads    thread-safe and its like, or which threads may call (any, one, ...)
  memory     how much is taken and when: "Memory: ...", "allocates", "bytes a"; a
             header that merely has to do with bytes does not say it
A word is taken for a sentence: whether that is true, or worth saying, a person
decides. A point that makes no sense for a header (a constant has no lifetime)
stands in contract_exceptions.txt with the reason, one line HEADER<TAB>POINT<TAB>REASON.

Exit 1: a header lacks a point that is no listed exception, or an exception
names a header that is gone or that says it after all.
"""

import argparse
import pathlib
import re
import subprocess
import sys

EXCEPTIONS = "tools/house/contract_exceptions.txt"

_TEST_FILE = re.compile(r"(_test|_fuzz_test|_test_util)\.h$|(^|/)fake_")

# Words that are also used otherwise ("takes a second", "until it is full", "a
# name of its own", "thread's stack", "size in bytes") are not among them.
WORDS = {
    "example": r"(?m)^//  {2,}\S.*[;{})>,]( *//.*)?$|^//  {2,}#include|(?i:\bexample\b)",
    "ownership": (
        r"(?i)\b(owns|owned|own (their|its|the|what|copies)|owner|owners|ownership|outlives?|outlived|lifetimes?|borrow(s|ed)?"
        r"|refers? to|must (live|stay)|li(f|v)es? (until|as long|while)"
        r"|(valid|stays?|good|alive|is there) (until|as long|while)|as long as|while .{1,40} lives?"
        r"|keeps? nothing|nothing is kept|no state|cop(y|ies|ied|yable)|move-only|movable"
        r"|pure|plain data|keeps? a pointer|keeps? .{1,30} alive|lives? forever|(is|are|becomes?|stays?) the caller's|caller (frees|owns)|by value|plain values?"
        r"|ends? with the process|never freed)\b"),
    "threads": (
        r"(?i)\bthread-(safe|safety|compatible)\b|\bthreads?:"
        r"|\b(one|another|any|no|each|every|two|several|many|all|same|own|calling|which|whichever|main|main's|starts|and) threads?\b"
        r"|\bthreads take turns\b|'s thread alone\b"),
    "memory": (
        r"(?i)\bmemory( (and|with|of|while|beside|a|in|for)\b[^.:]{0,40})?:"
        r"|\b(takes?|keeps?|needs?|no|own|their|its|all the) memory\b|\bsee .{1,60}\bmemory\b"
        r"|\balloc\w*|\bheap\b|\b(bytes|words) (a|an|each|per|of memory)\b|\bvalue of \w+ bytes\b|\b[kmg]ib\b"),
}


def comments_of(text):
    """The comments of a header, each line without its indentation."""
    lines = []
    for line in text.split("\n"):
        code, sign, comment = line.partition("//")
        # Not of a string that holds the sign.
        if sign and code.count('"') % 2 == 0:
            lines.append("//" + comment)
    return "\n".join(lines)


def lacking(text):
    """The points that a header's text does not speak of."""
    comments = comments_of(text)
    prose = " ".join(comments.replace("//", " ").split())
    return [point for point, words in WORDS.items()
            if not re.search(words, comments if point == "example" else prose)]


def parse_exceptions(text):
    """{(header, point): reason}."""
    exceptions = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3 or fields[1] not in WORDS or len(fields[2]) < 10:
            raise ValueError("line %d: want HEADER<TAB>%s<TAB>REASON, got %r"
                             % (number, "|".join(WORDS), line))
        if tuple(fields[:2]) in exceptions:
            raise ValueError("line %d: %s is listed twice" % (number, fields[0]))
        exceptions[fields[0], fields[1]] = fields[2]
    return exceptions


def faults_of(headers, exceptions):
    """Faults, a line each; `headers` is {name: text}."""
    silent = {(name, point) for name, text in headers.items() for point in lacking(text)}
    faults = ["%s does not speak of: %s" % pair for pair in sorted(silent - set(exceptions))]
    for name, point in sorted(set(exceptions) - silent):
        why = "says it" if name in headers else "is not there"
        faults.append("%s: %s is listed as an exception, but the header %s"
                      % (name, point, why))
    return faults


def read_headers(tree):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.h"],
        cwd=tree, check=True, capture_output=True, text=True).stdout.split()
    return {name: (tree / name).read_text() for name in sorted(set(listed))
            if (tree / name).is_file() and not _TEST_FILE.search(name)
            and not name.startswith(("third_party/", "examples/"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path("."))
    tree = parser.parse_args().tree
    headers = read_headers(tree)
    exceptions = parse_exceptions((tree / EXCEPTIONS).read_text())
    for point in WORDS:
        silent = sum(point in lacking(text) for text in headers.values())
        excepted = sum(listed == point for _, listed in exceptions)
        print("headers that speak of %-10s %d of %d, exceptions with a reason %d"
              % (point, len(headers) - silent, len(headers), excepted))
    faults = faults_of(headers, exceptions)
    for fault in faults:
        print("    " + fault)
    print("contracts: %d faults" % len(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
