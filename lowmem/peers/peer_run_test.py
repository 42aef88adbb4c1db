"""Fake peers in real control groups: each verdict is that of a real process."""

import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, "lowmem/peers")
import peer_run  # noqa: E402
from memory_group import MemoryGroup  # noqa: E402

MIB = 1 << 20
FIGURES = 'print(\'{"tokens": 8, "seconds": 0.5}\')'


def python(program):
    return {"command": [sys.executable, "-c", program]}


def missing_groups():
    """Returns why no control group can be made, or an empty text."""
    try:
        with MemoryGroup(64 * MIB):
            return ""
    except OSError as error:
        return "no control group: %s" % error


class JudgeTest(unittest.TestCase):
    def test_tells_the_ends_of_a_run_apart(self):
        figures = {"tokens": 1, "seconds": 1.0}
        self.assertEqual(peer_run.judge(0, False, 0, figures), "ran")
        self.assertEqual(peer_run.judge(0, False, None, figures), "ran")
        self.assertEqual(peer_run.judge(-9, False, 1, {}), "killed")
        # A child was killed, and its parent noticed.
        self.assertEqual(peer_run.judge(1, False, 1, {}), "killed")
        self.assertEqual(peer_run.judge(-9, True, 0, {}), "no answer")
        self.assertEqual(peer_run.judge(-9, False, 0, {}), "error")
        self.assertEqual(peer_run.judge(1, False, None, {}), "error")
        self.assertEqual(peer_run.judge(0, False, 0, {}), "error")

    def test_reads_the_last_line(self):
        self.assertEqual(peer_run.read_figures('loading\n{"tokens": 2, "seconds": 4}\n\n'),
                         {"tokens": 2, "seconds": 4.0})

    def test_refuses_figures_that_cannot_be(self):
        for text in ("", "done", "[1]", "7", '{"tokens": 8}', '{"tokens": 0, "seconds": 1}',
                     '{"tokens": 8, "seconds": 0}', '{"tokens": 8, "seconds": NaN}',
                     '{"tokens": "many", "seconds": 1}'):
            with self.subTest(text), self.assertRaises(ValueError):
                peer_run.read_figures(text)

    def test_prefers_a_line_that_names_the_error(self):
        self.assertEqual(peer_run.last_words("MemoryError: no room\n  frame 1\n"),
                         "MemoryError: no room")
        self.assertEqual(peer_run.last_words("one\ntwo\n"), "two")


