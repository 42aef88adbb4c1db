"""`tools/dev mutate`: a sample of all small faults, judged by a package's tests.

The mutants (operators.py) of a package's sources are drawn by a seed. Those of
the sample are compiled in at once, each behind a switch (schemata.py), so a
package is built once. One run of its tests without a mutant records how each test
is started and which mutants it comes by. Then each mutant meets the tests that
reach it, those of its name and room first, until one fails. One that survives is planted
into its source alone, and Bazel builds and runs the tests: a program may have been
started without the environment that turns switches, as a sandbox starts its programs.

    sample        mutants that compile, drawn without replacement
    not compiled  drawn, but no switch can be there: constant expressions, types;
                  or what runs while it is compiled only
    equivalent    listed in PACKAGE/equivalent_mutations.txt with the reason
    killed        a test failed or took too long
    survived      every test that reaches it passed
    score         killed of killed and survived, with Wilson's 95 % interval

Results are written down after each mutant, and a run that was cut off goes on
there: a test whose sources are as they were keeps its records. Not tried: sources
that no test of the package can reach (tagged `manual`, testonly), code that a
preprocessor leaves out, and the figures of profiles, which are build actions and
run without a mutant.
"""

import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

from equivalents import EQUIVALENT_LIST, read_equivalents, stale_equivalents
import operators
import schemata
from wilson_interval import wilson_interval

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "lint"))
import check_locks  # noqa: E402

REQUIRED_SCORE = 0.95
ATTEMPTS_TO_BUILD = 8
# A mutant may allocate or write for ever. (One test maps 64 GiB that it does
# not use.)
MOST_ADDRESS_SPACE, MOST_FILE_BYTES = 256 << 30, 4 << 30
SECONDS_OF_A_TEST_ALONE = 300
PLANTED_ALONE = "planted alone"
BUILD_FAILED, TESTS_FAILED = 1, 3

KILLED, SURVIVED, NOT_COMPILED, EQUIVALENT = "killed", "survived", "not compiled", "equivalent"

# The way in which Bazel starts a test, kept to start it again by hand; times
# are by the clock.
RECORDER = r"""#!/usr/bin/env bash
name=${TEST_TARGET//[\/:]/_}${TEST_SHARD_INDEX:+_shard_$TEST_SHARD_INDEX}
file=$(dirname "$0")/recorded/$name
rm -f "$file.result" "$file.reached"
printf '%s\0' "$TEST_TARGET" "$PWD" "$@" >"$file.command"
env -0 >"$file.environment"
truncate -s "$(cat "$(dirname "$0")/reached_bytes")" "$file.reached"
export FOOTPRINT_MUTANTS_REACHED=$file.reached
start=$(date +%s%N)
"$@"
status=$?
echo "$status $((($(date +%s%N) - start) / 1000000))" >"$file.result"
exit "$status"
"""


# The files and the tests.


@dataclasses.dataclass
class Rule:
    name: str
    sort: str
    sources: list
    inputs: list
    is_testonly: bool
    is_manual: bool

    @property
    def is_test(self):
        return self.sort.endswith("_test") or self.sort == "test_suite"


def read_rules(query_xml):
    rules = {}
    for element in xml.etree.ElementTree.fromstring(query_xml).iter("rule"):
        labels = [label.get("value") for name in ("srcs", "hdrs", "textual_hdrs")
                  for part in element.findall("list[@name='%s']" % name)
                  for label in part.findall("label")]
        tags = [tag.get("value") for tag in element.findall("list[@name='tags']/string")]
        testonly = element.find("boolean[@name='testonly']")
        rules[element.get("name")] = Rule(
            element.get("name"), element.get("class"), labels,
            [part.get("name") for part in element.findall("rule-input")],
            testonly is not None and testonly.get("value") == "true", "manual" in tags)
    return rules


def path_of(label):
    return label.lstrip("/").replace(":", "/", 1).lstrip("/")


