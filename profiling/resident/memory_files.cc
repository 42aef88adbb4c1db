#include "footprint/profiling/resident/memory_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {
namespace {

std::string DeviceName(unsigned int major_number, unsigned int minor_number) {
  return absl::StrFormat("%02x:%02x", major_number, minor_number);
}

// Returns an empty text if the path does not exist.
std::string FindDevice(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0
             ? DeviceName(major(facts.st_dev), minor(facts.st_dev))
             : "";
}

// Replaces escapes: "\040" stands for a blank in a path.
std::string Unescaped(absl::string_view path) {
  std::string plain;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '\\' && i + 3 < path.size()) {
      int code = 0;
      for (size_t j = 1; j <= 3; ++j) code = code * 8 + (path[i + j] - '0');
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += path[i];
    }
  }
  return plain;
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

// Parses lines like "36 35 0:25 / /dev/shm rw,nosuid shared:4 - tmpfs tmpfs
// rw,inode64".
std::vector<MemoryMount> FindMemoryMounts(absl::string_view mounts) {
  constexpr size_t kDevice = 2;
  constexpr size_t kPath = 4;
  std::vector<MemoryMount> found;
  for (absl::string_view line : absl::StrSplit(mounts, '\n')) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    const std::vector<absl::string_view> words =
        absl::StrSplit(halves.first, ' ');
    const absl::string_view type =
        halves.second.substr(0, halves.second.find(' '));
    if (type != "tmpfs" || words.size() <= kPath) continue;
    const std::pair<absl::string_view, absl::string_view> numbers =
        absl::StrSplit(words[kDevice], absl::MaxSplits(':', 1));
    unsigned int major_number = 0;
    unsigned int minor_number = 0;
    if (!absl::SimpleAtoi(numbers.first, &major_number) ||
        !absl::SimpleAtoi(numbers.second, &minor_number)) {
      continue;
    }
    found.push_back(
        {Unescaped(words[kPath]), DeviceName(major_number, minor_number)});
  }
  return found;
}

MemoryFiles::MemoryFiles(std::string agent_folder)
    : agent_folder_(std::move(agent_folder)) {
  agent_device_ = FindDevice(agent_folder_);
  const absl::StatusOr<std::string> mounts =
      ReadKernelFile("/proc/self/mountinfo");
  if (!mounts.ok()) return;
  for (const MemoryMount& mount : FindMemoryMounts(*mounts)) {
    // Another mount may hide this one.
    const bool is_seen = FindDevice(mount.path) == mount.device;
    const bool is_known = std::any_of(
        uses_.begin(), uses_.end(),
        [&mount](const Use& use) { return use.mount.device == mount.device; });
    if (is_seen && !is_known) uses_.push_back({mount, UsedBytes(mount), 0});
  }
}

int64_t MemoryFiles::UsedBytes(const MemoryMount& mount) const {
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
