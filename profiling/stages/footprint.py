"""Names the stages of a Python program, so that memprof measures them.

One file without dependencies: copy it beside your script, put its folder on
PYTHONPATH, or install the wheel footprint_memory, which has memprof with it.

    import footprint

    with footprint.stage("fit"):
        model.fit(x, y)

    @footprint.stage("predict")
    def predict(x): ...

Then `memprof python3 train.py` has a row for "fit" and one for "predict".
Without memprof a stage does nothing, and ctypes is not imported.

Stages nest and form a tree. Bytes are those of the whole process, whichever
thread allocates them. A coroutine's stage lasts from its first step to its
return, with whatever else the event loop runs meanwhile. A generator's body
runs in parts between which its caller runs, so a generator cannot be decorated:
put a `with` around the parts.

In IPython and Jupyter, `%load_ext footprint` adds two commands:

    %memprof [OPTIONS] script.py ARGUMENT...
        runs the script under memprof, and shows its report in place.
    %%memprof
        measures the cell in the kernel if that was started under memprof;
        otherwise runs the cell's text as a script of its own, and says so.

Both find the program memprof in $FOOTPRINT_MEMPROF, beside this file, in the
wheel footprint_memory, or in PATH. With the wheel,

    python3 -m footprint [OPTIONS] script.py ARGUMENT...

runs a script under memprof, also where this file is a copy beside the script.
"""

import os

__all__ = ["stage", "is_measured", "StageFigures"]

_COROUTINE = 0x80
_GENERATOR = 0x20
_ASYNC_GENERATOR = 0x200

# The agent's functions. `...` until they are looked up; None without an agent.
_agent = ...


class StageFigures:
    """The heap's figures of one visit of a stage: bytes and nanoseconds."""

    __slots__ = (
        "peak_live_bytes",  # above what was live at the start
        "peak_live_absolute_bytes",
        "allocated_bytes",
        "allocation_count",
        "net_growth_bytes",
        "wall_time_ns",
    )

    def __repr__(self):
        return "StageFigures(%s)" % ", ".join(
            "%s=%d" % (name, getattr(self, name)) for name in self.__slots__)


class _Agent:
    """memprof's agent in this process."""

    def __init__(self, library, ctypes):
        self.begin_visit = library.footprint_agent_begin_visit
        self.begin_visit.argtypes = [ctypes.c_char_p]
        self.begin_visit.restype = ctypes.c_int64
        self.end_visit = library.footprint_agent_end_visit
        self.end_visit.argtypes = [ctypes.c_int64]
        self.end_visit.restype = None
        self.read_visit = library.footprint_agent_read_visit
        self.read_visit.argtypes = [ctypes.c_int64, ctypes.c_void_p]
        self.read_visit.restype = ctypes.c_int
        # Agents from before this function measure stages all the same.
        self.restart_recent_peak = getattr(
            library, "footprint_agent_restart_recent_peak", lambda: None)
        self.restart_recent_peak.argtypes = []
        self.restart_recent_peak.restype = None
        self.figures = ctypes.c_int64 * len(StageFigures.__slots__)
        self.address = ctypes.addressof


def _find_agent():
    global _agent
    if _agent is ...:
        _agent = None
        if "FOOTPRINT_MEMPROF_FOLDER" in os.environ:
            import ctypes

            try:
                # PyDLL keeps Python's lock; releasing it would take longer.
                _agent = _Agent(ctypes.PyDLL(None), ctypes)
            except AttributeError:
                pass
    return _agent


def is_measured():
    """Returns whether this process runs under memprof."""
    return _find_agent() is not None


def restart_recent_peak():
    """Begins a peak of its own with what is live now; nothing without memprof.

    The record of this process then has what each line held at the highest sum
    since the last call: at_recent_peak_bytes in memprof's JSON.
    """
    agent = _find_agent()
    if agent is not None:
        agent.restart_recent_peak()


