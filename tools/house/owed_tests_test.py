"""Tests of owed_tests on a few lines of C++."""

import collections
import unittest

import owed_tests

Rule = collections.namedtuple("Rule", "testonly inputs")


class MisnamedSuitesTest(unittest.TestCase):
    def test_a_suite_ends_in_test(self):
        texts = {"a_test.cc": "TEST(Box, IsFull) {}\nTEST_F(BoxTest, IsEmpty) {}\n"
                              "TEST_P(\n    Boxes, AreFull) {}\nTYPED_TEST(Typed, A) {}\n"}
        self.assertEqual(owed_tests.misnamed_suites(texts), [
            "a_test.cc:1: suite Box", "a_test.cc:3: suite Boxes", "a_test.cc:5: suite Typed"])


class BareStatusesTest(unittest.TestCase):
    def found(self, line):
        return len(owed_tests.bare_statuses({"a_test.cc": line}))

    def test_finds_an_assertion_of_ok(self):
        self.assertEqual(owed_tests.bare_statuses(
            {"a_test.cc": "\nEXPECT_FALSE(Read(\"a)\",\n    1).ok());"}),
            ['a_test.cc:2: EXPECT_FALSE(Read("a)", 1).ok())'])
        self.assertEqual(self.found("ASSERT_TRUE(file->ok()) << file->status();"), 1)

    def test_leaves_computed_truths_and_other_statuses(self):
        self.assertEqual(self.found("EXPECT_TRUE(a.ok() || b.ok());"), 0)
        self.assertEqual(self.found("EXPECT_TRUE(JsonStringToMessage(json, &a).ok());"), 0)
        self.assertEqual(self.found("EXPECT_THAT(a, IsOk()); EXPECT_TRUE(is_ok);"), 0)


class UntestedHeadersTest(unittest.TestCase):
    def found(self, comment, *names, testonly=()):
        return owed_tests.untested_headers(["memo/a.h", *names], {"memo/a.h": comment}, testonly)

    def test_a_test_of_its_name_is_enough(self):
        self.assertEqual(self.found("", "memo/a_test.cc"), [])
        self.assertEqual(self.found("", "memo/a_test.sh"), [])

    def test_a_test_elsewhere_or_of_a_longer_name_is_not(self):
        self.assertEqual(len(self.found("", "lowmem/a_test.cc", "memo/a_b_test.cc")), 1)

    def test_the_sentence_names_tests_that_are_there(self):
        self.assertEqual(self.found("// Tested by b_test.", "memo/b_test.cc"), [])
        self.assertEqual(self.found("// Pure. Tested by b_test and\n// //lowmem/x:c_test.",
                                    "memo/b_test.cc", "lowmem/x/c_test.sh"), [])

    def test_a_sentence_that_names_no_test_is_an_exception(self):
        self.assertEqual(self.found("// Tested by b_test and c_test.", "memo/b_test.cc"), [
            'memo/a.h: "Tested by b_test and c_test." names no test that is there'])
        self.assertEqual(len(self.found("// Tested by whom it may concern.")), 1)
        self.assertEqual(len(self.found("// Tested by b_test.", "lowmem/b_test.cc")), 1)

    def test_headers_for_tests_need_none(self):
        rules = [Rule(True, ["//memo:a.h", "//memo:b.h"]), Rule(False, ["//memo:b.h", "//c:d"])]
        testonly = owed_tests.testonly_headers(rules)
        self.assertEqual(testonly, {"memo/a.h"})
        self.assertEqual(self.found("", testonly=testonly), [])


if __name__ == "__main__":
    unittest.main()
