"""Tests of footprint.py that need no agent; footprint_py_test has those with one."""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class CommandTest(unittest.TestCase):
    def test_a_copy_without_the_wheel_says_that_it_runs_nothing(self):
        for words in (["-m", "footprint"], ["footprint.py"]):
            done = subprocess.run([sys.executable, "-B", *words, "train.py"], cwd=HERE,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, "nothing was run: .* needs the wheel footprint_memory")


if __name__ == "__main__":
    unittest.main()
