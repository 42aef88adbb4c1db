"""Tests of contracts on headers of a few lines."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import contracts

WHOLE = '''// A list of numbers.
//
//   footprint::Numbers numbers({1, 2});
//   numbers.Sum();  // 3
//
// Owns its numbers. Thread-compatible. Memory: 8 bytes a number.

#ifndef FOOTPRINT_NUMBERS_H_
'''


class ContractsTest(unittest.TestCase):
    def assert_lacks(self, text, *points):
        self.assertEqual(contracts.lacking(text), list(points))

    def test_a_whole_header_lacks_nothing(self):
        self.assert_lacks(WHOLE)

    def test_finds_each_point_that_is_not_spoken_of(self):
        self.assert_lacks(WHOLE.replace("Owns its numbers. ", ""), "ownership")
        self.assert_lacks(WHOLE.replace("Thread-compatible. ", ""), "threads")
        self.assert_lacks(WHOLE.replace("Memory: 8 bytes a number.", ""), "memory")
        self.assert_lacks(WHOLE.replace("//   ", "// "), "example")
        self.assert_lacks("int Sum();\n", "example", "ownership", "threads", "memory")

    def test_an_example_is_code(self):
        self.assert_lacks(WHOLE.replace("({1, 2});", " of some").replace("();  // 3", " is three"),
                          "example")
        self.assert_lacks(WHOLE.replace("numbers({1, 2});", "numbers").replace(
            "numbers.Sum();  // 3", '#include "numbers.h"'))

    def test_reads_the_comments_of_declarations(self):
        self.assert_lacks(WHOLE.replace("Owns its numbers. ", "")
                          + "class Numbers {\n public:\n  // Valid until the next Add.\n  int* data();\n")
        self.assert_lacks(WHOLE.replace("Memory: 8 bytes a number.", "")
                          + "int bytes = 0;  // on the heap\n")

    def test_code_is_no_comment(self):
        self.assert_lacks(WHOLE.replace("Owns its numbers. ", "") + "bool owns = false;\n", "ownership")
        self.assert_lacks(WHOLE.replace("Owns its numbers. ", "") + 'Say("// owns");\n', "ownership")

    def test_a_sentence_may_go_over_lines(self):
        self.assert_lacks(WHOLE.replace("Owns its numbers.", "The address stays valid\n// until the end."))

    def test_words_of_another_meaning_are_no_contract(self):
        for sentence in ("It takes a second.", "Waits until it is full.", "A name of its own.", "A block that moved."):
            with self.subTest(sentence=sentence):
                self.assert_lacks(WHOLE.replace("Owns its numbers.", sentence), "ownership")

    def test_a_header_that_has_to_do_with_bytes_says_nothing_of_memory(self):
        for sentence in ("Sizes are in bytes.", "The memory of a process.", "A byte that is no digit."):
            with self.subTest(sentence=sentence):
                self.assert_lacks(WHOLE.replace("Memory: 8 bytes a number.", sentence), "memory")
        for sentence in ("Memory with n numbers: 8 n.", "Takes no memory.", "Allocates nothing.",
                         "A value of eight bytes.", "See numbers.h for ownership and memory."):
            with self.subTest(sentence=sentence):
                self.assert_lacks(WHOLE.replace("Memory: 8 bytes a number.", sentence))

    def test_a_header_that_has_to_do_with_threads_does_not_say_who_may_call(self):
        for sentence in ("Names a thread's stack.", "Reads what its threads execute."):
            with self.subTest(sentence=sentence):
                self.assert_lacks(WHOLE.replace("Thread-compatible.", sentence), "threads")
        for sentence in ("Any thread may call.", "Start and Stop are one thread's.",
                         "Its threads take turns by a lock.", "Threads: main's alone."):
            with self.subTest(sentence=sentence):
                self.assert_lacks(WHOLE.replace("Thread-compatible.", sentence))

    def test_an_exception_covers_its_header_and_point_alone(self):
        silent = WHOLE.replace("Owns its numbers. ", "")
        headers = {"a.h": silent, "b.h": silent}
        exceptions = contracts.parse_exceptions("# comment\na.h\townership\tconstants of the program\n")
        self.assertEqual(contracts.faults_of(headers, exceptions), ["b.h does not speak of: ownership"])

    def test_an_exception_that_is_not_needed_is_a_fault(self):
        exceptions = {("a.h", "memory"): "", ("gone.h", "memory"): ""}
        faults = contracts.faults_of({"a.h": WHOLE}, exceptions)
        self.assertEqual(len(faults), 2)
        self.assertIn("the header says it", faults[0])
        self.assertIn("the header is not there", faults[1])

    def test_an_exception_needs_a_reason(self):
        for line in ("a.h\townership", "a.h\townership\t", "a.h\tbeauty\tconstants of the program",
                     "a.h\tmemory\tan enumeration\na.h\tmemory\tan enumeration"):
            with self.subTest(line=line):
                self.assertRaises(ValueError, contracts.parse_exceptions, line)

    def test_the_program_fails_where_a_header_is_silent(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            (tree / "tools/house").mkdir(parents=True)
            (tree / contracts.EXCEPTIONS).write_text("")
            (tree / "numbers.h").write_text(WHOLE)
            (tree / "fake_numbers.h").write_text("")  # a test's
            subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
            self.assertEqual(self.run_on(tree).returncode, 0)
            (tree / "silent.h").write_text("int Sum();\n")
            ended = self.run_on(tree)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("silent.h does not speak of: memory", ended.stdout)

    def run_on(self, tree):
        return subprocess.run([sys.executable, "-B", contracts.__file__, "--tree", str(tree)],
                              capture_output=True, text=True, check=False)


if __name__ == "__main__":
    unittest.main()
