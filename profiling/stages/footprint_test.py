"""Tests of footprint.py that need no agent; footprint_py_test has those with one."""

import ctypes
import os
import subprocess
import sys
import unittest

import footprint

HERE = os.path.dirname(os.path.abspath(__file__))


class OlderAgentTest(unittest.TestCase):
    def test_measures_stages_without_the_recent_peak(self):
        class Library:
            """The functions of an agent before the recent peak."""

            def footprint_agent_begin_visit(name):
                return 7 if name == b"fit" else -1

            def footprint_agent_end_visit(visit):
                ended.append(visit)

            def footprint_agent_read_visit(visit, figures):
                return 0

        ended = []
        agent, footprint._agent = footprint._agent, footprint._Agent(Library, ctypes)
        try:
            self.assertTrue(footprint.is_measured())
            footprint.restart_recent_peak()
            with footprint.stage("fit") as stage:
                self.assertIsNone(stage.figures())
            self.assertEqual(ended, [7])
        finally:
            footprint._agent = agent


class CommandTest(unittest.TestCase):
    def test_a_copy_without_the_wheel_says_that_it_runs_nothing(self):
        for words in (["-m", "footprint"], ["footprint.py"]):
            done = subprocess.run([sys.executable, "-B", *words, "train.py"], cwd=HERE,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, "nothing was run: .* needs the wheel footprint_memory")


if __name__ == "__main__":
    unittest.main()
