#include "footprint/profiling/resident/process_children.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/machine/child_processes.h"
#include "footprint/base/machine/kernel_file.h"
#include "footprint/base/machine/monotonic_time.h"

namespace footprint {
namespace {

// Looks for the folder's own name, which is random: a process with another root
// sees it below another path.
bool HasFileIn(absl::string_view mappings, absl::string_view folder) {
  return absl::StrContains(mappings,
                           absl::StrCat(folder.substr(folder.rfind('/')), "/"));
}

}  // namespace

void ProcessChildren::LookAt(int process_id) {
  const std::string folder = absl::StrCat("/proc/", process_id);
  const absl::StatusOr<std::string> name =
      ReadKernelFile(absl::StrCat(folder, "/comm"));
  if (!name.ok()) return;
  SeenProcess& seen = seen_[process_id];
  seen.name = std::string(absl::StripTrailingAsciiWhitespace(*name));
  const absl::StatusOr<std::string> start_values =
      ReadKernelFile(absl::StrCat(folder, "/auxv"));
  if (!start_values.ok()) {
    // The process may have become a program that runs as another user.
    if (absl::IsPermissionDenied(start_values.status())) {
      seen.agent = SeenProcess::Agent::kForbidden;
    }
    return;
  }
  // The time is taken before the mappings are read, so that later events have
  // later times.
  const int64_t now_ns = MonotonicTimeNs();
  // The process has ended and was not waited for; its last program is known.
  if (start_values->empty()) return;
  const bool is_same = *start_values == seen.start_values;
  if (!is_same || seen.agent != SeenProcess::Agent::kPresent) {
    const absl::StatusOr<std::string> mappings =
        ReadKernelFile(absl::StrCat(folder, "/maps"));
    if (!mappings.ok() || mappings->empty()) return;
    seen.agent = HasFileIn(*mappings, agent_folder_)
                     ? SeenProcess::Agent::kPresent
                     : SeenProcess::Agent::kAbsent;
    seen.start_values = *start_values;
  }
  seen.time_ns = now_ns;
}

void ProcessChildren::Look() {
  std::vector<int> unvisited(running_.begin(), running_.end());
  std::set<int> running;
  while (!unvisited.empty()) {
    const int process_id = unvisited.back();
    unvisited.pop_back();
    if (!running.insert(process_id).second) continue;
    std::vector<int> children;
    if (!AppendChildProcesses(process_id, &children)) {
      running.erase(process_id);
      continue;
    }
    LookAt(process_id);
    unvisited.insert(unvisited.end(), children.begin(), children.end());
  }
  running_ = std::move(running);
}

}  // namespace footprint
