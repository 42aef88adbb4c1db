// Translates patterns of Oniguruma, whose syntax tokenizer.json uses, into
// patterns of PCRE2.
//
//   absl::StatusOr<std::string> pattern =
//       footprint::ToPcre2Pattern("[\\p{L}&&[^\\p{Han}]]+|\\h{1,3}+");
//
// The two agree on most patterns, but PCRE2 reads some differently without an
// error: sets within sets, the characters of \w, \b, \s, \h and \v, and
// "{1,3}+", which repeats in Oniguruma and is possessive in PCRE2. Compile the
// result with PCRE2_UTF, PCRE2_UCP and PCRE2_MULTILINE, since ^ and $ match at
// each line.
//
// Pure and thread-safe. Memory: that of the result. The error is
// InvalidArgument if a set does not end, if a class in the form of [:alpha:]
// has an unknown name, or if sets are nested too deeply; for the first two the
// message says at which byte. PCRE2 finds all other mistakes when it compiles
// the result.

#ifndef FOOTPRINT_LOWMEM_TEXT_PATTERN_SYNTAX_H_
#define FOOTPRINT_LOWMEM_TEXT_PATTERN_SYNTAX_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

absl::StatusOr<std::string> ToPcre2Pattern(absl::string_view pattern);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_PATTERN_SYNTAX_H_
