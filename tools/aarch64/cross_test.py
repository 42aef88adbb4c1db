#!/usr/bin/env python3
"""Compiles unit tests for aarch64 and runs them under qemu.

    bazel query --output=xml --noimplicit_deps 'deps(set(ROOMS))' |
        cross_test.py --sysroot=FOLDER [--tree=.] [--output=.cache/aarch64]
                      [--not_emulated=FILE] [--only=REGEX] [--list | --install=FOLDER]

Bazel says what a test is made of, in its XML; Debian's aarch64-linux-gnu-g++
compiles it, without Bazel: its repositories are bound to this machine's own
libraries. The sysroot has Debian's arm64 packages, of which the headers and
archives are taken (aarch64.sh makes it).

A test of which a part comes from a library that the sysroot does not have, from
a rule that writes sources (a protocol buffer, an embedded file), or is compiled
with a macro of its own, is left out, with the reason; so is one that measures
jemalloc. --list says which.

Some ask the processor or the kernel for a thing that is not there: FILE lists
them, LABEL<TAB>TEST<TAB>WHERE<TAB>REASON, TEST a pattern of Google Test's filter,
or * for the whole program; WHERE is qemu-user or aarch64, the latter for what is
of x86-64 alone. A line of which no test is left is an error.

--install runs nothing: it lays the programs out in FOLDER, one folder a test with
the program and `run`, a script that starts it in a copy of the tree at
/footprint/tree, for a machine that is emulated as a whole (tools/vm/vm.sh); there
only lines of aarch64 are left out.
Exit 1 where a test fails or does not compile, 2 where none is left.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree

COMPILER = "aarch64-linux-gnu-g++"
EMULATOR = "qemu-aarch64-static"
# These are the flags of `bazel test -c opt`, without those for x86-64.
# Highway's NEON needs processors with AES. The flag is for whole files, since
# classes may hold its masks.
FLAGS = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-march=armv8-a+crypto"]
# The folder of the cross compiler's C library.
TARGET_ROOT = "/usr/aarch64-linux-gnu"
# External repositories whose headers and archives are in the sysroot.
KNOWN_REPOSITORIES = {"abseil-cpp", "googletest", "highway", "nlohmann_json", "eigen"}
LEFT_OUT_TAGS = {"measures_jemalloc", "manual", "bench"}
# A test that replays a corpus has a main function of its own.
MAIN = re.compile(r"^int main\(", re.MULTILINE)
# A precompiled header counts as an ordinary one.
PLAIN_RULES = {"cc_library", "cc_test", "alias", "precompiled_header"}

Rule = collections.namedtuple(
    "Rule", "name kind tags sources inputs copts data defines arguments outputs linkopts",
    defaults=([], [], []))


def list_of(element, attribute, kind="label"):
    """Returns the values of a list attribute of a rule in Bazel's XML."""
    return [value.get("value") for each in element.findall("list")
            if each.get("name") == attribute for value in each.findall(kind)]


def parse_query(text):
    """Returns {label: Rule}; `inputs` are labels of rules and of external targets."""
    rules = {}
    for element in xml.etree.ElementTree.fromstring(text).iter("rule"):
        actual = [each.get("value") for each in element.findall("label")
                  if each.get("name") == "actual"]
        rules[element.get("name")] = Rule(
            name=element.get("name"), kind=element.get("class"),
            tags=set(list_of(element, "tags", "string")),
            sources=list_of(element, "srcs"),
            inputs=list_of(element, "deps") + actual,
            copts=list_of(element, "copts", "string"),
            data=list_of(element, "data"),
            defines=list_of(element, "defines", "string")
            + list_of(element, "local_defines", "string"),
            arguments=list_of(element, "args", "string"),
            outputs=[each.get("name") for each in element.findall("rule-output")],
            linkopts=list_of(element, "linkopts", "string"))
    return rules


def repository_of(label):
    return label[1:].split("//")[0] if label.startswith("@") else ""


def closure(name, rules):
    """Returns (the test's rules in this tree, itself first, "") or (None, why there are none)."""
    generated = {file for rule in rules.values() for file in rule.outputs}
    found, waiting = {}, [name]
    while waiting:
        label = waiting.pop()
        if label in found:
            continue
        if repository_of(label):
            if repository_of(label) not in KNOWN_REPOSITORIES:
                return None, "needs @%s" % repository_of(label)
            continue
        rule = rules.get(label)
        if rule is None or rule.kind not in PLAIN_RULES:
            return None, "needs %s, a %s" % (label, rule.kind if rule else "generated file")
        written = [source for source in rule.sources if source in rules or source in generated]
        if written:
            return None, "needs %s, which a rule writes" % written[0]
        embedded = [source for source in rule.sources if source.endswith(".S")]
        if embedded:
            return None, "needs %s, which embeds a file" % embedded[0]
        if rule.defines:
            return None, "needs %s, which is compiled with %s" % (label, rule.defines[0])
        found[label] = rule
        waiting += rule.inputs
    return list(found.values()), ""