def reachable(rules, start):
    """Returns the labels of all that a target is made from."""
    seen, todo = set(), [start]
    while todo:
        label = todo.pop()
        if label not in seen:
            seen.add(label)
            todo += rules[label].inputs if label in rules else []
    return seen


def sources_to_mutate(rules, package):
    """Returns the production files that a test of the package is made from, sorted."""
    reached = set()
    for rule in rules.values():
        if rule.is_test and not rule.is_manual:
            reached |= reachable(rules, rule.name)
    files = set()
    for rule in rules.values():
        if rule.name not in reached or rule.is_test or rule.is_testonly or not rule.sort.startswith("cc_"):
            continue
        files |= {path_of(label) for label in rule.sources
                  if label.startswith("//" + package) and label.endswith((".cc", ".h"))}
    return sorted(files)


def tests_of(rules, files):
    """Returns the tests that are made from at least one of the files."""
    files = set(files)
    return sorted(rule.name for rule in rules.values()
                  if rule.is_test and rule.sort != "test_suite" and not rule.is_manual
                  and any(path_of(label) in files for label in reachable(rules, rule.name)))


# The mutants.


def flags_for(tree, copy, work):
    """Returns clang's arguments for the sources of `tree`; `copy` has only what belongs to it."""
    listed = [path.relative_to(copy).as_posix() for path in copy.rglob("*.proto")]
    protos = [name for name in listed if "testdata" not in name
              and not name.startswith(("examples/", "third_party/"))]
    folders = check_locks.prepare_includes(tree, work, protos)
    return ["-xc++", "-std=c++17", "-fsized-deallocation", "-Wno-everything",
            "-isystem/usr/include/eigen3", *("-I%s" % folder for folder in folders)]


def find_in_file(tree, name, flags):
    try:
        return name, operators.find_mutants(name, tree / name, flags), None
    except operators.NotParsed as error:
        return name, [], str(error)


def hash_of(*texts):
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def find_all(tree, names, flags, work, jobs):
    """Returns the mutants of all files, and why some files could not be parsed."""
    cache_file = work / "found.json"
    cache = json.loads(cache_file.read_text()) if cache_file.is_file() else {}
    version = pathlib.Path(operators.__file__).read_text()
    # A file that could not be parsed may be parsed with other flags.
    keys = {name: hash_of(version, *flags, name, (tree / name).read_text()) for name in names}
    new = [name for name in names if keys[name] not in cache]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        futures = [pool.submit(find_in_file, tree, name, flags) for name in new]
        for future in concurrent.futures.as_completed(futures):
            name, found, error = future.result()
            cache[keys[name]] = [[dataclasses.asdict(mutant) for mutant in found], error]
            # Parsing takes minutes, so an interrupted run keeps its results.
            cache_file.write_text(json.dumps(cache))
    mutants, errors = [], []
    for name in names:
        found, error = cache[keys[name]]
        mutants += [operators.Mutant(**fields) for fields in found]
        errors += [error] if error else []
    return mutants, errors


def in_drawn_order(mutants, seed):
    """Returns an order drawn by the seed; a change of one file keeps the order of the others."""
    return sorted(mutants, key=lambda mutant: hash_of(str(seed), mutant.key))


def is_header(name):
    return name.endswith(".h")


def compiling(tree, name, mutants, flags):
    """Returns the mutants of a file that clang compiles behind switches."""
    text = (tree / name).read_text()
    check = operators.CompileCheck(tree / name, flags)

    def errors(chosen):
        return check.errors(schemata.with_switches(text, list(enumerate(chosen, 1)), is_header(name)))

    def good(chosen):
        if not chosen or not errors(chosen):
            return chosen
        if len(chosen) == 1:
            return []
        middle = len(chosen) // 2
        return good(chosen[:middle]) + good(chosen[middle:])

    return good(mutants)


def check_in_file(tree, name, mutants, flags):
    return {mutant.key for mutant in compiling(tree, name, mutants, flags)}


