#!/usr/bin/env python3
"""Compares the tree's dependencies with tools/layering/layers.txt.

    bazel query --output=xml --noimplicit_deps //... |
        check_layers.py --layers=tools/layering/layers.txt

Exit 1 with a line for each edge that is not allowed, each allowance that no edge
uses, each circle of rooms, and each allowance from one library to another. With
--propose, print a layers.txt for the tree as it is.
"""

import argparse
import collections
import re
import sys
import xml.etree.ElementTree

TESTONLY = "testonly"

Rule = collections.namedtuple("Rule", "name kind testonly inputs")

# Repositories of the language's tools, which are not libraries.
_UNLAYERED_REPOSITORIES = {
    "bazel_tools", "local_config_cc", "local_config_platform", "rules_cc"
}
# Kinds of rules whose inputs are not code of their own: a second name, and a
# question about the graph.
_NO_DEPENDENTS = {"alias", "genquery"}
# Kinds of rules on which no built target depends.
_NO_CODE = {"config_setting", "precompiled_header"}
# Programs for people who work on the tree; they may run anything.
_ENTRY_POINTS = {
    "//gates:audit", "//gates:check", "//gates:compare", "//gates:diff", "//gates:explain",
    "//gates:fit", "//gates:history", "//gates:report", "//gates:selftest", "//gates:update"
}
# The packages of which none may need another, and the room that states the
# contract between them. A deployment is there to combine them; a trial runs any
# program under the profiler (decision 38), the selftest plants regressions into
# measured ones (decision 42), and each test is watched as a whole process (decision 63).
_SIBLINGS = ("gates", "lowmem", "memo", "profiling", "trainer_manager")
CONTRACT = "profiling/schema"
_COMBINES = ("gates/deployments", "gates/regressions", "gates/test_memory", "gates/trials")


def parse_layers(text):
    """Returns {(room, mark): [entry]} from the text of layers.txt; a mark is "" or TESTONLY."""
    layers = {}
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        match = re.fullmatch(
            r"([\w/]+)(?: (%s))?:((?: (?://[\w/]+|@[\w.-]+))*)" % TESTONLY, line)
        if not match:
            raise ValueError("line %d: want ROOM[ testonly]: ENTRY ..., got %r" % (number, line))
        key = match[1], match[2] or ""
        if key in layers:
            raise ValueError("line %d: %s stands here a second time" % (number, line))
        layers[key] = match[3].split()
    return layers


def parse_query(text):
    """The rules of `bazel query --output=xml`.

    The top package is left out: it gives the libraries the names of modules. Of
    another repository only aliases matter, such as those of @footprint_programs.
    """
    rules = []
    for element in xml.etree.ElementTree.fromstring(text).iter("rule"):
        if element.get("name").startswith("//:"):
            continue
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


def edges(rules):
    """(rule, label) for each input that is a rule or of another repository.

    An alias is a second name, no code: an edge to it leads to what it names. A
    condition of select() is no code either, and of headers that are parsed before
    a target uses what it would without.
    """
    actual = {rule.name: rule.inputs[0] for rule in rules if rule.kind == "alias"}
    names = {rule.name for rule in rules if rule.kind not in _NO_CODE}
    for rule in rules:
        if rule.kind in _NO_DEPENDENTS or rule.name in _ENTRY_POINTS:
            continue
        for target in rule.inputs:
            while target in actual:
                target = actual[target]
            if target in names or (target.startswith("@")
                                   and target[1:].split("//")[0] not in _UNLAYERED_REPOSITORIES):
                yield rule, target


def room_of(package, rooms):
    """Returns the longest listed package that contains `package`, or None."""
    while package and package not in rooms:
        package = package.rpartition("/")[0]
    return package or None


def entry_for(target, rooms):
    """Returns the name of a target's room or repository in layers.txt."""
    if target.startswith("@"):
        return "@" + target[1:].split("//")[0]
    return "//" + (room_of(package_of(target), rooms) or package_of(target))


