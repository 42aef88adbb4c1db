#!/usr/bin/env python3
"""Plants faults one at a time and sees whether the tests catch them.

    mutate.py --tree=. PACKAGE

PACKAGE/mutations.txt holds one fault a line, FILE<TAB>OLD TEXT<TAB>NEW TEXT:
FILE is relative to the package, and OLD TEXT stands exactly once in it. Lines
that begin with # are comments. A line "tests<TAB>PATTERN ..." names the Bazel
target patterns to run, in place of the package's own tests. A line
"first<TAB>FILE<TAB>PATTERN ..." names tests that are likely to see a fault of
that file: they run alone before all the others, which run only if those pass.
Without such a line that is the test named after the file, if there is one.

`--sample=40` plants so many of them, drawn by `--seed`; the share that is caught
then has Wilson's 95 % interval.

`--generated` plants faults that a parser of C++ finds, in place of the list: see
generated.py.

The faults go into a copy of the tree with an output root of its own, so neither
the tree nor its build results are touched. A fault is caught when it does not
compile or when a test fails or exceeds the time limit; it survives when every
test passes. Exit 0 when at least 95 % are caught; 1 when fewer are, when the
list is stale or has fewer than 20 faults; 2 when the tests fail without a fault.
"""

import argparse
import dataclasses
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import equivalents
from wilson_interval import wilson_interval

MINIMUM_FAULTS = 20
REQUIRED_SHARE = 0.95
GENERATED_SAMPLE = 200
# Exit statuses of `bazel test`.
BUILD_FAILED, TESTS_FAILED, NO_TESTS = 1, 3, 4


@dataclasses.dataclass(frozen=True)
class Fault:
    line: int
    file: str
    old: str
    new: str

    def planted(self, text):
        """`text` with the fault; ValueError unless `old` stands in it once."""
        count = text.count(self.old)
        if count != 1:
            raise ValueError(
                "line %d: %r stands %d times in %s, not once"
                % (self.line, self.old, count, self.file)
            )
        return text.replace(self.old, self.new)


@dataclasses.dataclass
class Listing:
    """Content of a mutations.txt."""
    faults: list
    patterns: list = None  # of all tests; None: the package's own
    first: dict = dataclasses.field(default_factory=dict)  # patterns by file


def parse(text):
    listing = Listing([])
    seen = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if line in seen:
            # A fault that stands twice would count twice.
            raise ValueError("line %d stands twice: %r" % (number, line))
        seen.add(line)
        fields = line.split("\t")
        if fields[0] == "tests" and len(fields) == 2:
            listing.patterns = fields[1].split()
        elif fields[0] == "first" and len(fields) == 3:
            listing.first[fields[1]] = fields[2].split()
        elif len(fields) == 3 and fields[0] and fields[1]:
            if fields[1] == fields[2]:
                raise ValueError("line %d: the new text is the old text" % number)
            listing.faults.append(Fault(number, *fields))
        else:
            raise ValueError(
                "line %d: want FILE<TAB>OLD TEXT<TAB>NEW TEXT, got %r" % (number, line)
            )
    return listing


def tests_to_run_first(listing, folder, package, file):
    """Target patterns, or none where no test is known to be near."""
    if file in listing.first:
        return listing.first[file]
    path = pathlib.PurePath(file)
    room = folder / path.parent
    near = [room / (path.stem + "_test" + ending) for ending in (".cc", ".sh", ".py")]
    named = '"%s_test"' % path.stem
    in_build = named in (room / "BUILD").read_text() if (room / "BUILD").is_file() else False
    if in_build and any(path.is_file() for path in near):
        return ["//%s:%s_test" % (pathlib.PurePath(package) / path.parent, path.stem)]
    return []


def problems(faults, folder):
    """Why the list cannot be used: stale texts, missing files."""
    found = []
    for fault in faults:
        try:
            fault.planted((folder / fault.file).read_text())
        except (OSError, ValueError) as error:
            found.append(str(error))
    return found


