#!/usr/bin/env python3
"""Prints figures of style for this tree, beside what good houses reach.

    house.py [--tree=.]

The script reports, people decide: exit 0 whatever the figures. All are counted
from text by patterns, without a compiler, so a rare construct may be counted
wrong; each figure says what it counts. With --details it names the exceptions.
"""

import argparse
import pathlib
import re
import statistics
import subprocess

_TEST_FILE = re.compile(r"(_test|_fuzz_test|_test_util)\.(cc|h)$|(^|/)fake_")
_BENCHMARK_FILE = re.compile(r"_benchmark\.cc$")
# A definition opens a brace at the end of a line whose start is not indented, or
# indented as a member is.
_FUNCTION_START = re.compile(r"^ {0,2}[\w:~<>*&,\[\]=\" ]*[\w>\]]\(.*$|^ {0,2}[\w:~<>*& ]+\($")
_NOT_FUNCTION = re.compile(r"^\s*(if|for|while|switch|return|else|namespace|class|struct|enum|using|#|//|static_assert)\b|^\s*//|^#")


def p95(values):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] if ordered else 0


def median(values):
    return statistics.median(values) if values else 0


def without_comments_and_strings(line):
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    line = re.sub(r"'(\\.|[^'\\])'", "''", line)
    return line.split("//", 1)[0]


def function_lengths(text):
    """Returns (first line, lines) of each function defined in C++ text."""
    # Only the lines of a raw string are kept.
    text = re.sub(r'R"(\w*)\((.*?)\)\1"', lambda m: '""' + "\n" * m[2].count("\n"), text, flags=re.S)
    found, lines = [], text.split("\n")
    number = 0
    while number < len(lines):
        end = _function_end(lines, number)
        if end is None:
            number += 1
        else:
            found.append((number + 1, end - number + 1))
            number = end + 1
    return found


def _function_end(lines, start):
    """Returns the last line of the function that starts at `start`, or None."""
    first = lines[start]
    if _NOT_FUNCTION.search(first) or not _FUNCTION_START.match(first):
        return None
    depth, opened, parentheses = 0, False, 0
    for number in range(start, len(lines)):
        for character in without_comments_and_strings(lines[number]):
            if character == "(":
                parentheses += 1
            elif character == ")":
                parentheses -= 1
            elif character == "{" and parentheses == 0:
                depth, opened = depth + 1, True
            elif character == "}" and parentheses == 0:
                depth -= 1
            elif character == ";" and parentheses == 0 and not opened:
                return None  # a declaration
        if opened and depth <= 0:
            return number
    return None


def comment_lines(text):
    return sum(1 for line in text.split("\n") if line.lstrip().startswith("//"))


def code_lines(text):
    return sum(1 for line in text.split("\n") if line.strip())


class Tree:
    """The C++ files and BUILD files of a tree, by name."""

    def __init__(self, root):
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")
        names = sorted({name for name in listed if name and (root / name).is_file()
                        and not name.startswith(("third_party/", "examples/"))})
        self.text = {name: (root / name).read_text() for name in names
                     if name.endswith((".h", ".cc", "BUILD"))}
        self.headers = [n for n in names if n.endswith(".h") and not _TEST_FILE.search(n)]
        self.tests = [n for n in names if n.endswith((".h", ".cc")) and _TEST_FILE.search(n)]
        self.benchmarks = [n for n in names if _BENCHMARK_FILE.search(n)]
        self.sources = [n for n in names if n.endswith(".cc")
                        and n not in self.tests and n not in self.benchmarks]
        self.builds = [n for n in names if n.endswith("BUILD")]

    def lines(self, names):
        return [self.text[name].count("\n") for name in names]

    def share_of_comments(self, names):
        comments = sum(comment_lines(self.text[name]) for name in names)
        return comments / max(1, sum(code_lines(self.text[name]) for name in names))

    def code(self, names):
        return sum(code_lines(self.text[n]) - comment_lines(self.text[n]) for n in names)


def percent(part, whole):
    return "%d %% (%d of %d)" % (round(100 * part / whole), part, whole) if whole else "none"


