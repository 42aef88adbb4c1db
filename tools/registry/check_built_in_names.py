#!/usr/bin/env python3
"""Checks that BUILD and .bzl files use no name that Bazel 8 or 9 took away.

    check_built_in_names.py [--tree=.]

Bazel 9 has no C++, Java, Python, proto or shell rule of its own, and none of their
providers: whoever uses one loads it. Each file is parsed as Python, which reads all of
Starlark that this tree uses. A name that the file neither loads nor binds, and that is
not among those which Bazel 9 still has, is a fault. WORKSPACE and what only it calls are
left out, and so are the bindings to Debian's libraries: Bazel 9 reads neither.

Exit 1 with a line for each fault.
"""

import argparse
import ast
import pathlib
import subprocess
import sys

# Names that Bazel 9 itself has: in the language, in BUILD files, in .bzl files.
LANGUAGE = set("""
    False None True abs all any bool dict dir enumerate fail float getattr hasattr hash
    int len list max min print range repr reversed set sorted str tuple type zip
""".split())
BUILD = set("""
    alias config_setting constraint_setting constraint_value exports_files filegroup
    genquery genrule glob label_flag label_setting licenses package package_group
    package_name package_relative_label platform repo_name select subpackages test_suite
    toolchain toolchain_type
""".split())
BZL = set("""
    AnalysisTestResultInfo DefaultInfo InstrumentedFilesInfo Label OutputGroupInfo
    RunEnvironmentInfo aspect attr config config_common configuration_field
    coverage_common depset exec_group json macro module_extension native platform_common
    proto provider repository_rule rule select struct subrule tag_class testing
    transition visibility
""".split())
NATIVE = BUILD | {"existing_rule", "existing_rules", "module_name", "module_version",
                  "repository_name"}
# Only WORKSPACE calls these.
WORKSPACE_ONLY = {"third_party/repositories.bzl"}


def bound_names(tree):
    """Returns the names that a file loads, assigns, defines or takes as parameters."""
    bound = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "load":
            bound |= {word.value for word in node.args[1:]}
            bound |= {word.arg for word in node.keywords}
    return bound


def faults(path, text):
    """Returns a line for each use of a name that Bazel 9 does not have."""
    tree = ast.parse(text)
    known = bound_names(tree) | LANGUAGE | {"load"}
    known |= BZL if path.endswith(".bzl") else BUILD
    found = []
    for node in ast.walk(tree):
        name = None
        if isinstance(node, ast.Name) and node.id not in known:
            name = node.id
        elif (isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "native"
              and node.attr not in NATIVE):
            name = "native." + node.attr
        if name:
            found.append("%s:%d: Bazel 9 has no %s of its own: load it" % (path, node.lineno, name))
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    files = subprocess.run(
        ["git", "ls-files", ":(glob)**/BUILD", "*.bzl"], cwd=options.tree, check=True,
        capture_output=True, text=True).stdout.split()
    found = [fault for file in files if file not in WORKSPACE_ONLY
             for fault in faults(file, (options.tree / file).read_text())]
    for fault in found:
        print("built-in names: " + fault, file=sys.stderr)
    print("built-in names: %d files, %d faults" % (len(files), len(found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
