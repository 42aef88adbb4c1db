#include "footprint/trainer_manager/plan_files/plan_csv.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::Not;

TEST(ParseRequestsCsvTest, ReadsColumnsInAnyOrderAndBothLineEnds) {
  const auto requests = ParseRequestsCsv(
      "size,id,upper,lower,offset,alignment\r\n"
      "9223372036854775807,a,7,-3,0,64\r\n1,b c,2,1,5,1",
      "x.csv");
  ASSERT_THAT(requests, IsOk());
  ASSERT_EQ(requests->size(), 2);
  EXPECT_EQ((*requests)[0].id, "a");
  EXPECT_EQ((*requests)[0].lower_step, -3);
  EXPECT_EQ((*requests)[0].upper_step, 7);
  EXPECT_EQ((*requests)[0].size_bytes, std::numeric_limits<int64_t>::max());
  EXPECT_EQ((*requests)[0].alignment_bytes, 64);
  EXPECT_EQ((*requests)[1].id, "b c");
}

TEST(ParseRequestsCsvTest, ReadsWhatSpreadsheetsWrite) {
  const auto requests = ParseRequestsCsv(
      "\xef\xbb\xbf\"id\",lower,\"upper\",size\r\n"
      "\"a, \"\"b\"\"\",0,\"4\",10\r\nc,1,2,3\r\n\r\n\n",
      "x.csv");
  ASSERT_THAT(requests, IsOk());
  ASSERT_EQ(requests->size(), 2);
  EXPECT_EQ((*requests)[0].id, "a, \"b\"");
  EXPECT_EQ((*requests)[0].upper_step, 4);
  EXPECT_EQ((*requests)[1].id, "c");
}

TEST(ParseRequestsCsvTest, CountsTensorsWithGaps) {
  int64_t with_gaps = -1;
  const auto requests = ParseRequestsCsv(
      "id,lower,upper,size,gaps\na,0,9,4,3-5 6-7@0:2\nb,0,9,4,\nc,0,9,4,1-2\n",
      "x.csv", &with_gaps);
  ASSERT_THAT(requests, IsOk());
  EXPECT_EQ(requests->size(), 3);
  EXPECT_EQ(with_gaps, 2);
  // Tensors count as live in their gaps.
  EXPECT_EQ((*requests)[0].lower_step, 0);
  EXPECT_EQ((*requests)[0].upper_step, 9);
}

TEST(ParseRequestsCsvTest, ErrorsSayWhere) {
  const std::string header = "id,lower,upper,size\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "x.csv:1:1: the file is empty"},
      {"id,lower,upper\n", "x.csv:1:10: the column \"size\" is missing"},
      {"id,lower,upper,size,colour\n", "x.csv:1:21: unknown column"},
      {"id,lower,upper,size,id\n", "x.csv:1:21: the column \"id\" occurs"},
      {header + "a,1,2\n", "x.csv:2:5: 3 fields"},
      {header + "a,1,2,3,4\n", "x.csv:2:9: 5 fields"},
      {header + ",0,1,2\n", "x.csv:2:1: an empty id"},
      {header + "a,0,1,2\n\nb,0,1,2\n", "x.csv:3:1: a blank line"},
      {header + "a,0,1,2\nb,4,4,3\n",
       "x.csv:3:5: tensor \"b\" lives from step 4 until before step 4"},
      {header + "a,0,1,0\n", "x.csv:2:7: tensor \"a\" has 0 bytes"},
      {"id,alignment,lower,upper,size\na,3,0,1,4\n",
       "x.csv:2:3: tensor \"a\" asks for an alignment of 3 bytes"},
      {header + "\"a,1,2,3\n", "x.csv:3:1: a quoted field is not closed"},
      {header + "\"a\"b,1,2,3\n",
       "x.csv:2:4: the delimiter or the end of the line"},
      {"id,lower,upper,size,gaps\na,0,9,2,3-5 7\n",
       "x.csv:2:9: expected gaps such as"},
      {"id,lower,upper,size,gaps\na,0,9,2,3-x\n",
       "x.csv:2:9: expected gaps such as"},
      {"id,lower,upper,size,gaps\na,0,9,2,-5\n",
       "x.csv:2:9: expected gaps such as"},
      {"id,lower,upper,size,gaps\na,0,9,2,3-5@7\n",
       "x.csv:2:9: expected gaps such as"},
      {header + "a,0,1,2\na,1,2,3\n", "x.csv:3:1: the id \"a\" occurred in"},
      {header + "a,x,2,3\n", "x.csv:2:3: expected a whole number"},
      {header + "a, 1,2,3\n", "x.csv:2:3: expected a whole number"},
      {header + "a,1,+2,3\n", "x.csv:2:5: expected a whole number"},
      {header + "a,1,2,\n", "x.csv:2:7: expected a whole number"},
      {header + "a,1,2,-\n", "x.csv:2:7: expected a whole number"},
      {header + "a,1,2,1.5\n", "x.csv:2:7: expected a whole number"},
      {header + "a,1,2,9223372036854775808\n",
       "x.csv:2:7: the number \"9223372036854775808\" does not fit"},
      {header + "a\"b,1,2,3\n", "x.csv:2:2: a quote inside"},
      {header + "\"a\nb\",1,2,3\n", "x.csv:2:1: the id"},
      {header + "a\r,1,2,3\n", "x.csv:2:3: a carriage return"},
      {header + std::string("a\0b,1,2,3\n", 10), "x.csv:2:1: the id"},
  };
  for (const auto& [text, message] : cases) {
    const absl::Status status = ParseRequestsCsv(text, "x.csv").status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_EQ(std::string(status.message()).substr(0, message.size()), message);
  }
}

