#!/usr/bin/env python3
"""Checks that this tree can be imported from the public registry, without Bazel.

    check_registry.py [--tree=.] [--registry=CHECKOUT] [--record]

Resolves each MODULE.bazel of the tree, and the light ones that a release makes of it,
under every Bazel that Footprint supports, and prints how many modules each gets. The
facts come from modules.json, a copy of what resolution reads of the registry; a version
that the copy lacks is a fault.

With --registry, or FOOTPRINT_REGISTRY in the environment, they come from a checkout of
the registry, and three more checks run: modules.json still says the same, the labels
that the tree uses of a module exist in the BUILD files which the registry adds to it,
and rules that include a header set the defines that the header was compiled with there.
Modules that bring BUILD files of their own are listed as not compared.

--record writes modules.json anew from that checkout. Do this after a version in a
MODULE.bazel changes.

Exit 1 if anything is wrong, 2 if the arguments are.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent),
                str(pathlib.Path(__file__).parent.parent / "release")]
import release  # noqa: E402  (found in the folder beside this one)
import resolution  # noqa: E402  (found beside this file)

FACTS = pathlib.Path(__file__).parent / "modules.json"
# The oldest and newest version of each line of Bazel, and both sides of a
# change in how compatibility levels are read.
BAZELS = ((7, 4, 0), (7, 7, 1), (8, 0, 0), (8, 5, 0), (8, 6, 0), (9, 0, 0), (9, 1, 0))
# Versions that fail. They stay in the facts, so that a test sees that each is
# refused.
REFUSED = (
    resolution.Dependency("abseil-cpp", "20260817.0"),
    resolution.Dependency("googletest", "1.18.0"),
)
# Modules whose headers have another meaning under other defines, with the
# beginnings of these defines' names. A module's local_defines do not reach the
# sources that include it.
HEADER_DEFINES = {"cpp-httplib": "CPPHTTPLIB_"}


def dotted(bazel):
    return ".".join(map(str, bazel))


def read_modules(tree):
    """Returns path -> Module for each MODULE.bazel of the tree."""
    texts = {str(path.relative_to(tree)): path.read_text() for path in
             [tree / "MODULE.bazel", *sorted(tree.glob("examples/*/MODULE.bazel"))]}
    light = json.loads((tree / ".bcr/light_modules.json").read_text())
    texts.update({name: release.light_module(texts["MODULE.bazel"], name, needs)
                  for name, needs in light.items()})
    return to_modules(texts)


def to_modules(texts):
    """Returns path -> Module. A module that takes footprint from a folder also needs footprint's needs."""
    footprint = resolution.read_module(texts["MODULE.bazel"])
    modules = {}
    for path, text in texts.items():
        module = resolution.read_module(text, with_development=True)
        if footprint.name in module.overridden:
            module = module._replace(dependencies=module.dependencies + footprint.dependencies)
        modules[path] = module
    return modules


def check_resolution(modules, facts):
    """Returns (lines to print, faults)."""
    lines, faults = [], []
    for path, module in modules.items():
        counts = set()
        for bazel in BAZELS:
            result = resolution.resolve(module, facts, bazel)
            counts.add(len(result.selected))
            faults += ["%s under Bazel %s: %s" % (path, dotted(bazel), fault)
                       for fault in result.faults]
        lines.append("%s: %s modules" % (path, " or ".join(map(str, sorted(counts)))))
    return lines, faults


def read_build_files(tree):
    """Returns path -> text of the BUILD and .bzl files that use modules."""
    files = subprocess.run(
        ["git", "ls-files", "*BUILD", "*.bzl"], cwd=tree, check=True, capture_output=True,
        text=True).stdout.split()
    # third_party/ binds the same names to Debian's packages.
    return {file: (tree / file).read_text() for file in files
            if not file.startswith("third_party/")}


def used_labels(build_files, names):
    """Returns module -> labels, as BUILD and .bzl files of the tree write them."""
    used = {name: set() for name in names}
    for text in build_files.values():
        for name, package, target in re.findall(
                r'"@([\w.-]+)(?://([\w./-]*))?(?::([\w./-]+))?"', text):
            if name in used:
                used[name].add((package, target or package.rpartition("/")[2] or name))
    return used


