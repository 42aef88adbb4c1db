#include "footprint/profiling/resident/process_children.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/machine/child_processes.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {
namespace {

std::string ExecutableOf(int process_id) {
  char path[4096];
  const ssize_t size = readlink(
      absl::StrCat("/proc/", process_id, "/exe").c_str(), path, sizeof(path));
  return size < 0 ? "" : std::string(path, static_cast<size_t>(size));
}

}  // namespace

void ProcessChildren::Look() {
  std::vector<int> unlooked(running_.begin(), running_.end());
  std::set<int> running;
  while (!unlooked.empty()) {
    const int process_id = unlooked.back();
    unlooked.pop_back();
    if (!running.insert(process_id).second) continue;
    std::vector<int> children;
    if (!AppendChildProcesses(process_id, &children)) {
      running.erase(process_id);
      continue;
    }
    for (const int child : children) {
      const absl::StatusOr<std::string> name =
          ReadKernelFile(absl::StrCat("/proc/", child, "/comm"));
      if (!name.ok()) continue;
      seen_[child] = {std::string(absl::StripTrailingAsciiWhitespace(*name)),
                      ExecutableOf(child)};
      unlooked.push_back(child);
    }
  }
  running_ = std::move(running);
}

}  // namespace footprint
