#include "footprint/base/safetensors/shard_index.h"

#include <sys/stat.h>

#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

absl::StatusOr<std::vector<Shard>> ReadText(const std::string& text) {
  return ReadShardIndex(WriteTestFile("model.safetensors.index.json", text));
}

constexpr char kIndex[] = R"({"metadata": {"total_size": 12}, "weight_map": {
    "b": "model-00002-of-00002.safetensors",
    "a": "model-00001-of-00002.safetensors",
    "c": "model-00001-of-00002.safetensors"}})";

TEST(ReadShardIndexTest, NamesTheFilesInOrderAndTheirTensors) {
  const auto shards = ReadText(kIndex);
  ASSERT_THAT(shards, IsOk());
  ASSERT_EQ(shards->size(), 2u);
  EXPECT_EQ((*shards)[0].path, TestPath("model-00001-of-00002.safetensors"));
  EXPECT_EQ((*shards)[0].tensors, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ((*shards)[1].tensors, (std::vector<std::string>{"b"}));
}

TEST(ReadShardIndexTest, RefusesWhatIsNoIndex) {
  for (const char* text :
       {"", "[]", "{}", R"({"weight_map": {}})", R"({"weight_map": []})",
        R"({"weight_map": {"a": 1}})", R"({"weight_map": {"a": ""}})",
        R"({"weight_map": {"a": "../b"}})", R"({"weight_map": {"a": "/b"}})",
        R"({"weight_map": {"a": ".."}})",
        R"({"weight_map": {"a": "b\u0000c"}})"}) {
    const auto shards = ReadText(text);
    EXPECT_THAT(shards, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_TRUE(absl::StrContains(shards.status().message(), "index.json: "))
        << shards.status();
  }
  EXPECT_THAT(ReadShardIndex("/nowhere/index.json"),
              StatusIs(absl::StatusCode::kNotFound));
  // It reads neither a folder nor a pipe without a writer.
  const std::string pipe = TestPath("pipe.index.json");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {TestPath(""), pipe}) {
    EXPECT_THAT(ReadShardIndex(path),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(ReadShardIndexTest, RefusesNamesThatOccurTwice) {
  for (const char* text :
       {R"({"weight_map": {"a": "1", "b": "1", "a": "2"}})",
        R"({"weight_map": {"a": "1", "a": "1"}})",
        R"({"weight_map": {"": "1", "": "2"}})",
        R"({"weight_map": {"b": "1"}, "a": 1, "weight_map": {"a": "1"}})",
        R"({"metadata": {"a": 1, "a": 2}, "weight_map": {"a": "1"}})"}) {
    const auto shards = ReadText(text);
    EXPECT_THAT(shards, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_TRUE(absl::StrContains(shards.status().message(), "occurs twice"))
        << shards.status();
  }
  // Each object has names of its own.
  EXPECT_THAT(ReadText(R"({"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 1}],
                           "weight_map": {"a": "1", "metadata": "1"},
                           "metadata": {"a": 1, "weight_map": 1}})"),
              IsOk());
}

TEST(ReadShardIndexTest, RefusesEveryShortenedIndexAndSurvivesAnyOther) {
  const std::string whole = kIndex;
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(ReadText(whole.substr(0, length)), Not(IsOk()));
  }
  std::mt19937 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    std::string text = whole;
    for (int i = 0; i < 3; ++i) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    const auto shards = ReadText(text);
    if (!shards.ok()) continue;
    for (const Shard& shard : *shards) {
      EXPECT_FALSE(shard.tensors.empty());
      EXPECT_EQ(shard.path.rfind('/') + 1, TestPath("").size());
    }
  }
}

}  // namespace
}  // namespace footprint
