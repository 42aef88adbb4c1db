// The figures of a process's heap that another process can read at any moment,
// even after this process was killed: the counters store them in a mapped file.
//
//   PublishedHeap* published = ...;  // in memory shared with the reader
//   PublishHeap(published);
//   // From now on published->peak_live_bytes is the highest sum so far.
//
// Each member is stored by itself, so a reader may see a new peak with the time
// of the previous one.

#ifndef FOOTPRINT_PROFILING_HEAP_PUBLISHED_HEAP_H_
#define FOOTPRINT_PROFILING_HEAP_PUBLISHED_HEAP_H_

#include <atomic>
#include <cstdint>

namespace footprint::profiling_internal {

struct PublishedHeap {
  // The peak of live usable bytes since the process's phase began
  // (heap_accounting.h), which may be before the publishing did.
  std::atomic<int64_t> peak_live_bytes;
  // The time of the peak by CLOCK_MONOTONIC, with the resolution of
  // coarse_time.h.
  std::atomic<int64_t> peak_time_ns;
  // The number of new peaks so far. By this count, code that copied something
  // at a peak sees that a higher one has come since.
  std::atomic<uint64_t> peak_count;
  // The stage that the program is in, and was in at the peak.
  std::atomic<uint32_t> stage;
  std::atomic<uint32_t> peak_stage;
  // The bytes that the program mapped by itself.
  std::atomic<int64_t> mapped_bytes;
  std::atomic<int64_t> peak_mapped_bytes;
  // The same as peak_live_bytes and peak_count, but for the time since the last
  // call of RestartRecentPeak, and the number of those calls.
  std::atomic<int64_t> recent_peak_live_bytes;
  std::atomic<uint64_t> recent_peak_count;
  std::atomic<uint64_t> recent_peak_restart_count;

  // Stores the mapped bytes and raises their peak to them. Two threads must not
  // call it at once.
  void RaiseMapped(int64_t bytes) {
    mapped_bytes.store(bytes, std::memory_order_relaxed);
    if (bytes > peak_mapped_bytes.load(std::memory_order_relaxed)) {
      peak_mapped_bytes.store(bytes, std::memory_order_relaxed);
    }
  }
};

// Makes the counters keep `published` up to date from now on; null stops that.
// Thread-safe. `published` must live until the process ends, or until
// PublishHeap is called with another one or null.
void PublishHeap(PublishedHeap* published);

// Begins the recent peak anew, with the bytes that are live now. A caller that
// wants to know what was live at the peak of one part of a program uses it
// (call_sites.h). Does nothing if nothing is published. Thread-safe.
void RestartRecentPeak();

}  // namespace footprint::profiling_internal

// Tested by //profiling/sites:call_sites_test.

#endif  // FOOTPRINT_PROFILING_HEAP_PUBLISHED_HEAP_H_
