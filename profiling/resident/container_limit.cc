#include "footprint/profiling/resident/container_limit.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kMarginDivisor = 20;
// For the kernel's own memory of a small program, such as its page cache's.
constexpr int64_t kLeastMarginBytes = kMebibyte;

// A process has this many live bytes from this time on.
struct Change {
  int64_t time_ns;
  size_t process;
  int64_t bytes;
};

std::vector<Change> Changes(const std::vector<HeapOverTime>& heaps) {
  std::vector<Change> changes;
  for (size_t i = 0; i < heaps.size(); ++i) {
    for (const auto& [time_ns, bytes] : heaps[i].live_bytes_by_time_ns) {
      changes.push_back(
          {time_ns, i,
           std::clamp<int64_t>(bytes, 0,
                               std::max<int64_t>(0, heaps[i].most_bytes))});
    }
    changes.push_back({heaps[i].end_ns, i, 0});
  }
  // At one time, processes that end come before others grow.
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) {
                     return std::make_tuple(a.time_ns, a.bytes != 0) <
                            std::make_tuple(b.time_ns, b.bytes != 0);
                   });
  return changes;
}

// Returns the limit with `file_bytes` of mapped files in memory.
ContainerLimit AddParts(const SharedOnce& seen, int64_t file_bytes,
                        int64_t unseen_bytes, int64_t peak_heap_sum_bytes) {
  ContainerLimit limit;
  limit.resident_bytes =
      file_bytes +
      std::max(seen.anonymous_bytes + unseen_bytes, peak_heap_sum_bytes) +
      seen.swapped_bytes;
  limit.memory_file_bytes = seen.memory_file_bytes;
  limit.kernel_bytes = seen.page_table_bytes + seen.kernel_stack_bytes;
  const int64_t needed_bytes =
      limit.resident_bytes + limit.memory_file_bytes + limit.kernel_bytes;
  limit.margin_bytes =
      std::max(kLeastMarginBytes, needed_bytes / kMarginDivisor);
  limit.bytes = AlignUp(needed_bytes + limit.margin_bytes, kMebibyte);
  return limit;
}

}  // namespace

int64_t PeakHeapSumBytes(const std::vector<HeapOverTime>& heaps) {
  std::vector<int64_t> bytes(heaps.size(), 0);
  int64_t sum_bytes = 0;
  int64_t peak_bytes = 0;
  for (const Change& change : Changes(heaps)) {
    sum_bytes += change.bytes - bytes[change.process];
    bytes[change.process] = change.bytes;
    peak_bytes = std::max(peak_bytes, sum_bytes);
  }
  return peak_bytes;
}

ContainerLimit RecommendContainerLimit(const SharedOnce& seen,
                                       const SharedOnce& held,
                                       int64_t peak_resident_bytes,
                                       int64_t peak_heap_sum_bytes) {
  if (seen.resident_sum_bytes == 0) return ContainerLimit();
  // No sample includes what one process has beyond all that was seen, so it
  // counts as the process's own. At another time it may have mapped the files
  // in memory.
  const int64_t unseen_bytes =
      std::max<int64_t>(0, peak_resident_bytes - seen.resident_sum_bytes -
                               seen.memory_file_bytes);
  ContainerLimit limit = AddParts(held, held.file_bytes - held.droppable_bytes,
                                  unseen_bytes, peak_heap_sum_bytes);
  const ContainerLimit with_files =
      AddParts(seen, seen.file_bytes, unseen_bytes, peak_heap_sum_bytes);
  const int64_t mapped_file_bytes = with_files.bytes - limit.bytes;
  if (mapped_file_bytes <= with_files.margin_bytes) return with_files;
  limit.mapped_file_bytes = mapped_file_bytes;
  return limit;
}

}  // namespace footprint
