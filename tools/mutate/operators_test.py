"""Tests of operators and schemata on small sources, with clang and gcc."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import operators
import schemata


class OperatorsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, code, name="lion.cc"):
        path = self.folder / name
        path.write_text(code)
        return path

    def find(self, code):
        return operators.find_mutants("lion.cc", self.write(code), ["-std=c++17"])

    def changes(self, code, operator):
        return [mutant.change for mutant in self.find(code) if mutant.operator == operator]

    def test_conditions_are_negated(self):
        code = """int F(int a, int* p) {
          if (a) return 1;
          while (p) ++a;
          for (int i = 0; i < a; ++i) {}
          do { --a; } while (a > 2);
          return a == 3 ? 1 : 2;
        }"""
        self.assertEqual(self.changes(code, "condition"), [
            "a -> !(a)", "p -> !(p)", "i < a -> !(i < a)", "a > 2 -> !(a > 2)",
            "a == 3 -> !(a == 3)"])

    def test_a_loop_without_a_condition_has_none_to_negate(self):
        code = "void F(int a) { while (true) { if (a) break; } while (1) ++a; }"
        self.assertEqual(self.changes(code, "condition"), ["a -> !(a)"])

    def test_a_condition_with_a_declaration_is_left_alone(self):
        code = """int* G(); int F() {
          if (int* p = G()) return *p;
          if (int* q = G(); q != nullptr) return *q;
          return 0;
        }"""
        self.assertEqual(self.changes(code, "condition"), ["q != nullptr -> !(q != nullptr)"])

    def test_logical_operators_are_exchanged(self):
        self.assertEqual(self.changes("bool F(bool a, bool b) { return a && b; }", "condition"),
                         ["a && b -> a || b"])
        self.assertEqual(
            self.changes("bool F(bool a, bool b, bool c) { return a || b || c; }", "condition"),
            ["a || b -> a && b", "a || b || c -> (a || b) && c"])

    def test_boundaries_are_shifted_in_templates_too(self):
        self.assertEqual(
            self.changes("template <typename T> bool F(T a, T b) { return a < b; }", "boundary"),
            ["a < b -> a <= b"])
        self.assertEqual(self.changes("bool F(int a) { return a >= 2; }", "boundary"),
                         ["a >= 2 -> a > 2"])

    def test_overloaded_comparisons_are_exchanged(self):
        code = """struct Cub {}; bool operator==(Cub, Cub); bool operator!=(Cub, Cub);
        bool F(Cub a, Cub b) { bool is = a == b; return is; }"""
        self.assertEqual(self.changes(code, "boundary"), ["a == b -> a != b"])

    def test_a_condition_that_is_an_equality_is_mutated_once(self):
        code = "int F(int a) { if (a == 1) return a; return 0; }"
        self.assertEqual(self.changes(code, "boundary"), [])
        self.assertEqual(self.changes(code, "condition"), ["a == 1 -> !(a == 1)"])

    def test_arithmetic_is_exchanged(self):
        code = "int F(int a) { a += 2; a++; return (a + 1) * a % 5; }"
        self.assertEqual(self.changes(code, "arithmetic"), [
            "a += 2 -> a -= 2", "a++ -> a--", "(a + 1) * a -> (a + 1) / a",
            "(a + 1) * a % 5 -> (a + 1) * a * 5", "a + 1 -> a - 1"])

    def test_differences_of_pointers_are_left_alone(self):
        self.assertEqual(self.changes("long F(char* a, char* b) { return a - b; }", "arithmetic"), [])

    def test_returned_values_are_replaced(self):
        code = """namespace absl { struct Status {}; Status OkStatus();
          template <typename T> struct StatusOr { StatusOr(T); }; }
        bool Is(bool a) { return a; }
        int Count(int a) { return a; }
        int* At(int* a) { return a; }
        int& Of(int& a) { return a; }
        absl::Status Bad(); absl::Status Fail() { return Bad(); }
        absl::Status Pass() { return absl::OkStatus(); }
        absl::StatusOr<int> Some(int a) { return a; }
        int Zero() { return 0; }"""
        another = "::absl::Status(static_cast<::absl::StatusCode>(2), \"a planted fault\")"
        self.assertEqual(self.changes(code, "value"), [
            "a -> !(a)", "return a; -> return {};", "return a; -> return {};",
            "return Bad(); -> return {};", "return absl::OkStatus(); -> return %s;" % another,
            "return a; -> return %s;" % another])

    def test_calls_that_are_statements_are_removed(self):
        code = """void G(int); int H(); struct Cub { void Roar(); ~Cub(); }; Cub Make();
        void F(Cub cub, int a) {
          G(1);
          if (a) cub.Roar(); else H();
          for (; a; G(2)) Make().Roar();
          a = H();
        }"""
        self.assertEqual(self.changes(code, "call"), [
            "G(1); -> (removed)", "cub.Roar(); -> (removed)", "H(); -> (removed)",
            "Make().Roar(); -> (removed)"])

    def test_literals_are_changed(self):
        code = "double F(bool b) { int a = 7; F(true); return b ? 0.5 : a; }"
        self.assertEqual(self.changes(code, "constant"),
                         ["7 -> 7 + 1", "true -> false", "0.5 -> 0.5 + 1"])

    def test_equal_changes_of_a_line_are_numbered(self):
        code = "int G(int, int); int F() { return G(0, 0); }"
        self.assertEqual(self.changes(code, "constant"), ["0 -> 0 + 1", "0 -> 0 + 1 (#2)"])
        self.assertEqual(len({mutant.key for mutant in self.find(code)}), len(self.find(code)))

    def test_text_comments_macros_and_types_are_left_alone(self):
        code = """#include <cstdio>
        #define ROAR(x) ((x) < 3 && (x) + 1)
        // if (a < b) return 1 + 2;
        static_assert(1 < 2, "1 < 2");
        const char* F() { /* 1 < 2 */ return "a < b && 1 + 2"; }
        #define FAIL_IF(x) if (x) return false
        bool E(int a) { FAIL_IF(a); return true; }
        bool G(int a) { std::fprintf(stderr, "no"); return ROAR(a < 4); }
        struct S { int a = 1 + 2; };
        unsigned long H() { return sizeof(int[4]); }"""
        # The functions' own values may be replaced; nothing else is found.
        self.assertEqual([mutant.change for mutant in self.find(code)], [
            "return \"a < b && 1 + 2\"; -> return {};", "true -> false",
            "ROAR(a < 4) -> !(ROAR(a < 4))", "return sizeof(int[4]); -> return {};"])

    def test_a_source_that_clang_cannot_read_is_said(self):
        with self.assertRaisesRegex(operators.NotParsed, "lion.cc: .*Missing"):
            self.find("int F() { return Missing(); }")

    def test_the_compile_check_sees_constants_and_types(self):
        path = self.write("#include <array>\nint F() { std::array<int, 4> a{}; return a[1]; }")
        check = operators.CompileCheck(path, ["-std=c++17"])
        text = path.read_text()
        mutants = {m.change: m for m in operators.find_mutants("lion.cc", path, ["-std=c++17"])}
        errors = {change: check.errors(schemata.with_switches(text, [(1, mutant)], False))
                  for change, mutant in mutants.items()}
        self.assertEqual(errors["1 -> 1 + 1"], [])
        self.assertNotEqual(errors["4 -> 4 + 1"], [])


class SchemataTest(unittest.TestCase):
    CODE = """#include <cstdio>
    static int log_count = 0;
    static void Log() { ++log_count; }
    constexpr int Half(int a) { return a / 2; }
    static int F(int a, int b) {
      if (a < b && b < 9) Log();
      else return Half(a) + 1;
      return a * (b - 1);
    }
    int main() {
      static_assert(Half(4) == 2, "");
      std::printf("%d %d ", F(2, 3), F(6, 3));
      std::printf("%d", log_count);
    }
    """

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_each_switch_is_one_fault(self):
        source = self.folder / "lion.cc"
        source.write_text(self.CODE)
        mutants = [m for m in operators.find_mutants("lion.cc", source, ["-std=c++17"])
                   if "main" not in m.line_text and "printf" not in m.line_text]
        numbered = list(enumerate(mutants, 1))
        source.write_text(schemata.with_switches(self.CODE, numbered, False))
        program = self.folder / "lion"
        subprocess.run(["g++", "-std=c++17", "-w", source, "-o", program], check=True)

        def output(number):
            environment = dict(os.environ, FOOTPRINT_MUTANT=str(number))
            return subprocess.run([program], env=environment, capture_output=True,
                                  text=True, check=False).stdout

        of_change = {mutant.change: output(number) for number, mutant in numbered}
        self.assertEqual(output(0), "4 4 1")
        self.assertEqual(of_change["a < b -> a <= b"], "4 4 1")
        self.assertEqual(of_change["a < b && b < 9 -> (a < b) || (b < 9)"], "4 12 2")
        self.assertEqual(of_change["a < b && b < 9 -> !(a < b && b < 9)"], "2 12 1")
        self.assertEqual(of_change["Log(); -> (removed)"], "4 4 0")
        self.assertEqual(of_change["++log_count -> --log_count"], "4 4 -1")
        self.assertEqual(of_change["a / 2 -> a * 2"], "4 13 1")
        self.assertEqual(of_change["return a * (b - 1); -> return {};"], "0 4 1")
        self.assertEqual(of_change["b - 1 -> b + 1"], "8 4 1")
        self.assertEqual(of_change["9 -> 9 + 1"], "4 4 1")

    def test_places_that_are_reached_are_marked(self):
        source, reached = self.folder / "lion.cc", self.folder / "reached"
        source.write_text("int main(int n, char**) { if (n > 1) return 2 + n; return 3 * n - 3; }")
        numbered = list(enumerate(operators.find_mutants("lion.cc", source, ["-std=c++17"]), 1))
        source.write_text(schemata.with_switches(source.read_text(), numbered, False))
        program = self.folder / "lion"
        subprocess.run(["g++", "-std=c++17", "-w", source, "-o", program], check=True)
        reached.write_bytes(bytes(len(numbered) + 1))
        environment = dict(os.environ, FOOTPRINT_MUTANTS_REACHED=str(reached))
        subprocess.run([program], env=environment, check=True)
        marked = [mutant.change for number, mutant in numbered if reached.read_bytes()[number]]
        self.assertIn("n > 1 -> n >= 1", marked)
        self.assertIn("3 * n -> 3 / n", marked)
        self.assertNotIn("2 + n -> 2 - n", marked)

    def test_a_source_that_replaces_mmap_marks_its_places(self):
        source, reached = self.folder / "map.cc", self.folder / "reached"
        source.write_text('''#include <sys/mman.h>
extern "C" void* mmap(void*, size_t size, int, int, int, off_t) noexcept {
  return size > 1 ? MAP_FAILED : nullptr;
}
int main() { return mmap(nullptr, 2, 0, 0, 0, 0) == MAP_FAILED ? 0 : 1; }
''')
        numbered = list(enumerate(operators.find_mutants("map.cc", source, ["-std=c++17"]), 1))
        source.write_text(schemata.with_switches(source.read_text(), numbered, False))
        program = self.folder / "map"
        subprocess.run(["g++", "-std=c++17", "-w", source, "-o", program], check=True)
        reached.write_bytes(bytes(len(numbered) + 1))
        environment = dict(os.environ, FOOTPRINT_MUTANTS_REACHED=str(reached))
        subprocess.run([program], env=environment, check=True, timeout=60)
        marked = [mutant.change for number, mutant in numbered if reached.read_bytes()[number]]
        self.assertIn("size > 1 -> size >= 1", marked)

    def test_messages_have_the_sources_lines(self):
        text = schemata.with_switches("int a;\nint b = c;\n", [], True)
        path = self.folder / "lion.h"
        path.write_text(text)
        result = subprocess.run(["g++", "-fsyntax-only", "-x", "c++", path],
                                capture_output=True, text=True, check=False)
        self.assertIn("lion.h:2:9: error", result.stderr)


if __name__ == "__main__":
    unittest.main()
