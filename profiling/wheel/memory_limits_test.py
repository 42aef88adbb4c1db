"""Tests of memory_limits; numbers of bytes are compared with memprof's own reading."""

import collections
import subprocess
import unittest

import memory_limits
from memory_limits import LimitError

MEMPROF = "profiling/memprof/memprof"
Mark = collections.namedtuple("Mark", "name args kwargs", defaults=((), {}))


class ParseBytesTest(unittest.TestCase):
    def test_reads_numbers_with_units(self):
        for text, count in (
                ("24 MB", 24 * 10**6), ("1.5 GiB", 3 << 29), ("16MiB", 16 << 20),
                ("4096", 4096), ("7B", 7), ("2 kB", 2000), ("3 KiB", 3072),
                ("1TB", 10**12), ("1 TiB", 1 << 40), ("0.5 B", 0), ("0", 0),
                ("0.1 KiB", 102), (4096, 4096), (0, 0)):
            self.assertEqual(memory_limits.parse_bytes(text), count, text)

    def test_refuses_what_memprof_refuses(self):
        texts = ("", "MB", "24 mb", "24 Mb", "24  MB", " 24MB", "24MB ", "-1", "1e6", "1.MB",
                 ".5 GB", "24 MB + 10 %", "24,0 MB", "9223372036854775808", "٢ MB")
        for text in texts:
            with self.assertRaisesRegex(LimitError, "is not a number of bytes"):
                memory_limits.parse_bytes(text)
            done = subprocess.run([MEMPROF, "--limit=" + text, "/bin/true"],
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, text)

    def test_refuses_what_is_no_text(self):
        for value in (None, 1.5, True, -1, b"24 MB", ["24 MB"]):
            with self.assertRaisesRegex(LimitError, "is not a number of bytes"):
                memory_limits.parse_bytes(value)

    def test_shows_bytes(self):
        for count, text in ((0, "0 B"), (1023, "1023 B"), (-5, "-5 B"), (1536, "1.5 KiB"),
                            (1 << 20, "1.0 MiB"), (-(3 << 20), "-3.0 MiB"),
                            (1047961, "1.0 MiB"), (5 << 40, "5.0 TiB")):
            self.assertEqual(memory_limits.format_bytes(count), text)


class ReadLimitsTest(unittest.TestCase):
    def read(self, *marks):
        return memory_limits.read_limits(marks)

    def test_without_marks_there_is_no_limit(self):
        self.assertEqual(self.read(Mark("slow")), (None, None, 0))

    def test_the_closest_mark_counts(self):
        limits = self.read(Mark("limit_memory", ("24 MB",)), Mark("limit_memory", ("1 B",)),
                           Mark("limit_leaks", (100,), {"warmups": 2}))
        self.assertEqual(limits.memory, ("24 MB", 24 * 10**6))
        self.assertEqual(limits.leaks, ("100", 100))
        self.assertEqual(limits.warmups, 2)

    def test_refuses_marks_without_a_limit(self):
        for mark, why in (
                (Mark("limit_memory"), "takes one limit, not 0: write .*24 MB"),
                (Mark("limit_memory", ("1 MB", "2 MB")), "takes one limit, not 2"),
                (Mark("limit_memory", ("1 MB",), {"warmups": 1}), "knows no warmups="),
                (Mark("limit_memory", ("24 Mb",)), "limit_memory: .*'Mb' is not B, KiB"),
                (Mark("limit_leaks", ("1 MB",), {"warmup": 1}), "knows no warmup="),
                (Mark("limit_leaks", ("1 MB",), {"warmups": -1}), "not a number of runs"),
                (Mark("limit_leaks", ("1 MB",), {"warmups": True}), "not a number of runs")):
            with self.assertRaisesRegex(LimitError, why):
                self.read(mark)


if __name__ == "__main__":
    unittest.main()
