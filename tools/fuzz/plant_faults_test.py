"""plant_faults.py changes what its list names, and tells when that is stale."""

import importlib.util
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
SPEC = importlib.util.spec_from_file_location(
    "plant_faults", pathlib.Path(__file__).with_name("plant_faults.py")
)
plant_faults = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(plant_faults)

FAULTS = [("t", "seed", "a.cc", "x < 3", "x < 4"), ("u", "seed", "a.cc", "y", "z")]


class PlantFaultsTest(unittest.TestCase):
    def test_plants_all_faults_of_a_file(self):
        texts = plant_faults.changed(FAULTS, {"a.cc": "if (x < 3) y;"}.get)
        self.assertEqual(texts, {"a.cc": "if (x < 4) z;"})

    def test_a_text_that_is_not_there_once_is_stale(self):
        for text in ("if (x < 3)", "x < 3 y y"):
            with self.assertRaisesRegex(ValueError, "not once"):
                plant_faults.changed(FAULTS, {"a.cc": text}.get)

    def test_a_line_has_five_fields(self):
        self.assertEqual(plant_faults.faults_of("# no\n\na\tb\tc\td\te\n"),
                         [("a", "b", "c", "d", "e")])
        with self.assertRaises(ValueError):
            plant_faults.faults_of("a\tb\n")

    def test_the_list_can_be_read_and_each_target_stands_once(self):
        faults = plant_faults.faults_of(plant_faults.LIST.read_text())
        targets = [fault[0] for fault in faults]
        self.assertGreater(len(targets), 20)
        self.assertEqual(len(targets), len(set(targets)))
        for fault in faults:
            self.assertNotEqual(fault[3], fault[4])


if __name__ == "__main__":
    unittest.main()
