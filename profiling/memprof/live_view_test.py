"""Tests of memprof --live on a pseudo-terminal, whose screen is kept here."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

MEMPROF = str(pathlib.Path.cwd() / "profiling/memprof/memprof")
ROWS, COLUMNS = 24, 80


class Screen:
    """What a terminal shows, and what scrolled out at its top: the sequences that
    memprof and plain programs write; any other one is a fault."""

    def __init__(self, rows=ROWS, columns=COLUMNS):
        self.rows, self.columns = rows, columns
        self.lines = [""] * rows
        self.other_lines = None
        self.history = []
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1
        self.saved = (0, 0)
        self.is_wrapping = self.has_cursor = True
        self.rest = ""

    def index(self):
        if self.row != self.bottom:
            self.row = min(self.row + 1, self.rows - 1)
            return
        line = self.lines.pop(self.top)
        if self.top == 0 and self.other_lines is None:
            self.history.append(line)
        self.lines.insert(self.bottom, "")

    def put(self, character):
        if self.column == self.columns:
            if not self.is_wrapping:
                self.column -= 1
            else:
                self.column = 0
                self.index()
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + character + line[self.column + 1:]
        self.column += 1

    def control(self, parameters, final):
        numbers = [int(number or 0) for number in parameters.strip("?").split(";")]
        first = numbers[0]
        if final == "H":
            self.row, self.column = first - 1, numbers[1] - 1
        elif final == "A":
            self.row = max(0, self.row - max(first, 1))
        elif final == "B":
            self.row = min(self.rows - 1, self.row + max(first, 1))
        elif final == "K":
            assert first == 2 or (first == 0 and self.column == 0), parameters
            self.lines[self.row] = ""
        elif final == "J":
            assert first == 0 and self.column == 0, parameters
            self.lines[self.row:] = [""] * (self.rows - self.row)
        elif final == "r":
            self.top = max(0, first - 1)
            self.bottom = (numbers[1] if len(numbers) > 1 else self.rows) - 1
            self.row = self.column = 0
        elif final in "hl" and parameters == "?7":
            self.is_wrapping = final == "h"
        elif final in "hl" and parameters == "?25":
            self.has_cursor = final == "h"
        elif final in "hl" and parameters == "?1049":
            if final == "h":
                self.other_lines, self.lines = self.lines, [""] * self.rows
            else:
                self.lines, self.other_lines = self.other_lines, None
        else:
            assert final == "m", (parameters, final)

    def feed(self, text):
        text = self.rest + text
        self.rest = ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = re.compile(r"\x1b(?:\[([?\d;]*)([A-Za-z])|([78D]))").match(text, at)
                if not match:
                    assert len(text) - at < 12, text[at:at + 12]
                    self.rest = text[at:]
                    return
                if match[3] == "7":
                    self.saved = (self.row, self.column)
                elif match[3] == "8":
                    self.row, self.column = self.saved
                elif match[3] == "D":
                    self.index()
                else:
                    self.control(match[1], match[2])
                at = match.end()
                continue
            if text[at] == "\n":
                self.index()
            elif text[at] == "\r":
                self.column = 0
            else:
                self.put(text[at])
            at += 1

    def resize(self, rows):
        """As tmux and xterm: lines come back from the history, or go there."""
        while self.rows < rows:
            if self.history:
                self.lines.insert(0, self.history.pop())
                self.row += 1
            else:
                self.lines.append("")
            self.rows += 1
        while self.rows > rows:
            if self.row < self.rows - 1:
                self.lines.pop()
            else:
                self.history.append(self.lines.pop(0))
                self.row -= 1
            self.rows -= 1
        self.top, self.bottom = 0, rows - 1

    def shown(self):
        return "\n".join(line.rstrip() for line in self.lines)

    def everything(self):
        return [line.rstrip() for line in self.history + self.lines]


def become_memprof(words, streams, variables):
    """Runs memprof in place of this process, once the terminal's size is known."""
    try:
        # The parent has set the size once it has written this line.
        sys.stdin.readline()
        for name, number in (("stdout", 1), ("stderr", 2)):
            if name in streams:
                os.dup2(os.open(streams[name], os.O_WRONLY | os.O_CREAT), number)
        environment = {**os.environ, "TERM": "xterm", **variables}
        os.execve(MEMPROF, [MEMPROF, *words],
                  {name: value for name, value in environment.items() if value is not None})
    finally:
        os._exit(99)


