"""Tests of check_outputs: which lines stand for which, and what is told."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_outputs

PROGRAM = pathlib.Path(check_outputs.__file__)
PAGE = """# A page

```console
$ weigh lion   # the largest
weight  190 KiB (190,500 B), 91.8 % of it mane
timeline  ▁▂▃█▆
...
ACCEPT 12 animals
```
"""
OUTPUT = """INFO: began
weight   2.3 MiB (2,300,100 B),  8 % of it mane
timeline  ▁█▆▆▆▆▆▆
another line
ACCEPT 9 animals
"""


class PatternTest(unittest.TestCase):
    def stands_for(self, quoted, line):
        return bool(check_outputs.pattern_of(quoted).fullmatch(line))

    def test_numbers_units_bars_and_blanks_may_be_others(self):
        self.assertTrue(self.stands_for("peak  1.5 MiB  ▁▂", "peak 12,345 B    █"))
        self.assertTrue(self.stands_for("states 3 x 384, -0.743 1e-05", "states 3 x 9, 0.5 2.25"))

    def test_words_may_not(self):
        self.assertFalse(self.stands_for("peak 1 MiB", "peaks 1 MiB"))
        self.assertFalse(self.stands_for("1 rules", "1 rules of 2"))

    def test_dots_stand_for_anything(self):
        self.assertTrue(self.stands_for("//gates/...:forest  7", "//gates/deployments/tabular:forest 7"))


class CheckOutputsTest(unittest.TestCase):
    def check(self, output, *pages, command="weigh lion"):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "page.md").write_text(PAGE)
            if not pages:
                subprocess.run(["git", "init", "-q", folder], check=True)
            return subprocess.run(
                [sys.executable, PROGRAM, "--tree=" + folder, "--command=" + command, *pages],
                input=output, capture_output=True, text=True)

    def test_an_answer_with_other_figures_is_as_quoted(self):
        result = self.check(OUTPUT)
        self.assertEqual(result.stdout, "outputs: 1 quoted, 0 faults\n")
        self.assertEqual(result.returncode, 0)

    def test_a_line_that_is_not_there_is_told(self):
        result = self.check(OUTPUT.replace("mane", "fur"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("page.md:5: 'weigh lion' does not answer so: weight", result.stdout)

    def test_lines_have_an_order(self):
        lines = OUTPUT.splitlines()
        result = self.check("\n".join([lines[4], *lines[:4]]))
        self.assertIn("page.md:8: ", result.stdout)

    def test_pages_may_be_named_where_there_is_no_git(self):
        self.assertEqual(self.check(OUTPUT, "page.md").returncode, 0)

    def test_a_command_that_no_page_quotes_is_a_fault(self):
        result = self.check(OUTPUT, command="weigh hare")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no page quotes the output of 'weigh hare'", result.stdout)


if __name__ == "__main__":
    unittest.main()
