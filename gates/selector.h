// Which measurements a threshold is for: globs and arguments.
//
//   GlobMatches("BM_Load*/layers:*", "BM_LoadLazy/layers:24");  // true
//
// Pure functions, thread-safe, that keep nothing and allocate nothing but the
// texts of DescribeSelector and DescribeMeasurement, which hold copies. Time:
// matching a glob is at most the product of both lengths; a glob without '*' is
// compared.

#ifndef FOOTPRINT_GATES_SELECTOR_H_
#define FOOTPRINT_GATES_SELECTOR_H_

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/gates/gate.pb.h"
#include "footprint/profiling/memory_profile.pb.h"

namespace footprint {

// '*' in `glob` stands for any run of characters, the empty one and '/'
// included; every other character stands for itself.
bool GlobMatches(absl::string_view glob, absl::string_view text);

// True if `glob` names one thing only.
bool IsLiteral(absl::string_view glob);

// Whether the benchmark's name and arguments fit; label and phase are not
// looked at. An empty selector.benchmark fits every name.
bool SelectsBenchmark(const Selector& selector,
                      const BenchmarkMemory& benchmark);

// Whether the arguments alone fit.
bool SelectsArguments(const Selector& selector,
                      const BenchmarkMemory& benchmark);

// For messages: `//a:b BM_Load (layers=24), phase "fit"`.
std::string DescribeSelector(const Selector& selector);

// For messages: `//a:b BM_Load, phase "fit"`.
std::string DescribeMeasurement(absl::string_view label,
                                absl::string_view benchmark,
                                absl::string_view phase);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SELECTOR_H_