def wait_as_a_shell(start, numbers):
    """Starts a job of its own in the foreground, tells its number, and ends as it does."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        for number in (signal.SIGTTOU, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        start()
    os.write(numbers, b"%d\n" % job)
    os.close(numbers)
    status = os.waitstatus_to_exitcode(os.waitpid(job, 0)[1])
    os._exit(status if status >= 0 else 128 - status)


class Session:
    """memprof on a terminal of its own, as a shell would start it. Without a shell it
    leads the session, as ssh -t starts it. `process` is memprof's number."""

    def __init__(self, *words, rows=ROWS, has_shell=True, variables=(), **streams):
        self.screen = Screen(rows)
        self.said = ""
        reading, writing = os.pipe()
        self.leader, self.terminal = pty.fork()
        if self.leader == 0:
            os.close(reading)
            def start():
                become_memprof(words, streams, dict(variables))
            if has_shell:
                wait_as_a_shell(start, writing)
            start()
        os.close(writing)
        with os.fdopen(reading) as numbers:
            self.process = int(numbers.readline()) if has_shell else self.leader
        self.set_size(rows)
        os.write(self.terminal, b"go\n")
        self.wait_for(lambda: "go" in self.said)

    def state(self):
        """Returns the letter that the kernel has for memprof's state, as R or T."""
        text = pathlib.Path("/proc/%d/stat" % self.process).read_text()
        return text.rpartition(")")[2].split()[0]

    def press_control_z(self):
        """The signal alone: typed, the kernel's terminal drops what it has not shown."""
        os.killpg(self.process, signal.SIGTSTP)

    def resize(self, rows):
        while select.select([self.terminal], [], [], 0)[0]:
            self.read(0)
        self.set_size(rows)
        self.screen.resize(rows)

    def set_size(self, rows):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, COLUMNS, 0, 0))

    def read(self, seconds):
        """Returns False at the end."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            return False
        text = data.decode("utf-8", "replace")
        self.said += text
        self.screen.feed(text)
        return bool(data)

    def wait_for(self, condition):
        deadline = time.monotonic() + 100
        while not condition():
            assert time.monotonic() < deadline, self.screen.shown() + repr(self.said[-2000:])
            if not self.read(0.1) and not condition():
                raise AssertionError("ended: " + self.screen.shown())

    def end(self):
        """Returns the exit status of memprof."""
        deadline = time.monotonic() + 100
        while self.read(1):
            if time.monotonic() > deadline:
                os.kill(self.process, signal.SIGKILL)
                raise AssertionError("did not end: " + self.screen.shown())
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.leader, 0)[1])


# Holds 20 MiB and prints lines until the file is there; none while FILE.pause is.
PROGRAM = '''
import os, sys, time
def hold():
    return bytearray(20 << 20)
held = hold()
number = 0
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
    if os.path.exists(sys.argv[1] + ".pause"):
        continue
    print("line", number, flush=True)
    number += 1
print("last", number, flush=True)
'''


class LiveViewTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.script = self.folder / "holding.py"
        self.script.write_text(PROGRAM)
        self.stop = self.folder / "stop"

    def start(self, *options, **settings):
        return Session("--live", *options, "/usr/bin/python3", str(self.script),
                       str(self.stop), **settings)

    def is_drawn(self, session):
        shown = session.screen.shown()
        return "memprof: live 2" in shown and "holding.py:4 hold" in shown

    def assert_restored(self, screen):
        self.assertEqual((screen.top, screen.bottom), (0, screen.rows - 1))
        self.assertTrue(screen.is_wrapping and screen.has_cursor)
        self.assertIsNone(screen.other_lines)
        self.assertFalse([line for line in screen.everything() if "memprof: live" in line])

    def assert_nothing_is_lost(self, screen):
        lines = [line for line in screen.everything() if re.match(r"(line|last) \d+$", line)]
        self.assertRegex(lines[-1], "last")
        self.assertEqual(lines, ["line %d" % i for i in range(len(lines) - 1)]
                         + ["last %d" % (len(lines) - 1)])

    def test_draws_below_what_the_program_writes(self):
        session = self.start()
        session.wait_for(lambda: self.is_drawn(session))
        self.assertRegex(session.screen.shown(), r"memprof: live 2\d\.\d MiB, peak 2\d\.\d MiB")
        self.assertRegex(session.screen.shown(), r"20\.0 MiB +\d\d %  holding\.py:4 hold")
        self.assertIn("\u2588", session.screen.shown())
        # As many lines as fill the screen twice scroll above the view.
        session.wait_for(lambda: "line %d" % (2 * ROWS) in session.said)
        self.stop.touch()
        self.assertEqual(session.end(), 0)
        self.assert_restored(session.screen)
        self.assert_nothing_is_lost(session.screen)
        self.assertTrue([line for line in session.screen.everything()
                         if line.startswith("peak heap")])

    def test_the_other_screen_where_the_program_writes_elsewhere(self):
        output, error = self.folder / "output", self.folder / "error"
        session = self.start(stdout=output, stderr=error)
        session.wait_for(lambda: self.is_drawn(session))
        self.assertIsNotNone(session.screen.other_lines)
        self.stop.touch()
        self.assertEqual(session.end(), 0)
        self.assert_restored(session.screen)
        self.assertIn("peak heap", error.read_text())
        self.assertRegex(output.read_text(), r"(?s)\Aline 0\n.*last \d+\n\Z")

    def test_signals_restore_the_terminal(self):
        for number, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            session = self.start()
            session.wait_for(lambda: self.is_drawn(session))
            os.kill(session.process, number)
            self.assertEqual(session.end(), status)
            self.assert_restored(session.screen)
        # Of the terminal's own: control C.
        session = self.start()
        session.wait_for(lambda: self.is_drawn(session))
        os.write(session.terminal, b"\x03")
        self.assertEqual(session.end(), 130)
        self.assert_restored(session.screen)

    def test_a_fault_of_memprof_restores_the_terminal(self):
        session = self.start()
        session.wait_for(lambda: self.is_drawn(session))
        os.kill(session.process, signal.SIGSEGV)
        session.wait_for(lambda: "\x1b[r" in session.said)
        self.stop.touch()
        session.end()
        self.assert_restored(session.screen)

    def test_a_stopped_program_gives_the_terminal_back(self):
        session = self.start()
        for _ in range(2):
            session.wait_for(lambda: self.is_drawn(session))
            session.press_control_z()
            session.wait_for(lambda: session.state() == "T")
            session.wait_for(lambda: "memprof: live" not in session.screen.shown())
            self.assertEqual(session.screen.bottom, ROWS - 1)
            os.killpg(session.process, signal.SIGCONT)
        session.wait_for(lambda: self.is_drawn(session))
        self.stop.touch()
        self.assertEqual(session.end(), 0)
        self.assert_restored(session.screen)
        self.assert_nothing_is_lost(session.screen)

    def test_control_z_stops_nothing_where_nobody_could_continue_it(self):
        session = self.start(has_shell=False)
        session.wait_for(lambda: self.is_drawn(session))
        session.press_control_z()
        session.wait_for(lambda: "memprof: live" not in session.screen.shown())
        session.wait_for(lambda: self.is_drawn(session))
        self.stop.touch()
        self.assertEqual(session.end(), 0)
        self.assert_restored(session.screen)
        self.assert_nothing_is_lost(session.screen)

    def test_an_ignored_control_z_stays_ignored(self):
        before = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        session = self.start()
        signal.signal(signal.SIGTSTP, before)
        session.wait_for(lambda: self.is_drawn(session))
        entered = session.said.count("\x1b[1;")
        os.kill(session.process, signal.SIGTSTP)
        lines = session.said.count("line")
        session.wait_for(lambda: session.said.count("memprof: live") > 5)
        self.assertGreater(session.said.count("line"), lines)
        self.assertEqual(session.said.count("\x1b[1;"), entered)
        self.stop.touch()
        self.assertEqual(session.end(), 0)

    def test_another_size_loses_nothing(self):
        pause = pathlib.Path(str(self.stop) + ".pause")
        session = self.start()
        session.wait_for(lambda: "line 60" in session.said and self.is_drawn(session))
        for rows in (50, 20):
            pause.touch()
            drawn = session.said.count("memprof: live")
            session.wait_for(lambda: session.said.count("memprof: live") > drawn + 1)
            session.resize(rows)
            session.wait_for(lambda: session.screen.bottom < rows - 1)
            session.wait_for(lambda: self.is_drawn(session))
            self.assertEqual(session.screen.shown().count("memprof: live"), 1)
            pause.unlink()
            more = session.said.count("line") + 2 * rows
            session.wait_for(lambda: session.said.count("line") > more)
        self.stop.touch()
        self.assertEqual(session.end(), 0)
        self.assert_restored(session.screen)
        self.assert_nothing_is_lost(session.screen)

    def test_a_slow_terminal_that_does_not_block_is_restored(self):
        self.script.write_text(PROGRAM.replace("print(\"last\", number, flush=True)", """
