// A store of the weights of several files, which an index names. Each file has
// a store of its own. The files' bytes follow each other in one range of
// offsets, in which each file begins at a page, so that blocks of direct reads
// and alignments are those of the file.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/safetensors/shard_index.h"
#include "footprint/lowmem/weights/column_blocks.h"
#include "footprint/lowmem/weights/direct_read.h"
#include "footprint/lowmem/weights/file_store.h"
#include "footprint/lowmem/weights/weight_backends.h"

namespace footprint::lowmem_internal {
namespace {

// The index of all files together.
class JointIndex : public TensorIndex {
 public:
  explicit JointIndex(absl::string_view name) {
    file_name_ = std::string(name);
  }

  // Fixes the file that a tensor is taken from. The calls for all files come
  // before AddFile. Returns InvalidArgument if the file does not have it.
  absl::Status Promise(const std::string& tensor, const TensorIndex& file) {
    const auto found = file.Find(tensor);
    if (!found.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file_name_, ": promises a tensor that is not there: ",
                       found.status().message(), ". Download all files again"));
    }
    promised_[tensor] = &file;
    return absl::OkStatus();
  }

  // Adds the tensors that are taken from a file whose bytes begin at
  // `begin_bytes`. Returns InvalidArgument if an earlier file has one of them,
  // too, and no file was fixed.
  absl::Status AddFile(const TensorIndex& file, int64_t begin_bytes) {
    for (const auto& [key, value] : file.metadata()) {
      if (!absl::StartsWith(key, ColumnBlocksKey(""))) metadata_[key] = value;
    }
    for (const TensorInfo& tensor : file.tensors()) {
      const auto promised = promised_.find(tensor.name);
      if (promised != promised_.end() && promised->second != &file) continue;
      const auto [first, is_new] = first_of_.emplace(tensor.name, &file);
      if (!is_new) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the tensor \"", tensor.name, "\" is in ",
            first->second->file_name(), " and in ", file.file_name(),
            ", and the index does not say which counts: add it to ",
            file_name_));
      }
      TensorInfo joint = tensor;
      joint.offset_bytes += begin_bytes;
      tensors_.push_back(std::move(joint));
      const auto blocks = file.metadata().find(ColumnBlocksKey(tensor.name));
      if (blocks != file.metadata().end()) metadata_.insert(*blocks);
    }
    file_bytes_ = begin_bytes + file.file_bytes();
    return absl::OkStatus();
  }

  absl::Status Finish() {
    promised_.clear();
    first_of_.clear();
    return SortByName();
  }

 private:
  std::map<std::string, const TensorIndex*> promised_;
  std::map<std::string, const TensorIndex*> first_of_;
};

class ShardedStore final : public WeightStore {
 public:
  explicit ShardedStore(absl::string_view path) : index_(path) {}

  absl::Status OpenAll(absl::Span<const Shard> shards, WeightBackend backend) {
    for (const Shard& shard : shards) {
      auto store = OpenFile(shard.path, backend);
      if (!store.ok()) return Broken(store.status());
      stores_.push_back(*std::move(store));
    }
    for (size_t i = 0; i < shards.size(); ++i) {
      for (const std::string& tensor : shards[i].tensors) {
        const absl::Status status = index_.Promise(tensor, stores_[i]->index());
        if (!status.ok()) return status;
      }
    }
    int64_t begin_bytes = 0;
    for (const std::unique_ptr<WeightStore>& store : stores_) {
      const absl::Status status = index_.AddFile(store->index(), begin_bytes);
      if (!status.ok()) return status;
      begins_.push_back(begin_bytes);
      begin_bytes += AlignUp(store->index().file_bytes(), kPageBytes);
      block_bytes_ = std::max(block_bytes_, store->direct_block_bytes());
    }
    return index_.Finish();
  }

  WeightBackend backend() const override { return stores_[0]->backend(); }
  std::string Description() const override {
    return absl::StrCat(stores_[0]->Description(), ", ", stores_.size(),
                        " files");
  }
  const TensorIndex& index() const override { return index_; }

