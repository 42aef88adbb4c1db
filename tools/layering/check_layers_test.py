"""Tests of check_layers on queries of a few rules."""

import unittest

import check_layers

LAYERS = check_layers.parse_layers("""
base: @abseil-cpp
base/closed:
top: //base  # a room of base is another line
top testonly: @googletest //base/closed
""")
# Rules that use every allowance, so that a test sees only what it adds.
USES = [
    ("//base:used", ["@abseil-cpp//absl/strings"]),
    ("//top:used", ["//base:open"]),
    ("//top:used_test", ["@googletest//:gtest", "//base/closed:x"]),
]


def query(name, inputs, kind="cc_library", testonly="false"):
    lines = ['<rule class="%s" name="%s">' % (kind, name)]
    lines += ['<boolean name="testonly" value="%s"/>' % testonly]
    lines += ['<rule-input name="%s"/>' % label for label in inputs]
    return "".join(lines + ["</rule>"])


def violations(*rules, uses=USES):
    known = [query("//base:open", []), query("//base/closed:x", []), query("//top:x", [])]
    known += [query(name, inputs, "cc_test" if name.endswith("_test") else "cc_library")
              for name, inputs in uses]
    text = "<query>%s</query>" % "".join(list(rules) + known)
    return check_layers.violations(check_layers.parse_query(text), LAYERS)


class CheckLayersTest(unittest.TestCase):
    def test_an_alias_of_another_repository_leads_to_what_it_names(self):
        alias = query("@programs//:tool", ["//base/closed:x"], kind="alias")
        found = violations(alias, query("//top:y", ["@programs//:tool"]))
        self.assertIn("//top:y depends on //base/closed:x", found[0])
        self.assertEqual(violations(query("@programs//:tool", ["//base:open"], kind="alias"),
                                    query("//top:y", ["@programs//:tool"])), [])

    def test_an_edge_down_to_an_allowed_room_is_fine(self):
        self.assertEqual(violations(query("//top:y", ["//base:open"])), [])

    def test_an_edge_to_another_room_of_the_package_is_named(self):
        found = violations(query("//top:y", ["//base/closed:x"]))
        self.assertIn("//top:y depends on //base/closed:x", found[0])

    def test_an_allowance_that_nothing_uses_is_named(self):
        self.assertEqual(
            violations(uses=USES[1:]), ["layers.txt: nothing in base uses @abseil-cpp"])
        self.assertEqual(
            violations(uses=USES[:2]), ["layers.txt: nothing in top testonly uses @googletest",
                                        "layers.txt: nothing in top testonly uses //base/closed"])

    def test_a_test_does_not_show_that_a_library_needs_an_allowance(self):
        uses = USES[:1] + [("//top:used_test", ["//base:open"] + USES[2][1])]
        self.assertEqual(violations(uses=uses), ["layers.txt: nothing in top uses //base"])

    def test_a_repository_may_have_a_dot_in_its_name(self):
        self.assertEqual(check_layers.parse_layers("a: @highway //b"),
                         {("a", ""): ["@highway", "//b"]})

    def test_an_edge_up_is_named(self):
        found = violations(query("//base:y", ["//top:x"]))
        self.assertIn("//base:y depends on //top:x", found[0])

    def test_tests_may_use_more(self):
        test = query("//top:y_test", ["//base/closed:x", "@googletest//:gtest"], kind="cc_test")
        self.assertEqual(violations(test), [])
        helper = query("//top:helper", ["@googletest//:gtest"], testonly="true")
        self.assertEqual(violations(helper), [])

    def test_a_repository_that_is_not_listed_is_named(self):
        found = violations(query("//base:y", ["@eigen//:eigen"]))
        self.assertIn("@eigen//:eigen", found[0])

    def test_toolchains_and_files_are_no_edges(self):
        self.assertEqual(violations(
            query("//base:y", ["@bazel_tools//tools/cpp:toolchain",
                               "@rules_cc//cc:current_cc_toolchain", "//top:x.txt", "//base:open"])
        ), [])

    def test_an_inner_package_belongs_to_the_nearest_listed_one(self):
        self.assertEqual(violations(query("//base/inner:y", ["//base:open"])), [])
        self.assertIn("not in layers.txt", violations(query("//other:y", []))[0])

    def test_a_malformed_line_is_refused_by_number(self):
        with self.assertRaisesRegex(ValueError, "line 2"):
            check_layers.parse_layers("\nbase = @abseil-cpp")
        with self.assertRaisesRegex(ValueError, "line 1"):
            check_layers.parse_layers("top: //base:open")

    def test_an_edge_to_an_alias_is_one_to_what_it_names(self):
        door = query("//top:door", ["//base/closed:x"], kind="alias")
        found = violations(query("//top:y", ["//top:door"]), door)
        self.assertIn("//top:y depends on //base/closed:x", found[0])
        self.assertEqual(violations(door), [])

    def test_a_question_about_the_graph_is_no_edge(self):
        self.assertEqual(violations(query("//base:needs", ["//top:x"], kind="genquery")), [])

    def test_the_top_package_only_names_libraries(self):
        self.assertEqual(violations(query("//:footprint", ["//top:x"])), [])

    def test_neither_a_condition_nor_a_parsed_header_is_an_edge(self):
        for kind in ("config_setting", "precompiled_header"):
            no_code = query("//base/closed:small", [], kind=kind)
            self.assertEqual(violations(query("//top:y", ["//base/closed:small"]), no_code), [])


