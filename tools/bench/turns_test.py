"""Tests of turns.py."""

import io
import unittest
from unittest import mock

import turns


class TurnsTest(unittest.TestCase):

    def test_every_second_round_goes_the_other_way(self):
        calls = []
        found = turns.take_turns("ab", 3, lambda name, number: calls.append(name) or number)
        self.assertEqual("".join(calls), "abbaab")
        self.assertEqual(found, {"a": [0, 1, 2], "b": [0, 1, 2]})

    def test_who_does_not_take_part_has_fewer_results(self):
        found = turns.take_turns(
            "ab", 4, lambda name, number: number if name == "a" or number < 2 else None)
        self.assertEqual(found, {"a": [0, 1, 2, 3], "b": [0, 1]})
        self.assertEqual(turns.ratios([2, 6], [1, 2, 9]), [2, 3])

    def test_the_interval_holds_the_median_of_95_in_100_samples(self):
        # The numbers are from the binomial table: the extremes of 6, the 10th
        # and the 22nd of 31.
        self.assertEqual(turns.median_interval(range(1, 11)), (5.5, 2, 9))
        self.assertEqual(turns.median_interval(range(31, 0, -1)), (16, 10, 22))
        self.assertEqual(turns.median_interval(range(6)), (2.5, 0, 5))
        self.assertEqual(turns.median_interval(range(5)), (2, None, None))

    def test_a_goal_is_judged_by_the_ends(self):
        self.assertEqual(turns.verdict(None, 1, 2), "")
        self.assertEqual(turns.verdict(2, 1, 2), "met")
        self.assertEqual(turns.verdict(1.5, 1, 2), "unresolved")
        self.assertEqual(turns.verdict(0.9, 1, 2), "missed")
        self.assertEqual(turns.verdict(2, None, None), "unresolved (too few rounds)")

    def test_the_program_reads_lines_of_pairs(self):
        lines = "".join("2 %d\n" % number for number in range(1, 11))
        with mock.patch("sys.stdin", io.StringIO(lines)), \
                mock.patch("sys.stdout", io.StringIO()) as out:
            turns.main()
        self.assertEqual(out.getvalue(), "2 5.5 2.750 1.000 4.500\n")

    def test_the_program_refuses_other_lines(self):
        for lines in ("", "1\n", "1 2 3\n"):
            with mock.patch("sys.stdin", io.StringIO(lines)):
                with self.assertRaisesRegex(SystemExit, "two numbers"):
                    turns.main()


if __name__ == "__main__":
    unittest.main()
