// A header of the importer's own with the path of one of Footprint's.
// Footprint's is "footprint/profiling/recording/memory_phase.h", so both can be
// included.

#ifndef PROFILING_RECORDING_MEMORY_PHASE_H_
#define PROFILING_RECORDING_MEMORY_PHASE_H_

inline const char* LoadPhaseName() { return "load"; }

#endif  // PROFILING_RECORDING_MEMORY_PHASE_H_
