// A read that stays in a loop of get_benchmark.cc.
//
//   memo_internal::KeepRead(*static_cast<int*>(cache->Value(handle)));

#ifndef FOOTPRINT_MEMO_KEEP_READ_H_
#define FOOTPRINT_MEMO_KEEP_READ_H_

namespace footprint::memo_internal {

// Loads the value into a register, and lets the compiler take no memory for
// known afterwards. benchmark::DoNotOptimize(value) leaves the value where it
// is: a loop of it alone reads nothing.
inline void KeepRead(const int& value) {
  int read = value;
  asm volatile("" : "+r"(read) : : "memory");
}

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_KEEP_READ_H_