class CompileVerdicts:
    """Says whether mutants compile, and keeps that between runs by the file's content."""

    def __init__(self, tree, flags, work, jobs):
        self._tree, self._flags, self._jobs = tree, flags, jobs
        self._file = work / "compiled.json"
        self._known = json.loads(self._file.read_text()) if self._file.is_file() else {}
        self._hashes = {}

    def _key(self, mutant):
        if mutant.file not in self._hashes:
            self._hashes[mutant.file] = hash_of((self._tree / mutant.file).read_text())
        return self._hashes[mutant.file] + "\t" + mutant.key

    def learn(self, mutants):
        by_file = collections.defaultdict(list)
        for mutant in mutants:
            if self._key(mutant) not in self._known:
                by_file[mutant.file].append(mutant)
        with concurrent.futures.ProcessPoolExecutor(self._jobs) as pool:
            futures = {pool.submit(check_in_file, self._tree, name, chosen, self._flags): chosen
                       for name, chosen in by_file.items()}
            for future in concurrent.futures.as_completed(futures):
                good = future.result()
                for mutant in futures[future]:
                    self._known[self._key(mutant)] = mutant.key in good
                self._save()

    def _save(self):
        self._file.write_text(json.dumps(self._known))

    def compiles(self, mutant):
        return self._known[self._key(mutant)]

    def forget(self, mutant):
        """Records that the build has shown clang to be wrong."""
        self._known[self._key(mutant)] = False
        self._save()


def draw(order, sample, verdicts):
    """Returns the first mutants of the order that compile."""
    good, at = [], 0
    while len(good) < sample and at < len(order):
        batch = order[at:at + sample - len(good)]
        at += len(batch)
        verdicts.learn(batch)
        good += [mutant for mutant in batch if verdicts.compiles(mutant)]
    return good


# The build, and tests without Bazel.


