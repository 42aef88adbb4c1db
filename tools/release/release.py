#!/usr/bin/env python3
"""Makes the source archive of a release, and the hash that registries ask for.

    release.py [--tree=.] [--output=.cache/release] [--url=TEMPLATE] TAG

TAG is "v" and the version of MODULE.bazel, and stands at HEAD. Writes
footprint-VERSION.tar.gz, the same bytes for a commit wherever it is made with
the same git and zlib: files in git's order, their times the commit's, no name
or time in gzip's header. Prints its path and its integrity, "sha256-" and the
hash in base64.

With --url, also source.json, the registry's entry made of
.bcr/source.template.json: TEMPLATE is where the archive will be found, and may
hold {VERSION} and {TAG}.

Exit 1, and nothing is written: the tree has changes, the tag is not at HEAD or
is not MODULE.bazel's version, or CHANGELOG.md has no heading of the version.
"""

import argparse
import base64
import gzip
import hashlib
import json
import pathlib
import re
import subprocess
import sys


class Refused(Exception):
    """Why there is no release."""


def git(tree, *arguments):
    result = subprocess.run(["git", *arguments], cwd=tree, capture_output=True, check=False)
    if result.returncode != 0:
        raise Refused("git %s: %s" % (" ".join(arguments), result.stderr.decode().strip()))
    return result.stdout


def module_version(module_text):
    """The version in MODULE.bazel's own module(), not that of a dependency."""
    module = re.search(r"(?ms)^module\((.*?)\)$", module_text)
    version = re.search(r'\bversion = "([^"]+)"', module[1]) if module else None
    if not version:
        raise Refused("MODULE.bazel has no module(version = ...)")
    return version[1]


def refuse_unreleasable(tree, tag):
    """The version that may be released as `tag`."""
    changes = git(tree, "status", "--porcelain").decode().splitlines()
    if changes:
        raise Refused("the tree has changes, such as %r: commit or remove them" % changes[0])
    tagged = git(tree, "rev-parse", "--verify", "refs/tags/%s^{commit}" % tag)
    if tagged != git(tree, "rev-parse", "HEAD"):
        raise Refused("%s is not at HEAD: check it out, and test what you release" % tag)
    version = module_version((tree / "MODULE.bazel").read_text())
    if tag != "v" + version:
        raise Refused("tag %s, but MODULE.bazel says version %s: want tag v%s"
                      % (tag, version, version))
    if not re.search(r"(?m)^## %s\b" % re.escape(version), (tree / "CHANGELOG.md").read_text()):
        raise Refused("CHANGELOG.md has no heading '## %s'" % version)
    return version


def archive_bytes(tree, tag, version):
    """A tar of the tagged tree, compressed; what a user's git is set to has no part in it."""
    tar = git(tree, "-c", "tar.umask=0022", "archive", "--format=tar",
              "--prefix=footprint-%s/" % version, tag + "^{commit}")
    return gzip.compress(tar, compresslevel=9, mtime=0)


def integrity_of(data):
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()


def source_entry(template_text, url, tag, version, integrity):
    """The registry's source.json."""
    def filled(text):
        return text.replace("{VERSION}", version).replace("{TAG}", tag)

    entry = json.loads(template_text)
    entry["integrity"] = integrity
    entry["strip_prefix"] = filled(entry["strip_prefix"])
    entry["url"] = filled(url)
    return json.dumps(entry, indent=2) + "\n"


def release(tree, output, url, tag):
    """Writes the files; what to print."""
    version = refuse_unreleasable(tree, tag)
    data = archive_bytes(tree, tag, version)
    integrity = integrity_of(data)
    output.mkdir(parents=True, exist_ok=True)
    archive = output / ("footprint-%s.tar.gz" % version)
    archive.write_bytes(data)
    said = ["archive    %s" % archive, "integrity  %s" % integrity]
    if url:
        entry = output / "source.json"
        template = (tree / ".bcr/source.template.json").read_text()
        entry.write_text(source_entry(template, url, tag, version, integrity))
        said.append("entry      %s" % entry)
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(".cache/release"))
    parser.add_argument("--url", default="")
    parser.add_argument("tag")
    args = parser.parse_args()
    try:
        print("\n".join(release(args.tree, args.output, args.url, args.tag)))
    except Refused as reason:
        sys.exit("release: %s" % reason)


if __name__ == "__main__":
    main()
