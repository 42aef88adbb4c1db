// "Did you mean": the known name that is closest to a misspelt one.
//
//   NearestName("BM_Laod", {"BM_Load", "BM_Save"});  // "BM_Load"
//
// Pure function, thread-safe; the result copies the name. Memory: one row of
// the longer name's length. Time: the product of the name's length and the
// candidates' total length.

#ifndef FOOTPRINT_BASE_TEXT_NEAREST_NAME_H_
#define FOOTPRINT_BASE_TEXT_NEAREST_NAME_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace footprint {

// The candidate with the fewest inserted, deleted or replaced characters; the
// first of several. "" if there is none, or none shares half of its characters.
std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& candidates);

// `; did you mean "x"?`, or "" without a near name.
std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& candidates);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_NEAREST_NAME_H_