def violations(rules, layers):
    """Returns a sentence for each edge that layers.txt does not allow, or allows without need."""
    rooms = {room for room, _ in layers}
    found = ["%s: package %s is not in layers.txt" % (rule.name, package_of(rule.name))
             for rule in rules if rule.name.startswith("//")
             and room_of(package_of(rule.name), rooms) is None]
    used = set()
    for rule, target in edges(rules):
        room = room_of(package_of(rule.name), rooms)
        entry = entry_for(target, rooms)
        if room is None or entry == "//" + room:
            continue
        # An edge of a test does not show that libraries need theirs.
        marks = [mark for mark in ("",) + (TESTONLY,) * rule.testonly
                 if entry in layers.get((room, mark), [])]
        if not marks:
            found.append("%s depends on %s, which layers.txt does not allow%s" % (
                rule.name, target, "" if rule.testonly else " (not testonly)"))
        elif not rule.testonly or marks[-1] == TESTONLY:
            used.add((room, marks[-1], entry))
    return found + unused(layers, used)


def unused(layers, used):
    """Returns a sentence for each allowance in layers.txt that nothing uses."""
    return ["layers.txt: nothing in %s uses %s" % (" ".join(filter(None, (room, mark))), entry)
            for (room, mark), entries in layers.items()
            for entry in entries if (room, mark, entry) not in used]


def package_named(room):
    return room.split("/")[0]


def crosses(room, other):
    """Returns whether code of `room` that uses `other` uses a sibling's."""
    return (package_named(other) in _SIBLINGS and package_named(room) != package_named(other)
            and other != CONTRACT
            and not any((room + "/").startswith(each + "/") for each in _COMBINES))


def sibling_allowances(layers):
    """Returns a sentence for each allowance by which one library would need another."""
    return ["layers.txt: %s may not use //%s: siblings meet in //%s only" % (
                room, other, CONTRACT)
            for (room, mark), entries in layers.items() if mark == ""
            for other in (entry[2:] for entry in entries if entry.startswith("//"))
            if crosses(room, other)]


def round_trips(below):
    """Returns the sets of keys of {room: rooms} in which each can reach each other."""
    reached = {}
    for room in below:
        seen, open_rooms = set(), list(below[room])
        while open_rooms:
            other = open_rooms.pop()
            if other not in seen:
                seen.add(other)
                open_rooms += below.get(other, [])
        reached[room] = seen
    return sorted({tuple(sorted(other for other in reached[room] if room in reached.get(other, ())))
                   for room in below if room in reached[room]})


def circles(layers):
    """Returns a sentence for each set of rooms whose production code has a cycle."""
    below = {room: [entry[2:] for entry in entries if entry.startswith("//")]
             for (room, mark), entries in layers.items() if mark == ""}
    return ["layers.txt: a circle of %s" % ", ".join(rooms) for rooms in round_trips(below)]


def propose(rules, layers):
    """The text of layers.txt that allows the edges there are, a line a room.

    `layers` says which packages are taken for one room.
    """
    rooms = {room for room, _ in layers}
    lines = collections.defaultdict(set)
    for rule in rules:
        package = package_of(rule.name)
        lines[room_of(package, rooms) or package, ""] |= set()
    for rule, target in edges(rules):
        room = room_of(package_of(rule.name), rooms) or package_of(rule.name)
        entry = entry_for(target, rooms)
        if entry == "//" + room:
            continue
        lines[room, TESTONLY if rule.testonly else ""].add(entry)
    text = []
    for (room, mark), entries in sorted(lines.items()):
        if mark == TESTONLY:
            entries = entries - lines[room, ""]
        if entries or not mark:
            name = " ".join(filter(None, (room, mark)))
            text.append("%s:%s" % (name, "".join(" " + entry for entry in sorted(entries))))
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--layers", required=True)
    parser.add_argument("--propose", action="store_true")
    args = parser.parse_args()
    with open(args.layers) as file:
        layers = parse_layers(file.read())
    rules = parse_query(sys.stdin.read())
    if not rules:
        sys.exit("check_layers: the query has no rule in it")
    if args.propose:
        print(propose(rules, layers))
        return
    found = violations(rules, layers) + sibling_allowances(layers) + circles(layers)
    print("\n".join(found + ["layers: %d rules, %d faults" % (
        len(rules), len(found))]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
