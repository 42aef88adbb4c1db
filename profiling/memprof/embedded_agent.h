// The agent's shared object, as bytes inside this program: so that the program
// is one file, which may be copied anywhere.
//
//   absl::Status status = ReplaceFile(path, EmbeddedAgent());
//
// A constant: thread-safe, valid until the process ends.

#ifndef FOOTPRINT_PROFILING_MEMPROF_EMBEDDED_AGENT_H_
#define FOOTPRINT_PROFILING_MEMPROF_EMBEDDED_AGENT_H_

#include "absl/strings/string_view.h"

extern "C" {
extern const char footprint_agent_begin[];
extern const char footprint_agent_end[];
}

namespace footprint {

inline absl::string_view EmbeddedAgent() {
  return absl::string_view(
      footprint_agent_begin,
      static_cast<size_t>(footprint_agent_end - footprint_agent_begin));
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_EMBEDDED_AGENT_H_
