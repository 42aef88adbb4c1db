// KeepRead reads a value so that the compiler does not remove the read from the
// loops of get_benchmark.cc.
//
//   memo_internal::KeepRead(*static_cast<int*>(cache->Value(handle)));

#ifndef FOOTPRINT_MEMO_KEEP_READ_H_
#define FOOTPRINT_MEMO_KEEP_READ_H_

namespace footprint::memo_internal {

// Loads the value into a register, and makes the compiler forget what it knows
// about memory. benchmark::DoNotOptimize(value) leaves the value in memory, so
// a loop with it alone reads nothing.
inline void KeepRead(const int& value) {
  int read = value;
  asm volatile("" : "+r"(read) : : "memory");
}

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_KEEP_READ_H_
