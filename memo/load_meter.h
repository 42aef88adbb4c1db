// How many bytes a stretch of code on the calling thread has left on the heap.
//
//   LoadMeter meter;
//   auto value = std::make_unique<Model>(path);
//   LoadedBytes loaded = meter.Stop();
//
// The figure is the growth of jemalloc's own counters of this thread, exact to
// the byte. What other threads allocate meanwhile is not in it, so it is
// compared with the growth of the whole process. Without jemalloc nothing is
// known.
//
// Thread-safety: construct and stop on one thread. Memory: none. Time: some
// nanoseconds, and up to a millisecond for the comparison.

#ifndef FOOTPRINT_MEMO_LOAD_METER_H_
#define FOOTPRINT_MEMO_LOAD_METER_H_

#include <cstdint>

namespace footprint {

// What the growth of the whole process says about the figure of one thread.
enum class CrossCheck {
  // No jemalloc, or other values were loaded at the same time.
  kNotPossible,
  kAgrees,
  // Other threads have allocated or freed: the factory uses worker threads, or
  // the program did something else at the same time, such as an eviction.
  kDiffers,
};

namespace memo_internal {

struct LoadedBytes {
  bool is_measured = false;
  int64_t bytes = 0;
  CrossCheck cross_check = CrossCheck::kNotPossible;
  // Growth of the process; only where the check was possible.
  int64_t process_bytes = 0;
};

class LoadMeter {
 public:
  LoadMeter();
  LoadMeter(const LoadMeter&) = delete;
  LoadMeter& operator=(const LoadMeter&) = delete;
  // A meter that was not stopped was in the way of nobody but itself.
  ~LoadMeter();

  // `excluded_bytes` is what the stretch left that belongs to others. It is
  // taken off both figures. Call once.
  LoadedBytes Stop(int64_t excluded_bytes = 0);

 private:
  int64_t process_bytes_ = 0;
  int64_t thread_bytes_ = 0;
  uint64_t meter_number_ = 0;
  bool was_alone_ = false;
  bool is_running_ = true;
};

// The calling thread's live bytes; 0 without jemalloc.
int64_t ThreadLiveBytes();

}  // namespace memo_internal
}  // namespace footprint

#endif  // FOOTPRINT_MEMO_LOAD_METER_H_
