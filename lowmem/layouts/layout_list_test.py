"""Tests that layouts.csv lists enough layouts, each with valid fields, and that the
comparison of run_layouts.py fails for wrong results."""

import csv
import json
import os
import stat
import tempfile
import unittest

import run_layouts

_LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layouts.csv")
_DTYPES = {"F32", "F16", "BF16"}
_KINDS = {"encoder", "embedder", "reranker", "classifier", "decoder"}
_PROGRAM = """#!/usr/bin/env python3
import struct, sys
nan = float("nan")
if %(message)r:
    sys.exit(%(message)r)
output = [a for a in sys.argv if a.startswith("--output=")][0][len("--output="):]
with open(output, "wb") as file:
    file.write(struct.pack("<%%df" %% len(%(values)r), *%(values)r))
"""


def read_rows():
    with open(_LIST, newline="") as file:
        return list(csv.DictReader(file))


class LayoutListTest(unittest.TestCase):

    def test_lists_enough_layouts(self):
        rows = read_rows()
        runs = [row for row in rows if row["outcome"] == "runs"]
        self.assertGreaterEqual(len(rows), 100)
        self.assertGreaterEqual(len(runs), 80)
        self.assertEqual(len({row["layout"] for row in rows}), len(rows))
        for kind in _KINDS:
            self.assertTrue([row for row in runs if row["kind"] == kind], kind)
        for shards in "12345":
            self.assertTrue([row for row in runs if row["shards"] == shards], shards)

    def test_each_row_has_valid_fields(self):
        for row in read_rows():
            with self.subTest(layout=row["layout"]):
                self.assertNotIn(None, row)
                self.assertNotIn(None, row.values())
                for key in ("layout", "copies", "class", "checks"):
                    self.assertTrue(row[key], key)
                self.assertIn(row["kind"], _KINDS)
                self.assertIn(row["outcome"], {"runs", "refused"})
                self.assertIn(row["ties"], {"tied", "untied", "none"})
                self.assertTrue(row["prefix"] == "none" or row["prefix"].endswith("."))
                is_gguf = row["dtype"].startswith("GGUF ")
                self.assertTrue(is_gguf or row["dtype"] in _DTYPES, row["dtype"])
                self.assertEqual(is_gguf, row["edits"] == "gguf")
                if row["outcome"] == "runs":
                    self.assertIn(row["checks"].split()[0],
                                  {"states", "logits", "vector", "scores"})


class ComparisonTest(unittest.TestCase):
    """Programs of one line stand for lowmem's."""

    def setUp(self):
        self._scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self._scratch.cleanup)
        self.folder = os.path.join(self._scratch.name, "model")
        os.mkdir(self.folder)
        with open(self.folder + "/expected.json", "w") as file:
            json.dump({"ids": [[5, 6]], "values": [[1.0, -4.0]],
                       "torch_float32_error": 1e-7}, file)

    def write_program(self, values, message=""):
        path = os.path.join(self._scratch.name, "lowmem_run")
        with open(path, "w") as file:
            file.write(_PROGRAM % {"values": values, "message": message})
        os.chmod(path, stat.S_IRWXU)

    def compare(self):
        return run_layouts.compare({"checks": "logits"}, self._scratch.name, self.folder)

    def check_refusal(self, words):
        row = {"checks": words, "kind": "decoder"}
        return run_layouts.check_refusal(row, self._scratch.name, self.folder)

    def test_accepts_what_floats_can_state(self):
        self.write_program([1.0, -4.00001])
        self.assertLess(self.compare()[0], run_layouts.TOLERANCE)

    def test_fails_for_wrong_missing_and_infinite_numbers(self):
        for values in ([1.0, -4.001], [1.0], [1.0, -4.0, 0.0], [1.0, float("nan")]):
            with self.subTest(values=values):
                self.write_program(values)
                with self.assertRaises(run_layouts.Failure):
                    self.compare()

    def test_fails_for_an_error_of_the_program(self):
        self.write_program([1.0, -4.0], message="it is broken")
        with self.assertRaisesRegex(run_layouts.Failure, "it is broken"):
            self.compare()

    def test_a_refusal_names_what_is_refused(self):
        self.write_program([], message='model_type is "falcon"; known are others')
        self.assertIn("falcon", self.check_refusal("falcon"))
        with self.assertRaisesRegex(run_layouts.Failure, "does not name bloom"):
            self.check_refusal("bloom")

    def test_what_runs_is_not_refused(self):
        path = os.path.join(self._scratch.name, "lowmem_run")
        for body, message in (("exit 0", "runs, but must be refused"),
                              ("kill -SEGV $$", "ended by signal 11")):
            with open(path, "w") as file:
                file.write("#!/bin/sh\n%s\n" % body)
            os.chmod(path, stat.S_IRWXU)
            with self.assertRaisesRegex(run_layouts.Failure, message):
                self.check_refusal("falcon")


if __name__ == "__main__":
    unittest.main()
