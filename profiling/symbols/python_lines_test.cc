#include "footprint/profiling/symbols/python_lines.h"

#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "absl/strings/string_view.h"
#include "footprint/base/random/property_seeds.h"
#include "footprint/base/testing/hex_bytes.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr char kLinesOfInterpreters[] =
    "profiling/symbols/testdata/python_lines.txt";

// Compares with lines from the interpreters' own decoders: see
// make_python_lines.py.
TEST(PythonLinesTest, AreThoseOfTheInterpreter) {
  std::ifstream file(kLinesOfInterpreters);
  std::map<std::string, int> checked;
  std::string text;
  while (std::getline(file, text)) {
    std::istringstream words(text);
    std::string version;
    std::string name;
    std::string digits;
    int first_line = 0;
    ASSERT_TRUE(words >> version >> name >> first_line >> digits) << text;
    const std::string table = digits == "-" ? "" : BytesOfHex(digits);
    int line = 0;
    int instruction = 0;
    for (; words >> line; ++instruction) {
      EXPECT_EQ(FindPythonLine(table, first_line, instruction), line)
          << version << " " << name << ", instruction " << instruction;
      ++checked[version];
    }
    EXPECT_EQ(FindPythonLine(table, first_line, -1), first_line);
    EXPECT_EQ(FindPythonLine(table, first_line, instruction), 0);
  }
  for (const char* version : {"3.11", "3.12", "3.13", "3.14"}) {
    EXPECT_GT(checked[version], 300) << version;
  }
}

TEST(PythonLinesTest, ADamagedTableHasNoLine) {
  EXPECT_EQ(FindPythonLine("", 5, 0), 0);
  // No entry begins there; an entry is cut off; a number does not end.
  EXPECT_EQ(FindPythonLine("\x01\x01", 5, 0), 0);
  EXPECT_EQ(FindPythonLine("\x80", 5, 0), 0);
  EXPECT_EQ(
      FindPythonLine("\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 5, 0),
      0);
  // Differences of 2^59 - 1 add up to more than a number holds.
  std::string large;
  for (int i = 0; i < 17; ++i) {
    large += "\xe8\x7e\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x3f";
  }
  EXPECT_EQ(FindPythonLine(large, 1, 16), 0);
}

// Whatever the bytes are, nothing beyond them is read (ASan).
TEST(PythonLinesTest, AnyBytesDoNoHarm) {
  for (uint32_t seed = 1; seed <= PropertySeedCount(); ++seed) {
    std::mt19937 random(seed);
    std::string table(random() % 40, '\0');
    for (char& byte : table) {
      byte = static_cast<char>(random() | (random() % 2 << 7));
    }
    for (int instruction = -1; instruction < 100; ++instruction) {
      EXPECT_GE(FindPythonLine(table, 1, instruction), 0);
    }
  }
}

}  // namespace
}  // namespace footprint
