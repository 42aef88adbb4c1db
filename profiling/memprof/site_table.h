// Which lines of code had the bytes of the peak.
//
//   Symbolizer symbolizer;
//   std::vector<SiteRow> rows = SiteRows(profile, &symbolizer);
//   // rows[0]: the function that had most at the peak
//
// A block is put down to the innermost call that is neither the allocator's,
// nor C++'s library's, nor the agent's: the code that wanted it. Stacks that
// lead to the same place in the code are one row; rows add up to all sites.
//
// Thread-compatible. Memory: a row a place. Time: the symbolizer's.

#ifndef FOOTPRINT_PROFILING_MEMPROF_SITE_TABLE_H_
#define FOOTPRINT_PROFILING_MEMPROF_SITE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/symbols/symbolizer.h"

namespace footprint {

struct SiteRow {
  // "Fit" or, without a symbol, "libfoo.so+0x1234".
  std::string function;
  std::string file;  // empty: not known
  int line = 0;
  std::string module;
  SiteProfile::Figure at_peak;
  SiteProfile::Figure at_end;
  SiteProfile::Figure allocated;
  int64_t temporary_count = 0;
};

// Most at the peak first.
std::vector<SiteRow> SiteRows(const SiteProfile& profile,
                              Symbolizer* symbolizer);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_SITE_TABLE_H_
