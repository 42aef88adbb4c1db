// A flag whose text may be empty. Abseil's flag of an optional string cannot
// tell an empty text from a missing one.
//
//   ABSL_FLAG(footprint::lowmem_internal::TextFlag, text, {}, "the text");
//   const auto text = absl::GetFlag(FLAGS_text).text;
//   if (text.has_value()) ...
//
// Plain data that owns its text. Memory: the text. Every text is accepted.

#ifndef FOOTPRINT_LOWMEM_PROGRAMS_TEXT_FLAG_H_
#define FOOTPRINT_LOWMEM_PROGRAMS_TEXT_FLAG_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint::lowmem_internal {

struct TextFlag {
  absl::optional<std::string> text;
};

inline bool AbslParseFlag(absl::string_view given, TextFlag* flag,
                          std::string* /*error*/) {
  flag->text = std::string(given);
  return true;
}

inline std::string AbslUnparseFlag(const TextFlag& flag) {
  return flag.text.value_or("");
}

}  // namespace footprint::lowmem_internal

// Tested by lowmem_embed_test.

#endif  // FOOTPRINT_LOWMEM_PROGRAMS_TEXT_FLAG_H_
