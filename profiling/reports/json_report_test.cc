#include "footprint/profiling/reports/json_report.h"

#include <string>

#include "footprint/base/random/random_sequence.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

using Json = nlohmann::ordered_json;

// The JSON has the whole run, with the same sums.
TEST(JsonReportTest, HoldsTheRun) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    const Json json = Json::parse(JsonReport(run));
    EXPECT_EQ(json["frames"].size(), static_cast<size_t>(run.frames_size()));
    EXPECT_EQ(json["calls"].size(), static_cast<size_t>(run.calls_size()));
    ASSERT_EQ(json["processes"].size(), static_cast<size_t>(run.images_size()));
    for (int i = 0; i < run.images_size(); ++i) {
      const MeasuredImage& image = run.images(i);
      const Json& process = json["processes"][static_cast<size_t>(i)];
      EXPECT_EQ(process["peak_live_bytes"], image.peak_live_bytes());
      EXPECT_EQ(process.contains("allocated_bytes"), image.has_totals());
      ASSERT_EQ(process.contains("sites"), image.has_sites());
      if (!image.has_sites()) continue;
      int64_t rows_bytes = 0;
      int64_t stacks_bytes = 0;
      for (const Json& row : process["sites"]) {
        rows_bytes += row["at_peak_bytes"].get<int64_t>();
      }
      for (const Json& stack : process["stacks"]) {
        if (!stack.contains("at_peak")) continue;
        stacks_bytes += stack["at_peak"]["bytes"].get<int64_t>();
      }
      EXPECT_EQ(rows_bytes, image.peak_live_bytes()) << seed;
      EXPECT_EQ(stacks_bytes, image.peak_live_bytes()) << seed;
      EXPECT_EQ(process["timeline"].size(),
                static_cast<size_t>(image.timeline_size()));
    }
  }
}

TEST(JsonReportTest, SaysWhatItsHeaderSays) {
  MeasuredRun run;
  run.add_program("python3");
  run.set_wall_time_ns(5);
  run.set_sampling_interval_bytes(512);
  CodeFrame* const frame = run.add_frames();
  frame->set_function("Fit<int>(\"\xc3\xa9\")");
  frame->set_file("fit.cc");
  frame->set_line(31);
  frame->set_module("/bin/fit");
  run.add_calls();
  MeasuredImage* const image = run.add_images();
  image->set_process_id(7);
  image->set_end(MeasuredImage::RUNS_ON);
  image->set_peak_live_bytes(1000);
  image->set_inherited_live_bytes(100);
  image->set_has_sites(true);
  SiteAmounts* const site = image->add_sites();
  site->set_call(1);
  site->mutable_at_peak()->set_bytes(900);
  site->mutable_at_peak()->set_count(3);
  site->mutable_at_peak()->set_variance(405'000);  // two samples
  site->mutable_at_end()->set_bytes(70);
  site->mutable_allocated()->set_bytes(8000);
  site->mutable_allocated()->set_count(60);
  site->set_temporary_count(5);
  TimelinePoint* const point = image->add_timeline();
  point->set_time_ns(11);
  point->set_live_bytes(22);
  const Json json = Json::parse(JsonReport(run));
  EXPECT_EQ(json["program"], Json({"python3"}));
  EXPECT_EQ(json["wall_time_ns"], 5);
  EXPECT_FALSE(json.contains("images"));
  EXPECT_FALSE(json.contains("signal_number"));
  const Json& process = json["processes"][0];
  EXPECT_EQ(process["own_peak_bytes"], 900);
  EXPECT_EQ(process["end"], "RUNS_ON");
  EXPECT_TRUE(process["is_running"]);
  EXPECT_EQ(
      process["sites"],
      Json::parse("[{\"function\": \"Fit<int>(\\\"\xc3\xa9\\\")\","
                  " \"file\": \"fit.cc\", \"line\": 31, \"module\": "
                  "\"/bin/fit\", \"kind\": \"NATIVE\", \"at_peak_bytes\": 900,"
                  " \"at_peak_count\": 3, \"at_peak_sigma_bytes\": 900.0,"
                  " \"at_end_bytes\": 70, \"allocated_bytes\": 8000,"
                  " \"allocation_count\": 60, \"temporary_count\": 5}]"));
  EXPECT_EQ(process["timeline"], Json::parse("[[11, 22, 0]]"));
  EXPECT_EQ(process["stacks"][0]["call"], 1);
  run.set_signal_number(9);
  const Json killed = Json::parse(JsonReport(run));
  EXPECT_EQ(killed["signal_number"], 9);
  EXPECT_FALSE(killed.contains("exit_status"));
}

}  // namespace
}  // namespace footprint
