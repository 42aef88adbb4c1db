#include "footprint/gates/sandbox/resident_sum.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {
namespace {

// Returns the process's proportional set size, or -1 if the kernel does not
// report it.
int64_t ReadProportionalBytes(absl::string_view process) {
  const std::string text =
      ReadKernelFile(absl::StrCat("/proc/", process, "/smaps_rollup"))
          .value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    int64_t kibibytes = 0;
    if (absl::ConsumePrefix(&line, "Pss:") &&
        absl::ConsumeSuffix(&line, " kB") &&
        absl::SimpleAtoi(line, &kibibytes)) {
      return kibibytes * 1024;
    }
  }
  return -1;
}

}  // namespace

int64_t ReadResidentSum(const std::string& group_path) {
  const std::string list = group_path + "/cgroup.procs";
  const std::string before = ReadKernelFile(list).value_or("");
  const std::vector<std::string> processes =
      absl::StrSplit(before, '\n', absl::SkipEmpty());
  if (processes.size() < 2) return 0;
  int64_t sum = 0;
  for (const std::string& each : processes) {
    const int64_t bytes = ReadProportionalBytes(each);
    // A zombie process has no memory.
    if (bytes > 0) sum += bytes;
  }
  // If the processes changed, one may have taken memory that another, measured
  // before, has freed.
  return ReadKernelFile(list).value_or("") == before ? sum : 0;
}

}  // namespace footprint
