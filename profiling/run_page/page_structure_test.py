"""Pages of runs, read by a parser of HTML.

Elements close in order, identifiers are unique, nothing is fetched, no name of a
function becomes markup, roles and labels are there, and the data of pictures is
JSON that adds up.
"""

import html.parser
import json
import pathlib
import subprocess
import tempfile
import unittest

_PROGRAM = pathlib.Path(__file__).parent / "write_example_pages"
_VOID = {"meta", "input", "br", "img", "link", "hr"}
_FETCHING = {"img", "link", "iframe", "object", "embed", "audio", "video", "base", "form"}


class _Page(html.parser.HTMLParser):
    """The elements, data and words of a page, and the faults of its structure."""

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.elements, self.data, self.words = [], [], [], [], []
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(f"never closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "script":
            self.data.append((attributes.get("type"), ""))

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"closed out of order: {tag} at {self.getpos()}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            kind, text = self.data[-1]
            self.data[-1] = (kind, text + data)
        else:
            self.words.append(data)

    def handle_comment(self, data):
        self.faults.append(f"a comment: {data[:40]}")

    def values(self, attribute):
        return [a[attribute] for _, a in self.elements if attribute in a]

    def json(self):
        return [json.loads(text) for kind, text in self.data if kind == "application/json"]


class PageStructureTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([_PROGRAM, folder], check=True)
            cls.pages = {path.stem: _Page(path.read_text(encoding="utf-8", errors="strict"))
                         for path in sorted(pathlib.Path(folder).glob("*.html"))}

    def each_page(self):
        self.assertEqual(len(self.pages), 5)
        for name, page in self.pages.items():
            with self.subTest(name):
                yield page

    def test_elements_close_in_order(self):
        for page in self.each_page():
            self.assertEqual(page.faults, [])

    def test_identifiers_are_unique_and_labels_lead_to_them(self):
        for page in self.each_page():
            identifiers = page.values("id")
            self.assertEqual(len(identifiers), len(set(identifiers)))
            for label in page.values("for"):
                self.assertIn(label, identifiers)

    def test_nothing_is_fetched_and_nothing_runs_but_the_pages_scripts(self):
        for page in self.each_page():
            tags = {tag for tag, _ in page.elements}
            self.assertFalse(tags & _FETCHING)
            self.assertEqual(page.values("src") + page.values("href"), [])
            self.assertFalse([a for _, attributes in page.elements
                              for a in attributes if a.startswith("on")])
            scripts = [text for kind, text in page.data if kind is None]
            for script in scripts:
                self.assertTrue(script.lstrip().startswith("//"))
                self.assertNotIn("innerHTML", script)
            self.assertLessEqual(len(scripts), 2)

    def test_a_name_stays_a_name(self):
        page = self.pages["hostile"]
        self.assertTrue(any("</script></style><script>" in word for word in page.words))
        graph = next(data for data in page.json() if "parents" in data)
        self.assertTrue(any(text.startswith("</script></style>") for text in graph["texts"]))
        self.assertFalse(any("\n" in text or "\x01" in text for text in graph["texts"]))

    def test_pictures_have_roles_and_names(self):
        for page in self.each_page():
            for tag, attributes in page.elements:
                if attributes.get("role") in ("img", "tree"):
                    self.assertTrue(attributes.get("aria-label"), (tag, attributes))
            self.assertIn("status", page.values("role"))
            self.assertEqual([a.get("lang") for t, a in page.elements if t == "html"], ["en"])
            self.assertEqual(sum(tag == "h1" for tag, _ in page.elements), 1)
            headers = [a for tag, a in page.elements if tag == "th"]
            self.assertTrue(all("scope" in a for a in headers))

    def test_data_of_pictures_hangs_together(self):
        for page in self.each_page():
            for data in page.json():
                if "parents" in data:
                    self._check_graph(data)
                else:
                    self.assertEqual(data["times"], sorted(data["times"]))
                    self.assertEqual(max(data["bytes"]), data["bytes"][data["marked"]])
                    self.assertLess(max(data["series"]), len(data["names"]))

    def _check_graph(self, data):
        count = len(data["parents"])
        for column in [data["names"], data["details"], data["kinds"]]:
            self.assertEqual(len(column), count)
        self.assertEqual(len(data["values"]), len(data["measures"]))
        self.assertEqual(len(data["sigmas"]), len(data["measures"]))
        # Moments have no sigmas.
        exact = ["moment" in measure for measure in data["measures"]]
        self.assertTrue(all(sigmas == [] for is_exact, sigmas in zip(exact, data["sigmas"])
                            if is_exact))
        for column in data["values"] + [s for is_exact, s in zip(exact, data["sigmas"])
                                        if not is_exact]:
            self.assertEqual(len(column), count)
            self.assertGreaterEqual(min(column), 0)
        for i, parent in enumerate(data["parents"]):
            self.assertLess(parent, i)
        self.assertLess(max(data["names"] + data["details"]), len(data["texts"]))

    def test_sums_are_those_of_the_run(self):
        graph = next(d for d in self.pages["full"].json() if "parents" in d)
        # 12 MiB of the parent and 3 of the child; 40 and 6 in all; 1 at exit.
        self.assertEqual([sum(column) for column in graph["values"]][:3],
                         [15 << 20, 46 << 20, 1 << 20])


if __name__ == "__main__":
    unittest.main()
