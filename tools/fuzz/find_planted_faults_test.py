"""find_planted_faults.py tells which faults the targets find, and leaves the tree be."""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(__file__).parent.parent

# "Builds" what the source says: a target that finds its fault at the word in
# the dictionary, or one that finds nothing.
BAZEL = """#!/bin/sh
for label; do :; done
room=${label%%:*}
room=${room#//}
mkdir -p "bazel-bin/$room"
cp "$room/parser.cc" "bazel-bin/$room/${label##*:}"
chmod +x "bazel-bin/$room/${label##*:}"
"""
PARSER = """#!/bin/bash
for word; do [[ $word != -dict=* ]] || dictionary=${word#-dict=}; done
fault=no
if [[ -d $word && $fault == yes ]] && grep -q needle "$dictionary"; then
  echo 'fuzz target: it does not hold that all is well' >&2
  echo 'stat::number_of_executed_units: 7' >&2
  exit 77
fi
"""


class FindPlantedFaultsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.tree = self.folder / "tree"
        # The script uses the list beside it.
        tools = self.tree / "tools"
        for name in ("fuzz/find_planted_faults.py", "fuzz/plant_faults.py",
                     *("mutate/%s.py" % module
                       for module in ("mutate", "equivalents", "one_line", "wilson_interval"))):
            (tools / name).parent.mkdir(parents=True, exist_ok=True)
            (tools / name).write_text((SCRIPTS / name).read_text())
        self.write("tools/fuzz/planted_faults.txt",
                   "good\tseed\troom/parser.cc\tfault=no\tfault=yes\n")
        self.write("room/BUILD", 'footprint_fuzz_test(name = "good_fuzz_test")')
        self.write("room/parser.cc", PARSER)
        self.write("room/testdata/good_fuzz/seed", "a seed")
        self.write("room/testdata/good_fuzz.dict", '"needle"')
        self.write("bin/bazel", BAZEL).chmod(stat.S_IRWXU)

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def find(self, *words):
        environment = dict(os.environ, PATH="%s:%s" % (self.tree / "bin", os.environ["PATH"]))
        return subprocess.run(
            [sys.executable, "-B", str(self.tree / "tools/fuzz/find_planted_faults.py"),
             "--tree=%s" % self.tree, "--copy=%s" % (self.folder / "copy"), "--seconds=1", *words],
            env=environment, capture_output=True, text=True, check=False)

    def test_a_fault_is_found_with_the_dictionary(self):
        result = self.find()
        self.assertRegex(result.stdout, r"good +found +after +\d+\.\d s, +7 runs: it does not hold")
        self.assertIn("1 of 1 planted faults found", result.stdout)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_tree_stays_as_it_is(self):
        self.find()
        self.assertEqual((self.tree / "room/parser.cc").read_text(), PARSER)

    def test_a_fault_that_is_not_found_is_told(self):
        self.write("room/testdata/good_fuzz.dict", '"hay"')
        result = self.find("good_fuzz")
        self.assertIn("NOT FOUND", result.stdout)
        self.assertIn("0 of 1 planted faults found", result.stdout)
        self.assertEqual(result.returncode, 1)

    def test_a_seed_that_shows_the_fault_proves_nothing(self):
        self.write("room/parser.cc", PARSER.replace("-d $word &&", "-e $word &&").replace(
            'grep -q needle "$dictionary"', "true"))
        result = self.find()
        self.assertIn("its seed seed alone shows the fault", result.stderr)
        self.assertEqual(result.returncode, 2)

    def test_a_target_that_does_not_build_or_is_not_known_is_told(self):
        self.write("bin/bazel", "#!/bin/sh\necho broken >&2\nexit 1\n").chmod(stat.S_IRWXU)
        self.assertEqual(self.find().returncode, 2)
        self.assertIn("does not build:\nbroken", self.find().stderr)
        self.assertIn("no fault is planted for 'frob'", self.find("frob").stderr)


if __name__ == "__main__":
    unittest.main()
