#include "footprint/profiling/records/record_file_name.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

std::string MakeName(int32_t process_id, int32_t image, const char* content) {
  char name[kRecordFileNameCapacity];
  WriteRecordFileName(process_id, image, content, name);
  return name;
}

// The example of the header.
TEST(RecordFileNameTest, SaysTheProcessTheImageAndTheContent) {
  EXPECT_EQ(MakeName(1234, 0, "sites"), "1234.0.sites");
  EXPECT_EQ(MakeName(1, 12, "growth"), "1.12.growth");
}

TEST(RecordFileNameTest, HasRoomForTheLargestNumbers) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(MakeName(kMost, kMost, "processor_time"),
            "2147483647.2147483647.processor_time");
}

TEST(RecordFileNameTest, IsCutWhereThereIsNoRoom) {
  EXPECT_EQ(MakeName(1, 0, std::string(100, 'x').c_str()).size(),
            size_t{kRecordFileNameCapacity - 1});
}

}  // namespace
}  // namespace footprint::profiling_internal
