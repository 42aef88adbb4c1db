#!/usr/bin/env python3
"""Writes compile_commands.json from `bazel aquery --output=jsonproto`.

    bazel aquery --output=jsonproto 'mnemonic("CppCompile", //...)' > actions.json
    compile_commands.py --actions=actions.json --output=compile_commands.json \
        --directory="$(bazel info execution_root)"

Only sources of this tree are listed, each once: neither generated code nor what
another repository compiles, nor assembly.
"""

import argparse
import json
import sys

# Flags that gcc has and clang's tools do not.
_GCC_ONLY = {"-fno-canonical-system-headers", "-Wno-free-nonheap-object",
             "-Wunused-but-set-parameter"}


def source_of(arguments):
    """Returns the file after -c, or None if the action compiles none."""
    for flag, value in zip(arguments, arguments[1:]):
        if flag == "-c":
            return value
    return None


def is_own(source):
    # Assembly is compiled by the same rules, but clang's tools do not read it.
    return not source.startswith(("external/", "bazel-out/")) and not source.endswith((".S", ".s"))


def compile_commands(actions, directory):
    """Returns the entries of compile_commands.json, sorted by file."""
    entries = {}
    for action in actions.get("actions", []):
        arguments = action.get("arguments", [])
        source = source_of(arguments)
        if source is None or not is_own(source) or source in entries:
            continue
        entries[source] = {
            "directory": directory,
            "file": source,
            # gcc has sized deallocation from C++14 on; clang needs a flag.
            "arguments": [a for a in arguments if a not in _GCC_ONLY] + ["-fsized-deallocation"],
        }
    return [entries[source] for source in sorted(entries)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("actions", "directory", "output"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    with open(args.actions) as file:
        entries = compile_commands(json.load(file), args.directory)
    if not entries:
        sys.exit("%s lists no compilation of this tree" % args.actions)
    with open(args.output, "w") as file:
        json.dump(entries, file, indent=1)


if __name__ == "__main__":
    main()
