// Splits a tile into reads of whole blocks of the disk, and finds its rows in
// the slot that they fill.
//
//   for (int32_t run = 0; run < DirectRuns(tile); ++run) {
//     const DirectRun part = MakeDirectRun(tile, run, block_bytes);
//     Read(part.offset_bytes, part.read_bytes, slot + part.slot_offset);
//   }
//   const TileView view = ArrangeDirectTile(tile, block_bytes, slot);
//
// A disk reads whole blocks: `block_bytes` is a power of two of at most
// kPageBytes, often 512 (WeightStore::direct_block_bytes). Small blocks matter:
// a tile of 256 KiB that begins anywhere takes 4 KiB more in blocks of a page,
// and 512 bytes more in blocks of 512.
//
// A contiguous tile is one run. In a tile with gaps each row is a run of its
// own, and ArrangeDirectTile moves the rows together once all of them are read.
//
// All functions are pure arithmetic except ArrangeDirectTile, which moves bytes
// within the slot; its view is valid as long as the slot holds the tile.
// Thread-safe for different slots. Memory: DirectSlotBytes for the slot, which
// the caller owns.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_DIRECT_READ_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_DIRECT_READ_H_

#include <cstdint>

#include "footprint/lowmem/weights/tile.h"

namespace footprint::lowmem_internal {

// A read of whole blocks of the file.
struct DirectRun {
  int64_t offset_bytes = 0;  // in the file, at a block
  int64_t read_bytes = 0;    // whole blocks
  int64_t needed_bytes = 0;  // of these; the file may end within the last block
  int64_t slot_offset = 0;   // where the bytes go in the slot
};

// Returns the number of runs: 0 for an empty tile, 1 for a contiguous one,
// otherwise its rows.
int32_t DirectRuns(const Tile& tile);
// Returns the run of this index, below DirectRuns. `block_bytes` is the size of
// the file system's blocks for direct reads.
DirectRun MakeDirectRun(const Tile& tile, int32_t index, int64_t block_bytes);
// Returns the bytes that a slot needs for all runs of the tile.
int64_t DirectSlotBytes(const Tile& tile, int64_t block_bytes);

// Returns how many of the bytes that were read for the tile lie around its
// rows. For a contiguous tile, of which only the ends are rounded, this is 0.
int64_t BytesAroundRows(const Tile& tile, int64_t bytes_read);

// Moves the rows together after all runs were read into `slot`, and returns
// where the tile lies.
TileView ArrangeDirectTile(const Tile& tile, int64_t block_bytes, char* slot);

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_DIRECT_READ_H_
