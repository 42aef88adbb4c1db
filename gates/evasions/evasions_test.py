"""Tests that each way to hold 100 MB under a limit of 1 MB is rejected, and an
honest program is not. Prints what the figures show of each way."""

import json
import os
import re
import subprocess
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))


def corpus():
    """Returns the names of the profiles, from the list that defines them."""
    names = []
    with open(os.path.join(FOLDER, "evasions.bzl"), encoding="utf-8") as file:
        text = file.read()
    for name, value in re.findall(r'^    "(\w+)"(: "BM_\w+")?,$', text, re.M):
        names.append(name if value else "forged_" + name)
    return names


def verdict():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "verdict.json")
        ended = subprocess.run(
            [os.path.join("gates", "evasions", "check"), "--all",
             "--format=json", "--output=" + path],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if not os.path.exists(path):
            raise AssertionError(ended.stdout.decode())
        with open(path, encoding="utf-8") as file:
            return json.load(file)


# No evasions: the same benchmarks show that pages count once.
HONEST = ("honest", "left_behind", "ring_buffer")


# The kernel frees these later: on a busy machine a part of one iteration's
# bytes still exists when the next iteration holds as much.
FREED_LATER = ("page_tables", "request_rings")
MOST_BYTES = dict({name: 240_000_000 for name in FREED_LATER},
                  many_children=170_000_000)


class EvasionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.verdict = verdict()
        cls.whole = {}
        cls.rest = {}  # what the program's own figures leave out
        for judgement in cls.verdict["judgements"]:
            benchmark = judgement["benchmark"]
            if benchmark.startswith("whole_process/"):
                name = benchmark[len("whole_process/"):-len("_profile")]
                figures = cls.rest if judgement.get("phase") else cls.whole
                figures[name] = judgement

    def test_the_corpus_is_complete(self):
        self.assertEqual(len(corpus()), 12 + 6 + 8 + 14)
        self.assertEqual(sorted(self.whole), sorted(corpus() + list(HONEST)))

    def test_each_evasion_is_rejected(self):
        for name in sorted(corpus()):
            judgement = self.whole[name]
            print("%-24s %12d B %s" % (
                name, judgement["measured"], judgement["decision"]))
            with self.subTest(name):
                self.assertEqual(judgement["decision"], "REJECT")
                # Each page counts once. In addition there is the kernel's
                # memory for five processes with 10,000 mappings (dear_looks) or
                # for 25,000 page tables, 28 MB; or stacks, written data and
                # page tables of 32 children, 1.1 to 1.9 MB each by kernel
                # (many_children). Bytes that counted twice would give 200 MB.
                self.assertGreater(judgement["measured"], 100_000_000)
                self.assertLess(judgement["measured"],
                                MOST_BYTES.get(name, 145_000_000))

    def test_what_a_program_says_is_held_against_what_was_seen(self):
        silent = sorted(name for name in self.rest
                        if self.rest[name]["decision"] == "REJECT")
        print("untold by the program:", ", ".join(silent))
        for name in ("bss", "forged_at_exit", "forged_instead",
                     "raw_system_call", "tells_by_command_line",
                     "tells_by_environment"):
            with self.subTest(name):
                self.assertEqual(self.rest[name]["decision"], "REJECT")
        self.assertEqual(self.rest["honest"]["decision"], "ACCEPT")

    def test_the_honest_program_is_accepted(self):
        self.assertEqual(self.whole["honest"]["decision"], "ACCEPT")
        for judgement in self.verdict["judgements"]:
            if judgement["benchmark"] == "BM_Honest":
                self.assertEqual(judgement["decision"], "ACCEPT")

    def test_the_figure_of_the_loop_alone_accepts_many(self):
        """This is the reason for the second figure."""
        accepted = [j["benchmark"] for j in self.verdict["judgements"]
                    if not j["benchmark"].startswith("whole_process/")
                    and j["decision"] == "ACCEPT"]
        print("the heap's limit alone accepts:", ", ".join(sorted(accepted)))
        self.assertGreater(len(accepted), 15)


if __name__ == "__main__":
    unittest.main()
