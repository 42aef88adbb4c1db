#!/usr/bin/env python3
"""Compares the container limit that memprof recommends with the least possible one.

    container_limit_check.py MEMPROF PROGRAMS [KIND ...]

PROGRAMS is a file such as testdata/container_programs/programs.txt, with the sources of its C
programs beside it. Each program runs alone, under memprof, in a control group with the
recommended limit, and then, by bisection, in smaller groups. The least limit is the smallest whole
MiB under which the program prints and returns the same as alone, within ten times its time and 5 s.
Only programs of the named kinds run; without a name all do. Needs root.

Prints a table in markdown. The goal is a recommendation of at most 1.15 times the least limit, or
the next MiB, since limits are whole MiB. Exits with 1 if a program does not end as alone within the recommended
limit, if none is recommended, or if a program cannot be measured. A program that is not installed
has a row that says so.
"""

import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "base/machine")
from memory_group import MemoryGroup  # noqa: E402

MIB = 1 << 20
GOAL = 1.15
# Commands may need these programs, which Debian's base lacks.
NEEDED = ("gcc", "g++", "make", "git", "node", "perl", "xz", "openssl", "python3")

Program = collections.namedtuple("Program", "kind name command")
End = collections.namedtuple("End", "status output seconds")


def read_programs(text):
    """Returns the programs of a list. Raises ValueError if a line belongs to none."""
    programs = []
    for number, line in enumerate(text.splitlines(), 1):
        heading = re.fullmatch(r"\[([a-z ]+)\] (.+)", line)
        if heading:
            programs.append(Program(heading[1], heading[2], ""))
        elif programs:
            programs[-1] = programs[-1]._replace(command=programs[-1].command + line + "\n")
        elif line and not line.startswith("#"):
            raise ValueError(f"line {number} is above the first [KIND] NAME: {line}")
    return programs


def find_missing(command):
    """Returns the first program that a command needs and this machine lacks, or an empty text."""
    if "$PROGRAMS" in command and not shutil.which("gcc"):
        return "gcc"
    words = set(re.findall(r"[\w+.-]+", command))
    missing = [name for name in NEEDED if name in words and not shutil.which(name)]
    missing += [path for path in re.findall(r"/usr/include/\S+", command) if not os.path.exists(path)]
    return missing[0] if missing else ""


class Check:
    """Runs programs, each in an empty folder of its own."""

    def __init__(self, memprof, folder):
        self._memprof = memprof
        self._folder = folder
        self._environment = {**os.environ, "PROGRAMS": str(folder), "LC_ALL": "C"}

    def compile(self, sources):
        for source in sorted(sources):
            subprocess.run(["gcc", "-O1", "-fno-builtin", "-pthread", "-o", self._folder / source.stem,
                            source], check=True)

    def run(self, command, seconds=None, group=None):
        """Returns how the program ended; its status is None if it took too long."""
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            process = subprocess.Popen(command, cwd=folder, env=self._environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL,
                                       preexec_fn=group.join if group else None)
            try:
                output, _ = process.communicate(timeout=seconds)
                status = process.returncode
            except subprocess.TimeoutExpired:
                group.kill_all()
                output, _ = process.communicate()
                status = None
        return End(status, output, time.monotonic() - begin)

    def ends_as_alone(self, program, alone, limit_bytes):
        command = ["bash", "-c", program.command]
        with MemoryGroup(limit_bytes) as group:
            end = self.run(command, 10 * alone.seconds + 5, group)
            group.kill_all()
        return (end.status, end.output) == (alone.status, alone.output)

    def recommend(self, program):
        """Returns what memprof says of the container, as the JSON of its report has it."""
        report = self._folder / "report.json"
        report.unlink(missing_ok=True)
        self.run([self._memprof, f"--json={report}", "bash", "-c", program.command])
        with contextlib.suppress(OSError, ValueError):
            return json.loads(report.read_text(encoding="utf-8"))["container_needs"]
        return {}

    def find_least(self, program, alone, enough_mib):
        """Returns the least limit in MiB, which is at most `enough_mib`."""
        low, high = 0, enough_mib
        while high - low > 1:
            middle = (low + high) // 2
            if self.ends_as_alone(program, alone, middle * MIB):
                high = middle
            else:
                low = middle
        return high

    def measure(self, program):
        """Returns the cells of a row behind its name, and what is not as expected or ""."""
        alone = self.run(["bash", "-c", program.command])
        if alone.status != 0:
            return "", f"ends with {alone.status} alone"
        needs = self.recommend(program)
        limit = int(needs.get("limit_bytes", 0)) // MIB
        if limit == 0:
            return "", f"no limit is recommended: {needs.get('unknown', 'memprof failed')}"
        kept = int(needs.get("mapped_file_bytes", 0)) // MIB
        if not self.ends_as_alone(program, alone, limit * MIB):
            return f"{limit} | {kept} | more | | ", f"does not end as alone within {limit} MiB"
        least = self.find_least(program, alone, limit)
        goal = "met" if limit <= GOAL * least or limit - least <= 1 else "missed"
        return f"{limit} | {kept} | {least} | {limit / least:.2f} | {goal}", ""


def main(arguments):
    if os.geteuid() != 0:
        return "container_limit_check: needs root, to make control groups"
    memprof = os.path.realpath(arguments[0])
    path = pathlib.Path(arguments[1])
    programs = read_programs(path.read_text(encoding="utf-8"))
    faults = []
    print("| kind | program | recommended, MiB | for mapped files, MiB | least, MiB | ratio | goal of 1.15 |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as name:
        check = Check(memprof, pathlib.Path(name))
        if shutil.which("gcc"):
            check.compile(path.parent.glob("*.c"))
        for program in programs:
            if arguments[2:] and program.kind not in arguments[2:]:
                continue
            missing = find_missing(program.command)
            row, fault = (f"NOT TESTED: no {missing}", "") if missing else check.measure(program)
            print(f"| {program.kind} | {program.name} | {row or fault} |", flush=True)
            if fault:
                faults.append(f"{program.name}: {fault}")
    for fault in faults:
        print(f"FAILED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
