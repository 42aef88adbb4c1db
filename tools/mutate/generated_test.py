"""Tests of `tools/dev mutate` on a small package, with gcc in place of Bazel.

The program that stands for Bazel compiles the planted sources and starts the
test as Bazel would, so all but Bazel's own work is real.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import equivalents
import generated
import mutate

FAKE_BAZEL = r"""#!/bin/bash
case $2 in
  query) cat rules.xml ;;
  test)
    echo built >>"$FOLDER/builds"
    for argument; do
      case $argument in --run_under=*) run_under=${argument#*=} ;; esac
    done
    mkdir -p include && ln -sfn "$PWD" include/footprint
    g++ -std=c++17 -w -Iinclude lion/roar.cc lion/roar_test.cc -o roar_test >&2 || exit 1
    TEST_TARGET=//lion:roar_test TEST_TMPDIR=/tmp $run_under ./roar_test 10 || {
      echo '//lion:roar_test                FAILED in 0.1s'
      exit 3
    }
    ;;
esac
"""
RULES = """<query>
<rule class="cc_library" name="//lion:roar">
  <list name="srcs"><label value="//lion:roar.cc"/></list>
  <list name="hdrs"><label value="//lion:roar.h"/></list>
  <rule-input name="//lion:roar.cc"/><rule-input name="//lion:roar.h"/>
</rule>
<rule class="cc_library" name="//lion:toy">
  <boolean name="testonly" value="true"/>
  <list name="srcs"><label value="//lion:toy.cc"/></list>
  <rule-input name="//lion:toy.cc"/>
</rule>
<rule class="cc_test" name="//lion:roar_test">
  <list name="srcs"><label value="//lion:roar_test.cc"/></list>
  <rule-input name="//lion:roar_test.cc"/><rule-input name="//lion:roar"/>
  <rule-input name="//lion:toy"/>
</rule>
<rule class="cc_test" name="//lion:slow_test">
  <list name="tags"><string value="manual"/></list>
  <rule-input name="//lion:roar"/>
</rule>
</query>"""
HEADER = "int Roar(int loudness);\ninline int Twice(int a) { return a * 2; }\n"
SOURCE = """#include "footprint/lion/roar.h"
int Roar(int loudness) {
  if (loudness > 5) return Twice(loudness) + 1;
  return loudness;
}
"""
TEST = """#include "footprint/lion/roar.h"
#include <cstdlib>
int main(int, char** arguments) {
  return Roar(std::atoi(arguments[1])) == 21 && Roar(5) == 5 && Roar(6) == 13
             ? 0 : 1;
}
"""
WEAK_TEST = """#include "footprint/lion/roar.h"
int main() { return Roar(10) == 21 ? 0 : 1; }
"""


class GeneratedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tree = self.folder / "tree"
        for name, text in (("bin/bazel", FAKE_BAZEL), ("tree/rules.xml", RULES),
                           ("tree/lion/roar.h", HEADER), ("tree/lion/roar.cc", SOURCE),
                           ("tree/lion/toy.cc", "int Toy() { return 1 + 2; }\n"),
                           ("tree/lion/roar_test.cc", TEST),
                           ("tree/lion/cub.proto", 'syntax = "proto3";\n')):
            self.write(name, text)
        os.chmod(self.folder / "bin/bazel", 0o755)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_it(self, *arguments):
        environment = dict(os.environ, FOLDER=str(self.folder),
                           PATH="%s:%s" % (self.folder / "bin", os.environ["PATH"]))
        return subprocess.run(
            [sys.executable, "-B", mutate.__file__, "--tree=%s" % self.tree,
             "--output_root=%s" % (self.folder / "out"), "--jobs=2", *arguments, "lion"],
            env=environment, capture_output=True, text=True, check=False)

    def test_a_good_test_kills_all(self):
        result = self.run_it()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertNotIn("survived:", result.stdout)
        row = result.stdout.splitlines()[-1].split()
        # lion, drawn, not compiled, sampled, equivalent, killed, survived
        self.assertEqual(row[0], "lion")
        self.assertEqual(row[1], row[5])
        self.assertEqual(row[6:8], ["0", "100.0"])

    def test_a_survivor_is_named_and_fails(self):
        self.write("tree/lion/roar_test.cc", WEAK_TEST)
        result = self.run_it()
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("survived: lion/roar.cc:3: boundary\n  roar.cc\tif (loudness > 5) return "
                      "Twice(loudness) + 1;\tloudness > 5 -> loudness >= 5\n", result.stdout)
        # A survivor is also planted alone; the test does not reach the last
        # return.
        self.assertIn("survived (0 tests reach it): lion/roar.cc:4: value", result.stdout)
        self.assertIn(" alone] survived (planted alone, 1 tests): lion/roar.cc:4: value",
                      result.stdout)

    def test_a_program_without_an_environment_has_its_mutants_planted_alone(self):
        # A sandbox starts its programs like this: no switch is ever on there.
        self.write("tree/lion/roar_test.cc", """#include "footprint/lion/roar.h"
