#include "footprint/base/machine/memory_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/machine/control_group.h"
#include "footprint/base/machine/kernel_file.h"
#include "footprint/base/threads/mutex.h"

namespace footprint {
namespace {

// Attempts to move all processes of a group, which may start others meanwhile.
constexpr int kMostMoves = 10;
constexpr int64_t kSwapBytes = 1 << 20;
// The kernel charges so many pages per processor in advance, and adds as many
// to a count before it adds that to the sum (MEMCG_CHARGE_BATCH).
constexpr int64_t kBatchPages = 64;

// The group in which new groups are made.
struct Parent {
  std::string path;
  bool is_version_2 = false;
  std::string problem;  // set if there is no such group
};

// Returns the file's text, or an empty text if it cannot be read.
std::string ReadText(const std::string& path) {
  return ReadKernelFile(path).value_or("");
}

// Returns whether this process owns the groups below `group`: it is the root of
// this process's view of groups, as in a container, or systemd has delegated it
// (Delegate=memory). A group of version 2 has either processes or controllers
// for the groups below it.
bool IsDelegated(const std::string& group) {
  const std::string above = group.substr(0, group.rfind('/'));
  if (access((above + "/cgroup.procs").c_str(), F_OK) != 0) return true;
  char value[2] = {};
  for (const char* name : {"user.delegate", "trusted.delegate"}) {
    if (getxattr(group.c_str(), name, value, sizeof(value)) == 1 &&
        value[0] == '1') {
      return true;
    }
  }
  return false;
}

// Moves the processes of a group into a group below it, as services that make
// groups do, so that the group may have controllers. Returns false if a process
// stays.
bool MoveProcessesBelow(const std::string& group) {
  const std::string below = group + "/footprint-self";
  if (mkdir(below.c_str(), 0755) != 0 && errno != EEXIST) return false;
  // Processes may start others meanwhile, so it repeats.
  for (int round = 0; round < kMostMoves; ++round) {
    const std::string processes = ReadText(group + "/cgroup.procs");
    if (processes.empty()) return true;
    for (absl::string_view process :
         absl::StrSplit(processes, '\n', absl::SkipEmpty())) {
      WriteControlFile(below + "/cgroup.procs", std::string(process));
    }
  }
  return ReadText(group + "/cgroup.procs").empty();
}

Parent FindVersion2(const std::string& own_group) {
  Parent parent;
  parent.is_version_2 = true;
  parent.path = own_group;
  if (!HasWord(ReadText(absl::StrCat(parent.path, "/cgroup.controllers")), ' ',
               "memory")) {
    parent.problem =
        "the memory controller of cgroup v2 is not given to this group; under "
        "systemd: Delegate=memory";
    return parent;
  }
  const std::string control =
      absl::StrCat(parent.path, "/cgroup.subtree_control");
  if (HasWord(ReadText(control), ' ', "memory")) return parent;
  if (WriteControlFile(control, "+memory")) return parent;
  // This is preferred, since a group beside this one would be outside its
  // limits.
  if (IsDelegated(parent.path) && MoveProcessesBelow(parent.path) &&
      WriteControlFile(control, "+memory")) {
    return parent;
  }
  // Otherwise makes groups beside this one, if the group above allows it.
  const size_t slash = parent.path.rfind('/');
  const std::string above = parent.path.substr(0, slash);
  if (HasWord(ReadText(absl::StrCat(above, "/cgroup.subtree_control")), ' ',
              "memory")) {
    parent.path = above;
    return parent;
  }
  parent.problem = absl::StrCat(control, ": ", std::strerror(errno),
                                "; under systemd: Delegate=memory");
  return parent;
}

Parent FindParent() {
  const MemoryGroupFolder own = FindMemoryGroup(
      ReadText("/proc/self/mountinfo"), ReadText("/proc/self/cgroup"));
  if (own.is_version_2 && !own.path.empty()) return FindVersion2(own.path);
  Parent parent;
  parent.path = own.path;
  if (own.path.empty()) {
    parent.problem =
        "no cgroup file system is mounted; mount one at /sys/fs/cgroup";
  }
  return parent;
}

// Looks once, or after a failure again: a shortage of descriptors may have
// ended.
Parent FoundParent() {
  static Mutex mutex;
  static const Parent* parent ABSL_GUARDED_BY(mutex) = nullptr;
  const MutexLock lock(&mutex);
  if (parent != nullptr) return *parent;
  const Parent found = FindParent();
  if (!found.problem.empty()) return found;
  RemoveStaleControlGroups(found.path);
  parent = new Parent(found);
  return found;
}

// Sets the limit. Returns false if that fails.
bool SetLimit(const std::string& path, bool is_version_2, int64_t limit_bytes) {
  const std::string limit = absl::StrCat(limit_bytes);
  if (is_version_2) {
    WriteControlFile(path + "/memory.swap.max", "0");
    WriteControlFile(path + "/memory.oom.group", "1");
    return WriteControlFile(path + "/memory.max", limit);
  }
  if (!WriteControlFile(path + "/memory.limit_in_bytes", limit)) return false;
  // The kernel has no such file if it does not count swap. This limit is higher
  // than the other, since only hits of the first limit are counted.
  WriteControlFile(path + "/memory.memsw.limit_in_bytes",
                   absl::StrCat(limit_bytes + kSwapBytes));
  WriteControlFile(path + "/memory.swappiness", "0");
  return true;
}

}  // namespace

MemoryGroupFolder FindMemoryGroup(absl::string_view mounts,
                                  absl::string_view groups) {
  const std::string first = FindControlGroup("memory", mounts, groups);
  if (!first.empty()) return {first, false};
  return {FindControlGroup("", mounts, groups), true};
}

absl::StatusOr<MemoryGroup> MemoryGroup::Create(int64_t limit_bytes) {
  const Parent parent = FoundParent();
  if (!parent.problem.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cgroup memory: ", parent.problem));
  }
  MemoryGroup group;
  group.is_version_2_ = parent.is_version_2;
  const std::string path = NewControlGroupPath(parent.path);
  if (mkdir(path.c_str(), 0755) != 0) {
    const std::string text =
        absl::StrCat(path, ": ", std::strerror(errno),
                     "; this process needs a group that it may write below");
    return errno == ENOSPC || errno == ENOMEM
               ? absl::ResourceExhaustedError(text)
               : absl::FailedPreconditionError(text);
  }
  group.path_ = path;
  // Version 1 counts TCP buffers separately, and only if they have a limit.
  if (!group.is_version_2_) {
    WriteControlFile(path + "/memory.kmem.tcp.limit_in_bytes",
                     absl::StrCat(int64_t{1} << 60));
  }
  const bool is_limited = limit_bytes == kNoLimit ||
                          SetLimit(path, group.is_version_2_, limit_bytes);
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

MemoryGroup::~MemoryGroup() {
  if (path_.empty()) return;
  processes_ = FileDescriptor();
  RemoveControlGroup(path_);
}

// Reads a file of one number, or the number in the line that begins with `key`.
// Returns -1 if there is none.
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

MemoryGroupUse MemoryGroup::ReadUse() const {
  const auto known = [this](const char* file, const char* key) {
    return std::max<int64_t>(Number(file, key), 0);
  };
  const bool is_2 = is_version_2_;
  const int64_t tcp_bytes =
      is_2 ? 0 : known("memory.kmem.tcp.usage_in_bytes", nullptr);
  const int64_t shared_bytes = known("memory.stat", "shmem");
  const int64_t cache_bytes = std::max<int64_t>(
      known("memory.stat", is_2 ? "file" : "cache") - shared_bytes, 0);
  const int64_t anonymous_bytes = known("memory.stat", is_2 ? "anon" : "rss");
  // Names of files and similar caches, which the kernel gives up with the page
  // cache.
  const int64_t given_up_bytes =
      is_2 ? known("memory.stat", "slab_reclaimable") : 0;
  const int64_t kernel_bytes =
      is_2 ? known("memory.stat", "kernel") + known("memory.stat", "sock") -
                 given_up_bytes
           : known("memory.kmem.usage_in_bytes", nullptr);
  // Bytes that the kernel charged in advance are subtracted.
  MemoryGroupUse use;
  use.used_bytes =
      known(is_2 ? "memory.current" : "memory.usage_in_bytes", nullptr) +
      tcp_bytes;
  const int64_t named_bytes =
      anonymous_bytes + shared_bytes + kernel_bytes + tcp_bytes;
  const int64_t unnamed_bytes =
      use.used_bytes - cache_bytes - given_up_bytes - named_bytes;
  const int64_t at_hand_bytes =
      2 * kBatchPages * sysconf(_SC_PAGESIZE) * sysconf(_SC_NPROCESSORS_ONLN);
  use.needed_bytes =
      named_bytes + std::max<int64_t>(unnamed_bytes - at_hand_bytes, 0);
  return use;
}

int64_t MemoryGroup::limit_hit_count() const {
  return is_version_2_ ? Number("memory.events", "max")
                       : Number("memory.failcnt", nullptr);
}

int64_t MemoryGroup::killed_process_count() const {
  if (!is_version_2_) return Number("memory.oom_control", "oom_kill");
  // With memory.oom.group, the process that the kernel chose is counted twice:
  // when it is chosen, and when the group is killed.
  return Number("memory.events", "oom_kill") -
         std::max<int64_t>(0, Number("memory.events", "oom_group_kill"));
}

}  // namespace footprint
