// Holds the bytes of the two shared objects that are preloaded into a measured
// program: the agent, and the one that counts copies. They are inside this
// program, so that it is one file, which may be copied anywhere.
//
//   absl::Status status =
//       ReplaceFile(path, EmbeddedAgent(), ToDisk::kNoFsync);
//
// Constants: thread-safe, valid until the process ends. Memory: pages of the
// program's file, which the kernel reads when the bytes are used.

#ifndef FOOTPRINT_PROFILING_MEMPROF_EMBEDDED_AGENT_H_
#define FOOTPRINT_PROFILING_MEMPROF_EMBEDDED_AGENT_H_

#include "absl/strings/string_view.h"

extern "C" {
extern const char footprint_agent_begin[];
extern const char footprint_agent_end[];
extern const char footprint_copy_counter_begin[];
extern const char footprint_copy_counter_end[];
}

namespace footprint {

inline absl::string_view EmbeddedAgent() {
  return absl::string_view(
      footprint_agent_begin,
      static_cast<size_t>(footprint_agent_end - footprint_agent_begin));
}

inline absl::string_view EmbeddedCopyCounter() {
  return absl::string_view(footprint_copy_counter_begin,
                           static_cast<size_t>(footprint_copy_counter_end -
                                               footprint_copy_counter_begin));
}

}  // namespace footprint

// Tested by memprof_test.

#endif  // FOOTPRINT_PROFILING_MEMPROF_EMBEDDED_AGENT_H_
