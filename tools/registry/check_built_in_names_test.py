"""Tests of check_built_in_names on lines that Bazel 9 takes and refuses."""

import unittest

import check_built_in_names


def faults(path, *lines):
    return check_built_in_names.faults(path, "\n".join(lines) + "\n")


class CheckBuiltInNamesTest(unittest.TestCase):
    def test_a_rule_that_is_loaded_is_fine(self):
        self.assertEqual(faults(
            "a/BUILD", 'load("@rules_cc//cc:cc_library.bzl", "cc_library")',
            'cc_library(name = "a", srcs = glob(["*.cc"]))'), [])

    def test_a_rule_that_is_not_loaded_is_named_with_its_line(self):
        found = faults("a/BUILD", '"""A package."""', 'cc_library(name = "a")')
        self.assertEqual(found, ["a/BUILD:2: Bazel 9 has no cc_library of its own: load it"])

    def test_a_provider_that_is_not_loaded_is_named(self):
        found = faults("a.bzl", "def f(dep):", "    return dep[CcInfo], native.sh_test")
        self.assertEqual(len(found), 2)
        self.assertIn("a.bzl:2: Bazel 9 has no CcInfo", found[0] + found[1])
        self.assertIn("native.sh_test", found[0] + found[1])

    def test_what_bazel_9_has_and_what_a_file_binds_is_fine(self):
        self.assertEqual(faults(
            "a.bzl", 'load(":b.bzl", _c = "c", d = "e")', "F = provider(fields = [])",
            "def _f(x, **kwargs):", "    for y in [_c(z) for z in x]:",
            "        native.alias(name = y, actual = d, **kwargs)", "    return F()"), [])

    def test_a_name_of_bzl_files_is_none_of_build_files(self):
        self.assertEqual(len(faults("a/BUILD", "rule(implementation = 1)")), 1)


if __name__ == "__main__":
    unittest.main()
