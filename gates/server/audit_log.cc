#include "footprint/gates/server/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/read_write.h"
#include "footprint/gates/server/utc_time.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

constexpr mode_t kOwnerOnly = 0600;

// Returns whether the file's last byte ends a line, or there is none.
bool EndsWithLine(int descriptor) {
  struct stat about = {};
  char last = '\n';
  return fstat(descriptor, &about) != 0 || about.st_size == 0 ||
         ReadAt(descriptor, about.st_size - 1, 1, &last) != 1 || last == '\n';
}

// Gives an empty log that root made, for instance by `serve token add`, to the
// folder's owner, who may run the server. A file that has another name, too, is
// not the log's alone and stays root's. Returns false and sets errno if that
// fails.
bool GiveToOwnerOfFolder(const std::string& path, int descriptor) {
  struct stat about = {};
  struct stat folder = {};
  if (geteuid() != 0) return true;
  const std::string folder_path =
      std::filesystem::path(path).parent_path().string();
  if (fstat(descriptor, &about) != 0 ||
      stat(folder_path.c_str(), &folder) != 0) {
    return false;
  }
  return about.st_size > 0 || !S_ISREG(about.st_mode) || about.st_nlink != 1 ||
         about.st_uid == folder.st_uid ||
         fchown(descriptor, folder.st_uid, folder.st_gid) == 0;
}

}  // namespace

std::string MakeAuditLogPath(const std::string& store_folder) {
  return store_folder + "/audit.jsonl";
}

absl::Status AppendToAuditLog(const std::string& path, int64_t now_unix_seconds,
                              const AuditEntry& entry) {
  nlohmann::ordered_json line = {
      {"time", FormatUtcTime(now_unix_seconds)},
      {"who", entry.who},
      {"action", entry.action},
  };
  for (const auto& [name, value] : entry.details) line[name] = value;
  // Names and labels that are not UTF-8 are written with replacements.
  const std::string text = line.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  // A link that the folder's owner made could name any file, and root's entry
  // would create it.
  const FileDescriptor file(
      open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
           kOwnerOnly));
  if (!file.is_open()) return FileError(errno, path, "cannot be opened");
  // While another thread or process appends, the file may end in a part of its
  // entry, which looks like one that was cut off. So they take turns.
  if (!LockFileIfPossible(file.get(), WhenLocked::kWait)) {
    return FileError(errno, path, "cannot be locked");
  }
  if (!GiveToOwnerOfFolder(path, file.get())) {
    return FileError(errno, path, "cannot be given to the folder's owner");
  }
  const std::string bytes =
      absl::StrCat(EndsWithLine(file.get()) ? "" : "\n", text, "\n");
  return WriteOn(file.get(), bytes.data(), static_cast<int64_t>(bytes.size()))
             ? absl::OkStatus()
             : FileError(errno, path, "cannot be written");
}

}  // namespace footprint
