"""Exceptions to three rules for this tree's tests, in lists, each a line of text.

    misnamed_suites(texts)       suites whose name does not end in Test
    bare_statuses(texts)         assertions of .ok(), which do not say the status
    untested_headers(...)        headers without a test of their name that do not
                                 say which test is theirs ("Tested by foo_test.")

For limits.py, which prints them. `texts` is {file name: text}.
"""

import pathlib
import re

_SUITE = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),", re.M)
_TRUTH = re.compile(r"\b(?:EXPECT|ASSERT)_(?:TRUE|FALSE)\(")
# Protobuf's own status, which the matchers do not know.
_OTHER_STATUS = re.compile(r"JsonStringToMessage|MessageToJsonString")
_TESTED_BY = re.compile(r"Tested by ((?:[^.]|\.(?=\w))*)\.")
_TEST_NAME = re.compile(r"(?://([\w/]+):)?(\w+_test)\b")


def _line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def misnamed_suites(texts):
    return ["%s:%d: suite %s" % (name, _line_of(text, match.start()), match[1])
            for name, text in sorted(texts.items()) for match in _SUITE.finditer(text)
            if not match[1].endswith("Test")]


def _argument(text, begin):
    """Returns the text between the parentheses, the first of which is at `begin`."""
    depth, at = 1, begin
    while at < len(text) and depth > 0:
        if text[at] == '"':
            at = re.compile(r'"(?:\\.|[^"\\])*').match(text, at).end()
        depth += {"(": 1, ")": -1}.get(text[at:at + 1], 0)
        at += 1
    return text[begin:at - 1]


def bare_statuses(texts):
    found = []
    for name, text in sorted(texts.items()):
        for match in _TRUTH.finditer(text):
            argument = _argument(text, match.end())
            if (re.search(r"(?:\.|->)ok\(\)\s*$", argument) and not _OTHER_STATUS.search(argument)
                    and not re.search(r"&&|\|\||\?", argument)):
                found.append("%s:%d: %s%s)" % (name, _line_of(text, match.start()), match[0],
                                               " ".join(argument.split())))
    return found


def _comments(text):
    return " ".join(line.strip()[2:].strip() for line in text.split("\n")
                    if line.strip().startswith("//"))


def _test_files(names):
    """Returns {(folder, name without ending)} of the files that are tests."""
    return {(str(path.parent), path.stem) for path in map(pathlib.PurePath, names)
            if re.search(r"_test\.(?:cc|sh|py)$", path.name)}


def testonly_headers(rules):
    """Returns the headers that only rules for tests have."""
    owners = {}
    for rule in rules:
        for label in rule.inputs:
            if label.startswith("//") and label.endswith(".h"):
                owners.setdefault(label[2:].replace(":", "/").lstrip("/"), []).append(rule.testonly)
    return {header for header, testonly in owners.items() if all(testonly)}


def untested_headers(names, texts, testonly):
    """Returns production headers without a test, neither by name nor named in the header."""
    tests, found = _test_files(names), []
    for name in sorted(names):
        path = pathlib.PurePath(name)
        if (path.suffix != ".h" or name in testonly or path.parts[0] in ("examples", "third_party")
                or "testdata" in path.parts or (str(path.parent), path.stem + "_test") in tests):
            continue
        sentence = _TESTED_BY.search(_comments(texts[name]))
        if sentence is None:
            found.append("%s: no %s_test, and no \"Tested by ..._test.\"" % (name, path.stem))
            continue
        named = _TEST_NAME.findall(sentence[1])
        absent = [test for folder, test in named if (folder or str(path.parent), test) not in tests]
        if absent or not named:
            found.append("%s: \"Tested by %s.\" names no test that is there"
                         % (name, sentence[1]))
    return found
