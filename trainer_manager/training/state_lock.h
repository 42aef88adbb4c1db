// Keeps two trainings from writing one file, in any two processes or threads.
//
//   const auto lock = footprint::LockTrainingState("training.safetensors");
//   if (!lock.ok()) return lock.status();  // another training has it
//
// The lock is on a file beside the other, PATH.lock, since PATH itself is
// replaced at each save. That file is empty and stays. The lock ends with the
// object or the process, also if the process is killed. On file systems without
// locks every caller succeeds. Thread-safe; memory: a file descriptor.

#ifndef FOOTPRINT_TRAINER_MANAGER_TRAINING_STATE_LOCK_H_
#define FOOTPRINT_TRAINER_MANAGER_TRAINING_STATE_LOCK_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/base/files/file_lock.h"

namespace footprint {

// Fails with FailedPrecondition if another training has the file, or if the
// lock's file exists but may not be read, as one of another user. Fails with
// InvalidArgument if PATH.lock is a pipe or a device. Otherwise fails as
// FileError does: with NotFound if the folder is missing, with PermissionDenied
// if it is not writable.
absl::StatusOr<FileLock> LockTrainingState(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_TRAINING_STATE_LOCK_H_