class Package:
    """A copy of a tree with the sample's mutants behind switches."""

    def __init__(self, copy, folder, jobs):
        self.copy, self.folder, self._jobs = copy, folder, jobs
        self._bazel = ["bazel", "--output_user_root=%s" % folder]

    def query(self, package):
        result = subprocess.run(
            [*self._bazel, "query", "--noshow_progress", "--noimplicit_deps", "--output=xml",
             "//%s/..." % package], cwd=self.copy, capture_output=True, text=True)
        if result.returncode:
            raise SystemExit("mutate: bazel query failed:\n%s" % result.stderr[-2000:])
        return result.stdout

    def plant(self, originals, numbered):
        """Writes each file with its switches; a file without any stays as it was."""
        by_file = collections.defaultdict(list)
        for number, mutant in numbered:
            by_file[mutant.file].append((number, mutant))
        for name, text in originals.items():
            planted = schemata.with_switches(text, by_file[name], is_header(name)) if by_file[name] else text
            path = self.copy / name
            if path.read_text() != planted:
                path.write_text(planted)
        return sorted(name for name in by_file if not is_header(name))

    def record(self, tests, sources, count):
        """Builds and runs the tests without a mutant. Returns Bazel's exit code and output."""
        (self.folder / "recorded").mkdir(parents=True, exist_ok=True)
        recorder = self.folder / "record.sh"
        recorder.write_text(RECORDER)
        recorder.chmod(0o755)
        (self.folder / "reached_bytes").write_text(str(count + 1))
        code, output = self._test(tests, sources, "auto")
        known = {test.target for test in read_recorded(self.folder)}
        lost = [test for test in tests if test not in known]
        # Bazel has cached their results, and what they reach was not kept.
        if code == 0 and lost:
            code, output = self._test(lost, sources, "no")
        return code, output

    def _test(self, tests, sources, caching):
        return self._run_tests(tests, sources, [
            "--keep_going", "--local_test_jobs=%d" % self._jobs, "--strategy=TestRunner=local",
            "--cache_test_results=" + caching,
            # A result from a disk cache would record nothing.
            "--modify_execution_info=TestRunner=+no-cache",
            "--run_under=%s" % (self.folder / "record.sh")])

    def plant_alone(self, originals, mutant):
        """Writes the mutant's file with this fault, and every other file as it was."""
        self.plant(originals, [])
        (self.copy / mutant.file).write_text(schemata.with_fault(originals[mutant.file], mutant))

    def try_tests(self, tests, sources, flags=("--notest_keep_going",)):
        """Returns Bazel's exit code, and the tests that failed."""
        code, output = self._run_tests(tests, sources, [
            *flags, "--test_timeout=%d" % SECONDS_OF_A_TEST_ALONE])
        return code, re.findall(r"^(//\S+) +(?:FAILED|TIMEOUT|NO STATUS)", output, re.M)

    def _run_tests(self, tests, sources, flags):
        targets = self.folder / "tests.txt"
        targets.write_text("\n".join(tests) + "\n")
        quiet = ["--per_file_copt=^%s$@-w" % re.escape(name) for name in sources]
        result = subprocess.run(
            [*self._bazel, "test", "--noshow_progress", "--jobs=%d" % self._jobs, *flags,
             "--test_output=errors", *quiet, "--target_pattern_file=%s" % targets],
            cwd=self.copy, capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def stop(self):
        subprocess.run([*self._bazel, "shutdown"], cwd=self.copy, capture_output=True)


def suspects(output, numbered):
    """Returns the mutants on lines where the compiler found errors."""
    lines = {(match[1].split("footprint/", 1)[-1], int(match[2])) for match in re.finditer(
        r"^(?:In file included from |\s*from )?(\S+?):(\d+)(?=[:,])", output, re.M)}
    lines = {(re.sub(r"^bazel-out/.*/_virtual_includes/[^/]+/", "", name), line)
             for name, line in lines}
    found = []
    for number, mutant in numbered:
        if any(name.endswith(mutant.file) and mutant.line <= line <= mutant.last_line
               for name, line in lines):
            found.append(mutant)
    return found


@dataclasses.dataclass
class RecordedTest:
    """A test in the form in which Bazel started it, which can be run again without Bazel."""
    target: str
    folder: str
    command: list
    environment: dict
    reached: frozenset
    seconds: float
    passes: bool

    def fails_with(self, number, limit_scale=1.0):
        """Returns whether the test fails with a mutant, or takes too long."""
        scratch = tempfile.mkdtemp(prefix="mutant")
        environment = dict(self.environment)
        for name in ("TEST_TMPDIR", "TEST_UNDECLARED_OUTPUTS_DIR",
                     "TEST_UNDECLARED_OUTPUTS_ANNOTATIONS_DIR"):
            environment[name] = scratch
        environment["XML_OUTPUT_FILE"] = os.path.join(scratch, "test.xml")
        environment.pop(schemata.REACHED_VARIABLE, None)
        environment[schemata.MUTANT_VARIABLE] = str(number)
        try:
            return self._run(environment, limit_scale * (10 + 5 * self.seconds))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _run(self, environment, limit_seconds):
        process = subprocess.Popen(
            self.command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=_limit_a_mutant)
        try:
            return process.wait(limit_seconds) != 0
        except subprocess.TimeoutExpired:
            return True
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def _limit_a_mutant():
    for limit, most in ((resource.RLIMIT_AS, MOST_ADDRESS_SPACE), (resource.RLIMIT_CORE, 0),
                        (resource.RLIMIT_FSIZE, MOST_FILE_BYTES)):
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def read_recorded(folder):
    tests = []
    for path in sorted((folder / "recorded").glob("*.result")):
        status, milliseconds = path.read_text().split()
        target, run_folder, *command = path.with_suffix(".command").read_text().split("\0")[:-1]
        pairs = path.with_suffix(".environment").read_text(errors="surrogateescape").split("\0")[:-1]
        reached = path.with_suffix(".reached").read_bytes()
        tests.append(RecordedTest(
            target, run_folder, command, dict(pair.split("=", 1) for pair in pairs),
            frozenset(number for number, byte in enumerate(reached) if byte),
            int(milliseconds) / 1000, status == "0"))
    return tests


def nearest_first(tests, mutant):
    """Returns tests of the file's name first, then its room's, then others; fast ones first."""
    room, stem = os.path.dirname(mutant.file), pathlib.PurePath(mutant.file).stem

    def distance(test):
        in_room = test.target.startswith("//%s:" % room)
        is_named = in_room and test.target.split(":")[1].startswith(stem + "_")
        return (not is_named, not in_room, test.seconds)

    return sorted(tests, key=distance)


# The run.


class Results:
    """Verdicts by key, which are written one by one."""

    def __init__(self, path):
        self._path, self._lock = path, threading.Lock()
        self._known = {}
        for line in path.read_text().splitlines() if path.is_file() else []:
            try:
                result = json.loads(line)
            except ValueError:
                continue  # a run was cut off in this line
            self._known[result["key"]] = result

    def get(self, mutant):
        return self._known.get(mutant.key, {}).get("verdict")

    def survived_its_switch(self, mutant):
        result = self._known.get(mutant.key, {})
        return result.get("verdict") == SURVIVED and not result["by"].startswith(PLANTED_ALONE)

    def forget_survivors(self):
        self._known = {key: result for key, result in self._known.items()
                       if result["verdict"] != SURVIVED}

    def put(self, mutant, verdict, by):
        with self._lock:
            result = {"key": mutant.key, "verdict": verdict, "by": by}
            self._known[mutant.key] = result
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


class Judge:
    """Judges by tests that pass without a mutant, which is checked again when one fails."""

    def __init__(self, tests):
        self._tests = tests
        self._locks = {id(test): threading.Lock() for test in tests}
        self._passes_alone = {}

    def _is_usable(self, test):
        with self._locks[id(test)]:
            if id(test) not in self._passes_alone:
                # No mutant has this number; without the check, a limit or a
                # path could count as a kill.
                self._passes_alone[id(test)] = not test.fails_with(0)
                if not self._passes_alone[id(test)]:
                    say_left_out(test, " and without Bazel")
            return self._passes_alone[id(test)]

    def judge(self, number, mutant):
        """Returns (verdict, the test that failed or how many passed)."""
        reaching = nearest_first([test for test in self._tests if number in test.reached], mutant)
        for test in reaching:
            if test.fails_with(number) and self._is_usable(test):
                return KILLED, test.target
        if mutant.constant and not reaching:
            return NOT_COMPILED, "runs while it is compiled only"
        return SURVIVED, "%d tests reach it" % len(reaching)


def say_left_out(test, how):
    print("mutate: left out, fails without a mutant%s: %s" % (how, test.target), file=sys.stderr)


def judge_all(numbered, tests, results, jobs):
    pending = [(number, mutant) for number, mutant in numbered if results.get(mutant) is None]
    start, done, judge = time.monotonic(), 0, Judge(tests).judge
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(judge, number, mutant): mutant for number, mutant in pending}
        for future in concurrent.futures.as_completed(futures):
            verdict, by = future.result()
            results.put(futures[future], verdict, by)
            done += 1
            print("[%d/%d] %s (%s): %s" % (done, len(pending), verdict, by, futures[future]), flush=True)
    return time.monotonic() - start


