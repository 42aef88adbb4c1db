"""Tests of same_as_bare.py: with programs that stand for a memprof that alters what it measures."""

import contextlib
import io
import os
import stat
import tempfile
import unittest
from unittest import mock

import same_as_bare

HERE = os.path.dirname(os.path.abspath(__file__))
LISTS = os.path.join(HERE, "testdata")


class ListsTest(unittest.TestCase):

    def test_a_line_says_what_it_needs_and_a_tab_continues_it(self):
        cases = same_as_bare.read_cases("# words\n\nsh, root: $M sh -c 'true\n\tfalse: 1'\nls: $Q ls\n")
        self.assertEqual(cases, [(["sh", "root"], "$M sh -c 'true\nfalse: 1'"), (["ls"], "$Q ls")])

    def test_lines_without_needs_or_without_memprof_are_refused(self):
        for text in ["ls", "ls: ", "ls: ls $MORE"]:
            with self.assertRaises(ValueError):
                same_as_bare.read_cases(text)

    def test_the_lists_have_as_many_cases_as_promised(self):
        for name, least in [("debian_commands.txt", 120), ("hostile_situations.txt", 90)]:
            with open(os.path.join(LISTS, name)) as file:
                commands = [case.command for case in same_as_bare.read_cases(file.read())]
            self.assertGreaterEqual(len(set(commands)), least)
            self.assertEqual(len(set(commands)), len(commands))


class VerdictTest(unittest.TestCase):

    def _runs(self, stand_in, case):
        """Returns the standard output and the exit status of a list of one case."""
        with tempfile.TemporaryDirectory() as folder:
            memprof = os.path.join(folder, "memprof_here")
            with open(memprof, "w") as file:
                file.write("#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\n" + stand_in)
            os.chmod(memprof, os.stat(memprof).st_mode | stat.S_IXUSR)
            for name, text in [("make_inputs.sh", "echo input >file"), ("list.txt", case)]:
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            output = io.StringIO()
            with mock.patch("sys.argv", ["", folder, "list.txt", memprof]), \
                 mock.patch.object(same_as_bare, "LIMIT_S", 3), \
                 mock.patch.object(same_as_bare, "PARENT_FOLDER", folder), \
                 contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()), \
                 self.assertRaises(SystemExit) as end:
                same_as_bare.main()
            return output.getvalue(), end.exception.code

    def test_the_same_is_the_same(self):
        text, status = self._runs('"$@"; s=$?; echo a report >&2; exit $s',
                                  "sh: $M sh -c 'cat file; echo words >&2; rm file; exit 3'")
        self.assertIn("| same | 0 |", text)
        self.assertEqual(status, 0)

    def test_each_difference_is_told(self):
        for stand_in, word in [('"$@"; echo more', "DIFFERS: output"),
                               ('echo before >&2; "$@"', "DIFFERS: errors"),
                               ('"$@"; exit 4', "DIFFERS: status 4, alone 0"),
                               ('"$@"; kill -SEGV $$', "CRASHES: status -11, alone 0"),
                               ('echo memprof: no >&2; exit 2', "refused: memprof: no"),
                               ('"$@"; sleep 60', "HANGS")]:
            text, status = self._runs(stand_in, "sh: $M sh -c 'echo words; echo errors >&2'")
            self.assertIn("| %s | 0 |" % word, text)
            self.assertIn("not as alone 1", text)
            self.assertEqual(status, 1)

    def test_the_status_of_a_signal_may_be_the_shells(self):
        text, status = self._runs('"$@"', "sh: exec $M sh -c 'kill -TERM $$'")
        self.assertIn("| same | 0 |", text)
        self.assertEqual(status, 0)

    def test_of_what_does_not_repeat_the_status_counts(self):
        text, status = self._runs('"$@"; echo more', "sh: $M date +%N")
        self.assertIn("alone it does not repeat", text)
        self.assertEqual(status, 0)
        text, status = self._runs('"$@"; exit 1', "sh: $M date +%N")
        self.assertIn("DIFFERS: status 1", text)

    def test_what_is_absent_is_told_by_name(self):
        text, status = self._runs('"$@"', "sh, no_such_program: $M sh")
        self.assertIn("skipped: no no_such_program", text)
        self.assertEqual(status, 0)


if __name__ == "__main__":
    unittest.main()
