// Tests of flame_graph.h's promises. //profiling/run_page:browser_test tests
// the picture's behaviour in a browser.

#include "footprint/base/page/flame_graph.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

FlameGraph TwoCalls() {
  FlameGraph graph;
  graph.title = "Calls";
  graph.measures = {{"at the peak"},
                    {"busy", FlameGraph::Measure::Unit::kNanoseconds}};
  graph.kinds = {"program", "library"};
  graph.nodes = {{-1, "main", "main.cc", 0, {1, 20}},
                 {0, "Fit", "main.cc", 1, {300, 4000}, {2.6}}};
  return graph;
}

nlohmann::json ReadData(const std::string& html) {
  const std::string begin = "<script type=\"application/json\">";
  const size_t from = html.find(begin) + begin.size();
  return nlohmann::json::parse(
      html.substr(from, html.find("</script>", from) - from));
}

TEST(FlameGraphTest, HandsTheScriptEveryFigure) {
  const nlohmann::json data = ReadData(DrawFlameGraph(TwoCalls()));
  EXPECT_EQ(data["measures"][0]["unit"], "B");
  EXPECT_EQ(data["measures"][1]["unit"], "ns");
  EXPECT_EQ(data["parents"], nlohmann::json({-1, 0}));
  EXPECT_EQ(data["values"], nlohmann::json::parse("[[1,300],[20,4000]]"));
  EXPECT_EQ(data["sigmas"], nlohmann::json::parse("[[0,3],[0,0]]"));
  EXPECT_EQ(data["kinds"], nlohmann::json({0, 1}));
  const auto text = [&](const char* column, size_t i) {
    return data["texts"][data[column][i].get<size_t>()];
  };
  EXPECT_EQ(text("names", 0), "main");
  EXPECT_EQ(text("names", 1), "Fit");
  EXPECT_EQ(text("details", 1), "main.cc");
  EXPECT_EQ(data["texts"].size(), 3u) << "each text once";
  EXPECT_FALSE(data["comparison"]);
}

TEST(FlameGraphTest, LetsNoNameEndTheScript) {
  FlameGraph graph = TwoCalls();
  const std::string evil = "</script><!--\"\\'\n\xff\x01&amp;";
  graph.title = graph.description = evil;
  graph.measures[0].name = evil;
  graph.nodes[1].name = graph.nodes[1].detail = evil;
  const std::string html = DrawFlameGraph(graph);
  EXPECT_THAT(html, Not(HasSubstr("<!--")));
  EXPECT_EQ(html.find("</script>"), html.rfind("</script>"));
  const nlohmann::json data = ReadData(html);
  EXPECT_EQ(data["texts"][1], "</script><!--\"\\'\\n\\xff\\x01&amp;");
  EXPECT_EQ(data["measures"][0]["name"], data["texts"][1]);
}

TEST(FlameGraphTest, SaysSoWithoutAScript) {
  EXPECT_THAT(DrawFlameGraph(TwoCalls()), HasSubstr("needs a script"));
}

TEST(FlameGraphTest, HoldsNothing) {
  const nlohmann::json data = ReadData(DrawFlameGraph(FlameGraph()));
  EXPECT_TRUE(data["parents"].empty());
}

}  // namespace
}  // namespace footprint