def judge_alone(tree, originals, rules, mutants, results):
    """Judges mutants that survived behind their switches again, each in its source without a switch."""
    if not mutants:
        return 0
    start = time.monotonic()
    tree.plant(originals, [])
    files = sorted({mutant.file for mutant in mutants})
    sources = [name for name in files if not is_header(name)]
    code, failing = tree.try_tests(tests_of(rules, files), sources, ["--keep_going"])
    if code not in (0, TESTS_FAILED):
        # Otherwise each mutant would count as one that does not compile, which
        # raises the score.
        raise SystemExit("mutate: the tests do not build without a mutant (exit status %d)" % code)
    for target in failing:
        print("mutate: left out, fails without a mutant: %s" % target, file=sys.stderr)
    for count, mutant in enumerate(mutants, 1):
        tree.plant_alone(originals, mutant)
        tests = [test for test in tests_of(rules, [mutant.file]) if test not in failing]
        verdict, by = _judged_alone(tree, mutant, tests, sources)
        results.put(mutant, verdict, by)
        print("[%d/%d alone] %s (%s): %s" % (count, len(mutants), verdict, by, mutant), flush=True)
    tree.plant(originals, [])
    return time.monotonic() - start


def _judged_alone(tree, mutant, tests, sources):
    near = [test for test in tests if test.startswith("//%s:" % os.path.dirname(mutant.file))]
    for chosen in (near, tests):
        code, failed = tree.try_tests(chosen, sources) if chosen else (0, [])
        if code == TESTS_FAILED:
            return KILLED, "%s, %s" % (PLANTED_ALONE, (failed or ["a test"])[0])
        if code == BUILD_FAILED:
            return NOT_COMPILED, PLANTED_ALONE
        if code:
            raise SystemExit("mutate: bazel itself failed with exit status %d" % code)
    return SURVIVED, "%s, %d tests" % (PLANTED_ALONE, len(tests))


