"""Tests of limits on rules and files that are written here."""

import re
import unittest

import limits

parse_query = limits.check_layers.parse_query

QUERY = """<query version="2">
<rule class="cc_library" name="//lowmem/weights:tile"><rule-input name="//base/files:read_at"/></rule>
<rule class="cc_library" name="//lowmem/models:encoder">
  <rule-input name="//lowmem/weights:tile"/><rule-input name="//profiling:page"/></rule>
<rule class="alias" name="//profiling:page"><rule-input name="//profiling/pages:page"/></rule>
<rule class="cc_library" name="//profiling/pages:page"/>
<rule class="cc_library" name="//base/files:read_at"/>
<rule class="cc_test" name="//lowmem/weights:tile_test"><rule-input name="//lowmem/models:encoder"/></rule>
<rule class="cc_binary" name="//gates/deployments/tabular:run"><rule-input name="//lowmem/models:encoder"/></rule>
<rule class="cc_library" name="//gates/judge:evaluate"><rule-input name="//profiling/schema:file"/></rule>
<rule class="cc_library" name="//profiling/schema:file"/>
</query>"""


class LimitsTest(unittest.TestCase):
    def setUp(self):
        self.edges = limits.production_edges(parse_query(QUERY))

    def test_an_edge_between_siblings_is_found_behind_an_alias(self):
        self.assertEqual(
            limits.sibling_edges(self.edges),
            ["//lowmem/models:encoder depends on //profiling/pages:page"])

    def circles(self, query):
        found = limits.limits_of([], {}, parse_query(query), [])
        return next(limit.exceptions for limit in found if limit.what == "circles between rooms")

    def test_tests_make_no_circle(self):
        self.assertEqual(self.circles(QUERY), [])

    def test_a_circle_names_all_its_rooms(self):
        back = '<rule-input name="//gates/deployments/tabular:run"/>'
        circle = QUERY.replace('name="//base/files:read_at"/>\n<rule class="cc_test"',
                               'name="//base/files:read_at">' + back + '</rule>\n<rule class="cc_test"')
        self.assertEqual(self.circles(circle), [
            "base/files <-> gates/deployments/tabular <-> lowmem/models <-> lowmem/weights"])

    def test_counts_aliases_among_the_rules(self):
        self.assertEqual(limits.crowded_builds(parse_query(QUERY))["profiling"], 1)

    def test_what_tests_owe_is_counted_without_examples(self):
        texts = {"x/a.h": "", "examples/a_test.cc": "TEST(Box, A) {}", "x/b_test.cc": "TEST(Box, A) {}"}
        found = limits.limits_of_tests(sorted(texts), texts, [])
        self.assertEqual([(limit.value, limit.limit) for limit in found], [(1, 0), (0, 0), (1, 0)])
        self.assertEqual(found[0].exceptions, ["x/b_test.cc:1: suite Box"])

    def test_definitions_are_counted_by_pattern(self):
        patterns = limits.parse_patterns("# comment\nerrno table\t1\tcase EACCES:\n")
        texts = {"a.cc": "\ncase EACCES:\n", "b.cc": "case EACCES:"}
        found = limits.limits_of([], texts, [], patterns)[-1]
        self.assertEqual(found.exceptions, ["a.cc:2", "b.cc:1"])

    def test_a_pattern_that_finds_nothing_is_an_error(self):
        patterns = limits.parse_patterns("errno table\t1\tcase EACCES:\n")
        found = limits.limits_of([], {"a.cc": "case EPERM:"}, [], patterns)[-1]
        self.assertEqual(found.exceptions, ["none: the pattern finds nothing"])

    def test_a_pattern_line_without_a_number_is_refused(self):
        with self.assertRaisesRegex(ValueError, "line 1"):
            limits.parse_patterns("errno table\tone\tcase EACCES:")


if __name__ == "__main__":
    unittest.main()
