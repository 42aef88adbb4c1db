#!/usr/bin/env python3
"""Finds data that is touched without its mutex, and mutexes that guard nothing.

    check_locks.py --tree=. --work=.cache/locks

Clang compiles, without writing objects, the sources that use a mutex of
base/threads or include a header that does, with its thread-safety analysis as an
error. Another kind of mutex, which the analysis does not see, is an error
outside of base/threads, and so is a mutex that no annotation names. Exit 1 with
a line for each.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOM = "base/threads/"
FLAGS = ["-fsyntax-only", "-std=c++17", "-fsized-deallocation", "-Wno-everything",
         "-Werror=thread-safety",
         # The header of cpp-httplib uses TLS; gates/server/BUILD has the same.
         "-DCPPHTTPLIB_OPENSSL_SUPPORT"]
_INCLUDE = re.compile(r'^\s*#\s*include "footprint/([^"]+)"', re.M)
# Kinds that clang's analysis does not know, and locks made by hand.
_OTHER_MUTEX = re.compile(
    r"\bstd::(?:\w+_)?mutex\b|\bpthread_(?:mutex|spinlock|rwlock)_t\b|\babsl::Mutex\b"
    r"|\bstd::atomic_flag\b|\bmtx_t\b|\bwhile \([\w.>-]+(?:\.|->)exchange\(true")
_OWN_MUTEX = re.compile(r"^ *(?:(?:mutable|static|inline|extern) )*"
                        r"(?:Mutex|PthreadMutex|SpinLock) (\w+)(?: = [^;]*)?;", re.M)
# A file may be compiled in several ways; HAS stands for a library that may be
# absent.
_VARIANT = re.compile(
    r"^#\s*if(?:n?def| defined\() ?(FOOTPRINT_(?!HAS_)\w+(?<!_H_))\b", re.M)


def without_comments(text):
    """Returns the code alone, with each line in its place."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)


def _line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def other_mutexes(texts):
    """Returns a line for each mutex that the analysis does not see."""
    found = []
    for name, text in sorted(texts.items()):
        code = without_comments(text)
        if name.startswith(ROOM) or "ABSL_LOCKABLE" in code:
            continue
        found += ["%s:%d: %s: clang checks the use of a Mutex or PthreadMutex of %s alone"
                  % (name, _line_of(code, match.start()), match[0].strip(), ROOM.rstrip("/"))
                  for match in _OTHER_MUTEX.finditer(code)]
    return found


def mutexes_that_guard_nothing(texts):
    """Returns a line for each mutex that no annotation of its file names."""
    found = []
    for name, text in sorted(texts.items()):
        if name.startswith(ROOM):
            continue
        code = without_comments(text)
        for match in _OWN_MUTEX.finditer(code):
            if not re.search(r"(?:GUARDED_BY|LOCKS_REQUIRED)\([^)]*\b%s\)" % match[1], code):
                found.append("%s:%d: %s guards nothing: say ABSL_GUARDED_BY(%s) after what it guards"
                             % (name, _line_of(code, match.start()), match[1], match[1]))
    return found


def sources_to_check(texts):
    """Returns the sources that include a header of base/threads, or have annotations themselves."""
    includes = {name: _INCLUDE.findall(text) for name, text in texts.items()}
    known = {}

    def reaches(name):
        if name not in known:
            known[name] = False  # in a circle
            known[name] = (name.startswith(ROOM) or "thread_annotations.h" in texts.get(name, "")
                           or any(reaches(other) for other in includes.get(name, [])))
        return known[name]

    return [name for name in sorted(texts) if name.endswith(".cc") and reaches(name)]


def variants(text):
    """Returns lists of flags: an empty one, and one for each macro that changes the source."""
    return [[]] + [["-D" + macro] for macro in sorted(set(_VARIANT.findall(text)))]


def check_source(source, include_folders, extra=()):
    """Returns findings of clang in a source; empty if there are none."""
    command = ["clang++", *FLAGS, *extra, *("-I%s" % folder for folder in include_folders),
               str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return ""
    return result.stderr or "%s: clang++ exits with %d\n" % (source, result.returncode)


def _read_tree(root):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")
    names = sorted({name for name in listed if name and (root / name).is_file()
                    and not re.search(r"^(examples|third_party)/|(^|/)testdata/", name)})
    texts = {name: (root / name).read_text() for name in names if name.endswith((".h", ".cc"))}
    return texts, [name for name in names if name.endswith(".proto")]


def prepare_includes(root, work, protos):
    """Returns the folders of includes: those of "footprint/...", and the root.

    Highway's foreach_target.h includes a source again by its path from the root.
    """
    tree, generated = work / "tree", work / "generated"
    tree.mkdir(parents=True, exist_ok=True)
    generated.mkdir(exist_ok=True)
    link = tree / "footprint"
    # The folder may belong to another tree, which may no longer exist.
    link.unlink(missing_ok=True)
    link.symlink_to(root.resolve(), target_is_directory=True)
    subprocess.run(["protoc", "-I%s" % tree, "--cpp_out=%s" % generated,
                    *(str(link / name) for name in protos)], check=True)
    return [tree, generated, root]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", default=".")
    parser.add_argument("--work", required=True, help="folder for the output of protoc")
    args = parser.parse_args()
    root = pathlib.Path(args.tree)
    texts, protos = _read_tree(root)
    found = other_mutexes(texts) + mutexes_that_guard_nothing(texts)
    folders = prepare_includes(root, pathlib.Path(args.work), protos)
    jobs = [(name, variant) for name in sources_to_check(texts) for variant in variants(texts[name])]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = pool.map(lambda job: check_source(root / job[0], folders, job[1]), jobs)
        found += [output.rstrip() for output in outputs if output]
    for line in found:
        print(line)
    print("locks: %d compilations, %d findings" % (len(jobs), len(found)))
    sys.exit(1 if found or not jobs else 0)


if __name__ == "__main__":
    main()
