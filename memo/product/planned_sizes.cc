#include "footprint/memo/product/planned_sizes.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

namespace footprint::memo_internal {
namespace {

// Returns the bytes of a regular file, or 0 if there is none.
int64_t FileBytes(const std::string& path) {
  struct stat file;
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return 0;
  return file.st_size;
}

// Returns what is known without a measurement or a declaration.
LoadedSize Guess(const MemoStatistics& statistics) {
  LoadedSize size;
  size.source = SizeSource::kGuessed;
  if (statistics.bytes_source == BytesSource::kDoubtful) {
    size.bytes = statistics.peak_bytes;
  }
  if (size.bytes == 0) {
    size.bytes =
        FileBytes(statistics.source_path.empty() ? statistics.name
                                                 : statistics.source_path);
  }
  if (size.bytes == 0) size.source = SizeSource::kUnknown;
  return size;
}

// Returns the best size that this process knows.
LoadedSize ComputeLoadedSize(const MemoStatistics& statistics) {
  LoadedSize size;
  if (statistics.bytes_source == BytesSource::kMeasured) {
    size.bytes = statistics.peak_bytes;
    size.source = SizeSource::kMeasured;
  } else if (statistics.declared_bytes > 0) {
    size.bytes = statistics.declared_bytes;
  } else {
    size = Guess(statistics);
  }
  size.resident_bytes = statistics.resident_bytes;
  size.load_peak_bytes =
      std::max(statistics.load_peak_bytes, statistics.declared_load_peak_bytes);
  return size;
}

}  // namespace

PlannedValue DescribeValue(const MemoStatistics& statistics,
                           const std::map<std::string, LoadedSize>& known_sizes,
                           bool counts_resident) {
  const auto known = known_sizes.find(statistics.name);
  LoadedSize size = ComputeLoadedSize(statistics);
  // An earlier run's size comes first, unless it is in doubt.
  if (known != known_sizes.end() &&
      known->second.source != SizeSource::kUnknown) {
    const bool is_better_known = size.source == SizeSource::kMeasured ||
                                 size.source == SizeSource::kDeclared;
    if (known->second.source != SizeSource::kGuessed || !is_better_known) {
      size = known->second;
    }
    size.held_bytes = known->second.held_bytes;
    size.held_resident_bytes = known->second.held_resident_bytes;
  }
  PlannedValue value;
  value.name = statistics.name;
  value.source = size.source;
  value.bytes = size.bytes;
  if (counts_resident && size.resident_bytes > 0) {
    value.bytes = size.resident_bytes;
  } else if (counts_resident && statistics.declared_bytes > 0) {
    // An allocator may round up, and no code touches the bytes that it adds.
    value.bytes = std::min(size.bytes, statistics.declared_bytes);
  }
  // The peak of a load includes the bytes of other memos that it loaded.
  const int64_t passing_bytes =
      ComputePassingBytes(size.load_peak_bytes, size.bytes + size.held_bytes);
  value.bytes += counts_resident && size.held_resident_bytes > 0
                     ? size.held_resident_bytes
                     : size.held_bytes;
  if (passing_bytes > 0) value.load_peak_bytes = value.bytes + passing_bytes;
  return value;
}

int64_t ComputeLoadNanoseconds(
    const MemoStatistics& statistics,
    const std::map<std::string, LoadedSize>& known_sizes) {
  const auto known = known_sizes.find(statistics.name);
  if (known != known_sizes.end() && known->second.load_nanoseconds > 0) {
    return known->second.load_nanoseconds;
  }
  const uint64_t attempts =
      statistics.load_count + statistics.failed_load_count;
  return statistics.load_count == 0
             ? 0
             : statistics.load_nanoseconds / static_cast<int64_t>(attempts);
}

int64_t ComputeLoadedBytes(const MemoStatistics& statistics,
                           bool counts_resident) {
  return counts_resident && statistics.resident_bytes > 0
             ? statistics.resident_bytes
             : statistics.live_bytes;
}

int64_t ComputePassingBytes(int64_t load_peak_bytes, int64_t bytes) {
  constexpr int64_t kMeterBytes = 128 << 10;
  const int64_t passing_bytes = load_peak_bytes - bytes;
  return passing_bytes > std::max(bytes / 100, kMeterBytes) ? passing_bytes : 0;
}

bool IsFarFrom(int64_t bytes, int64_t expected_bytes) {
  return std::abs(bytes - expected_bytes) > expected_bytes / 100;
}

}  // namespace footprint::memo_internal
