#include "footprint/trainer_manager/plan_files/layout_picture.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

bool Has(const std::string& html, const std::string& text) {
  return html.find(text) != std::string::npos;
}

const std::vector<TensorRequest>& Requests() {
  static const auto* const requests = new std::vector<TensorRequest>{
      {"a<b", 0, 4, 30}, {"c", 2, 10, 30}, {"d", 8, 9, 5}};
  return *requests;
}

MemoryPlan Plan() {
  MemoryPlan plan;
  plan.offsets_bytes = {0, 30, 0};
  plan.height_bytes = 60;
  plan.lower_bound = {60, LowerBound::Kind::kLiveBytes, 2, {0, 1}};
  return plan;
}

TEST(DrawPlanTest, SaysWhatTheBoundIsAndWhatProvesIt) {
  const std::string html = DrawPlan(Requests(), Plan(), "x & y");
  EXPECT_TRUE(Has(html, "<h1>x &amp; y</h1>"));
  EXPECT_TRUE(Has(html,
                  "3 tensors in 60 B (60 B). No plan needs less than 60 B "
                  "(60 B): the 2 tensors in full colour are live together at "
                  "step 2. So this plan is minimal."))
      << html;
  EXPECT_TRUE(
      Has(html, "a&lt;b: 30 B at offset 0 B, from step 0 until before 4"));
  EXPECT_FALSE(Has(html, "http"));
}

TEST(DrawPlanTest, MarksTheCertificateAlone) {
  const std::string html = DrawPlan(Requests(), Plan(), "x");
  size_t marked = 0;
  for (size_t at = html.find("box marked"); at != std::string::npos;
       at = html.find("box marked", at + 1)) {
    ++marked;
  }
  EXPECT_EQ(marked, 2);
  EXPECT_TRUE(Has(html, "box pale"));
}

TEST(DrawPlanTest, SaysHowFarFromTheBoundAPlanIs) {
  MemoryPlan plan = Plan();
  plan.offsets_bytes[2] = 61;
  plan.height_bytes = 66;
  EXPECT_TRUE(Has(DrawPlan(Requests(), plan, "x"),
                  "This plan is 1.1000 times as high."));
  plan.lower_bound.kind = LowerBound::Kind::kExhaustiveSearch;
  plan.lower_bound.bytes = 66;
  EXPECT_TRUE(Has(DrawPlan(Requests(), plan, "x"),
                  "The search ruled out every plan below 66 B"));
}

TEST(DrawPlanTest, ColoursByKind) {
  PictureLabels labels;
  labels.kinds = {"weight", "gradient", "weight"};
  const std::string html = DrawPlan(Requests(), Plan(), "x", labels);
  EXPECT_TRUE(Has(html, "c (gradient): 30 B"));
  EXPECT_TRUE(Has(html, "d (weight): 5 B"));
  EXPECT_TRUE(Has(html, "<ul class=\"legend\">"));
  EXPECT_FALSE(Has(DrawPlan(Requests(), Plan(), "x"), "<ul class=\"legend\">"));
}

TEST(DrawPlanTest, NamesStepsWhereTheyHaveNames) {
  PictureLabels labels;
  labels.spans = {{"forward", 0, 5}, {"backward", 5, 10}};
  labels.bound_step = "conv1: forward";
  const std::string html = DrawPlan(Requests(), Plan(), "x", labels);
  EXPECT_TRUE(Has(html, ">forward</text>"));
  EXPECT_TRUE(Has(html, ">backward</text>"));
  EXPECT_TRUE(Has(html, "live together at step 2, conv1: forward."));
  EXPECT_TRUE(Has(html, "These steps need at least 60 B"));
  EXPECT_TRUE(
      Has(html, "lower bound 60 B, needed at step 2, conv1: forward</text>"));
}

TEST(DrawPlanTest, GroupsDigits) {
  const std::vector<TensorRequest> requests = {{"a", 0, 1, 1234567},
                                               {"b", 0, 1, 123}};
  MemoryPlan plan;
  plan.offsets_bytes = {0, 1234567};
  plan.height_bytes = 1234690;
  plan.lower_bound = {1234690, LowerBound::Kind::kLiveBytes, -1000, {0, 1}};
  const std::string html = DrawPlan(requests, plan, "x");
  EXPECT_TRUE(Has(html, "1.2 MiB (1,234,690 B)"));
  EXPECT_TRUE(Has(html, ">1,234,567<"));
  EXPECT_TRUE(Has(html, ">123<"));
  EXPECT_TRUE(Has(html, "at step -1,000."));
}

TEST(DrawPlanTest, DrawsNothing) {
  EXPECT_TRUE(Has(DrawPlan({}, MemoryPlan(), "empty"), "</svg>"));
}

}  // namespace
}  // namespace footprint
