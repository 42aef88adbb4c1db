// Appends to the server's audit log: who asked for which change, and when.
//
//   absl::Status status = AppendToAuditLog(
//       "/var/lib/footprint/audit.jsonl", 1764400000,
//       {"ci", "submit", {{"bundle_sha256", digest}}});
//
// An entry is one line of JSON: {"time": "2025-11-29T07:06:40Z", "who": "ci",
// "action": "submit", "bundle_sha256": ...}. A caller writes the entry before
// it makes the change, and does not make the change if the entry cannot be
// written. So each change has an entry, but the change of an entry may have
// failed.
//
// The file is opened for each entry, so that other programs may move it away at
// any time. Only its owner can read the file. If root makes it, it belongs to
// the owner of the folder. If an earlier entry was cut off, for instance by a
// full disk, the next one begins a new line.
//
// Thread-safe. Threads and processes take turns with a lock on the file.
// Memory: the line. Time: the wait for the lock, and a write to the page cache;
// the entry survives a killed process, but not a loss of power.

#ifndef FOOTPRINT_GATES_SERVER_AUDIT_LOG_H_
#define FOOTPRINT_GATES_SERVER_AUDIT_LOG_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace footprint {

struct AuditEntry {
  // The name of a token, or "uid 1000" for a user of this machine.
  std::string who;
  std::string action;
  // Further fields, by name; none is called "time", "who" or "action".
  std::vector<std::pair<std::string, std::string>> details;
};

// Returns the path of a store's audit log.
std::string MakeAuditLogPath(const std::string& store_folder);

// Appends an entry. Errors: FileError's, such as ResourceExhausted for a full
// disk, or InvalidArgument if `path` is a symbolic link.
absl::Status AppendToAuditLog(const std::string& path, int64_t now_unix_seconds,
                              const AuditEntry& entry);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_AUDIT_LOG_H_
