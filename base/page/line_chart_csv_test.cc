#include "footprint/base/page/line_chart_csv.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

TEST(LineChartCsvTest, ReadsLinesInTheOrderOfTheirFirstPoints) {
  const auto lines = ParseChartLines(
      "p.csv",
      "line,x,y,label\nb,1,2.5,one\n\"a, b\",3,-4,\nb,1e6,6,\"two, three\"\n");
  ASSERT_TRUE(lines.ok()) << lines.status();
  ASSERT_THAT(*lines, SizeIs(2));
  EXPECT_EQ((*lines)[0].name, "b");
  EXPECT_THAT((*lines)[0].points, ElementsAre(Pair(1, 2.5), Pair(1e6, 6)));
  EXPECT_THAT((*lines)[0].labels, ElementsAre("one", "two, three"));
  EXPECT_EQ((*lines)[1].name, "a, b");
  EXPECT_THAT((*lines)[1].labels, ElementsAre(""));
  EXPECT_THAT(*ParseChartLines("p.csv", "line,x,y,label\n"), SizeIs(0));
}

TEST(LineChartCsvTest, SaysWhereARowIsWrong) {
  const auto error = [](const std::string& text) {
    const absl::Status status = ParseChartLines("p.csv", text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    return std::string(status.message());
  };
  const std::string header = "line,x,y,label\n";
  EXPECT_THAT(error(""), HasSubstr("the header should be"));
  EXPECT_THAT(error("line,x,y\n"), HasSubstr("p.csv:1:8: the header"));
  EXPECT_THAT(error("line,x,z,label\n"), HasSubstr("p.csv:1:8: the header"));
  EXPECT_THAT(error(header + "a,1\n"), HasSubstr("p.csv:2:3: the row should"));
  EXPECT_THAT(error(header + "a,1,2\n"), HasSubstr("p.csv:2:5: the row"));
  EXPECT_THAT(error(header + "a,1,2,b,c\n"), HasSubstr("p.csv:2:7: the row"));
  EXPECT_THAT(error(header + "a,1,x,b\n"),
              HasSubstr("p.csv:2:5: \"x\" should be a number"));
  EXPECT_THAT(error(header + "a,inf,1,b\n"), HasSubstr("should be a number"));
  EXPECT_THAT(error(header + "a,1,2\"\n"), HasSubstr("p.csv:2:6: a quote"));
}

}  // namespace
}  // namespace footprint
