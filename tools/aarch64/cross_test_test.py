"""Tests of cross_test: which tests it takes, and of what it makes them."""

import os
import pathlib
import tempfile
import time
import unittest

import cross_test

XML = """<?xml version="1.1"?>
<query version="2">
  <rule class="cc_library" name="//base:number">
    <list name="srcs"><label value="//base:number.cc"/></list>
    <list name="copts"><string value="-O3"/></list>
    <list name="deps"><label value="@abseil-cpp//absl/strings:strings"/></list>
  </rule>
  <rule class="alias" name="//door:number"><label name="actual" value="//base:number"/></rule>
  <rule class="cc_test" name="//base:number_test">
    <list name="args"><string value="--count=2"/></list>
    <list name="srcs"><label value="//base:number_test.cc"/></list>
    <list name="deps"><label value="//door:number"/><label value="@googletest//:gtest"/></list>
  </rule>
  <rule class="cc_library" name="//base:message">
    <list name="deps"><label value="//base:number"/><label value="@protobuf//:protobuf"/></list>
  </rule>
  <rule class="cc_test" name="//base:message_test">
    <list name="deps"><label value="//base:message"/></list>
  </rule>
  <rule class="genrule" name="//base:table"><rule-output name="//base:table.cc"/></rule>
  <rule class="cc_test" name="//base:written_test">
    <list name="srcs"><label value="//base:table.cc"/></list>
  </rule>
  <rule class="cc_test" name="//base:program_text_test">
    <list name="srcs"><label value="//base:program_text.S"/></list>
  </rule>
  <rule class="cc_test" name="//base:table_test">
    <list name="srcs"><label value="//base:table"/></list>
  </rule>
  <rule class="cc_test" name="//base:embedded_test">
    <list name="deps"><label value="//base:table"/></list>
  </rule>
  <rule class="cc_test" name="//base:bytes_test">
    <list name="tags"><string value="measures_jemalloc"/></list>
  </rule>
  <rule class="cc_library" name="//base:variant">
    <list name="local_defines"><string value="WITH_SITES"/></list>
  </rule>
  <rule class="cc_test" name="//base:variant_test">
    <list name="deps"><label value="//base:variant"/></list>
  </rule>
  <rule class="cc_binary" name="//base:program"/>
  <rule class="cc_test" name="//base:program_test">
    <list name="data"><label value="//base:program"/></list>
  </rule>
  <rule class="cc_test" name="@other//:their_test"/>
</query>
"""


