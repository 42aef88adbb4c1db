#include "footprint/base/memory/available_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "footprint/base/memory/saturated_sum.h"

namespace footprint {
namespace {

// Returns an empty text if the file cannot be read. The stream's own operator
// catches the exception that its buffer throws if a read fails.
std::string ReadText(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Reads a file of one number. Returns nullopt if it has none, such as a limit
// of "max".
absl::optional<int64_t> ReadNumber(const std::string& path) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(ReadText(path), &number)) return absl::nullopt;
  return number;
}

// Returns the number after `key` at the start of a line; 0 if there is none.
int64_t NumberAfter(absl::string_view text, absl::string_view key) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, key)) continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t number = 0;
    if (!words.empty() && absl::SimpleAtoi(words[0], &number)) return number;
  }
  return 0;
}

// Returns the same in bytes; the number is of kibibytes.
int64_t BytesAfter(absl::string_view text, absl::string_view key) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 1024;
  return std::clamp<int64_t>(NumberAfter(text, key), 0, kMost) * 1024;
}

constexpr char kMachineFile[] = "/proc/meminfo";
constexpr char kAvailable[] = "MemAvailable:";

// The file names of one version of control groups.
struct Version {
  const char* folder;
  const char* limit;
  const char* usage;
  const char* idle_file_pages;  // a line of memory.stat
};
constexpr Version kFirst = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                            "memory.usage_in_bytes", "total_inactive_file "};
constexpr Version kSecond = {"/sys/fs/cgroup", "memory.max", "memory.current",
                             "inactive_file "};

// Keeps the least of the amounts seen.
void Lower(int64_t bytes, const std::string& limited_by,
           absl::optional<AvailableMemory>* least) {
  bytes = std::max<int64_t>(0, bytes);
  if (least->has_value() && (*least)->bytes <= bytes) return;
  *least = AvailableMemory{bytes, limited_by};
}

// Considers the group and all groups above it, any of which may have the least
// left.
void LookAtGroups(const std::string& root, const Version& version,
                  absl::string_view group,
                  absl::optional<AvailableMemory>* least) {
  std::vector<std::string> parts =
      absl::StrSplit(group, '/', absl::SkipEmpty());
  while (true) {
    const std::string path = absl::StrCat("/", absl::StrJoin(parts, "/"));
    const std::string folder =
        absl::StrCat(root, version.folder, parts.empty() ? "" : path, "/");
    const absl::optional<int64_t> limit = ReadNumber(folder + version.limit);
    const absl::optional<int64_t> usage = ReadNumber(folder + version.usage);
    if (limit.has_value() && usage.has_value()) {
      const int64_t idle = NumberAfter(ReadText(folder + "memory.stat"),
                                       version.idle_file_pages);
      Lower(SaturatedSum(SaturatedDifference(*limit, *usage), idle),
            absl::StrCat("the control group ", path), least);
    }
    if (parts.empty()) return;
    parts.pop_back();
  }
}

}  // namespace

absl::optional<int64_t> ReadFreeMachineBytes(const std::string& root) {
  const std::string machine = ReadText(root + kMachineFile);
  const int64_t available_bytes = BytesAfter(machine, kAvailable);
  if (available_bytes == 0) return absl::nullopt;
  return SaturatedSum(available_bytes, BytesAfter(machine, "SwapFree:"));
}

absl::StatusOr<AvailableMemory> ReadAvailableMemory(const std::string& root) {
  absl::optional<AvailableMemory> least;
  const int64_t machine_bytes =
      BytesAfter(ReadText(root + kMachineFile), kAvailable);
  if (machine_bytes > 0) Lower(machine_bytes, "the machine", &least);
  // A line is "4:memory:/group" in version 1, and "0::/group" in version 2.
  const std::string groups = ReadText(root + "/proc/self/cgroup");
  for (absl::string_view line : absl::StrSplit(groups, '\n')) {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    if (fields[1].empty()) LookAtGroups(root, kSecond, fields[2], &least);
    const std::vector<absl::string_view> controllers =
        absl::StrSplit(fields[1], ',');
    if (std::find(controllers.begin(), controllers.end(), "memory") !=
        controllers.end()) {
      LookAtGroups(root, kFirst, fields[2], &least);
    }
  }
  if (!least.has_value()) {
    return absl::FailedPreconditionError(
        "neither /proc/meminfo nor a control group says how much memory there "
        "is; give a number of bytes");
  }
  return *least;
}

}  // namespace footprint
