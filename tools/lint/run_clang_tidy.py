#!/usr/bin/env python3
"""Runs clang-tidy over compile_commands.json, leaving out what passed before.

    run_clang_tidy.py --commands=compile_commands.json --cache=.cache/clang_tidy

A file is read again when it, its flags, .clang-tidy, or any header or proto of
the tree changed. Exit 1 when clang-tidy has something to say.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys


def tree_digest(root):
    """Returns a digest of everything that a source may include, and of the checks."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard",
         "*.h", "*.proto", ".clang-tidy"],
        cwd=root, check=True, capture_output=True, text=True).stdout
    digest = hashlib.sha256()
    for name in sorted(set(listed.split())):
        path = root / name
        if path.exists():
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def key_of(entry, root, common):
    digest = hashlib.sha256(common.encode())
    digest.update(json.dumps(entry["arguments"]).encode())
    digest.update((root / entry["file"]).read_bytes())
    return digest.hexdigest()


def check(entry, root, common, cache):
    """Returns clang-tidy's output for one file; empty if it has none."""
    stamp = cache / key_of(entry, root, common)
    if stamp.exists():
        return ""
    result = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(root),
         "--config-file=" + str(root / ".clang-tidy"), entry["file"]],
        cwd=entry["directory"], capture_output=True, text=True)
    if result.returncode == 0:
        stamp.touch()
        return ""
    return result.stdout + ("" if result.stdout else result.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--commands", required=True)
    parser.add_argument("--cache", required=True)
    args = parser.parse_args()
    root = pathlib.Path(args.commands).resolve().parent
    cache = pathlib.Path(args.cache)
    cache.mkdir(parents=True, exist_ok=True)
    with open(args.commands) as file:
        entries = json.load(file)
    common = tree_digest(root)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        words = pool.map(lambda entry: check(entry, root, common, cache), entries)
        for entry, word in zip(entries, words):
            if word:
                failed += 1
                print(word, flush=True)
    print("clang-tidy: %d of %d files are clean" % (len(entries) - failed, len(entries)),
          file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
