// Loops for held_handle_loops_test.sh, which compares their instructions: a
// value of a memo, read through what its handle points to, costs what it costs
// through a pointer.

#include "absl/status/statusor.h"
#include "footprint/memo/memo.h"

namespace {

// As benchmark::DoNotOptimize does, so that each round reads memory anew.
inline void Read(const int& value) {
  int read = value;
  asm volatile("" : "+r"(read) : : "memory");
}

}  // namespace

extern "C" {

__attribute__((noinline)) void ReadByPointer(const int* pointer, long count) {
  for (long i = 0; i < count; ++i) Read(*pointer);
}

__attribute__((noinline)) void ReadByHandle(const footprint::Memo<int>* memo,
                                            long count) {
  const absl::StatusOr<footprint::Handle<int>> handle = memo->Get();
  if (!handle.ok()) return;
  const int& value = **handle;
  for (long i = 0; i < count; ++i) Read(value);
}

// What the comparison must tell apart.
__attribute__((noinline)) void GetEachTime(const footprint::Memo<int>* memo,
                                           long count) {
  for (long i = 0; i < count; ++i) {
    const absl::StatusOr<footprint::Handle<int>> handle = memo->Get();
    if (!handle.ok()) return;
    Read(**handle);
  }
}
}

int main() {
  const auto memo = footprint::MakeMemo<int>("value", [] { return 42; });
  if (!memo.ok()) return 1;
  const int value = 42;
  ReadByPointer(&value, 10);
  ReadByHandle(&*memo, 10);
  GetEachTime(&*memo, 10);
  return memo->statistics().load_count == 1 ? 0 : 1;
}
