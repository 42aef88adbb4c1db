"""Tests of wilson_interval."""

import unittest

from wilson_interval import wilson_interval


class WilsonIntervalTest(unittest.TestCase):
    def test_shares_of_200_and_of_none(self):
        low, high = wilson_interval(190, 200)
        self.assertAlmostEqual(low, 0.9104, 4)
        self.assertAlmostEqual(high, 0.9726, 4)
        low, high = wilson_interval(200, 200)
        self.assertAlmostEqual(low, 0.9812, 4)
        self.assertEqual(high, 1)
        self.assertEqual(wilson_interval(0, 0), (0, 1))


if __name__ == "__main__":
    unittest.main()
