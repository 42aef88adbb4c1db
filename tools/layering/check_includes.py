#!/usr/bin/env python3
"""Checks that each C++ source includes only headers of what its target names.

    bazel query --output=xml --noimplicit_deps //... | check_includes.py --tree=.

A source may include the headers of its own target and of the targets in its
`deps`, and of another repository only what a direct dependency provides. This is
the rule of clang's layering_check, which `tools/dev lint layering` runs over
compilations of the whole tree; here the include lines are read, in a second.
An include under a condition of the preprocessor must be allowed in one target
that compiles the source at least.

Exit 1 with a line for each include that is not allowed.
"""

import argparse
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree

ROOT = "footprint/"
# The first folders of other repositories' headers.
REPOSITORIES = {
    "absl": "abseil-cpp",
    "archive.h": "libarchive",
    "archive_entry.h": "libarchive",
    "benchmark": "google_benchmark",
    "Eigen": "eigen",
    "dwarf.h": "elfutils",
    "elfutils": "elfutils",
    "gmock": "googletest",
    "google": "protobuf",
    "gtest": "googletest",
    "httplib.h": "cpp-httplib",
    "hwy": "highway",
    "jemalloc": "jemalloc",
    "leveldb": "leveldb",
    "liburing.h": "liburing",
    "nlohmann": "nlohmann_json",
    "openssl": "boringssl",
    "pcre2.h": "pcre2",
    "rocksdb": "rocksdb",
    "sqlite3.h": "sqlite3",
    "utf8proc.h": "utf8proc",
}

# Folders of the system's own headers.
SYSTEM_FOLDERS = {"arpa", "asm", "gnu", "linux", "net", "netinet", "sys"}

_DIRECTIVE = re.compile(r'^\s*#\s*(include|if\w*|endif)\b[ \t]*["<]?([^">\n]*)', re.MULTILINE)
_SOURCES = ("srcs", "hdrs", "textual_hdrs")

Rule = collections.namedtuple("Rule", "name kind lists tags")


def parse_query(text):
    """Returns the rules of `bazel query --output=xml` by name; lists have labels by attribute."""
    rules = {}
    for element in xml.etree.ElementTree.fromstring(text).iter("rule"):
        lists = {each.get("name"): [label.get("value") for label in each.iter("label")]
                 for each in element.findall("list")}
        actual = [each.get("value") for each in element.findall("label")
                  if each.get("name") == "actual"]
        tags = [each.get("value") for child in element.findall("list")
                if child.get("name") == "tags" for each in child.iter("string")]
        rules[element.get("name")] = Rule(
            element.get("name"), element.get("class"), {**lists, "actual": actual}, tags)
    return rules


def path_of(label):
    """Returns the path in the tree that a label of this repository names."""
    return label[2:].replace(":", "/").lstrip("/")


def resolve(label, rules):
    """Returns the label behind aliases."""
    while label in rules and rules[label].kind == "alias":
        label = rules[label].lists["actual"][0]
    return label


def headers_of(rule, rules):
    """Returns the paths of the headers that a target exports."""
    if rule.kind == "cc_proto_library":
        protos = [rules.get(resolve(label, rules)) for label in rule.lists.get("deps", [])]
        return {path_of(source)[:-len(".proto")] + ".pb.h"
                for proto in protos if proto for source in proto.lists.get("srcs", [])}
    return {path_of(label) for name in ("hdrs", "textual_hdrs")
            for label in rule.lists.get(name, [])}


def allowed_headers(rule, rules):
    """Returns (paths of own headers, names of repositories) that a target's sources may include."""
    paths = {path_of(label) for name in _SOURCES for label in rule.lists.get(name, [])
             if label.startswith("//")}
    repositories = set()
    for label in rule.lists.get("deps", []):
        label = resolve(label, rules)
        if label.startswith("@"):
            repositories.add(label[1:].split("//")[0])
        elif label in rules:
            paths |= headers_of(rules[label], rules)
    return paths, repositories


def includes_of(text):
    """Yields (header, whether it is included under a condition other than a header's own guard)."""
    conditions = []
    for directive, rest in _DIRECTIVE.findall(text):
        if directive == "include":
            yield rest, any(conditions)
        elif directive == "endif":
            conditions.pop()
        elif directive != "include":
            conditions.append(not (directive == "ifndef" and rest.rstrip().endswith("_H_")))


def fault(include, paths, repositories):
    """Returns what is wrong with an include, or None."""
    if include.startswith(ROOT):
        return None if include[len(ROOT):] in paths else "which no target in its deps has"
    if include in paths:  # of a .S file, which has no prefix
        return None
    folder, slash, _ = include.partition("/")
    repository = REPOSITORIES.get(folder)
    if repository is None and slash and folder not in SYSTEM_FOLDERS:
        return "and check_includes.py knows of no repository with that folder"
    if repository is None or repository in repositories:
        return None
    return "but has no dep in @%s" % repository


def faults(rules, read):
    """Yields a sentence for each include that is not allowed; read(path) returns a file's text."""
    conditional = collections.defaultdict(list)  # by path and include: what each target says
    for rule in rules.values():
        # Fuzzers have the sources of their tests.
        if not rule.kind.startswith("cc_") or "fuzz" in rule.tags:
            continue
        paths, repositories = allowed_headers(rule, rules)
        for name in _SOURCES:
            for label in rule.lists.get(name, []):
                path = path_of(label)
                text = read(path) if label.startswith("//") else None
                for include, is_conditional in includes_of(text or ""):
                    why = fault(include, paths, repositories)
                    sentence = why and "%s: %s includes %s, %s" % (
                        rule.name, path, include, why)
                    if is_conditional:
                        conditional[path, include].append(sentence)
                    elif sentence:
                        yield sentence
    for sentences in conditional.values():
        if all(sentences):
            yield sentences[0]


def read_file_of(tree):
    """Returns a function that returns the text of a file of the tree, or None for a generated file."""
    def read(path):
        file = tree / path
        return file.read_text(errors="replace") if file.is_file() else None
    return read


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    args = parser.parse_args()
    rules = parse_query(sys.stdin.read())
    if not rules:
        sys.exit("check_includes: the query has no rule in it")
    found = list(faults(rules, read_file_of(args.tree)))
    print("\n".join(found + ["includes: %d rules, %d faults" % (len(rules), len(found))]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