class ChoiceTest(unittest.TestCase):
    def setUp(self):
        self.chosen, self.left_out = cross_test.choose(cross_test.parse_query(XML), "")

    def test_takes_what_the_sysroot_has_all_parts_of(self):
        self.assertEqual([name for name, _ in self.chosen], ["//base:number_test"])

    def test_a_test_has_the_sources_and_flags_of_all_its_parts(self):
        parts = {rule.name: rule for rule in self.chosen[0][1]}
        self.assertEqual(parts["//base:number"].sources, ["//base:number.cc"])
        self.assertEqual(parts["//base:number"].copts, ["-O3"])
        self.assertEqual(parts["//base:number_test"].copts, [])
        self.assertEqual(parts["//base:number_test"].arguments, ["--count=2"])

    def test_says_why_the_others_are_left_out(self):
        self.assertEqual(dict(self.left_out), {
            "//base:message_test": "needs @protobuf",
            "//base:table_test": "needs //base:table, which a rule writes",
            "//base:written_test": "needs //base:table.cc, which a rule writes",
            "//base:program_text_test": "needs //base:program_text.S, which embeds a file",
            "//base:embedded_test": "needs //base:table, a genrule",
            "//base:bytes_test": "is tagged measures_jemalloc",
            "//base:program_test": "runs //base:program",
            "//base:variant_test": "needs //base:variant, which is compiled with WITH_SITES",
        })

    def test_takes_those_of_a_pattern_alone(self):
        chosen, left_out = cross_test.choose(cross_test.parse_query(XML), "bytes")
        self.assertEqual(chosen, [])
        self.assertEqual([name for name, _ in left_out], ["//base:bytes_test"])

    def test_a_program_that_is_not_emulated_is_left_out(self):
        listed = cross_test.read_not_emulated("# a comment\n//base:number_test\t*\tqemu-user\tno such kernel\n")
        chosen, left_out = cross_test.leave_out_not_emulated(self.chosen, self.left_out, listed)
        self.assertEqual(chosen, [])
        self.assertIn(("//base:number_test", "no such kernel"), left_out)

    def test_tests_of_a_program_that_are_not_emulated_have_patterns(self):
        listed = cross_test.read_not_emulated("//base:number_test\tA.B\tqemu-user\tno such kernel\n")
        chosen, _ = cross_test.leave_out_not_emulated(self.chosen, self.left_out, listed)
        self.assertEqual(chosen, self.chosen)
        self.assertEqual(cross_test.patterns_of("//base:number_test", listed), ["A.B"])

    def test_a_listed_program_that_is_not_there_is_told(self):
        listed = cross_test.read_not_emulated("//base:gone_test\t*\tqemu-user\tno such kernel\n")
        self.assertEqual(cross_test.stale_lines(cross_test.parse_query(XML), listed),
                         ["//base:gone_test"])

    def test_a_line_of_another_shape_is_refused(self):
        with self.assertRaisesRegex(ValueError, "line 1: want LABEL"):
            cross_test.read_not_emulated("//base:number_test no reason\n")
        with self.assertRaisesRegex(ValueError, "line 1: want LABEL.*qemu-user or aarch64"):
            cross_test.read_not_emulated("//base:number_test\t*\telsewhere\tno such kernel\n")

    def test_paths_in_arguments_begin_at_the_trees_root(self):
        rule = cross_test.Rule("//base/text:a_test", "cc_test", set(), [], [], [], [], [], [
            "--count=2", "$(rootpath testdata/a/b)", "--file=$(rootpath :c)",
            "$(location //base:d.txt)"], [])
        self.assertEqual(cross_test.arguments_of(rule), [
            "--count=2", "base/text/testdata/a/b", "--file=base/text/c", "base/d.txt"])

    def test_labels_are_paths(self):
        self.assertEqual(cross_test.path_of("//base/simd:a.cc"), "base/simd/a.cc")
        self.assertEqual(cross_test.path_of("//:a.cc"), "a.cc")


