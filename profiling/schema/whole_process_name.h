// The names of a whole process's figures, which stand among the benchmarks of a
// profile.
//
//   // "whole_process/load_profile"
//   std::string name = WholeProcessName("load_profile");
//   IsWholeProcessName(name);  // true
//
// No benchmark of a program may have such a name. Pure functions, thread-safe;
// the result is a copy and the only memory.

#ifndef FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_NAME_H_
#define FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_NAME_H_

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace footprint {

inline constexpr char kWholeProcessPrefix[] = "whole_process/";

// The phase with the figures that a control group counted.
inline constexpr char kControlGroupPhase[] = "control group";

// The phase that exists if processes which the program started were still
// running when it had ended. No figure includes their memory from then on.
inline constexpr char kOutlivedPhase[] = "alive at the end";

// The phase with the mapped address space, except code and stacks, that had no
// anonymous page at the peak: PEAK_MAPPED_BYTES that use no memory.
inline constexpr char kUntouchedPhase[] = "untouched";

// Phases that are parts of PEAK_RESIDENT_BYTES. Memory may have changed before
// they were read; the last phase holds the difference.
inline constexpr char kPartPrefix[] = "part: ";
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

// Returns whether a benchmark's name, or a selector, means whole processes.
inline bool IsWholeProcessName(absl::string_view name) {
  return absl::StartsWith(name, kWholeProcessPrefix);
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_WHOLE_PROCESS_NAME_H_
