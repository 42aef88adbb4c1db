"""Tests the server's page in a real browser, against a real server.

The test is not part of `bazel test //...`, since it needs Debian's package
chromium. Without the package it fails with a message.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "base" / "page"))
import browser  # noqa: E402

_PROGRAM = pathlib.Path(__file__).parent / "serve_example"
_PICTURES = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
_WIDTHS = (1400, 400)


class PageBrowserTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.server = subprocess.Popen([_PROGRAM, cls._folder.name + "/store", "0"],
                                      stdout=subprocess.PIPE, text=True)
        port, cls.token = cls.server.stdout.readline().split()
        cls.url = f"http://127.0.0.1:{port}/"
        cls.browser = browser.Browser(cls._folder.name)
        cls.browser.call("DOM.enable")
        # Each test enters the token itself.
        cls.browser.call("Page.addScriptToEvaluateOnNewDocument",
                         source="try { sessionStorage.clear(); } catch (none) { }")

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.server.terminate()
        cls.server.wait()
        cls.server.stdout.close()
        cls._folder.cleanup()

    def _ask(self, expression):
        return self.browser.ask(expression)

    def _text(self, identity):
        return self._ask(f"document.getElementById({json.dumps(identity)}).textContent")

    def _await(self, expression, seconds=20):
        deadline = time.time() + seconds
        while not self._ask(expression):
            self.assertLess(time.time(), deadline, f"{expression}; told: {self._text('told')}")
            time.sleep(0.02)

    def _enter(self, token=None, width=1400, **how):
        self.browser.open("about:blank")
        self.browser.open(self.url, width=width, **how)
        self.browser.point("#token", click=True)
        self.browser.call("Input.insertText", text=token or self.token)
        self.browser.press("Enter")
        if token is None:
            self._await("!document.getElementById('work').hidden")

    def _file(self, name, content):
        path = pathlib.Path(self._folder.name) / name
        path.write_text(content)
        return str(path)

    def _choose(self, path):
        root = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        node = self.browser.call("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
        self.browser.call("DOM.setFileInputFiles", nodeId=node, files=[path])

    def _drop(self, path):
        x, y = self._ask("""(() => {
            const box = document.getElementById('drop').getBoundingClientRect();
            return [box.left + box.width / 2, box.top + 12];
        })()""")
        data = {"items": [], "files": [path], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.browser.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def _fits(self, width):
        self.assertEqual(self._ask("document.documentElement.scrollWidth"), width)
        self.assertEqual(self.browser.faults(), [])

    def test_a_chosen_file_is_submitted_watched_and_judged(self):
        for width in _WIDTHS:
            for dark in (False, True):
                with self.subTest(f"{width} {dark}"):
                    self._enter(width=width, dark=dark)
                    self._choose(self._file("slow.bundle", f"slow {width} {dark}"))
                    self._await("document.getElementById('trial-state').textContent"
                                ".startsWith('running: measuring')")
                    self._await("!document.getElementById('profile').hidden")
                    self.assertTrue(self._text("trial-state").startswith("ACCEPT, by example"))
                    self.assertIn("ACCEPT", self._text("verdict"))
                    self.assertEqual(self._ask("document.activeElement.id"), "trial-name")
                    self.assertIn("of ", self._text("remarks"))
                    self.assertIn("fit.py:12 <b>fit</b>", self._text("sites"))
                    self.assertEqual(self._ask(
                        "[...document.querySelectorAll('#stages > :nth-child(3n + 1)')]"
                        ".map((name) => name.textContent).join()"), "whole run,read,fit")
                    self._fits(width)
                    if _PICTURES:
                        self.browser.picture(
                            f"{_PICTURES}/verdict-{width}-{'dark' if dark else 'light'}.png")

    def test_a_dropped_file_is_rejected_and_known_the_second_time(self):
        path = self._file("reject.bundle", "reject this")
        for told in ("submitted", "this bundle was known"):
            self._enter()
            self._drop(path)
            self._await("document.getElementById('trial-state').textContent"
                        ".startsWith('REJECT, by example')")
            self._await(f"document.getElementById('told').textContent === {json.dumps(told)}")
            self._await("!document.getElementById('verdict').hidden")
            self.assertIn("REJECT", self._text("verdict"))
            self._fits(1400)

    def test_what_gave_no_verdict_runs_again_by_a_button(self):
        for width in _WIDTHS:
            self._enter(width=width)
            self._choose(self._file("flaky.bundle", f"flaky {width}"))
            self._await("!document.getElementById('again').hidden")
            self.assertTrue(self._text("trial-state").startswith("INCONCLUSIVE"))
            self._await("!document.getElementById('verdict').hidden")
            self._fits(width)
            if _PICTURES:
                self.browser.picture(f"{_PICTURES}/again-{width}.png")
            self.browser.point("#again", click=True)
            self._await("document.getElementById('trial-state').textContent"
                        ".startsWith('ACCEPT, by example')")
            self.assertTrue(self._ask("document.getElementById('again').hidden"))

    def test_history_and_comparison(self):
        for width in _WIDTHS:
            self._enter(width=width)
            rows = "document.querySelectorAll('#history tr').length"
            for content in (f"accept {width}", f"accept {width}, and more"):
                count = self._ask(rows)
                self._choose(self._file("one.bundle", content))
                self._await(f"{rows} === {count + 1}")
                self._await("!document.querySelector('#history input:disabled')")
            self.browser.point("#history tr:nth-child(1) input", click=True)
            self.browser.point("#history tr:nth-child(2) input", click=True)
            self.browser.point("#compare", click=True)
            self._await("!document.getElementById('comparison').hidden")
            # The second bundle is 10 bytes longer, and each byte counts as 800.
            self.assertIn("+8,000 B", self._text("difference"))
            self._ask("document.getElementById('deployment').value = '//models:example';"
                      "document.getElementById('deployment').onchange()")
            self._await("document.querySelectorAll('#history tr').length >= 2")
            self._fits(width)
            if _PICTURES:
                self.browser.picture(f"{_PICTURES}/history-{width}.png")

    def test_a_long_label_widens_nothing(self):
        for width in _WIDTHS:
            self._enter(width=width)
            self._choose(self._file("long.bundle", f"long {width}"))
            self._await("!document.getElementById('profile').hidden")
            self._await("document.getElementById('history').textContent.includes('mmmm')")
            self._fits(width)
            # No column is so narrow that it shows single letters.
            self.assertGreater(self._ask(
                "Math.min(...[...document.querySelectorAll('#history a')]"
                ".map((link) => link.getBoundingClientRect().width))"), 60)
            self.assertLess(self._ask("Math.max(...[...document.querySelectorAll('#history tr')]"
                                      ".map((row) => row.getBoundingClientRect().height))"), 150)
            if _PICTURES:
                self.browser.picture(f"{_PICTURES}/long-{width}.png")

    def test_a_running_trial_is_in_the_list(self):
        self._enter()
        rows = "document.querySelectorAll('#history tr').length"
        count = self._ask(rows)
        self._choose(self._file("slow.bundle", "slow and listed"))
        self._await(f"{rows} === {count + 1}")
        self.assertIn(self._ask("document.querySelector('#history .badge').textContent"),
                      ("waiting", "running"))
        self._await("document.querySelector('#history .badge').textContent === 'ACCEPT'")

    def test_keys_alone_reach_a_trial(self):
        self._enter()
        self._choose(self._file("keys.bundle", "accept keys"))
        self._await("!document.getElementById('profile').hidden")
        self._ask("document.getElementById('verdict').hidden = true")
        self.browser.tab_to("#history a")
        self.browser.press("Enter")
        self._await("location.hash.length === 65")

    def test_a_wrong_token_is_told(self):
        self._enter(token="fpt_wrong")
        self._await("document.getElementById('told').className === 'wrong'")
        self.assertIn("no such token", self._text("told"))
        self.assertTrue(self._ask("document.getElementById('work').hidden"))


if __name__ == "__main__":
    unittest.main()