class BuilderTest(unittest.TestCase):
    """The compiler is a stand-in that writes the command into the object."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.count = 0
        compiler = self.folder / "compiler"
        compiler.write_text('#!/bin/sh\nwhile test "$1" != -MF; do shift; done\n'
                            'echo "out: $4 %s/read.h" > "$2"\n'
                            'grep -q broken "$4" && { echo "no such word" >&2; exit 1; }\n'
                            'echo x >> "$6"\n' % self.folder)
        compiler.chmod(0o755)
        (self.folder / "read.h").write_text("")
        (self.folder / "a.cc").write_text("")
        self.old = cross_test.COMPILER
        cross_test.COMPILER = str(compiler)
        self.addCleanup(setattr, cross_test, "COMPILER", self.old)
        self.builder = cross_test.Builder(self.folder, self.folder, self.folder / "output")

    def times_compiled(self):
        return len(self.builder.compile(self.folder / "a.cc", []).read_text().split())

    def test_compiles_once(self):
        self.assertEqual(self.times_compiled(), 1)
        self.assertEqual(self.times_compiled(), 1)

    def test_compiles_again_where_a_file_that_was_read_changed(self):
        self.assertEqual(self.times_compiled(), 1)
        later = time.time() + 10
        os.utime(self.folder / "read.h", (later, later))
        self.assertEqual(self.times_compiled(), 2)

    def test_compiles_again_where_a_file_that_was_read_is_gone(self):
        self.assertEqual(self.times_compiled(), 1)
        (self.folder / "read.h").unlink()
        self.assertEqual(self.times_compiled(), 2)

    def test_tells_the_compilers_error(self):
        (self.folder / "a.cc").write_text("broken")
        with self.assertRaisesRegex(RuntimeError, "no such word"):
            self.times_compiled()

    def run_program(self, script, *patterns):
        """Runs a test that is a shell script, without an emulator."""
        program = self.folder / "program"
        program.write_text("#!/bin/sh\n" + script)
        emulator = self.folder / "emulator"
        emulator.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
        for each in (program, emulator):
            each.chmod(0o755)
        self.addCleanup(setattr, cross_test, "EMULATOR", cross_test.EMULATOR)
        cross_test.EMULATOR = str(emulator)
        rule = cross_test.Rule("//:a", "cc_test", set(), [], [], [], [], [])
        return cross_test.run_test(program, self.folder, self.folder, rule, patterns)

    def test_a_test_begins_with_an_empty_folder(self):
        for _ in range(2):
            self.assertEqual(
                self.run_program('ls -A "$TEST_TMPDIR"\ntouch "$TEST_TMPDIR/left"\n'), (True, ""))

    def test_runs_without_tests_that_are_not_emulated(self):
        lists = 'if test "$1" = --gtest_list_tests; then printf "A.\\n  B\\n"; exit; fi\n'
        self.assertEqual(self.run_program(lists + 'echo "$@"\n', "A.B", "A.C"),
                         (True, "--gtest_filter=-A.B:A.C\n"))

    def test_a_program_without_a_test_that_is_left_fails(self):
        passed, said = self.run_program("echo '[==========] Running 0 tests from 0 test suites.'\n")
        self.assertFalse(passed)
        self.assertIn("none of its tests is left", said)

    def test_is_laid_out_for_a_machine_that_is_emulated_as_a_whole(self):
        program = self.folder / "built"
        program.write_text("the program")
        rule = cross_test.Rule("//base/text:a_test", "cc_test", set(), [], [], [], [], [], ["--n=2"], [])
        cross_test.install(program, self.folder / "tests", rule, ["A.*", "B.c"])
        place = self.folder / "tests/base.text.a_test"
        self.assertEqual((place / "program").read_text(), "the program")
        self.assertEqual((place / "target").read_text(), "base/text:a_test\n")
        self.assertIn("exec /footprint/tests/base.text.a_test/program --n=2 '--gtest_filter=-A.*:B.c'\n",
                      (place / "run").read_text())

    def test_a_pattern_without_a_test_fails(self):
        passed, said = self.run_program("exit 0\n", "A.B")
        self.assertFalse(passed)
        self.assertIn("no test is named A.B", said)

    def link_command(self, text, linkopts=()):
        """Returns the command that links a test of one source, `text`."""
        (self.folder / "a.cc").write_text(text)
        linked = []
        self.builder.compile = lambda source, flags: source
        self.addCleanup(setattr, cross_test, "run", cross_test.run)
        cross_test.run = linked.extend
        rule = cross_test.Rule("//:a", "cc_test", set(), ["//:a.cc"], [], [], [], [], linkopts=linkopts)
        self.builder.build("//:a", [rule])
        return linked

    def sources_linked(self, text):
        """Returns the names of the objects that such a test is linked from."""
        linked = self.link_command(text)
        return {pathlib.Path(each).name for each in linked if each.endswith(".cc")}

    def test_a_test_is_linked_with_the_options_of_its_rule(self):
        self.assertIn("-Wl,--wrap=dlsym", self.link_command("", ["-Wl,--wrap=dlsym"]))
        self.assertNotIn("-Wl,--wrap=dlsym", self.link_command(""))

    def test_a_test_is_linked_with_google_mocks_main_function(self):
        self.assertEqual(self.sources_linked("// int main()\nTEST(A, B) {}\n"),
                         {"a.cc", "gtest-all.cc", "gmock-all.cc", "gmock_main.cc"})

    def test_a_test_with_a_main_function_is_linked_with_that_alone(self):
        self.assertEqual(self.sources_linked("\nint main(int count, char** words) {}\n"),
                         {"a.cc", "gtest-all.cc", "gmock-all.cc"})


if __name__ == "__main__":
    unittest.main()
