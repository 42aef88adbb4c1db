// A store that fails one chosen read, for tests of error messages.
//
//   FailingStore failing(store.get());
//   failing.FailAt(3);                      // the fourth read from now on
//   EXPECT_THAT(run->Forward(ids, {}), StatusIs(kUnavailable));
//
// All other calls go to the given store, which must outlive this one. A read is
// a call of Read or Load; reads that a stream makes through the descriptor do
// not count. Thread-safe. Memory: none.

#ifndef FOOTPRINT_LOWMEM_TESTING_FAILING_STORE_H_
#define FOOTPRINT_LOWMEM_TESTING_FAILING_STORE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

class FailingStore final : public WeightStore {
 public:
  explicit FailingStore(WeightStore* store) : store_(*store) {}

  // Makes that read fail, counted from 0 from now on; -1: no read fails.
  void FailAt(int64_t read);
  // Returns the number of reads since the last FailAt.
  int64_t reads() const { return reads_; }

  WeightBackend backend() const override { return store_.backend(); }
  std::string Description() const override { return store_.Description(); }
  const TensorIndex& index() const override { return store_.index(); }
  WeightCounters counters() const override { return store_.counters(); }
  absl::Status Read(const Tile& tile, void* destination) override;
  absl::StatusOr<TileView> Load(const Tile& tile, void* slot) override;
  int64_t SlotBytes(const Tile& tile) const override {
    return store_.SlotBytes(tile);
  }
  int64_t SlotAlignmentBytes() const override {
    return store_.SlotAlignmentBytes();
  }
  absl::Status CheckFile() const override { return store_.CheckFile(); }
  std::vector<std::string> FileNames() const override {
    return store_.FileNames();
  }
  int direct_descriptor() const override { return store_.direct_descriptor(); }
  DirectPlace FindDirectPlace(int64_t offset_bytes) const override {
    return store_.FindDirectPlace(offset_bytes);
  }
  int64_t direct_block_bytes() const override {
    return store_.direct_block_bytes();
  }
  void Count(const WeightCounters& more) override { store_.Count(more); }

 private:
  absl::Status NextRead();

  WeightStore& store_;
  std::atomic<int64_t> reads_{0};
  std::atomic<int64_t> failing_read_{-1};
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TESTING_FAILING_STORE_H_
