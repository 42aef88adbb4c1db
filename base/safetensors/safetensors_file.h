// A safetensors file that is open, and the means to notice that it changed.
//
//   absl::StatusOr<footprint::SafetensorsFile> file =
//       footprint::SafetensorsFile::Open("model.safetensors");
//   absl::StatusOr<const footprint::TensorInfo*> bias =
//       file->index().Find("bias");
//   absl::Status status = file->Read((*bias)->offset_bytes,
//                                    (*bias)->size_bytes, values);
//   if (status.ok()) status = file->CheckUnchanged();
//
// Movable; thread-safe once opened. Nothing is allocated after Open. Memory:
// the index. Time: that of the index (safetensors.h).

#ifndef FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_FILE_H_
#define FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/safetensors/safetensors.h"

namespace footprint {

// A write in the same few milliseconds as the one before leaves no trace.
enum class Watch {
  kLoosely,   // such a write may be missed
  kStrictly,  // Open waits until those of the last write are over
};

class SafetensorsFile {
 public:
  // Errors as of OpenRegularFile (regular_file.h) and SafetensorsIndex.
  static absl::StatusOr<SafetensorsFile> Open(absl::string_view path,
                                              Watch watch = Watch::kLoosely);

  int descriptor() const { return file_.get(); }
  const SafetensorsIndex& index() const { return index_; }
  const std::string& name() const { return index_.file_name(); }

  // `size_bytes` from `offset_bytes` of the file on, through the page cache.
  // FailedPrecondition: the file was shortened; else FileError's.
  absl::Status Read(int64_t offset_bytes, int64_t size_bytes,
                    void* destination) const;

  // FailedPrecondition if the file was removed, replaced, resized or written to
  // since Open. Asked after a read it guarantees what was read: the system
  // stamps a write before its bytes can be seen. One fstat.
  absl::Status CheckUnchanged() const;

  // The error of a file that ends at `end_bytes` although its index says
  // otherwise.
  absl::Status ShortenedError(int64_t end_bytes) const;

 private:
  SafetensorsFile() = default;

  FileDescriptor file_;
  struct stat opened_ = {};
  SafetensorsIndex index_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_FILE_H_
