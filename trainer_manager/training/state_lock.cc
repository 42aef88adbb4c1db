#include "footprint/trainer_manager/training/state_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"

namespace footprint {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

bool IsWritable(const std::string& folder) {
  return faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0;
}

}  // namespace

absl::StatusOr<FileLock> LockTrainingState(const std::string& path) {
  const std::string beside = absl::StrCat(path, ".lock");
  const FileDescriptor made(
      open(beside.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  if (made.get() < 0) {
    const absl::Status error = FileError(errno, beside, "cannot be created");
    if (absl::IsPermissionDenied(error) && IsWritable(FolderOf(path))) {
      return absl::FailedPreconditionError(absl::StrCat(
          beside,
          ": belongs to another user, whose training may be using the same "
          "file; give this one another TrainOptions::state_path"));
    }
    return error;
  }
  absl::StatusOr<FileLock> lock = FileLock::TryAcquire(beside);
  if (lock.ok() || !absl::IsUnavailable(lock.status())) return lock;
  return absl::FailedPreconditionError(absl::StrCat(
      path,
      ": another training is using it; wait for it to end, or give this "
      "one another TrainOptions::state_path"));
}

}  // namespace footprint
