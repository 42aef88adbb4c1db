// Finds what a process has resident beside its heap's figure: memory that does
// not come from malloc, as that of Java, Go and node, or of an allocator of the
// program's own.
//
//   if (HeapTellsTooLittle(image)) Judge(PeakResidentBytes(image));
//
// The rule is the gates' (profiling/schema/whole_process.h): a heap tells too
// little if more than half of the anonymous resident memory is beyond it, and
// more than 16 MB. Pages of files do not count, as the program's code. Where no
// look saw which pages are a file's, all of them count.
//
// Pure; thread-safe. Allocates nothing.

#ifndef FOOTPRINT_PROFILING_REPORTS_UNACCOUNTED_MEMORY_H_
#define FOOTPRINT_PROFILING_REPORTS_UNACCOUNTED_MEMORY_H_

#include <cstdint>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Returns the peak of one process, without memprof's agent; 0: not known.
int64_t PeakResidentBytes(const MeasuredImage& image);

// Returns the part of that peak whose pages are no file's; of each that several
// processes have, only this one's share.
int64_t PeakAnonymousBytes(const MeasuredImage& image);

// Returns the part of those that lies beyond the highest sum of live heap
// bytes.
int64_t BytesBeyondHeap(const MeasuredImage& image);

bool HeapTellsTooLittle(const MeasuredImage& image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_UNACCOUNTED_MEMORY_H_
