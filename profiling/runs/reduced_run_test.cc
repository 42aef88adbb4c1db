#include "footprint/profiling/runs/reduced_run.h"

#include <map>
#include <string>

#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/measured_run_file.h"
#include "footprint/profiling/runs/site_rows.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(ReducedRunTest, SumsStayByThreadAndStage) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    RandomSequence random(seed);
    const MeasuredRun run = RandomRun(&random);
    RunThresholds thresholds;
    thresholds.memory_percent = 50 * random.Uniform();
    const MeasuredRun reduced = ReducedRun(run, thresholds);
    ASSERT_THAT(CheckMeasuredRun(reduced), IsOk());
    EXPECT_LE(reduced.calls_size(), run.calls_size() + 1);
    for (int i = 0; i < run.images_size(); ++i) {
      int64_t recent_bytes = 0;
      std::map<std::pair<uint32_t, uint32_t>, int64_t> differences;
      for (const SiteAmounts& site : run.images(i).sites()) {
        differences[{site.thread(), site.stage()}] += site.at_peak().bytes();
        recent_bytes += site.at_recent_peak_bytes();
      }
      for (const SiteAmounts& site : reduced.images(i).sites()) {
        differences[{site.thread(), site.stage()}] -= site.at_peak().bytes();
        recent_bytes -= site.at_recent_peak_bytes();
      }
      EXPECT_EQ(recent_bytes, 0) << seed;
      int64_t mapped_bytes = 0;
      for (const MappingAmounts& mapping : run.images(i).mappings()) {
        mapped_bytes += mapping.at_peak_bytes();
      }
      for (const MappingAmounts& mapping : reduced.images(i).mappings()) {
        mapped_bytes -= mapping.at_peak_bytes();
      }
      EXPECT_EQ(mapped_bytes, 0) << seed;
      for (const auto& [key, bytes] : differences) EXPECT_EQ(bytes, 0) << seed;
      EXPECT_EQ(reduced.images(i).timeline_size(),
                run.images(i).timeline_size());
    }
  }
}

TEST(ReducedRunTest, SmallPlacesAreOneAndLargeOnesStay) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  for (int i = 0; i < 10; ++i) {
    run.add_frames()->set_function("Function" + std::to_string(i));
    run.add_calls()->set_frame(static_cast<uint32_t>(i));
    SiteAmounts* const site = image->add_sites();
    site->set_call(static_cast<uint32_t>(i) + 1);
    site->mutable_at_peak()->set_bytes(i == 3 ? 910 : 10);
  }
  RunThresholds thresholds;
  thresholds.memory_percent = 50;
  MeasuredRun reduced = ReducedRun(run, thresholds);
  auto rows = SiteRows(reduced, reduced.images(0));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].frame.function(), "Function3");
  EXPECT_EQ(rows[1].frame.function(), "[below the threshold]");
  EXPECT_EQ(rows[1].at_peak.bytes(), 90);
  // Bytes left at the end also keep a place, and so do allocated bytes.
  run.mutable_images(0)->mutable_sites(5)->mutable_at_end()->set_bytes(1);
  run.mutable_images(0)->mutable_sites(7)->mutable_allocated()->set_bytes(1);
  reduced = ReducedRun(run, thresholds);
  EXPECT_EQ(SiteRows(reduced, reduced.images(0)).size(), 4u);
  run.mutable_images(0)->mutable_sites(5)->clear_at_end();
  run.mutable_images(0)->mutable_sites(7)->clear_allocated();
  thresholds.memory_percent = 0;
  thresholds.memory_bytes = 11;
  reduced = ReducedRun(run, thresholds);
  EXPECT_EQ(SiteRows(reduced, reduced.images(0)).size(), 2u);
}

// 7 % of 100 is not exact in binary.
TEST(ReducedRunTest, APlaceOfExactlyThePercentageStays) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  for (const int64_t bytes : {7, 6, 87}) {
    run.add_frames()->set_function("Function" + std::to_string(bytes));
    run.add_calls()->set_frame(static_cast<uint32_t>(run.frames_size() - 1));
    SiteAmounts* const site = image->add_sites();
    site->set_call(static_cast<uint32_t>(run.calls_size()));
    site->mutable_at_peak()->set_bytes(bytes);
  }
  RunThresholds thresholds;
  thresholds.memory_percent = 7;
  const MeasuredRun reduced = ReducedRun(run, thresholds);
  const auto rows = SiteRows(reduced, reduced.images(0));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].frame.function(), "Function7");
  EXPECT_EQ(rows[2].frame.function(), "[below the threshold]");
}

