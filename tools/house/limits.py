#!/usr/bin/env python3
"""Prints where this tree exceeds the limits of its rooms.

    bazel query --output=xml --noimplicit_deps //... |
        limits.py --tree=.

A room is a Bazel package. The limits: rules in a BUILD file, circles between rooms, edges between sibling packages, what tests owe
(owed_tests.py), and definitions of what should stand once (the patterns of
one_of_each.txt). Exit 1 beyond a
limit, and where a pattern finds fewer than it should.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

# The edges and the circles are the same as in `tools/dev lint layers`.
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "layering"))
import check_layers  # noqa: E402

import owed_tests  # noqa: E402

MOST_RULES = 60

Limit = collections.namedtuple("Limit", "what value limit exceptions")


def production_edges(rules):
    """Returns {package: {package: an edge of labels}} between the rooms of this tree."""
    edges = collections.defaultdict(dict)
    for rule, target in check_layers.edges(rules):
        package = check_layers.package_of(rule.name)
        if rule.testonly or target.startswith("@") or check_layers.package_of(target) == package:
            continue
        edges[package].setdefault(
            check_layers.package_of(target), "%s depends on %s" % (rule.name, target))
    return edges


def sibling_edges(edges):
    return sorted(edge for package, targets in edges.items()
                  for target, edge in targets.items() if check_layers.crosses(package, target))


def crowded_builds(rules):
    return collections.Counter(check_layers.package_of(rule.name) for rule in rules)


def parse_patterns(text):
    """Returns [(what, the allowed number, pattern)] of one_of_each.txt."""
    patterns = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3 or not fields[1].isdigit():
            raise ValueError("line %d: want NAME<TAB>NUMBER<TAB>PATTERN, got %r" % (number, line))
        patterns.append((fields[0], int(fields[1]), re.compile(fields[2], re.M)))
    return patterns


def definitions(pattern, texts):
    """Returns FILE:LINE of each match of a pattern."""
    return ["%s:%d" % (name, text.count("\n", 0, match.start()) + 1)
            for name, text in sorted(texts.items()) for match in pattern.finditer(text)]


def _most(what, count, limit):
    beyond = ["%s has %d" % (name or "(top)", number)
              for name, number in count.most_common() if number > limit]
    return Limit(what, max(count.values(), default=0), limit, beyond)


def limits_of(names, texts, rules, patterns):
    edges = production_edges(rules)
    crossing = sibling_edges(edges)
    circles = [" <-> ".join(rooms) for rooms in check_layers.round_trips(edges)]
    found = [
        _most("most rules in a BUILD file", crowded_builds(rules), MOST_RULES),
        Limit("circles between rooms", len(circles), 0, circles),
        Limit("edges between siblings (but to %s)" % check_layers.CONTRACT, len(crossing), 0, crossing),
    ]
    for what, limit, pattern in patterns:
        places = definitions(pattern, texts)
        # If there are fewer than known, the pattern no longer finds what it
        # guards.
        wrong = places or ["none: the pattern finds nothing"]
        found.append(Limit("definitions: " + what, len(places), limit,
                           wrong if len(places) != limit else []))
    return found


def _none(what, exceptions):
    return Limit(what, len(exceptions), 0, exceptions)


def limits_of_tests(names, texts, rules):
    """Limits for the tests; `texts` are those of all headers and sources."""
    own = {name: text for name, text in texts.items()
           if not name.startswith("examples/") and "/testdata/" not in name}
    return [
        _none("suites not named ...Test", owed_tests.misnamed_suites(own)),
        _none("assertions of .ok() in place of matchers", owed_tests.bare_statuses(own)),
        _none("headers that no test is known of",
              owed_tests.untested_headers(names, texts, owed_tests.testonly_headers(rules))),
    ]


def read_tree(root):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")
    names = sorted({name for name in listed if name and (root / name).is_file()})
    return names, {name: (root / name).read_text() for name in names
                   if name.endswith((".h", ".cc"))}


def is_searched_for_definitions(name):
    return not re.search(r"_test(_program)?\.cc$|^examples/", name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", default=".")
    args = parser.parse_args()
    root = pathlib.Path(args.tree)
    rules = check_layers.parse_query(sys.stdin.read())
    if not rules:
        sys.exit("limits: the query has no rule in it")
    names, texts = read_tree(root)
    patterns = parse_patterns((root / "tools/house/one_of_each.txt").read_text())
    found = limits_of_tests(names, texts, rules) + limits_of(
        names, {name: text for name, text in texts.items() if is_searched_for_definitions(name)},
        rules, patterns)
    width = max(len(limit.what) for limit in found)
    for limit in found:
        print("%-*s  %4d  at most %d" % (width, limit.what, limit.value, limit.limit))
        for exception in limit.exceptions:
            print("    " + exception)
    beyond = sum(bool(limit.exceptions) for limit in found)
    print("limits: %d of %d not met" % (beyond, len(found)))
    sys.exit(1 if beyond else 0)


if __name__ == "__main__":
    main()