  WeightCounters counters() const override {
    SharedCounters sum;
    sum.Add(counters_.Snapshot());
    for (const std::unique_ptr<WeightStore>& store : stores_) {
      sum.Add(store->counters());
    }
    return sum.Snapshot();
  }
  void Count(const WeightCounters& more) override { counters_.Add(more); }

  absl::Status Read(const Tile& tile, void* destination) override {
    const absl::Status status = CheckTile(tile);
    if (!status.ok()) return status;
    const size_t file = FileAt(tile.offset_bytes);
    return stores_[file]->Read(OwnTile(tile, file), destination);
  }

  absl::StatusOr<TileView> Load(const Tile& tile, void* slot) override {
    const absl::Status status = CheckTile(tile);
    if (!status.ok()) return status;
    const size_t file = FileAt(tile.offset_bytes);
    return stores_[file]->Load(OwnTile(tile, file), slot);
  }

  // With kDirect, the blocks of one file may be larger than those of another.
  int64_t SlotBytes(const Tile& tile) const override {
    if (backend() == WeightBackend::kDirect) {
      return DirectSlotBytes(tile, block_bytes_);
    }
    const size_t file = FileAt(tile.offset_bytes);
    return stores_[file]->SlotBytes(OwnTile(tile, file));
  }
  int64_t SlotAlignmentBytes() const override {
    return stores_[0]->SlotAlignmentBytes();
  }

  absl::Status CheckFile() const override {
    for (const std::unique_ptr<WeightStore>& store : stores_) {
      const absl::Status status = store->CheckFile();
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  std::vector<std::string> FileNames() const override {
    std::vector<std::string> names = {index_.file_name()};
    for (const std::unique_ptr<WeightStore>& store : stores_) {
      names.push_back(store->index().file_name());
    }
    return names;
  }

  int direct_descriptor() const override {
    const auto largest = std::max_element(
        stores_.begin(), stores_.end(), [](const auto& a, const auto& b) {
          return a->index().file_bytes() < b->index().file_bytes();
        });
    return (*largest)->direct_descriptor();
  }
  int64_t direct_block_bytes() const override { return block_bytes_; }
  DirectPlace FindDirectPlace(int64_t offset_bytes) const override {
    const size_t file = FileAt(offset_bytes);
    return stores_[file]->FindDirectPlace(offset_bytes - begins_[file]);
  }

 private:
  // Returns the status of a file that cannot be opened, with the index.
  absl::Status Broken(const absl::Status& status) const {
    return absl::Status(
        status.code(),
        absl::StrCat(index_.file_name(),
                     ": names a file that cannot be used: ", status.message(),
                     absl::IsNotFound(status) ? "; download it, too" : ""));
  }

  // Returns the position of the file that holds the byte.
  size_t FileAt(int64_t offset_bytes) const {
    return std::upper_bound(begins_.begin(), begins_.end(), offset_bytes) -
           begins_.begin() - 1;
  }
  Tile OwnTile(const Tile& tile, size_t file) const {
    Tile own = tile;
    own.offset_bytes -= begins_[file];
    return own;
  }

  JointIndex index_;
  std::vector<std::unique_ptr<WeightStore>> stores_;  // at least one
  std::vector<int64_t> begins_;  // of the files' bytes, in order
  int64_t block_bytes_ = 1;
  SharedCounters counters_;  // of streams that read by themselves
};

}  // namespace

absl::StatusOr<std::unique_ptr<WeightStore>> OpenShards(absl::string_view path,
                                                        WeightBackend backend) {
  const absl::StatusOr<std::vector<Shard>> shards = ReadShardIndex(path);
  if (!shards.ok()) return shards.status();
  auto store = std::make_unique<ShardedStore>(path);
  const absl::Status status = store->OpenAll(*shards, backend);
  if (!status.ok()) return status;
  return store;
}

}  // namespace footprint::lowmem_internal
