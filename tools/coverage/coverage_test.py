"""Tests of the report, and of the merger that `bazel coverage` calls."""

import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import report

MERGER = "third_party/remote_coverage_tools/lcov_merger.py"


def gcov(source, counts):
    return {"files": [{
        "file": source,
        "lines": [{"line_number": line, "count": count} for line, count in counts.items()],
        "functions": [{"name": "f", "start_line": 1, "execution_count": 2}],
    }]}


class MergerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write_gcov(self, name, document):
        with gzip.open(self.folder / (name + ".gcov.json.gz"), "wt") as file:
            json.dump(document, file)

    def merged(self, *flags):
        output = self.folder / "out"
        subprocess.run(
            [sys.executable, "-B", MERGER, "--coverage_dir=%s" % self.folder,
             "--output_file=%s" % output, *flags], check=True)
        return output.read_text()

    def test_adds_what_two_programs_ran(self):
        self.write_gcov("a", gcov("p/x.cc", {1: 2, 2: 0}))
        self.write_gcov("b", gcov("p/x.cc", {1: 1, 3: 0}))
        self.assertEqual(
            self.merged(),
            "SF:p/x.cc\nFN:1,f\nFNDA:4,f\nFNF:1\nFNH:1\n"
            "DA:1,3\nDA:2,0\nDA:3,0\nLH:1\nLF:3\nend_of_record\n")

    def test_a_header_behind_an_include_prefix_has_its_own_name(self):
        self.write_gcov("a", gcov(
            "bazel-out/k8-fastbuild/bin/p/q/_virtual_includes/x/footprint/p/q/x.h", {1: 1}))
        self.assertIn("SF:p/q/x.h\n", self.merged())

    def test_reads_tracefiles_and_leaves_filtered_sources_out(self):
        (self.folder / "t.dat").write_text("SF:p/x.cc\nDA:4,1\nend_of_record\n")
        self.write_gcov("a", gcov("/usr/include/vector", {1: 1}))
        text = self.merged("--filter_sources=/usr/include.+")
        self.assertIn("DA:4,1", text)
        self.assertNotIn("/usr/include", text)


class ReportTest(unittest.TestCase):
    def test_counts_lines_by_package(self):
        lines = collections.defaultdict(collections.Counter)
        report.add_tracefile("SF:p/x.cc\nDA:1,0\nDA:2,5\nend_of_record\n", lines)
        report.add_tracefile("SF:p/x.cc\nDA:1,1\nend_of_record\nSF:q/y.cc\nDA:1,0\n", lines)
        self.assertEqual(report.by_package(lines), {"p": (2, 2), "q": (0, 1)})
        self.assertIn("SF:p/x.cc\nDA:1,1\nDA:2,5\n", report.tracefile(lines))


if __name__ == "__main__":
    unittest.main()
