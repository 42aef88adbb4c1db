#include "footprint/gates/trials/work_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_lock.h"

namespace footprint {
namespace {

constexpr char kName[] = "footprint-try";
constexpr int kMostTries = 100;
// The number of characters that mkdtemp adds to a name.
constexpr size_t kRandomCharacters = 6;

FileDescriptor OpenFolder(const std::string& path) {
  return FileDescriptor(
      open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Removes a folder of this user that no process has locked.
void RemoveIfAbandoned(const std::string& path) {
  const FileDescriptor folder = OpenFolder(path);
  struct stat facts;
  if (!folder.is_open() || fstat(folder.get(), &facts) != 0 ||
      facts.st_uid != geteuid() ||
      !LockFile(folder.get(), WhenLocked::kRefuse) ||
      !IsNamed(path, Links::kRefuse, folder.get())) {
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

void RemoveAbandoned(const std::string& parent) {
  const std::string prefix = absl::StrCat(kName, "-");
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator each(parent, error), end;
       !error && each != end; each.increment(error)) {
    const std::string file = each->path().filename().string();
    if (file.size() == prefix.size() + kRandomCharacters &&
        absl::StartsWith(file, prefix)) {
      found.push_back(each->path().string());
    }
  }
  for (const std::string& path : found) RemoveIfAbandoned(path);
}

}  // namespace

absl::Status WorkFolder::Create(const std::string& parent) {
  RemoveAbandoned(parent);
  for (int i = 0; i < kMostTries; ++i) {
    folder_.emplace();
    const absl::Status status = folder_->Create(parent, kName);
    if (!status.ok()) return status;
    // Another process may take the new folder for one that was left.
    lock_ = OpenFolder(folder_->path());
    if (lock_.is_open() &&
        LockFileIfPossible(lock_.get(), WhenLocked::kRefuse) &&
        IsNamed(folder_->path(), Links::kRefuse, lock_.get())) {
      return absl::OkStatus();
    }
  }
  return absl::UnavailableError(
      absl::StrCat(parent, ": other processes remove each folder ", kName,
                   "-* that is made there; name another folder by TMPDIR"));
}

}  // namespace footprint
