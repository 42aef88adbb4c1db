// Whether bytes are UTF-8, as JSON and protobuf demand of their strings.
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

// The length of the well-formed sequence that `text` begins with; 0 if it
// begins with none, as with an overlong form, a surrogate or the empty text.
size_t Utf8SequenceLength(absl::string_view text);

// Returns whether the text is a row of well-formed sequences.
bool IsUtf8(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_UTF8_H_
