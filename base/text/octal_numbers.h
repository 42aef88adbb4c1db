// Finds numbers in a text-format file that begin with a zero. The parser reads
// 010 as eight, but a person who writes it into a file of limits means ten.
//
//   for (const OctalNumber& number : FindOctalNumbers("max_bytes: 05000")) {
//     Complain(number.line, number.column, number.message);
//   }
//
// A pure function, thread-safe; the result owns its texts. Memory: the numbers
// found. Time: linear in the text.

#ifndef FOOTPRINT_BASE_TEXT_OCTAL_NUMBERS_H_
#define FOOTPRINT_BASE_TEXT_OCTAL_NUMBERS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace footprint {

struct OctalNumber {
  int line = 0;  // from 0; so is the column
  int column = 0;
  std::string message;  // the mistake, and what to write
};

// Returns the numbers in the order of the text. Ignores mistakes of the format,
// which the parser reports.
std::vector<OctalNumber> FindOctalNumbers(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_OCTAL_NUMBERS_H_
