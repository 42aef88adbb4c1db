"""A run's figures are the same in the text, the page, the markdown and the JSON.

Records twenty runs, and reads every report by itself: each number of every table
is compared with the exact value that the JSON has under the column's name. Two
runs are compared, too, where the page and the markdown must say what the text says.
"""

import html.parser
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

_HERE = pathlib.Path(__file__).parent
_MEMPROF = _HERE / "memprof"
_PROGRAM = str(_HERE / "memory_test_program")
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# Its rows have blanks, and a page shows a flame graph in its place.
_CALLS = "calls_to_the_largest_places"

_THREADS = """
import threading
def work(): return [bytearray(3 << 20) for _ in range(3)]
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
_CHILDREN = """
import os
for i in range(3):
    if os.fork() == 0:
        held = bytearray((i + 1) << 20)
        os._exit(0)
for i in range(3): os.wait()
"""
_BUSY = """
import json, re
text = json.dumps(list(range(200000)))
for _ in range(5): json.loads(text)
copies = [bytes(bytearray(1 << 20)) for _ in range(30)]
"""
_LEAK = """
kept = []
def handle(i): kept.append(bytearray(2000)); return len(bytes(500000))
for i in range(20000): handle(i)
"""
_KILLED = "import os, signal; held = bytearray(9 << 20); os.kill(os.getpid(), signal.SIGKILL)"

_RUNS = [
    [_PROGRAM, "print"],
    [_PROGRAM, "hold=1000"],
    [_PROGRAM, "hold=10", "exit=7"],
    [_PROGRAM, "hold=100", "fork=40"],
    [_PROGRAM, "hold=200", "exec=" + _PROGRAM, "hold=30"],
    [_PROGRAM, "spawn=" + _PROGRAM, "hold=30"],
    [_PROGRAM, "hold=1", "kill=9"],
    [_PROGRAM, "threads=5"],
    ["--sampling=0", _PROGRAM, "hold=1000", "release", "hold=10"],
    ["--sampling=none", _PROGRAM, "hold=1000"],
    ["--sampling=0", "/usr/bin/python3", "-c", "import json, re"],
    ["/usr/bin/python3", "-c", "import json, email.message, http.client"],
    ["--stages=named", "/usr/bin/python3", "-c", "import json"],
    ["/usr/bin/python3", "-c", _THREADS],
    ["/usr/bin/python3", "-c", _CHILDREN],
    ["--copies", "--cpu", "/usr/bin/python3", "-c", _BUSY],
    ["--copies", "--cpu", "/usr/bin/python3", "-c", _CHILDREN + _BUSY],
    ["/usr/bin/python3", "-c", _LEAK],
    ["/usr/bin/python3", "-c", _KILLED],
    ["sh", "-c", "for i in 1 2 3; do %s hold=$i; done" % _PROGRAM],
]


def key_of(name):
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def number_of(text):
    return float(text.replace(",", ""))


def shows(cell, key, value):
    """Whether a cell shows the value that the JSON has under that key."""
    if value is None:
        return cell in ("-", "")
    if isinstance(value, str):
        value = value.replace("\n", "\\n")
        head, cut, tail = cell.partition("...")
        return not cell or (head in value and tail in value if cut else True)
    if key.endswith("_bytes") or key.endswith("_bytes_per_s"):
        number, _, unit = cell.removesuffix("/s").partition(" ")
        shown = number_of(number) * _UNITS[unit]
        return abs(shown - value) <= max(0.0051 * abs(value), 0.5 if unit == "B" else 0)
    if key.endswith("_ns"):
        return abs(number_of(cell.removesuffix(" s")) - value * 1e-9) <= 0.00051
    if cell.endswith(" %"):
        return abs(number_of(cell.removesuffix(" %")) - 100 * value) <= 0.0501
    return number_of(cell) == value


class PageReader(html.parser.HTMLParser):
    """Tables of a page as {key of the heading: [{column: cell}]}, and its figures."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.figures = {}, {}
        self._heading, self._header, self._row = "", [], []
        self._open, self._words = "", ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag in ("h2", "th", "td", "dt", "dd"):
            self._open, self._words = tag, ""
        elif tag == "thead":
            self._header = []
        elif tag == "tr":
            self._row = []

    def handle_data(self, data):
        self._words += data

    def handle_endtag(self, tag):
        if tag == self._open:
            words = self._words.replace("\u00a0", "")
            if tag == "h2":
                self._heading = key_of(words)
            elif tag == "dt":
                self._name = key_of(words)
            elif tag == "dd":
                self.figures.setdefault(self._name, []).append(words)
            else:
                self._row.append(words)
            self._open = ""
        elif tag == "thead":
            self._header = self._row
            # A table without a heading of its own has its section's.
            self.tables.setdefault(self._heading, [])
        elif tag == "tr" and self._header and self._row != self._header:
            if len(self._row) == len(self._header):
                self.tables[self._heading].append(dict(zip(self._header, self._row)))


