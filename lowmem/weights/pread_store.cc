// A store that reads through the page cache into the caller's memory.

#include <utility>

#include "footprint/lowmem/weights/file_store.h"
#include "footprint/lowmem/weights/weight_backends.h"

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
    const absl::Status status = CheckTile(tile);
    if (!status.ok()) return status;
    return ReadRows(tile, destination);
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
};

}  // namespace

absl::StatusOr<std::unique_ptr<WeightStore>> OpenPread(WeightFile file) {
  return std::make_unique<PreadStore>(std::move(file));
}

}  // namespace footprint::lowmem_internal
