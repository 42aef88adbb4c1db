#include "footprint/lowmem/testing/failing_store.h"

#include "absl/strings/str_cat.h"

namespace footprint {

void FailingStore::FailAt(int64_t read) {
  reads_ = 0;
  failing_read_ = read;
}

absl::Status FailingStore::NextRead() {
  const int64_t read = reads_++;
  if (read != failing_read_) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("read ", read, " fails"));
}

absl::Status FailingStore::Read(const Tile& tile, void* destination) {
  const absl::Status status = NextRead();
  return status.ok() ? store_.Read(tile, destination) : status;
}

absl::StatusOr<TileView> FailingStore::Load(const Tile& tile, void* slot) {
  const absl::Status status = NextRead();
  if (!status.ok()) return status;
  return store_.Load(tile, slot);
}

}  // namespace footprint
