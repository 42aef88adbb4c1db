"""Lines of the program that hold memory at the peak of a stage.

    run = read_own_run()
    for line in find_lines(run, "tests/test_fit.py::test_fit", "at_recent_peak_bytes",
                           root="/home/me/project"):
        print(line.held_bytes, line.file, line.line, line.function)

Asks memprof for the record of this process, which its agent keeps up to date.
Each byte counts at the innermost Python line below `root`, else at the innermost
one that is not pytest's own, else at the native function.
"""

import collections
import glob
import json
import os
import subprocess
import tempfile

import footprint_memory as footprint

Line = collections.namedtuple("Line", "held_bytes file line function")

# Parts of the paths of code that runs tests.
_RUNNERS = ("<frozen ", "/_pytest/", "/pluggy/", "/xdist/", "/footprint_memory/")
_INSTALLED = ("/site-packages/", "/dist-packages/")


def _record_path():
    folder = os.environ["FOOTPRINT_MEMPROF_FOLDER"]
    paths = glob.glob(os.path.join(glob.escape(folder), "%d.*.record" % os.getpid()))
    if not paths:
        raise FileNotFoundError("this process has no record in " + folder)
    return max(paths, key=lambda path: int(path.split(".")[-2]))


def read_own_run():
    """Returns memprof's JSON of this process up to now; raises OSError."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.json")
        done = subprocess.run(
            [footprint.find_memprof(), "--quiet", "--from=" + _record_path(), "--json=" + path],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            env=footprint.unmeasured_environment())
        if done.returncode != 0:
            raise OSError("memprof cannot read the record of this process: "
                          + done.stderr.strip())
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def _stages_of(process, name):
    """Returns the numbers of the stages of that name, and of those inside of them."""
    name = name.encode("utf-8", "surrogateescape")
    found = set()
    for number, stage in enumerate(process.get("stages", [])):
        own = stage.get("name", "").encode("utf-8")
        # Of a long name, the record has the end.
        if number and (own == name or (len(own) > 140 and name.endswith(own))):
            found.add(number)
        elif stage.get("parent", 0) in found:
            found.add(number)
    return found


class _Places:
    """The place of each call, looked for once."""

    def __init__(self, run, root):
        self._frames = run["frames"]
        self._calls = run["calls"]
        self._root = os.path.join(root, "")
        self._known = {}

    def _is_own(self, name):
        # "<frozen importlib._bootstrap>" and "<string>" are no paths.
        path = os.path.abspath(name)
        return (not name.startswith("<") and path.startswith(self._root)
                and not any(part in path for part in _INSTALLED))

    def _find(self, call):
        python = native = None
        while call:
            entry = self._calls[call - 1]
            frame = self._frames[entry.get("frame", 0)]
            if frame.get("kind") == "PYTHON":
                name = frame.get("file", "")
                if self._is_own(name):
                    return frame
                if python is None and not any(part in name for part in _RUNNERS):
                    python = frame
            elif native is None and frame.get("kind") == "NATIVE":
                native = frame
            call = entry.get("parent", 0)
        return python or native

    def of_call(self, call):
        """Returns (file, line, function); all empty if nothing is known."""
        if call not in self._known:
            frame = self._find(call) or {}
            self._known[call] = (frame.get("file") or frame.get("module", ""),
                                 frame.get("line", 0), frame.get("function", ""))
        return self._known[call]


def find_lines(run, stage_name, figure, root):
    """Returns the lines with the most bytes first; `figure` names them in the run.

    Raises LookupError if the record does not know the stage.
    """
    process = run["processes"][-1]
    stages = _stages_of(process, stage_name)
    if not stages:
        raise LookupError(
            "this process had more stages than the some 4,000 that keep their names, and "
            "this test's is not among them. Run fewer tests in a process (pytest -n), or "
            "this one alone")
    places = _Places(run, root)
    sums = collections.Counter()
    for stack in process.get("stacks", []):
        if stack.get("stage", 0) not in stages:
            continue
        value = stack.get(figure, 0)
        held = value.get("bytes", 0) if isinstance(value, dict) else value
        if held > 0:
            sums[places.of_call(stack.get("call", 0))] += held
    return [Line(held, *place) for place, held in sums.most_common()]
