// A temporary folder, which is removed with all its content when the object is
// destroyed.
//
//   footprint::TemporaryFolder folder;
//   absl::Status status =
//       folder.Create(footprint::TemporaryFolderParent(), "my-program");
//   if (!status.ok()) return status;
//   Unpack(archive, folder.Path("unpacked"));
//
// Owns the folder, which only its user may read. If the process is killed or
// calls _exit, the folder stays. Thread-compatible. Memory: the path.

#ifndef FOOTPRINT_BASE_FILES_TEMPORARY_FOLDER_H_
#define FOOTPRINT_BASE_FILES_TEMPORARY_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

// Returns TMPDIR, or /tmp if it is not set or empty.
std::string TemporaryFolderParent();

class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  // Removes the folder without following links out of it. Files that cannot be
  // removed stay.
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  // Makes PARENT/NAME-XXXXXX, with six other characters. Call it once. Returns
  // InvalidArgument if `parent` is empty, and otherwise the errors of FileError
  // (file_error.h).
  absl::Status Create(absl::string_view parent, absl::string_view name);

  // Returns the path of the folder; it is empty before Create has succeeded.
  const std::string& path() const { return path_; }
  // Returns the path of `name` in the folder, whether or not it exists. Call it
  // after Create has succeeded.
  std::string Path(absl::string_view name) const;

 private:
  std::string path_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_TEMPORARY_FOLDER_H_
