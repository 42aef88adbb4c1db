// Words for the least bytes that a run must read, and for what it read.
//
//   const ReadBound bound = decoder->ComputeReadBound(plan);
//   puts(BoundLine(bound, plan.request.sequences).c_str());
//   ...
//   puts(ReadRatio(decoder->store(), bound, run->passes()).c_str());
//
// A pass gives a token of each of its sequences. Pure functions; thread-safe.
// Memory: the text.

#ifndef FOOTPRINT_LOWMEM_PROGRAMS_READ_CERTIFICATE_H_
#define FOOTPRINT_LOWMEM_PROGRAMS_READ_CERTIFICATE_H_

#include <cstdint>
#include <string>

#include "footprint/lowmem/streaming/read_bound.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

// Returns "least        474 MiB to read for a first pass, ...", and for several
// sequences also the least for each of their tokens.
std::string BoundLine(const ReadBound& bound, int64_t sequences);

// Returns "disk         1.20 GiB a second, so at most ...".
std::string DiskLine(int64_t bytes_a_second, const ReadBound& bound,
                     int64_t sequences);

// Returns "1.008 of the least for 20 passes, which is ...", and nothing for
// kMmap, whose reads are not counted.
std::string ReadRatio(const WeightStore& store, const ReadBound& bound,
                      int64_t passes);

}  // namespace footprint::lowmem_internal

// Tested by lowmem_run_test and lowmem_chat_test.

#endif  // FOOTPRINT_LOWMEM_PROGRAMS_READ_CERTIFICATE_H_
