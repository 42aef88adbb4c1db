#include "footprint/lowmem/weights/direct_read.h"

#include <cstring>

#include "footprint/base/memory/alignment.h"

namespace footprint::lowmem_internal {
namespace {

// Returns the bytes of the pages that a run of `bytes` can touch, wherever it
// begins.
int64_t RunSlotBytes(int64_t bytes) {
  return AlignUp(bytes + kPageBytes - 1, kPageBytes);
}

}  // namespace

int32_t DirectRuns(const Tile& tile) {
  if (tile.size_bytes() == 0) return 0;
  return tile.contiguous() ? 1 : tile.rows;
}

DirectRun MakeDirectRun(const Tile& tile, int32_t index) {
  const int64_t bytes =
      tile.contiguous() ? tile.size_bytes() : int64_t{tile.row_bytes};
  const int64_t offset = tile.offset_bytes + index * tile.row_stride_bytes;
  const int64_t lead = offset % kPageBytes;
  DirectRun run;
  run.offset_bytes = offset - lead;
  run.needed_bytes = lead + bytes;
  run.read_bytes = AlignUp(run.needed_bytes, kPageBytes);
  run.slot_offset = index * RunSlotBytes(bytes);
  return run;
}

int64_t DirectSlotBytes(const Tile& tile) {
  const int32_t runs = DirectRuns(tile);
  if (runs == 0) return 0;
  if (!tile.contiguous()) return runs * RunSlotBytes(tile.row_bytes);
  return MakeDirectRun(tile, 0).read_bytes;
}

int64_t BytesAroundRows(const Tile& tile, int64_t bytes_read) {
  return tile.contiguous() ? 0 : bytes_read - tile.size_bytes();
}

TileView ArrangeDirectTile(const Tile& tile, char* slot) {
  TileView view;
  view.data = slot;
  view.row_stride_bytes = tile.row_bytes;
  if (tile.size_bytes() == 0) return view;
  const int64_t lead = tile.offset_bytes % kPageBytes;
  if (tile.contiguous() && lead % tile.alignment_bytes == 0) {
    view.data = slot + lead;
    return view;
  }
  if (tile.contiguous()) {
    memmove(slot, slot + lead, static_cast<size_t>(tile.size_bytes()));
    return view;
  }
  // Each row moves towards the beginning, so it does not overwrite a later row.
  for (int32_t row = 0; row < tile.rows; ++row) {
    const DirectRun run = MakeDirectRun(tile, row);
    memmove(slot + row * int64_t{tile.row_bytes},
            slot + run.slot_offset + run.needed_bytes - tile.row_bytes,
            static_cast<size_t>(tile.row_bytes));
  }
  return view;
}

}  // namespace footprint::lowmem_internal
