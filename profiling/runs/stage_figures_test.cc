#include "footprint/profiling/runs/stage_figures.h"

#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/runs/measured_images.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

StageProfile OneStageInsideAnother() {
  StageProfile profile;
  profile.stages.resize(3);
  profile.stages[1].name = "load";
  profile.stages[1].kind = StageProfile::Kind::kImport;
  StageProfile::Stage& fit = profile.stages[2];
  fit.name = "f\xff";
  fit.parent = 1;
  fit.kind = StageProfile::Kind::kNamed;
  fit.visit_count = 1;
  fit.begin_time_ns = 2;
  fit.wall_time_ns = 3;
  fit.peak_live_bytes = 4;
  fit.peak_live_absolute_bytes = 5;
  fit.allocated_bytes = 6;
  fit.allocation_count = 7;
  fit.net_growth_bytes = -8;
  fit.was_left_open = true;
  fit.lacks_last_visit = true;
  fit.unmeasured_visit_count = 9;
  fit.is_inherited = true;
  profile.notes = {"a note"};
  return profile;
}

TEST(StageFiguresTest, EachFigureIsTheRecords) {
  MeasuredImage image;
  SetStages(OneStageInsideAnother(), &image);
  ASSERT_EQ(image.stages_size(), 3);
  EXPECT_EQ(image.stages(0).kind(), StageFigures::NONE);
  EXPECT_EQ(image.stages(1).kind(), StageFigures::IMPORT);
  const StageFigures& fit = image.stages(2);
  // A name need not be UTF-8.
  EXPECT_EQ(fit.name(), "f\\xff");
  EXPECT_EQ(fit.parent(), 1u);
  EXPECT_EQ(fit.kind(), StageFigures::NAMED);
  EXPECT_EQ(fit.visit_count(), 1);
  EXPECT_EQ(fit.begin_time_ns(), 2);
  EXPECT_EQ(fit.wall_time_ns(), 3);
  EXPECT_EQ(fit.peak_live_bytes(), 4);
  EXPECT_EQ(fit.peak_live_absolute_bytes(), 5);
  EXPECT_EQ(fit.allocated_bytes(), 6);
  EXPECT_EQ(fit.allocation_count(), 7);
  EXPECT_EQ(fit.net_growth_bytes(), -8);
  EXPECT_TRUE(fit.was_left_open());
  EXPECT_TRUE(fit.lacks_last_visit());
  EXPECT_EQ(fit.unmeasured_visit_count(), 9);
  EXPECT_TRUE(fit.is_inherited());
  ASSERT_EQ(image.notes_size(), 1);
  EXPECT_EQ(image.notes(0), "a note");
}

TEST(StageFiguresTest, SitesAndThePeakNameTheirStage) {
  MeasuredProcess process;
  process.stages = OneStageInsideAnother();
  process.peak_stage = 2;
  process.sites.emplace();
  process.sites->sites.emplace_back();
  process.sites->sites.back().stage = 2;
  MeasuredRun run;
  AddMeasuredImages({process}, &run);
  ASSERT_EQ(run.images(0).sites_size(), 1);
  EXPECT_EQ(run.images(0).sites(0).stage(), 2u);
  ASSERT_EQ(run.images(0).timeline_size(), 1);
  EXPECT_EQ(run.images(0).timeline(0).stage(), 2u);
}

}  // namespace
}  // namespace footprint
