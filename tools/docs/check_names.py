#!/usr/bin/env python3
"""Checks that what comments and pages name is there.

    check_names.py --tree=.

In the comments of C++ files, and in pages (*.md) but those that tell of the past
(CHANGELOG.md, docs/decisions):
* `x.h`, `folder/x.cc`: a file of the tree, by its path from the root, from the page's
  folder, or by its name alone.
* `//package:target`: a package with such a target or file.
* `Name()`, `TwoWords`: an identifier that the code of the tree has; NotFound is kNotFound.
* In example code in a comment, three spaces in, each function that is called, each type of
  two words and each constant. A variable may be called as one likes.
Names that others made, and those that an example leaves to its reader, stand in
tools/docs/names_of_others.txt. Exit 1 with file and line of each fault.
"""

import argparse
import pathlib
import re
import subprocess
import sys

_CODE = (".h", ".cc", ".py", ".bzl", ".sh", ".proto")
_PAST = ("CHANGELOG.md", "docs/decisions/")
_FILE = re.compile(r"(?<![\w/.<*{}-])(?:[\w-]+/)*[\w-]+(?:\.\w+)*\.(?:h|cc|proto|bzl|py|sh|md|svg)\b(?!\()")
_LABEL = re.compile(r"(?<![\w/:@])(?:@footprint)?//([a-z][\w/]*)?(?::([\w./+-]*[\w+]))?(?!\w|/|\*|\.\.)")
_CALL = re.compile(r"(?<![\w.$])(?:\w+::)*~?([A-Za-z_]\w+)\(\)")
_TWO_WORDS = re.compile(r"(?<![\w.])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")
# Names in example code that others define: calls, called members, constants.
_CALL_IN_EXAMPLE = re.compile(r"(?:\.|->)([A-Za-z_]\w*)\(|(?<![\w.])~?([A-Z][a-z0-9]+\w*)(?:<[^()]*>)?\(")
_CONSTANT = re.compile(r"\bk[A-Z]\w+")
_IN_QUOTES = re.compile(r'"(?:\\.|[^"\\])*"|//.*')
_COMMENT = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/',
                      re.S)
# An entry of memory_gate_suite's `programs`.
_PROGRAM_OF_SUITE = re.compile(
    r'"(?:audit|diff|explain|report)": "([^"]+)"')
_NAME_IN_BUILD = re.compile(r'\b(?:name|update) = "([^"]+)"')
_LABEL_IN_BUILD = re.compile(r'"//[\w/]*[/:](\w+)"')


def without_comments(text):
    """Returns C++ with its comments blanked; strings stay."""
    return _COMMENT.sub(lambda m: " " if m[0].startswith(("//", "/*")) else m[0], text)


def comments_of(text):
    """Yields (line number, words of the comment) for each comment line of C++."""
    for match in _COMMENT.finditer(text):
        if match[0].startswith(("//", "/*")):
            first = 1 + text.count("\n", 0, match.start())
            for offset, line in enumerate(match[0].split("\n")):
                yield first + offset, re.sub(r"^\s*(?://|/\*|\*)", "", line)


def prose_of(text):
    """Yields (line number, line) of a page without its blocks of code."""
    inside = False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            yield number, re.sub(r"https?://\S+|<!--.*?-->", " ", line)


