#include "footprint/gates/sandbox/memory_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace footprint {
namespace {

constexpr char kNamePrefix[] = "footprint-trial-";
constexpr int64_t kSwapBytes = 1 << 20;
constexpr int kRemovalTries = 200;
constexpr int kRemovalPauseUs = 500;

// Where groups are made.
struct Parent {
  std::string path;
  bool is_version_2 = false;
  std::string problem;  // set: nowhere
};

// Files of /proc and of cgroups say they are empty, so are read to their end.
std::string ReadText(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!file.is_open()) return text;
  char block[4096];
  ssize_t got = 0;
  while ((got = read(file.get(), block, sizeof(block))) > 0) {
    text.append(block, static_cast<size_t>(got));
  }
  return text;
}

bool WriteText(const std::string& path, const std::string& text) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.is_open() && write(file.get(), text.data(), text.size()) ==
                               static_cast<ssize_t>(text.size());
}

// "/a/b" of the line of /proc/self/cgroup whose controllers have `controller`;
// of version 2, whose line is "0::/a/b", if that is empty.
std::string OwnGroup(absl::string_view controller) {
  const std::string text = ReadText("/proc/self/cgroup");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    for (absl::string_view each : absl::StrSplit(parts[1], ',')) {
      if (each == controller) return std::string(parts[2]);
    }
  }
  return "/";
}

// Where a hierarchy is mounted, and the part of it that is seen there.
bool FindMount(bool is_version_2, std::string* folder, std::string* root) {
  const std::string text = ReadText("/proc/self/mountinfo");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> halves = absl::StrSplit(line, " - ");
    if (halves.size() != 2) continue;
    const std::vector<absl::string_view> left = absl::StrSplit(halves[0], ' ');
    const std::vector<absl::string_view> right = absl::StrSplit(halves[1], ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    bool fits = is_version_2 && right[0] == "cgroup2";
    if (!is_version_2 && right[0] == "cgroup") {
      for (absl::string_view each : absl::StrSplit(right[2], ',')) {
        fits = fits || each == "memory";
      }
    }
    if (!fits) continue;
    *folder = std::string(left[4]);
    *root = std::string(left[3]);
    return true;
  }
  return false;
}

std::string Below(const std::string& folder, const std::string& root,
                  std::string group) {
  if (root != "/" && absl::StartsWith(group, root)) {
    group = group.substr(root.size());
  }
  if (group == "/") group.clear();
  return absl::StrCat(folder, group);
}

bool HasWord(absl::string_view text, absl::string_view word) {
  for (absl::string_view each :
       absl::StrSplit(absl::StripSuffix(text, "\n"), ' ')) {
    if (each == word) return true;
  }
  return false;
}

// A group of version 2 has either processes or controllers for those below it.
Parent FindVersion2(const std::string& folder, const std::string& root) {
  Parent parent;
  parent.is_version_2 = true;
  parent.path = Below(folder, root, OwnGroup(""));
  if (!HasWord(ReadText(absl::StrCat(parent.path, "/cgroup.controllers")),
               "memory")) {
    parent.problem =
        "the memory controller of cgroup v2 is not given to this group; under "
        "systemd: Delegate=memory";
    return parent;
  }
  const std::string control =
      absl::StrCat(parent.path, "/cgroup.subtree_control");
  if (HasWord(ReadText(control), "memory")) return parent;
  if (WriteText(control, "+memory")) return parent;
  const size_t slash = parent.path.rfind('/');
  const std::string above = parent.path.substr(0, slash);
  if (HasWord(ReadText(absl::StrCat(above, "/cgroup.subtree_control")),
              "memory")) {
    parent.path = above;
    return parent;
  }
  parent.problem = absl::StrCat(
      control, ": ", std::strerror(errno),
      "; under systemd: Delegate=memory and DelegateSubgroup=server");
  return parent;
}

Parent FindParent() {
  std::string folder;
  std::string root;
  if (FindMount(false, &folder, &root)) {
    Parent parent;
    parent.path = Below(folder, root, OwnGroup("memory"));
    return parent;
  }
  if (FindMount(true, &folder, &root)) return FindVersion2(folder, root);
  Parent parent;
  parent.problem =
      "no cgroup file system is mounted; mount one at "
      "/sys/fs/cgroup";
  return parent;
}

