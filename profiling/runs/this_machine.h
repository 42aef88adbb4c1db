// Returns the machine that this program runs on, as a run stores it.
//
//   *run.mutable_machine() = ThisMachine();
//
// Facts that the system does not report stay empty, and so does `allocator`,
// which depends on the measured program. The message has copies. Thread-safe.
// Memory: its texts.

#ifndef FOOTPRINT_PROFILING_RUNS_THIS_MACHINE_H_
#define FOOTPRINT_PROFILING_RUNS_THIS_MACHINE_H_

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

MeasuredMachine ThisMachine();

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_THIS_MACHINE_H_
