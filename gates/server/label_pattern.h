// Matches the labels of deployments with the patterns of labels that a token
// owns.
//
//   LabelMatches("//A/...", "//A/b:c");    // true
//   LabelMatches("//A:c-*", "//A:c-1");   // true
//
// A pattern is a glob (selector.h), in which '*' matches any text. A pattern
// that ends with "/..." matches as Bazel's does: "//A/..." matches the
// labels of the package //A and of all packages below it, but not
// "//Ab:fit". "//..." matches each label that begins with "//".
//
// Pure functions, thread-safe. Memory: a copy of the pattern. Time: at most the
// product of both lengths.

#ifndef FOOTPRINT_GATES_SERVER_LABEL_PATTERN_H_
#define FOOTPRINT_GATES_SERVER_LABEL_PATTERN_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

// Returns InvalidArgument, with the reason, unless the pattern is a valid glob
// of 1 to 256 bytes of UTF-8 without blanks, commas and control characters, so
// that a list of patterns is a line of text.
absl::Status CheckLabelPattern(absl::string_view pattern);

// Returns whether the pattern matches the whole label; false if the pattern is
// not a valid glob. The other rules of CheckLabelPattern are not checked.
bool LabelMatches(absl::string_view pattern, absl::string_view label);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_LABEL_PATTERN_H_
