// The format of two files: the regression to plant into a running program, and
// the record of its memory that the program writes. The library `heap` of this
// room and its callers exchange them.
//
//   PlantedRegression planted;                        // of the caller
//   planted.kind = RegressionKind::kKeptBlock;
//   planted.bytes = 1;
//   CopyText("loop", planted.phase);
//   CopyText("/tmp/record", planted.record_path);
//   // written as kPlantedRegressionName into the folder in which the program
//   // starts; the program appends kPlantedLine to /tmp/record once the whole
//   // regression is planted
//
// The program is linked with malloc = "//profiling/regressions:heap" (the macro
// measured_binary makes one beside each measured program). Without such a file
// it behaves as with exact_heap. Calls are counted in the main thread.
//
// Plain values that own nothing: thread-compatible, no further memory. Both
// sides are from one build, so the layout is private.

#ifndef FOOTPRINT_PROFILING_REGRESSIONS_PLANTED_REGRESSION_H_
#define FOOTPRINT_PROFILING_REGRESSIONS_PLANTED_REGRESSION_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace footprint {

// The name of the file, in the folder in which the program starts.
inline constexpr char kPlantedRegressionName[] = "regression";
// The line that each process appends to `record_path` when the regression took
// effect.
inline constexpr char kPlantedLine[] = "planted\n";
inline constexpr uint64_t kPlantedRegressionMagic = 0x464f4f5452454701;

enum class RegressionKind : int64_t {
  // Plants nothing. Memory is recorded as AllocationEvent, in a file for each
  // process: `record_path`, a dot and the process's ID.
  kNone,
  kLargerBlock,  // The call requests `bytes` more.
  kKeptBlock,    // Keeps `count` blocks of `bytes`, one in `stride` calls.
  // The call's block, which the program frees in the phase, is freed when the
  // phase ends.
  kLaterFree,
  kStageBlock,     // Holds a block of `bytes` through the phase.
  kVolume,         // Allocates and frees `count` blocks of `bytes`.
  kLargerMapping,  // The mapping requests `bytes` more.
  kKeptMapping,    // Keeps a mapping of `bytes` that it wrote to.
};

struct PlantedRegression {
  uint64_t magic = kPlantedRegressionMagic;
  RegressionKind kind = RegressionKind::kNone;
  // The visit of the phase, from 0.
  int64_t visit = 0;
  // The call in the phase, and in phases inside it, from 0. It is a call of
  // malloc and related functions or, for kLargerMapping, of mmap. -1 means the
  // beginning of the phase.
  int64_t call = -1;
  int64_t bytes = 0;
  int64_t count = 1;
  int64_t stride = 1;
  char phase[256] = {};  // "loop/load"
  char record_path[512] = {};
};

// An event in the memory of the program; a record holds them in order. The
// `bytes` of kPhaseBegins are the length of the phase's name, which the next
// events contain.
struct AllocationEvent {
  enum class Kind : int64_t {
    kAllocated,
    kFreed,
    kMoved,  // freed by realloc
    kMapped,
    kUnmapped,
    kPhaseBegins,
    kPhaseEnds,
  };
  Kind kind = Kind::kAllocated;
  uint64_t address = 0;  // For a phase: a number that identifies it.
  int64_t requested_bytes = 0;
  int64_t bytes = 0;  // usable
};

// Returns how many events a phase's name takes.
constexpr size_t NameEvents(size_t length) {
  return (length + sizeof(AllocationEvent) - 1) / sizeof(AllocationEvent);
}

// Copies `text` with its terminating null. Returns false, and copies nothing,
// if it does not fit.
template <size_t kSize>
bool CopyText(const char* text, char (&field)[kSize]) {
  const size_t length = std::strlen(text);
  if (length >= kSize) return false;
  std::memcpy(field, text, length + 1);
  return true;
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REGRESSIONS_PLANTED_REGRESSION_H_
// Tested by heap_test.