TEST(PlanToCsvTest, CanBeReadAgain) {
  const std::vector<TensorRequest> requests = {{"a", 0, 4, 10, 1},
                                               {"b", -2, 6, 20, 8}};
  MemoryPlan plan;
  plan.offsets_bytes = {8, 24};
  const auto csv = PlanToCsv(requests, plan);
  ASSERT_THAT(csv, IsOk());
  EXPECT_EQ(*csv,
            "id,lower,upper,size,alignment,offset\na,0,4,10,1,8\n"
            "b,-2,6,20,8,24\n");
  const auto again = ParseRequestsCsv(*csv, "x.csv");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ((*again)[1].lower_step, -2);
  EXPECT_EQ((*again)[1].alignment_bytes, 8);
}

TEST(PlanToCsvTest, RefusesWhatItCannotHold) {
  MemoryPlan plan;
  plan.offsets_bytes = {0};
  for (const char* id : {"", "a\nb", "a\tb"}) {
    EXPECT_THAT(PlanToCsv({{id, 0, 1, 1}}, plan), Not(IsOk())) << id;
  }
  for (const char* id : {"a,b", "a\"b", "\"", ",", "a b"}) {
    const auto csv = PlanToCsv({{id, 0, 1, 1}}, plan);
    ASSERT_THAT(csv, IsOk());
    const auto again = ParseRequestsCsv(*csv, "x.csv");
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ((*again)[0].id, id);
  }
  EXPECT_THAT(PlanToCsv({}, plan),
              StatusIs(absl::StatusCode::kInvalidArgument));
  plan.offsets_bytes = {0, 1};
  EXPECT_THAT(PlanToCsv({{"a", 0, 1, 1}, {"b", 0, 1, 1}}, plan), IsOk());
  EXPECT_THAT(PlanToCsv({{"a", 0, 1, 1}, {"a", 0, 1, 1}}, plan),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// Any damaged file is read in full or refused with the position of the error.
TEST(ParseRequestsCsvTest, SurvivesDamagedFiles) {
  std::mt19937_64 random(1);
  constexpr absl::string_view kBytes = ",\n\r\"-+09 ax\0\xff";
  int64_t refused = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string text = "id,lower,upper,size\n";
    for (int row = 0; row < 4; ++row) {
      absl::StrAppend(&text, "t", row, ",", row, ",", row + 2, ",100\n");
    }
    for (uint64_t edit = 0; edit <= random() % 3; ++edit) {
      const size_t place = random() % text.size();
      const char byte = kBytes[random() % kBytes.size()];
      switch (random() % 3) {
        case 0:
          text[place] = byte;
          break;
        case 1:
          text.insert(place, 1, byte);
          break;
        default:
          text.erase(place, 1 + random() % 9);
      }
      if (text.empty()) text = ",";
    }
    const auto requests = ParseRequestsCsv(text, "x.csv");
    if (requests.ok()) {
      EXPECT_LE(requests->size(), 12) << text;
      continue;
    }
    ++refused;
    EXPECT_EQ(requests.status().message().find("x.csv:"), 0) << text;
  }
  EXPECT_GT(refused, 5000);
  EXPECT_LT(refused, 19'000);
}

}  // namespace
}  // namespace footprint
