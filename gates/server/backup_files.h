// Copies files of a store that its database does not hold to a backup.
//
//   absl::Status status = BackUpFiles(
//       {"/var/lib/footprint/tokens", "/var/lib/footprint/audit.jsonl"},
//       "/var/lib/footprint/backups/1764400000-001");
//
// A copy keeps the file's name, and only its owner can read it. A file that is
// missing is left out. A line that is appended to a file under its lock, as to
// the audit log, is copied completely or not at all; the lock is not held while
// bytes are copied.
//
// Thread-safe; keeps nothing. Memory: 64 KiB. Time: that of the disk, to which
// the copies are flushed. Errors: FileError's, such as ResourceExhausted for a
// full disk, InvalidArgument if a path leads to something else than a regular
// file, and Unavailable if the folder has a file of the same name.

#ifndef FOOTPRINT_GATES_SERVER_BACKUP_FILES_H_
#define FOOTPRINT_GATES_SERVER_BACKUP_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace footprint {

// Copies the files to a folder that exists.
absl::Status BackUpFiles(const std::vector<std::string>& paths,
                         const std::string& folder);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_BACKUP_FILES_H_
