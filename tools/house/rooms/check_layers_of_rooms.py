#!/usr/bin/env python3
"""Compares the tree's dependencies with tools/layering/layers.txt.

    bazel query --output=xml --noimplicit_deps //... |
        check_layers.py --layers=tools/layering/layers.txt

Exit 1 with a line for each edge that is not allowed, and for each allowance that
no edge uses.
"""

import argparse
import collections
import re
import sys
import xml.etree.ElementTree

Rule = collections.namedtuple("Rule", "name kind testonly inputs")

# What speaks of the language, not of a library.
_UNLAYERED_REPOSITORIES = {"bazel_tools", "local_config_cc", "local_config_platform"}
# Programs by which a person works on the tree; they may run anything.
_ENTRY_POINTS = {"//gates:check", "//gates:update"}


def parse_layers(text):
    """{(package, testonly): [entry]} from the text of layers.txt."""
    layers = {}
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"([\w/]+)( testonly)?:((?: (?://[\w/]+|@[\w-]+))*)", line)
        if not match:
            raise ValueError("line %d: want PACKAGE[ testonly]: ENTRY ..., got %r" % (number, line))
        key = match[1], bool(match[2])
        if key in layers:
            raise ValueError("line %d: %s stands here a second time" % (number, line))
        layers[key] = match[3].split()
    return layers


def parse_query(text):
    """The rules of `bazel query --output=xml`."""
    rules = []
    for element in xml.etree.ElementTree.fromstring(text).iter("rule"):
        flags = {child.get("name"): child.get("value") for child in element.findall("boolean")}
        kind = element.get("class")
        rules.append(Rule(
            name=element.get("name"),
            kind=kind,
            testonly=flags.get("testonly") == "true" or kind.endswith("_test"),
            inputs=[child.get("name") for child in element.findall("rule-input")],
        ))
    return rules


def package_of(label):
    return label.split("//", 1)[1].split(":", 1)[0]


def layer_of(package, layers):
    """The longest listed package that holds `package`; None if none does."""
    while package and (package, False) not in layers:
        package = package.rpartition("/")[0]
    return package or None


def entry_for(target, layers):
    """How layers.txt names the room or repository of a target; None for a file's."""
    if target.startswith("@"):
        repository = target[1:].split("//")[0]
        return None if repository in _UNLAYERED_REPOSITORIES else "@" + repository
    layer = layer_of(package_of(target), layers)
    return "//" + (layer or package_of(target))


def violations(rules, layers):
    """A sentence for each edge that layers.txt does not allow, or allows in vain."""
    names = {rule.name for rule in rules}
    used, found = set(), []
    for rule in rules:
        if rule.name in _ENTRY_POINTS:
            continue
        layer = layer_of(package_of(rule.name), layers)
        if layer is None:
            found.append("%s: package %s is not in layers.txt" % (rule.name, package_of(rule.name)))
            continue
        for target in rule.inputs:
            if not target.startswith("@") and target not in names:
                continue  # a file
            entry = entry_for(target, layers)
            if entry is None or entry == "//" + layer:
                continue
            if entry in layers[layer, False]:
                # A test's edge does not show that libraries need theirs.
                used.add((layer, rule.testonly, entry))
            elif rule.testonly and entry in layers.get((layer, True), []):
                used.add((layer, True, entry))
            else:
                found.append("%s depends on %s, which layers.txt does not allow%s" % (
                    rule.name, target, "" if rule.testonly else " (not testonly)"))
    return found + unused(layers, used)


def unused(layers, used):
    """A sentence for each allowance that stands in layers.txt for nothing."""
    found = []
    for (layer, testonly), entries in layers.items():
        for entry in entries:
            if (layer, testonly, entry) not in used:
                found.append("layers.txt: nothing in %s%s uses %s" % (
                    layer, " testonly" if testonly else "", entry))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--layers", required=True)
    args = parser.parse_args()
    with open(args.layers) as file:
        layers = parse_layers(file.read())
    rules = parse_query(sys.stdin.read())
    if not rules:
        sys.exit("check_layers: the query has no rule in it")
    found = violations(rules, layers)
    print("\n".join(found + ["layers: %d rules, %d edges that should not be" % (
        len(rules), len(found))]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
