"""Tests of check_docs on pages of a few lines."""

import pathlib
import tempfile
import unittest

import check_docs

BUILD = """load("x")
# region gate
gate(name = "a")
# endregion
"""


class CheckDocsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        (self.tree / "docs").mkdir()
        (self.tree / "BUILD").write_text(BUILD)
        (self.tree / "ci").write_text("run tools/dev test\n")

    def faults(self, text, page="README.md"):
        (self.tree / page).write_text(text)
        checker = check_docs.Checker(self.tree)
        checker.check_page(pathlib.PurePath(page))
        return checker.faults

    def test_a_block_that_equals_its_region_is_fine(self):
        self.assertEqual(
            self.faults('<!-- file: BUILD#gate -->\n\n```python\ngate(name = "a")\n```\n'), [])

    def test_a_block_that_differs_is_named_by_line(self):
        self.assertEqual(
            self.faults('Text\n<!-- file: BUILD#gate -->\n```\ngate(name = "b")\n```\n'),
            ["README.md:3: the block is not what BUILD#gate says"])

    def test_a_missing_region_or_file_is_a_fault(self):
        self.assertIn("no region", self.faults("<!-- file: BUILD#x -->\n```\n```\n")[0])
        self.assertIn("does not exist", self.faults("<!-- file: gone -->\n```\n```\n")[0])

    def test_a_block_without_a_tag_is_a_fault(self):
        self.assertIn("needs a tag", self.faults("Text\n```\nx\n```\n")[0])

    def test_a_command_must_be_run_by_the_named_file(self):
        page = "<!-- command: ci -->\n```\n$ %s\n```\n"
        self.assertEqual(self.faults(page % "tools/dev test  # all"), [])
        self.assertIn("does not run 'tools/dev fly'", self.faults(page % "tools/dev fly")[0])

    def test_quoted_output_must_be_compared(self):
        page = "<!-- command: ci -->\n```\n$ tools/dev test\n3 passed\n```\n"
        self.assertIn("does not compare the output of 'tools/dev test'", self.faults(page)[0])
        (self.tree / "ci").write_text('run_quoted "tools/dev test"\n')
        self.assertEqual(self.faults(page), [])
        (self.tree / "ci").write_text("check_outputs.py --command='tools/dev test'\n")
        self.assertEqual(self.faults(page), [])

    def test_a_sketch_is_allowed_in_docs_only(self):
        page = "<!-- sketch -->\n```\na -> b\n```\n"
        self.assertEqual(self.faults(page, "docs/x.md"), [])
        self.assertEqual(len(self.faults(page)), 1)

    def test_a_packages_page_links_its_rooms(self):
        for room in ("files", "text"):
            (self.tree / "base" / room).mkdir(parents=True)
            (self.tree / "base" / room / "BUILD").write_text("")
        self.assertEqual(self.faults("[a](files) [b](text/BUILD)", "base/README.md"), [])
        self.assertEqual(self.faults("[a](files)", "base/README.md"),
                         ["base/README.md:1: the page has no link to its room text"])
        self.assertEqual(self.faults("", "README.md"), [])

    def test_links_must_lead_somewhere(self):
        self.assertEqual(self.faults("# The top\n[a](BUILD) [b](#the-top) [c](https://x)\n"), [])
        self.assertEqual(
            self.faults("\n[a](gone.md)\n"),
            ["README.md:2: link to gone.md, which does not exist"])
        self.assertIn("no such heading", self.faults("# Top\n[b](#bottom)\n")[0])

    def test_pictures_are_there(self):
        self.assertEqual(self.faults("![a](BUILD)\n"), [])
        self.assertEqual(
            self.faults("\n![two\nlines](gone.svg)\n"),
            ["README.md:2: link to gone.svg, which does not exist"])

    def test_lines_are_counted_with_those_of_blocks(self):
        page = "<!-- file: BUILD -->\n```\n%s\n```\n[a](gone.md)\n"
        text = (pathlib.Path(self.tree) / "BUILD").read_text().strip("\n")
        faults = self.faults(page % text)
        self.assertEqual(
            faults, ["README.md:%d: link to gone.md, which does not exist"
                     % (5 + text.count("\n"))])

    def test_code_holds_no_links(self):
        self.assertEqual(self.faults("`[a](gone.md)`\n"), [])


if __name__ == "__main__":
    unittest.main()
