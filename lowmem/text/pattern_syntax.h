// Patterns in the syntax of Oniguruma, in which tokenizer.json has them, as
// patterns of PCRE2.
//
//   absl::StatusOr<std::string> pattern =
//       footprint::ToPcre2Pattern("[\\p{L}&&[^\\p{Han}]]+|\\h{1,3}+");
//
// The two agree on most, and differ without a word on some: sets within sets,
// what \w, \b, \s, \h and \v hold, and "{1,3}+", which repeats here and is
// possessive there. To be compiled with PCRE2_UTF, PCRE2_UCP and
// PCRE2_MULTILINE, since ^ and $ are those of each line.
//
// Pure and thread-safe. Memory: that of the result. InvalidArgument: a set that
// does not end; says at which byte it begins. What else is wrong with a pattern
// PCRE2 says.

#ifndef FOOTPRINT_LOWMEM_TEXT_PATTERN_SYNTAX_H_
#define FOOTPRINT_LOWMEM_TEXT_PATTERN_SYNTAX_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

absl::StatusOr<std::string> ToPcre2Pattern(absl::string_view pattern);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_PATTERN_SYNTAX_H_
