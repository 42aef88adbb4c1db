// Numbers of a text-format file that begin with a zero. The parser reads 010 as
// eight, and nobody who writes it into a file of limits means that.
//
//   for (const OctalNumber& number : FindOctalNumbers("max_bytes: 05000")) {
//     Complain(number.line, number.column, number.message);
//   }
//
// Pure function, thread-safe; the result owns its texts. Memory: the numbers
// that are found. Time: linear in the text.

#ifndef FOOTPRINT_BASE_TEXT_OCTAL_NUMBERS_H_
#define FOOTPRINT_BASE_TEXT_OCTAL_NUMBERS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace footprint {

struct OctalNumber {
  int line = 0;  // from 0, as the column
  int column = 0;
  std::string message;  // the fault, and what to write
};

// Returns them in the order of the text. Mistakes of the format are the
// parser's to tell.
std::vector<OctalNumber> FindOctalNumbers(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_OCTAL_NUMBERS_H_
