"""Tests of release in a scratch git repository."""

import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

import release

MODULE = '''module(
    name = "footprint",
    version = "1.2.3",
)

bazel_dep(name = "rules_cc", version = "0.2.0")
bazel_dep(name = "other", version = "9.9.9")
bazel_dep(name = "heavy", version = "8.8.8")

rule = use_repo_rule("//:rule.bzl", "rule")
'''
TEMPLATE = '{"integrity": "", "strip_prefix": "footprint-{VERSION}", "url": ""}'


class ReleaseTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.output = pathlib.Path(self.folder.name) / "output"
        self.tree = self.repository("tree")

    def repository(self, name):
        """Makes a repository of one commit at a given time, with the tag v1.2.3."""
        tree = pathlib.Path(self.folder.name) / name
        (tree / ".bcr").mkdir(parents=True)
        (tree / "MODULE.bazel").write_text(MODULE)
        (tree / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3\n\n* first\n")
        (tree / "examples/one").mkdir(parents=True)
        (tree / "examples/one/MODULE.bazel").write_text(
            'module(name = "importer")\nbazel_dep(name = "footprint", version = "1.2.3")\n')
        (tree / ".bcr/source.template.json").write_text(TEMPLATE)
        (tree / ".bcr/light_modules.json").write_text('{"footprint_light": ["other"]}')
        (tree / "run").write_text("#!/bin/sh\n")
        (tree / "run").chmod(0o755)
        self.git(tree, "init", "-q")
        self.commit(tree)
        self.git(tree, "tag", "v1.2.3")
        return tree

    def commit(self, tree):
        self.git(tree, "add", "-A")
        self.git(tree, "commit", "-q", "-m", "a commit")

    def git(self, tree, *arguments):
        when = "2020-01-02T03:04:05+0000"
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
            cwd=tree, check=True,
            env=dict(os.environ, HOME=self.folder.name, GIT_AUTHOR_DATE=when,
                     GIT_COMMITTER_DATE=when))

    def release(self, tag="v1.2.3", url=""):
        return release.release(self.tree, self.output, url, tag)

    def archive(self):
        return (self.output / "footprint-1.2.3.tar.gz").read_bytes()

    def assert_refused(self, why, tag="v1.2.3"):
        with self.assertRaisesRegex(release.Refused, why):
            self.release(tag)
        self.assertFalse(self.output.exists())

    def test_archives_what_is_committed_below_one_folder(self):
        self.release()
        with tarfile.open(fileobj=io.BytesIO(self.archive())) as archive:
            members = {member.name: member for member in archive.getmembers() if member.isfile()}
        self.assertEqual(set(members), {
            "footprint-1.2.3/" + name
            for name in ("MODULE.bazel", "CHANGELOG.md", ".bcr/source.template.json",
                         ".bcr/light_modules.json", "run",
                         "examples/one/MODULE.bazel")})
        self.assertEqual({member.mtime for member in members.values()}, {1577934245})
        self.assertEqual(members["footprint-1.2.3/run"].mode & 0o777, 0o755)

    def test_same_commit_gives_same_bytes(self):
        self.release()
        first = self.archive()
        # This is another checkout, with files of another time and a user with
        # other settings.
        self.tree = self.repository("another")
        os.utime(self.tree / "run", (0, 0))
        attributes = pathlib.Path(self.folder.name) / "attributes"
        attributes.write_text("run export-ignore\n")
        for setting, value in (("tar.umask", "0077"), ("core.autocrlf", "true"),
                               ("core.attributesFile", str(attributes))):
            self.git(self.tree, "config", setting, value)
        self.output = pathlib.Path(self.folder.name) / "another_output"
        self.release()
        self.assertEqual(first, self.archive())

    def test_the_archives_own_header_tells_no_time_no_name_and_no_system(self):
        # The version of Python does not matter either: the gzip module of 3.11
        # and 3.12 writes "Unix".
        self.release()
        self.assertEqual(self.archive()[:10].hex(), "1f8b08000000000002ff")
        self.assertEqual(gzip.decompress(self.archive())[:16], b"pax_global_heade")

    def test_an_archive_is_not_replaced_by_another(self):
        self.release()
        self.release()
        first = self.archive()
        (self.tree / "run").write_text("changed")
        self.commit(self.tree)
        self.git(self.tree, "tag", "-f", "v1.2.3")
        with self.assertRaisesRegex(release.Refused, "is there with other bytes"):
            self.release()
        self.assertEqual(self.archive(), first)

    def test_refuses_attributes_that_no_setting_turns_off(self):
        attributes = self.tree / ".git/info/attributes"
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_text("# none\n\n")
        self.release()
        self.output = pathlib.Path(self.folder.name) / "another_output"
        attributes.write_text("run export-ignore\n")
        self.assert_refused("info/attributes may change the archive")

    def test_refuses_a_folder_of_a_repository(self):
        self.tree = self.tree / ".bcr"
        self.assert_refused("not its top")

    def test_prints_the_hash_that_registries_ask_for(self):
        said = self.release()
        digest = hashlib.sha256(self.archive()).digest()
        self.assertIn("integrity  sha256-" + base64.b64encode(digest).decode(), said)

    def entry(self, name):
        """Returns a module's folder in the written registry."""
        return self.output / "registry/modules" / name / "1.2.3"

    def test_writes_a_registry_that_holds_the_version(self):
        said = self.release(url="scheme://host/{TAG}/footprint-{VERSION}.tar.gz")
        entry = json.loads((self.entry("footprint") / "source.json").read_text())
        self.assertEqual(entry["url"], "scheme://host/v1.2.3/footprint-1.2.3.tar.gz")
        self.assertEqual(entry["strip_prefix"], "footprint-1.2.3")
        self.assertNotIn("overlay", entry)
        self.assertIn("integrity  " + entry["integrity"], said)
        self.assertEqual((self.entry("footprint") / "MODULE.bazel").read_text(), MODULE)

    def test_a_light_module_is_the_same_archive_and_asks_for_less(self):
        self.release(url="scheme://host/{VERSION}")
        folder = self.entry("footprint_light")
        text = (folder / "MODULE.bazel").read_text()
        self.assertIn('name = "footprint_light",\n    version = "1.2.3",', text)
        self.assertEqual(re.findall(r'bazel_dep\(name = "(\w+)"', text), ["rules_cc", "other"])
        self.assertNotIn("use_repo_rule", text)
        entry = json.loads((folder / "source.json").read_text())
        whole = json.loads((self.entry("footprint") / "source.json").read_text())
        self.assertEqual(entry["integrity"], whole["integrity"])
        overlay = (folder / "overlay/MODULE.bazel").read_bytes()
        self.assertEqual(overlay, text.encode())
        self.assertEqual(entry["overlay"], {"MODULE.bazel": release.integrity_of(overlay)})

    def test_a_light_module_declares_the_repositories_that_its_rules_name(self):
        for declaration in (
                'rule = use_repo_rule("//:rule.bzl", "rule")\n\nrule(name = "wanted")\n',
                'rule = use_extension("//:e.bzl", "rule")\nuse_repo(rule, "wanted")\n'):
            other = 'other_rule = use_repo_rule("//:o.bzl", "o")\n\nother_rule(name = "unwanted")\n'
            text = MODULE.partition("rule = ")[0] + declaration + "\n" + other
            light = release.light_module(text, "footprint_light", ["other", "wanted"])
            self.assertTrue(light.endswith('version = "9.9.9")\n\n' + declaration), light)

    def test_refuses_a_light_module_that_needs_what_the_tree_does_not_name(self):
        (self.tree / ".bcr/light_modules.json").write_text('{"footprint_light": ["nowhere"]}')
        self.commit(self.tree)
        self.git(self.tree, "tag", "-f", "v1.2.3")
        with self.assertRaisesRegex(release.Refused, "footprint_light needs nowhere"):
            self.release(url="scheme://host/{VERSION}")
        self.assertFalse(self.output.exists())

    def test_release_notes_are_the_versions_section_alone(self):
        (self.tree / "CHANGELOG.md").write_text(
            "# Changelog\n\n## 1.2.3 (a day)\n\n* second\n\n## 1.2.2\n\n* first\n")
        self.commit(self.tree)
        self.git(self.tree, "tag", "-f", "v1.2.3")
        self.release()
        self.assertEqual((self.output / "release_notes.md").read_text(), "* second\n")

    def test_refuses_a_version_of_which_the_changelog_says_nothing(self):
        (self.tree / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3\n\n## 1.2.2\n\n* first\n")
        self.commit(self.tree)
        self.git(self.tree, "tag", "-f", "v1.2.3")
        self.assert_refused("says nothing below '## 1.2.3'")

    def test_refuses_a_tree_with_changes(self):
        (self.tree / "run").write_text("changed")
        self.assert_refused("tree has changes")

    def test_refuses_a_file_that_is_not_committed(self):
        self.git(self.tree, "config", "status.showUntrackedFiles", "no")
        (self.tree / "new").write_text("new")
        self.assert_refused("tree has changes, such as '\\?\\? new'")

    def test_refuses_a_tag_of_another_version(self):
        self.git(self.tree, "tag", "v1.2.4")
        self.assert_refused("want tag v1.2.3", tag="v1.2.4")

    def test_refuses_a_tag_that_is_not_there(self):
        for tag in ("v9.9.9", "HEAD", "", "-x", "v*"):
            with self.subTest(tag=tag):
                self.assert_refused("there is no tag '%s'" % re.escape(tag), tag=tag)

    def test_refuses_a_tag_that_is_not_at_head(self):
        (self.tree / "run").write_text("changed")
        self.commit(self.tree)
        self.assert_refused("not at HEAD")

    def test_refuses_a_version_that_the_changelog_does_not_know(self):
        for heading in ("Not released", "1.2.3-rc1", "1.2.31"):
            with self.subTest(heading=heading):
                (self.tree / "CHANGELOG.md").write_text("# Changelog\n\n## %s\n" % heading)
                self.commit(self.tree)
                self.git(self.tree, "tag", "-f", "v1.2.3")
                self.assert_refused("no heading '## 1.2.3'")

    def test_refuses_an_example_that_asks_for_another_version(self):
        # The README shows it to importers.
        module = self.tree / "examples/one/MODULE.bazel"
        module.write_text(module.read_text().replace("1.2.3", "1.2.2"))
        self.commit(self.tree)
        self.git(self.tree, "tag", "-f", "v1.2.3")
        self.assert_refused("examples/one/MODULE.bazel asks for version 1.2.2, not 1.2.3")

    def test_refuses_an_address_with_a_word_that_it_does_not_know(self):
        for url in ("scheme://host/{OWNER}/{TAG}", "scheme://host/{TAG"):
            with self.subTest(url=url), self.assertRaisesRegex(release.Refused, "--url has {"):
                self.release(url=url)
        self.assertFalse(self.output.exists())

    def run_program(self):
        return subprocess.run(
            [sys.executable, "-B", release.__file__, "--tree", str(self.tree),
             "--output", str(self.output), "v1.2.3"],
            capture_output=True, text=True, check=False)

    def test_a_folder_that_cannot_be_written_is_told_in_a_line(self):
        self.output.write_text("a file")
        ended = self.run_program()
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, "^release: .*%s.*\n$" % re.escape(str(self.output)))

    def test_refusal_ends_the_program_with_1(self):
        (self.tree / "new").write_text("new")
        ended = self.run_program()
        self.assertEqual(ended.returncode, 1)
        self.assertIn("release: the tree has changes", ended.stderr)

    def test_reads_the_modules_version_on_one_line(self):
        self.assertEqual(
            release.module_version('module(name = "footprint", version = "0.1.0")\n'), "0.1.0")
        with self.assertRaises(release.Refused):
            release.module_version('bazel_dep(name = "other", version = "9.9.9")\n')


if __name__ == "__main__":
    unittest.main()
