// Gives back the pages of the program's own code and constants.
//
//   const auto run = encoder->Start(plan);
//   footprint::ReleaseProgramPages();
//   run->Forward(ids, {});
//
// Code that opens files, reads flags and writes errors is used once, and stays
// in memory with everything near it: several MiB, libraries included, beside an
// arena of one. Pages that are needed again come back from the page cache when
// they are touched. Only pages that the file backs and nothing may write to are
// given back: no data, no relocated pointers.
//
// The mappings stay the program's: pointers into them are good as long as
// before. May be called at any time from any thread. Memory: none. Time: a
// system call for each segment, and later faults: below a millisecond.

#ifndef FOOTPRINT_LOWMEM_PROGRAMS_PROGRAM_PAGES_H_
#define FOOTPRINT_LOWMEM_PROGRAMS_PROGRAM_PAGES_H_

#include <cstdint>

namespace footprint {

// Returns the bytes of address space whose pages were given back.
int64_t ReleaseProgramPages();

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_PROGRAMS_PROGRAM_PAGES_H_
