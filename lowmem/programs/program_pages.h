// Releases the pages of the program's own code and constants.
//
//   const auto run = encoder->Start(plan);
//   footprint::ReleaseProgramPages();
//   run->Forward(ids, {});
//
// Code that opens files, reads flags and writes errors runs once, but stays in
// memory with everything near it. With libraries that is several MiB, while an
// arena may have one MiB. Pages that are needed again return from the page
// cache when they are touched. Only pages that the file backs and that nothing
// may write to are released: no data, no relocated pointers.
//
// The mappings stay in place, so pointers into them stay valid. May be called
// at any time from any thread. Memory: none. Time: a system call for each
// segment, and later faults: below a millisecond.

#ifndef FOOTPRINT_LOWMEM_PROGRAMS_PROGRAM_PAGES_H_
#define FOOTPRINT_LOWMEM_PROGRAMS_PROGRAM_PAGES_H_

#include <cstdint>

namespace footprint {

// Returns the bytes of address space whose pages were released.
int64_t ReleaseProgramPages();

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_PROGRAMS_PROGRAM_PAGES_H_