def passing_tests(recorded):
    """Returns the tests that pass without a mutant, and names the others."""
    for test in recorded:
        if not test.passes:
            say_left_out(test, "")
    return [test for test in recorded if test.passes]


def build_and_record(tree, originals, order, rules, verdicts, count):
    """Returns the sample that compiles, numbered, its tests, and Bazel's output."""
    for _ in range(ATTEMPTS_TO_BUILD):
        sample = draw(order, count, verdicts)
        numbered = list(enumerate(sample, 1))
        tests = tests_of(rules, {mutant.file for mutant in sample})
        sources = tree.plant(originals, numbered)
        code, output = tree.record(tests, sources, len(sample))
        if code in (0, 3):
            recorded = [test for test in read_recorded(tree.folder) if test.target in tests]
            return numbered, recorded, output
        found = suspects(output, numbered)
        if not found:
            break
        for mutant in found:
            print("mutate: not compiled by the build: %s" % mutant, flush=True)
            verdicts.forget(mutant)
    raise SystemExit("mutate: the tests do not build:\n%s" % output[-6000:])


def share_line(killed, survived):
    count = killed + survived
    low, high = wilson_interval(killed, count)
    return "%.1f %% (%.1f to %.1f)" % (100 * killed / max(1, count), 100 * low, 100 * high)


def table(title, groups):
    """Returns rows of counts by verdict, for each group of (verdicts of its mutants)."""
    lines = ["%-28s %7s %8s %8s %10s %8s %8s  %s" % (
        title, "drawn", "not comp", "sampled", "equivalent", "killed", "survived", "score (95 %)")]
    for name, verdicts in groups:
        count = collections.Counter(verdicts)
        lines.append("%-28s %7d %8d %8d %10d %8d %8d  %s" % (
            name, len(verdicts), count[NOT_COMPILED], len(verdicts) - count[NOT_COMPILED],
            count[EQUIVALENT], count[KILLED], count[SURVIVED],
            share_line(count[KILLED], count[SURVIVED])))
    return "\n".join(lines)


def grouped(verdict_of, name_of):
    groups = collections.defaultdict(list)
    for mutant, verdict in verdict_of:
        groups[name_of(mutant)].append(verdict)
    return sorted(groups.items())


