// A file that appears whole or not at all.
//
//   OutputFile file(path);
//   file.Write("a,b\n");
//   absl::Status status = file.Commit();
//
// Bytes go to "PATH.partial" beside the target, which takes the target's name
// in Commit; so a reader never sees half a file, and a full disk costs neither
// the old file nor leaves a new one behind. What is no regular file (/dev/full,
// a pipe) is written directly.
//
// The first failure is kept, later writes do nothing, and Commit reports it:
// * kNotFound: the folder is missing;
// * kInvalidArgument: a link, a pipe or a folder is named PATH.partial;
// * kPermissionDenied: the folder or file must not be written;
// * kResourceExhausted: the disk is full, or a limit of file size is reached (a
//   program that runs under such a limit must ignore SIGXFSZ, else it is
//   killed);
// * kInternal: another failure of the system.
//
// Thread-compatible. Memory: one buffer of kBufferBytes. Time: linear.

#ifndef FOOTPRINT_BASE_FILES_OUTPUT_FILE_H_
#define FOOTPRINT_BASE_FILES_OUTPUT_FILE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace tabular {

class OutputFile {
 public:
  static constexpr size_t kBufferBytes = 32 << 10;

  explicit OutputFile(const std::string& path);
  // Without a Commit before, nothing of the file remains.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Write(absl::string_view bytes);

  // Whether nothing has failed so far: else there is no sense in more.
  bool ok() const { return status_.ok(); }

  // Ends the file and gives it its name. To be called once.
  absl::Status Commit();

 private:
  void CreatePartial();
  void Flush();
  void WriteThrough(const char* bytes, size_t size);
  void Fail(const char* doing);
  void Discard();

  const std::string path_;
  std::string written_path_;
  int descriptor_ = -1;
  std::unique_ptr<char[]> buffer_;
  size_t buffered_ = 0;
  absl::Status status_;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_OUTPUT_FILE_H_
