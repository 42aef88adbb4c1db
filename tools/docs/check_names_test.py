"""Tests of check_names on a tree of a few files."""

import pathlib
import tempfile
import unittest

import check_names

BUILD = """cc_library(
    name = "arena",
    hdrs = ["arena.h"],
)

proto_library(name = "plan_proto")

public_package(libraries = ["//base/room:inner", "//base/door"])
"""
CODE = """// What it is.
const char* kUrl = "http://x/gone.h";  // see Grow()
enum class Code { kNotFound };
void Grow();
"""


class CheckNamesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        self.files = []
        self.write("base/BUILD", BUILD)
        self.write("base/arena.h", CODE)
        self.write("base/plan.proto", "")

    def write(self, name, text):
        (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / name).write_text(text)
        if name not in self.files:
            self.files.append(name)

    def faults(self, text, name="base/x.cc", others=()):
        self.write(name, text)
        return check_names.check(self.tree, self.files, set(others))[0]

    def test_names_that_are_there_are_fine(self):
        self.assertEqual(self.faults(
            "// See arena.h, base/arena.h, footprint/base/arena.h, footprint/base/plan.pb.h and\n"
            "// //base:arena, //base:plan_cc_proto, //base:inner, //base:door, //base:arena.h.\n"
            "// Grow() gives NotFound.\n"), [])

    def test_a_file_that_is_not_there_is_named_by_line(self):
        self.assertEqual(self.faults("\n// See room.h.\n"), ["base/x.cc:2: no file room.h"])
        self.assertEqual(self.faults("/* See\n * other/arena.h */\n"),
                         ["base/x.cc:2: no file other/arena.h"])

    def test_a_label_that_is_not_there_is_named(self):
        self.assertEqual(self.faults("// Link //base:room.\n"),
                         ["base/x.cc:1: no target //base:room"])
        self.assertEqual(self.faults("// Link @footprint//base, please.\n"),
                         ["base/x.cc:1: no target @footprint//base"])
        self.assertEqual(self.faults("// All of //base/... and @abseil-cpp//absl/status.\n"), [])

    def test_an_identifier_that_is_not_there_is_named_once(self):
        self.assertEqual(self.faults("// Shrink() after Grow(), then Shrink().\n"),
                         ["base/x.cc:1: no name Shrink"])
        self.assertEqual(self.faults("// A MemoryScope counts.\n"),
                         ["base/x.cc:1: no name MemoryScope"])

    def test_code_and_strings_are_not_read(self):
        self.assertEqual(self.faults('char* a = "gone.h // gone.cc";\nvoid f() { Shrink(); }\n'), [])
        self.assertEqual(self.faults('auto s = R"(// gone.h)";\n'), [])

    def test_what_an_example_calls_is_there(self):
        self.assertEqual(self.faults("//   Grow(); arena.Grow(); MyOwn mine = Code::kNotFound;\n",
                                     others=["MyOwn"]), [])
        self.assertEqual(self.faults("\n//   base::Shrink(1);\n"), ["base/x.cc:2: no name Shrink"])
        self.assertEqual(self.faults("//   arena->Widen<int>(1);  arena.empty();\n"),
                         ["base/x.cc:1: no name Widen", "base/x.cc:1: no name empty"])
        self.assertEqual(self.faults("//   arena.Grow(kFast);\n"), ["base/x.cc:1: no name kFast"])

    def test_what_an_example_says_and_how_it_names_its_variables_is_its_own(self):
        self.assertEqual(self.faults('//   int gone = Grow("Shrink()");  // Shrink()\n'), [])

    def test_an_example_may_not_name_files_that_are_gone(self):
        self.assertEqual(len(self.faults('//   #include "gone.h"\n')), 1)

    def test_a_name_in_a_comment_is_no_proof_that_it_exists(self):
        self.write("base/y.cc", "// Shrink() Shrink()\n")
        self.assertEqual(len(self.faults("// Shrink()\n")), 2)

    def test_pages_are_read_without_their_blocks(self):
        self.assertEqual(self.faults("See [it](gone.h).\n```\ngone.cc\n```\n", "README.md"),
                         ["README.md:1: no file gone.h"])
        self.assertEqual(self.faults("See https://x.org/gone.h.\n", "README.md"), [])

    def test_pages_of_the_past_may_name_what_is_gone(self):
        self.assertEqual(self.faults("gone.h\n", "CHANGELOG.md"), [])
        self.assertEqual(self.faults("gone.h\n", "docs/decisions/0001-x.md"), [])

    def test_names_of_others_are_fine(self):
        text = "// sys/mman.h, foreach.h, //a:b and Complexity() of TwoWords\n"
        self.assertEqual(len(self.faults(text)), 5)
        self.assertEqual(
            self.faults(text, others=["sys", "foreach.h", "//a:b", "Complexity", "TwoWords"]), [])

    def test_a_label_of_an_importers_workspace_is_found(self):
        self.write("examples/one/app/BUILD", 'cc_binary(name = "load")\n')
        self.assertEqual(self.faults("// //app:load\n"), [])


if __name__ == "__main__":
    unittest.main()
