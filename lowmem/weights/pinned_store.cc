#include "footprint/lowmem/weights/pinned_store.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace {

// The limit of one read, so that a tile's sizes fit their types.
constexpr int64_t kLargestReadBytes = 1 << 20;

}  // namespace

int64_t PinnedStore::PinnedBytes(const TensorInfo& tensor) {
  return AlignUp(tensor.size_bytes, kLineBytes);
}

absl::Status PinnedStore::Pin(const TensorInfo& tensor) {
  const int64_t bytes = PinnedBytes(tensor);
  if (bytes > static_cast<int64_t>(memory_.size())) {
    return absl::ResourceExhaustedError(
        absl::StrCat(tensor.name, " takes ", bytes, " bytes, but ",
                     memory_.size(), " are left to pin"));
  }
  PinnedTensor pinned;
  pinned.begin = tensor.offset_bytes;
  pinned.end = tensor.offset_bytes + tensor.size_bytes;
  pinned.data = memory_.data();
  for (int64_t done = 0; done < tensor.size_bytes;) {
    Tile tile;
    tile.offset_bytes = tensor.offset_bytes + done;
    tile.row_bytes = static_cast<int32_t>(
        std::min(kLargestReadBytes, tensor.size_bytes - done));
    tile.row_stride_bytes = tile.row_bytes;
    tile.rows = 1;
    const absl::Status status = base_->Read(tile, memory_.data() + done);
    if (!status.ok()) return status;
    done += tile.row_bytes;
  }
  memory_.remove_prefix(bytes);
  const auto place =
      std::upper_bound(pinned_.begin(), pinned_.end(), pinned,
                       [](const PinnedTensor& a, const PinnedTensor& b) {
                         return a.begin < b.begin;
                       });
  pinned_.insert(place, pinned);
  return absl::OkStatus();
}

const char* PinnedStore::FindPinned(const Tile& tile) const {
  const auto after =
      std::upper_bound(pinned_.begin(), pinned_.end(), tile.offset_bytes,
                       [](int64_t offset, const PinnedTensor& pinned) {
                         return offset < pinned.begin;
                       });
  if (after == pinned_.begin()) return nullptr;
  const PinnedTensor& pinned = *(after - 1);
  if (tile.offset_bytes + tile.extent_bytes() > pinned.end) return nullptr;
  return pinned.data + (tile.offset_bytes - pinned.begin);
}

absl::Status PinnedStore::Read(const Tile& tile, void* destination) {
  const absl::Status status = CheckTile(tile);
  if (!status.ok()) return status;
  const char* from = FindPinned(tile);
  if (from == nullptr) return base_->Read(tile, destination);
  char* to = static_cast<char*>(destination);
  for (int32_t row = 0; row < tile.rows; ++row) {
    std::memcpy(to, from, static_cast<size_t>(tile.row_bytes));
    to += tile.row_bytes;
    from += tile.row_stride_bytes;
  }
  WeightCounters counters;
  counters.bytes_delivered = tile.size_bytes();
  base_->Count(counters);
  return absl::OkStatus();
}

absl::StatusOr<TileView> PinnedStore::Load(const Tile& tile, void* slot) {
  const absl::Status status = CheckTile(tile);
  if (!status.ok()) return status;
  const char* const data = FindPinned(tile);
  if (data == nullptr) return base_->Load(tile, slot);
  WeightCounters counters;
  counters.bytes_delivered = tile.size_bytes();
  base_->Count(counters);
  TileView view;
  view.data = data;
  view.row_stride_bytes = tile.row_stride_bytes;
  return view;
}

int64_t PinnedStore::SlotBytes(const Tile& tile) const {
  return FindPinned(tile) == nullptr ? base_->SlotBytes(tile) : 0;
}

}  // namespace footprint
