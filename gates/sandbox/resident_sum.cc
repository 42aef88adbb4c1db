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

// -1: the kernel does not tell.
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
    // One that has ended and waits for its parent has nothing.
    if (bytes > 0) sum += bytes;
  }
  // One process may have taken since what another, looked at before, gave up.
  return ReadKernelFile(list).value_or("") == before ? sum : 0;
}

}  // namespace footprint
