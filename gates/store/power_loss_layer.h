// An SQLite file layer (VFS) that loses power, or is full, when a test wants
// it.
//
//   PowerLossLayer layer(/*operation=*/17);
//   options.file_layer = layer.name();
//   ...                            // fails from the 17th operation on
//   layer.LosePower(/*seed=*/1);   // once all connections are closed
//
//   layer.SetFull(true);           // refuses each write from now on
//   layer.SetFull(false);          // has room again
//
// After the loss, each sector of 512 bytes that was written since the last
// flush has its new or its old bytes, at random, and the file has its new or
// its old length, since a disk may reorder writes. Flushed bytes stay.
//
// Only one may exist in a process at a time; thread-compatible. Owns its
// registration with SQLite. Memory: a copy of each file.

#ifndef FOOTPRINT_GATES_STORE_POWER_LOSS_LAYER_H_
#define FOOTPRINT_GATES_STORE_POWER_LOSS_LAYER_H_

#include <cstdint>
#include <memory>

namespace footprint {

class PowerLossLayer {
 public:
  // `operation` is the number, from 1, of the first write, truncation, flush or
  // deletion that fails. If it is a write, half of its bytes are written. All
  // later operations fail, too.
  explicit PowerLossLayer(int64_t operation);
  ~PowerLossLayer();

  const char* name() const;
  // Returns how many operations were tried, including those that failed.
  int64_t operation_count() const;

  void LosePower(uint64_t seed);

  // While it is full, each write fails as on a disk without room. Such a write
  // is not counted as an operation. Thread-safe.
  void SetFull(bool is_full);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace footprint

// Tested by trial_store_crash_test.

#endif  // FOOTPRINT_GATES_STORE_POWER_LOSS_LAYER_H_
