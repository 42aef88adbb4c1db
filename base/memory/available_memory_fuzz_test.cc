// Reads any texts as the kernel's files about memory and control groups. The
// available memory is never negative.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/memory/available_memory.h"
#include "footprint/base/testing/fuzz_target.h"

namespace footprint {
namespace {

// The files in the order of an input's parts.
constexpr const char* kFiles[] = {
    "/proc/self/cgroup",
    "/proc/meminfo",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory.current",
    "/sys/fs/cgroup/memory.stat",
    "/sys/fs/cgroup/g/memory.max",
    "/sys/fs/cgroup/g/memory.current",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    "/sys/fs/cgroup/memory/memory.stat",
};

// A folder that is removed when the process ends.
class Root {
 public:
  Root() {
    std::string path =
        (std::filesystem::temp_directory_path() / "available_XXXXXX").string();
    Require(mkdtemp(path.data()) != nullptr, "a folder can be made");
    path_ = path;
    for (const char* file : kFiles) {
      std::filesystem::create_directories(
          std::filesystem::path(path_ + file).parent_path());
    }
  }
  ~Root() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void ReadAnyFiles(absl::string_view bytes) {
  static const Root root;
  const std::vector<absl::string_view> parts = absl::StrSplit(bytes, '\0');
  for (size_t i = 0; i < std::size(kFiles); ++i) {
    std::ofstream file(root.path() + kFiles[i], std::ios::binary);
    if (i < parts.size()) file << parts[i];
  }
  const absl::StatusOr<AvailableMemory> memory =
      ReadAvailableMemory(root.path());
  if (memory.ok()) {
    Require(memory->bytes >= 0, "memory that is left is not negative");
    Require(!memory->limited_by.empty(), "it is said what the limit is");
  } else {
    RequireRefusal(memory.status());
  }
  (void)ReadFreeMachineBytes(root.path());
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFiles)

}  // namespace footprint
