#include "footprint/base/gguf/gguf_list.h"

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/files/watched_file.h"
#include "footprint/base/gguf/gguf.h"
#include "footprint/base/gguf/gguf_header.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;

TEST(GgufListTest, ReadsTextsOfEveryLength) {
  std::vector<std::string> texts = {"", "a", std::string(100000, 'x')};
  for (int i = 0; i < 20000; ++i) texts.push_back(absl::StrCat("word", i));
  GgufHeader header;
  header.AddTexts("texts", texts);
  header.AddText("after", "the list");
  const std::string path = WriteTestFile("list.gguf", header.Build());
  const absl::StatusOr<GgufIndex> index = GgufIndex::Open(path);
  ASSERT_THAT(index, IsOk());
  const auto file = WatchedFile::Open(path);
  ASSERT_THAT(file, IsOk());
  GgufTexts reader(*file, **index->List("texts", GgufType::kString));
  std::string text;
  for (const std::string& expected : texts) {
    ASSERT_TRUE(reader.Next(&text));
    ASSERT_EQ(text, expected);
  }
  EXPECT_FALSE(reader.Next(&text));
  EXPECT_THAT(reader.status(), IsOk());
}

TEST(GgufListTest, ReadsNumbers) {
  GgufHeader header;
  header.AddIntegers("integers", {1, -2, 3});
  header.AddNumbers("numbers", {0.5f, -1.5f});
  const std::string path = WriteTestFile("numbers.gguf", header.Build());
  const absl::StatusOr<GgufIndex> index = GgufIndex::Open(path);
  ASSERT_THAT(index, IsOk());
  const auto file = WatchedFile::Open(path);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(
      *ReadGgufIntegers(*file, **index->List("integers", GgufType::kI32)),
      ElementsAre(1, -2, 3));
  EXPECT_THAT(*ReadGgufNumbers(*file, **index->List("numbers", GgufType::kF32)),
              ElementsAre(0.5f, -1.5f));
}

// A length changes after the index was made.
TEST(GgufListTest, NoticesAListThatChanged) {
  GgufHeader header;
  header.AddTexts("texts", {"abcd", "e"});
  const std::string path = WriteTestFile("changed.gguf", header.Build());
  const absl::StatusOr<GgufIndex> index = GgufIndex::Open(path);
  ASSERT_THAT(index, IsOk());
  const GgufValue list = **index->List("texts", GgufType::kString);
  for (const char* length : {"\xff\xff\xff\xff\xff\xff\xff\xff",
                             "\x40\x00\x00\x00\x00\x00\x00\x00"}) {
    std::fstream change(path, std::ios::in | std::ios::out | std::ios::binary);
    change.seekp(list.offset_bytes);
    change.write(length, 8);
    change.close();
    const auto file = WatchedFile::Open(path);
    ASSERT_THAT(file, IsOk());
    GgufTexts reader(*file, list);
    std::string text;
    EXPECT_FALSE(reader.Next(&text));
    EXPECT_THAT(reader.status(), StatusIs(absl::StatusCode::kDataLoss));
  }
}

}  // namespace
}  // namespace footprint
