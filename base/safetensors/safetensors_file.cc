#include "footprint/base/safetensors/safetensors_file.h"

#include <utility>

namespace footprint {

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(absl::string_view path,
                                                      Watch watch) {
  absl::StatusOr<WatchedFile> opened = WatchedFile::Open(path, watch);
  if (!opened.ok()) return opened.status();
  absl::StatusOr<SafetensorsIndex> index =
      SafetensorsIndex::Read(opened->descriptor(), opened->name());
  if (!index.ok()) return index.status();
  SafetensorsFile file(*std::move(opened), *std::move(index));
  absl::Status unchanged = file.CheckUnchanged();
  if (!unchanged.ok()) return unchanged;
  return file;
}

}  // namespace footprint
