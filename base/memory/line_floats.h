// Floats on the heap that begin at a cache line.
//
//   footprint::LineFloats row = footprint::AllocateLineFloats(1000);
//   row[999] = 1;
//
// The pointer alone owns the memory; thread-compatible. The values are not
// initialised. Memory: whole lines, 4,032 bytes in the example. If memory runs
// out, operator new throws std::bad_alloc.

#ifndef FOOTPRINT_BASE_MEMORY_LINE_FLOATS_H_
#define FOOTPRINT_BASE_MEMORY_LINE_FLOATS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "footprint/base/memory/alignment.h"

namespace footprint {

struct DeleteLines {
  void operator()(float* floats) const {
    ::operator delete(floats, static_cast<size_t>(bytes),
                      std::align_val_t(kLineBytes));
  }
  int64_t bytes = 0;  // of all lines
};
using LineFloats = std::unique_ptr<float[], DeleteLines>;

// Returns the memory that so many floats take.
inline int64_t LineFloatBytes(int64_t count) {
  return AlignUp(count * static_cast<int64_t>(sizeof(float)), kLineBytes);
}

// Returns room for `count` floats.
inline LineFloats AllocateLineFloats(int64_t count) {
  const int64_t bytes = LineFloatBytes(count);
  return LineFloats(
      static_cast<float*>(::operator new(static_cast<size_t>(bytes),
                                         std::align_val_t(kLineBytes))),
      DeleteLines{bytes});
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MEMORY_LINE_FLOATS_H_
