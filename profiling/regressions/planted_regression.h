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
//   // starts; the program appends kPlantedLine to /tmp/record when it is done
//
// The program is linked with malloc = "//profiling/regressions:heap" (the macro
// measured_binary makes one beside each measured program) and behaves as with
// exact_heap where there is no such file. Calls are those of the main thread.
//
// Plain values, which own nothing: thread-compatible, no memory besides. Both
// sides are of one build, so the layout is nobody else's.

#ifndef FOOTPRINT_PROFILING_REGRESSIONS_PLANTED_REGRESSION_H_
#define FOOTPRINT_PROFILING_REGRESSIONS_PLANTED_REGRESSION_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace footprint {

// The name of the file, in the folder in which the program starts.
inline constexpr char kPlantedRegressionName[] = "regression";
// Line that each process appends to `record_path` when the regression took
// effect.
inline constexpr char kPlantedLine[] = "planted\n";
inline constexpr uint64_t kPlantedRegressionMagic = 0x464f4f5452454701;

enum class RegressionKind : int64_t {
  // Memory is recorded as AllocationEvent, of each process in a file of its
  // own: `record_path`, a dot and the process's number.
  kNone,
  kLargerBlock,    // the call asks for `bytes` more
  kKeptBlock,      // `count` blocks of `bytes`, one each `stride` calls; kept
  kLaterFree,      // the call's block is freed when the phase ends
  kStageBlock,     // a block of `bytes` from the phase's beginning to its end
  kVolume,         // `count` blocks of `bytes`, each freed at once
  kLargerMapping,  // the mapping asks for `bytes` more
  kKeptMapping,    // a mapping of `bytes`, written to and kept
};

struct PlantedRegression {
  uint64_t magic = kPlantedRegressionMagic;
  RegressionKind kind = RegressionKind::kNone;
  // Which visit of the phase, from 0.
  int64_t visit = 0;
  // Which call in the phase, and in those inside it, from 0: of malloc's family
  // or, of kLargerMapping, of mmap. -1: when the phase begins.
  int64_t call = -1;
  int64_t bytes = 0;
  int64_t count = 1;
  int64_t stride = 1;
  char phase[256] = {};  // "loop/load"
  char record_path[512] = {};
};

// An event in the memory of the program; a record holds them in order. After
// kPhaseBegins, whose `bytes` are the length of its name, the name fills the
// next events.
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
  uint64_t address = 0;  // of a phase: which one
  int64_t requested_bytes = 0;
  int64_t bytes = 0;  // usable
};

// Returns how many events a phase's name fills.
constexpr size_t NameEvents(size_t length) {
  return (length + sizeof(AllocationEvent) - 1) / sizeof(AllocationEvent);
}

// Returns false if `text` does not fit with its end.
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
