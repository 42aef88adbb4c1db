#include "footprint/base/machine/cpu_group.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/machine/control_group.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {
namespace {

// cpu.shares of version 1 that stand for kUsualCpuWeight.
constexpr int kUsualShares = 1024;

absl::Status SetWeightOfVersion2(int weight, const std::string& group) {
  const std::string above = group.substr(0, group.rfind('/'));
  const std::string control = absl::StrCat(above, "/cgroup.subtree_control");
  const std::string present = ReadKernelFile(control).value_or("");
  if ((HasWord(present, ' ', "cpu") || WriteControlFile(control, "+cpu")) &&
      WriteControlFile(group + "/cpu.weight", absl::StrCat(weight))) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "cgroup cpu: ", group, "/cpu.weight cannot be set: ",
      std::strerror(errno), "; under systemd: Delegate=cpu memory"));
}

// Returns whether both folders are of one hierarchy of version 1. Controllers
// that are mounted together have one file system.
bool AreOfOneHierarchy(const std::string& left, const std::string& right) {
  struct stat left_status;
  struct stat right_status;
  return stat(left.c_str(), &left_status) == 0 &&
         stat(right.c_str(), &right_status) == 0 &&
         left_status.st_dev == right_status.st_dev;
}

// Returns the group of version 1 in which new groups are made; empty if there
// is none.
const std::string& FoundParent() {
  static const auto* const parent = [] {
    auto* const found = new std::string(FindControlGroup(
        "cpu", ReadKernelFile("/proc/self/mountinfo").value_or(""),
        ReadKernelFile("/proc/self/cgroup").value_or("")));
    if (!found->empty()) RemoveStaleControlGroups(*found);
    return found;
  }();
  return *parent;
}

}  // namespace

absl::StatusOr<CpuGroup> CpuGroup::Create(int weight,
                                          const std::string& memory_group,
                                          bool is_version_2) {
  weight = std::clamp(weight, kLeastCpuWeight, kMostCpuWeight);
  CpuGroup group;
  if (is_version_2) {
    const absl::Status status = SetWeightOfVersion2(weight, memory_group);
    if (!status.ok()) return status;
    return group;
  }
  if (FoundParent().empty()) {
    return absl::FailedPreconditionError(
        "cgroup cpu: no cpu controller is mounted; mount one at "
        "/sys/fs/cgroup/cpu");
  }
  if (AreOfOneHierarchy(FoundParent(), memory_group)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cgroup cpu: ", FoundParent(),
        " is of the hierarchy of memory, too, and a process is in one of its "
        "groups only; mount cpu and memory apart, or use version 2"));
  }
  const std::string path = NewControlGroupPath(FoundParent());
  const auto fail = [&path](int error) {
    const std::string text =
        absl::StrCat("cgroup cpu: ", path, ": ", std::strerror(error),
                     "; this process needs a group that it may write below");
    return error == ENOSPC || error == ENOMEM
               ? absl::ResourceExhaustedError(text)
               : absl::FailedPreconditionError(text);
  };
  if (mkdir(path.c_str(), 0755) != 0) return fail(errno);
  group.path_ = path;
  const int shares = std::max(2, weight * kUsualShares / kUsualCpuWeight);
  if (!WriteControlFile(path + "/cpu.shares", absl::StrCat(shares))) {
    return fail(errno);
  }
  group.processes_ = FileDescriptor(
      open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!group.processes_.is_open()) return fail(errno);
  return group;
}

CpuGroup::CpuGroup(CpuGroup&& other) noexcept
    : path_(std::exchange(other.path_, "")),
      processes_(std::move(other.processes_)) {}

CpuGroup& CpuGroup::operator=(CpuGroup&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(processes_, other.processes_);
  return *this;
}

CpuGroup::~CpuGroup() {
  if (path_.empty()) return;
  processes_ = FileDescriptor();
  RemoveControlGroup(path_);
}

}  // namespace footprint
