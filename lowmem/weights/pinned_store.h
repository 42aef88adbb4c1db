// A store that keeps some tensors of another store in given memory, such as the
// memory that a budget leaves free.
//
//   footprint::PinnedStore store(base, memory);
//   absl::Status status = store.Pin(weight.tensor());
//   store.Load(tile, nullptr);  // of a pinned tensor: where it lies
//
// A tile of a pinned tensor needs no slot and is never read again. Its bytes
// are those of the file at the time of Pin; CheckFile still reports a changed
// file. All other calls go to the base store.
//
// The base store and the memory must outlive this store. All calls of Pin and
// PinFirst come first; after them every method may be called from any thread.
// Memory: the given memory, and at most 48 bytes a pinned tensor.
//
// The error is ResourceExhausted if the memory is full. Other errors are the
// base store's.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_PINNED_STORE_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_PINNED_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/base/tensor/tensor_index.h"
#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

class PinnedStore final : public WeightStore {
 public:
  // Returns the bytes that a tensor takes of the memory.
  static int64_t PinnedBytes(const TensorInfo& tensor);

  // `memory` must begin at a cache line.
  PinnedStore(WeightStore* base, absl::Span<char> memory)
      : base_(base), memory_(memory) {}

  // Reads a tensor into the free part of the memory.
  absl::Status Pin(const TensorInfo& tensor) {
    return PinFirst(tensor, tensor.size_bytes);
  }

  // Reads the first `bytes` of a tensor into the free part of the memory. A
  // tile that lies within them is never read again; one that goes beyond is
  // read as if nothing were pinned. Returns InvalidArgument if `bytes` is
  // negative or more than the tensor has.
  absl::Status PinFirst(const TensorInfo& tensor, int64_t bytes);

  WeightBackend backend() const override { return base_->backend(); }
  std::string Description() const override { return base_->Description(); }
  const TensorIndex& index() const override { return base_->index(); }
  WeightCounters counters() const override { return base_->counters(); }
  absl::Status Read(const Tile& tile, void* destination) override;
  absl::StatusOr<TileView> Load(const Tile& tile, void* slot) override;
  int64_t SlotBytes(const Tile& tile) const override;
  int64_t SlotAlignmentBytes() const override {
    return base_->SlotAlignmentBytes();
  }
  absl::Status CheckFile() const override { return base_->CheckFile(); }
  std::vector<std::string> FileNames() const override {
    return base_->FileNames();
  }
  int direct_descriptor() const override { return base_->direct_descriptor(); }
  DirectPlace FindDirectPlace(int64_t offset_bytes) const override {
    return base_->FindDirectPlace(offset_bytes);
  }
  int64_t direct_block_bytes() const override {
    return base_->direct_block_bytes();
  }
  void Count(const WeightCounters& more) override { base_->Count(more); }

 private:
  struct PinnedTensor {
    int64_t begin = 0;  // in the file
    int64_t end = 0;
    const char* data = nullptr;
  };
  // Returns the address of a tile of a pinned tensor, or null for other tiles.
  const char* FindPinned(const Tile& tile) const;

  WeightStore* const base_;
  absl::Span<char> memory_;           // the free part
  std::vector<PinnedTensor> pinned_;  // in the order of the file
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_PINNED_STORE_H_