class Names:
    """Files, targets and identifiers of the tree."""

    def __init__(self, tree, files, others):
        self.files = set(files)
        self.base_names = {name.rpartition("/")[2] for name in files}
        self.others = others
        self.targets = {}
        self.identifiers = set()
        for name in files:
            folder, _, base = name.rpartition("/")
            if base == "BUILD":
                self.targets[folder] = self.targets_of((tree / name).read_text())
            elif base.endswith(_CODE):
                text = (tree / name).read_text(errors="replace")
                if base.endswith((".h", ".cc")):
                    text = without_comments(text)
                self.identifiers.update(re.findall(r"\w+", text))

    @staticmethod
    def targets_of(text):
        names = set(_NAME_IN_BUILD.findall(text)) | set(_LABEL_IN_BUILD.findall(text))
        names |= {name[:-len("_proto")] + "_cc_proto" for name in names if name.endswith("_proto")}
        # memory_gate_test and memory_gate_suite also make these targets.
        names |= {name + ".update" for name in names}
        if "memory_gate_suite" not in text:
            return names
        return names | {"update"} | set(_PROGRAM_OF_SUITE.findall(text))

    def has_file(self, name, folder):
        if "/" not in name:
            return name in self.base_names or name in self.others
        if name.startswith("footprint/"):
            # A generated header is named after its proto.
            name = re.sub(r"\.pb\.h$", ".proto", name[len("footprint/"):])
        paths = {name, folder + "/" + name} | {
            "/".join(folder.split("/")[:up]) + "/" + name for up in range(folder.count("/") + 1)}
        return (bool(paths & self.files) or name.split("/")[0] in self.others
                or any(path.endswith("/" + name) for path in self.files))

    def has_name(self, name):
        return bool({name, "k" + name} & self.identifiers) or name in self.others

    def has_label(self, package, target, importers):
        target = target or package.rpartition("/")[2]
        for root in importers:
            folder = root + package
            if folder in self.targets and (target in self.targets[folder]
                                           or (folder + "/" + target).lstrip("/") in self.files):
                return True
        return False


def words_of(line):
    """Returns the identifiers in a line of a comment or page that the tree must have."""
    if not line.startswith("   "):
        prose = _LABEL.sub(" ", line)
        return [match[1] for match in _CALL.finditer(prose)] + _TWO_WORDS.findall(prose)
    code = _IN_QUOTES.sub(" ", line)
    called = [match[1] or match[2] for match in _CALL_IN_EXAMPLE.finditer(code)]
    return called + _TWO_WORDS.findall(code) + _CONSTANT.findall(code)


def faults_of_line(line, folder, names, importers):
    """Returns a sentence for each missing name in the line."""
    found = []
    for match in _LABEL.finditer(line):
        if (match[1] or match[2]) and match[0] not in names.others and not names.has_label(match[1] or "", match[2], importers):
            found.append("no target %s" % match[0])
    for match in _FILE.finditer(_LABEL.sub(" ", line)):
        if not names.has_file(match[0], folder):
            found.append("no file %s" % match[0])
    return found + ["no name %s" % word for word in dict.fromkeys(words_of(line))
                    if not names.has_name(word)]


def check(tree, files, others):
    """Returns (faults, how many files were read)."""
    names = Names(tree, files, others)
    importers = [""] + sorted({"/".join(name.split("/")[:2]) + "/" for name in files
                               if name.startswith("examples/") and name.count("/") > 1})
    faults, count = [], 0
    for name in files:
        if name.startswith(_PAST) or not name.endswith((".md", ".h", ".cc")):
            continue
        text = (tree / name).read_text()
        count += 1
        folder = name.rpartition("/")[0]
        for number, line in (prose_of if name.endswith(".md") else comments_of)(text):
            faults += ["%s:%d: %s" % (name, number, fault)
                       for fault in faults_of_line(line, folder, names, importers)]
    return faults, count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", default=".")
    tree = pathlib.Path(parser.parse_args().tree)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=tree, check=True, capture_output=True, text=True).stdout
    files = [name for name in sorted(set(listed.split("\n")) - {""}) if (tree / name).is_file()]
    others = (tree / "tools/docs/names_of_others.txt").read_text()
    faults, count = check(tree, files, {line for line in others.split("\n") if line[:1] != "#"})
    print("\n".join(faults + ["names: %d files, %d faults" % (count, len(faults))]))
    sys.exit(1 if faults or not count else 0)


if __name__ == "__main__":
    main()
