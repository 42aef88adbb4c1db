"""Tests of build_places.py."""

import collections
import pathlib
import tempfile
import unittest

import build_places

# Two actions of Bazel 4.2.3's --execution_log_json_file, shortened: inputs and outputs have names
# of fields, too, but deeper.
_LOG = """{
  "commandArgs": ["/usr/bin/gcc", "-c", "a.cc"],
  "inputs": [{
    "path": "a.cc",
    "mnemonic": "Deeper"
  }],
  "remotable": true,
  "progressMessage": "Compiling a.cc",
  "mnemonic": "CppCompile",
  "actualOutputs": [],
  "runner": "remote",
  "remoteCacheHit": false
}{
  "commandArgs": ["runner"],
  "mnemonic": "WholeProcessMemory",
  "runner": "local",
  "exitCode": 0
}{
  "commandArgs": ["/usr/bin/gcc", "-c", "a.cc"],
  "mnemonic": "CppCompile",
  "runner": "remote cache hit"
}
"""
_EVENTS = """{"id":{"started":{}},"started":{"uuid":"1"}}
{"id":{"testResult":{"label":"//a:b_test","run":1}},"testResult":{"status":"PASSED","executionInfo":{"strategy":"remote"}}}
{"id":{"testResult":{"label":"//a:c_test","run":1}},"testResult":{"status":"FAILED","executionInfo":{"strategy":"linux-sandbox"}}}
{"id":{"testResult":{"label":"//a:c_test","run":1,"attempt":2}},"testResult":{"status":"PASSED","executionInfo":{"strategy":"remote"}}}
{"id":{"testSummary":{"label":"//a:b_test"}},"testSummary":{"overallStatus":"PASSED"}}
{"id":{"testSummary":{"label":"//a:c_test"}},"testSummary":{"overallStatus":"FLAKY"}}
"""
_PAGE = """# Title

| `//before:the_section_test` | no |

## Remote execution

It runs `//not:in_a_table`.

| test | reason |
|---|---|
| `//a:b_test`, `//a:c_test` | what `//another:label` says |
| `//d:e_test` | reason |

## Next

| `//after:the_section_test` | no |
"""


class BuildPlacesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._file = pathlib.Path(folder.name) / "file"

    def _write(self, text):
        self._file.write_text(text, encoding="utf-8")
        return self._file

    def test_counts_actions_by_mnemonic_and_runner(self):
        self.assertEqual(build_places.count_actions(self._write(_LOG)),
                         {("CppCompile", "remote"): 1, ("WholeProcessMemory", "local"): 1,
                          ("CppCompile", "remote cache hit"): 1})

    def test_counts_nothing_in_an_empty_log(self):
        self.assertEqual(build_places.count_actions(self._write("")), {})

    def test_only_whole_processes_may_be_measured_here(self):
        counts = collections.Counter({("CppCompile", "remote"): 5, ("CppLink", "remote cache hit"): 1,
                                      ("WholeProcessMemory", "local"): 2})
        self.assertEqual(build_places.find_wrong_places(counts), [])
        counts["MemoryProfile", "linux-sandbox"] = 3
        counts["CppCompile", "local"] = 1
        self.assertEqual(build_places.find_wrong_places(counts),
                         ["1 CppCompile ran by 'local'", "3 MemoryProfile ran by 'linux-sandbox'"])

    def test_reads_each_attempt_of_a_test(self):
        statuses, strategies = build_places.read_test_results(self._write(_EVENTS))
        self.assertEqual(statuses, {"//a:b_test": "PASSED", "//a:c_test": "FLAKY"})
        self.assertEqual(strategies, {"//a:b_test": {"remote"}, "//a:c_test": {"linux-sandbox", "remote"}})

    def test_lists_labels_of_the_first_column_in_the_section(self):
        self.assertEqual(build_places.listed_tests(self._write(_PAGE)),
                         {"//a:b_test", "//a:c_test", "//d:e_test"})

    def test_a_page_without_the_section_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "Remote execution"):
            build_places.listed_tests(self._write("# Title\n"))


if __name__ == "__main__":
    unittest.main()