class stage:
    """A stage: a context manager, and a decorator of functions.

    The name is a string. An object may be entered again, even while it is open.
    """

    def __init__(self, name):
        if not isinstance(name, str):
            raise TypeError(
                "footprint.stage needs a name: @footprint.stage(\"fit\"), not %r"
                % (name,))
        self._name = name
        self._visits = []

    def __enter__(self):
        agent = _find_agent()
        if agent is not None:
            name = self._name.encode("utf-8", "surrogateescape")
            self._visits.append(agent.begin_visit(name.replace(b"\0", b"?")))
        return self

    def __exit__(self, *_):
        if self._visits:
            _agent.end_visit(self._visits.pop())
        return False

    def figures(self):
        """Returns the open visit's figures so far, as StageFigures.

        Returns None if the process is not measured, no visit is open, or too
        many are.
        """
        if not self._visits:
            return None
        values = _agent.figures()
        if not _agent.read_visit(self._visits[-1], _agent.address(values)):
            return None
        figures = StageFigures()
        for name, value in zip(StageFigures.__slots__, values):
            setattr(figures, name, value)
        return figures

    def __call__(self, function):
        import functools

        flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
        if flags & (_GENERATOR | _ASYNC_GENERATOR):
            raise TypeError(
                "footprint.stage(%r) cannot decorate the generator %s: its "
                "body runs in parts, between which its caller runs; put "
                "`with footprint.stage(...)` around the parts"
                % (self._name, function.__qualname__))
        # Each call has its own visit, because calls may overlap in threads.
        name = self._name
        if flags & _COROUTINE:

            @functools.wraps(function)
            async def measured(*arguments, **keywords):
                with stage(name):
                    return await function(*arguments, **keywords)
        else:

            @functools.wraps(function)
            def measured(*arguments, **keywords):
                with stage(name):
                    return function(*arguments, **keywords)

        return measured


# IPython and Jupyter.


def find_memprof():
    """Returns the path of the program memprof; raises FileNotFoundError.

    It is the one that $FOOTPRINT_MEMPROF names, else the one beside this module,
    else that of the wheel footprint_memory, else the one in PATH.
    """
    import importlib.util
    import shutil

    folders = [os.path.dirname(os.path.abspath(__file__))]
    wheel = importlib.util.find_spec("footprint_memory")
    if wheel is not None:
        folders += wheel.submodule_search_locations or []
    paths = [os.path.join(folder, "memprof") for folder in folders]
    path = os.environ.get("FOOTPRINT_MEMPROF") or next(
        filter(os.path.isfile, paths), None) or shutil.which("memprof")
    if path is None:
        raise FileNotFoundError(
            "the program memprof is not in PATH: install the wheel footprint_memory, "
            "or build //profiling:memprof and copy it into a folder of PATH, or set "
            "FOOTPRINT_MEMPROF to it")
    return path


def _makes_pages(memprof):
    import subprocess

    text = subprocess.run([memprof, "--help"], capture_output=True, text=True,
                          check=True, env=unmeasured_environment()).stdout
    return "--html=" in text


class _Page:
    """A run's page, which a notebook shows in place, and its report as text."""

    def __init__(self, html, report):
        self._html = html
        self._report = report

    def __repr__(self):
        return self._report

    def _repr_html_(self):
        if self._html is None:
            return None
        import html

        # A frame keeps the page's style and scripts out of the notebook.
        return ('<iframe style="width:100%%;height:40em;border:0" '
                'sandbox="allow-scripts" srcdoc="%s"></iframe>'
                % html.escape(self._html, quote=True))


def unmeasured_environment():
    """Returns the environment without the agent, if memprof runs the kernel."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("FOOTPRINT_MEMPROF_")}
    folder = os.environ.get("FOOTPRINT_MEMPROF_FOLDER")
    if folder is not None:
        preloaded = environment.pop("LD_PRELOAD", "").split(":")
        others = [path for path in preloaded if not path.startswith(folder)]
        if others:
            environment["LD_PRELOAD"] = ":".join(others)
    return environment


def _run_memprof(arguments):
    """Runs memprof and shows the script's output as it comes."""
    import subprocess
    import sys
    import tempfile

    memprof = find_memprof()
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "run.html")
        options = ["--html=" + page] if _makes_pages(memprof) else []
        process = subprocess.Popen(
            [memprof] + options + arguments, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=unmeasured_environment(), text=True, errors="replace")
        report = []
        import threading

        reader = threading.Thread(
            target=lambda: report.extend(process.stderr), daemon=True)
        reader.start()
        try:
            for line in process.stdout:
                sys.stdout.write(line)
        except KeyboardInterrupt:
            process.terminate()
        status = process.wait()
        reader.join()
        html = None
        if os.path.exists(page):
            with open(page, encoding="utf-8") as file:
                html = file.read()
    text = "".join(report)
    marker = text.rfind("\nmemprof: ")
    if marker < 0:
        raise RuntimeError("memprof measured nothing (exit %d):\n%s"
                           % (status, text))
    sys.stderr.write(text[:marker])
    if status != 0:
        sys.stderr.write("it ended with exit status %d\n" % status)
    return _Page(html, text[marker + 1:].rstrip())


