#include "footprint/base/machine/child_processes.h"

#include <dirent.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {

bool AppendChildProcesses(int process_id, std::vector<int>* children) {
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

}  // namespace footprint
