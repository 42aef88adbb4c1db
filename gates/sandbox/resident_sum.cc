#include "footprint/gates/sandbox/resident_sum.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {
namespace {

// Returns the process's proportional set size, or 0 if it has no memory, as it
// has ended.
absl::StatusOr<int64_t> ReadProportionalBytes(absl::string_view process) {
  const absl::StatusOr<std::string> text =
      ReadKernelFile(absl::StrCat("/proc/", process, "/smaps_rollup"));
  if (absl::IsPermissionDenied(text.status())) {
    return absl::PermissionDeniedError(absl::StrCat(
        "sandbox: the memory of process ", process,
        " of the program may not be read, so that of all its processes is not "
        "known; run as root or with CAP_SYS_PTRACE"));
  }
  if (!text.ok()) return 0;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    int64_t kibibytes = 0;
    if (absl::ConsumePrefix(&line, "Pss:") &&
        absl::ConsumeSuffix(&line, " kB") &&
        absl::SimpleAtoi(line, &kibibytes)) {
      return kibibytes * 1024;
    }
  }
  return 0;
}

}  // namespace

absl::StatusOr<int64_t> ReadResidentSum(const std::string& group_path) {
  const std::string list = group_path + "/cgroup.procs";
  const absl::StatusOr<std::string> before = ReadKernelFile(list);
  if (!before.ok()) return before.status();
  const std::vector<std::string> processes =
      absl::StrSplit(*before, '\n', absl::SkipEmpty());
  if (processes.size() < 2) return 0;
  int64_t sum = 0;
  for (const std::string& each : processes) {
    const absl::StatusOr<int64_t> bytes = ReadProportionalBytes(each);
    if (!bytes.ok()) return bytes.status();
    sum += *bytes;
  }
  // If the processes changed, one may have taken memory that another, measured
  // before, has freed.
  const absl::StatusOr<std::string> after = ReadKernelFile(list);
  if (!after.ok()) return after.status();
  return *after == *before ? sum : 0;
}

}  // namespace footprint
