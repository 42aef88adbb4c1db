#include "footprint/gates/trials/profiled_run.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/sandbox/sandbox.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMiB = 1 << 20;

// Returns the bytes before the first zero, which are the data of a copy.
int64_t CountData(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  int64_t data = 0;
  int64_t end = static_cast<int64_t>(std::filesystem::file_size(path));
  while (data < end) {
    const int64_t middle = (data + end) / 2;
    file.seekg(middle);
    if (file.get() == 'x') {
      data = middle + 1;
    } else {
      end = middle;
    }
  }
  return data;
}

// The records are links to one file, so they take little room. Their bytes are
// not a whole number of blocks.
TEST(ProfiledRunTest, CopiesNoMoreDataThanItMay) {
  const std::string forged = TestPath("forged");
  std::filesystem::create_directories(forged);
  const int64_t record_bytes = 32 * kMiB - 1;
  const std::string record =
      WriteTestFile("forged/0", std::string(record_bytes, 'x'));
  for (int i = 1; i < 10; ++i) {
    ASSERT_EQ(link(record.c_str(), absl::StrCat(forged, "/", i).c_str()), 0);
  }
  const std::string folder = TestPath("profiler");
  ProfiledRun profiled(folder, /*is_exact=*/false);
  SandboxRun run;
  ASSERT_THAT(profiled.Prepare(&run), IsOk());
  run.read_records(forged);
  int64_t copied = 0;
  for (const auto& each :
       std::filesystem::directory_iterator(folder + "/records")) {
    copied += CountData(each.path());
  }
  EXPECT_EQ(copied, 256 * kMiB);
}

}  // namespace
}  // namespace footprint
