"""The golden file is what the script beside it writes."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import make_golden_safetensors


class GoldenSafetensorsTest(unittest.TestCase):
    def test_file_is_what_the_script_writes(self):
        path = pathlib.Path(__file__).with_name("golden.safetensors")
        self.assertEqual(path.read_bytes(), make_golden_safetensors.golden())


if __name__ == "__main__":
    unittest.main()
