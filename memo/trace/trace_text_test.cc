#include "footprint/memo/trace/trace_text.h"

#include <fstream>
#include <iterator>
#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/schedule/memo_trace.pb.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

MemoTrace Example() {
  MemoTrace trace;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        plan {
          values { name: "small" bytes: 4194304 }
          values { name: "day" bytes: 2097152 is_measured: true }
          values { name: "week" is_unknown: true }
          values { name: "file" bytes: 10 is_guessed: true }
          steps {
            cell: "BM_A/model:small/data:day"
            loads: "small"
            loads: "day"
          }
          steps { cell: "BM_B\x1b[2J" loads: "week" evictions: "day" }
          method: "keep to last use"
          is_optimal: true
          load_count: 3
          peak_count: 3
          unknown_size_count: 1
        }
        events { kind: LOADED name: "small" bytes: 4194304 live_bytes: 4194304 }
        events { kind: LOAD_FAILED name: "day" detail: "no such file" }
        load_count: 1
        failed_load_count: 1
        peak_bytes: 4194304
      )pb",
      &trace));
  return trace;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file),
                     std::istreambuf_iterator<char>());
}

TEST(TraceTextTest, APlanNamesItsValuesAndSteps) {
  EXPECT_EQ(PlanText(Example().plan()),
            "4 values, 3 loads planned (keep to last use, optimal), 3 alive at "
            "most; peak at least 0 B; 1 sizes unknown\n"
            "\n"
            "value                    size  known as\n"
            "small  4.00 MiB (4,194,304 B)  declared\n"
            "day    2.00 MiB (2,097,152 B)  measured\n"
            "week                        ?  unknown\n"
            "file                     10 B  guessed\n"
            "\n"
            "step  loads before  benchmark                  evicted after\n"
            "   1  small, day    BM_A/model:small/data:day\n"
            "   2  week          BM_B\\x1b[2J                day\n");
}

TEST(TraceTextTest, ATraceAlsoSaysWhatHappened) {
  const std::string text = TraceText(Example());
  EXPECT_THAT(text, HasSubstr(PlanText(Example().plan())));
  EXPECT_THAT(text, HasSubstr("\nLOAD_FAILED"));
  EXPECT_THAT(text, HasSubstr("day    no such file\n"));
  EXPECT_THAT(text, HasSubstr("\n1 loads, 1 failed; at most 4.00 MiB"));
}

TEST(TraceTextTest, NothingPlannedIsSaid) {
  EXPECT_EQ(PlanText(MemoPlan()), "no values, so nothing to load\n");
}

TEST(TraceTextTest, JsonIsReadBackByProtobuf) {
  MemoTrace expected = Example();
  expected.set_schema_version(kMemoTraceSchemaVersion);
  MemoTrace again;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(TraceJson(Example()), &again)
          .ok());
  EXPECT_EQ(again.SerializeAsString(), expected.SerializeAsString());
  MemoPlan plan;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  PlanJson(Example().plan()), &plan)
                  .ok());
  EXPECT_EQ(plan.SerializeAsString(), Example().plan().SerializeAsString());
  EXPECT_THAT(PlanJson(Example().plan()),
              AllOf(HasSubstr("\"bytes\": 4194304"),
                    Not(HasSubstr("\n  \"budget_bytes"))));
}

TEST(TraceTextTest, ThePathsEndChoosesTheFormat) {
  const std::string path = testing::TempDir() + "/trace";
  ASSERT_THAT(WriteTrace(Example(), path + ".json"), IsOk());
  EXPECT_EQ(ReadFile(path + ".json"), TraceJson(Example()));
  ASSERT_THAT(WriteTrace(Example(), path + ".txt"), IsOk());
  EXPECT_EQ(ReadFile(path + ".txt"), TraceText(Example()));
  ASSERT_THAT(WriteTrace(Example(), path + ".binpb"), IsOk());
  const absl::StatusOr<MemoTrace> read = ReadMemoTraceFile(path + ".binpb");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->plan().values_size(), 4);
  EXPECT_THAT(WriteTrace(Example(), "/no/such/folder/x.json"),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace footprint
