// Measures the bytes that a piece of code on the calling thread has taken, and
// the most that it needed meanwhile.
//
//   LoadMeter meter;
//   auto value = std::make_unique<Model>(path);
//   LoadedBytes loaded = meter.Stop();
//
// Heap: the growth of jemalloc's own counters of this thread, exact to the
// byte. Mappings: the growth of the process's accessible addresses beyond
// jemalloc's own. Blocks that other threads allocate meanwhile are in neither
// counter, so the growth of the whole heap is compared with that of all threads
// that are being metered: where it differs by one byte, the figure is doubtful.
// So is any growth of mappings while the process has other threads, since
// nobody knows whose it is, and one that may be a stack which an ended thread
// left. Without jemalloc nothing is known.
//
// Limits: bytes that other threads map and unmap in equal amounts are not seen.
// Blocks that a worker thread takes out of its own cache of freed ones, up to
// some hundred KiB, look as if nothing was allocated. Where more addresses were
// mapped than the machine has memory, only pages that were touched count, and
// the figure is doubtful. The peak is that of this
// thread's heap, within 64 KiB, and of mappings that stay.
//
// Thread-safety: construct and stop on one thread, the last one first. Memory:
// some words a thread. Time: some 100 microseconds for each reading, more where
// the process has thousands of mappings; the loading thread's cache of free
// blocks is given back.

#ifndef FOOTPRINT_MEMO_LOAD_METER_H_
#define FOOTPRINT_MEMO_LOAD_METER_H_

#include <cstdint>

namespace footprint {

// Whether the growth of the whole process agrees with the figure of one thread.
enum class CrossCheck {
  // No jemalloc.
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
  // Heap and mappings that are left, never negative. In doubt: what this thread
  // took and, besides, what nobody else is known to have taken.
  int64_t bytes = 0;
  // So many of the bytes are mappings.
  int64_t mapped_bytes = 0;
  // Most at one time, what belongs to others included; at least `bytes`.
  int64_t peak_bytes = 0;
  // All that was allocated or mapped, freed or not.
  int64_t taken_bytes = 0;
  // Growth of the resident set; only where CountResidentBytes asked for it.
  int64_t resident_bytes = 0;
  CrossCheck cross_check = CrossCheck::kNotPossible;
};

// All counters at one moment; differences of two are what happened between.
struct MemoryReading {
  int64_t thread_bytes = 0;            // live on the heap, of this thread
  int64_t thread_allocated_bytes = 0;  // freed or not
  int64_t heap_bytes = 0;              // live, of the process
  int64_t metered_bytes = 0;           // live, of all threads while metered
  // Accessible, of the process, without its allocator.
  int64_t mapped_bytes = 0;
  int64_t resident_bytes = 0;
  int64_t inaccessible_count = 0;  // mappings, such as one before each stack
  // Another thread was there at either moment of a difference.
  bool has_other_threads = false;

  MemoryReading& operator+=(const MemoryReading& other);
  friend MemoryReading operator-(MemoryReading left,
                                 const MemoryReading& right);
};
// Zeros without jemalloc.
MemoryReading ReadMemory();

// Returns whether inaccessible pages tell a thread's stack from other mappings.
// Not since glibc 2.42, whose guard pages look like any others: then what was
// mapped while there were threads, or after, is in doubt, and may hold stacks.
bool StacksAreTold();

// Says that what its thread allocates and frees while it lives is known to
// whoever compares, and puts no other thread's figure in doubt.
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
  // A meter that was not stopped was in the way of nobody but itself.
  ~LoadMeter();

  // `excluded` is what happened in the stretch that belongs to others; it is
  // taken off all figures but the peak. Call once.
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
  // Pages that were touched.
  kTouched,
  // At least what was taken from the heap counts, since pages of it that nobody
  // has touched yet will be. The pages of mapped files count that were touched.
  kTouchedOrOnHeap,
};
// Gives readings resident bytes, too, from now on, each after free memory was
// given back to the system, which takes up to 90 ms for 256 MiB.
void CountResidentBytes(ResidentCount count);
bool ResidentBytesAreCounted();

}  // namespace memo_internal
}  // namespace footprint

#endif  // FOOTPRINT_MEMO_LOAD_METER_H_
