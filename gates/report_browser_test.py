"""The page of //gates:report in a real browser, by the keyboard alone.

Not part of `bazel test //...`, since it needs Debian's package chromium: without
it, the test fails and says so.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "base" / "page"))
import browser  # noqa: E402

_PROGRAM = pathlib.Path(__file__).parent / "report"
_PICTURES = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
_FUNCTIONS = "a[href], summary, .scroll[tabindex], button, input, select"


class ReportBrowserTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls._page = f"{cls._folder.name}/report.html"
        subprocess.run([_PROGRAM, f"--output={cls._page}"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.browser = browser.Browser(cls._folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls._folder.cleanup()

    def _open(self, **how):
        self.browser.open(f"file://{self._page}", **how)

    def _ask(self, expression):
        return self.browser.ask(expression)

    def test_nothing_fails_nothing_is_fetched_and_all_fits(self):
        for width in (1400, 400):
            for dark in (False, True):
                with self.subTest(f"{width} {dark}"):
                    self._open(width=width, dark=dark)
                    self.assertEqual(self.browser.faults(), [])
                    self._ask("document.querySelectorAll('details').forEach(d => d.open = true)")
                    self.assertEqual(self._ask("document.documentElement.scrollWidth"), width)
                    if _PICTURES:
                        self._ask("""[...document.querySelectorAll('details')].slice(2)
                            .forEach(d => d.open = false)""")
                        self.browser.picture(f"{_PICTURES}/report-{width}-"
                                             f"{'dark' if dark else 'light'}.png")

    def test_tab_reaches_every_function_in_order_and_shows_where_it_is(self):
        self._open()
        # A function inside a closed fold is none until the fold is opened.
        self._ask(f"""window.order = [...document.querySelectorAll('{_FUNCTIONS}')]
            .filter(e => e.checkVisibility())""")
        count = self._ask("order.length")
        self.assertGreater(count, 10)
        for place in range(count):
            self.browser.press("Tab")
            self.assertEqual(self._ask("order.indexOf(document.activeElement)"), place)
            # Two pixels of the accent's colour, within the window.
            outline = self._ask("getComputedStyle(document.activeElement).outlineStyle + "
                                "parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
            self.assertEqual(outline, "solid2", place)
            self.assertTrue(self._ask("""(() => {
                const box = document.activeElement.getBoundingClientRect();
                return box.bottom > 0 && box.top < innerHeight;
            })()"""), place)

    def test_links_skip_to_each_section(self):
        self._open()
        names = self._ask("[...document.querySelectorAll('.sections a')].map(a => a.textContent)")
        headings = self._ask("[...document.querySelectorAll('h2')].map(h => h.textContent)")
        self.assertEqual(names, headings)
        for place in range(len(names)):
            self._open()
            for _ in range(place + 1):
                self.browser.press("Tab")
            self.browser.press("Enter")
            self.assertEqual(self._ask("document.querySelector(':target').textContent"),
                             names[place])
            # The next stop comes after the heading, not after the links.
            self.browser.press("Tab")
            self.assertTrue(self._ask("""document.querySelector(':target')
                .compareDocumentPosition(document.activeElement) &
                Node.DOCUMENT_POSITION_FOLLOWING"""), names[place])

    def test_a_fold_opens_and_its_tables_scroll_by_keys(self):
        self._open(width=400)
        self.browser.tab_to("summary")
        self.browser.press("Enter")
        self.assertTrue(self._ask("document.activeElement.parentElement.open"))
        self.browser.press("Enter")
        self.assertFalse(self._ask("document.activeElement.parentElement.open"))
        self._open(width=400)
        self._ask("""window.wide = [...document.querySelectorAll('.scroll[tabindex]')]
            .findIndex(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 40)""")
        if self._ask("wide") < 0:
            return  # all fits
        for _ in range(60):
            self.browser.press("Tab")
            if self._ask("document.activeElement === document.querySelectorAll('.scroll[tabindex]')[wide]"):
                break
        for _ in range(3):
            self.browser.press("ArrowRight")
        for _ in range(50):
            if self._ask("document.activeElement.scrollLeft") > 0:
                return
            time.sleep(0.05)
        self.fail("arrows do not scroll the table")


if __name__ == "__main__":
    unittest.main()
