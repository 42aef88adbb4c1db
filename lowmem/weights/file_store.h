// The common part of all backends: the file, its counters and its checks.
//
//   absl::StatusOr<TileView> view = ViewOrCopy(tile, image, slot);
//
// A store owns the open file and its index. A view refers to the image or to
// the slot and must not outlive it. Any thread may call, also several at once:
// counters are atomic, and each read names its position in the file. Memory:
// the index (about 150 bytes a tensor), and the backend's own memory.

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
  // Adds one request that waited from `begin_nanoseconds` until now.
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

// Returns the time of a monotonic clock.
int64_t NowNanoseconds();

class FileStore : public WeightStore {
 public:
  explicit FileStore(WeightFile file) : file_(std::move(file)) {}

  const TensorIndex& index() const override { return file_.index(); }
  WeightCounters counters() const override { return counters_.Snapshot(); }
  absl::Status CheckFile() const override { return file_.CheckUnchanged(); }
  void Count(const WeightCounters& more) override { counters_.Add(more); }

 protected:
  // Returns the size of a mapping that holds the file. It is at least 1, since
  // mmap refuses an empty mapping.
  size_t MappedBytes() const {
    return static_cast<size_t>(std::max<int64_t>(1, index().file_bytes()));
  }
  // Reads the rows of a tile within the file densely through the page cache,
  // then checks that the file is unchanged, and counts the read.
  absl::Status ReadRows(const Tile& tile, void* destination);

  WeightFile file_;
  SharedCounters counters_;
};

// Returns whether the tile's rows are aligned for its elements if the file's
// image begins at an aligned address.
bool IsAlignedInPlace(const Tile& tile);

// Copies the rows of a tile densely from an image of the file.
void CopyRows(const Tile& tile, const char* image, void* destination);

// Returns the tile in `image`, or copies it to `slot` if it is not aligned
// there. Returns InvalidArgument if it needs a slot and `slot` is null.
absl::StatusOr<TileView> ViewOrCopy(const Tile& tile, const char* image,
                                    void* slot);

}  // namespace footprint::lowmem_internal

// Tested by weight_store_test.

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_FILE_STORE_H_
