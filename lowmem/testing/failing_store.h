// A store of which one read fails, for tests of what is said then.
//
//   FailingStore failing(store.get());
//   failing.FailAt(3);                      // the fourth read from now on
//   EXPECT_THAT(run->Forward(ids, {}), StatusIs(kUnavailable));
//
// All else is the other store's, which must outlive it. A read is a call of
// Read or of Load; what a stream reads by the descriptor alone is none.
// Thread-safe. Memory: none.

#ifndef FOOTPRINT_LOWMEM_TESTING_FAILING_STORE_H_
#define FOOTPRINT_LOWMEM_TESTING_FAILING_STORE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

class FailingStore final : public WeightStore {
 public:
  explicit FailingStore(WeightStore* store) : store_(*store) {}

  // Reads are counted from 0 again; -1: none fails.
  void FailAt(int64_t read);
  // Since the last FailAt.
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
  int direct_descriptor() const override { return store_.direct_descriptor(); }
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
