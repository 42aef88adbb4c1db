#include "footprint/gates/reports/finding_place.h"

#include <set>

#include "footprint/gates/reports/example_verdict.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

void ExpectPlace(const char* location, const char* path, int line, int column) {
  const FindingPlace place = ParsePlace(location);
  EXPECT_EQ(place.path, path) << location;
  EXPECT_EQ(place.line, line) << location;
  EXPECT_EQ(place.column, column) << location;
}

TEST(FindingPlaceTest, TellsFilesFromLabels) {
  ExpectPlace("gates/a.textproto:12", "gates/a.textproto", 12, 0);
  ExpectPlace("gates/a.textproto:12:3", "gates/a.textproto", 12, 3);
  ExpectPlace("a.textproto", "a.textproto", 0, 0);
  ExpectPlace("x.manifest:2", "x.manifest", 2, 0);
  for (const char* no_file :
       {"", ":", ":3", "//a:b", "//a:12", "@r//a:3:4", "BM_Fit/rows", "a:b",
        "a:0", "a:-1", "a:99999999999999999999", "a:1x"}) {
    ExpectPlace(no_file, "", 0, 0);
  }
  ExpectPlace("a:b:7", "a:b", 7, 0);
}

TEST(FindingPlaceTest, KeysOutliveLinesAndValues) {
  Judgement judgement = ExampleVerdict().judgements(1);
  const std::string key = StableKey(judgement);
  EXPECT_EQ(key.size(), 16u);
  judgement.set_threshold_location("t.textproto:99");
  judgement.set_measured(judgement.measured() + 1);
  EXPECT_EQ(StableKey(judgement), key);
  Problem problem = ExampleVerdict().problems(0);
  problem.set_location("t.textproto:3:1");
  const std::string problem_key = StableKey(problem);
  problem.set_location("t.textproto:5:1");
  EXPECT_EQ(StableKey(problem), problem_key);
}

TEST(FindingPlaceTest, KeysDifferWhereFindingsDo) {
  std::set<std::string> keys;
  Judgement judgement = ExampleVerdict().judgements(1);
  keys.insert(StableKey(judgement));
  judgement.set_rule(MAXIMUM);
  keys.insert(StableKey(judgement));
  judgement.set_metric(IMAGE_BYTES);
  keys.insert(StableKey(judgement));
  // The same letters, split differently, give another key.
  judgement.set_label("//a:bB");
  judgement.set_benchmark("M");
  keys.insert(StableKey(judgement));
  judgement.set_label("//a:b");
  judgement.set_benchmark("BM");
  keys.insert(StableKey(judgement));
  judgement.set_threshold_location("u.textproto:9");
  keys.insert(StableKey(judgement));
  EXPECT_EQ(keys.size(), 6u);
}

}  // namespace
}  // namespace footprint
