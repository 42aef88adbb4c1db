// Runs in which any byte may have any value are refused, or shown by every
// report without a crash.

#include <cstdint>
#include <string>

#include "footprint/base/random/property_seeds.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/profiling/example_runs/random_run.h"
#include "footprint/profiling/reports/json_report.h"
#include "footprint/profiling/reports/pprof_report.h"
#include "footprint/profiling/reports/text_report.h"
#include "footprint/profiling/runs/measured_run_file.h"
#include "footprint/profiling/runs/reduced_run.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Parses like ReadMeasuredRunFile, without the checksum, which would find the
// damage.
bool Parse(const std::string& bytes, MeasuredRun* run) {
  return run->ParseFromString(bytes) && CheckMeasuredRun(*run).ok();
}

void WriteEveryReport(const MeasuredRun& run) {
  EXPECT_FALSE(TextReport(run).empty());
  EXPECT_FALSE(JsonReport(run).empty());
  EXPECT_FALSE(CompareText(run, run).empty());
  (void)PprofReport(run);
  RunThresholds thresholds;
  thresholds.memory_percent = 10;
  EXPECT_THAT(CheckMeasuredRun(ReducedRun(run, thresholds)), IsOk());
}

TEST(DamagedRunTest, DamagedRunsDoNoHarm) {
  int told_count = 0;
  for (uint32_t seed = 1; seed <= PropertySeedCount(); ++seed) {
    RandomSequence random(seed);
    const std::string whole = RandomRun(&random).SerializeAsString();
    for (int round = 0; round < 2 && !whole.empty(); ++round) {
      std::string damaged = whole;
      for (uint64_t flips = 1 + random.Below(3); flips > 0; --flips) {
        char& byte = damaged[random.Below(damaged.size())];
        byte = static_cast<char>(random.Below(4) == 0
                                     ? random.Below(256)
                                     : static_cast<unsigned char>(byte) ^
                                           (1u << random.Below(8)));
      }
      MeasuredRun run;
      if (!Parse(damaged, &run)) continue;
      ++told_count;
      WriteEveryReport(run);
    }
  }
  // Fails if too few damaged runs are accepted, so that nothing was tested.
  EXPECT_GT(told_count, static_cast<int>(PropertySeedCount()) / 4);
}

// Tests figures that no run has, but that a field can hold.
TEST(DamagedRunTest, ExtremeFiguresDoNoHarm) {
  for (int64_t extreme : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
    RandomSequence random(3);
    MeasuredRun run = RandomRun(&random);
    MeasuredImage* const image = run.add_images();
    image->set_has_sites(true);
    image->set_has_totals(true);
    image->set_peak_live_bytes(extreme);
    image->set_inherited_live_bytes(extreme);
    image->set_begin_time_ns(extreme);
    image->set_peak_time_ns(extreme);
    image->set_live_bytes(extreme);
    image->add_stages();
    StageFigures* const stage = image->add_stages();
    stage->set_peak_live_bytes(extreme);
    stage->set_wall_time_ns(extreme);
    for (int i = 0; i < 2; ++i) {
      SiteAmounts* const site = image->add_sites();
      site->mutable_at_peak()->set_bytes(extreme);
      site->mutable_at_end()->set_bytes(extreme);
      site->set_temporary_count(extreme);
      image->add_timeline()->set_time_ns(i == 0 ? 0 : extreme);
      image->add_processor_time()->set_native_ns(extreme);
      image->add_copies()->mutable_copied()->set_bytes(extreme);
    }
    if (CheckMeasuredRun(run).ok()) WriteEveryReport(run);
  }
}

}  // namespace
}  // namespace footprint
