// A file that is open for reading, with a way to notice that it changed.
//
//   absl::StatusOr<footprint::WatchedFile> file =
//       footprint::WatchedFile::Open("model.gguf");
//   absl::Status status = file->Read(offset_bytes, size_bytes, values);
//   if (status.ok()) status = file->CheckUnchanged();
//
// Owns its descriptor. Movable; thread-safe once opened. It allocates nothing
// after Open, unless there is an error.

#ifndef FOOTPRINT_BASE_FILES_WATCHED_FILE_H_
#define FOOTPRINT_BASE_FILES_WATCHED_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

// Says how closely a file is watched. Time stamps of files are some
// milliseconds apart, so a second write within that time leaves no trace.
enum class Watch {
  kLoosely,   // such a write may be missed
  kStrictly,  // Open waits until the last write is older
};

class WatchedFile {
 public:
  // Opens the file. Errors are those of OpenRegularFile (regular_file.h). With
  // kStrictly, waits some milliseconds if the file has just been written.
  static absl::StatusOr<WatchedFile> Open(absl::string_view path,
                                          Watch watch = Watch::kLoosely);

  int descriptor() const { return file_.get(); }
  const std::string& name() const { return name_; }
  // Returns the size when it was opened.
  int64_t size_bytes() const { return opened_.st_size; }

  // Reads `size_bytes` from `offset_bytes` on, through the page cache. Fails
  // with FailedPrecondition if the file was shortened; other errors are those
  // of FileError.
  absl::Status Read(int64_t offset_bytes, int64_t size_bytes,
                    void* destination) const;

  // Fails with FailedPrecondition if the file was removed, replaced, resized or
  // written to since Open; other errors are those of FileError. With kStrictly,
  // if it succeeds after a read, the file had these bytes at Open: the system
  // stamps a write before its bytes can be seen. Takes one fstat.
  absl::Status CheckUnchanged() const;

  // Returns the error, a FailedPrecondition, of a file that ends at `end_bytes`
  // although its index says otherwise.
  absl::Status ShortenedError(int64_t end_bytes) const;

 protected:
  WatchedFile() = default;

 private:
  std::string name_;
  FileDescriptor file_;
  struct stat opened_ = {};
};

}  // namespace footprint

// Tested by //base/safetensors:safetensors_file_test.

#endif  // FOOTPRINT_BASE_FILES_WATCHED_FILE_H_