def check_labels(build_files, module, checkout):
    """Returns (lines to print, faults) of labels against the registry's own BUILD files."""
    names = {dependency.name: dependency.version for dependency in module.dependencies}
    lines, faults, own = [], [], []
    for name, labels in sorted(used_labels(build_files, names).items()):
        overlay = checkout.overlay(name, names[name])
        if not overlay:
            own.append(name)
            continue
        for package, target in sorted(labels):
            if target.endswith(".bzl"):
                continue
            text = overlay.get(package, "")
            if not re.search(r'\bname = "%s"' % re.escape(target), text):
                faults.append("@%s//%s:%s is not in the BUILD files that the registry adds to %s %s"
                              % (name, package, target, name, names[name]))
        lines.append("%s %s: %d labels compared" % (name, names[name], len(labels)))
    lines.append("not compared, since they bring BUILD files of their own: " + " ".join(own))
    return lines, faults


def read_loaded(file, build_files):
    """Returns the texts of the .bzl files of the tree that a BUILD file loads."""
    folder = file.rpartition("/")[0]
    paths = []
    for package, name in re.findall(r'\bload\("((?://[^":]*)?):([^"]+)"', build_files[file]):
        paths.append((package[2:] if package else folder) + "/" + name)
    return "".join(build_files.get(path.lstrip("/"), "") for path in paths)


def check_header_defines(build_files, module, checkout):
    """Returns faults: rules that include a header without what it was compiled with."""
    faults = []
    for dependency in module.dependencies:
        prefix = HEADER_DEFINES.get(dependency.name)
        if prefix is None:
            continue
        overlay = checkout.overlay(dependency.name, dependency.version).get("", "")
        wanted = sorted(set(re.findall(r'"(%s\w+)"' % prefix, overlay)))
        for file, text in build_files.items():
            known = text + read_loaded(file, build_files)
            for rule in re.findall(r'(?ms)^\w+\(\n.*?^\)', text):
                if '"@%s' % dependency.name not in rule:
                    continue
                missing = [define for define in wanted if '"%s"' % define not in known]
                if missing or "local_defines" not in rule:
                    name = re.search(r'\bname = "([^"]*)"', rule)
                    faults.append("%s: %s uses @%s without local_defines %s" % (
                        file, name[1] if name else "a rule", dependency.name, " ".join(wanted)))
    return faults


def record(modules, checkout):
    """Returns the text of modules.json: a module a line."""
    facts = resolution.collect_facts([*modules.values(), *REFUSED], checkout)
    parts = []
    for part, values in facts.items():
        rows = ["    %s: %s" % (json.dumps(key), json.dumps(value))
                for key, value in sorted(values.items())]
        parts.append('  "%s": {\n%s\n  }' % (part, ",\n".join(rows)) if rows
                     else '  "%s": {}' % part)
    return "{\n" + ",\n".join(parts) + "\n}\n"


def check_record(modules, checkout):
    """Returns faults where modules.json and the checkout differ in what is resolved."""
    kept = json.loads(FACTS.read_text())["modules"]
    now = json.loads(record(modules, checkout))["modules"]
    return ["modules.json and the checkout differ in %s: run tools/dev registry --record" % key
            for key in sorted(set(kept) | set(now)) if kept.get(key) != now.get(key)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--registry", default=os.environ.get("FOOTPRINT_REGISTRY", ""))
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    modules = read_modules(options.tree)
    if options.record and not options.registry:
        parser.error("--record needs --registry=CHECKOUT or FOOTPRINT_REGISTRY")
    if not options.registry:
        lines, faults = check_resolution(
            modules, resolution.Facts(json.loads(FACTS.read_text())))
        lines.append("not run: labels, defines and modules.json against a checkout of the registry; "
                     "FOOTPRINT_REGISTRY names none")
    else:
        try:
            checkout = resolution.Checkout(options.registry)
        except ValueError as reason:
            parser.error(str(reason))
        if options.record:
            FACTS.write_text(record(modules, checkout))
        lines, faults = check_resolution(modules, checkout)
        build_files = read_build_files(options.tree)
        own = modules["MODULE.bazel"]
        label_lines, label_faults = check_labels(build_files, own, checkout)
        lines += label_lines
        faults += label_faults + check_header_defines(build_files, own, checkout)
        faults += check_record(modules, checkout)
    for line in lines:
        print("registry: " + line)
    for fault in faults:
        print("registry: FAULT " + fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
