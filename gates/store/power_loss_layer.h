// A layer of files for SQLite that loses power when the test says so.
//
//   PowerLossLayer layer(/*operation=*/17);
//   options.file_layer = layer.name();
//   ...                            // fails from the 17th change on
//   layer.LosePower(/*seed=*/1);   // once all connections are closed
//
// Between two flushes of a file each sector of 512 bytes that was written holds
// the new bytes or the old ones after the loss, at random, and the file has the
// new length or the old one: the order of writes is the disk's. Flushed bytes
// stay.
//
// One at a time in a process; thread-compatible. Owns its registration with
// SQLite, which ends with it. Memory: each file once more.

#ifndef FOOTPRINT_GATES_STORE_POWER_LOSS_LAYER_H_
#define FOOTPRINT_GATES_STORE_POWER_LOSS_LAYER_H_

#include <cstdint>
#include <memory>

namespace footprint {

class PowerLossLayer {
 public:
  // The change to a file, from 1, that is the first to fail.
  explicit PowerLossLayer(int64_t operation);
  ~PowerLossLayer();

  const char* name() const;
  int64_t operation_count() const;

  void LosePower(uint64_t seed);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace footprint

// Tested by trial_store_crash_test.

#endif  // FOOTPRINT_GATES_STORE_POWER_LOSS_LAYER_H_
