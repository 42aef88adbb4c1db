"""Pages of runs in a real browser: Chromium, by its debugging pipe.

Keys and clicks are the browser's own events. Not part of `bazel test //...`, since
it needs Debian's package chromium: without it, the test fails and says so.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "base" / "page"))
import browser  # noqa: E402

_PROGRAM = pathlib.Path(__file__).parent / "write_example_pages"
_PICTURES = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")


class BrowserTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        subprocess.run([_PROGRAM, cls._folder.name], check=True)
        cls.browser = browser.Browser(cls._folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls._folder.cleanup()

    def _open(self, name, **how):
        self.browser.open(f"file://{self._folder.name}/{name}.html", **how)

    def _told(self, which="flame"):
        return self.browser.ask(f"document.querySelector('.{which}-told').textContent")

    def _focused(self):
        return self.browser.ask("document.activeElement.getAttribute('aria-label')")

    def test_nothing_fails_nothing_is_fetched_and_all_fits(self):
        for name in ("full", "hostile", "large", "comparison", "hostile_comparison"):
            for width in (1400, 390):
                for dark in (False, True):
                    with self.subTest(f"{name} {width} {dark}"):
                        self._open(name, width=width, dark=dark)
                        self.assertEqual(self.browser.faults(), [])
                        self.assertEqual(
                            self.browser.ask("document.documentElement.scrollWidth"), width)
                        self.assertNotEqual(self.browser.ask("document.title"), "owned")
                        if _PICTURES:
                            self.browser.picture(f"{_PICTURES}/{name}-{width}-"
                                                 f"{'dark' if dark else 'light'}.png")

    def test_light_and_dark(self):
        ground = []
        for dark in (False, True):
            self._open("full", dark=dark)
            ground.append(self.browser.ask("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(ground, ["rgb(252, 252, 251)", "rgb(21, 23, 27)"])

    def test_keys_read_the_timeline(self):
        self._open("full")
        self.assertTrue(self._told("timeline").startswith("peak, after 3.000 s: 12.00 MiB"))
        self.browser.tab_to(".timeline-read")
        self.browser.press("ArrowLeft")
        self.assertTrue(self._told("timeline").startswith("after 2.900 s: 11.60 MiB"))
        self.assertIn("fit", self._told("timeline"))
        self.browser.press("Home")
        self.assertTrue(self._told("timeline").startswith("after 0.000 s: 0 B"))
        self.browser.press("End", "ArrowRight")
        self.assertTrue(self._told("timeline").startswith("after 4.000 s"))
        self.browser.press("p")
        self.assertEqual(self.browser.ask(
            "document.activeElement.getAttribute('aria-valuetext')"), self._told("timeline"))
        self.assertTrue(self._told("timeline").startswith("peak"))

    def test_the_mouse_reads_the_timeline(self):
        for width in (1400, 390):
            self._open("full", width=width)
            self.browser.point(".timeline-read")
            self.assertRegex(self._told("timeline"), r"^after (1\.[89]|2\.[012])00 s")

    def test_keys_choose_the_process(self):
        self._open("full")
        self.browser.tab_to(".views > input")
        self.browser.press("ArrowRight")
        self.assertEqual(self.browser.ask(
            "[...document.querySelectorAll('.view')].map((v) => v.clientHeight > 0).join()"),
            "false,true,true,false")

    def test_native_functions_come_with_a_switch(self):
        self._open("full")
        heights = ("[...document.querySelectorAll('.flame-calls')]"
                   ".map((calls) => calls.childElementCount > 0 && calls.clientHeight > 0).join()")
        names = "[...document.querySelectorAll('.flame-calls')].map((c) => c.textContent)"
        self.assertEqual(self.browser.ask(heights), "true,false")
        self.assertNotIn("PyArray_NewFromDescr", self.browser.ask(names)[0])
        self.browser.ask("[...document.querySelectorAll('label')]"
                         ".find((l) => l.textContent === 'Python and native').click()")
        # The picture is drawn when its frame has a width.
        self.browser.ask("new Promise((done) => requestAnimationFrame(() => "
                         "requestAnimationFrame(done)))")
        self.assertEqual(self.browser.ask(heights), "false,true")
        self.assertIn("PyArray_NewFromDescr", self.browser.ask(names)[1])

    def test_keys_move_in_the_flame_graph(self):
        self._open("full")
        self.browser.tab_to("[role=treeitem]")
        self.assertIn("python3 train.py, 12.0 MiB", self._focused())
        self.browser.press("ArrowRight")
        self.assertIn("python3 worker.py, 3.00 MiB", self._focused())
        self.browser.press("Home", "ArrowDown", "ArrowDown", "ArrowDown")
        self.assertIn("fit, 7.00 MiB \u00b1 97.7 KiB (46.7 %)", self._focused())
        self.assertIn("allocated in all 30.0 MiB", self._told())
        self.browser.press("ArrowUp")
        self.assertIn("<module>", self._focused())

    def test_keys_enlarge_a_call_and_go_back(self):
        self._open("full")
        width = ("document.activeElement.clientWidth / "
                 "document.querySelector('.flame-calls').clientWidth > 0.99")
        self.browser.tab_to("[role=treeitem]")
        self.browser.press("ArrowDown", "ArrowDown", "ArrowDown")
        self.assertFalse(self.browser.ask(width))
        self.browser.press("Enter")
        self.assertTrue(self.browser.ask(width))
        self.assertTrue(self._focused().startswith("fit,"))
        self.browser.press("Escape", "Escape", "Escape", "Escape")
        self.assertTrue(self.browser.ask("document.querySelector('.flame-tools button').disabled"))
        self.assertIn("role", self.browser.ask("document.activeElement.outerHTML"))

    def test_a_click_enlarges_and_the_button_goes_back(self):
        self._open("full")
        box = "[role=treeitem][aria-level='3']"
        self.browser.point(box)
        self.assertTrue(self._told().startswith("fit"))
        self.browser.point(box, click=True)
        self.assertTrue(self.browser.ask(
            f"document.querySelector({json.dumps(box)}).clientWidth > 900"))
        self.browser.point(".flame-tools button", click=True)
        self.assertFalse(self.browser.ask(
            f"document.querySelector({json.dumps(box)}).clientWidth > 900"))

    def test_keys_choose_the_measure(self):
        self._open("full")
        self.browser.tab_to(".flame-tools input[type=radio]")
        self.browser.press("ArrowRight")
        self.assertTrue(self._told().startswith("All, allocated in all: 46.0 MiB"))
        self.browser.press("ArrowRight", "ArrowRight", "ArrowRight")
        self.assertTrue(self._told().startswith("All, processor time: 2.75 s"))

    def test_a_moment_is_chosen(self):
        self._open("full")
        self.browser.tab_to(".flame-moment")
        self.browser.press("ArrowRight")
        self.assertTrue(self._told().startswith("All, live after 1.000 s: 2.00 MiB"))
        self.assertTrue(self.browser.ask(
            "[...document.querySelectorAll('label')].some((label) => "
            "label.textContent === 'at a moment' && label.firstChild.checked)"))
        self.browser.press("ArrowRight")
        self.assertTrue(self._told().startswith("All, live after 2.000 s: 7.00 MiB"))

    def test_the_timeline_chooses_the_moment(self):
        self._open("full")
        self.browser.tab_to(".timeline-read")
        self.browser.press("Home", "PageUp", "ArrowRight", "Enter")
        self.assertTrue(self._told("timeline").startswith("after 1.100 s"))
        self.assertTrue(self._told().startswith("All, live after 1.000 s: 2.00 MiB"))
        self.browser.press("ArrowLeft", "ArrowLeft", "Enter")
        self.assertTrue(self._told().startswith("Nothing is known live after 0.000 s"))
        self.browser.press("End", "Enter")
        self.assertTrue(self._told().startswith("All, live after 2.000 s: 7.00 MiB"))
        self.browser.press("p", "Enter")
        self.assertTrue(self._told().startswith("All, at the peak"))
        for width in (1400, 390):
            self._open("full", width=width)
            self.browser.point(".timeline-read", click=True)
            self.assertRegex(self._told(), "^All, live after [12].000 s")

    def test_a_name_is_found(self):
        self._open("full")
        self.browser.tab_to("input[type=search]")
        self.browser.press(*"FIT")
        found = "document.querySelector('.flame-found').textContent"
        # The figure is the sum of both processes; what fit calls is not added
        # again.
        self.assertEqual(self.browser.ask(found), "2 found: 10.0 MiB (66.7 %)")
        self.assertEqual(self.browser.ask("document.querySelectorAll('.hit').length"), 2)
        self.browser.press("x")
        self.assertEqual(self.browser.ask(found), "not found")

    def test_a_comparison_tells_changes(self):
        self._open("comparison")
        self.browser.tab_to("[role=treeitem]")
        self.browser.press("ArrowDown", "ArrowDown", "ArrowDown")
        self.assertIn("change: +2.00 MiB \u00b1 138 KiB", self._told())
        self.assertNotIn("chance", self._told())
        self.browser.press("ArrowRight")
        self.assertIn("no change", self._told())


if __name__ == "__main__":
    unittest.main()
