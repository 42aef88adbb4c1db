"""Limits of the memory of tests, for pytest.

    @pytest.mark.limit_memory("24 MB")
    def test_fit(): ...                 # fails if its peak is higher

    @pytest.mark.limit_leaks("1 MB", warmups=1)
    def test_cache(): ...               # fails if it leaves more than that

    pytest --memprof

measures every test, and shows those with the highest peaks at the end of the
session. `--memprof` starts pytest again under memprof; under
`python3 -m footprint -m pytest` it is measured already.

A test's peak is counted in its process, allocation by allocation, above what
was live when the test began: the test's own call, without its fixtures.
A test leaves what is live at its end, after a collection of garbage, and was not
at its start. Child processes have figures of their own, in memprof's report.

A limit that cannot be checked is an error of its test, unless --no-memory-limits is
given.
"""

import gc
import linecache
import os
import sys

import footprint_memory as footprint
import pytest
from footprint_memory import memory_limits, peak_lines
from footprint_memory.memory_limits import format_bytes

_MARKS = {
    "limit_memory": 'limit_memory("24 MB"): fail the test if its peak is higher',
    "limit_leaks": 'limit_leaks("1 MB", warmups=0): fail the test if it leaves more, '
                   "after `warmups` runs that do not count",
}
_NOT_MEASURED = (
    "the limit was not checked, as memprof does not measure this process: run "
    "`pytest --memprof` or `python3 -m footprint -m pytest`, or leave limits out "
    "with --no-memory-limits")
_MOST_LINES = 5

_measured_key = pytest.StashKey()


class _Measured:
    """The figures of a test, and why it fails by them."""

    def __init__(self, limits):
        self.limits = limits
        self.peak_bytes = None
        self.left_bytes = None
        self.failure = None
        self.verdict = "not judged:"

    def as_dict(self):
        """Returns the figures as xdist sends them from a worker."""
        limits = ", ".join(limit.text for limit in self.limits[:2] if limit)
        return {"peak_bytes": self.peak_bytes, "left_bytes": self.left_bytes,
                "note": "  [%s %s]" % (self.verdict, limits) if limits else ""}


def pytest_addoption(parser):
    group = parser.getgroup("footprint", "memory of tests, by memprof")
    group.addoption("--memprof", action="store_true",
                    help="measure tests: start pytest again under memprof")
    group.addoption("--no-memory-limits", action="store_true",
                    help="do not check limit_memory and limit_leaks")
    group.addoption("--memory-table", type=int, default=10, metavar="ROWS",
                    help="number of rows in the table of measured tests; 0 prints no table")


def pytest_configure(config):
    for line in _MARKS.values():
        config.addinivalue_line("markers", line)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_MemoryTable(config), "footprint-memory-table")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    if (config.getoption("--memprof") and not footprint.is_measured()
            and not hasattr(config, "workerinput")):
        _start_again(config)


def _start_again(config):
    """Becomes memprof that runs this command."""
    if list(map(str, config.invocation_params.args)) != sys.argv[1:]:
        raise pytest.UsageError(
            "--memprof starts the command again, and pytest was called by a program: "
            "run that under memprof (python3 -m footprint PROGRAM)")
    if "FOOTPRINT_MEMPROF_FOLDER" in os.environ:
        raise pytest.UsageError(
            "memprof started this process, but its agent is not in it: it measures "
            "neither static programs nor what is started without LD_PRELOAD")
    try:
        memprof = footprint.find_memprof()
        # Imports and files would take the tests' places among the named stages.
        command = [memprof, "--quiet", "--sampling=64KiB", "--stages=named", sys.executable,
                   *sys.orig_argv[1:]]
        # Its files stand in place of the terminal's, and of standard input.
        capture = config.pluginmanager.getplugin("capturemanager")
        if capture:
            capture.stop_global_capturing()
        sys.stdout.flush()
        sys.stderr.flush()
        os.execve(memprof, command, footprint.unmeasured_environment())
    except OSError as error:
        raise pytest.UsageError("--memprof: %s" % error) from None


# After pytest's marks that skip a test, and before its fixtures.
@pytest.hookimpl
def pytest_runtest_setup(item):
    wrong = None
    try:
        limits = memory_limits.read_limits(item.iter_markers())
    except memory_limits.LimitError as error:
        wrong = str(error)
    # Within the block, pytest would show the message twice.
    if wrong:
        pytest.fail(wrong, pytrace=False)
    if item.config.getoption("--no-memory-limits"):
        limits = memory_limits.Limits(None, None, 0)
    if (limits.memory or limits.leaks) and not footprint.is_measured():
        pytest.fail(_NOT_MEASURED, pytrace=False)
    item.stash[_measured_key] = _Measured(limits)


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item):
    measured = item.stash.get(_measured_key, None)
    if measured is None or not footprint.is_measured():
        yield
        return
    for _ in range(measured.limits.warmups):
        item.runtest()
        # A second failure would be reported as one of the test's teardown.
        if _failures_of_unittest(item):
            raise item._excinfo[0].value
    if measured.limits.leaks:
        gc.collect()
    footprint.restart_recent_peak()
    with footprint.stage(item.nodeid) as stage:
        outcome = yield
        peak = stage.figures()
        if measured.limits.leaks:
            gc.collect()
        end = stage.figures()
        if peak is None or end is None:
            if measured.limits.memory or measured.limits.leaks:
                measured.failure = (
                    "the limit was not checked: memprof measured no stage here, as "
                    "too many are open at once or its folder is full")
            return
        measured.peak_bytes = peak.peak_live_bytes
        measured.left_bytes = end.net_growth_bytes
        if outcome.excinfo is None and not _failures_of_unittest(item):
            measured.failure = _judge(item, measured)
            measured.verdict = "exceeds" if measured.failure else "within"


