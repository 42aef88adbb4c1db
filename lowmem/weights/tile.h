// The bytes of a weight file that are read at once.
//
//   footprint::Tile tile;  // 64 rows of 1 KiB, 16 KiB apart
//   tile.offset_bytes = 4096;
//   tile.row_stride_bytes = 16 * 1024;
//   tile.row_bytes = 1024;
//   tile.rows = 64;
//
// Plain data, thread-compatible.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_TILE_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_TILE_H_

#include <cstdint>

namespace footprint {

// The largest alignment that any element type needs.
inline constexpr int32_t kViewAlignmentBytes = 8;

// Bytes of a file that are needed together: runs of equal length at equal
// distances. In memory, the runs lie densely one after the other.
struct Tile {
  int64_t offset_bytes = 0;      // of the first run, in the file
  int64_t row_stride_bytes = 0;  // from one run to the next
  int32_t row_bytes = 0;
  int32_t rows = 0;
  // The alignment of its runs when it is viewed in place: that of an element.
  int32_t alignment_bytes = kViewAlignmentBytes;

  int64_t size_bytes() const { return int64_t{row_bytes} * rows; }
  // Returns the bytes from the first run to the last, gaps included.
  int64_t extent_bytes() const {
    return rows == 0 ? 0 : row_stride_bytes * (rows - 1) + row_bytes;
  }
  bool contiguous() const { return rows <= 1 || row_stride_bytes == row_bytes; }
};

// The place in memory where a tile can be read.
struct TileView {
  const void* data = nullptr;
  int64_t row_stride_bytes = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_TILE_H_
