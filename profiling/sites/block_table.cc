#include "footprint/profiling/sites/block_table.h"

#include "footprint/profiling/sites/system_pages.h"

namespace footprint::profiling_internal {
namespace {

constexpr size_t kLeastCapacity = 1024;

}  // namespace

bool BlockTable::Holds(const Keys& keys, uintptr_t address) {
  for (size_t i = keys.Home(address);; i = (i + 1) & keys.mask) {
    const uintptr_t key = keys.at[i].load(std::memory_order_relaxed);
    if (key == 0) return false;
    if (key == address) return true;
  }
}

// Clears a block's filter bit, unless another block of the same home has the
// same bit.
void BlockTable::ClearFilterBit(Keys* keys, uintptr_t address) {
  const size_t home = keys->Home(address);
  const uint64_t bit = keys->FilterBit(address);
  for (size_t i = home;; i = (i + 1) & keys->mask) {
    const uintptr_t key = keys->at[i].load(std::memory_order_relaxed);
    if (key == 0) break;
    if (key != kRemoved && keys->Home(key) == home &&
        keys->FilterBit(key) == bit) {
      return;
    }
  }
  keys->filter[home].store(
      keys->filter[home].load(std::memory_order_relaxed) & ~bit,
      std::memory_order_relaxed);
}

BlockTable::Keys* BlockTable::NewKeys(size_t capacity) {
  const size_t size_bytes =
      sizeof(Keys) + capacity * (sizeof(Keys::at) + sizeof(*Keys::filter));
  auto* const keys = static_cast<Keys*>(TakePages(size_bytes));
  if (keys == nullptr) return nullptr;
  keys->blocks =
      static_cast<RecordedBlock*>(TakePages(capacity * sizeof(RecordedBlock)));
  if (keys->blocks == nullptr) {
    GivePagesBack(keys, size_bytes);
    return nullptr;
  }
  keys->filter = reinterpret_cast<std::atomic<uint64_t>*>(keys->at + capacity);
  keys->mask = capacity - 1;
  keys->shift = 64 - __builtin_ctzl(capacity);
  return keys;
}

// Stores the block in the first entry of its run that holds no block. A
// concurrent reader looks for another address, so it passes over the entry in
// either state.
void BlockTable::Put(Keys* keys, const RecordedBlock& block) {
  size_t i = keys->Home(block.address);
  uintptr_t key;
  while ((key = keys->at[i].load(std::memory_order_relaxed)) > kRemoved) {
    i = (i + 1) & keys->mask;
  }
  if (key == 0) ++used_;
  std::atomic<uint64_t>* const filter =
      &keys->filter[keys->Home(block.address)];
  filter->store(
      filter->load(std::memory_order_relaxed) | keys->FilterBit(block.address),
      std::memory_order_relaxed);
  keys->blocks[i] = block;
  keys->at[i].store(block.address, std::memory_order_release);
}

// Always doubles the size. An outgrown array stays mapped, so a table that
// removed blocks fill again and again must not be rebuilt in the same size.
bool BlockTable::Grow() {
  Keys* const old = keys_.load(std::memory_order_relaxed);
  const size_t capacity = old == nullptr ? kLeastCapacity : (old->mask + 1) * 2;
  Keys* const keys = NewKeys(capacity);
  if (keys == nullptr) return false;
  used_ = 0;
  for (size_t i = 0; old != nullptr && i <= old->mask; ++i) {
    if (old->at[i].load(std::memory_order_relaxed) > kRemoved) {
      Put(keys, old->blocks[i]);
    }
  }
  keys_.store(keys, std::memory_order_release);
  // The keys stay mapped, because a thread may be reading them. Only the
  // table's own thread reads `blocks`.
  if (old != nullptr) {
    GivePagesBack(old->blocks, (old->mask + 1) * sizeof(RecordedBlock));
  }
  return true;
}

bool BlockTable::Add(const RecordedBlock& block) {
  Keys* keys = keys_.load(std::memory_order_relaxed);
  // At most half of the entries are used, so that runs are short.
  if (keys == nullptr || used_ * 2 > keys->mask) {
    if (!Grow()) return false;
    keys = keys_.load(std::memory_order_relaxed);
  }
  Put(keys, block);
  ++count_;
  return true;
}

// Removes the marks of removed blocks at the end of a run, which no search
// needs.
void BlockTable::TrimRun(Keys* keys, size_t last) {
  if (keys->at[(last + 1) & keys->mask].load(std::memory_order_relaxed) != 0) {
    return;
  }
  for (size_t i = last; keys->at[i].load(std::memory_order_relaxed) == kRemoved;
       i = (i - 1) & keys->mask) {
    keys->at[i].store(0, std::memory_order_relaxed);
    --used_;
  }
}

bool BlockTable::Remove(const void* address, RecordedBlock* block) {
  Keys* const keys = keys_.load(std::memory_order_relaxed);
  if (keys == nullptr) return false;
  const uintptr_t wanted = reinterpret_cast<uintptr_t>(address);
  for (size_t i = keys->Home(wanted);; i = (i + 1) & keys->mask) {
    const uintptr_t key = keys->at[i].load(std::memory_order_relaxed);
    if (key == 0) return false;
    if (key != wanted) continue;
    *block = keys->blocks[i];
    --count_;
    keys->at[i].store(kRemoved, std::memory_order_relaxed);
    ClearFilterBit(keys, wanted);
    TrimRun(keys, i);
    return true;
  }
}

}  // namespace footprint::profiling_internal
