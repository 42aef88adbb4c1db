// Finds the owner of a frame's code and of a block's data: the program, a
// library or the interpreter.
//
//   FindOwner(frame, image);            // CodeOwner::kLibraries: NumPy's own
//   PeakShares shares = ComputePeakShares(run, image);
//   shares.program_bytes;  // what the script made NumPy allocate
//
// Code is the program's own if it lies in the executable, in the script that
// the command line names, in the folder of either, or in an object or Python
// file outside the folders that the system and package managers install into. A
// block is the program's own data if the program's code requested it, itself or
// through a library. It is a library's if it was allocated while a library was
// loaded, or without the program's code.
//
// Pure; thread-safe. Memory of ComputePeakShares: one byte a call and a frame.
// Time: linear in frames and calls, and in the depth of the sites' stacks.

#ifndef FOOTPRINT_PROFILING_RUNS_CODE_OWNER_H_
#define FOOTPRINT_PROFILING_RUNS_CODE_OWNER_H_

#include <cstdint>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

enum class CodeOwner : uint8_t {
  kProgram,
  kLibraries,
  kInterpreter,
  kAllocation,   // malloc and the functions around it
  kUnknown = 5,  // Charts draw it in grey; 4 is their red.
};

CodeOwner FindOwner(const CodeFrame& frame, const MeasuredImage& image);

struct PeakShares {
  // Whether the owners are known. They are not if call sites were not recorded,
  // or if the program is an interpreter whose frames were not recorded.
  bool are_known = false;
  int64_t program_bytes = 0;
  int64_t libraries_bytes = 0;
  int64_t interpreter_bytes = 0;
  // The bytes without a known call.
  int64_t unknown_bytes = 0;
};

// Returns the bytes at the peak by owner.
PeakShares ComputePeakShares(const MeasuredRun& run,
                             const MeasuredImage& image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_CODE_OWNER_H_
