// Reads the resident set and the address space of this process, as the kernel
// reports them.
//
//   footprint::ResidentBytes resident = footprint::ReadResidentBytes();
//
// Takes nothing from the heap and needs only the C library, so code behind
// malloc may use it. It takes less than 2 KiB of the stack. Thread-safe; the
// figures are plain values of one moment.
// Time: some 10 us.

#ifndef FOOTPRINT_BASE_MEMORY_RESIDENT_BYTES_H_
#define FOOTPRINT_BASE_MEMORY_RESIDENT_BYTES_H_

#include <cstdint>

namespace footprint {

// The kernel's figures, which vary from run to run. All are zero if /proc
// cannot be read.
struct ResidentBytes {
  int64_t peak_bytes = 0;       // VmHWM: high-water mark since the start
  int64_t now_bytes = 0;        // VmRSS
  int64_t anonymous_bytes = 0;  // RssAnon: heap, stacks, written data
  int64_t file_bytes = 0;       // RssFile: code and mapped files
  int64_t mapped_bytes = 0;     // VmSize: addresses, whether resident or not
};
ResidentBytes ReadResidentBytes();

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_RESIDENT_BYTES_H_