os.set_blocking(1, False)
try:
    while True: os.write(1, b"x")
except BlockingIOError:
    pass
"""))
        session = self.start()
        session.wait_for(lambda: self.is_drawn(session))
        children = pathlib.Path("/proc/%d/task/%d/children" % (session.process, session.process))
        self.assertTrue(children.read_text())
        self.stop.touch()
        while children.read_text():
            time.sleep(0.1)
        # memprof gives the terminal back now, whose buffer is full.
        time.sleep(1)
        self.assertEqual(session.end(), 0)
        self.assert_restored(session.screen)

    def test_a_terminal_without_a_cursor_gets_no_view(self):
        self.stop.touch()
        for kind in ("dumb", "", None):
            session = self.start(variables={"TERM": kind})
            self.assertEqual(session.end(), 0)
            self.assertIn("memprof: --live shows nothing: TERM is ", session.said)
            self.assertNotIn("\x1b7", session.said)

    def test_a_quiet_run_finds_no_names(self):
        for words in (["/usr/bin/python3", "-c", "print('done')"],
                      ["/bin/sh", "-c", "exec /usr/bin/printf 'done\n'"]):
            session = Session("--quiet", *words)
            self.assertEqual(session.end(), 0)
            self.assertEqual(session.said.replace("\r", ""), "go\ndone\n")
        # What a program became by exec may end at once, too.
        session = Session("--quiet", "/bin/sh", "-c",
                          "exec /usr/bin/python3 -c 'import os; os._exit(0)'")
        self.assertEqual(session.end(), 0)
        self.assertIn("peak heap", session.said)

    def test_without_a_terminal_the_program_runs_without_the_view(self):
        self.stop.touch()
        done = subprocess.run(
            [MEMPROF, "--live", "/usr/bin/python3", str(self.script), str(self.stop)],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            start_new_session=True)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "last 0\n")
        self.assertRegex(done.stderr, "memprof: --live shows nothing: there is no terminal")
        self.assertNotIn("\x1b", done.stderr)
        self.assertIn("peak heap", done.stderr)

    def test_a_terminal_that_is_too_small_gets_no_view(self):
        self.stop.touch()
        session = self.start(rows=8)
        self.assertEqual(session.end(), 0)
        self.assertIn("the terminal is too small", session.said)
        self.assertNotIn("memprof: live", session.said)

    def test_a_smaller_terminal_gets_a_smaller_view(self):
        session = self.start(rows=12)
        session.wait_for(lambda: self.is_drawn(session))
        drawn = session.screen.lines.index(next(
            line for line in session.screen.lines if "memprof: live" in line))
        self.assertEqual(drawn, 6)
        self.stop.touch()
        self.assertEqual(session.end(), 0)
        self.assert_nothing_is_lost(session.screen)


if __name__ == "__main__":
    unittest.main()
