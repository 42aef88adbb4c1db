"""Tests of peak_lines with a run that is written here."""

import os
import sys
import unittest

# The wheel has footprint.py as the package's __init__.py.
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "stages"))
import footprint  # noqa: E402

sys.modules["footprint_memory"] = footprint
import peak_lines  # noqa: E402

PYTHON = [
    {"kind": "PYTHON", "function": "test_a", "file": "/home/me/project/tests/test_a.py", "line": 3},
    {"kind": "PYTHON", "function": "ones", "file": "/usr/lib/python3/dist-packages/numpy/n.py",
     "line": 9},
    {"kind": "PYTHON", "function": "call", "file": "/usr/lib/python3/dist-packages/_pytest/p.py",
     "line": 1},
]
NATIVE = [{"kind": "NATIVE", "function": "PyObject_Malloc", "module": "/usr/bin/python3"}]


class FindLinesTest(unittest.TestCase):
    def run_of(self, *stacks):
        # Calls 1 to 4: pytest, the test, numpy, the allocator.
        return {
            "frames": PYTHON + NATIVE,
            "calls": [{"parent": 0, "frame": 2}, {"parent": 1, "frame": 0},
                      {"parent": 2, "frame": 1}, {"parent": 3, "frame": 3}],
            "processes": [{
                "stages": [{}, {"name": "tests/test_a.py::test_a"},
                           {"name": "inner", "parent": 1}, {"name": "tests/test_a.py::other"}],
                "stacks": list(stacks)}]}

    def lines(self, *stacks, root="/home/me/project", figure="at_recent_peak_bytes"):
        return peak_lines.find_lines(self.run_of(*stacks), "tests/test_a.py::test_a", figure,
                                     root)

    def test_bytes_count_at_the_innermost_own_line(self):
        lines = self.lines({"call": 4, "stage": 1, "at_recent_peak_bytes": 10},
                           {"call": 2, "stage": 1, "at_recent_peak_bytes": 5})
        self.assertEqual(lines, [(15, PYTHON[0]["file"], 3, "test_a")])

    def test_code_of_others_counts_where_no_line_is_own(self):
        lines = self.lines({"call": 4, "stage": 1, "at_recent_peak_bytes": 10}, root="/other")
        self.assertEqual(lines[0].function, "ones")
        lines = self.lines({"call": 1, "stage": 1, "at_recent_peak_bytes": 10})
        self.assertEqual(lines, [(10, "", 0, "")])

    def test_only_the_stage_and_what_is_inside_of_it_counts(self):
        lines = self.lines({"call": 2, "stage": 2, "at_recent_peak_bytes": 10},
                           {"call": 2, "stage": 3, "at_recent_peak_bytes": 100},
                           {"call": 2, "at_recent_peak_bytes": 1000},
                           {"call": 2, "stage": 1})
        self.assertEqual([line.held_bytes for line in lines], [10])

    def test_the_most_comes_first(self):
        lines = self.lines({"call": 1, "stage": 1, "at_end": {"bytes": 7, "count": 1}},
                           {"call": 2, "stage": 1, "at_end": {"bytes": 9}},
                           {"call": 3, "stage": 1, "at_end": {}}, figure="at_end")
        self.assertEqual([line.held_bytes for line in lines], [9, 7])

    def test_code_without_a_file_is_nobodys_own(self):
        run = self.run_of({"call": 5, "stage": 1, "at_end": {"bytes": 9}})
        run["frames"].append({"kind": "PYTHON", "function": "exec_module", "line": 241,
                              "file": "<frozen importlib._bootstrap>"})
        run["calls"].append({"parent": 2, "frame": 4})
        for name in (run["frames"][4]["file"], "<string>"):
            run["frames"][4]["file"] = name
            # The working folder is the root, as of pytest.
            run["frames"][0]["file"] = os.path.join(os.getcwd(), "test_a.py")
            lines = peak_lines.find_lines(run, "tests/test_a.py::test_a", "at_end", os.getcwd())
            self.assertEqual(lines[0].function, "test_a")
        # Outside of the root, importing counts where the import stands.
        run["frames"][4]["file"] = "<frozen importlib._bootstrap>"
        lines = peak_lines.find_lines(run, "tests/test_a.py::test_a", "at_end", "/other")
        self.assertEqual(lines[0].function, "test_a")

    def test_says_that_the_stage_is_not_recorded(self):
        run = self.run_of({"call": 2, "stage": 1, "at_end": {"bytes": 9}})
        with self.assertRaisesRegex(LookupError, "more stages than .* alone"):
            peak_lines.find_lines(run, "tests/test_a.py::test_z", "at_end", "/")

    def test_the_end_of_a_long_name_is_enough(self):
        run = self.run_of({"call": 2, "stage": 1, "at_end": {"bytes": 9}})
        name = "tests/test_a.py::test_a[%s]" % ("x" * 300)
        run["processes"][0]["stages"][1]["name"] = name[-151:]
        self.assertEqual(len(peak_lines.find_lines(run, name, "at_end", "/")), 1)


if __name__ == "__main__":
    unittest.main()