def _split_options(words):
    count = 0
    while count < len(words) and words[count].startswith("-"):
        count += 1
    return words[:count], words[count:]


def _python(script):
    import sys

    if script.endswith(".ipy"):
        return [sys.executable, "-m", "IPython", "--no-banner",
                "--no-term-title", "--HistoryManager.enabled=False"]
    return [sys.executable] if script.endswith(".py") else []


def _format_bytes(count):
    if abs(count) < 1024:
        return "%d B" % count
    for unit in ("KiB", "MiB", "GiB"):
        count /= 1024
        if abs(count) < 1024 or unit == "GiB":
            return "%.2f %s" % (count, unit)
    return ""


def _cell_report(figures):
    return ("this cell, in the kernel, by its own process's heap:\n"
            "peak heap  %s above what was live before (%s in all)\n"
            "allocated  %s in %d calls; left at the end %s\n"
            "wall time  %.3f s"
            % (_format_bytes(figures.peak_live_bytes),
               _format_bytes(figures.peak_live_absolute_bytes),
               _format_bytes(figures.allocated_bytes),
               figures.allocation_count,
               _format_bytes(figures.net_growth_bytes),
               figures.wall_time_ns * 1e-9))


def _measure_in_kernel(ipython, cell):
    with stage("cell %d" % ipython.execution_count) as visit:
        result = ipython.run_cell(cell)
        figures = visit.figures()
    if not result.success:
        return None
    return _Page(None, _cell_report(figures) if figures is not None else
                 "too many stages are open at once to measure this one")


def _measure_as_script(ipython, words, cell):
    import tempfile

    options, rest = _split_options(words)
    if rest:
        raise ValueError("%%memprof takes options of memprof only, not "
                         + " ".join(rest))
    print("This kernel does not run under memprof, so the cell runs as a "
          "script of its own, without the notebook's variables.\n(To measure "
          "cells in the kernel, start it so: memprof jupyter ..., or memprof "
          "ipython.)")
    # Only a cell with IPython's own commands needs IPython.
    has_commands = "get_ipython()" in ipython.transform_cell(cell)
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "cell.ipy" if has_commands else "cell.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(cell)
        return _run_memprof(options + _python(script) + [script])


def load_ipython_extension(ipython):
    """%load_ext footprint"""
    import shlex

    def memprof(line, cell=None):
        """%memprof [OPTIONS] script.py ARGUMENT... ; %%memprof [OPTIONS]"""
        words = shlex.split(line)
        if cell is not None and is_measured():
            if words:
                raise ValueError("the kernel is measured already, so %%memprof "
                                 "takes no options: " + line)
            return _measure_in_kernel(ipython, cell)
        if cell is not None:
            return _measure_as_script(ipython, words, cell)
        options, program = _split_options(words)
        if not program:
            raise ValueError("which script? For example: %memprof train.py")
        return _run_memprof(options + _python(program[0]) + program)

    ipython.register_magic_function(memprof, "line_cell", "memprof")


def _run_program():
    """python3 -m footprint"""
    import sys

    try:
        from footprint_memory.__main__ import main
    except ImportError as error:
        sys.stderr.write(
            "footprint: nothing was run: `python3 -m footprint` needs the wheel "
            "footprint_memory (%s). Install it with this Python, %s, or write "
            "memprof python3 script.py\n" % (error, sys.executable))
        sys.exit(2)
    main()


if __name__ == "__main__":
    _run_program()
