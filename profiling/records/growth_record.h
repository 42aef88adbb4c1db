// The history of the live bytes of call sites, which an agent keeps in a file
// beside the one of the sites. For each site and each window of the process's
// life it has the bytes that were live when the window began, and the floor:
// the fewest that were live in it. Only lasting growth raises the floor.
//
//   GrowthRecord* const record = &file->sites[site];
//   record->BringTo(file->window.load(), file->halvings.load(), live_bytes);
//
// Windows count only time in which the process allocates, so that a process
// that waits does not seem to stop growing. When all 24 windows are used, each
// pair becomes one and later windows are twice as long, so from then on there
// are always 12 to 24 of equal length. A site is brought up to date at its next
// change; until then its live bytes stayed the same.
//
// Plain memory without pointers or a destructor. It lives as long as the writer
// has the file mapped, and the file outlives the process. One process writes
// it, whose threads take turns by the lock of its call sites; others read it at
// any time.

#ifndef FOOTPRINT_PROFILING_RECORDS_GROWTH_RECORD_H_
#define FOOTPRINT_PROFILING_RECORDS_GROWTH_RECORD_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "footprint/profiling/records/site_record.h"

namespace footprint::profiling_internal {

inline constexpr uint32_t kMaxGrowthWindows = 24;

struct GrowthRecord {
  // Zero before the site's first bytes; then no other member is valid.
  uint32_t is_used;
  // The window in which the site had its first bytes.
  uint32_t first_window;
  // The window of the last change, and how often the length of the windows had
  // been doubled by then.
  uint32_t window;
  uint32_t halvings;
  float floor_bytes[kMaxGrowthWindows];
  float begin_bytes[kMaxGrowthWindows];

  // Advances to the process's current window. `live_bytes` were live in the
  // site since its last change.
  void BringTo(uint32_t current_window, uint32_t current_halvings,
               float live_bytes) {
    while (halvings < current_halvings) {
      Fill(kMaxGrowthWindows - 1, live_bytes);
      for (uint32_t i = 0; i < kMaxGrowthWindows / 2; ++i) {
        floor_bytes[i] = std::min(floor_bytes[2 * i], floor_bytes[2 * i + 1]);
        begin_bytes[i] = begin_bytes[2 * i];
      }
      window = kMaxGrowthWindows / 2 - 1;
      first_window /= 2;
      ++halvings;
    }
    Fill(current_window, live_bytes);
  }

 private:
  void Fill(uint32_t last, float live_bytes) {
    while (window < last) {
      ++window;
      floor_bytes[window] = live_bytes;
      begin_bytes[window] = live_bytes;
    }
  }
};

// The magic number of this layout. A reader refuses any other.
inline constexpr uint64_t kGrowthMagic = 0x32306874'776f7267;
// The part of a record's file name that says what it holds.
inline constexpr char kGrowthContent[] = "growth";

struct GrowthFile {
  uint64_t magic;
  std::atomic<uint32_t> window;
  std::atomic<uint32_t> halvings;
  // The time at which each window began, by CLOCK_MONOTONIC.
  int64_t begin_time_ns[kMaxGrowthWindows];
  alignas(4096) GrowthRecord sites[kMaxSites];
};

}  // namespace footprint::profiling_internal

// Tested by //profiling/sites:site_growth_test.

#endif  // FOOTPRINT_PROFILING_RECORDS_GROWTH_RECORD_H_
