// What input_file.h promises.

#include "footprint/base/files/input_file.h"

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::HasSubstr;

TEST(InputFileTest, ReadsPiecesInOrderAndNoticesTheEnd) {
  const std::string path = testing::TempDir() + "/pieces";
  std::ofstream(path) << "abcdef";
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->size_bytes(), 6u);
  char bytes[4];
  ASSERT_TRUE(file->ReadExactly(bytes, 4).ok());
  EXPECT_EQ(std::string(bytes, 4), "abcd");
  const absl::Status status = file->ReadExactly(bytes, 4);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pieces: ends 2 bytes too early"));
}

TEST(InputFileTest, RefusesWhatIsNoReadableFile) {
  EXPECT_EQ(InputFile::Open("/missing").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(InputFile::Open("/").status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(InputFile::Open("/dev/null").status().code(),
            absl::StatusCode::kInternal);
}

TEST(InputFileTest, IsNotHeldUpByAPipeThatNobodyWrites) {
  const std::string path = testing::TempDir() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const absl::Status status = InputFile::Open(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pipe: is not a regular file"));
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