// Copies count at the places that are kept.
TEST(ReducedRunTest, CopiesGoWithTheirPlaces) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  for (uint32_t i = 0; i < 4; ++i) {
    run.add_frames()->set_function("Function" + std::to_string(i));
    run.add_calls()->set_frame(i);
    SiteAmounts* const site = image->add_sites();
    site->set_call(i + 1);
    site->mutable_at_peak()->set_bytes(i == 3 ? 910 : 10);
    CopyAmounts* const copy = image->add_copies();
    copy->set_call(i + 1);
    copy->mutable_copied()->set_bytes(i + 1);
  }
  RunThresholds thresholds;
  thresholds.memory_percent = 50;
  const MeasuredRun reduced = ReducedRun(run, thresholds);
  ASSERT_THAT(CheckMeasuredRun(reduced), IsOk());
  std::map<std::string, int64_t> copied_bytes;
  for (const CopyAmounts& copy : reduced.images(0).copies()) {
    const Call& call = reduced.calls(static_cast<int>(copy.call()) - 1);
    copied_bytes[reduced.frames(static_cast<int>(call.frame())).function()] +=
        copy.copied().bytes();
  }
  EXPECT_EQ(reduced.images(0).copies_size(), 2);
  EXPECT_EQ(copied_bytes["Function3"], 4);
  EXPECT_EQ(copied_bytes["[below the threshold]"], 6);
}

// A place that uses processor time is kept even if it allocates nothing.
TEST(ReducedRunTest, AMappingKeepsAPlace) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  for (uint32_t i = 0; i < 3; ++i) {
    run.add_frames()->set_function("Function" + std::to_string(i));
    run.add_calls()->set_frame(i);
    MappingAmounts* const mapping = image->add_mappings();
    mapping->set_call(i + 1);
    mapping->set_at_peak_bytes(i == 1 ? 96 : 2);
  }
  RunThresholds thresholds;
  thresholds.memory_percent = 50;
  const MeasuredRun reduced = ReducedRun(run, thresholds);
  ASSERT_THAT(CheckMeasuredRun(reduced), IsOk());
  std::map<std::string, int64_t> bytes;
  for (const MappingAmounts& mapping : reduced.images(0).mappings()) {
    const Call& call = reduced.calls(static_cast<int>(mapping.call()) - 1);
    bytes[reduced.frames(static_cast<int>(call.frame())).function()] +=
        mapping.at_peak_bytes();
  }
  EXPECT_EQ(bytes, (std::map<std::string, int64_t>{
                       {"Function1", 96}, {"[below the threshold]", 4}}));
}

TEST(ReducedRunTest, ProcessorTimeKeepsAPlace) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  for (int i = 0; i < 3; ++i) {
    run.add_frames()->set_function("Function" + std::to_string(i));
    run.add_calls()->set_frame(static_cast<uint32_t>(i));
    ProcessorTime* const time = image->add_processor_time();
    time->set_call(static_cast<uint32_t>(i) + 1);
    time->set_native_ns(i == 1 ? 1000 : 1);
  }
  RunThresholds thresholds;
  thresholds.memory_percent = 1;
  thresholds.processor_percent = 1;
  const MeasuredRun reduced = ReducedRun(run, thresholds);
  ASSERT_EQ(reduced.images(0).processor_time_size(), 2);
  EXPECT_EQ(reduced.frames_size(), 2);
  int64_t sum_ns = 0;
  for (const ProcessorTime& time : reduced.images(0).processor_time()) {
    sum_ns += time.native_ns();
  }
  EXPECT_EQ(sum_ns, 1002);
}

TEST(ReducedRunTest, ProcessorTimeStaysByThreadAndStage) {
  MeasuredRun run;
  MeasuredImage* const image = run.add_images();
  run.add_frames()->set_function("Function");
  run.add_calls()->set_frame(0);
  for (uint32_t i = 0; i < 6; ++i) {
    ProcessorTime* const time = image->add_processor_time();
    time->set_call(1);
    time->set_thread(i / 2);
    time->set_stage(i / 4 + 5);
    time->set_sample_count(1);
    time->set_native_ns(1000 << i);
    time->set_interpreter_ns(i);
    time->set_system_ns(10 * i);
  }
  const MeasuredRun reduced = ReducedRun(run, RunThresholds());
  ASSERT_EQ(reduced.images(0).processor_time_size(), 3);
  for (uint32_t i = 0; i < 3; ++i) {
    const ProcessorTime& time =
        reduced.images(0).processor_time(static_cast<int>(i));
    EXPECT_EQ(time.thread(), i);
    EXPECT_EQ(time.stage(), i / 2 + 5);
    EXPECT_EQ(time.sample_count(), 2);
    EXPECT_EQ(time.native_ns(), 3000 << 2 * i);
    EXPECT_EQ(time.interpreter_ns(), 4 * i + 1);
    EXPECT_EQ(time.system_ns(), 40 * i + 10);
  }
}

}  // namespace
}  // namespace footprint
