// The blocks that were recorded and are live, by address.
//
//   BlockTable blocks;
//   blocks.Add({address, site, calls, size_bytes});
//   ...
//   if (blocks.MayHold(address)) {        // without a lock, nearly always no
//     RecordedBlock block;
//     if (blocks.Remove(address, &block)) ...
//   }
//
// One thread at a time, but for MayHold, which any thread may call meanwhile:
// it sees every block that was added before, as the block's owner must have
// seen it. Lives inside malloc: memory is the kernel's, 64 to 128 bytes a
// block; what a table outgrew stays mapped, since others may be reading it, so
// that all tables together are below twice the last. Time: one or two cache
// lines.

#ifndef FOOTPRINT_PROFILING_SITES_BLOCK_TABLE_H_
#define FOOTPRINT_PROFILING_SITES_BLOCK_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace footprint::profiling_internal {

struct RecordedBlock {
  uintptr_t address = 0;
  int64_t size_bytes = 0;
  uint32_t site = 0;
  // The allocating thread's calls up to this block, modulo 2^32.
  uint32_t calls = 0;
};

class BlockTable {
 public:
  bool MayHold(const void* block) const {
    const Keys* const keys = keys_.load(std::memory_order_acquire);
    if (keys == nullptr) return false;
    const uintptr_t address = reinterpret_cast<uintptr_t>(block);
    for (size_t i = keys->Home(address);; i = (i + 1) & keys->mask) {
      const uintptr_t key = keys->at[i].load(std::memory_order_relaxed);
      if (__builtin_expect(key == 0, 1)) return false;
      if (key == address) return true;
    }
  }

  // False: the kernel has no memory, and the block is not in the table.
  bool Add(const RecordedBlock& block);
  bool Remove(const void* address, RecordedBlock* block);

  size_t size() const { return count_; }

 private:
  static constexpr uintptr_t kRemoved = 1;

  struct Keys {
    size_t mask;
    int shift;
    RecordedBlock* blocks;
    std::atomic<uintptr_t> at[1];

    size_t Home(uintptr_t address) const {
      return address * 0x9e3779b97f4a7c15 >> shift;
    }
  };

  static Keys* NewKeys(size_t capacity);
  bool Grow();
  void Put(Keys* keys, const RecordedBlock& block);
  void TrimRun(Keys* keys, size_t last);

  std::atomic<Keys*> keys_{nullptr};
  size_t count_ = 0;
  // Entries that are not empty: blocks, and places of blocks that were removed.
  size_t used_ = 0;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_BLOCK_TABLE_H_
