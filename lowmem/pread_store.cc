// Weights read through the page cache into the caller's memory.

#include <utility>

#include "footprint/lowmem/file_store.h"
#include "footprint/lowmem/weight_backends.h"

namespace footprint::lowmem_internal {
namespace {

class PreadStore final : public FileStore {
 public:
  explicit PreadStore(WeightFile file) : FileStore(std::move(file)) {}

  WeightBackend backend() const override { return WeightBackend::kPread; }
  std::string Description() const override {
    return "pread: through the page cache";
  }

  absl::Status Read(const Tile& tile, void* destination) override {
    absl::Status status = CheckTile(tile);
    if (!status.ok()) return status;
    const int64_t begin = NowNanoseconds();
    int64_t reads = 0;
    status = ReadRows(tile, static_cast<char*>(destination), &reads);
    if (status.ok()) status = file_.CheckUnchanged();
    if (!status.ok()) return status;
    counters_.Add(tile.size_bytes(), tile.size_bytes(), reads, begin);
    return absl::OkStatus();
  }

  int64_t SlotBytes(const Tile& tile) const override {
    return tile.size_bytes();
  }

  absl::StatusOr<TileView> Load(const Tile& tile, void* slot) override {
    absl::Status status = Read(tile, slot);
    if (!status.ok()) return status;
    TileView view;
    view.data = slot;
    view.row_stride_bytes = tile.row_bytes;
    return view;
  }

 private:
  absl::Status ReadRows(const Tile& tile, char* destination, int64_t* reads) {
    if (tile.contiguous()) {
      *reads = 1;
      return ReadFully(file_.descriptor(), file_.name(), tile.offset_bytes,
                       tile.size_bytes(), destination);
    }
    for (int32_t row = 0; row < tile.rows; ++row) {
      absl::Status status = ReadFully(
          file_.descriptor(), file_.name(),
          tile.offset_bytes + row * tile.row_stride_bytes, tile.row_bytes,
          destination + row * int64_t{tile.row_bytes});
      if (!status.ok()) return status;
    }
    *reads = tile.rows;
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<WeightStore>> OpenPread(WeightFile file) {
  return std::make_unique<PreadStore>(std::move(file));
}

}  // namespace footprint::lowmem_internal
