// Buffers of floats whose bytes a meter counts.
//
//   auto meter = std::make_shared<ByteMeter>();
//   CountedFloats weights(meter, 1000);
//   meter->held_bytes();  // 4032: rounded up to a cache line
//
// A ByteMeter is thread-safe. A CountedFloats is movable, belongs to one thread
// at a time, and begins at a cache line. Memory: the counted bytes, and a few
// words.

#ifndef FOOTPRINT_LOWMEM_MODULES_COUNTED_FLOATS_H_
#define FOOTPRINT_LOWMEM_MODULES_COUNTED_FLOATS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "footprint/base/memory/line_floats.h"
#include "footprint/base/threads/mutex.h"

namespace footprint::lowmem_internal {

class ByteMeter {
 public:
  void Add(int64_t bytes) {
    MutexLock lock(&mutex_);
    held_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, held_bytes_);
  }
  int64_t held_bytes() const {
    MutexLock lock(&mutex_);
    return held_bytes_;
  }
  int64_t peak_bytes() const {
    MutexLock lock(&mutex_);
    return peak_bytes_;
  }

 private:
  mutable Mutex mutex_;
  int64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t peak_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

class CountedFloats {
 public:
  CountedFloats() = default;
  // Allocates `count` floats and counts their bytes, rounded up to a cache
  // line, until the buffer is destroyed.
  CountedFloats(std::shared_ptr<ByteMeter> meter, int64_t count);
  CountedFloats(CountedFloats&& other) noexcept { *this = std::move(other); }
  // Swaps the two, so the old buffer is counted until `other` is destroyed.
  CountedFloats& operator=(CountedFloats&& other) noexcept {
    std::swap(meter_, other.meter_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~CountedFloats();

  float* data() const { return data_.get(); }

 private:
  std::shared_ptr<ByteMeter> meter_;
  LineFloats data_;
};

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_MODULES_COUNTED_FLOATS_H_
