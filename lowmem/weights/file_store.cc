#include "footprint/lowmem/weights/file_store.h"

#include <chrono>
#include <cstring>

namespace footprint::lowmem_internal {

void SharedCounters::Add(int64_t bytes_delivered, int64_t bytes_read,
                         int64_t reads, int64_t begin_nanoseconds) {
  WeightCounters more;
  more.bytes_delivered = bytes_delivered;
  more.bytes_read = bytes_read;
  more.reads = reads;
  more.wait_nanoseconds = NowNanoseconds() - begin_nanoseconds;
  Add(more);
}

void SharedCounters::Add(const WeightCounters& more) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  bytes_delivered_.fetch_add(more.bytes_delivered, kRelaxed);
  bytes_read_.fetch_add(more.bytes_read, kRelaxed);
  bytes_around_rows_.fetch_add(more.bytes_around_rows, kRelaxed);
  reads_.fetch_add(more.reads, kRelaxed);
  wait_nanoseconds_.fetch_add(more.wait_nanoseconds, kRelaxed);
}

WeightCounters SharedCounters::Snapshot() const {
  WeightCounters counters;
  counters.bytes_delivered = bytes_delivered_.load();
  counters.bytes_read = bytes_read_.load();
  counters.bytes_around_rows = bytes_around_rows_.load();
  counters.reads = reads_.load();
  counters.wait_nanoseconds = wait_nanoseconds_.load();
  return counters;
}

int64_t NowNanoseconds() {
  return std::chrono::nanoseconds(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

absl::Status FileStore::ReadRows(const Tile& tile, void* destination) {
  const int64_t begin = NowNanoseconds();
  // A contiguous tile takes one read, another tile one for each row.
  const int64_t reads = tile.contiguous() ? 1 : tile.rows;
  const int64_t run_bytes =
      tile.contiguous() ? tile.size_bytes() : tile.row_bytes;
  char* to = static_cast<char*>(destination);
  for (int64_t i = 0; i < reads; ++i) {
    const absl::Status status = file_.Read(
        tile.offset_bytes + i * tile.row_stride_bytes, run_bytes, to);
    if (!status.ok()) return status;
    to += run_bytes;
  }
  const absl::Status status = file_.CheckUnchanged();
  if (!status.ok()) return status;
  counters_.Add(tile.size_bytes(), tile.size_bytes(), reads, begin);
  return absl::OkStatus();
}

bool IsAlignedInPlace(const Tile& tile) {
  if (tile.size_bytes() == 0) return true;
  return tile.offset_bytes % tile.alignment_bytes == 0 &&
         (tile.rows <= 1 || tile.row_stride_bytes % tile.alignment_bytes == 0);
}

void CopyRows(const Tile& tile, const char* image, void* destination) {
  char* to = static_cast<char*>(destination);
  const char* from = image + tile.offset_bytes;
  if (tile.contiguous()) {
    memcpy(to, from, static_cast<size_t>(tile.size_bytes()));
    return;
  }
  for (int32_t row = 0; row < tile.rows; ++row) {
    memcpy(to, from, static_cast<size_t>(tile.row_bytes));
    to += tile.row_bytes;
    from += tile.row_stride_bytes;
  }
}

absl::StatusOr<TileView> ViewOrCopy(const Tile& tile, const char* image,
                                    void* slot) {
  TileView view;
  if (IsAlignedInPlace(tile)) {
    view.data = tile.size_bytes() == 0 ? image : image + tile.offset_bytes;
    view.row_stride_bytes = tile.row_stride_bytes;
    return view;
  }
  if (slot == nullptr) {
    return absl::InvalidArgumentError(
        "this tile is not aligned in the file: give it a slot of SlotBytes");
  }
  CopyRows(tile, image, slot);
  view.data = slot;
  view.row_stride_bytes = tile.row_bytes;
  return view;
}

}  // namespace footprint::lowmem_internal
