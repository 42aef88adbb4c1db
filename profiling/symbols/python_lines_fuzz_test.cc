// Reads arbitrary bytes as the line table of Python code.

#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/profiling/symbols/python_lines.h"

namespace footprint {
namespace {

void ReadAnyTable(absl::string_view bytes) {
  if (bytes.empty()) return;
  const int first_line = static_cast<unsigned char>(bytes[0]);
  const absl::string_view table = bytes.substr(1);
  Require(FindPythonLine(table, first_line, -1) == first_line,
          "the first line is known without a table");
  for (int instruction = 0; instruction < 64; ++instruction) {
    Require(FindPythonLine(table, first_line, instruction) >= 0,
            "a line is a number from 0");
  }
  // An entry has eight instructions at most.
  const int behind = static_cast<int>(table.size()) * 8;
  Require(FindPythonLine(table, first_line, behind) == 0,
          "behind the table there is no line");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyTable)

}  // namespace footprint
