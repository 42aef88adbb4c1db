#!/usr/bin/env python3
"""Turns the system-library overlays of third_party into Bazel modules.

Bazel 4.2.3 binds the names of the Bazel Central Registry to installed libraries
with repository rules. Bazel 7 wants a folder for each module. This program runs
third_party/repositories.bzl, which is also valid Python, with recorders in place
of the repository rules, and writes what was recorded as folders and as the rc
lines that override the modules with them.

    materialise_modules.py --tree=TREE --root=/var/cache/footprint/sid \
        --output=/footprint/modules --rc=/footprint/tree/installed_bazel.bazelrc

Paths in --output and --rc are those inside --root.
"""

import argparse
import glob
import os
import pathlib
import shutil

# Modules that Bazel 7 itself needs. Nothing in this tree uses them.
HIDDEN_MODULES = ["zlib", "apple_support", "buildozer"]
# Debian's folders of the rules that its own rc file does not override, or whose
# packaged release is older than the one in MODULE.bazel.
DEBIAN_RULES = {
    "rules_cc": "/usr/share/bazel/rules/cc",
    "rules_shell": "/usr/share/bazel/rules/shell",
    "platforms": "/usr/share/bazel/tools/platforms",
}
# rules_cc 0.0.11 lacks this name, which 0.1 and newer have.
RULES_CC_ADDITION = """
CC_TOOLCHAIN_ATTRS = {
    "_cc_toolchain": attr.label(default = Label("//cc:current_cc_toolchain")),
}
"""


def _ignore(*unused_args, **unused_kwargs):
    return None


def recorded_repositories(source):
    """Returns the keyword arguments of each system_repository in repositories.bzl."""
    recorded = {}

    def system_repository(name, **kwargs):
        recorded[name] = kwargs

    class Native:
        existing_rule = staticmethod(_ignore)

    environment = {"native": Native, "fail": _fail}

    def load(unused_file, *names):
        """Ignores rules other than system_repository, which need no module."""
        for name in names:
            environment[name] = _ignore
        environment["system_repository"] = system_repository

    environment["load"] = load
    exec(compile(source, "repositories.bzl", "exec"), environment)
    environment["footprint_repositories"]()
    return recorded


def _fail(message):
    raise ValueError(message)


def asked_versions(source):
    """Returns module name -> version, from MODULE.bazel."""
    versions = {}

    def bazel_dep(name, version="", **unused_kwargs):
        versions[name] = version

    exec(
        compile(source, "MODULE.bazel", "exec"),
        {
            "module": _ignore,
            "bazel_dep": bazel_dep,
            # Repositories that this tree's own rules make need no module.
            "use_repo_rule": lambda *unused_args: _ignore,
            "use_extension": lambda *unused_args: None,
            "use_repo": _ignore,
        },
    )
    return versions


class Materialiser:
    """Writes module folders below `output`, a path inside `root`."""

    def __init__(self, tree, root, output):
        self.tree = pathlib.Path(tree)
        self.root = pathlib.Path(root)
        self.output = pathlib.PurePosixPath(output)

    def outside(self, path):
        """Returns the path as seen from outside the root."""
        return self.root / str(path).lstrip("/")

    def overlay(self, label):
        """Returns the file in this tree behind "@footprint//third_party:path"."""
        package, _, path = label.partition("//")[2].partition(":")
        return self.tree / package / path

    def start(self, name, dependencies=()):
        folder = self.outside(self.output / name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        lines = ['module(name = "%s")' % name]
        lines += ['bazel_dep(name = "%s")' % other for other in dependencies]
        (folder / "MODULE.bazel").write_text("\n".join(lines) + "\n")
        (folder / "BUILD.bazel").write_text("")
        return folder

    def library(self, name, repository):
        folder = self.start(name, dependencies=["rules_cc"])
        for package, label in repository.get("build_files", {}).items():
            target = folder / package / "BUILD.bazel"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.overlay(label), target)
        for path, label in repository.get("files", {}).items():
            shutil.copyfile(self.overlay(label), folder / path)
        for path, system_path in repository.get("system_files", {}).items():
            if not self.outside(system_path).exists():
                raise FileNotFoundError(
                    "%s is missing in %s; install there: %s"
                    % (system_path, self.root, repository.get("debian_package"))
                )
            link = folder / path
            link.parent.mkdir(parents=True, exist_ok=True)
            os.symlink(system_path, link)
        pattern = repository.get("listed_archives")
        if pattern:
            found = sorted(glob.glob(str(self.outside(pattern))))
            names = [os.path.basename(path) for path in found]
            (folder / "archives.bzl").write_text("ARCHIVES = %r\n" % names)

    def rules(self, name, system_path):
        folder = self.outside(self.output / name)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.outside(system_path), folder, symlinks=True)
        if name == "rules_cc":
            finder = folder / "cc" / "find_cc_toolchain.bzl"
            text = finder.read_text()
            if "CC_TOOLCHAIN_ATTRS" not in text:
                finder.write_text(text + RULES_CC_ADDITION)

    def hidden(self, name):
        folder = self.start(name)
        if name == "buildozer":
            # bazel_tools uses this extension; it is never evaluated.
            (folder / "buildozer_binary.bzl").write_text(
                "buildozer_binary = module_extension("
                "implementation = lambda context: None)\n"
            )


def rc_lines(materialiser, names):
    lines = [
        "# Written by tools/dev modern.",
        "common --noenable_workspace",
        # Flags that Bazel 8 sets unless told otherwise.
        "common --incompatible_disable_native_repo_rules",
        "common --incompatible_disallow_empty_glob",
        "common --incompatible_use_plus_in_repo_names",
        # Nothing may be resolved from a registry: a module without an override
        # fails.
        "common --registry=file://%s/no_registry" % materialiser.output,
        "common --lockfile_mode=off",
        # house.bazelrc names a toolchain that WORKSPACE alone defines.
        "build --crosstool_top=@bazel_tools//tools/cpp:toolchain --define=preludes=no",
    ]
    for name in names:
        lines.append(
            "common --override_module=%s=%s" % (name, materialiser.output / name)
        )
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("tree", "root", "output", "rc"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    tree = pathlib.Path(args.tree)
    asked = asked_versions((tree / "MODULE.bazel").read_text())
    recorded = recorded_repositories(
        (tree / "third_party/repositories.bzl").read_text()
    )
    materialiser = Materialiser(tree, args.root, args.output)
    unknown = set(asked) - set(recorded) - set(DEBIAN_RULES)
    if unknown:
        raise SystemExit(
            "MODULE.bazel names %s, for which neither third_party/repositories.bzl "
            "nor Debian has rules" % ", ".join(sorted(unknown))
        )
    for name in asked:
        if name in DEBIAN_RULES:
            materialiser.rules(name, DEBIAN_RULES[name])
        else:
            materialiser.library(name, recorded[name])
    # An override of a module that nothing names is an error.
    hidden = [name for name in HIDDEN_MODULES if name not in asked]
    for name in hidden:
        materialiser.hidden(name)
    rc = materialiser.outside(args.rc)
    rc.write_text("\n".join(rc_lines(materialiser, list(asked) + hidden)) + "\n")


if __name__ == "__main__":
    main()
