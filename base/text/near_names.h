// The names closest to one that is not there, for error messages.
//
//   footprint::NearNames("encoder.0.expnd", names)
//   // {"encoder.0.expand"}
//
// A name that only lacks or adds a prefix, as "bert." of some exports, is the
// closest of all. Names of more than 512 characters are not compared.
//
// Pure, thread-safe: names are copied. Memory: what it returns. Time: the
// product of the lengths for each candidate.

#ifndef FOOTPRINT_BASE_TEXT_NEAR_NAMES_H_
#define FOOTPRINT_BASE_TEXT_NEAR_NAMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace footprint {

// Up to three, the closest first; none that are far.
std::vector<std::string> NearNames(
    absl::string_view wanted, absl::Span<const absl::string_view> candidates);

// An error's words about them: `; the closest: "a", "b"`, or that none is like
// it.
std::string NearNamesText(absl::string_view wanted,
                          absl::Span<const absl::string_view> candidates);

// Returns `; did you mean "a"?` with the candidate that is closest to a
// misspelt word, or "" if none is close.
std::string DidYouMean(absl::string_view wanted,
                       const std::vector<std::string>& candidates);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_NEAR_NAMES_H_
