"""Tests of check_layers on queries of a few rules."""

import unittest

import check_layers

LAYERS = check_layers.parse_layers("""
# ground
base: @abseil-cpp
top: //base:open  # one target
top testonly: @googletest //base
top:bench: @google_benchmark
top:bench_main:
""")


def query(name, inputs, kind="cc_library", testonly="false"):
    lines = ['<rule class="%s" name="%s">' % (kind, name)]
    lines += ['<boolean name="testonly" value="%s"/>' % testonly]
    lines += ['<rule-input name="%s"/>' % label for label in inputs]
    return "".join(lines + ["</rule>"])


def violations(*rules):
    known = [query("//base:open", []), query("//base:closed", []), query("//top:x", [])]
    text = "<query>%s</query>" % "".join(list(rules) + known)
    return check_layers.violations(check_layers.parse_query(text), LAYERS)


class CheckLayersTest(unittest.TestCase):
    def test_an_edge_down_to_an_allowed_target_is_fine(self):
        self.assertEqual(violations(query("//top:y", ["//base:open"])), [])

    def test_an_edge_to_another_target_of_the_package_is_named(self):
        found = violations(query("//top:y", ["//base:closed"]))
        self.assertIn("//top:y depends on //base:closed", found[0])

    def test_an_edge_up_is_named(self):
        found = violations(query("//base:y", ["//top:x"]))
        self.assertIn("//base:y depends on //top:x", found[0])

    def test_tests_may_use_more(self):
        test = query("//top:y_test", ["//base:closed", "@googletest//:gtest"], kind="cc_test")
        self.assertEqual(violations(test), [])
        helper = query("//top:helper", ["@googletest//:gtest"], testonly="true")
        self.assertEqual(violations(helper), [])

    def test_a_repository_that_is_not_listed_is_named(self):
        found = violations(query("//base:y", ["@eigen//:eigen"]))
        self.assertIn("@eigen//:eigen", found[0])

    def test_a_target_with_a_line_of_its_own_may_use_more(self):
        bench = query("//top:bench", ["@google_benchmark//:benchmark"])
        self.assertEqual(violations(bench), [])
        self.assertEqual(violations(bench, query("//top:bench_main", ["//top:bench"])), [])
        self.assertEqual(
            violations(bench, query("//top:y", ["//top:bench"], testonly="true")), [])

    def test_a_library_does_not_use_such_a_target_in_turn(self):
        found = violations(
            query("//top:bench", ["@google_benchmark//:benchmark"]),
            query("//top:y", ["//top:bench"]))
        self.assertEqual(len(found), 1)
        self.assertIn("//top:y depends on //top:bench", found[0])

    def test_toolchains_and_files_are_no_edges(self):
        self.assertEqual(violations(
            query("//base:y", ["@bazel_tools//tools/cpp:toolchain", "//top:x.txt", "//base:open"])
        ), [])

    def test_an_inner_package_belongs_to_the_nearest_listed_one(self):
        self.assertEqual(violations(query("//base/inner:y", ["//base:closed"])), [])
        self.assertIn("not in layers.txt", violations(query("//other:y", []))[0])

    def test_a_malformed_line_is_refused_by_number(self):
        with self.assertRaisesRegex(ValueError, "line 2"):
            check_layers.parse_layers("\nbase = @abseil-cpp")


if __name__ == "__main__":
    unittest.main()
