// Selects the measurements that a threshold is for, by globs and arguments.
//
//   GlobMatches("BM_Load*/layers:*", "BM_LoadLazy/layers:24");  // true
//
// Pure functions, thread-safe, that keep nothing and allocate nothing but the
// texts of DescribeSelector and DescribeMeasurement, which hold copies. Time:
// matching a glob is at most the product of both lengths; a glob without '*' is
// compared.

#ifndef FOOTPRINT_GATES_JUDGE_SELECTOR_H_
#define FOOTPRINT_GATES_JUDGE_SELECTOR_H_

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// '*' in `glob` stands for any run of characters, the empty one and '/'
// included; "\*" for a star and "\\" for a backslash; every other character for
// itself. False if `glob` is none.
bool GlobMatches(absl::string_view glob, absl::string_view text);

// Returns false if a backslash is before anything but '*' and a backslash.
bool IsGlob(absl::string_view glob);

// Returns whether `glob` names one thing only.
bool IsLiteral(absl::string_view glob);

// The one name that a literal glob names, and the glob that names `name` only.
std::string NameOfLiteral(absl::string_view glob);
std::string EscapeGlob(absl::string_view name);

// Returns whether the benchmark's name and arguments fit; label and phase are
// not looked at. An empty selector.benchmark fits every name, but a whole
// process (whole_process_name.h) is meant only by "whole_process/...", not by a
// star.
bool SelectsBenchmark(const Selector& selector,
                      const BenchmarkMemory& benchmark);

// Returns whether the arguments alone fit.
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
