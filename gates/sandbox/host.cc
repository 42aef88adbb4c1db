#include "footprint/gates/sandbox/host.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/base/files/temporary_folder.h"
#include "footprint/base/machine/cpu_group.h"
#include "footprint/base/machine/memory_group.h"
#include "footprint/gates/sandbox/sandbox.h"

namespace footprint {
namespace {

constexpr int64_t kTrialLimitBytes = 16 << 20;

// Runs a program that does nothing in a sandbox.
absl::Status TrySandbox() {
  TemporaryFolder folder;
  const absl::Status made =
      folder.Create(TemporaryFolderParent(), "footprint-host");
  if (!made.ok()) return made;
  const absl::StatusOr<SandboxRoot> root = SandboxRoot::Create(folder.path());
  if (!root.ok()) return root.status();
  SandboxRun run;
  run.program = "/usr/bin/true";
  run.arguments = {"true"};
  run.bundle_folder = folder.Path("bundle");
  mkdir(run.bundle_folder.c_str(), 0755);
  run.limit_bytes = kTrialLimitBytes;
  run.time_limit_seconds = 10;
  return RunInSandbox(*root, run).status();
}

}  // namespace

HostDescription DescribeHost() {
  HostDescription host;
  utsname names = {};
  uname(&names);
  host.kernel = absl::StrCat(names.sysname, " ", names.release);
  const absl::StatusOr<MemoryGroup> group =
      MemoryGroup::Create(kTrialLimitBytes);
  if (!group.ok()) {
    host.missing.emplace_back(group.status().message());
    return host;
  }
  host.present.emplace_back(group->is_version_2() ? "cgroup v2 memory"
                                                  : "cgroup v1 memory");
  if (group->peak_bytes() < 0) {
    host.missing.emplace_back(
        "cgroup memory: the kernel does not report a peak; Linux 5.19 or newer "
        "reports one");
  }
  const absl::Status status = TrySandbox();
  if (!status.ok()) {
    host.missing.emplace_back(status.message());
    return host;
  }
  for (const char* each :
       {"user, mount, process, network, IPC, host-name and cgroup namespaces",
        "pivot_root", "a /proc of its own", "seccomp", "resource limits",
        "no new privileges"}) {
    host.present.emplace_back(each);
  }
  return host;
}

absl::Status CheckCpuWeights() {
  const absl::StatusOr<MemoryGroup> group =
      MemoryGroup::Create(kTrialLimitBytes);
  if (!group.ok()) return group.status();
  return CpuGroup::Create(kUsualCpuWeight, group->path(), group->is_version_2())
      .status();
}

std::string HostText(const HostDescription& host) {
  return absl::StrCat(
      host.kernel, "\npresent: ", absl::StrJoin(host.present, ", "),
      "\nmissing: ",
      host.missing.empty() ? "nothing" : absl::StrJoin(host.missing, "; "),
      "\n");
}

}  // namespace footprint
