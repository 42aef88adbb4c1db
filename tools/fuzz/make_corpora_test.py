"""The corpora are what make_corpora.py makes, and small."""

import importlib.util
import pathlib
import struct
import sys
import unittest

sys.dont_write_bytecode = True
SPEC = importlib.util.spec_from_file_location(
    "make_corpora", pathlib.Path(__file__).with_name("make_corpora.py")
)
make_corpora = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_corpora)


class MakeCorporaTest(unittest.TestCase):
    def test_every_target_has_good_and_broken_files(self):
        for target, files in make_corpora.CORPORA.items():
            self.assertGreaterEqual(len(files), 5, target)

    def test_files_are_small_and_lie_below_testdata(self):
        for path, data in make_corpora.corpus_files():
            self.assertLessEqual(len(data), 8192, path)
            self.assertEqual(path.parts[-3], "testdata", path)

    def test_protobufs_are_as_its_page_on_encoding_has_them(self):
        # These are the page's own examples: 150 in field 1, "testing" in field
        # 2.
        self.assertEqual(make_corpora.message((1, 150)), b"\x08\x96\x01")
        self.assertEqual(make_corpora.message((2, "testing")), b"\x12\x07testing")
        self.assertEqual(make_corpora.varint(-1), b"\xff" * 9 + b"\x01")

    def test_a_patch_names_part_offset_and_count(self):
        self.assertEqual(make_corpora.patch(1, 258, b"ab"), b"\1\2\1\2ab")

    def test_safetensors_begin_with_the_length(self):
        data = make_corpora.safetensors("{}")
        self.assertEqual(struct.unpack("<Q", data[:8])[0], len(data) - 8)


if __name__ == "__main__":
    unittest.main()