def report(package, numbered, bad, results, equivalents):
    verdict_of = [(mutant, NOT_COMPILED) for mutant in bad]
    for _, mutant in numbered:
        is_equivalent = listed_key(mutant, package) in equivalents
        verdict_of.append((mutant, EQUIVALENT if is_equivalent else results.get(mutant)))
    print(table("operator", grouped(verdict_of, lambda mutant: mutant.operator)))
    print(table("room", grouped(verdict_of, lambda mutant: os.path.dirname(mutant.file))))
    print(table("package", [(package, [verdict for _, verdict in verdict_of])]))
    survivors = [mutant for mutant, verdict in verdict_of if verdict == SURVIVED]
    for mutant in survivors:
        print("survived: %s:%d: %s\n  %s" % (mutant.file, mutant.line, mutant.operator,
                                             listed_key(mutant, package)))
    killed = sum(verdict == KILLED for _, verdict in verdict_of)
    return 0 if killed >= REQUIRED_SCORE * (killed + len(survivors)) and killed else 1


def listed_key(mutant, package):
    """Returns the form of the package's list, where file names begin at the package."""
    return "\t".join([os.path.relpath(mutant.file, package), mutant.line_text, mutant.change])


def run(tree, copy, package, args):
    """Draws, builds and judges. Returns the exit code."""
    folder = copy.parent
    stale = stale_equivalents(tree / package)
    if stale:
        print("\n".join("mutate: " + text for text in stale), file=sys.stderr)
        return 1
    planted = Package(copy, folder, args.jobs)
    try:
        return _run(planted, tree, package, args, folder)
    finally:
        planted.stop()


def _run(planted, tree, package, args, folder):
    rules = read_rules(planted.query(package))
    names = [name for name in sources_to_mutate(rules, package)
             if (tree / name).is_file() and re.search(args.only, name)]
    flags = flags_for(tree, planted.copy, folder / "includes")
    start = time.monotonic()
    mutants, errors = find_all(tree, names, flags, folder, args.jobs)
    for error in errors:
        print("mutate: left out, clang cannot parse it: %s" % error, file=sys.stderr)
    print("mutate: %d mutants in %d of %d files, found in %.0f s" % (
        len(mutants), len({mutant.file for mutant in mutants}), len(names),
        time.monotonic() - start), flush=True)
    verdicts = CompileVerdicts(tree, flags, folder, args.jobs)
    start = time.monotonic()
    order = in_drawn_order(mutants, args.seed)
    draw(order, args.sample, verdicts)
    print("mutate: sample drawn and checked in %.0f s" % (time.monotonic() - start), flush=True)
    start = time.monotonic()
    originals = {name: (tree / name).read_text() for name in names}
    numbered, recorded, output = build_and_record(planted, originals, order, rules, verdicts, args.sample)
    print("mutate: %d tests built and recorded in %.0f s" % (
        len(recorded), time.monotonic() - start), flush=True)
    passing = passing_tests(recorded)
    if not passing:
        print("mutate: no test passes without a mutant\n%s" % output[-4000:], file=sys.stderr)
        return 2
    return _judge(planted, originals, rules, numbered, passing, order, package, args, tree, folder)


def _judge(planted, originals, rules, numbered, tests, order, package, args, tree, folder):
    results = Results(folder / ("results_%d.jsonl" % args.seed))
    if args.again:
        results.forget_survivors()
    equivalents = read_equivalents(tree / package / EQUIVALENT_LIST)
    to_judge = [(number, mutant) for number, mutant in numbered
                if listed_key(mutant, package) not in equivalents]
    seconds = judge_all(to_judge, tests, results, args.jobs)
    survivors = [mutant for _, mutant in to_judge if results.survived_its_switch(mutant)]
    alone = judge_alone(planted, originals, rules, survivors, results)
    print("mutate: judged in %.0f s, and %d survivors planted alone in %.0f s" % (
        seconds, len(survivors), alone))
    known = {listed_key(mutant, package) for mutant in order}
    for key in sorted(set(equivalents) - known):
        print("mutate: listed as equivalent, but no mutant of these sources: %s" % key, file=sys.stderr)
    last = order.index(numbered[-1][1])
    sampled = {mutant for _, mutant in numbered}
    bad = [mutant for mutant in order[:last + 1] if mutant not in sampled]
    return report(package, numbered, bad, results, equivalents)
