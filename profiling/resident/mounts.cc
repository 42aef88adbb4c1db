#include "footprint/profiling/resident/mounts.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "footprint/base/machine/kernel_file.h"

namespace footprint {
namespace {

// The kernel gives file systems without a block device this major number.
constexpr char kVirtualMajor[] = "00:";

// Replaces escapes: "\040" stands for a blank in a path.
std::string Unescaped(absl::string_view path) {
  std::string plain;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '\\' && i + 3 < path.size()) {
      int code = 0;
      for (size_t j = 1; j <= 3; ++j) code = code * 8 + (path[i + j] - '0');
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += path[i];
    }
  }
  return plain;
}

bool IsInMemory(absl::string_view type) {
  constexpr absl::string_view kTypes[] = {"tmpfs", "devtmpfs", "ramfs",
                                          "hugetlbfs"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) !=
         std::end(kTypes);
}

}  // namespace

std::string DeviceName(unsigned int major_number, unsigned int minor_number) {
  return absl::StrFormat("%02x:%02x", major_number, minor_number);
}

// Parses lines like "36 35 0:25 / /dev/shm rw,nosuid shared:4 - tmpfs tmpfs
// rw,inode64".
std::vector<Mount> ParseMounts(absl::string_view text) {
  constexpr size_t kDevice = 2;
  constexpr size_t kPath = 4;
  std::vector<Mount> mounts;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    const std::vector<absl::string_view> words =
        absl::StrSplit(halves.first, ' ');
    if (halves.second.empty() || words.size() <= kPath) continue;
    const std::pair<absl::string_view, absl::string_view> numbers =
        absl::StrSplit(words[kDevice], absl::MaxSplits(':', 1));
    unsigned int major_number = 0;
    unsigned int minor_number = 0;
    if (!absl::SimpleAtoi(numbers.first, &major_number) ||
        !absl::SimpleAtoi(numbers.second, &minor_number)) {
      continue;
    }
    mounts.push_back(
        {Unescaped(words[kPath]), DeviceName(major_number, minor_number),
         std::string(halves.second.substr(0, halves.second.find(' ')))});
  }
  return mounts;
}

std::vector<Mount> ReadMounts() {
  const absl::StatusOr<std::string> text =
      ReadKernelFile("/proc/self/mountinfo");
  return text.ok() ? ParseMounts(*text) : std::vector<Mount>();
}

RereadableDevices::RereadableDevices(const std::vector<Mount>& mounts) {
  for (const Mount& mount : mounts) {
    if (absl::StartsWith(mount.device, kVirtualMajor) &&
        !IsInMemory(mount.type)) {
      virtual_devices_.insert(mount.device);
    }
  }
}

bool RereadableDevices::Has(absl::string_view device) const {
  if (device.empty()) return false;
  return !absl::StartsWith(device, kVirtualMajor) ||
         virtual_devices_.count(std::string(device)) > 0;
}

}  // namespace footprint
