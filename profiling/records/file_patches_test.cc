#include "footprint/profiling/records/file_patches.h"

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/base/files/whole_file.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(FilePatchesTest, ReadsPartOffsetAndBytes) {
  const std::string input("\1\2\1\2ab\0\0\0\7c", 11);
  const std::vector<FilePatch> patches = ParsePatches(input);
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[0].part, 1);
  EXPECT_EQ(patches[0].offset_bytes, 258);
  EXPECT_EQ(patches[0].bytes, "ab");
  EXPECT_EQ(patches[1].bytes, "c");  // The patch counts with the bytes it has.
}

TEST(FilePatchesTest, PassesOverAHeadWithoutBytes) {
  EXPECT_TRUE(ParsePatches("").empty());
  EXPECT_TRUE(ParsePatches(std::string("\1\0\0\3", 4)).empty());
}

TEST(FilePatchesTest, WritesTheNamedPartsOnly) {
  const MemoryFile file("");
  BeginFile(/*magic=*/0x0102030405060708, /*size_bytes=*/16, file);
  ApplyPatches({{2, 0, "no"}, {3, 1, "x"}, {4, 0, "y"}, {5, 0, "no"}},
               /*first_part=*/3, {8, 15}, file);
  EXPECT_THAT(ReadWholeFile(file.path()),
              IsOkAndHolds(std::string("\10\7\6\5\4\3\2\1\0x\0\0\0\0\0y", 16)));
}

}  // namespace
}  // namespace footprint
