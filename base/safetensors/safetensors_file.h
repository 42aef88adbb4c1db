// An open safetensors file, with a way to notice that it changed.
//
//   absl::StatusOr<footprint::SafetensorsFile> file =
//       footprint::SafetensorsFile::Open("model.safetensors");
//   absl::StatusOr<const footprint::TensorInfo*> bias =
//       file->index().Find("bias");
//   absl::Status status = file->Read((*bias)->offset_bytes,
//                                    (*bias)->size_bytes, values);
//   if (status.ok()) status = file->CheckUnchanged();
//
// Movable; thread-safe once opened. Reading allocates nothing, unless there is
// an error. Memory: the index. Time: that of the index (safetensors.h).

#ifndef FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_FILE_H_
#define FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_FILE_H_

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/watched_file.h"
#include "footprint/base/safetensors/safetensors.h"

namespace footprint {

class SafetensorsFile : public WatchedFile {
 public:
  // Opens the file and reads its header. Errors are those of WatchedFile and
  // SafetensorsIndex.
  static absl::StatusOr<SafetensorsFile> Open(absl::string_view path,
                                              Watch watch = Watch::kLoosely);

  const SafetensorsIndex& index() const { return index_; }

 private:
  SafetensorsFile(WatchedFile file, SafetensorsIndex index)
      : WatchedFile(std::move(file)), index_(std::move(index)) {}

  SafetensorsIndex index_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_FILE_H_
