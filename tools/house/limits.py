#!/usr/bin/env python3
"""Prints where this tree exceeds the limits of its rooms.

    bazel query --output=xml --noimplicit_deps //... |
        limits.py --tree=.

A room is a Bazel package. The limits: files in a folder, rules in a BUILD file,
circles between rooms, edges between sibling packages, and definitions of what
should stand once (the patterns of one_of_each.txt). Exit 1 beyond a
limit, and where a pattern finds fewer than it should.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

MOST_FILES = 50
MOST_RULES = 60
SIBLINGS = ("gates", "lowmem", "memo", "profiling", "trainer_manager")
# The one contract between siblings, and the programs that combine them.
SHARED = "profiling/schema"
COMBINING = "gates/deployments"

Rule = collections.namedtuple("Rule", "package testonly inputs actual")
Limit = collections.namedtuple("Limit", "what value limit exceptions")


def package_of(label):
    return label.split("//", 1)[1].split(":", 1)[0]


def rules_of(text):
    """{label: Rule} of the output of `bazel query --output=xml`."""
    rules = {}
    for element in xml.etree.ElementTree.fromstring(text).iter("rule"):
        flags = {child.get("name"): child.get("value") for child in element.findall("boolean")}
        actual = [child.get("value") for child in element.findall("label")
                  if child.get("name") == "actual"] if element.get("class") == "alias" else []
        rules[element.get("name")] = Rule(
            package_of(element.get("name")),
            flags.get("testonly") == "true" or element.get("class").endswith("_test"),
            [child.get("name") for child in element.findall("rule-input")],
            actual[0] if actual else None)
    return rules


def resolved(label, rules):
    """The rule that a chain of aliases ends at."""
    while label in rules and rules[label].actual:
        label = rules[label].actual
    return label


def production_edges(rules):
    """{package: {package: an edge of labels}} between the rooms of this tree."""
    edges = collections.defaultdict(dict)
    for label, rule in rules.items():
        if rule.testonly or rule.actual:
            continue
        for name in rule.inputs:
            target = resolved(name, rules)
            if target in rules and rules[target].package != rule.package:
                edges[rule.package].setdefault(
                    rules[target].package, "%s depends on %s" % (label, target))
    return edges


def circles(edges):
    """The sets of rooms in which each can be reached from each other."""
    reached = {}
    for start in edges:
        seen, rest = set(), [start]
        while rest:
            for following in edges.get(rest.pop(), ()):
                if following not in seen:
                    seen.add(following)
                    rest.append(following)
        reached[start] = seen
    found = {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in reached}
    return sorted(sorted(circle) for circle in found if len(circle) > 1)


def sibling_edges(edges):
    found = []
    for package, targets in edges.items():
        own = package.split("/")[0]
        if own not in SIBLINGS or (package + "/").startswith(COMBINING + "/"):
            continue
        for target, edge in targets.items():
            if target.split("/")[0] in SIBLINGS and target.split("/")[0] != own and target != SHARED:
                found.append(edge)
    return sorted(found)


def crowded_folders(names):
    count = collections.Counter(str(pathlib.PurePath(name).parent) for name in names
                                if "testdata" not in pathlib.PurePath(name).parts)
    return count


def crowded_builds(rules):
    return collections.Counter(rule.package for rule in rules.values())


def parse_patterns(text):
    """[(what, how many may stand, pattern)] of one_of_each.txt."""
    patterns = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3 or not fields[1].isdigit():
            raise ValueError("line %d: want WHAT<TAB>NUMBER<TAB>PATTERN, got %r" % (number, line))
        patterns.append((fields[0], int(fields[1]), re.compile(fields[2], re.M)))
    return patterns


def definitions(pattern, texts):
    """FILE:LINE of each place that a pattern matches in."""
    return ["%s:%d" % (name, text.count("\n", 0, match.start()) + 1)
            for name, text in sorted(texts.items()) for match in pattern.finditer(text)]


def _most(what, count, limit):
    beyond = ["%s has %d" % (name or "(top)", number)
              for name, number in count.most_common() if number > limit]
    return Limit(what, max(count.values(), default=0), limit, beyond)


def limits_of(names, texts, rules, patterns):
    edges = production_edges(rules)
    crossing = sibling_edges(edges)
    round_trips = [" <-> ".join(circle) for circle in circles(edges)]
    found = [
        _most("most files in a folder (testdata aside)", crowded_folders(names), MOST_FILES),
        _most("most rules in a BUILD file", crowded_builds(rules), MOST_RULES),
        Limit("circles between rooms", len(round_trips), 0, round_trips),
        Limit("edges between siblings (but to %s)" % SHARED, len(crossing), 0, crossing),
    ]
    for what, limit, pattern in patterns:
        places = definitions(pattern, texts)
        # Fewer than are known: the pattern no longer finds what it guards.
        wrong = places or ["none: the pattern finds nothing"]
        found.append(Limit("definitions: " + what, len(places), limit,
                           wrong if len(places) != limit else []))
    return found


def read_tree(root):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")
    names = sorted({name for name in listed if name and (root / name).is_file()})
    code = [name for name in names if name.endswith((".h", ".cc"))
            and not re.search(r"_test(_program)?\.cc$|^examples/", name)]
    return names, {name: (root / name).read_text() for name in code}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", default=".")
    args = parser.parse_args()
    root = pathlib.Path(args.tree)
    rules = rules_of(sys.stdin.read())
    if not rules:
        sys.exit("limits: the query has no rule in it")
    names, texts = read_tree(root)
    patterns = parse_patterns((root / "tools/house/one_of_each.txt").read_text())
    found = limits_of(names, texts, rules, patterns)
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
