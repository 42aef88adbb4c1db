// The record of where a process's live bytes come from, which its agent keeps
// in a mapped file. It holds a tree of calls and, for each stack of calls,
// thread and stage, the bytes allocated there. For each stack of calls and
// stage it also holds the bytes that the program itself mapped there (mmap).
//
//   const uint32_t count = file->site_count.load();
//   for (uint32_t i = 0; i < count; ++i) Use(file->sites[i].live_bytes);
//
// The file is sparse. Each array grows in a range of its own, and the agent
// reserves space on the disk before an array grows into it. One process writes
// the file, and others read it at any time. An entry is valid as soon as its
// array's count includes it.
//
// Plain memory without pointers or a destructor. It lives as long as the writer
// has the file mapped, and the file outlives the process.

#ifndef FOOTPRINT_PROFILING_RECORDS_SITE_RECORD_H_
#define FOOTPRINT_PROFILING_RECORDS_SITE_RECORD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "footprint/profiling/records/call_tree_record.h"

namespace footprint::profiling_internal {

// Allocations by one stack of calls, in one thread and one stage. With
// sampling, each figure is an estimate, and `..._variance` is the variance of
// its bytes.
struct SiteRecord {
  uint32_t node;
  uint32_t thread;
  uint32_t stage;
  uint32_t padding;
  // The number of the peak that the figures "at peak" belong to. If it is not
  // the last peak's, the site has not changed since the peak, and its live
  // figures are those at the peak.
  uint64_t peak_number;
  int64_t live_bytes;
  int64_t live_count;
  double live_variance;
  int64_t at_peak_bytes;
  int64_t at_peak_count;
  double at_peak_variance;
  int64_t allocated_bytes;
  int64_t allocation_count;
  double allocated_variance;
  // Blocks that were freed before the thread's next allocation.
  int64_t temporary_count;
  // How many allocations were sampled.
  int64_t sample_count;
  // The number of the recent peak (published_heap.h) that the next figure
  // belongs to. If it is not the last one, the site has not changed since, and
  // its live bytes are those at the recent peak.
  uint64_t recent_peak_number;
  int64_t at_recent_peak_bytes;
};

// Memory that the program itself mapped by one stack of calls in one stage.
// Every mapping is recorded, so these figures are exact.
struct MappingSiteRecord {
  uint32_t node;
  uint32_t stage;
  // The number of the peak of mapped bytes that the last figure belongs to. If
  // it is not the last peak's, the site has not changed since that peak.
  uint64_t peak_number;
  int64_t mapped_bytes;
  int64_t at_peak_bytes;
};

struct TimePoint {
  int64_t time_ns;
  int64_t live_bytes;
  uint32_t stage;
  uint32_t padding;
};

inline constexpr uint32_t kMaxTimePoints = 4096;
inline constexpr uint32_t kMaxSites = uint32_t{1} << 20;
inline constexpr uint32_t kMaxMappingSites = uint32_t{1} << 16;
// The magic number of this layout. A reader refuses any other.
inline constexpr uint64_t kSiteMagic = 0x34307365'74697366;

struct SiteFile {
  uint64_t magic;
  // Mean bytes between two samples; 0 means every allocation.
  int64_t sampling_interval_bytes;
  // The last peak's number, as the sites count them, and its bytes, as they add
  // up over the sites.
  std::atomic<uint64_t> peak_number;
  std::atomic<int64_t> peak_live_bytes;
  std::atomic<uint32_t> time_point_count;
  std::atomic<uint32_t> site_count;
  // Not zero if the array of sites or the disk was full, so some sites are
  // missing.
  std::atomic<uint32_t> is_full;
  // The least number of nanoseconds between two time points.
  std::atomic<int64_t> time_resolution_ns;
  // The same two figures for the recent peak.
  std::atomic<uint64_t> recent_peak_number;
  std::atomic<int64_t> recent_peak_live_bytes;
  std::atomic<uint32_t> mapping_site_count;
  // The number of the last peak of mapped bytes.
  std::atomic<uint64_t> mapped_peak_number;
  alignas(4096) TimePoint time_points[kMaxTimePoints];
  CallTreeRecord tree;
  alignas(4096) SiteRecord sites[kMaxSites];
  alignas(4096) MappingSiteRecord mapping_sites[kMaxMappingSites];
};

}  // namespace footprint::profiling_internal

// Tested by site_profile_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_SITE_RECORD_H_
