#include "footprint/profiling/records/record_file_reader.h"

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

struct Head {
  uint64_t magic;
  uint64_t count;
};

class RecordFileReaderTest : public testing::Test {
 protected:
  RecordFileReaderTest() : path_(testing::TempDir() + "/x.things") {
    const uint64_t words[] = {77, 2, 5, 6};
    const absl::string_view bytes(reinterpret_cast<const char*>(words),
                                  sizeof(words));
    EXPECT_THAT(ReplaceFile(path_, bytes, ToDisk::kNoFsync), IsOk());
  }

  const std::string path_;
};

TEST_F(RecordFileReaderTest, ReadsHeadAndArrays) {
  const RecordFileReader file(path_);
  Head head;
  ASSERT_THAT(file.ReadHead(77, "things", sizeof(head), &head), IsOk());
  EXPECT_EQ(head.count, 2u);
  const auto entries = file.ReadArray<uint64_t>(16, 2, 4);
  ASSERT_THAT(entries, IsOk());
  EXPECT_THAT(*entries, testing::ElementsAre(5, 6));
}

TEST_F(RecordFileReaderTest, SaysWhichFileIsNoRecordOfThisVersion) {
  Head head;
  EXPECT_THAT(
      RecordFileReader(path_).ReadHead(78, "things", sizeof(head), &head),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("x.things: no record of things")));
}

TEST_F(RecordFileReaderTest, CountsBeyondTheCapacityAreDamage) {
  EXPECT_THAT(RecordFileReader(path_).ReadArray<uint64_t>(16, 5, 4),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("longer than it can be")));
}

TEST_F(RecordFileReaderTest, AFileThatEndsTooSoonIsLostData) {
  EXPECT_THAT(RecordFileReader(path_).ReadArray<uint64_t>(16, 3, 4),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(RecordFileReaderTest, AMissingFileIsSaid) {
  Head head;
  EXPECT_THAT(RecordFileReader(path_ + "x").ReadHead(77, "things", 16, &head),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
