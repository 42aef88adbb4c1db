"""Tests of edit_times on a tiny tree, with a program in place of Bazel."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import edit_times

# Knows one room and one test. Its exit code says whether the source was edited
# (after the first run), and it keeps what it saw.
FAKE_BAZEL = """#!/bin/bash
case "$*" in
  *query*output=package*) echo zoo/lion ;;
  *query*roar.cc*) echo //zoo/lion:roar_test ;;
  *query*) ;;
  *test*) cat zoo/lion/roar.cc >>%s; echo == >>%s ; exit %d ;;
esac
"""


class EditTimesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "tree/zoo/lion").mkdir(parents=True)
        self.source = self.folder / "tree/zoo/lion/roar.cc"
        self.source.write_text("int roar;\n")
        (self.folder / "tree/zoo/lion/whisper.cc").write_text("int whisper_that_no_test_needs;\n")
        (self.folder / "tree/zoo/lion/much_longer_than_all_test.cc").write_text("int x;\n" * 99)
        (self.folder / "bin").mkdir()

    def run_with_tests_that_exit(self, code):
        seen = self.folder / "seen"
        bazel = self.folder / "bin/bazel"
        bazel.write_text(FAKE_BAZEL % (seen, seen, code))
        os.chmod(bazel, 0o755)
        result = subprocess.run(
            [sys.executable, "-B", edit_times.__file__, "--tree=%s" % (self.folder / "tree"), "zoo"],
            env=dict(os.environ, PATH="%s:%s" % (self.folder / "bin", os.environ["PATH"])),
            capture_output=True, text=True)
        return result, seen.read_text().split("==\n")

    def test_a_source_that_a_test_needs_is_edited_for_the_second_run_only(self):
        result, seen = self.run_with_tests_that_exit(0)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\| zoo/lion \| roar.cc \| 1 \| \d+\.\d \|")
        self.assertEqual(seen[0], "int roar;\n")
        self.assertRegex(seen[1], r"(?s)int roar;\n.*edited_at_ns = \d+LL;\n")
        self.assertEqual(self.source.read_text(), "int roar;\n")

    def test_a_test_that_fails_is_told_and_is_a_failure(self):
        result, _ = self.run_with_tests_that_exit(3)
        self.assertEqual(result.returncode, 1)
        self.assertIn("| zoo/lion | roar.cc | 1 | a test fails |", result.stdout)
        self.assertEqual(self.source.read_text(), "int roar;\n")


if __name__ == "__main__":
    unittest.main()
