#!/usr/bin/env python3
"""Checks that the pages of this tree say what its files say.

    check_docs.py --tree=.

In every page (*.md) but the decision records:
* The line above a fenced block is a tag.
  <!-- file: PATH -->           the block is that whole file
  <!-- file: PATH#REGION -->    the block is the lines between "region REGION" and
                                "endregion" in that file, whichever its comment sign
  <!-- command: TEST -->        the block's "$ " lines are commands; the file TEST,
                                which a test or CI runs, contains each of them, and
                                hands those whose output is quoted to check_outputs.py
  <!-- sketch -->               an outline that no tool could run, in docs/ only
* A relative link leads to a file, and to a heading where it names one; a picture
  is there.
* A package's README links each of its rooms, the folders below it that have a BUILD.
Exit 1 with file and line of each fault.
"""

import argparse
import pathlib
import re
import subprocess
import sys

_TAG = re.compile(r"<!-- (file|command|sketch)(?:: (\S+))? -->")
# A link, also of a picture; its text may span lines.
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
# A line that stands for any number of lines of output.
DOTS = "..."
# The way in which a test and .ci/run pass a command's output to check_outputs.py.
_COMPARED = ("--command='%s'", 'run_quoted "%s"')
_OUTSIDE = ("http:", "https:", "mailto:")


def blocks_of(text):
    """(line number of the fence, the line above it, content) of each fenced block."""
    lines = text.split("\n")
    found, start = [], None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start = number
        else:
            above = next((l for l in reversed(lines[:start]) if l.strip()), "")
            found.append((start + 1, above, "\n".join(lines[start + 1:number])))
            start = None
    return found


def commands_of(content, first_line=1):
    """(command, [(line number, quoted line)]) of each "$ " line of a block."""
    commands = []
    for number, line in enumerate(content.split("\n"), start=first_line):
        if line.startswith("$ "):
            commands.append((re.sub(r"\s+#.*", "", line[2:]).strip(), []))
        elif commands and line.strip() not in ("", DOTS):
            commands[-1][1].append((number, line))
    return commands


def without_blocks(text):
    """The text without code, its lines where they were."""
    return re.sub(r"(?ms)^```.*?^```", lambda block: "\n" * block[0].count("\n"),
                  re.sub(r"`[^`\n]+`", "", text))


def region_of(text, region):
    """The lines between the marks of `region`; None if there is no such region."""
    kept, inside, found = [], False, False
    for line in text.split("\n"):
        words = line.strip("/#<>!-* ;").split()
        if words[:1] == ["region"] and words[1:] == [region]:
            inside, found = True, True
        elif words[:1] == ["endregion"]:
            inside = False
        elif inside:
            kept.append(line)
    return "\n".join(kept) if found else None


def anchors_of(text):
    """The anchors of a page's headings."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in re.findall(r"(?m)^#+ (.*)$", text)
    }


class Checker:
    def __init__(self, tree):
        self.tree = tree
        self.faults = []

    def fault(self, page, line, text):
        self.faults.append("%s:%d: %s" % (page, line, text))

    def check_file_block(self, page, line, target, content):
        name, _, region = target.partition("#")
        path = self.tree / name
        if not path.is_file():
            return self.fault(page, line, "tag names %s, which does not exist" % name)
        wanted = path.read_text()
        if region:
            wanted = region_of(wanted, region)
            if wanted is None:
                return self.fault(page, line, "%s has no region %s" % (name, region))
        if content.strip("\n") != wanted.strip("\n"):
            self.fault(page, line, "the block is not what %s says" % target)

    def check_command_block(self, page, line, target, content):
        path = self.tree / target
        if not path.is_file():
            return self.fault(page, line, "tag names %s, which does not exist" % target)
        commands = commands_of(content)
        if not commands:
            self.fault(page, line, "the block has no line that begins with '$ '")
        text = path.read_text()
        for command, output in commands:
            if command not in text:
                self.fault(page, line, "%s does not run '%s'" % (target, command))
            elif output and not any(way % command in text for way in _COMPARED):
                self.fault(page, line, "%s does not compare the output of '%s' with what is quoted"
                           % (target, command))

    def check_block(self, page, line, above, content):
        match = _TAG.fullmatch(above.strip())
        kind = match[1] if match else None
        if kind == "file" and match[2]:
            self.check_file_block(page, line, match[2], content)
        elif kind == "command" and match[2]:
            self.check_command_block(page, line, match[2], content)
        elif kind != "sketch" or not str(page).startswith("docs/"):
            self.fault(page, line, "a code block needs a tag above it; see tools/docs/check_docs.py")

    def check_links(self, page, text):
        prose = without_blocks(text)
        for match in _LINK.finditer(prose):
            if not match[1].startswith(_OUTSIDE):
                number = 1 + prose.count("\n", 0, match.start())
                self.check_link(page, number, match[1], text)

    def check_link(self, page, number, link, text):
        name, _, anchor = link.partition("#")
        target = (self.tree / page).parent / name
        if name and not target.exists():
            self.fault(page, number, "link to %s, which does not exist" % name)
        elif anchor and anchor not in anchors_of(target.read_text() if name else text):
            self.fault(page, number, "link to %s: no such heading" % link)

    def check_rooms(self, page, text):
        folder = (self.tree / page).parent
        rooms = sorted(build.parent.name for build in folder.glob("*/BUILD"))
        for room in rooms if len(page.parts) == 2 else ():
            if not re.search(r"\]\(%s[/)]" % re.escape(room), text):
                self.fault(page, 1, "the page has no link to its room %s" % room)

    def check_page(self, page):
        text = (self.tree / page).read_text()
        self.check_links(page, text)
        if page.name == "README.md":
            self.check_rooms(page, text)
        if "decisions" not in page.parts:
            for line, above, content in blocks_of(text):
                self.check_block(page, line, above, content)


def pages_of(tree):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=tree, check=True, capture_output=True, text=True).stdout
    return [pathlib.PurePath(name) for name in sorted(set(listed.split("\n")) - {""})
            if (tree / name).exists()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", default=".")
    tree = pathlib.Path(parser.parse_args().tree)
    checker = Checker(tree)
    pages = pages_of(tree)
    for page in pages:
        checker.check_page(page)
    print("\n".join(checker.faults + [
        "docs: %d pages, %d faults" % (len(pages), len(checker.faults))]))
    sys.exit(1 if checker.faults or not pages else 0)


if __name__ == "__main__":
    main()
