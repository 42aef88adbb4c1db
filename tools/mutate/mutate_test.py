"""Tests of mutate on a tiny tree, with a program in place of Bazel.

The program runs a shell script of the tree as "the tests", so the tool's own
work is real: copying, planting, judging, restoring, counting.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import mutate

# Exit codes as Bazel's: 3 where a test failed, 1 where the build did.
FAKE_BAZEL = """#!/bin/bash
[[ $2 == test ]] || exit 0
bash -n lion/roar.sh || exit 1
bash lion/roar_test.sh || exit 3
"""
ROAR = """roar() { echo "$(($1 + 1))"; }
unused() { echo 7; }
"""
ROAR_TEST = """. lion/roar.sh
[[ $(roar 1) == 2 ]]
"""


class MutateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tree = self.folder / "tree"
        self.write("tree/lion/roar.sh", ROAR)
        self.write("tree/lion/roar_test.sh", ROAR_TEST)
        self.write("bin/bazel", FAKE_BAZEL)
        os.chmod(self.folder / "bin/bazel", 0o755)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_with(self, mutations, minimum_faults=1, options=()):
        self.write("tree/lion/mutations.txt", mutations)
        return subprocess.run(
            [sys.executable, "-B", mutate.__file__, "--tree=%s" % self.tree,
             "--output_root=%s" % (self.folder / "out"),
             "--minimum_faults=%d" % minimum_faults, *options, "lion"],
            env=dict(os.environ, PATH="%s:%s" % (self.folder / "bin", os.environ["PATH"])),
            capture_output=True, text=True)

    def test_catches_faults_in_tests_and_in_the_build(self):
        result = self.run_with("# two\nroar.sh\t+ 1\t- 1\nroar.sh\troar() {\troar( {\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("caught by a test", result.stdout)
        self.assertIn("caught by the compiler", result.stdout)
        self.assertIn("2 of 2 faults caught", result.stdout)

    def test_a_survivor_is_named_and_fails(self):
        result = self.run_with("roar.sh\techo 7\techo 8\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("survived: roar.sh: 'echo 7' -> 'echo 8'", result.stdout)

    def test_leaves_the_tree_alone(self):
        self.run_with("roar.sh\t+ 1\t- 1\n")
        self.assertEqual((self.tree / "lion/roar.sh").read_text(), ROAR)

    def test_each_fault_is_alone(self):
        # Were the first fault left in, the second could not survive.
        result = self.run_with("roar.sh\t+ 1\t- 1\nroar.sh\techo 7\techo 8\n")
        self.assertIn("1 of 2 faults caught", result.stdout)

    def test_stale_text_is_named_by_line(self):
        result = self.run_with("# c\nroar.sh\tno such text\tx\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("line 2: 'no such text' stands 0 times in roar.sh", result.stderr)

    def test_a_list_can_be_checked_without_running_a_test(self):
        self.write("tree/lion/mutations.txt", "roar.sh\t+ 1\t- 1\n")
        command = [sys.executable, "-B", mutate.__file__, "--tree=%s" % self.tree,
                   "--check_list", "--minimum_faults=1", "lion"]
        os.remove(self.folder / "bin/bazel")
        self.assertEqual(subprocess.run(command).returncode, 0)
        (self.tree / "lion/roar.sh").write_text("")
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("line 1", result.stderr)

    def test_text_that_stands_twice_is_stale(self):
        self.assertIn("stands 2 times", self.run_with("roar.sh\techo\tx\n").stderr)

    def test_of_a_sample_the_list_s_share_has_an_interval(self):
        both = "roar.sh\t+ 1\t- 1\nroar.sh\t$1 + 1\t$1 + 2\n"
        result = self.run_with(both, options=["--sample=1"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 of 1 faults caught (100 %; 20.7 to 100.0 % of the 2 listed)", result.stdout)
        self.assertIn("2 of 2 faults caught (100 %) in",
                      self.run_with(both, options=["--sample=3"]).stdout)

    def test_an_empty_sample_is_refused(self):
        result = self.run_with("roar.sh\t+ 1\t- 1\n", options=["--sample=0"])
        self.assertEqual(result.returncode, 2)
        self.assertIn("want a number above 0", result.stderr)

    def test_a_seed_draws_the_same_sample_in_the_list_s_order(self):
        faults = list(range(100))
        first = mutate.drawn(faults, 10, 1)
        self.assertEqual(first, mutate.drawn(faults, 10, 1))
        self.assertNotEqual(first, mutate.drawn(faults, 10, 2))
        self.assertEqual((len(set(first)), first), (10, sorted(first)))

    def test_too_few_faults_fail(self):
        result = self.run_with("roar.sh\t+ 1\t- 1\n", minimum_faults=2)
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 faults, fewer than 2", result.stderr)

    def test_tests_that_fail_without_a_fault_are_another_exit_code(self):
        self.write("tree/lion/roar_test.sh", "false\n")
        result = self.run_with("roar.sh\t+ 1\t- 1\n")
        self.assertEqual(result.returncode, 2)
        self.assertIn("fail without a fault", result.stderr)

    def test_a_line_of_another_shape_is_refused(self):
        self.assertIn("line 1: want FILE", self.run_with("roar.sh + 1 - 1\n").stderr)

    def test_a_fault_that_stands_twice_is_refused(self):
        result = self.run_with("roar.sh\t+ 1\t- 1\n# again\nroar.sh\t+ 1\t- 1\n")
        self.assertIn("line 3 stands twice", result.stderr)

    def test_patterns_of_the_tests_can_be_named(self):
        listing = mutate.parse("tests\t//lion:all //zoo:all\na\tb\tc\n")
        self.assertEqual(listing.patterns, ["//lion:all", "//zoo:all"])
        self.assertEqual(len(listing.faults), 1)

    def patterns_of_runs(self, mutations):
        """Patterns that the program in place of Bazel was asked to test, run by run."""
        self.write("bin/bazel", FAKE_BAZEL.replace(
            "bash -n", 'echo "${@##--*}" | xargs >>%s\nbash -n' % (self.folder / "asked"), 1))
        os.chmod(self.folder / "bin/bazel", 0o755)
        self.run_with(mutations)
        asked = (self.folder / "asked").read_text().splitlines()
        return [line.replace("test ", "", 1) for line in asked]

    def test_the_test_named_after_a_file_runs_first(self):
        self.write("tree/lion/BUILD", 'sh_test(name = "roar_test")')
        # Without a fault all tests; the first fault is caught by the near one;
        # the second survives it and is given to all.
        self.assertEqual(
            self.patterns_of_runs("roar.sh\t+ 1\t- 1\nroar.sh\techo 7\techo 8\n"),
            ["//lion/...", "//lion:roar_test", "//lion:roar_test", "//lion/..."])

    def test_the_near_test_of_a_room_is_in_the_room(self):
        self.write("tree/lion/den/BUILD", 'sh_test(name = "growl_test")')
        self.write("tree/lion/den/growl.sh", "echo $((1 + 1))\n")
        self.write("tree/lion/den/growl_test.sh", "true\n")
        self.assertIn("//lion/den:growl_test",
                      self.patterns_of_runs("den/growl.sh\t+ 1\t- 1\n"))

    def test_tests_that_run_first_can_be_named(self):
        self.assertEqual(
            self.patterns_of_runs("first\troar.sh\t//lion:a //lion:b\nroar.sh\t+ 1\t- 1\n"),
            ["//lion/...", "//lion:a //lion:b"])

    def test_all_tests_run_where_none_is_near(self):
        self.assertEqual(self.patterns_of_runs("roar.sh\t+ 1\t- 1\n"),
                         ["//lion/...", "//lion/..."])

    def test_a_file_to_test_first_must_exist(self):
        self.assertIn("first: gone.sh does not exist",
                      self.run_with("first\tgone.sh\t//lion:a\nroar.sh\t+ 1\t- 1\n").stderr)

    def test_a_run_that_took_too_long_counts_as_caught(self):
        self.assertEqual(mutate.judge(None), "caught by the time limit")
        self.assertIsNone(mutate.judge(37))


if __name__ == "__main__":
    unittest.main()
