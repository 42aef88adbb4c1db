"""Tests of check_includes on a library, its test and what they include."""

import unittest

import check_includes


def rule(name, kind="cc_library", **lists):
    text = ['<rule class="%s" name="%s">' % (kind, name)]
    for each, labels in lists.items():
        if each == "actual":
            text += ['<label name="actual" value="%s"/>' % labels]
            continue
        text += ['<list name="%s">' % each]
        text += ['<label value="%s"/>' % label for label in labels] + ["</list>"]
    return "".join(text + ["</rule>"])


RULES = [
    rule("//a:low", srcs=["//a:low.cc"], hdrs=["//a:low.h"]),
    rule("//a:middle", hdrs=["//a:middle.h"], deps=["//a:low"]),
    rule("//a:second_name", kind="alias", actual="//a:low"),
    rule("//a:figures_proto", kind="proto_library", srcs=["//a:figures.proto"]),
    rule("//a:figures_cc_proto", kind="cc_proto_library", deps=["//a:figures_proto"]),
]


def faults(source, deps=(), kind="cc_library", others=()):
    top = rule("//b:top", kind=kind, srcs=["//b:top.cc", "//b:part.h"], deps=deps)
    rules = check_includes.parse_query("<query>%s</query>" % "".join(RULES + [top] + list(others)))
    return list(check_includes.faults(rules, {"b/top.cc": source}.get))


class CheckIncludesTest(unittest.TestCase):
    def test_headers_of_the_target_and_of_its_deps_are_fine(self):
        self.assertEqual(faults('#include "footprint/b/part.h"\n'
                                '#include "footprint/a/low.h"\n'
                                "#include <vector>\n", ["//a:low"]), [])

    def test_a_header_of_a_dependency_of_a_dependency_is_named(self):
        self.assertEqual(
            faults('#include "footprint/a/low.h"\n', ["//a:middle"]),
            ["//b:top: b/top.cc includes footprint/a/low.h, which no target in its deps has"])

    def test_an_alias_gives_the_headers_of_what_it_names(self):
        self.assertEqual(faults('#include "footprint/a/low.h"\n', ["//a:second_name"]), [])

    def test_a_proto_gives_its_generated_header(self):
        include = '#include "footprint/a/figures.pb.h"\n'
        self.assertEqual(faults(include, ["//a:figures_cc_proto"]), [])
        self.assertEqual(len(faults(include, ["//a:low"])), 1)

    def test_another_repository_is_a_direct_dependency(self):
        include = '#include "absl/status/status.h"\n'
        self.assertEqual(faults(include, ["@abseil-cpp//absl/status"]), [])
        self.assertEqual(
            faults(include, ["//a:low"]),
            ["//b:top: b/top.cc includes absl/status/status.h, but has no dep in @abseil-cpp"])

    def test_an_include_under_a_condition_is_allowed_somewhere(self):
        source = "#ifdef WITH_SITES\n" '#include "footprint/a/low.h"\n#endif\n'
        self.assertEqual(faults(source, ["//a:low"]), [])
        self.assertEqual(len(faults(source)), 1)
        other = rule("//b:other", srcs=["//b:top.cc"], deps=["//a:low"])
        self.assertEqual(faults(source, others=[other]), [])

    def test_a_guard_is_no_condition(self):
        self.assertEqual(len(faults("#ifndef B_TOP_H_\n#define B_TOP_H_\n"
                                    "#if 1\n#endif\n\n"
                                    '#include "footprint/a/low.h"\n#endif\n')), 1)

    def test_a_folder_of_no_known_repository_is_named(self):
        self.assertIn("knows of no repository", faults("#include <curl/curl.h>\n")[0])
        self.assertEqual(faults("#include <sys/mman.h>\n#include <vector>\n"), [])

    def test_rules_of_other_languages_are_not_looked_at(self):
        self.assertEqual(faults('#include "footprint/a/low.h"\n', kind="genrule"), [])


if __name__ == "__main__":
    unittest.main()
