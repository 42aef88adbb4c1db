#include "footprint/memo/pinned_pointer.h"

#include <cstdint>

namespace footprint::memo_internal {
namespace {

static_assert(kSharedRow < 64, "one bit a row");

// A set bit marks a row in use.
std::atomic<uint64_t> used_rows{0};

int TakeRow() {
  uint64_t used = used_rows.load();
  while (true) {
    int row = 0;
    while (row < kSharedRow && (used >> row & 1) != 0) ++row;
    if (row == kSharedRow) return kSharedRow;
    if (used_rows.compare_exchange_weak(used, used | uint64_t{1} << row)) {
      return row;
    }
  }
}

// Gives the row back when the thread ends. Destructors that run later on this
// thread, and still pin, count in the shared row.
struct RowOwner {
  int row = TakeRow();

  ~RowOwner() {
    thread_row = kSharedRow;
    thread_row_offset_bytes = kNoFastRow;
    if (row != kSharedRow) used_rows.fetch_and(~(uint64_t{1} << row));
  }
};

}  // namespace

void AssignThreadRow() {
  static thread_local RowOwner owner;
  thread_row = owner.row;
  if (owner.row == kSharedRow || ChooseFence() != FenceKind::kMembarrier)
    return;
  thread_row_offset_bytes = RowOffsetBytes(owner.row);
}

}  // namespace footprint::memo_internal
