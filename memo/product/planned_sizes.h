// Computes the bytes and the load cost of a planned value from its known
// figures.
//
//   std::map<std::string, LoadedSize> known = ...;    // from an earlier run
//   PlannedValue value = DescribeValue(memo.statistics(), known, false);
//
// Thread-safe, since it keeps no state. Memory: one value.

#ifndef FOOTPRINT_MEMO_PRODUCT_PLANNED_SIZES_H_
#define FOOTPRINT_MEMO_PRODUCT_PLANNED_SIZES_H_

#include <cstdint>
#include <map>
#include <string>

#include "footprint/memo/memo_core.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Describes the value by the first figure that is known: the bytes that an
// earlier run measured, or that were declared for it; that this process
// measured; that are declared now; that an earlier run or this process measured
// in doubt; or the size of the value's file. `counts_resident` selects resident
// bytes if they are known, and otherwise the declared bytes if these are fewer.
// The result includes the bytes of other memos that the value held in an
// earlier run.
PlannedValue DescribeValue(const MemoStatistics& statistics,
                           const std::map<std::string, LoadedSize>& known_sizes,
                           bool counts_resident);

// Returns how long a load takes: the time of an earlier run, or else the mean
// of the loads and failed loads of this process; 0 if neither is known.
int64_t ComputeLoadNanoseconds(
    const MemoStatistics& statistics,
    const std::map<std::string, LoadedSize>& known_sizes);

// Returns the bytes of the value that is loaded now; 0 if nothing is known.
int64_t ComputeLoadedBytes(const MemoStatistics& statistics,
                           bool counts_resident);

// Returns the bytes that a load needs beyond the value itself. Returns 0 if
// they are at most a hundredth of the value, or at most 128 KiB, the meter's
// possible error.
int64_t ComputePassingBytes(int64_t load_peak_bytes, int64_t bytes);

// Returns whether the bytes differ by more than a hundredth. An allocator may
// round up by less.
bool IsFarFrom(int64_t bytes, int64_t expected_bytes);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_PLANNED_SIZES_H_
