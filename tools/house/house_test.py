"""Tests of house on a few lines of C++."""

import unittest

import house

CODE = '''
#include <vector>

namespace {

int Declared(int a);

int Short(int a) { return a; }

class Box {
 public:
  Box() : size_(0) {}
  int size() const { return size_; }

 private:
  int size_;
};

std::string Long(const std::string& text,
                 int count) {
  if (count > 0) {
    return "}" + text;
  }
  for (char c : {'{', '"'}) Use(c);
  return text;
}

const char* Text() {
  return R"xml(<a>
{ "
)xml";
}

}  // namespace
'''


class HouseTest(unittest.TestCase):
    def test_measures_functions_and_nothing_else(self):
        lines = CODE.split("\n")
        found = {lines[first - 1].split("(")[0].split()[-1]: length
                 for first, length in house.function_lengths(CODE)}
        self.assertEqual(
            found, {"Short": 1, "Box": 1, "size": 1, "Long": 8, "Text": 5})

    def test_finds_a_function_above_sixty_lines(self):
        text = "void Long() {\n" + "  Call();\n" * 60 + "}\n"
        self.assertEqual(house.function_lengths(text), [(1, 62)])

    def test_reads_the_headers_of_libraries(self):
        build = ('footprint_cc_library(\n    name = "one",\n    hdrs = ["a.h"],\n)\n'
                 'cc_library(\n    name = "two",\n    hdrs = [\n        "b.h",\n        "c.h",\n    ],\n)\n')
        self.assertEqual(list(house.libraries_of(build)), [("one", ["a.h"]), ("two", ["b.h", "c.h"])])

    def test_percentiles(self):
        self.assertEqual(house.p95(range(1, 101)), 96)
        self.assertEqual(house.p95([]), 0)


if __name__ == "__main__":
    unittest.main()
