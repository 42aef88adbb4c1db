// The common part of the backends: the file, its counters, its checks.
//
//   absl::StatusOr<TileView> view = ViewOrCopy(tile, image, slot);
//
// A store owns the file, open, with its index; a view refers to the image or to
// the slot, and lives no longer than either. Any thread may call, and several
// at once: counters are atomic, reads name their place in the file. Memory: the
// index (about 150 bytes a tensor); what the backends hold besides is theirs.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_FILE_STORE_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_FILE_STORE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "footprint/lowmem/weights/tile.h"
#include "footprint/lowmem/weights/weight_file.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

// Counters that several threads add to.
class SharedCounters {
 public:
  // One request that waited from `begin_nanoseconds` until now.
  void Add(int64_t bytes_delivered, int64_t bytes_read, int64_t reads,
           int64_t begin_nanoseconds);
  void Add(const WeightCounters& more);
  WeightCounters Snapshot() const;

 private:
  std::atomic<int64_t> bytes_delivered_{0};
  std::atomic<int64_t> bytes_read_{0};
  std::atomic<int64_t> bytes_around_rows_{0};
  std::atomic<int64_t> reads_{0};
  std::atomic<int64_t> wait_nanoseconds_{0};
};

// Returns the time of a clock that only goes forward.
int64_t NowNanoseconds();

class FileStore : public WeightStore {
 public:
  explicit FileStore(WeightFile file) : file_(std::move(file)) {}

  const TensorIndex& index() const override { return file_.index(); }
  WeightCounters counters() const override { return counters_.Snapshot(); }
  absl::Status CheckFile() const override { return file_.CheckUnchanged(); }
  void Count(const WeightCounters& more) override { counters_.Add(more); }

 protected:
  // Returns the bytes of a mapping that holds the file: an empty one cannot be
  // made.
  size_t MappedBytes() const {
    return static_cast<size_t>(std::max<int64_t>(1, index().file_bytes()));
  }
  // The rows of a tile that is within the file, densely, through the page
  // cache; looks at the file afterwards and counts.
  absl::Status ReadRows(const Tile& tile, void* destination);

  WeightFile file_;
  SharedCounters counters_;
};

// Returns whether a tile of a file that lies in memory from an aligned address
// on can be read there.
bool IsAlignedInPlace(const Tile& tile);

// The rows of a tile, densely, from an image of the file.
void CopyRows(const Tile& tile, const char* image, void* destination);

// The tile in `image`, or its copy in `slot` if it is not aligned there.
absl::StatusOr<TileView> ViewOrCopy(const Tile& tile, const char* image,
                                    void* slot);

}  // namespace footprint::lowmem_internal

// Tested by weight_store_test.

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_FILE_STORE_H_
