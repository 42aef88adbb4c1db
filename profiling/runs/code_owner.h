// The owner of a frame's code and of a block's data, such as the program, a
// library or the interpreter.
//
//   FindOwner(frame, image);            // CodeOwner::kLibraries: NumPy's own
//   PeakShares shares = ComputePeakShares(run, image);
//   shares.program_bytes;  // what the script made NumPy allocate
//
// Code is the program's own where it lies in the executable, in the script that
// the command line names, in the folder of either, or in an object or a Python
// file outside of the folders that the system and package managers install
// into. A block is the program's own data where the program's code
// asked for it, itself or through a library; a library's, where it was
// allocated while a library was loaded, or without the program's code.
//
// Pure; thread-safe. Memory of ComputePeakShares: a byte a call and a frame.
// Time: linear in frames, calls and sites.

#ifndef FOOTPRINT_PROFILING_RUNS_CODE_OWNER_H_
#define FOOTPRINT_PROFILING_RUNS_CODE_OWNER_H_

#include <cstdint>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

enum class CodeOwner : uint8_t {
  kProgram,
  kLibraries,
  kInterpreter,
  kAllocation,   // malloc and what stands around it
  kUnknown = 5,  // the grey of a chart; 4 is the red
};

CodeOwner FindOwner(const CodeFrame& frame, const MeasuredImage& image);

struct PeakShares {
  // The owners are known unless call sites were not recorded, or the program is
  // an interpreter whose frames were not.
  bool are_known = false;
  int64_t program_bytes = 0;
  int64_t libraries_bytes = 0;
  int64_t interpreter_bytes = 0;
  // The bytes without a call.
  int64_t unknown_bytes = 0;
};

PeakShares ComputePeakShares(const MeasuredRun& run,
                             const MeasuredImage& image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_CODE_OWNER_H_
