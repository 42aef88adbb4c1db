// Measures the bytes that code on the calling thread has taken, and the most
// that it needed at one time.
//
//   LoadMeter meter;
//   auto value = std::make_unique<Model>(path);
//   LoadedBytes loaded = meter.Stop();
//
// Heap: the growth of jemalloc's own counters of this thread, exact to the
// byte. Mappings: the growth of the process's accessible addresses beyond
// jemalloc's own. Neither counter has the blocks that other threads allocate at
// the same time, so the growth of the whole heap is compared with the growth of
// all metered threads. If they differ by one byte, the figure is in doubt. The
// growth of mappings is in doubt if the process has other threads, since they
// may have made the mappings, if another thread was metered meanwhile, or if it
// may be the stack of a thread that has ended. Without jemalloc nothing is
// measured.
//
// Limits: the meter does not see bytes that other threads map and unmap in
// equal amounts. If a worker thread takes blocks from its own cache of freed
// blocks, up to some hundred KiB, it seems to have allocated nothing. If more
// addresses were mapped than the machine has memory, only touched pages count,
// and the figure is in doubt. The peak is that of this thread's heap, within 64
// KiB, plus the mappings that remain.
//
// Thread-safety: construct and stop a meter on one thread, and stop the last
// one first. Memory: some words per thread. Time: each reading takes some 100
// microseconds, and more if the process has thousands of mappings. It flushes
// the calling thread's cache of free blocks.

#ifndef FOOTPRINT_MEMO_LOAD_METER_H_
#define FOOTPRINT_MEMO_LOAD_METER_H_

#include <cstdint>

namespace footprint {

// Says whether the growth of the whole process agrees with one thread's figure.
enum class CrossCheck {
  // The allocator is not jemalloc, or nothing was loaded yet.
  kNotPossible,
  kAgrees,
  // Other threads have allocated or freed: the factory uses worker threads, or
  // the program did something else at the same time.
  kDiffers,
};

namespace memo_internal {

struct LoadedBytes {
  bool is_measured = false;
  // Why `bytes` may be wrong; null if they are right.
  const char* doubt = nullptr;
  // Heap bytes and mappings that remain, never negative. If in doubt: this
  // thread's bytes plus all bytes that no metered thread is known to have
  // taken.
  int64_t bytes = 0;
  // The mapped part of `bytes`.
  int64_t mapped_bytes = 0;
  // Peak bytes of this thread's heap, including those that belong to other
  // memos, plus `mapped_bytes`; at least `bytes`.
  int64_t peak_bytes = 0;
  // Heap bytes that this thread allocated, whether or not they were freed, plus
  // `mapped_bytes`.
  int64_t taken_bytes = 0;
  // Growth of the resident set; 0 unless CountResidentBytes asked for it. With
  // kTouchedOrOnHeap it is at least the heap's part of `bytes`.
  int64_t resident_bytes = 0;
  CrossCheck cross_check = CrossCheck::kNotPossible;
};

// All counters at one moment. The difference of two readings is what happened
// between them.
struct MemoryReading {
  int64_t thread_bytes = 0;            // live heap bytes of this thread
  int64_t thread_allocated_bytes = 0;  // freed or not
  int64_t heap_bytes = 0;              // live heap bytes of the process
  // Growth of the live heap bytes of all threads, each while it was metered.
  int64_t metered_bytes = 0;
  // Accessible addresses of the process, without those of its allocator.
  int64_t mapped_bytes = 0;
  int64_t resident_bytes = 0;
  int64_t inaccessible_count = 0;  // mappings, such as one before each stack
  // True if another thread existed, or if that is unknown; in a difference, at
  // either of its moments.
  bool has_other_threads = false;

  MemoryReading& operator+=(const MemoryReading& other);
  friend MemoryReading operator-(MemoryReading left,
                                 const MemoryReading& right);
};
// Reads all counters; all are 0 or false without jemalloc.
MemoryReading ReadMemory();

// Returns whether inaccessible pages distinguish a thread's stack from other
// mappings. Since glibc 2.42 they do not, as guard pages look like any others.
// Then mappings that were made while the process had other threads, or after it
// had some, are in doubt, since they may be stacks.
bool StacksAreTold();

// While it lives, the heap bytes of its thread count as metered, so that they
// put no other thread's figure in doubt.
class MeteredStretch {
 public:
  MeteredStretch();
  MeteredStretch(const MeteredStretch&) = delete;
  MeteredStretch& operator=(const MeteredStretch&) = delete;
  ~MeteredStretch();
};

class LoadMeter {
 public:
  LoadMeter();
  LoadMeter(const LoadMeter&) = delete;
  LoadMeter& operator=(const LoadMeter&) = delete;
  // Ends a meter that was not stopped. It affects no other meter.
  ~LoadMeter();

  // Returns what was taken since construction. `excluded` is the part of the
  // growth that belongs to others; it is subtracted from all figures but the
  // peak of the heap. Call this once.
  LoadedBytes Stop(const MemoryReading& excluded = {});

 private:
  void NotePeak();

  MeteredStretch metered_;
  LoadMeter* const outer_;
  MemoryReading begin_;
  int64_t peak_thread_bytes_ = 0;
  uint64_t stretch_count_ = 0;
  bool began_alone_ = false;
};

enum class ResidentCount {
  kNone,
  // Pages that were touched count.
  kTouched,
  // Heap bytes that remain count even if their pages are not touched yet, since
  // they will be. Of mapped files, only the touched pages count.
  kTouchedOrOnHeap,
};
// Makes later readings include resident bytes. Each reading first returns free
// memory to the system, which takes up to 90 ms for 256 MiB.
void CountResidentBytes(ResidentCount count);
bool ResidentBytesAreCounted();

}  // namespace memo_internal
}  // namespace footprint

#endif  // FOOTPRINT_MEMO_LOAD_METER_H_
