#include "footprint/profiling/resident/memory_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace footprint {
namespace {

// Returns an empty text if the path does not exist.
std::string FindDevice(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0
             ? DeviceName(major(facts.st_dev), minor(facts.st_dev))
             : "";
}

int64_t FolderBytes(const std::string& folder) {
  DIR* const directory = opendir(folder.c_str());
  if (directory == nullptr) return 0;
  int64_t bytes = 0;
  while (const dirent* entry = readdir(directory)) {
    struct stat facts;
    if (fstatat(dirfd(directory), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        S_ISREG(facts.st_mode)) {
      bytes += int64_t{facts.st_blocks} * 512;
    }
  }
  closedir(directory);
  return bytes;
}

}  // namespace

MemoryFiles::MemoryFiles(const std::vector<Mount>& mounts,
                         std::string agent_folder)
    : agent_folder_(std::move(agent_folder)) {
  agent_device_ = FindDevice(agent_folder_);
  for (const Mount& mount : mounts) {
    if (mount.type != "tmpfs") continue;
    // Another mount may hide this one.
    const bool is_seen = FindDevice(mount.path) == mount.device;
    const bool is_known = std::any_of(
        uses_.begin(), uses_.end(),
        [&mount](const Use& use) { return use.mount.device == mount.device; });
    if (is_seen && !is_known) uses_.push_back({mount, UsedBytes(mount), 0});
  }
}

int64_t MemoryFiles::UsedBytes(const Mount& mount) const {
  struct statvfs facts;
  if (statvfs(mount.path.c_str(), &facts) != 0) return 0;
  const int64_t bytes = static_cast<int64_t>(facts.f_blocks - facts.f_bfree) *
                        static_cast<int64_t>(facts.f_frsize);
  return mount.device == agent_device_ ? bytes - FolderBytes(agent_folder_)
                                       : bytes;
}

void MemoryFiles::Look() {
  for (Use& use : uses_) {
    use.grown_bytes =
        std::max<int64_t>(0, UsedBytes(use.mount) - use.begin_bytes);
  }
}

int64_t MemoryFiles::grown_bytes() const { return UnmappedBytes({}); }

int64_t MemoryFiles::UnmappedBytes(
    const std::map<std::string, int64_t>& mapped_bytes_by_device) const {
  int64_t bytes = 0;
  for (const Use& use : uses_) {
    const auto mapped = mapped_bytes_by_device.find(use.mount.device);
    bytes += std::max<int64_t>(
        0, use.grown_bytes -
               (mapped == mapped_bytes_by_device.end() ? 0 : mapped->second));
  }
  return bytes;
}

}  // namespace footprint