#include <cstring>
#include <unistd.h>
int main(int count, char** arguments) {
  char* none[] = {nullptr};
  char* again[] = {arguments[0], arguments[0], arguments[0], nullptr};
  if (count < 3) return execve(arguments[0], again, none);
  return Roar(10) == 21 && Roar(5) == 5 && Roar(6) == 13 ? 0 : 1;
}
""")
        result = self.run_it()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(" alone] killed (planted alone, //lion:roar_test): ", result.stdout)
        self.assertNotIn("survived:", result.stdout)
        planted = self.folder / "out" / "tree" / "lion" / "roar.cc"
        self.assertEqual(planted.read_text(), SOURCE)

    def test_survivors_are_not_judged_by_a_build_that_fails_without_them(self):
        self.write("tree/lion/roar_test.cc", WEAK_TEST)
        # The second build, which has no switches, fails.
        self.write("bin/bazel", FAKE_BAZEL.replace(
            "g++ ", '(($(wc -l <"$FOLDER/builds") < 2)) || exit 1; g++ '))
        result = self.run_it()
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("do not build without a mutant (exit status 1)", result.stderr)

    def test_the_tree_is_left_alone(self):
        self.run_it()
        self.assertEqual((self.tree / "lion/roar.cc").read_text(), SOURCE)
        self.assertEqual((self.tree / "lion/roar.h").read_text(), HEADER)

    def test_headers_are_mutated_and_test_code_is_not(self):
        result = self.run_it()
        self.assertIn("lion/roar.h:2: arithmetic: a * 2 -> a / 2", result.stdout)
        self.assertNotIn("toy.cc", result.stdout)

    def test_an_equivalent_mutant_is_not_judged(self):
        self.write("tree/lion/roar_test.cc", WEAK_TEST)
        line = "roar.cc\tif (loudness > 5) return Twice(loudness) + 1;\tloudness > 5 -> loudness >= 5"
        self.write("tree/lion/" + equivalents.EQUIVALENT_LIST, "# why\n%s\tnobody asks\n" % line)
        result = self.run_it()
        self.assertNotIn("loudness >= 5", result.stdout)
        row = [line.split() for line in result.stdout.splitlines() if line.startswith("lion ")][-1]
        self.assertEqual(row[4], "1")

    def test_a_stale_equivalent_is_refused(self):
        self.write("tree/lion/" + equivalents.EQUIVALENT_LIST, "roar.cc\tno such line\ta -> b\twhy\n")
        result = self.run_it()
        self.assertEqual(result.returncode, 1)
        self.assertIn("roar.cc does not have the line: no such line", result.stderr)

    def test_an_equivalent_that_is_no_mutant_is_said(self):
        self.write("tree/lion/" + equivalents.EQUIVALENT_LIST, "roar.cc\treturn loudness;\ta -> b\twhy\n")
        self.assertIn("no mutant of these sources", self.run_it().stderr)

    def test_the_list_can_be_checked_without_a_parser(self):
        command = [sys.executable, "-B", mutate.__file__, "--tree=%s" % self.tree,
                   "--check_list", "lion"]
        self.assertEqual(subprocess.run(command, check=False).returncode, 0)
        self.write("tree/lion/" + equivalents.EQUIVALENT_LIST, "roar.cc\tonly three\tfields\n")
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("line 1: want FILE", result.stderr)

    def test_a_run_goes_on_where_it_was_cut_off(self):
        first = self.run_it()
        results = self.folder / "out/results_1.jsonl"
        lines = results.read_text().splitlines()
        # The last one is half written.
        results.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20])
        again = self.run_it()
        self.assertIn("[1/%d]" % (len(lines) - 3), again.stdout)
        self.assertEqual(first.stdout.splitlines()[-1], again.stdout.splitlines()[-1])

    def test_survivors_are_judged_again_when_asked(self):
        self.write("tree/lion/roar_test.cc", WEAK_TEST)
        self.run_it()
        self.write("tree/lion/roar_test.cc", TEST)
        self.assertEqual(self.run_it().returncode, 1)
        self.assertEqual(self.run_it("--again").returncode, 0)

    def test_a_sample_is_drawn_by_its_seed(self):
        def judged(*arguments):
            self.run_it("--sample=4", *arguments)
            seed = dict(argument.split("=") for argument in arguments)["--seed"]
            lines = (self.folder / ("out/results_%s.jsonl" % seed)).read_text().splitlines()
            return sorted(json.loads(line)["key"] for line in lines)

        first = judged("--seed=1")
        self.assertEqual(len(first), 4)
        self.assertNotEqual(first, judged("--seed=2"))
        (self.folder / "out/results_1.jsonl").unlink()
        self.assertEqual(first, judged("--seed=1"))

    def test_files_can_be_chosen(self):
        self.assertNotIn("roar.cc", self.run_it("--only=roar[.]h").stdout)

    def test_a_test_that_fails_without_a_mutant_judges_nothing(self):
        self.write("tree/lion/roar_test.cc", "int main() { return 1; }\n")
        result = self.run_it()
        self.assertEqual(result.returncode, 2)
        self.assertIn("left out, fails without a mutant: //lion:roar_test", result.stderr)

    def test_a_mutant_that_loops_is_killed_by_the_time_limit(self):
        test = generated.RecordedTest("//lion:t", ".", ["sleep", "30"], dict(os.environ),
                                      frozenset([1]), 0, True)
        self.assertTrue(test.fails_with(1, limit_scale=0.01))

    def test_a_file_that_clang_cannot_read_is_said(self):
        self.write("tree/lion/roar.h", HEADER + "#include \"missing.h\"\n")
        result = self.run_it()
        self.assertIn("left out, clang cannot parse it: lion/roar.h", result.stderr)

    def test_what_only_the_compiler_runs_is_not_counted(self):
        self.write("tree/lion/roar.h", HEADER + "constexpr int Cubs() { return 3 + 4; }\n"
                   "constexpr int kCubs = Cubs();\nstatic_assert(kCubs == 7, \"\");\n")
        result = self.run_it()
        self.assertIn("not compiled (runs while it is compiled only): lion/roar.h:3", result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout)
        row = result.stdout.splitlines()[-1].split()
        self.assertEqual(row[2], "4", result.stdout)

    def test_mutants_that_do_not_compile_are_not_counted(self):
        self.write("tree/lion/roar.h", "#include <array>\n" + HEADER.replace(
            "return a * 2;", "std::array<int, 4> cubs{a}; return cubs[0] * 2;"))
        result = self.run_it()
        self.assertNotIn("4 + 1", result.stdout)
        row = result.stdout.splitlines()[-1].split()
        self.assertEqual(row[2], "1", result.stdout)


class PiecesTest(unittest.TestCase):
    def test_the_compilers_lines_lead_to_suspects(self):
        mutant = generated.operators.Mutant(
            "lion/roar.h", "call", 0, 9, 4, 6, "a", "F(); ", "(removed)", "removed")
        numbered = [(1, mutant)]
        where = "bazel-out/k8/bin/lion/_virtual_includes/roar/footprint/lion/roar.h"
        for line, count in (("%s:5:3: error: no" % where, 1), ("lion/roar.h:7:1: error: no", 0),
                            ("lion/roar.h:4:1: error: no", 1), ("bear/roar.h:4:1: error: no", 0),
                            ("%s:6:3:   required from here" % where, 1)):
            self.assertEqual(len(generated.suspects(line + "\n", numbered)), count, line)

    def test_near_tests_run_first(self):
        def test(target, seconds):
            return generated.RecordedTest(target, "", [], {}, frozenset(), seconds, True)

        mutant = generated.operators.Mutant(
            "zoo/lion/roar.cc", "call", 0, 9, 4, 4, "a", "F(); ", "(removed)", "removed")
        tests = [test("//zoo/bear:a_test", 0.1), test("//zoo/lion:cub_test", 2),
                 test("//zoo/lion:mane_test", 1), test("//zoo/lion:roar_test", 3)]
        self.assertEqual([t.target for t in generated.nearest_first(tests, mutant)],
                         ["//zoo/lion:roar_test", "//zoo/lion:mane_test", "//zoo/lion:cub_test",
                          "//zoo/bear:a_test"])


if __name__ == "__main__":
    unittest.main()
