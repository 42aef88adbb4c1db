// A folder for the trials of one process, below a folder of many, such as /tmp.
//
//   WorkFolder work;
//   absl::Status status = work.Create(TemporaryFolderParent());
//   if (!status.ok()) return status;
//   request.set_work_folder(work.path());
//
// It is removed with the object. A process that is killed leaves its folder,
// and the next one of the same user removes that first: a folder is in
// use as long as a process has a lock on it. On a file system without locks
// nothing is known of other folders, and they stay.
//
// Owns the folder, which only its user may read. Thread-compatible. Memory: the
// path and a file descriptor. Time: linear in the entries of the parent, and
// that of removing what was left.

#ifndef FOOTPRINT_GATES_TRIALS_WORK_FOLDER_H_
#define FOOTPRINT_GATES_TRIALS_WORK_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/temporary_folder.h"

namespace footprint {

class WorkFolder {
 public:
  // Removes what killed processes left, and makes PARENT/footprint-try-XXXXXX.
  // Call it once. Returns the errors of TemporaryFolder::Create, and
  // Unavailable if other processes remove the folder again and again.
  absl::Status Create(const std::string& parent);

  // Returns the folder's path. Call it after Create has succeeded.
  const std::string& path() const { return folder_->path(); }

 private:
  // The lock outlives the folder.
  FileDescriptor lock_;
  absl::optional<TemporaryFolder> folder_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TRIALS_WORK_FOLDER_H_
