// The weights of a checkpoint, read tile by tile in one of four ways.
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
// A tile is a block of rows and columns of a weight, which is seen as a matrix:
// a tensor of one dimension is one row; in a tensor of more than two, all
// dimensions but the last together are the rows. A block has the same bytes in
// the same order whether or not the file was packed (see pack.h). If it has the
// whole width of a panel of a packed matrix, it is one run of bytes.
//
// The store owns its descriptor and its memory, and must outlive every weight,
// view and stream that was made from it. Every method may be called from any
// thread. Memory: kResident holds the whole file's data, the others none of it,
// and nothing is allocated after Open. kPread leaves pages in the system's
// cache; kDirect leaves none, unless the file system refuses direct reads (see
// Description); kMmap keeps at most 16 MiB of each file mapped at a time, plus
// the tiles that threads are using.
//
// A path that ends in ".json" is the index of a checkpoint in several files
// (shard_index.h). Its store reads all of them in place. Its own index has all
// their tensors, at offsets as if the files followed each other. If several
// files have a tensor, it is taken from the one that the index names for it.
//
// The error is FailedPrecondition if the file was replaced, shortened or
// written to since Open. Each read is followed by a check of the file, so bytes
// that were reported as valid are valid. kResident does not need the file after
// Open. The error is OutOfRange if there is no such block. Open returns
// ResourceExhausted if kResident finds no memory, or if kMmap would map more
// than 64 files. The first store of kMmap sets the process's handler of SIGBUS,
// which the program must not replace afterwards; it passes other faults to the
// handler before it. Other errors are those of FileError: the system refused a
// call.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_STORE_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/tensor/tensor_index.h"
#include "footprint/lowmem/weights/tile.h"

