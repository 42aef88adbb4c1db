#include "footprint/trainer_manager/training/state_lock.h"

#include <fcntl.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"

namespace footprint {

absl::StatusOr<FileLock> LockTrainingState(const std::string& path) {
  const std::string beside = absl::StrCat(path, ".lock");
  const FileDescriptor made(
      open(beside.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  if (made.get() < 0) return FileError(errno, beside, "cannot be created");
  absl::StatusOr<FileLock> lock = FileLock::TryAcquire(beside);
  if (lock.ok() || !absl::IsUnavailable(lock.status())) return lock;
  return absl::FailedPreconditionError(absl::StrCat(
      path,
      ": another training is using it; wait for it to end, or give this "
      "one another TrainOptions::state_path"));
}

}  // namespace footprint
