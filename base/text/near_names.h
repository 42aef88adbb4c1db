// Finds the names closest to a missing one, for error messages.
//
//   footprint::NearNames("encoder.0.expnd", names)
//   // {"encoder.0.expand"}
//
// The closest name is one that only lacks or adds a prefix that ends in a dot,
// such as the "bert." of some exports. Names of more than 512 characters are
// not compared.
//
// Pure, thread-safe: names are copied. Memory: the result. Time: the product of
// the lengths for each candidate.

#ifndef FOOTPRINT_BASE_TEXT_NEAR_NAMES_H_
#define FOOTPRINT_BASE_TEXT_NEAR_NAMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace footprint {

// Returns up to three names, the closest first. Leaves out names that differ in
// more than two characters and in more than a third of the length of `wanted`.
std::vector<std::string> NearNames(
    absl::string_view wanted, absl::Span<const absl::string_view> candidates);

// Returns text for an error: `; the closest: "a", "b"`, or a text that says
// that no name is close.
std::string NearNamesText(absl::string_view wanted,
                          absl::Span<const absl::string_view> candidates);

// Returns ` (did you mean "a"?)` with the candidate that is closest to a
// misspelt word, or "" if none is close.
std::string DidYouMean(absl::string_view wanted,
                       const std::vector<std::string>& candidates);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_NEAR_NAMES_H_
