// The names that a profile gives to the figures of a whole process, which stand
// among its benchmarks.
//
//   // "whole_process/load_profile"
//   std::string name = WholeProcessName("load_profile");
//   IsWholeProcessName(name);  // true
//
// No benchmark of a program may be called so. Pure functions, thread-safe; the
// result is a copy and all the memory.

#ifndef FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_NAME_H_
#define FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_NAME_H_

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace footprint {

inline constexpr char kWholeProcessPrefix[] = "whole_process/";

// The phase with what a control group has counted.
inline constexpr char kControlGroupPhase[] = "control group";

// The phase that is there if processes which the program started still ran when
// it had ended: their memory is in no figure from then on.
inline constexpr char kOutlivedPhase[] = "alive at the end";

// The phase with the address space, beside code and stacks, that no anonymous
// page was in at the peak: PEAK_MAPPED_BYTES that are no memory.
inline constexpr char kUntouchedPhase[] = "untouched";

// Phases that are parts of PEAK_RESIDENT_BYTES. Their sum is less or more by
// what came and went, or came, until they were read: that is the last one.
inline constexpr char kHeapAndMappingsPart[] = "part: heap and mappings";
inline constexpr char kStacksPart[] = "part: stacks";
inline constexpr char kImagePart[] = "part: code and static data";
inline constexpr char kFilesPart[] = "part: mapped files";
inline constexpr char kSharedPart[] = "part: shared memory";
inline constexpr char kKernelPart[] = "part: kernel";
inline constexpr char kOtherProcessesPart[] = "part: other processes";
inline constexpr char kUnexplainedPart[] = "part: unexplained";

// Returns the name of the whole process of the memory_profile target `name`.
inline std::string WholeProcessName(absl::string_view name) {
  return absl::StrCat(kWholeProcessPrefix, name);
}

// Returns whether a benchmark, or a selector, means whole processes.
inline bool IsWholeProcessName(absl::string_view name) {
  return absl::StartsWith(name, kWholeProcessPrefix);
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_NAME_H_
