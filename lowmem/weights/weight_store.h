// The weights of a checkpoint, read a tile at a time in one of four ways.
//
//   absl::StatusOr<std::unique_ptr<footprint::WeightStore>> store =
//       footprint::WeightStore::Open("model.safetensors",
//                                    footprint::WeightBackend::kPread);
//   absl::StatusOr<footprint::Weight> weight =
//       (*store)->Find("encoder.layer.0.output.dense.weight");
//   absl::StatusOr<footprint::Tile> tile = weight->Block(0, 64, 256, 256);
//   std::vector<float> values(64 * 256);
//   absl::Status read = (*store)->Read(*tile, values.data());
//
// A tile is a block of rows and columns of a weight seen as a matrix: a tensor
// of one dimension is one row, of more than two has the product of all but the
// last as rows. The same block is the same bytes in the same order whether the
// file was packed (see pack.h) or not; in a packed file it is one run of bytes.
//
// The store owns its descriptor and memory, and must outlive every weight, view
// and stream made of it. Every method may be called from any thread.
// Memory: kResident holds the whole file's data; the others none of it, and
// nothing is allocated after Open. kPread leaves pages in the system's cache,
// kDirect none; kMmap maps at most 16 MiB of them at a time, and what each
// thread uses.
//
// FailedPrecondition: the file was replaced, shortened or written to since
// Open. Bytes that were read before and reported as good are good: each read is
// followed by a look at the file. kResident does not need the file after Open.
// OutOfRange: no such block. Else FileError's: the system refused.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_STORE_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_STORE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/tensor/tensor_index.h"
#include "footprint/lowmem/weights/tile.h"

namespace footprint {

enum class WeightBackend {
  kResident,  // everything in memory, as other programs do
  kPread,     // reads through the page cache: fastest when the file is there
  kDirect,    // past the page cache: for a hard limit on memory
  kMmap,      // mapped, little at a time: fastest where few tokens are used
};

// Each of them.
inline constexpr WeightBackend kWeightBackends[] = {
    WeightBackend::kResident, WeightBackend::kPread, WeightBackend::kDirect,
    WeightBackend::kMmap};

// "resident", "pread", "direct", "mmap".
absl::string_view WeightBackendName(WeightBackend backend);
absl::StatusOr<WeightBackend> WeightBackendFromName(absl::string_view name);

// A tensor seen as a matrix. Copyable; refers to the store's index.
class Weight {
 public:
  // Returns false for a weight that was never found, as one that a model does
  // not have.
  bool exists() const { return tensor_ != nullptr; }
  const TensorInfo& tensor() const { return *tensor_; }
  DType dtype() const { return tensor_->dtype; }
  // Return the shape as before packing.
  const Shape& shape() const { return shape_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  // The width of the blocks of a packed tensor; equal to columns() otherwise.
  int64_t block_columns() const { return block_columns_; }

  // Every column of rows [row, row + row_count); OutOfRange in blocks narrower
  // than the matrix.
  absl::StatusOr<Tile> Rows(int64_t row, int64_t row_count) const;
  // Columns must lie in one block of columns. In a quantised type they must be
  // whole blocks of that type.
  absl::StatusOr<Tile> Block(int64_t row, int64_t row_count, int64_t column,
                             int64_t column_count) const;

 private:
  friend class WeightStore;
  const TensorInfo* tensor_ = nullptr;
  Shape shape_;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  int64_t block_columns_ = 0;
};

// Counts of a store's work since it was opened, all threads together.
struct WeightCounters {
  int64_t bytes_delivered = 0;  // of tiles
  // The bytes read from the file: more than delivered where direct reads round
  // to pages, and including what kResident loads in Open. Not what kMmap views:
  // the system reads that when it is touched.
  int64_t bytes_read = 0;
  // These of the bytes read lie around the rows of tiles with gaps, where
  // direct reads round each row to pages. Tiles of a packed file (see pack.h)
  // have no gaps.
  int64_t bytes_around_rows = 0;
  int64_t reads = 0;
  // Time in which a caller waited for bytes, summed over threads.
  int64_t wait_nanoseconds = 0;
};

class WeightStore {
 public:
  static absl::StatusOr<std::unique_ptr<WeightStore>> Open(
      absl::string_view path, WeightBackend backend);

  virtual ~WeightStore() = default;
  WeightStore(const WeightStore&) = delete;
  WeightStore& operator=(const WeightStore&) = delete;

  virtual WeightBackend backend() const = 0;
  // How bytes are read, for a report: "direct: O_DIRECT", or what was refused
  // and what is done instead.
  virtual std::string Description() const = 0;
  virtual const TensorIndex& index() const = 0;
  virtual WeightCounters counters() const = 0;

  // NotFound names the closest names there are.
  absl::StatusOr<Weight> Find(absl::string_view name) const;

  // Reads a tile densely into `destination`, of tile.size_bytes(), and returns
  // when it is there.
  virtual absl::Status Read(const Tile& tile, void* destination) = 0;

  // Makes a tile readable, where it lies if the backend can (kResident, kMmap),
  // else in `slot`, which begins at a multiple of SlotAlignmentBytes(), has
  // SlotBytes(tile), and may be null where that is zero. The view is good until
  // the slot is used again, and aligned to the tile's alignment_bytes. Its
  // rows are `row_stride_bytes` apart: densely, unless the tile is viewed in
  // place.
  virtual absl::StatusOr<TileView> Load(const Tile& tile, void* slot) = 0;

  // Zero where Load needs no slot; at most a few pages above the tile's size.
  virtual int64_t SlotBytes(const Tile& tile) const = 0;
  // A page for kDirect, a cache line for the others.
  virtual int64_t SlotAlignmentBytes() const { return kLineBytes; }

  // OutOfRange unless the tile lies within the file. Read and Load ask this
  // themselves.
  absl::Status CheckTile(const Tile& tile) const;

  // FailedPrecondition if the file is no longer what was opened: to be asked
  // before a result that used views is believed.
  virtual absl::Status CheckFile() const = 0;

  // Returns what direct reads go to, -1 where there is none; for streams, which
  // read by themselves.
  virtual int direct_descriptor() const { return -1; }
  // Returns the bytes that direct reads come in, a power of two of at most
  // kPageBytes: offsets, lengths and addresses are multiples of it.
  virtual int64_t direct_block_bytes() const { return kPageBytes; }
  virtual void Count(const WeightCounters& more) = 0;

 protected:
  WeightStore() = default;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_STORE_H_
