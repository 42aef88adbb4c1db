#!/usr/bin/env python3
"""Looks whether each fuzz target finds the fault that is planted in its parser.

    tools/dev fuzz --planted [TARGET ...] [--seconds=N]

The faults are those of planted_faults.txt, planted one at a time in a copy of the
tree, so a target cannot find another's. Each target is built with its fault and
begins with the one file of its corpus that the list names, which shows nothing by
itself, and with the dictionary of its format, if there is one. A line for each:
the seconds and runs until it was found.

Exit 0: all were found; 1: some were not; 2: wrong use, a stale list or a target
that does not build.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mutate"))
import mutate  # noqa: E402
import plant_faults  # noqa: E402

# The limits are those of fuzz.sh.
LIMITS = ["-max_len=8192", "-rss_limit_mb=2048", "-timeout=10"]


class Failure(Exception):
    """A caller's mistake, or a target that cannot be tried."""


@dataclasses.dataclass
class Found:
    is_found: bool
    seconds: float
    runs: int
    by: str = ""


def room_of(tree, target):
    """Returns the folder, relative to the tree, whose BUILD declares the target."""
    name = '"%s_fuzz_test"' % target
    rooms = [path.parent.relative_to(tree) for path in tree.rglob("BUILD")
             if name in path.read_text() and "bazel-" not in str(path)]
    if len(rooms) != 1:
        raise Failure("%s: %d BUILD files declare it, not one" % (target, len(rooms)))
    return rooms[0]


def planted(fault, tree):
    """Plants the fault. Returns the file and its text without the fault."""
    file = tree / fault[2]
    before = file.read_text()
    file.write_text(plant_faults.changed([fault], lambda _: before)[fault[2]])
    return file, before


def build(copy, label):
    root = os.environ.get("FOOTPRINT_OUTPUT_USER_ROOT")
    command = ["bazel", *(["--output_user_root=" + root] if root else []), "build",
               "--noshow_progress", "--config=fuzz", label]
    result = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Failure("%s does not build:\n%s" % (label, result.stderr[-2000:]))


def number_of_runs(log):
    counts = re.findall(r"stat::number_of_executed_units: *(\d+)", log) or re.findall(
        r"^#(\d+)\t", log, re.M)
    return int(counts[-1]) if counts else 0


def why(log):
    """Returns the first message of the target or the sanitizer."""
    said = re.search(r"^fuzz target: (.*)|ERROR: (?:AddressSanitizer|libFuzzer): (.*)", log, re.M)
    return (said[1] or said[2])[:70] if said else "another exit"


def run_target(program, corpus, dictionary, seconds):
    command = [str(program), *LIMITS, "-print_final_stats=1", "-artifact_prefix=%s/" % corpus.parent,
               "-max_total_time=%d" % seconds]
    if dictionary.is_file():
        command.append("-dict=%s" % dictionary)
    start = time.monotonic()
    result = subprocess.run([*command, str(corpus)], capture_output=True, text=True, check=False,
                            errors="replace")
    log = result.stderr
    return Found(result.returncode != 0, time.monotonic() - start, number_of_runs(log),
                 why(log) if result.returncode else "")


def shows_nothing(program, seed):
    result = subprocess.run([str(program), *LIMITS, str(seed)], capture_output=True, check=False)
    return result.returncode == 0


def look_for(fault, copy, seconds):
    target, seed = fault[:2]
    room = room_of(copy, target)
    file, before = planted(fault, copy)
    try:
        build(copy, "//%s:%s_fuzz" % (room, target))
        program = copy / "bazel-bin" / room / (target + "_fuzz")
        seed_file = copy / room / "testdata" / (target + "_fuzz") / seed
        if not shows_nothing(program, seed_file):
            raise Failure("%s: its seed %s alone shows the fault" % (target, seed))
        with tempfile.TemporaryDirectory() as scratch:
            corpus = pathlib.Path(scratch) / "corpus"
            corpus.mkdir()
            shutil.copy(seed_file, corpus)
            return run_target(program, corpus, copy / room / "testdata" / (target + "_fuzz.dict"), seconds)
    finally:
        file.write_text(before)


def chosen(faults, targets):
    known = {fault[0] for fault in faults}
    for target in targets:
        if target not in known:
            raise Failure("no fault is planted for '%s'; there are: %s" % (target, " ".join(sorted(known))))
    return [fault for fault in faults if not targets or fault[0] in targets]


def look_for_all(options):
    faults = chosen(plant_faults.faults_of(plant_faults.LIST.read_text()),
                    [target[:-len("_fuzz")] if target.endswith("_fuzz") else target
                     for target in options.targets])
    copy = options.copy or options.tree / ".cache" / "fuzz" / "planted"
    shutil.rmtree(copy, ignore_errors=True)
    mutate.copy_tree(options.tree, copy)
    missed = []
    for fault in faults:
        found = look_for(fault, copy, options.seconds)
        print("%-24s %-9s after %6.1f s, %8d runs%s" % (
            fault[0], "found" if found.is_found else "NOT FOUND", found.seconds, found.runs,
            ": " + found.by if found.by else ""), flush=True)
        if not found.is_found:
            missed.append(fault[0])
    print("fuzz: %d of %d planted faults found" % (len(faults) - len(missed), len(faults)))
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path())
    parser.add_argument("--copy", type=pathlib.Path, help="folder of the copy of the tree")
    parser.add_argument("--seconds", type=int, default=600)
    options = parser.parse_args()
    options.tree = options.tree.resolve()
    try:
        return look_for_all(options)
    except (Failure, ValueError) as error:
        print("fuzz: %s" % error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