class ShapeOfLayersTest(unittest.TestCase):
    def test_a_circle_is_named_once(self):
        layers = check_layers.parse_layers("a: //b\nb: //c @x\nc: //b\nd: //a")
        self.assertEqual(check_layers.circles(layers), ["layers.txt: a circle of b, c"])

    def test_tests_make_no_circle(self):
        layers = check_layers.parse_layers("a: //b\nb testonly: //a\nb:")
        self.assertEqual(check_layers.circles(layers), [])

    def test_a_library_may_not_use_a_sibling(self):
        layers = check_layers.parse_layers("memo/product: //trainer_manager/planner //base/text")
        self.assertEqual(check_layers.sibling_allowances(layers), [
            "layers.txt: memo/product may not use //trainer_manager/planner: "
            "siblings meet in //profiling/schema only"])
        layers = check_layers.parse_layers("lowmem/kernels: //profiling/heap")
        self.assertEqual(len(check_layers.sibling_allowances(layers)), 1)

    def test_the_ground_may_not_use_a_library(self):
        layers = check_layers.parse_layers("base/text: //gates/judge //base/files")
        self.assertEqual(len(check_layers.sibling_allowances(layers)), 1)

    def test_rooms_tests_contracts_and_deployments_are_no_siblings(self):
        layers = check_layers.parse_layers("""
            memo: //memo/schedule //profiling/schema
            memo testonly: //profiling/heap
            gates/deployments: //trainer_manager/runtime
        """)
        self.assertEqual(check_layers.sibling_allowances(layers), [])


class ProposeTest(unittest.TestCase):
    def test_the_proposal_allows_the_edges_there_are_and_no_more(self):
        rules = check_layers.parse_query("<query>%s</query>" % "".join([
            query("//base:x", ["@abseil-cpp//absl/strings"]),
            query("//top/room:y", ["//base:x", "//top/other:z"]),
            query("//top/room:y_test", ["//top/room:y", "//base:x", "@googletest//:gtest"],
                  kind="cc_test"),
            query("//top/other:z", []),
        ]))
        text = check_layers.propose(rules, {})
        self.assertEqual(text.splitlines(), [
            "base: @abseil-cpp",
            "top/other:",
            "top/room: //base //top/other",
            "top/room testonly: @googletest",
        ])
        self.assertEqual(check_layers.violations(rules, check_layers.parse_layers(text)), [])


if __name__ == "__main__":
    unittest.main()
