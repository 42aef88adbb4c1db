// A store that reads the whole file into memory, as other programs do.

#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/lowmem/weights/file_store.h"
#include "footprint/lowmem/weights/weight_backends.h"

namespace footprint::lowmem_internal {
namespace {

class ResidentStore final : public FileStore {
 public:
  explicit ResidentStore(WeightFile file) : FileStore(std::move(file)) {}

  // Reads the whole file, header included, so that offsets in the file are
  // offsets in memory.
  absl::Status ReadAll() {
    const int64_t begin = NowNanoseconds();
    const auto bytes = static_cast<int64_t>(MappedBytes());
    absl::StatusOr<MappedBlock> block = MappedBlock::AllocateHuge(bytes);
    if (!block.ok()) {
      return absl::ResourceExhaustedError(
          absl::StrCat(file_.name(), ": ", block.status().message(),
                       " to hold it; another backend needs none"));
    }
    block_ = *std::move(block);
    const int64_t file_bytes = index().file_bytes();
    absl::Status read = file_.Read(0, file_bytes, image());
    if (read.ok()) read = file_.CheckUnchanged();
    counters_.Add(0, file_bytes, 1, begin);
    return read;
  }

  WeightBackend backend() const override { return WeightBackend::kResident; }
  std::string Description() const override { return "resident: in memory"; }

  absl::Status Read(const Tile& tile, void* destination) override {
    absl::Status status = CheckTile(tile);
    if (!status.ok()) return status;
    const int64_t begin = NowNanoseconds();
    CopyRows(tile, image(), destination);
    counters_.Add(tile.size_bytes(), 0, 0, begin);
    return absl::OkStatus();
  }

  int64_t SlotBytes(const Tile& tile) const override {
    return IsAlignedInPlace(tile) ? 0 : tile.size_bytes();
  }

  absl::StatusOr<TileView> Load(const Tile& tile, void* slot) override {
    absl::Status status = CheckTile(tile);
    if (!status.ok()) return status;
    const int64_t begin = NowNanoseconds();
    absl::StatusOr<TileView> view = ViewOrCopy(tile, image(), slot);
    if (view.ok()) counters_.Add(tile.size_bytes(), 0, 0, begin);
    return view;
  }

  // Loaded weights do not change with the file.
  absl::Status CheckFile() const override { return absl::OkStatus(); }

 private:
  char* image() const { return block_.At<char>(0); }

  MappedBlock block_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<WeightStore>> OpenResident(WeightFile file) {
  auto store = std::make_unique<ResidentStore>(std::move(file));
  absl::Status read = store->ReadAll();
  if (!read.ok()) return read;
  return store;
}

}  // namespace footprint::lowmem_internal
