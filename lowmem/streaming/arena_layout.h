// Lays out an arena: each range begins after the one before it.
//
//   footprint::ArenaLayout layout;
//   const footprint::ArenaRange hidden = layout.Take(hidden_bytes);
//   plan.peak_bytes = layout.peak_bytes();
//
// Plain data of 8 bytes, thread-compatible; allocates nothing.

#ifndef FOOTPRINT_LOWMEM_STREAMING_ARENA_LAYOUT_H_
#define FOOTPRINT_LOWMEM_STREAMING_ARENA_LAYOUT_H_

#include <cstdint>

#include "footprint/base/memory/alignment.h"

namespace footprint {

// Part of an arena.
struct ArenaRange {
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;

  int64_t end_bytes() const { return offset_bytes + size_bytes; }
};

class ArenaLayout {
 public:
  // Returns the next range of `bytes`, which begins at a multiple of
  // `alignment`, a power of two. The caller keeps the sum of all ranges within
  // 64 bits.
  ArenaRange Take(int64_t bytes, int64_t alignment = kLineBytes) {
    ArenaRange range;
    range.offset_bytes = AlignUp(end_bytes_, alignment);
    range.size_bytes = bytes;
    end_bytes_ = range.end_bytes();
    return range;
  }
  // Takes one range of `parts` equal parts, each of which begins at a cache
  // line.
  ArenaRange TakeParts(int64_t parts, int64_t part_bytes) {
    return Take(parts * AlignUp(part_bytes, kLineBytes));
  }
  // Returns the bytes of the arena, in whole pages.
  int64_t peak_bytes() const { return AlignUp(end_bytes_, kPageBytes); }

 private:
  int64_t end_bytes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_STREAMING_ARENA_LAYOUT_H_