// Those whose process is gone.
void RemoveStale(const std::string& parent) {
  DIR* const folder = opendir(parent.c_str());
  if (folder == nullptr) return;
  while (const dirent* each = readdir(folder)) {
    absl::string_view rest = each->d_name;
    int process = 0;
    if (!absl::ConsumePrefix(&rest, kNamePrefix) ||
        !absl::SimpleAtoi(rest.substr(0, rest.find('-')), &process)) {
      continue;
    }
    if (kill(process, 0) == 0 || errno != ESRCH) continue;
    rmdir(absl::StrCat(parent, "/", each->d_name).c_str());
  }
  closedir(folder);
}

const Parent& FoundParent() {
  static const Parent* const parent = [] {
    Parent* const found = new Parent(FindParent());
    if (found->problem.empty()) RemoveStale(found->path);
    return found;
  }();
  return *parent;
}

}  // namespace

absl::StatusOr<MemoryGroup> MemoryGroup::Create(int64_t limit_bytes) {
  static std::atomic<int64_t> count{0};
  const Parent& parent = FoundParent();
  if (!parent.problem.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cgroup memory: ", parent.problem));
  }
  MemoryGroup group;
  group.is_version_2_ = parent.is_version_2;
  const std::string path =
      absl::StrCat(parent.path, "/", kNamePrefix, getpid(), "-", ++count);
  if (mkdir(path.c_str(), 0755) != 0) {
    const std::string text =
        absl::StrCat(path, ": ", std::strerror(errno),
                     "; the server needs a group that it may write below");
    return errno == ENOSPC || errno == ENOMEM
               ? absl::ResourceExhaustedError(text)
               : absl::FailedPreconditionError(text);
  }
  group.path_ = path;
  const std::string limit = absl::StrCat(limit_bytes);
  bool is_limited = false;
  if (group.is_version_2_) {
    is_limited = WriteText(path + "/memory.max", limit);
    WriteText(path + "/memory.swap.max", "0");
    WriteText(path + "/memory.oom.group", "1");
  } else {
    is_limited = WriteText(path + "/memory.limit_in_bytes", limit);
    // Where swap is not counted, the kernel has no such file. Met first, it
    // would be counted nowhere.
    WriteText(path + "/memory.memsw.limit_in_bytes",
              absl::StrCat(limit_bytes + kSwapBytes));
    WriteText(path + "/memory.swappiness", "0");
  }
  group.processes_ = FileDescriptor(
      open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!is_limited || !group.processes_.is_open()) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": the limit cannot be set: ", std::strerror(errno)));
  }
  return group;
}

MemoryGroup::MemoryGroup(MemoryGroup&& other) noexcept
    : path_(std::exchange(other.path_, "")),
      is_version_2_(other.is_version_2_),
      processes_(std::move(other.processes_)) {}

MemoryGroup& MemoryGroup::operator=(MemoryGroup&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(is_version_2_, other.is_version_2_);
  processes_ = std::move(other.processes_);
  return *this;
}

// A process that ended leaves its group a moment later.
MemoryGroup::~MemoryGroup() {
  if (path_.empty()) return;
  processes_ = FileDescriptor();
  for (int i = 0; i < kRemovalTries; ++i) {
    if (rmdir(path_.c_str()) == 0 || errno != EBUSY) return;
    usleep(kRemovalPauseUs);
  }
}

// Of a file of one number, or of the line that begins with `key`.
int64_t MemoryGroup::Number(const char* file, const char* key) const {
  const std::string text = ReadText(absl::StrCat(path_, "/", file));
  int64_t number = 0;
  if (key == nullptr) return absl::SimpleAtoi(text, &number) ? number : -1;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, key) && absl::ConsumePrefix(&line, " ") &&
        absl::SimpleAtoi(line, &number)) {
      return number;
    }
  }
  return -1;
}

int64_t MemoryGroup::peak_bytes() const {
  return Number(is_version_2_ ? "memory.peak" : "memory.max_usage_in_bytes",
                nullptr);
}

int64_t MemoryGroup::limit_hit_count() const {
  return is_version_2_ ? Number("memory.events", "max")
                       : Number("memory.failcnt", nullptr);
}

int64_t MemoryGroup::killed_process_count() const {
  return is_version_2_ ? Number("memory.events", "oom_kill")
                       : Number("memory.oom_control", "oom_kill");
}

}  // namespace footprint
