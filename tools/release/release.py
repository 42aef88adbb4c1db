#!/usr/bin/env python3
"""Makes the source archive of a release, and the hash that registries ask for.

    release.py [--tree=.] [--output=.cache/release] [--url=TEMPLATE] TAG

TAG is "v" and the version of MODULE.bazel, and stands at HEAD. Writes
footprint-VERSION.tar.gz, the same bytes for a commit wherever it is made with
the same git and zlib: files in git's order, their times the commit's, gzip's
header a constant, and no setting or attribute of a user's git. Prints its path
and its integrity, "sha256-" and the hash in base64.

Also writes release_notes.md, the version's section of CHANGELOG.md.

With --url, also registry/, a registry that holds this version: of the module
footprint, and of each light module of .bcr/light_modules.json, which is the same
archive with a MODULE.bazel that asks for less. Its files are the entries for the
public registry. TEMPLATE is where the archive will be found, and may hold
{VERSION} and {TAG}.

Exit 1, and nothing is written: the tree has changes, the tag is not there, not
at HEAD or not MODULE.bazel's version, CHANGELOG.md has no heading of the
version, an example asks for another one, --url holds another word in braces,
or the output has an archive of this version with other bytes, since a registry
may have the hash of those.
"""

import argparse
import base64
import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import zlib


# A member without flags, name and time, with the best compression and an
# unknown system. Some versions of Python's gzip module write the system's name.
GZIP_HEADER = bytes.fromhex("1f8b08000000000002ff")

# Settings that change what `git archive` writes.
ARCHIVE_SETTINGS = ("tar.umask=0022", "core.autocrlf=false", "core.eol=lf",
                    "core.attributesFile=/dev/null")


class Refused(Exception):
    """Why there is no release."""


def git(tree, *arguments):
    result = subprocess.run(
        ["git", *arguments], cwd=tree, capture_output=True, check=False,
        env=dict(os.environ, GIT_ATTR_NOSYSTEM="1", GIT_NO_REPLACE_OBJECTS="1"))
    if result.returncode != 0:
        raise Refused("git %s: %s" % (" ".join(arguments), result.stderr.decode().strip()))
    return result.stdout


def module_version(module_text):
    """Returns the version in MODULE.bazel's own module(), not that of a dependency."""
    module = re.search(r"(?ms)^module\((.*?)\)$", module_text)
    version = re.search(r'\bversion = "([^"]+)"', module[1]) if module else None
    if not version:
        raise Refused("MODULE.bazel has no module(version = ...)")
    return version[1]


def refuse_tree(tree):
    """Fails if the tree is not the commit."""
    if git(tree, "rev-parse", "--show-prefix").strip():
        raise Refused("%s is a folder of a repository, not its top" % tree)
    changes = git(tree, "status", "--porcelain", "--untracked-files=normal").decode().splitlines()
    if changes:
        raise Refused("the tree has changes, such as %r: commit or remove them" % changes[0])
    # No setting of git disables this file.
    attributes = tree / git(tree, "rev-parse", "--git-path", "info/attributes").decode().strip()
    if attributes.exists() and re.search(r"(?m)^\s*[^#\s]", attributes.read_text()):
        raise Refused("%s may change the archive: move it away" % attributes)


def refuse_tag(tree, tag):
    """Fails if the tag does not exist, or is not of this commit."""
    if git(tree, "tag", "--list", "--", tag).decode().split() != [tag]:
        raise Refused("there is no tag %r" % tag)
    if git(tree, "rev-parse", "refs/tags/%s^{commit}" % tag) != git(tree, "rev-parse", "HEAD"):
        raise Refused("%s is not at HEAD: check it out, and test what you release" % tag)


def refuse_version(tree, tag, version):
    """Fails if the tag or a file of the tree has another version."""
    if tag != "v" + version:
        raise Refused("tag %s, but MODULE.bazel says version %s: want tag v%s"
                      % (tag, version, version))
    heading = r"(?m)^## %s(?!\S)" % re.escape(version)
    if not re.search(heading, (tree / "CHANGELOG.md").read_text()):
        raise Refused("CHANGELOG.md has no heading '## %s'" % version)
    for module in sorted(tree.glob("examples/*/MODULE.bazel")):
        for asked in re.findall(r'name = "footprint",\s*version = "([^"]+)"', module.read_text()):
            if asked != version:
                raise Refused("%s asks for version %s, not %s"
                              % (module.relative_to(tree), asked, version))


def refuse_unreleasable(tree, tag):
    """Returns the version that may be released as `tag`."""
    refuse_tree(tree)
    refuse_tag(tree, tag)
    version = module_version((tree / "MODULE.bazel").read_text())
    refuse_version(tree, tag, version)
    return version


def gzipped(tar):
    """Returns the bytes compressed, the same for the same zlib."""
    deflate = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)
    return (GZIP_HEADER + deflate.compress(tar) + deflate.flush()
            + struct.pack("<II", zlib.crc32(tar), len(tar) % 2**32))


def archive_bytes(tree, tag, version):
    """Returns a compressed tar of the tagged tree, which the user's git settings do not affect."""
    settings = [word for setting in ARCHIVE_SETTINGS for word in ("-c", setting)]
    tar = git(tree, *settings, "archive", "--format=tar",
              "--prefix=footprint-%s/" % version, "refs/tags/%s^{commit}" % tag)
    return gzipped(tar)