def choose(rules, only):
    """Returns [(test, rules of its closure)], [(test, why it is left out)]."""
    chosen, left_out = [], []
    for name, rule in sorted(rules.items()):
        if rule.kind != "cc_test" or repository_of(name) or not re.search(only, name):
            continue
        reason = ", ".join(sorted(rule.tags & LEFT_OUT_TAGS))
        programs = [label for label in rule.data
                    if label in rules and rules[label].kind != "filegroup"]
        parts = None
        if reason:
            reason = "is tagged " + reason
        elif programs:
            reason = "runs %s" % programs[0]
        else:
            parts, reason = closure(name, rules)
        if parts is None:
            left_out.append((name, reason))
        else:
            chosen.append((name, parts))
    return chosen, left_out


NotEmulated = collections.namedtuple("NotEmulated", "label pattern where reason")
WHERE = ("qemu-user", "aarch64")


def read_not_emulated(text):
    """Reads the lines of a file. Raises ValueError if one has another form."""
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 4 or not all(fields) or fields[2] not in WHERE:
            raise ValueError("line %d: want LABEL<TAB>TEST<TAB>%s<TAB>REASON, got %r"
                             % (number, " or ".join(WHERE), line))
        lines.append(NotEmulated(*fields))
    return lines


def leave_out_not_emulated(chosen, left_out, not_emulated):
    """Returns `chosen` and `left_out` after moving the tests that are listed with *."""
    whole = {each.label: each.reason for each in not_emulated if each.pattern == "*"}
    return ([each for each in chosen if each[0] not in whole],
            sorted(left_out + [(name, whole[name]) for name, _ in chosen if name in whole]))


def stale_lines(rules, not_emulated):
    return [each.label for each in not_emulated if each.label not in rules]


def patterns_of(label, not_emulated):
    return [each.pattern for each in not_emulated if each.label == label]


def path_of(label):
    return label[2:].replace(":", "/").lstrip("/")


def arguments_of(rule):
    """Returns the arguments of a test, with paths from the tree's root as Bazel gives them."""
    package = path_of(rule.name.partition(":")[0])

    def path(match):
        label = match.group(1)
        return path_of(label) if label.startswith("//") else os.path.join(package, label.lstrip(":"))

    return [re.sub(r"\$\((?:rootpath|location) ([^)]*)\)", path, each) for each in rule.arguments]


class Builder:
    """Compiles each source once, and again only if a file that it read has changed."""

    def __init__(self, tree, sysroot, output):
        self.tree, self.sysroot, self.output = tree, sysroot, output
        (output / "include").mkdir(parents=True, exist_ok=True)
        link = output / "include/footprint"
        if not link.is_symlink():
            link.symlink_to(tree)
        self.includes = ["-I%s" % (output / "include"), "-I%s" % tree,
                         "-isystem", "%s/usr/include" % sysroot,
                         "-isystem", "%s/usr/include/eigen3" % sysroot,
                         "-isystem", "/usr/src/googletest/googletest/include",
                         "-isystem", "/usr/src/googletest/googlemock/include"]

    def is_current(self, object_file):
        read = object_file.with_suffix(".d")
        if not object_file.exists() or not read.exists():
            return False
        made = object_file.stat().st_mtime
        files = read.read_text().replace("\\\n", " ").partition(":")[2].split()
        return all(os.path.exists(file) and os.stat(file).st_mtime <= made for file in files)

    def compile(self, source, extra):
        """Returns the object file of a source, an absolute path. Raises CalledProcessError."""
        flags = hashlib.sha256(" ".join(FLAGS + list(extra)).encode()).hexdigest()[:8]
        name = "%s.%s" % (str(source).strip("/").replace("/", "__"), flags)
        object_file = self.output / "objects" / (name + ".o")
        if not self.is_current(object_file):
            object_file.parent.mkdir(exist_ok=True)
            run([COMPILER, *FLAGS, *extra, *self.includes, "-MMD", "-MF",
                 str(object_file.with_suffix(".d")), "-c", str(source), "-o", str(object_file)])
        return object_file

    def google_test(self, main):
        folder = pathlib.Path("/usr/src/googletest")
        quiet = ["-w", "-I%s" % (folder / "googletest"), "-I%s" % (folder / "googlemock")]
        sources = ["googletest/src/gtest-all.cc", "googlemock/src/gmock-all.cc"]
        if main:
            sources.append("googlemock/src/gmock_main.cc")
        return [self.compile(folder / source, quiet) for source in sources]

    def archives(self):
        """Returns Abseil's archives as one group, since their order is not known, and Highway's shared object."""
        folder = self.sysroot / "usr/lib/aarch64-linux-gnu"
        files = sorted(map(str, folder.glob("libabsl_*.a")))
        return ["-Wl,--start-group", *files, "-Wl,--end-group",
                "-L%s" % folder, "-Wl,-rpath,%s" % folder, "-lhwy"]

    def build(self, name, parts):
        """Builds the program of a test."""
        compiled = [(self.tree / path_of(source), rule.copts)
                    for rule in parts for source in rule.sources if source.endswith(".cc")]
        objects = [self.compile(source, copts) for source, copts in compiled]
        has_main = any(MAIN.search(source.read_text()) for source, _ in compiled)
        program = self.output / "tests" / path_of(name)
        program.parent.mkdir(parents=True, exist_ok=True)
        run([COMPILER, "-pthread", *map(str, objects),
             *map(str, self.google_test(not has_main)), *self.archives(),
             *parts[0].linkopts, "-o", str(program)])
        return program


