#include "footprint/lowmem/weights/weight_file.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "footprint/base/gguf/gguf.h"
#include "footprint/base/safetensors/safetensors.h"

namespace footprint {
namespace {

absl::StatusOr<bool> BeginsAsGguf(const WatchedFile& file) {
  char begin[4] = {};
  const absl::Status status =
      file.Read(0, std::min<int64_t>(sizeof(begin), file.size_bytes()), begin);
  if (!status.ok()) return status;
  return GgufIndex::HasMagic({begin, sizeof(begin)});
}

absl::StatusOr<TensorIndex> ReadIndex(const WatchedFile& file) {
  const absl::StatusOr<bool> is_gguf = BeginsAsGguf(file);
  if (!is_gguf.ok()) return is_gguf.status();
  // A damaged file is refused as what its name says.
  if (*is_gguf || absl::EndsWith(file.name(), ".gguf")) {
    return GgufIndex::Read(file.descriptor(), file.name());
  }
  return SafetensorsIndex::Read(file.descriptor(), file.name());
}

}  // namespace

bool IsGgufFile(absl::string_view path) {
  const absl::StatusOr<WatchedFile> file = WatchedFile::Open(path);
  if (!file.ok()) return false;
  const absl::StatusOr<bool> is_gguf = BeginsAsGguf(*file);
  return is_gguf.ok() && *is_gguf;
}

absl::StatusOr<WeightFile> WeightFile::Open(absl::string_view path) {
  absl::StatusOr<WatchedFile> opened =
      WatchedFile::Open(path, Watch::kStrictly);
  if (!opened.ok()) return opened.status();
  absl::StatusOr<TensorIndex> index = ReadIndex(*opened);
  if (!index.ok()) return index.status();
  WeightFile file(*std::move(opened), *std::move(index));
  const absl::Status unchanged = file.CheckUnchanged();
  if (!unchanged.ok()) return unchanged;
  return file;
}

}  // namespace footprint