def function_figures(tree):
    lengths, long = [], []
    for name in tree.headers + tree.sources + tree.tests + tree.benchmarks:
        for line, length in function_lengths(tree.text[name]):
            lengths.append(length)
            if length > 60:
                long.append("%s:%d has %d lines" % (name, line, length))
    return [
        ("functions, median and 95th percentile of lines",
         "%d and %d of %d functions" % (median(lengths), p95(lengths), len(lengths)), "3-6 and 21-45", []),
        ("functions above 60 lines", str(len(long)), "0", long),
    ]


def size_figures(tree):
    headers = tree.lines(tree.headers)
    tested = tree.code(tree.tests) / max(1, tree.code(tree.headers + tree.sources))
    return [
        ("header lines, median and 95th percentile",
         "%d and %d of %d headers" % (median(headers), p95(headers), len(headers)), "<= 120 and <= 400", []),
        ("comment lines in headers", "%.0f %%" % (100 * tree.share_of_comments(tree.headers)), "30-40 %", []),
        ("comment lines in .cc", "%.0f %%" % (100 * tree.share_of_comments(tree.sources)), "<= 15 %", []),
        ("lines of test code to code, without comments", "%.2f" % tested, ">= 1.5", []),
    ]


def libraries_of(build):
    """Yields (name, headers) of each library in a BUILD file that lists hdrs as text."""
    for match in re.finditer(r"(?ms)^(?:footprint_)?cc_library\((.*?)^\)", build):
        hdrs = re.search(r"hdrs = \[(.*?)\]", match[1], re.S)
        name = re.search(r'name = "([^"]+)"', match[1])
        if hdrs and name:
            yield name[1], re.findall(r'"([^"]+\.h)"', hdrs[1])


def library_figures(tree):
    several, count = [], 0
    for build in tree.builds:
        for name, headers in libraries_of(tree.text[build]):
            count += 1
            if len(headers) != 1:
                several.append("%s:%s has %d headers" % (build, name, len(headers)))
    tests = set(tree.tests)
    untested = [n for n in tree.headers
                if not any(t.startswith(n[:-2]) for t in tests)]
    return [
        ("libraries of one header", percent(count - len(several), count), "100 %", several),
        ("headers with a test named after them", percent(len(tree.headers) - len(untested), len(tree.headers)),
         "100 %", untested),
    ]


def header_figures(tree):
    """Purposes of headers."""
    lacking = [name for name in tree.headers if not tree.text[name].startswith("// ")]
    return [("headers that say their purpose, above the include guard",
             percent(len(tree.headers) - len(lacking), len(tree.headers)), "100 %", lacking)]


def benchmark_figures(tree):
    without = {"memory_profile": [], "gate": []}
    builds = "\n".join(tree.text[build] for build in tree.builds)
    for name in tree.benchmarks:
        target = pathlib.PurePath(name).stem
        if not re.search(r'benchmark = "[^"]*:%s"' % target, builds):
            without["memory_profile"].append(name)
        if "%s_profile" % target not in builds.replace('name = "%s_profile"' % target, ""):
            without["gate"].append(name)
    count = len(tree.benchmarks)
    return [
        ("benchmarks with a profile (so run once in every build)",
         percent(count - len(without["memory_profile"]), count), "100 %", without["memory_profile"]),
        ("benchmarks whose profile is judged", percent(count - len(without["gate"]), count),
         "100 %", without["gate"]),
    ]


def figures_of(tree):
    return (function_figures(tree) + size_figures(tree) + library_figures(tree)
            + header_figures(tree) + benchmark_figures(tree))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", default=".")
    parser.add_argument("--details", action="store_true", help="name the exceptions")
    args = parser.parse_args()
    figures = figures_of(Tree(pathlib.Path(args.tree)))
    width = max(len(what) for what, _, _, _ in figures)
    for what, value, goal, exceptions in figures:
        print("%-*s  %-28s goal %s" % (width, what, value, goal))
        if args.details:
            for exception in exceptions:
                print("    " + exception)
    print("Counted from text by patterns; --details names the exceptions.")


if __name__ == "__main__":
    main()
