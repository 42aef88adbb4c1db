"""Tests of materialise_modules on a tree and a root of a few files."""

import pathlib
import tempfile
import unittest

import materialise_modules

REPOSITORIES = '''
load("//third_party:lion_tamer.bzl", "lion_tamer")
load("//third_party:system_repository.bzl", "system_repository")

def _maybe(rule, name, **kwargs):
    if not native.existing_rule(name):
        rule(name = name, **kwargs)

def footprint_repositories():
    _maybe(
        system_repository,
        name = "zoo",
        build_files = {"": "@footprint//third_party:zoo/root.BUILD", "cage": "@footprint//third_party:zoo/cage.BUILD"},
        debian_package = "libzoo-dev",
        files = {"targets.bzl": "@footprint//third_party:zoo/targets.bzl.in"},
        listed_archives = "/usr/lib/libzoo_*.a",
        system_files = {
            "include/zoo": "/usr/include/zoo",
            "zoo.h": "/usr/include/zoo.h",
        },
    )
    _maybe(lion_tamer, name = "tamer")
'''

# This tree; a test reads its MODULE.bazel and third_party/repositories.bzl.
TREE = pathlib.Path(__file__).resolve().parent.parent.parent


class MaterialiseModulesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name) / "tree"
        self.root = pathlib.Path(folder.name) / "root"
        self.write(self.tree / "third_party/zoo/root.BUILD", "root")
        self.write(self.tree / "third_party/zoo/cage.BUILD", "cage")
        self.write(self.tree / "third_party/zoo/targets.bzl.in", "targets")
        self.write(self.root / "usr/lib/libzoo_lion.a", "")
        self.write(self.root / "usr/lib/libzoo_ape.a", "")
        self.write(self.root / "usr/include/zoo.h", "")
        self.write(self.root / "usr/include/zoo/ape.h", "")
        self.zoo = materialise_modules.recorded_repositories(REPOSITORIES)["zoo"]
        self.materialiser = materialise_modules.Materialiser(
            self.tree, self.root, "/modules"
        )

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_knows_every_module_that_this_tree_asks_for(self):
        asked = materialise_modules.asked_versions(
            (TREE / "MODULE.bazel").read_text()
        )
        recorded = materialise_modules.recorded_repositories(
            (TREE / "third_party/repositories.bzl").read_text()
        )
        self.assertIn("abseil-cpp", asked)
        self.assertLessEqual(
            set(asked), set(recorded) | set(materialise_modules.DEBIAN_RULES)
        )
        self.assertNotIn("footprint_system", recorded)

    def test_writes_overlay_and_links_below_the_root(self):
        self.materialiser.library("zoo", self.zoo)
        folder = self.root / "modules/zoo"
        self.assertEqual((folder / "BUILD.bazel").read_text(), "root")
        self.assertEqual((folder / "cage/BUILD.bazel").read_text(), "cage")
        self.assertEqual((folder / "targets.bzl").read_text(), "targets")
        self.assertEqual(
            (folder / "archives.bzl").read_text(),
            "ARCHIVES = ['libzoo_ape.a', 'libzoo_lion.a']\n",
        )
        self.assertEqual(str((folder / "zoo.h").readlink()), "/usr/include/zoo.h")
        self.assertEqual(
            str((folder / "include/zoo").readlink()), "/usr/include/zoo"
        )
        self.assertIn('module(name = "zoo")', (folder / "MODULE.bazel").read_text())

    def test_drops_what_an_earlier_run_left(self):
        self.materialiser.library("zoo", self.zoo)
        self.write(self.root / "modules/zoo/stale/BUILD", "")
        self.materialiser.library("zoo", self.zoo)
        self.assertFalse((self.root / "modules/zoo/stale").exists())

    def test_missing_system_file_names_the_debian_package(self):
        (self.root / "usr/include/zoo.h").unlink()
        with self.assertRaisesRegex(FileNotFoundError, "libzoo-dev"):
            self.materialiser.library("zoo", self.zoo)

    def test_reads_the_versions_of_a_module_file(self):
        self.assertEqual(
            materialise_modules.asked_versions(
                '"""Doc."""\nmodule(name = "a")\nbazel_dep(name = "b", version = "2")\n'
            ),
            {"b": "2"},
        )

    def test_rc_overrides_each_name_and_leaves_the_registry_out(self):
        lines = materialise_modules.rc_lines(self.materialiser, ["zoo"])
        self.assertIn("common --override_module=zoo=/modules/zoo", lines)
        self.assertIn("common --noenable_workspace", lines)


if __name__ == "__main__":
    unittest.main()