def copy_tree(tree, copy):
    """Copies what is committed or about to be; a folder without git, whole."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."],
        cwd=tree, capture_output=True, text=True)
    if listed.returncode:
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns("bazel-*"))
        return
    # A person's own flags, such as a cache's place, are not committed.
    for name in set(listed.stdout.split("\0")) - {""} | {"user.bazelrc"}:
        source = tree / name
        if source.is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy / name)


class Tests:
    """The tests of a package in a copy of the tree."""

    def __init__(self, copy, output_root, patterns, timeout_seconds):
        self._command = [
            "bazel", "--output_user_root=%s" % output_root, "test", "--noshow_progress",
            "--test_output=errors", "--notest_keep_going",
            # A fault may loop for ever: bound each test, too.
            "--test_timeout=%d" % timeout_seconds, "--"]
        self._patterns = patterns
        self._copy = copy
        self._timeout_seconds = timeout_seconds

    def run(self, patterns=None, limit=True):
        """Bazel's exit code, or None for "took too long", and its output."""
        command = [*self._command, *(patterns or self._patterns)]
        with tempfile.TemporaryFile(mode="w+", errors="replace") as output:
            process = subprocess.Popen(
                command, cwd=self._copy, stdout=output, stderr=output,
                start_new_session=True)
            try:
                code = process.wait(2 * self._timeout_seconds + 60 if limit else None)
            except subprocess.TimeoutExpired:
                # Bazel cancels the invocation at the first interrupt.
                os.killpg(process.pid, signal.SIGINT)
                process.wait()
                code = None
            output.seek(0)
            return code, output.read()

    def stop(self):
        subprocess.run([*self._command[:2], "shutdown"], cwd=self._copy, capture_output=True)


def judge(code):
    """Verdict on the planted fault, from an exit code of the tests; None if Bazel failed."""
    known = {0: "survived", BUILD_FAILED: "caught by the compiler",
             TESTS_FAILED: "caught by a test", None: "caught by the time limit"}
    return known.get(code)


def run_tests(tests, first):
    """Those that are likely to fail, then all unless one did."""
    code, output = tests.run(first) if first else (0, "")
    return tests.run() if code == 0 else (code, output)


def plant_all(listing, faults, folder, package, tests):
    """Runs the tests with each fault; the faults that survived."""
    survivors = []
    for number, fault in enumerate(faults, start=1):
        first = tests_to_run_first(listing, folder, package, fault.file)
        path = folder / fault.file
        original = path.read_text()
        start = time.monotonic()
        path.write_text(fault.planted(original))
        try:
            code, output = run_tests(tests, first)
        finally:
            path.write_text(original)
        verdict = judge(code)
        if verdict is None:
            raise SystemExit("bazel itself failed (exit %d):\n%s" % (code, output[-2000:]))
        if code == 0:
            survivors.append(fault)
        print("[%d/%d] %s in %.1f s: %s: %r -> %r" % (
            number, len(faults), verdict, time.monotonic() - start,
            fault.file, fault.old, fault.new), flush=True)
    return survivors


def usable_listing(tree, package, minimum_faults):
    """Listing of the package's mutations.txt; None, with the reasons printed, if it is stale."""
    path = tree / package / "mutations.txt"
    if not path.is_file():
        print("mutate: %s does not exist; the format is in mutate.py" % path, file=sys.stderr)
        return None
    try:
        listing = parse(path.read_text())
    except ValueError as error:
        print("mutate: %s: %s" % (path, error), file=sys.stderr)
        return None
    stale = problems(listing.faults, tree / package)
    stale += ["first: %s does not exist" % name for name in listing.first
              if not (tree / package / name).is_file()]
    if len(listing.faults) < minimum_faults:
        stale.append("%d faults, fewer than %d" % (len(listing.faults), minimum_faults))
    if stale:
        print("\n".join("mutate: %s: %s" % (path, text) for text in stale), file=sys.stderr)
        return None
    return listing


def fresh_copy(tree, output_root):
    # The same path each time keeps the output root useful between runs.
    copy = pathlib.Path(output_root) / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    copy_tree(tree, copy)
    return copy


