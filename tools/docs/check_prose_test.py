"""Tests of check_prose: where a headless sentence is found, and what is left alone."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_prose


class FaultsOfTest(unittest.TestCase):
    def test_a_comment_that_begins_so_is_a_fault(self):
        self.assertEqual(check_prose.faults_of("a.h", "int a;\n// What loads cost.\nint b;\n"), [2])
        self.assertEqual(check_prose.faults_of("a.cc", "int a;  // what it took\n"), [1])

    def test_a_later_sentence_is_found_at_its_own_line(self):
        text = "// Costs of loads. Each is\n// a number. What is not\n// known is 0.\n"
        self.assertEqual(check_prose.faults_of("a.h", text), [2])

    def test_a_subject_is_no_fault(self):
        for text in ("// Says what it took.\n", "// Costs, and what they are for.\n",
                     "// What is a cost?\n", "// What if it fails: nothing.\n",
                     "// Whatever it took.\n", 'Print("What it took.");\n'):
            self.assertEqual(check_prose.faults_of("a.h", text), [], text)

    def test_an_empty_line_ends_a_comment(self):
        self.assertEqual(check_prose.faults_of("a.h", "// One.\n//\n// what is left\n"), [3])

    def test_python_is_read_by_its_docstrings_and_comments(self):
        text = '"""What it does."""\nx = "What it is."\n# What is left.\n'
        self.assertEqual(check_prose.faults_of("a.py", text), [1, 3])
        self.assertEqual(check_prose.faults_of("a.py", "#!/usr/bin/python3\n" + text), [2, 4])

    def test_other_files_are_read_by_their_number_signs(self):
        text = "#!/bin/sh\n# What it does.\nx=1  # what it is\necho '# no'\n"
        self.assertEqual(check_prose.faults_of("a.sh", text), [2, 3])
        self.assertEqual(check_prose.faults_of("p/BUILD", "# What it has.\n"), [1])
        self.assertEqual(check_prose.faults_of("p/BUILD", '\n"""What it has."""\n'), [2])
        self.assertEqual(
            check_prose.faults_of("a.sh", "# shellcheck disable=SC1\n# what it does\n"), [2])

    def test_a_page_is_read_by_its_headings_items_and_sentences(self):
        page = ("## What is here\n\nA page. What it\nsays.\n\n* What an item is.\n\n"
                "```\n# What a block says.\n```\n\n| what | What it is |\n")
        self.assertEqual(check_prose.faults_of("a.md", page), [1, 3, 6, 12])
        self.assertEqual(check_prose.faults_of("a.md", "## What does it need?\n"), [])


class MainTest(unittest.TestCase):
    def test_faults_are_named_and_the_past_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            (tree / "docs" / "decisions").mkdir(parents=True)
            (tree / "docs" / "decisions" / "0001-one.md").write_text("# What was\n")
            (tree / "one.h").write_text("// What is.\n")
            subprocess.run(["git", "init", "-q", folder], check=True)
            program = pathlib.Path(__file__).with_name("check_prose.py")
            run = [sys.executable, "-B", str(program), "--tree", folder]
            result = subprocess.run(run, capture_output=True, text=True)
            self.assertEqual(result.returncode, 1)
            self.assertIn("one.h:1: ", result.stdout)
            self.assertIn("prose: 1 files, 1 faults", result.stdout)
            (tree / "one.h").write_text("// The one.\n")
            self.assertEqual(subprocess.run(run, capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
