#!/usr/bin/env python3
"""Checks that a sentence of a comment or a page has a subject.

    check_prose.py --tree=. [FOLDER ...]

A statement that begins with a headless "what" ("What loads cost.") makes its reader
look for the noun. It is refused at the start of a comment, of a sentence in one, of a
docstring, a heading, a list's item or a sentence of a page; a question ends with "?".
The past (CHANGELOG.md, docs/decisions) stays as it is. With folders, only files below
them. Exit 1 with file and line of each fault.
"""

import argparse
import io
import pathlib
import re
import subprocess
import sys
import tokenize

import check_names

_SHELL_LIKE = (".sh", ".bazelrc", ".textproto", ".txt", "WORKSPACE")
_CPP_LIKE = (".h", ".cc", ".proto", ".js")
_SENTENCE_END = re.compile(r"(?<=[.!?:])[\"')]*\s+")
_HEADLESS = re.compile(r"[\"'(*_#\-\d.\s]*(?:What|WHAT)\b(?! if\b)")
_HEADLESS_START = re.compile(r"[\"'(*_#\-\d.\s]*what\b(?! if\b)", re.I)
# A new block in a page: a heading, an item, a cell of a table.
_NEW_BLOCK = re.compile(r"^\s*(?:#|[*-] |\d+\. |\||>)")


def faults_in_block(lines):
    """Numbers of lines at which a headless sentence begins; `lines` are numbered."""
    text = ""
    starts = []
    for number, line in lines:
        starts.append((len(text), number))
        text += line.strip() + " "
    at = 0
    for match in [*_SENTENCE_END.finditer(text), None]:
        end = match.end() if match else len(text)
        sentence = text[at:end].strip()
        pattern = _HEADLESS if at else _HEADLESS_START
        if pattern.match(sentence) and not sentence.rstrip("\"')*").endswith("?"):
            first = at + len(text[at:]) - len(text[at:].lstrip())
            yield max(number for offset, number in starts if offset <= first)
        at = end


def blocks(numbered):
    """Runs of consecutive lines, cut at empty ones and before one that begins anew."""
    block, last = [], None
    for number, line, *begins in numbered:
        if block and (number != last + 1 or not line.strip() or any(begins)):
            yield block
            block = []
        if line.strip():
            block.append((number, line))
            last = number
    if block:
        yield block


def hash_comments(text):
    """Of files whose comments begin with a number sign; one behind code begins anew."""
    for number, line in enumerate(text.split("\n"), start=1):
        own = re.match(r"\s*#+(?!!| shellcheck )(.*)", line)
        behind = None if own else re.search(r"\s{2}# (.*)", line)
        if own or behind:
            yield number, (own or behind)[1], behind is not None


def python_prose(text):
    """Comments and docstrings."""
    found = []
    previous = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            found.append((token.start[0], token.string.lstrip("# ")))
        elif token.type == tokenize.STRING and previous in (tokenize.NEWLINE, tokenize.INDENT, tokenize.NL):
            content = re.sub(r'^[rbuRBU]*"{1,3}|"{1,3}$', "", token.string)
            found += [(token.start[0] + i, line) for i, line in enumerate(content.split("\n"))]
        if token.type not in (tokenize.COMMENT,):
            previous = token.type
    return found


def page_blocks(text):
    block = []
    last = None
    for number, line in check_names.prose_of(text):
        if block and (not line.strip() or _NEW_BLOCK.match(line) or number != last + 1
                      or block[-1][1].startswith("#")):
            yield block
            block = []
        if line.startswith("|"):
            # A column's head of one word is a name.
            yield from ([(number, cell)] for cell in line.split("|") if len(cell.split()) > 1)
        elif line.strip():
            block.append((number, line))
            last = number
    if block:
        yield block


def blocks_of(name, text):
    if name.endswith(".md"):
        return page_blocks(text)
    if name.endswith(_CPP_LIKE):
        return blocks(check_names.comments_of(text))
    if name.endswith(".py"):
        return blocks(python_prose(text))
    if name.endswith(("BUILD", ".bzl")):
        docstrings = re.finditer(r'^\s*"""(.*?)"""', text, re.S | re.M)
        return [*blocks(hash_comments(text)),
                *([(1 + text.count("\n", 0, match.start(1)), match[1])] for match in docstrings)]
    if name.endswith(_SHELL_LIKE) or name in ("tools/dev", ".ci/run"):
        return blocks(hash_comments(text))
    return []


def faults_of(name, text):
    """Line numbers."""
    return sorted({line for block in blocks_of(name, text) for line in faults_in_block(block)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, default=".")
    parser.add_argument("folders", nargs="*", type=lambda text: text.rstrip("/"))
    args = parser.parse_args()
    listed = subprocess.run(["git", "-C", str(args.tree), "ls-files", "--cached", "--others",
                             "--exclude-standard"], check=True, capture_output=True, text=True)
    count = faults = 0
    for name in listed.stdout.splitlines():
        path = args.tree / name
        if "/testdata/" in name or name.startswith(("CHANGELOG", "docs/decisions/")) or not path.is_file():
            continue
        if args.folders and not any(name.startswith(folder + "/") for folder in args.folders):
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        count += 1
        for line in faults_of(name, text):
            faults += 1
            print("%s:%d: a sentence begins with a headless \"what\"" % (name, line))
    print("prose: %d files, %d faults" % (count, faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