def mutate(tree, package, listing, sampled, timeout_seconds, output_root):
    """Plants the sampled faults of a listing in a copy of the tree; the exit code."""
    copy = fresh_copy(tree, output_root)
    tests = Tests(copy, output_root, listing.patterns or ["//%s/..." % package],
                  timeout_seconds)
    try:
        return report(listing, sampled, copy / package, package, tests)
    finally:
        tests.stop()


def drawn(faults, sample, seed):
    """So many of the faults as in a list of their own, in the list's order."""
    if sample is None or sample >= len(faults):
        return faults
    chosen = set(random.Random(seed).sample(range(len(faults)), sample))
    return [fault for at, fault in enumerate(faults) if at in chosen]


def caught_line(caught, planted, listed):
    """Counts and share; of a sample also where the list's own share may be."""
    line = "%d of %d faults caught (%.0f %%" % (caught, planted, 100 * caught / planted)
    if planted < listed:
        low, high = wilson_interval(caught, planted)
        line += "; %.1f to %.1f %% of the %d listed" % (100 * low, 100 * high, listed)
    return line + ")"


def report(listing, sampled, folder, package, tests):
    """Runs the tests without and with each fault; prints the result; the exit code."""
    code, output = tests.run(limit=False)
    if code != 0:
        print(output[-4000:], file=sys.stderr)
        print("mutate: the tests fail without a fault (exit %s)" % code, file=sys.stderr)
        return 2
    start = time.monotonic()
    survivors = plant_all(listing, sampled, folder, package, tests)
    caught = len(sampled) - len(survivors)
    for fault in survivors:
        print("survived: %s: %r -> %r" % (fault.file, fault.old, fault.new))
    print("mutate: %s in %.0f s" % (
        caught_line(caught, len(sampled), len(listing.faults)), time.monotonic() - start))
    return 0 if caught >= REQUIRED_SHARE * len(sampled) else 1


def check_lists(tree, package, minimum_faults):
    """Whether the package's lists fit its sources; the exit code."""
    listing = usable_listing(tree, package, minimum_faults)
    stale = equivalents.stale_equivalents(tree / package)
    for text in stale:
        print("mutate: " + text, file=sys.stderr)
    return 1 if listing is None or stale else 0


def plant_generated(tree, package, args, output_root):
    # Needs clang's parser, which lists do without.
    import generated  # pylint: disable=import-outside-toplevel

    return generated.run(tree, fresh_copy(tree, output_root), package, args)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("want a number above 0, got %s" % text)
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("package")
    parser.add_argument("--tree", default=".")
    parser.add_argument("--timeout_seconds", type=int, default=120, help="for each test")
    parser.add_argument("--output_root", help="Bazel's output root and the copy of the tree")
    parser.add_argument("--minimum_faults", type=int, default=MINIMUM_FAULTS)
    parser.add_argument("--check_list", action="store_true", help="only look for stale faults")
    parser.add_argument("--generated", action="store_true", help="faults of a parser's finding")
    parser.add_argument("--sample", type=positive,
                        help="how many; by default all of a list, %d generated" % GENERATED_SAMPLE)
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--only", default="", help="a regular expression for files to sample")
    parser.add_argument("--again", action="store_true", help="judge known survivors once more")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def main():
    args = parse_arguments()
    tree = pathlib.Path(args.tree).resolve()
    package = args.package.strip("/")
    if args.check_list:
        sys.exit(check_lists(tree, package, args.minimum_faults))
    output_root = args.output_root or os.path.join(
        os.environ.get("FOOTPRINT_OUTPUT_USER_ROOT") or os.path.expanduser("~/.cache/bazel"),
        "footprint_mutate", package.replace("/", "_") + ("_generated" if args.generated else ""))
    os.makedirs(output_root, exist_ok=True)
    if args.generated:
        args.sample = args.sample or GENERATED_SAMPLE
        sys.exit(plant_generated(tree, package, args, output_root))
    listing = usable_listing(tree, package, args.minimum_faults)
    if listing is None:
        sys.exit(1)
    sampled = drawn(listing.faults, args.sample, args.seed)
    sys.exit(mutate(tree, package, listing, sampled, args.timeout_seconds, output_root))


if __name__ == "__main__":
    main()
