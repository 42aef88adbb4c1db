// The memory that this process may still take: the least of what its control
// groups and the machine have left.
//
//   absl::StatusOr<AvailableMemory> memory = ReadAvailableMemory();
//   if (memory.ok()) Use(memory->bytes, memory->limited_by);
//
// Thread-safe: no state is kept. Memory and time: a few small files of /proc
// and /sys are read.

#ifndef FOOTPRINT_BASE_MEMORY_AVAILABLE_MEMORY_H_
#define FOOTPRINT_BASE_MEMORY_AVAILABLE_MEMORY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"

namespace footprint {

struct AvailableMemory {
  int64_t bytes = 0;
  // "the machine" or "the control group /path".
  std::string limited_by;
};

// Counts a control group's limit less what is in use, in both versions and all
// groups above; file pages that the kernel gives up first are not in use. For
// the machine MemAvailable counts. `root` is for tests: the folder in which
// /proc and /sys lie. FailedPrecondition where the kernel tells nothing.
absl::StatusOr<AvailableMemory> ReadAvailableMemory(
    const std::string& root = "");

// Bytes that the machine can still give any process, swap included, whatever
// the control groups allow. Absent where the kernel does not tell.
absl::optional<int64_t> ReadFreeMachineBytes(const std::string& root = "");

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_AVAILABLE_MEMORY_H_
