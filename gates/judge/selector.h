// Matches benchmarks with the globs and arguments of a threshold's selector.
//
//   GlobMatches("BM_Load*/layers:*", "BM_LoadLazy/layers:24");  // true
//
// Pure functions, thread-safe. Only IsMoreParticular and the functions that
// return a text allocate. Time: matching a glob is at most the product of both
// lengths; a glob without '*' takes one comparison.

#ifndef FOOTPRINT_GATES_JUDGE_SELECTOR_H_
#define FOOTPRINT_GATES_JUDGE_SELECTOR_H_

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns whether the whole `text` matches `glob`; false if `glob` is not valid
// (IsGlob). '*' matches any run of characters, also an empty one and '/'. "\*"
// matches a star, "\\" a backslash, and every other character itself.
bool GlobMatches(absl::string_view glob, absl::string_view text);

// Returns whether `glob` is valid: each backslash stands before a '*' or
// another backslash.
bool IsGlob(absl::string_view glob);

// Returns whether each star of `glob` is escaped, so that it names one thing
// only.
bool IsLiteral(absl::string_view glob);

// NameOfLiteral returns the one name that a literal glob matches; EscapeGlob
// returns the glob that matches `name` only.
std::string NameOfLiteral(absl::string_view glob);
std::string EscapeGlob(absl::string_view name);

// Returns whether the benchmark's name and arguments match; ignores label and
// phase. An empty selector.benchmark matches every name, but only a selector
// that begins with "whole_process/" matches a whole process
// (whole_process_name.h); a star does not.
bool SelectsBenchmark(const Selector& selector,
                      const BenchmarkMemory& benchmark);

// Returns whether the benchmark has each of the selector's arguments, with an
// equal value; ignores the name and further arguments.
bool SelectsArguments(const Selector& selector,
                      const BenchmarkMemory& benchmark);

// Returns whether the first selector names a proper part of what the second
// names: whatever matches the first matches the second, and not the other way
// round. An empty benchmark matches all names; an empty phase matches only the
// whole region.
bool IsMoreParticular(const Selector& selector, const Selector& general);

// Describes a selector in a message: `//a:b BM_Load (layers=24), phase "fit"`.
std::string DescribeSelector(const Selector& selector);

// Describes a measurement in a message: `//a:b BM_Load, phase "fit"`.
std::string DescribeMeasurement(absl::string_view label,
                                absl::string_view benchmark,
                                absl::string_view phase);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_SELECTOR_H_