def integrity_of(data):
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()


def source_entry(template_text, url, tag, version, integrity, overlay=None):
    """Returns a source.json. `overlay` maps the paths of files that replace the archive's."""
    def filled(text):
        return text.replace("{VERSION}", version).replace("{TAG}", tag)

    entry = json.loads(template_text)
    entry["integrity"] = integrity
    entry["strip_prefix"] = filled(entry["strip_prefix"])
    entry["url"] = filled(url)
    unknown = re.search(r"\{[^}]*\}?", entry["url"])
    if unknown:
        raise Refused("--url has %s: only {VERSION} and {TAG} are known" % unknown[0])
    if overlay:
        entry["overlay"] = {path: integrity_of(data) for path, data in overlay.items()}
    return (json.dumps(entry, indent=2) + "\n").encode()


# Modules whose rules every BUILD file of the tree loads.
RULES = ("rules_cc", "rules_shell", "platforms", "protobuf")


def declaration_of(repository, module_text):
    """Returns the paragraphs of MODULE.bazel that declare a repository, or "".

    The first has the call that names the repository, and one before it may
    have the rule or extension that it calls.
    """
    paragraphs = re.split(r"\n{2,}", module_text)
    for call in paragraphs:
        named = re.search(r'^(?:use_repo\((\w+), "%s"\)|(\w+)\(name = "%s"\))$'
                          % (repository, repository), call, re.M)
        if named:
            made = re.compile(r"^%s = use_" % (named[1] or named[2]), re.M)
            return "\n\n".join(each for each in paragraphs if each == call or made.search(each))
    return ""


def light_module(module_text, name, needs):
    """Returns a MODULE.bazel that asks for `needs` and the rules alone, in the tree's versions.

    `needs` are modules, and repositories that MODULE.bazel declares itself.
    """
    kept = re.search(r"(?ms)^module\(.*?^\)$", module_text)[0].replace(
        'name = "footprint"', 'name = "%s"' % name)
    asked = dict(re.findall(r'(?m)^(bazel_dep\(name = "([^"]+)".*\))$', module_text))
    asked = {module: line for line, module in asked.items()}
    declared = {need: declaration_of(need, module_text) for need in set(needs) - set(asked)}
    missing = sorted(need for need, text in declared.items() if not text)
    if missing:
        raise Refused("%s needs %s, which MODULE.bazel does not name" % (name, missing[0]))
    lines = [line for module, line in asked.items() if module in needs or module in RULES]
    repositories = ["\n" + declared[need] for need in sorted(declared)]
    return "\n".join(['"""A part of Footprint that needs fewer modules; made by tools/release."""',
                      "", kept, "", *lines, *repositories, ""])


def registry_files(tree, url, tag, version, integrity):
    """Returns path -> bytes of a registry that holds this version alone."""
    template = (tree / ".bcr/source.template.json").read_text()
    module_text = (tree / "MODULE.bazel").read_text()
    folder = pathlib.Path("registry/modules/footprint") / version
    files = {
        pathlib.Path("registry/bazel_registry.json"): b"{}\n",
        folder / "MODULE.bazel": module_text.encode(),
        folder / "source.json": source_entry(template, url, tag, version, integrity),
    }
    for name, needs in json.loads((tree / ".bcr/light_modules.json").read_text()).items():
        folder = pathlib.Path("registry/modules") / name / version
        light = light_module(module_text, name, needs).encode()
        files[folder / "MODULE.bazel"] = files[folder / "overlay/MODULE.bazel"] = light
        files[folder / "source.json"] = source_entry(
            template, url, tag, version, integrity, {"MODULE.bazel": light})
    return files


def release_notes(changelog_text, version):
    """Returns the section of a version, without its heading."""
    section = re.search(r"(?ms)^## %s(?!\S).*?\n(.*?)(?=^## |\Z)" % re.escape(version),
                        changelog_text)[1].strip()
    if not section:
        raise Refused("CHANGELOG.md says nothing below '## %s'" % version)
    return (section + "\n").encode()


def release(tree, output, url, tag):
    """Writes the files. Returns the text to print."""
    version = refuse_unreleasable(tree, tag)
    data = archive_bytes(tree, tag, version)
    integrity = integrity_of(data)
    archive = output / ("footprint-%s.tar.gz" % version)
    if archive.exists() and archive.read_bytes() != data:
        raise Refused("%s is there with other bytes: remove it if nobody has it,"
                      " else release a new version" % archive)
    said = ["archive    %s" % archive, "integrity  %s" % integrity]
    notes = output / "release_notes.md"
    files = {archive: data,
             notes: release_notes((tree / "CHANGELOG.md").read_text(), version)}
    said.append("notes      %s" % notes)
    if url:
        for path, content in registry_files(tree, url, tag, version, integrity).items():
            files[output / path] = content
        said.append("registry   %s" % (output / "registry"))
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
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
    # A file or folder that cannot be read or written is reported as briefly.
    except (Refused, OSError) as reason:
        sys.exit("release: %s" % reason)


if __name__ == "__main__":
    main()
