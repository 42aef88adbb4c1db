#!/usr/bin/env python3
"""Makes importers who have nothing of Footprint but the archive of a release.

    released_importer.py [--tree=.] [--seen-as=PATH] OUTPUT

Releases a copy of the tree's files, committed or not, into OUTPUT, and writes copies of
examples/use_one_library that take Footprint from that archive instead of a folder:

    OUTPUT/importer                   WORKSPACE with http_archive, and MODULE.bazel
    OUTPUT/importer_of_LIBRARY        MODULE.bazel with the light module of one library

The MODULE.bazel files want --registry=file://OUTPUT/registry besides a registry of the
other modules. --seen-as is the path of OUTPUT as Bazel sees it, where that differs.
The version in the archive is MODULE.bazel's; its CHANGELOG.md gets a heading if it has none.
"""

import argparse
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import release  # noqa: E402  (found beside this file)

EXAMPLE = "examples/use_one_library"


def run(folder, *command):
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def copy_files(tree, target):
    """Copies every file that is committed or could be."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
        cwd=tree, check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, listed):
        if (tree / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, target / name)


def commit_version(tree):
    """Makes the folder a repository whose one commit is a released version; returns its tag."""
    version = release.module_version((tree / "MODULE.bazel").read_text())
    changelog = tree / "CHANGELOG.md"
    if not re.search(r"(?m)^## %s(?!\S)" % re.escape(version), changelog.read_text()):
        changelog.write_text("## %s\n\n* A trial.\n\n%s" % (version, changelog.read_text()))
    tag = "v" + version
    run(tree, "git", "init", "--quiet")
    run(tree, "git", "add", "--all", "--force")
    run(tree, "git", "-c", "user.name=trial", "-c", "user.email=trial@localhost",
        "commit", "--quiet", "--message=A trial of a release")
    run(tree, "git", "tag", tag)
    return tag


def replace_region(path, replacement):
    """Replaces the lines between "# region import" and "# endregion"."""
    text, count = re.subn(r"(?s)# region import\n.*?# endregion\n", lambda _: replacement,
                          path.read_text())
    if count != 1:
        raise ValueError("%s has %d regions named import, not one" % (path, count))
    path.write_text(text)


def import_by_workspace(importer, url, integrity, version):
    digest = base64.b64decode(integrity.partition("-")[2]).hex()
    replace_region(importer / "WORKSPACE", """\
load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")

http_archive(
    name = "footprint",
    sha256 = "%s",
    strip_prefix = "footprint-%s",
    url = "%s",
)

load("@footprint//third_party:repositories.bzl", "footprint_repositories")

footprint_repositories()
""" % (digest, version, url))


def import_by_module(importer, module, version):
    path = importer / "MODULE.bazel"
    text = re.sub(r'(?s)bazel_dep\(name = "footprint", .*?\n\).*?\n', lambda _: (
        'bazel_dep(name = "%s", version = "%s", repo_name = "footprint")\n' % (module, version)),
                  path.read_text(), count=1)
    if "_override" in text or module not in text:
        raise ValueError("%s does not take footprint from a folder" % path)
    path.write_text(text)


def make_importer(tree, importer, only=None):
    """Copies the example, or the part of it that uses one library."""
    shutil.copytree(tree / EXAMPLE, importer, ignore=shutil.ignore_patterns("bazel-*"))
    for folder in importer.glob("*_alone"):
        if only and folder.name != only + "_alone":
            shutil.rmtree(folder)
    flags = (tree / "tools/bazelrc/footprint.bazelrc").read_text()
    replace_region(importer / ".bazelrc", flags)


def make(tree, output, seen_as):
    """Writes the release and the importers into `output`, which must not exist."""
    copy = output / "tree"
    copy_files(tree, copy)
    tag = commit_version(copy)
    version = tag[1:]
    url = "file://%s/footprint-%s.tar.gz" % (seen_as, version)
    release.release(copy, output, url, tag)
    source = output / "registry/modules/footprint" / version / "source.json"
    integrity = json.loads(source.read_text())["integrity"]

    make_importer(tree, output / "importer")
    import_by_workspace(output / "importer", url, integrity, version)
    import_by_module(output / "importer", "footprint", version)
    for folder in sorted((tree / EXAMPLE).glob("*_alone")):
        library = folder.name[:-len("_alone")]
        importer = output / ("importer_of_" + library)
        make_importer(tree, importer, only=library)
        (importer / "WORKSPACE").unlink()
        import_by_module(importer, "footprint_" + library, version)
    shutil.rmtree(copy)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--seen-as", default="")
    parser.add_argument("output", type=pathlib.Path)
    options = parser.parse_args()
    if options.output.exists():
        parser.error("%s already exists" % options.output)
    make(options.tree, options.output, options.seen_as or options.output.absolute())


if __name__ == "__main__":
    main()
