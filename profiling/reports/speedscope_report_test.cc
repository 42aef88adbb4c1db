#include "footprint/profiling/reports/speedscope_report.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/example_runs/example_runs.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::json;

// Returns the profile's bytes by the names of each stack.
std::map<std::string, int64_t> ByStack(const Json& file, const Json& profile) {
  std::map<std::string, int64_t> bytes;
  EXPECT_EQ(profile["samples"].size(), profile["weights"].size());
  for (size_t i = 0; i < profile["samples"].size(); ++i) {
    std::string names;
    for (const size_t frame : profile["samples"][i]) {
      EXPECT_LT(frame, file["shared"]["frames"].size());
      names += "/" + file["shared"]["frames"][frame]["name"].get<std::string>();
    }
    bytes[names] += profile["weights"][i].get<int64_t>();
  }
  return bytes;
}

std::map<std::string, int64_t> NaiveBytes(const MeasuredRun& run,
                                          const MeasuredImage& image) {
  std::map<std::string, int64_t> bytes;
  for (const SiteAmounts& site : image.sites()) {
    std::string names = site.call() == 0 ? "/[before the agent began]" : "";
    for (uint32_t call = site.call(); call != 0;
         call = run.calls(static_cast<int>(call) - 1).parent()) {
      const Call& each = run.calls(static_cast<int>(call) - 1);
      names =
          "/" + run.frames(static_cast<int>(each.frame())).function() + names;
    }
    if (site.at_peak().bytes() > 0) bytes[names] += site.at_peak().bytes();
  }
  return bytes;
}

TEST(SpeedscopeReportTest, HasEachStackOfAnyRun) {
  int with_sites = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    const auto text = SpeedscopeReport(run);
    size_t expected = 0;
    for (const MeasuredImage& image : run.images()) {
      if (image.has_sites()) expected += image.has_totals() ? 3 : 2;
    }
    if (expected == 0) {
      EXPECT_THAT(text, StatusIs(absl::StatusCode::kFailedPrecondition));
      continue;
    }
    ++with_sites;
    ASSERT_THAT(text, IsOk());
    const Json file = Json::parse(*text);
    ASSERT_EQ(file["profiles"].size(), expected);
    size_t profile = 0;
    for (const MeasuredImage& image : run.images()) {
      if (!image.has_sites()) continue;
      const std::map<std::string, int64_t> bytes =
          ByStack(file, file["profiles"][profile]);
      EXPECT_EQ(bytes, NaiveBytes(run, image)) << seed;
      int64_t sum = 0;
      for (const auto& [names, each] : bytes) sum += each;
      EXPECT_EQ(file["profiles"][profile]["endValue"], sum);
      profile += image.has_totals() ? 3 : 2;
    }
  }
  EXPECT_GT(with_sites, 50);
}

TEST(SpeedscopeReportTest, IsOfSpeedscopesForm) {
  const auto text = SpeedscopeReport(FullRun());
  ASSERT_THAT(text, IsOk());
  const Json file = Json::parse(*text);
  EXPECT_EQ(file["$schema"],
            "https://www.speedscope.app/file-format-schema.json");
  const Json& first = file["profiles"][0];
  EXPECT_EQ(first["type"], "sampled");
  EXPECT_EQ(first["unit"], "bytes");
  EXPECT_EQ(first["startValue"], 0);
  EXPECT_EQ(first["name"], "at the peak, process 100: python3 train.py");
  const Json& fit = file["shared"]["frames"][2];
  EXPECT_EQ(fit, Json::parse(R"({"name": "fit", "file": "train.py",
                                 "line": 12})"));
  EXPECT_EQ(file["shared"]["frames"][4]["file"], "/lib/libjemalloc.so");
}

TEST(SpeedscopeReportTest, AnyNameIsText) {
  const auto text = SpeedscopeReport(RunNamed("\xff\"\n</script>"));
  ASSERT_THAT(text, IsOk());
  EXPECT_TRUE(Json::accept(*text));
}

}  // namespace
}  // namespace footprint
