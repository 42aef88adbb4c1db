// Names the fields in which two environments differ.
//
//   DescribeDifference(here, there);
//   // compiler is "gcc 13.1", not "gcc 12.2.0"
//
// Pure functions, thread-safe; the result copies what it names. Every field of
// the message is compared, also one that a later schema adds; each must be a
// string or an int64. Memory and time: linear in the fields.

#ifndef FOOTPRINT_GATES_JUDGE_ENVIRONMENT_DIFFERENCE_H_
#define FOOTPRINT_GATES_JUDGE_ENVIRONMENT_DIFFERENCE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns the number of fields that differ: 0 for the same environment.
int CountDifferences(const Environment& a, const Environment& b);

// Returns a description of each field that differs, as above, joined by commas.
std::string DescribeDifference(const Environment& here,
                               const Environment& there);

// Returns the path of a file for the environment `here`, in the folder of
// `path`. Its name lists the values that differ: "t/tabular.debian12.textproto"
// -> "t/tabular.gcc-13.1.textproto".
std::string PathForEnvironment(absl::string_view path, const Environment& here,
                               const Environment& there);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_ENVIRONMENT_DIFFERENCE_H_
