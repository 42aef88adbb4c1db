// The bytes and the load cost of a value in a plan, from its known figures.
//
//   std::map<std::string, LoadedSize> known = ...;    // of an earlier run
//   PlannedValue value = DescribeValue(memo.statistics(), known, false);
//
// Thread-safe: no state is kept. Memory: one value.

#ifndef FOOTPRINT_MEMO_PRODUCT_PLANNED_SIZES_H_
#define FOOTPRINT_MEMO_PRODUCT_PLANNED_SIZES_H_

#include <cstdint>
#include <map>
#include <string>

#include "footprint/memo/memo_core.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Describes the value by the first that is known: what an earlier run measured,
// what this process has measured, what is declared, what an earlier run or this
// process has measured in doubt, the size of the file that the value comes
// from. `counts_resident`: resident bytes, where they are known, or else the
// declared ones, if they are fewer. With what the value holds of other memos.
PlannedValue DescribeValue(const MemoStatistics& statistics,
                           const std::map<std::string, LoadedSize>& known_sizes,
                           bool counts_resident);

// Returns how long a load takes, by an earlier run, or else by the loads of
// this process; 0 if nobody knows.
int64_t ComputeLoadNanoseconds(
    const MemoStatistics& statistics,
    const std::map<std::string, LoadedSize>& known_sizes);

// Bytes of the value that is loaded now; 0 if nothing is known.
int64_t ComputeLoadedBytes(const MemoStatistics& statistics,
                           bool counts_resident);

// Bytes that a load of a value needs beyond the value. A hundredth of it, and
// the meter's possible error, is taken for nothing.
int64_t ComputePassingBytes(int64_t load_peak_bytes, int64_t bytes);

// Returns whether the bytes differ by more than a hundredth: an allocator
// rounds what is asked for.
bool IsFarFrom(int64_t bytes, int64_t expected_bytes);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_PLANNED_SIZES_H_
