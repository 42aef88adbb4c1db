// Reads the memory that this process may still take: the least of what its
// control groups and the machine have left.
//
//   absl::StatusOr<AvailableMemory> memory = ReadAvailableMemory();
//   if (memory.ok()) Use(memory->bytes, memory->limited_by);
//
// Thread-safe, since it keeps no state. Memory and time: it reads a few small
// files of /proc and /sys.

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

// Computes a control group's limit minus its used memory, for both versions and
// for all groups above. File pages that the kernel gives up first do not count
// as used. For the machine, MemAvailable counts. `root` is for tests: the
// folder that contains /proc and /sys. Returns FailedPrecondition if the kernel
// reports nothing.
absl::StatusOr<AvailableMemory> ReadAvailableMemory(
    const std::string& root = "");

// Returns the bytes that the machine can still give any process, with swap,
// regardless of control groups. Returns nullopt if the kernel does not report
// it.
absl::optional<int64_t> ReadFreeMachineBytes(const std::string& root = "");

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_AVAILABLE_MEMORY_H_
