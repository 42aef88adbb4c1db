// Finds a process's resident memory beyond its heap's figure: memory that does
// not come from malloc, as in Java, Go and node, or with an allocator of the
// program's own.
//
//   if (HeapTellsTooLittle(image)) Judge(PeakResidentBytes(image));
//
// The gates have the same rule (profiling/schema/whole_process.h): the heap
// explains too little if more than half of the anonymous resident memory, and
// more than 16 MB, is beyond it. Pages of files, such as the program's code, do
// not count. If no sample shows which pages belong to files, all pages count.
//
// Pure; thread-safe. Allocates nothing.

#ifndef FOOTPRINT_PROFILING_REPORTS_UNACCOUNTED_MEMORY_H_
#define FOOTPRINT_PROFILING_REPORTS_UNACCOUNTED_MEMORY_H_

#include <cstdint>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Returns the resident peak of one process without memprof's agent; 0 if
// unknown.
int64_t PeakResidentBytes(const MeasuredImage& image);

// Returns the part of that peak whose pages belong to no file. A page that
// several processes share counts with this process's share. Growth that no
// sample has seen counts as well.
int64_t PeakAnonymousBytes(const MeasuredImage& image);

// Returns the part of the anonymous pages beyond the peak of live heap bytes.
int64_t BytesBeyondHeap(const MeasuredImage& image);

// Returns whether the heap explains too little of the process's memory, by the
// rule above.
bool HeapTellsTooLittle(const MeasuredImage& image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_UNACCOUNTED_MEMORY_H_
