// The live blocks that were recorded, by address.
//
//   BlockTable blocks;
//   blocks.Add({address, site, calls, size_bytes});
//   ...
//   if (blocks.MayHold(address)) {        // without a lock, nearly always no
//     RecordedBlock block;
//     if (blocks.Remove(address, &block)) ...
//   }
//
// Only one thread at a time may call it, except for MayHold, which any thread
// may call at any time. If a thread received a block's address after the block
// was added, MayHold finds the block for that thread. The table owns its arrays
// until the process ends, and none of the blocks. It works inside malloc.
// Memory, from the kernel: 80 to 160 bytes for each block of the highest number
// live at once, at least 40 KiB, and up to twice that if many blocks are added
// and removed. The keys of an outgrown array stay mapped, since other threads
// may be reading them: up to 64 bytes more for each block.
//
// Nearly every free of the program asks MayHold about a block that is not in
// the table and often not in the cache. A mispredicted branch then costs a wait
// for memory. So a filter with a word of 64 bits for each key answers first,
// and on average it is wrong for at most one block in 128.

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
  // Returns whether the table has the block, unless another thread adds or
  // removes it at this moment.
  bool MayHold(const void* block) const {
    const Keys* const keys = keys_.load(std::memory_order_acquire);
    if (keys == nullptr) return false;
    const uintptr_t address = reinterpret_cast<uintptr_t>(block);
    return __builtin_expect(keys->FilterHas(address), 0) &&
           Holds(*keys, address);
  }

  // Returns false if the kernel has no memory, and the block is not in the
  // table.
  bool Add(const RecordedBlock& block);
  // Removes a block and stores its entry. Returns false if it is not in the
  // table.
  bool Remove(const void* address, RecordedBlock* block);

  size_t size() const { return count_; }

 private:
  static constexpr uintptr_t kRemoved = 1;

  // Memory of one allocation, in which the filter's words follow the keys.
  struct Keys {
    size_t mask;
    int shift;
    RecordedBlock* blocks;
    std::atomic<uint64_t>* filter;
    std::atomic<uintptr_t> at[1];

    static size_t Hash(uintptr_t address) {
      return address * 0x9e3779b97f4a7c15;
    }
    size_t Home(uintptr_t address) const { return Hash(address) >> shift; }
    // The filter uses the bits of the hash below those of the home.
    uint64_t FilterBit(uintptr_t address) const {
      return uint64_t{1} << (Hash(address) >> (shift - 6) & 63);
    }
    bool FilterHas(uintptr_t address) const {
      const uint64_t word =
          filter[Home(address)].load(std::memory_order_relaxed);
      return (word & FilterBit(address)) != 0;
    }
  };

  static bool Holds(const Keys& keys, uintptr_t address);
  static void ClearFilterBit(Keys* keys, uintptr_t address);
  static Keys* NewKeys(size_t capacity);
  bool Grow();
  void Put(Keys* keys, const RecordedBlock& block);
  void TrimRun(Keys* keys, size_t last);

  std::atomic<Keys*> keys_{nullptr};
  size_t count_ = 0;
  // Entries that are not empty: blocks, and marks of removed blocks.
  size_t used_ = 0;
};

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_SITES_BLOCK_TABLE_H_
