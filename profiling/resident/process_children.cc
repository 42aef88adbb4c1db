#include "footprint/profiling/resident/process_children.h"

#include <dirent.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {
namespace {

// Of all its threads; false: the process has ended.
bool AddChildren(int process_id, std::vector<int>* children) {
  const std::string tasks_path = absl::StrCat("/proc/", process_id, "/task");
  DIR* const tasks = opendir(tasks_path.c_str());
  if (tasks == nullptr) return false;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    const absl::StatusOr<std::string> numbers = ReadKernelFile(
        absl::StrCat(tasks_path, "/", entry->d_name, "/children"));
    if (!numbers.ok()) continue;
    for (absl::string_view number :
         absl::StrSplit(*numbers, ' ', absl::SkipEmpty())) {
      int child = 0;
      if (absl::SimpleAtoi(number, &child)) children->push_back(child);
    }
  }
  closedir(tasks);
  return true;
}

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
    if (!AddChildren(process_id, &children)) {
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