namespace footprint {

enum class WeightBackend {
  kResident,  // everything in memory, as in other programs
  kPread,     // reads through the page cache: fastest for cached files
  kDirect,    // reads past the page cache: for a hard memory limit
  kMmap,      // maps a little at a time: fastest for few tokens
};

// All four backends.
inline constexpr WeightBackend kWeightBackends[] = {
    WeightBackend::kResident, WeightBackend::kPread, WeightBackend::kDirect,
    WeightBackend::kMmap};

// These return "resident", "pread", "direct" or "mmap", and the backend of such
// a name. WeightBackendFromName returns InvalidArgument for another name.
absl::string_view WeightBackendName(WeightBackend backend);
absl::StatusOr<WeightBackend> WeightBackendFromName(absl::string_view name);

// A tensor seen as a matrix. Copyable; refers to the store's index.
class Weight {
 public:
  // Returns false for a weight that the model does not have. Only shape(),
  // rows() and the columns of such a weight may be asked.
  bool exists() const { return tensor_ != nullptr; }
  const TensorInfo& tensor() const { return *tensor_; }
  DType dtype() const { return tensor_->dtype; }
  // These return the shape before packing, and its rows and columns.
  const Shape& shape() const { return shape_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  // Returns the width of the column blocks of a packed tensor, or else
  // columns().
  int64_t block_columns() const { return block_columns_; }

  // Returns all columns of rows [row, row + row_count). Returns OutOfRange if
  // column blocks are narrower than the matrix.
  absl::StatusOr<Tile> Rows(int64_t row, int64_t row_count) const;
  // Returns a block of rows and columns. The columns must lie in one column
  // block. In a quantised type they must be whole blocks of that type.
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

// Counts of a store's work since Open, summed over all threads.
struct WeightCounters {
  int64_t bytes_delivered = 0;  // of tiles
  // Bytes read from the file. They exceed the delivered bytes if direct reads
  // round to blocks, and they include what kResident loads in Open. Views of
  // kMmap do not count: the system reads their pages at the first touch.
  int64_t bytes_read = 0;
  // The part of `bytes_read` that lies around the rows of tiles with gaps,
  // where direct reads round each row to blocks. A tile of a whole panel of a
  // packed matrix (see pack.h) has no gaps.
  int64_t bytes_around_rows = 0;
  int64_t reads = 0;
  // Time that callers waited for bytes, summed over threads.
  int64_t wait_nanoseconds = 0;
};

// The file and the offset at which direct reads find a byte.
struct DirectPlace {
  int descriptor = -1;
  int64_t offset_bytes = 0;  // in the descriptor's file
};

class WeightStore {
 public:
  // Opens a safetensors or GGUF file, or the files of an index. Returns
  // InvalidArgument if it is none of these, if a file does not have a tensor
  // that the index names for it, or if several files have a tensor that the
  // index does not name.
  static absl::StatusOr<std::unique_ptr<WeightStore>> Open(
      absl::string_view path, WeightBackend backend);

  virtual ~WeightStore() = default;
  WeightStore(const WeightStore&) = delete;
  WeightStore& operator=(const WeightStore&) = delete;

  virtual WeightBackend backend() const = 0;
  // Describes for a report how bytes are read, such as "direct: O_DIRECT", or
  // what the system refused and what is used instead.
  virtual std::string Description() const = 0;
  virtual const TensorIndex& index() const = 0;
  virtual WeightCounters counters() const = 0;

  // Finds a tensor. If there is none, returns NotFound with the closest names
  // in the file. Returns InvalidArgument if the metadata of its column blocks
  // is wrong.
  absl::StatusOr<Weight> Find(absl::string_view name) const;

  // Reads a tile densely into `destination`, which has tile.size_bytes().
  virtual absl::Status Read(const Tile& tile, void* destination) = 0;

  // Makes a tile readable: in place if the backend can (kResident, kMmap), else
  // in `slot`. The slot begins at a multiple of SlotAlignmentBytes() and has
  // SlotBytes(tile); it may be null if that is zero. The view is valid until
  // the slot is used again or the store is destroyed, and is aligned to the
  // tile's alignment_bytes. Its rows are `row_stride_bytes` apart; they are
  // dense unless the tile is viewed in place.
  virtual absl::StatusOr<TileView> Load(const Tile& tile, void* slot) = 0;

  // Returns the bytes of a slot for Load: zero if it needs none, else at most a
  // few pages more than the tile.
  virtual int64_t SlotBytes(const Tile& tile) const = 0;
  // Returns a page for kDirect, and a cache line for the other backends.
  virtual int64_t SlotAlignmentBytes() const { return kLineBytes; }

  // Returns OutOfRange unless the tile lies within the file. Read and Load
  // check this themselves.
  absl::Status CheckTile(const Tile& tile) const;

  // Returns FailedPrecondition if the file has changed since Open. Call this
  // before trusting a result that was computed from views.
  virtual absl::Status CheckFile() const = 0;

  // Returns the names of the store's files, and that of their index if there is
  // one.
  virtual std::vector<std::string> FileNames() const {
    return {index().file_name()};
  }

  // Returns the descriptor for direct reads, that of the largest file if there
  // are several, or -1 if there is none.
  virtual int direct_descriptor() const { return -1; }
  // Returns where the byte is that a tile begins with, or that the tile's block
  // begins with. Streams use it to read by themselves.
  virtual DirectPlace FindDirectPlace(int64_t offset_bytes) const {
    return {direct_descriptor(), offset_bytes};
  }
  // Returns the block size of direct reads, a power of two of at most
  // kPageBytes: offsets, lengths and addresses are multiples of it.
  virtual int64_t direct_block_bytes() const { return kPageBytes; }
  // Adds the work of a stream that reads by itself to the counters.
  virtual void Count(const WeightCounters& more) = 0;

 protected:
  WeightStore() = default;
};

// Returns the command that packs the store's file in place, or its several
// files into one. Returns an empty text for a GGUF file, which is not packed.
std::string PackCommand(const WeightStore& store);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_WEIGHT_STORE_H_
