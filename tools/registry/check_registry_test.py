"""Tests that this tree resolves from the public registry, and that what does not is refused."""

import json
import pathlib
import tempfile
import unittest

import check_registry
import resolution

TREE = pathlib.Path(__file__).parent.parent.parent
FACTS = resolution.Facts(json.loads(check_registry.FACTS.read_text()))
MODULES = check_registry.read_modules(TREE)
OWN = MODULES["MODULE.bazel"]


def with_version(module, name, version):
    """Returns the module with another version asked of one dependency."""
    assert any(dependency.name == name for dependency in module.dependencies)
    return module._replace(dependencies=tuple(
        dependency._replace(version=version) if dependency.name == name else dependency
        for dependency in module.dependencies))


class ThisTreeTest(unittest.TestCase):
    """Bazel does not see examples/, so `tools/dev registry` looks at theirs."""

    def test_every_module_file_resolves_under_every_bazel(self):
        lines, faults = check_registry.check_resolution(MODULES, FACTS)
        self.assertEqual(faults, [])
        self.assertRegex(lines[0], r"^MODULE.bazel: \d+ modules$")

    def test_one_library_alone_needs_some_thirty_modules(self):
        # lowmem reads tokenizers with two libraries of its own: decision 58.
        for name, most in (("footprint_memo", 30), ("footprint_trainer_manager", 30),
                           ("footprint_lowmem", 31)):
            for bazel in check_registry.BAZELS:
                result = resolution.resolve(MODULES[name], FACTS, bazel)
                self.assertEqual(result.faults, [])
                self.assertLessEqual(len(result.selected), most, name)

    def test_versions_that_were_wrong_once_are_refused(self):
        for name, version, wanted in (
                ("abseil-cpp", "20260817.0", "conflict"),
                ("googletest", "1.18.0", "conflict"),
                ("liburing", "2.14.bcr.2", "missing: liburing 2.14.bcr.2"),
                ("elfutils", "0.194", "missing: elfutils 0.194")):
            with self.subTest(name=name):
                _, faults = check_registry.check_resolution(
                    {"MODULE.bazel": with_version(OWN, name, version)}, FACTS)
                self.assertTrue(any(wanted in fault for fault in faults), faults)

    def test_a_version_that_nobody_recorded_is_a_fault(self):
        _, faults = check_registry.check_resolution(
            {"MODULE.bazel": with_version(OWN, "highway", "99.0")}, FACTS)
        self.assertTrue(any("missing: highway 99.0" in fault for fault in faults), faults)

    def test_facts_hold_every_module_that_resolution_reads(self):
        kept = json.loads(check_registry.FACTS.read_text())
        again = resolution.collect_facts([*MODULES.values(), *check_registry.REFUSED], FACTS)
        self.assertLessEqual(set(again["modules"]), set(kept["modules"]))


