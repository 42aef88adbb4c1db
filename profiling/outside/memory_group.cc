#include "footprint/profiling/outside/memory_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "footprint/profiling/resident/kernel_file.h"

namespace footprint {
namespace {

bool HasWord(absl::string_view list, absl::string_view word) {
  const std::vector<absl::string_view> words = absl::StrSplit(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct Mount {
  std::string root;  // of the hierarchy that is mounted
  std::string folder;
};

// A line of /proc/self/mountinfo: 3 numbers, root, folder, options, any number
// of fields up to "-", type, source, options of the file system.
bool ReadMount(absl::string_view line, bool is_version_2, Mount* mount) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (words.size() < 5 || words.end() - dash < 4) return false;
  const bool is_wanted =
      is_version_2 ? dash[1] == "cgroup2"
                   : dash[1] == "cgroup" && HasWord(dash[3], "memory");
  if (is_wanted) *mount = {std::string(words[3]), std::string(words[4])};
  return is_wanted;
}

// Of "9:memory:/a/b" or "0::/a/b": the path, or false.
bool ReadGroup(absl::string_view line, bool is_version_2, std::string* path) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::MaxSplits(':', 2));
  if (words.size() != 3) return false;
  const bool is_wanted = is_version_2 ? words[0] == "0" && words[1].empty()
                                      : HasWord(words[1], "memory");
  if (is_wanted) *path = std::string(words[2]);
  return is_wanted;
}

std::string FolderOf(absl::string_view mounts, absl::string_view groups,
                     bool is_version_2) {
  for (absl::string_view line : absl::StrSplit(mounts, '\n')) {
    Mount mount;
    if (!ReadMount(line, is_version_2, &mount)) continue;
    for (absl::string_view group : absl::StrSplit(groups, '\n')) {
      std::string path;
      if (!ReadGroup(group, is_version_2, &path)) continue;
      // A part of the hierarchy may be mounted, and the group lie beyond it.
      absl::string_view below = path;
      if (mount.root != "/" && !absl::ConsumePrefix(&below, mount.root)) {
        below = "";
      }
      return absl::StrCat(mount.folder, absl::StripSuffix(below, "/"));
    }
  }
  return "";
}

absl::Status NotAllowed(absl::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat(what, ": ", std::strerror(errno)));
}

}  // namespace

MemoryGroupPlace FindMemoryGroup(absl::string_view mounts,
                                 absl::string_view groups) {
  const std::string first = FolderOf(mounts, groups, false);
  if (!first.empty()) return {first, false};
  return {FolderOf(mounts, groups, true), true};
}

absl::StatusOr<std::unique_ptr<MemoryGroup>> MemoryGroup::Make() {
  const absl::StatusOr<std::string> mounts =
      ReadKernelFile("/proc/self/mountinfo");
  const absl::StatusOr<std::string> groups =
      ReadKernelFile("/proc/self/cgroup");
  const MemoryGroupPlace place = mounts.ok() && groups.ok()
                                     ? FindMemoryGroup(*mounts, *groups)
                                     : MemoryGroupPlace();
  if (place.folder.empty()) {
    return absl::FailedPreconditionError(
        "this system has no control group for memory mounted");
  }
  const std::string folder =
      absl::StrCat(place.folder, "/footprint-", getpid());
  // One that an earlier process of this number left.
  rmdir(folder.c_str());
  if (mkdir(folder.c_str(), 0755) != 0) {
    return NotAllowed(absl::StrCat("cannot make a group in ", place.folder));
  }
  const char* const peak =
      place.is_version_2 ? "/memory.peak" : "/memory.max_usage_in_bytes";
  if (access((folder + peak).c_str(), R_OK) != 0) {
    const absl::Status status = NotAllowed(absl::StrCat(folder, peak));
    rmdir(folder.c_str());
    return status;
  }
  FileDescriptor entrance(
      open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!entrance.is_open()) {
    const absl::Status status = NotAllowed(folder + "/cgroup.procs");
    rmdir(folder.c_str());
    return status;
  }
  return std::unique_ptr<MemoryGroup>(
      new MemoryGroup(folder, place.is_version_2, std::move(entrance)));
}

MemoryGroup::MemoryGroup(std::string folder, bool is_version_2,
                         FileDescriptor entrance)
    : folder_(std::move(folder)),
      is_version_2_(is_version_2),
      entrance_(std::move(entrance)) {}

MemoryGroup::~MemoryGroup() { rmdir(folder_.c_str()); }

absl::StatusOr<int64_t> MemoryGroup::PeakBytes() const {
  absl::StatusOr<std::string> text = ReadKernelFile(absl::StrCat(
      folder_, is_version_2_ ? "/memory.peak" : "/memory.max_usage_in_bytes"));
  if (!text.ok()) return text.status();
  int64_t bytes = 0;
  if (absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &bytes)) return bytes;
  return absl::InternalError(absl::StrCat(folder_, " tells no peak: ", *text));
}

}  // namespace footprint