@unittest.skipIf(missing_groups(), missing_groups())
class RunTest(unittest.TestCase):
    def run_fake(self, program, limit=64 * MIB, seconds=60):
        return peer_run.run(python(program), limit, seconds)

    def test_measures_a_peer_that_ends(self):
        outcome = self.run_fake("import time; x = bytearray(20 << 20); time.sleep(0.2); " + FIGURES)
        self.assertEqual(outcome["verdict"], "ran", outcome)
        self.assertEqual(outcome["tokens_per_second"], 16)
        self.assertGreater(outcome["wall_seconds"], 0.2)
        self.assertGreater(outcome["peak_bytes"], 20 * MIB)
        self.assertLessEqual(outcome["peak_bytes"], 64 * MIB)

    def test_sees_that_the_kernel_killed_a_peer(self):
        outcome = self.run_fake("x = bytearray(200 << 20); " + FIGURES, limit=32 * MIB)
        self.assertEqual(outcome["verdict"], "killed", outcome)
        self.assertEqual(outcome["exit_code"], -9)
        self.assertGreater(outcome["peak_bytes"], 31 * MIB)

    def test_sees_that_the_kernel_killed_a_child(self):
        outcome = self.run_fake(
            "import subprocess, sys; "
            "sys.exit(subprocess.call([sys.executable, '-c', 'bytearray(200 << 20)']) != 0)",
            limit=32 * MIB)
        self.assertEqual(outcome["verdict"], "killed", outcome)

    def test_ends_a_peer_that_gives_no_answer(self):
        outcome = self.run_fake(
            "import subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)",
            seconds=0.5)
        self.assertEqual(outcome["verdict"], "no answer", outcome)
        self.assertLess(outcome["wall_seconds"], 20)

    def test_has_the_last_words_of_a_peer_that_fails(self):
        outcome = self.run_fake("raise SystemExit('no such model')")
        self.assertEqual(outcome["verdict"], "error", outcome)
        self.assertEqual(outcome["detail"], "exit status 1: no such model")

    def test_says_which_signal_ended_a_peer(self):
        outcome = self.run_fake("import os; os.kill(os.getpid(), 15)")
        self.assertEqual((outcome["verdict"], outcome["detail"]),
                         ("error", "signal 15: it said nothing"))

    def test_says_that_an_output_is_not_json(self):
        outcome = self.run_fake("print('8 tokens')")
        self.assertEqual(outcome["verdict"], "error", outcome)
        self.assertIn("not JSON", outcome["detail"])
        self.assertIn("run it by hand: " + sys.executable, outcome["detail"])

    def test_says_that_a_command_is_not_there(self):
        outcome = peer_run.run({"command": ["/no/such/peer"]}, 64 * MIB, 5)
        self.assertEqual(outcome["verdict"], "error")
        self.assertIn("/no/such/peer", outcome["detail"])

    def test_tells_the_command_its_limit(self):
        job = python("import json, sys; "
                     "print(json.dumps({'tokens': int(sys.argv[1]) >> 20, 'seconds': 1}))")
        job["command"].append("{limit_bytes}")
        self.assertEqual(peer_run.run(job, 64 * MIB, 60)["tokens"], 64)

    def test_lets_another_command_read_the_report(self):
        job = python("print('took 2 s')")
        job["reader"] = [sys.executable, "-c",
                         "import json, sys; "
                         "print(json.dumps({'tokens': 6, 'seconds': int(input().split()[1])}))"]
        self.assertEqual(peer_run.run(job, 64 * MIB, 60)["tokens_per_second"], 3)
        job["reader"] = [sys.executable, "-c", "raise SystemExit('no time in it')"]
        outcome = peer_run.run(job, 64 * MIB, 60)
        self.assertEqual(outcome["verdict"], "error")
        self.assertIn("no time in it", outcome["detail"])

    def test_counts_the_bytes_that_come_from_the_disk(self):
        # /var/tmp is on a disk; TEST_TMPDIR may be in memory.
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            path = pathlib.Path(folder, "weights")
            path.write_bytes(os.urandom(8 * MIB))
            job = python("open(%r, 'rb').read(); %s" % (str(path), FIGURES))
            job["files"] = [str(path)]
            if self.is_in_memory(folder):
                self.skipTest("/var/tmp is in memory")
            for _ in range(2):  # the second run reads the disk again
                outcome = peer_run.run(job, 64 * MIB, 60)
                self.assertEqual(outcome["verdict"], "ran", outcome)
                self.assertGreaterEqual(outcome["read_bytes"], 8 * MIB)
                self.assertLess(outcome["read_bytes"], 24 * MIB)

    @staticmethod
    def is_in_memory(folder):
        with open("/proc/mounts", encoding="utf-8") as file:
            mounts = [line.split()[1:3] for line in file]
        best = max((m for m in mounts if os.path.commonpath([m[0], folder]) == m[0]),
                   key=lambda m: len(m[0]))
        return best[1] == "tmpfs"

    def expect_no_group(self):
        for folder in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory"):
            self.assertFalse(os.path.exists("%s/footprint.%d" % (folder, os.getpid())))

    def test_leaves_no_group_behind(self):
        self.run_fake(FIGURES)
        self.expect_no_group()

    def test_ends_the_peer_if_it_is_interrupted(self):
        def interrupt(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            self.run_fake("import time; time.sleep(60)")
        self.assertLess(time.monotonic() - begin, 9)
        self.expect_no_group()

    def test_keeps_the_end_of_a_long_output(self):
        outcome = self.run_fake("print('x' * (5 << 20)); " + FIGURES)
        self.assertEqual(outcome["verdict"], "ran", outcome)

    def test_survives_a_limit_in_which_nothing_can_start(self):
        self.assertIn(self.run_fake(FIGURES, limit=4096)["verdict"], ("killed", "error"))


if __name__ == "__main__":
    unittest.main()
