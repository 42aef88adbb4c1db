#include "footprint/base/files/hashed_file.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(HashedFileTest, HashesFilesOfEverySizeAroundAPiece) {
  for (const size_t size : {0, 1, 65535, 65536, 65537, 200000}) {
    const std::string bytes(size, 'x');
    const std::string path = WriteTestFile("hashed", bytes);
    const absl::StatusOr<HashedFile> file = OpenHashedFile(path);
    ASSERT_THAT(file, IsOk());
    EXPECT_EQ(file->sha256, Sha256Hex(bytes));
    EXPECT_EQ(file->size_bytes, static_cast<int64_t>(size));
  }
}

TEST(HashedFileTest, TellsHowFarItIs) {
  std::vector<int64_t> told;
  const std::string path = WriteTestFile("told", std::string(70000, 'x'));
  ASSERT_THAT(
      OpenHashedFile(path, [&](int64_t bytes) { told.push_back(bytes); }),
      IsOk());
  EXPECT_THAT(told, testing::ElementsAre(65536, 70000));
}

TEST(HashedFileTest, TheDescriptorReadsWhatWasHashed) {
  const std::string path = WriteTestFile("read_later", "abc");
  const absl::StatusOr<HashedFile> file = OpenHashedFile(path);
  ASSERT_THAT(file, IsOk());
  std::string bytes(3, '\0');
  ASSERT_THAT(ReadFully(file->file.get(), path, 0, 3, bytes.data()), IsOk());
  EXPECT_EQ(bytes, "abc");
}

TEST(HashedFileTest, SaysWhichFileIsMissing) {
  EXPECT_THAT(OpenHashedFile(TestPath("none")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
  EXPECT_THAT(OpenHashedFile(TestPath("")),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace footprint