def run(command):
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise RuntimeError("%s\n%s" % (shlex.join(command), ended.stderr[-4000:]))


def run_test(program, tree, output, rule, patterns=()):
    """Returns (whether it passed, the end of its output), without the tests of `patterns`."""
    folder = output / "tmp" / path_of(rule.name)
    # A test begins with an empty folder, as it does with Bazel.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, TEST_TMPDIR=str(folder), TEST_SRCDIR=str(tree))
    command = [EMULATOR, "-L", TARGET_ROOT, str(program), *arguments_of(rule)]
    for pattern in patterns:
        listed = subprocess.run([*command, "--gtest_list_tests", "--gtest_filter=" + pattern],
                                cwd=tree, env=environment, text=True, capture_output=True, check=False)
        if "\n  " not in listed.stdout:
            return False, "no test is named %s, which is listed as not emulated\n" % pattern
    if patterns:
        command.append("--gtest_filter=-" + ":".join(patterns))
    ended = subprocess.run(command, cwd=tree, env=environment, text=True, errors="replace",
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if "Running 0 tests from" in ended.stdout:
        return False, "none of its tests is left: list it as a whole, with *\n"
    return ended.returncode == 0, ended.stdout[-3000:]


RUN = """cd /footprint/tree || exit 125
export TEST_SRCDIR=/footprint/tree
exec %s
"""


def install(program, folder, rule, patterns=()):
    """Lays out a test for the virtual machine, under the label's name."""
    place = folder / path_of(rule.name).replace("/", ".")
    place.mkdir(parents=True)
    shutil.copy2(program, place / "program")
    command = ["/footprint/tests/%s/program" % place.name, *arguments_of(rule)]
    if patterns:
        command.append("--gtest_filter=-" + ":".join(patterns))
    (place / "run").write_text(RUN % shlex.join(command))
    (place / "target").write_text(rule.name.removeprefix("//") + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--sysroot", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(".cache/aarch64"))
    parser.add_argument("--not_emulated", type=pathlib.Path)
    parser.add_argument("--only", default="", help="run only tests whose label matches this pattern")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="print the tests, and run none")
    parser.add_argument("--install", type=pathlib.Path, help="copy the programs to this folder, and run none")
    args = parser.parse_args()
    rules = parse_query(sys.stdin.read())
    not_emulated = read_not_emulated(args.not_emulated.read_text()) if args.not_emulated else []
    stale = stale_lines(rules, not_emulated)
    if stale:
        sys.exit("%s: there is no %s" % (args.not_emulated, ", ".join(stale)))
    if args.install:
        not_emulated = [each for each in not_emulated if each.where != "qemu-user"]
    chosen, left_out = leave_out_not_emulated(*choose(rules, args.only), not_emulated)
    for name, reason in left_out:
        print("left out  %s: %s" % (name, reason))
    if args.list:
        print("\n".join("chosen    " + name for name, _ in chosen))
    if not chosen:
        sys.exit(2)
    if args.list:
        return
    tree = args.tree.resolve()
    builder = Builder(tree, args.sysroot.resolve(), args.output.resolve())
    sources = {(source, tuple(rule.copts)) for _, parts in chosen for rule in parts
               for source in rule.sources if source.endswith(".cc")}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        # A source that does not compile is reported test by test, below.
        list(pool.map(lambda each: attempt(builder, tree / path_of(each[0]), each[1]),
                      sorted(sources)))
    failed = []
    for name, parts in chosen:
        patterns = patterns_of(name, not_emulated)
        try:
            program = builder.build(name, parts)
            if args.install:
                passed, said = True, ""
                install(program, args.install, rules[name], patterns)
            else:
                passed, said = run_test(program, tree, args.output.resolve(), rules[name], patterns)
        except RuntimeError as error:
            passed, said = False, str(error)
        done = "compiled" if args.install else "passed"
        print("%-8s  %s%s" % (done if passed else "FAILED", name,
                              "".join(", without " + each for each in patterns)), flush=True)
        if not passed:
            failed.append(name)
            print(said)
    print("aarch64: %d %s, %d failed, %d left out"
          % (len(chosen) - len(failed), "compiled" if args.install else "passed", len(failed), len(left_out)))
    sys.exit(1 if failed else 0)


def attempt(builder, source, copts):
    try:
        builder.compile(source, list(copts))
    except RuntimeError:
        pass


if __name__ == "__main__":
    main()
