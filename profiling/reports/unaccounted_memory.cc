#include "footprint/profiling/reports/unaccounted_memory.h"

#include <algorithm>

#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/schema/whole_process.h"

namespace footprint {

int64_t PeakResidentBytes(const MeasuredImage& image) {
  const ResidentParts& parts = image.resident_at_peak();
  const int64_t most_bytes =
      std::max(image.peak_resident_bytes(), parts.resident_bytes());
  return std::max<int64_t>(
      0, SaturatedDifference(most_bytes, parts.agent_bytes()));
}

int64_t PeakAnonymousBytes(const MeasuredImage& image) {
  const ResidentParts& parts = image.resident_at_peak();
  // Growth that no sample has seen counts as the process's own.
  const int64_t unseen_bytes = std::max<int64_t>(
      0,
      SaturatedDifference(image.peak_resident_bytes(), parts.resident_bytes()));
  return std::max<int64_t>(0,
                           SaturatedSum(parts.anonymous_bytes(), unseen_bytes));
}

int64_t BytesBeyondHeap(const MeasuredImage& image) {
  return std::max<int64_t>(0, SaturatedDifference(PeakAnonymousBytes(image),
                                                  image.peak_live_bytes()));
}

bool HeapTellsTooLittle(const MeasuredImage& image) {
  const int64_t beyond_bytes = BytesBeyondHeap(image);
  return beyond_bytes > kMostUnaccountedBytes &&
         beyond_bytes > PeakAnonymousBytes(image) / 2;
}

}  // namespace footprint