def read_markdown(text):
    """Tables of markdown, as PageReader has them."""
    tables, heading, header = {}, "", None
    for line in text.splitlines():
        found = re.match(r"### (.*)|<details><summary>(.*)</summary>", line)
        if found:
            heading, header = key_of(found[1] or found[2]), None
        elif line.startswith("|"):
            cells = [re.sub(r"\\(.)", r"\1", html.unescape(cell.strip()))
                     for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if header is None:
                header = cells
            elif not set(line) <= set("|-:"):
                tables.setdefault(heading, []).append(dict(zip(header, cells)))
    return tables


def read_text(text, tables):
    """Tables of a terminal, by the headers that the JSON's tables can have."""
    found = {}
    for block in text.split("\n\n"):
        lines = block.splitlines()
        for at, line in enumerate(lines):
            header = re.split(r" {2,}", line.strip())
            names = [name for name, table in tables.items()
                     if name != _CALLS and name not in found and table["rows"]
                     and is_header(header, table["rows"][0])]
            if len(header) < 3 or not names:
                continue
            rows = []
            for row in lines[at + 1:]:
                # The last is a text, with spaces of its own.
                cells = re.split(r" {2,}", row.strip(), maxsplit=len(header) - 1)
                if not len(header) - 1 <= len(cells) <= len(header) or row.startswith("and "):
                    break
                rows.append(dict(zip(header, cells)))
            found[names[0]] = rows
            break
    return found


def is_header(header, row):
    keys = iter(without_unit(key) for key in row)
    return all(key_of(word) in keys for word in header)


def without_unit(key):
    return re.sub(r"_(bytes_per_s|bytes|ns)$", "", key)


class OneReportTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.compared = 0

    def _run(self, arguments):
        files = {kind: self.folder / kind for kind in ("json", "html", "markdown", "record")}
        for file in files.values():
            file.unlink(missing_ok=True)
        ended = subprocess.run(
            [_MEMPROF, *("--%s=%s" % each for each in files.items()), *arguments],
            env=dict(os.environ, TMPDIR=str(self.folder)), text=True, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120)
        report = json.loads(files["json"].read_text())["report"]
        return report, ended.stderr, files["html"].read_text(), files["markdown"].read_text()

    def _compare(self, shown, report, where):
        for name, rows in shown.items():
            if name not in report["tables"]:
                continue
            exact = report["tables"][name]["rows"]
            self.assertLessEqual(len(rows), len(exact), (where, name))
            self.assertTrue(rows or not exact, (where, name))
            for row, values in zip(rows, exact):
                keys = {without_unit(key): key for key in values}
                for column, cell in row.items():
                    key = keys[key_of(column)]
                    self.assertTrue(shows(cell, key, values[key]),
                                    (where, name, column, cell, values[key]))
                    self.compared += not isinstance(values[key], str)

    def test_every_number_of_twenty_runs(self):
        self.assertEqual(len(_RUNS), 20)
        seen = set()
        for arguments in _RUNS:
            with self.subTest(arguments=arguments):
                report, text, page, markdown = self._run(arguments)
                reader = PageReader(page)
                terminal = read_text(text, report["tables"])
                self._compare(terminal, report, "text")
                self._compare(reader.tables, report, "page")
                self._compare(read_markdown(markdown), report, "markdown")
                seen |= set(terminal)
                for name in report["tables"]:
                    self.assertTrue(name == _CALLS or name in reader.tables, name)
                self._compare_figures(report, text, reader, markdown)
        # So that a table which nobody finds any more is not taken for equal.
        self.assertLessEqual({"stages", "lines_of_code_at_the_peak", "threads", "processes",
                              "processor_time", "copies", "temporary_allocations",
                              "left_at_exit", "resident_memory"}, seen)
        self.assertGreater(self.compared, 3000)

    def _compare_figures(self, report, text, reader, markdown):
        headline = text[text.index("peak heap"):].split("\n\n")[0]
        for name, figure in report["figures"].items():
            exact = figure.get("bytes")
            shown = reader.figures[name]
            if exact is None:
                continue
            words = "{:,} B".format(exact)
            self.assertTrue(shows(shown[0], "_bytes", exact), (name, shown))
            self.assertTrue(shown[1].startswith(words), (name, shown))
            self.assertIn(words, markdown)
            line = re.search(r"^%s  +(.*)" % name.replace("_", " "), headline, re.MULTILINE)
            if line:
                self.assertIn(words, line[1])
                self.assertIn(figure["detail"], line[1])

    def test_a_comparison_is_the_same_in_text_page_and_markdown(self):
        records = []
        # The lines differ by far more than two sigma of the samples.
        for i, arguments in enumerate([["-c", _THREADS], ["-c", _THREADS.replace("3 <<", "9 <<")]]):
            self._run(["/usr/bin/python3", *arguments])
            records.append(self.folder / ("run%d" % i))
            (self.folder / "record").rename(records[-1])
        ended = subprocess.run(
            [_MEMPROF, "--html=%s/html" % self.folder, "--markdown=%s/markdown" % self.folder,
             "--compare=%s" % records[0], records[1]], text=True, check=True, capture_output=True)
        page = PageReader((self.folder / "html").read_text()).tables
        markdown = read_markdown((self.folder / "markdown").read_text())
        self.assertEqual(page, {name: rows for name, rows in markdown.items() if name in page})
        words = re.sub(r" +", " ", ended.stdout)
        for row in page["figures"]:
            self.assertIn("%(change)s %(by)s %(before)s %(after)s %(figure)s" % row, words)
        for row in page["lines_of_code_at_the_peak"]:
            self.assertIn("%(at the peak)s %(sigma)s %(before)s %(after)s %(function)s" % row,
                          words)


if __name__ == "__main__":
    unittest.main()
