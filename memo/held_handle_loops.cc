// Loops for held_handle_loops_test.sh, which compares their instructions:
// reading a memo's value through a handle's pointer costs as much as reading
// through a plain pointer.

#include "absl/status/statusor.h"
#include "footprint/memo/keep_read.h"
#include "footprint/memo/memo.h"

using footprint::memo_internal::KeepRead;

extern "C" {

__attribute__((noinline)) void ReadByPointer(const int* pointer, long count) {
  for (long i = 0; i < count; ++i) KeepRead(*pointer);
}

__attribute__((noinline)) void ReadByHandle(const footprint::Memo<int>* memo,
                                            long count) {
  const absl::StatusOr<footprint::Handle<int>> handle = memo->Get();
  if (!handle.ok()) return;
  const int& value = **handle;
  for (long i = 0; i < count; ++i) KeepRead(value);
}

// A loop that the comparison must distinguish from the others.
__attribute__((noinline)) void GetEachTime(const footprint::Memo<int>* memo,
                                           long count) {
  for (long i = 0; i < count; ++i) {
    const absl::StatusOr<footprint::Handle<int>> handle = memo->Get();
    if (!handle.ok()) return;
    KeepRead(**handle);
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
