// Checks whether bytes are UTF-8, which JSON and protobuf require of their
// strings.
//
//   if (!footprint::IsUtf8(name)) return Refuse(name);
//
// Pure functions, thread-safe; they keep nothing and allocate no memory. Time:
// linear in the text. There are no errors.

#ifndef FOOTPRINT_BASE_TEXT_UTF8_H_
#define FOOTPRINT_BASE_TEXT_UTF8_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace footprint {

// Returns the length of the well-formed sequence at the beginning of `text`; 0
// if there is none, for example for an overlong form, a surrogate or an empty
// text.
size_t Utf8SequenceLength(absl::string_view text);

// Returns whether the text consists of well-formed sequences.
bool IsUtf8(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_UTF8_H_
