#include "footprint/profiling/measuring/measurement_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/read_write.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

// The name's length may reach the heap, so it is always the same.
constexpr char kFolderPattern[] = "/tmp/footprint-XXXXXX";

// Returns the text that identifies the folder itself, or "" if it does not
// exist. A copy, or a folder that somebody renamed to keep it, has another path
// or another inode.
std::string MarkerText(const std::string& path) {
  struct stat facts = {};
  if (lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return "";
  return absl::StrCat("profile_runner of Footprint made ", path, ", inode ",
                      facts.st_ino, ", and removes it\n");
}

// Returns the locked marker of a new folder, or a closed descriptor. Its text
// is written last, so a runner that is killed earlier leaves a folder without a
// valid marker.
FileDescriptor MakeMarker(const std::string& path) {
  const std::string text = MarkerText(path);
  FileDescriptor marker(open(absl::StrCat(path, "/", kFolderMarkerName).c_str(),
                             O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (marker.is_open() && LockFile(marker.get(), WhenLocked::kRefuse) &&
      WriteOn(marker.get(), text.data(), static_cast<int64_t>(text.size()))) {
    return marker;
  }
  return FileDescriptor();
}

// Returns the locked marker of a folder that no runner uses any more, or a
// closed descriptor.
FileDescriptor LockAbandoned(const std::string& path) {
  FileDescriptor marker(open(absl::StrCat(path, "/", kFolderMarkerName).c_str(),
                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!marker.is_open()) return marker;
  const std::string text = MarkerText(path);
  std::string found(text.size() + 1, '\0');
  struct stat facts = {};
  if (fstat(marker.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
      facts.st_uid == geteuid() &&
      LockFile(marker.get(), WhenLocked::kRefuse) &&
      fstat(marker.get(), &facts) == 0 && facts.st_nlink == 1 &&
      !text.empty() &&
      ReadOn(marker.get(), static_cast<int64_t>(found.size()), &found[0]) ==
          static_cast<int64_t>(text.size()) &&
      absl::StartsWith(found, text)) {
    return marker;
  }
  return FileDescriptor();
}

// Removes a file or a folder with all that it holds. A program may have made
// folders that nobody may write to, as copies of Bazel's outputs are.
bool RemoveAll(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return true;
  error.clear();
  fs::permissions(path, fs::perms::owner_all,
                  fs::perm_options::add | fs::perm_options::nofollow, error);
  for (fs::recursive_directory_iterator entry(path, error), end;
       !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(entry->symlink_status(ignored))) {
      fs::permissions(entry->path(), fs::perms::owner_all,
                      fs::perm_options::add, ignored);
    }
  }
  fs::remove_all(path, error);
  return !error;
}

// Removes the marker last, so that a removal that is cut short, or that fails,
// can be finished by another runner.
void RemoveFolder(const std::string& path) {
  std::error_code error;
  bool is_empty = true;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() != kFolderMarkerName) {
      is_empty &= RemoveAll(entry->path());
    }
  }
  if (error || !is_empty) return;
  unlink(absl::StrCat(path, "/", kFolderMarkerName).c_str());
  rmdir(path.c_str());
}

// Copies a file, or a folder with all that it holds, and follows links. The
// copies of folders are writable: those of Bazel's outputs are not, and
// fs::copy would give a copy the same permissions before it is filled.
void Copy(const fs::path& from, const fs::path& to, std::error_code& error) {
  if (!fs::is_directory(from, error)) {
    if (!error) fs::copy_file(from, to, error);
    return;
  }
  fs::create_directory(to, error);
  for (fs::directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    Copy(entry->path(), to / entry->path().filename(), error);
    if (error) return;
  }
}

}  // namespace

MeasurementFolder::MeasurementFolder() {
  std::string name = kFolderPattern;
  if (mkdtemp(&name[0]) == nullptr) return;
  marker_ = MakeMarker(name);
  path_ = name;
  if (marker_.is_open()) return;
  RemoveFolder(path_);
  path_.clear();
}

MeasurementFolder::~MeasurementFolder() {
  if (!path_.empty()) RemoveFolder(path_);
}

void RemoveAbandonedFolders() {
  const fs::path pattern(kFolderPattern);
  const std::string prefix =
      absl::StrCat(absl::StripSuffix(pattern.filename().string(), "XXXXXX"));
  std::error_code error;
  for (fs::directory_iterator entry(pattern.parent_path(), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() != pattern.filename().string().size() ||
        !absl::StartsWith(name, prefix)) {
      continue;
    }
    const FileDescriptor marker = LockAbandoned(entry->path().string());
    if (marker.is_open()) RemoveFolder(entry->path().string());
  }
}

absl::Status LinkData(const std::vector<DataFile>& data,
                      const std::string& folder) {
  for (const DataFile& file : data) {
    std::error_code error;
    const fs::path target = fs::canonical(file.path, error);
    if (error) {
      return absl::NotFoundError(
          absl::StrCat("data file ", file.path, ": ", error.message(),
                       "; check the path given with --data"));
    }
    const fs::path link = fs::path(folder) / file.name;
    fs::create_directories(link.parent_path(), error);
    if (!error) fs::create_symlink(target, link, error);
    if (error) {
      return absl::InvalidArgumentError(absl::StrCat(
          "data name '", file.name, "' cannot be linked: ", error.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status CopyProgram(const std::string& executable, const std::string& name,
                         const std::vector<DataFile>& runfiles,
                         const std::string& folder) {
  std::vector<DataFile> copies = {{executable, name}};
  for (const DataFile& file : runfiles) {
    copies.push_back({file.path, absl::StrCat(name, ".runfiles/", file.name)});
  }
  for (const DataFile& file : copies) {
    const fs::path target = fs::path(folder) / file.name;
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (!error) {
      const fs::path original = fs::canonical(file.path, error);
      if (!error) Copy(original, target, error);
    }
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, ": cannot be copied to ", folder, "/",
                       file.name, ": ", error.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace footprint