class ResolutionTest(unittest.TestCase):
    """Small registries, each as a folder."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        (pathlib.Path(self._folder.name) / "modules").mkdir()

    def add(self, name, version, *dependencies, level=0, bazel=()):
        path = pathlib.Path(self._folder.name, "modules", name, version)
        path.mkdir(parents=True)
        lines = ["module(name = %r, version = %r, compatibility_level = %d,"
                 " bazel_compatibility = %r)" % (name, version, level, list(bazel))]
        (path / "MODULE.bazel").write_text("\n".join(lines + list(dependencies)) + "\n")

    def resolve(self, *dependencies, bazel=(7, 7, 1)):
        root = resolution.read_module(
            "module(name = 'root')\n" + "\n".join(dependencies), with_development=True)
        checkout = resolution.Checkout(self._folder.name)
        result = resolution.resolve(root, checkout, bazel)
        # The copied facts must answer like the checkout.
        facts = resolution.Facts(json.loads(json.dumps(
            resolution.collect_facts([root], checkout))))
        self.assertEqual(result, resolution.resolve(root, facts, bazel))
        return result

    def test_the_highest_asked_version_is_selected_not_the_newest(self):
        self.add("b", "1.0")
        self.add("b", "1.2")
        self.add("b", "1.10")
        self.add("b", "2.0")
        self.add("a", "1.0", "bazel_dep(name = 'b', version = '1.10')")
        result = self.resolve("bazel_dep(name = 'a', version = '1.0')",
                              "bazel_dep(name = 'b', version = '1.2')")
        self.assertEqual(result, ({"a": "1.0", "b": "1.10"}, []))

    def test_development_of_others_does_not_count(self):
        self.add("a", "1.0", "bazel_dep(name = 'b', version = '1.0', dev_dependency = True)")
        self.assertEqual(self.resolve("bazel_dep(name = 'a', version = '1.0')").selected,
                         {"a": "1.0"})

    def test_two_levels_conflict_until_bazel_ignores_them(self):
        self.add("b", "1.0", level=1)
        self.add("b", "2.0", level=2)
        self.add("a", "1.0", "bazel_dep(name = 'b', version = '1.0')")
        asked = ("bazel_dep(name = 'b', version = '2.0')", "bazel_dep(name = 'a', version = '1.0')")
        for bazel in ((7, 7, 1), (8, 5, 0), (9, 0, 0)):
            self.assertIn("conflict", self.resolve(*asked, bazel=bazel).faults[0])
        for bazel in ((8, 6, 0), (9, 1, 0)):
            self.assertEqual(self.resolve(*asked, bazel=bazel),
                             ({"a": "1.0", "b": "2.0"}, []))

    def test_a_dependency_may_allow_a_higher_level(self):
        self.add("b", "1.0", level=1)
        self.add("b", "2.0", level=2)
        self.add("a", "1.0",
                 "bazel_dep(name = 'b', version = '1.0', max_compatibility_level = 2)")
        result = self.resolve("bazel_dep(name = 'b', version = '2.0')",
                              "bazel_dep(name = 'a', version = '1.0')")
        self.assertEqual(result, ({"a": "1.0", "b": "2.0"}, []))

    def test_a_module_that_refuses_this_bazel_is_a_fault_only_if_selected(self):
        self.add("b", "1.0", bazel=[">=8.0.0"])
        self.add("b", "1.1")
        result = self.resolve("bazel_dep(name = 'b', version = '1.0')")
        self.assertEqual(result.faults, ["bazel: b 1.0 wants Bazel >=8.0.0"])
        self.add("a", "1.0", "bazel_dep(name = 'b', version = '1.1')")
        result = self.resolve("bazel_dep(name = 'b', version = '1.0')",
                              "bazel_dep(name = 'a', version = '1.0')")
        self.assertEqual(result.faults, [])

    def test_a_withdrawn_version_is_a_fault(self):
        self.add("b", "1.0")
        path = pathlib.Path(self._folder.name, "modules", "b", "metadata.json")
        path.write_text(json.dumps({"yanked_versions": {"1.0": "broken"}}))
        self.assertEqual(self.resolve("bazel_dep(name = 'b', version = '1.0')").faults,
                         ["yanked: b 1.0: broken"])

    def test_a_missing_module_and_a_missing_version_are_told_apart(self):
        self.add("b", "1.0")
        result = self.resolve("bazel_dep(name = 'b', version = '3.0')",
                              "bazel_dep(name = 'c', version = '1.0')")
        self.assertEqual(result.faults, [
            "missing: b 3.0 is not in the registry, which has 1.0",
            "missing: c 1.0 is not in the registry, which has no such module"])

    def test_versions_order_as_bazel_orders_them(self):
        ordered = ["1.0-rc1", "1.0", "1.0.bcr.1", "1.2", "1.10", "2.0-a", "2.0"]
        self.assertEqual(sorted(reversed(ordered), key=resolution.version_key), ordered)


class _Overlay:
    """A registry that adds one BUILD file to elfutils and one to cpp-httplib."""

    _TEXTS = {"elfutils": 'cc_library(name = "dw")',
              "cpp-httplib": 'local_defines = ["CPPHTTPLIB_ZLIB_SUPPORT"]'}

    def overlay(self, name, unused_version):
        return {"": self._TEXTS[name]} if name in self._TEXTS else {}


class OverlayTest(unittest.TestCase):
    def test_a_label_that_the_registry_lacks_is_a_fault(self):
        files = {"BUILD": '["@elfutils//:libdw", "@elfutils//:dw", "@highway//:hwy"]'}
        lines, faults = check_registry.check_labels(files, OWN, _Overlay())
        self.assertEqual(len([fault for fault in faults if "elfutils" in fault]), 1)
        self.assertIn("@elfutils//:libdw", faults[0])
        self.assertIn("highway", lines[-1])

    def test_a_rule_that_includes_a_header_without_its_defines_is_a_fault(self):
        defines = 'D = ["CPPHTTPLIB_ZLIB_SUPPORT"]\n'
        bare = 'cc_library(\n    name = "bare",\n    deps = ["@cpp-httplib"],\n)\n'
        mended = bare.replace("bare", "mended").replace("deps", "local_defines = D,\n    deps")

        def faults(text):
            return check_registry.check_header_defines({"BUILD": text}, OWN, _Overlay())

        self.assertEqual(faults(defines + mended), [])
        self.assertEqual(len(faults(defines + mended + bare)), 1)
        self.assertIn("BUILD: bare uses @cpp-httplib", faults(defines + bare)[0])
        for label, file in (("//a:d.bzl", "a/d.bzl"), (":d.bzl", "b/d.bzl")):
            files = {"b/BUILD": 'load("%s", "D")\n' % label + mended, file: defines}
            self.assertEqual(check_registry.check_header_defines(files, OWN, _Overlay()), [])
            files[file] = "D = []\n"
            self.assertEqual(
                len(check_registry.check_header_defines(files, OWN, _Overlay())), 1)
        self.assertIn("mended", faults(mended)[0])


if __name__ == "__main__":
    unittest.main()