def _failures_of_unittest(item):
    """Returns what a unittest.TestCase has failed by, which its runtest keeps."""
    return getattr(item, "_excinfo", None)


def _judge(item, measured):
    """Returns why the test fails by its limits, or None."""
    limits = measured.limits
    reasons = []
    if limits.memory and measured.peak_bytes > limits.memory.limit_bytes:
        reasons.append(_explain(item, "needed %s at its peak" % _precise(measured.peak_bytes),
                                limits.memory, "hold the most at its peak",
                                "at_recent_peak_bytes"))
    if limits.leaks and measured.left_bytes > limits.leaks.limit_bytes:
        reasons.append(_explain(item, "left %s behind" % _precise(measured.left_bytes),
                                limits.leaks, "left the most", "at_end"))
    return "\n\n".join(reasons) or None


def _precise(count):
    return "%s (%s B)" % (format_bytes(count), format(count, ","))


def _explain(item, deed, limit, what_lines_do, figure):
    text = "%s %s; its limit is %s (%s B)." % (
        item.nodeid, deed, limit.text, format(limit.limit_bytes, ","))
    try:
        run = peak_lines.read_own_run()
        lines = peak_lines.find_lines(run, item.nodeid, figure, str(item.config.rootpath))
    except (OSError, ValueError, LookupError) as error:
        return "%s\nIts lines are not known: %s" % (text, error)
    interval = run.get("sampling_interval_bytes", 0)
    if interval < 0:
        return text + "\nIts lines are not known: memprof runs with --sampling=none."
    if not lines:
        return text + ("\nNo line was seen: allocations are samples, one in %s. With "
                       "--sampling=0 each is recorded." % format_bytes(interval))
    about = ", by samples of one in %s" % format_bytes(interval) if interval else ""
    rows = ["Lines that %s%s:" % (what_lines_do, about)]
    for line in lines[:_MOST_LINES]:
        source = linecache.getline(line.file, line.line).strip()
        rows.append("  %10s  %s:%d %s%s" % (
            format_bytes(line.held_bytes), os.path.relpath(line.file, item.config.rootpath)
            if os.path.isabs(line.file) else line.file, line.line, line.function,
            ": " + source if source else ""))
    return "\n".join([text, *rows])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    measured = item.stash.get(_measured_key, None)
    if call.when != "call" or measured is None:
        return
    report.footprint_memory = measured.as_dict()
    if not measured.failure or call.excinfo is not None:
        return
    # pytest counts no failed report of a test that is expected to fail. One that
    # was to fail and did not by itself is failed already (strict), or has its mark.
    if report.outcome == "failed":
        report.wasxfail = "it exceeds its limit"
    report.outcome = "skipped" if hasattr(report, "wasxfail") else "failed"
    report.longrepr = measured.failure


class _MemoryTable:
    """The tests with the highest peaks, at the end of the session."""

    def __init__(self, config):
        self._rows = config.getoption("--memory-table")
        self._tests = []
        self._unmeasured = []

    def pytest_runtest_logreport(self, report):
        measured = getattr(report, "footprint_memory", None)
        if measured and measured["peak_bytes"] is not None:
            self._tests.append((measured["peak_bytes"], report.nodeid, measured))
        # xdist's own report of a test whose worker is gone.
        if report.when not in ("setup", "call", "teardown"):
            self._unmeasured.append(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter):
        if self._rows <= 0 or not (self._tests or self._unmeasured):
            return
        terminalreporter.section("memory of tests")
        if self._tests:
            terminalreporter.write_line("%11s  %11s  %s" % ("peak", "left", "test"))
        shown = sorted(self._tests, key=lambda test: (-test[0], test[1]))
        for peak_bytes, nodeid, measured in shown[:self._rows]:
            terminalreporter.write_line("%11s  %11s  %s%s" % (
                format_bytes(peak_bytes), format_bytes(measured["left_bytes"]), nodeid,
                measured["note"]))
        if len(shown) > self._rows:
            terminalreporter.write_line(
                "and %d more, which --memory-table=%d shows"
                % (len(shown) - self._rows, len(shown)))
        for nodeid in self._unmeasured:
            terminalreporter.write_line("not measured, as its worker died: " + nodeid)
